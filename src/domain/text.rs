//! Text from callers: trimmed, never empty, bounded in characters.

use super::Invalid;

/// The beginning of a text; a refusal need not repeat all of it.
#[must_use]
pub fn beginning(text: &str, characters: usize) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// A refused text as a message repeats it: short, and without anything that controls a terminal.
#[must_use]
pub fn quoted(text: &str) -> String {
    beginning(text, 100).escape_debug().to_string()
}

/// `a` or `an`, as the noun wants it.
#[must_use]
pub fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// Text of 1 to `MAX` characters without surrounding white space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<const MAX: usize>(String);

/// A name or a task title.
pub type Name = Text<200>;
/// One line that says what an intent does.
pub type Summary = Text<2_000>;
/// A rationale.
pub type Prose = Text<20_000>;

impl<const MAX: usize> Text<MAX> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl<const MAX: usize> std::str::FromStr for Text<MAX> {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(Invalid::new("must not be empty"));
        }
        // Counting stops one past the bound: a hostile length costs nothing.
        if trimmed.chars().take(MAX + 1).count() > MAX {
            return Err(Invalid(format!("must be at most {MAX} characters")));
        }
        Ok(Self(trimmed.to_owned()))
    }
}

impl<'de, const MAX: usize> serde::Deserialize<'de> for Text<MAX> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl<const MAX: usize> schemars::JsonSchema for Text<MAX> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Text_{MAX}").into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_trimmed_and_otherwise_kept_as_written() {
        assert_eq!("  Straße  42 \n".parse::<Name>().unwrap().as_str(), "Straße  42");
    }

    #[test]
    fn a_refused_text_is_repeated_shortened_and_escaped() {
        assert_eq!(quoted("a\u{1b}[31m"), r"a\u{1b}[31m");
        assert_eq!(quoted(&"é".repeat(100)), "é".repeat(100));
        assert_eq!(quoted(&"é".repeat(101)), format!("{}…", "é".repeat(100)));
    }

    #[test]
    fn empty_and_overlong_text_is_refused_and_the_bound_counts_characters() {
        assert!(" \t".parse::<Name>().is_err());
        assert!("é".repeat(200).parse::<Name>().is_ok());
        assert_eq!("é".repeat(201).parse::<Name>().unwrap_err().0, "must be at most 200 characters");
        assert!("x".repeat(70_000).parse::<Name>().is_err());
    }
}
