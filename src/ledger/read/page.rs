//! Long lists, a page at a time.

use crate::domain::Invalid;

/// Where the next page begins: behind the last item of the one before. Opaque to callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub(in super::super) position: i64,
    /// Tells apart what has the same position.
    pub(in super::super) tie: [u8; 16],
}

impl Cursor {
    /// The place behind which an item at this one, in a list that ascends, is the first.
    pub(super) fn just_before(self) -> Self {
        match u128::from_be_bytes(self.tie).checked_sub(1) {
            Some(tie) => Self { tie: tie.to_be_bytes(), ..self },
            None => Self { position: self.position.saturating_sub(1), tie: [u8::MAX; 16] },
        }
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:x}-", self.position)?;
        self.tie.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::str::FromStr for Cursor {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let parse = || {
            let (position, tie) = text.split_once('-')?;
            let position = u64::from_str_radix(position, 16).ok()?.cast_signed();
            let tie = (tie.len() == 32).then(|| u128::from_str_radix(tie, 16).ok()).flatten()?.to_be_bytes();
            Some(Self { position, tie })
        };
        parse().ok_or_else(|| Invalid::new("must be the `next` of an earlier page"))
    }
}

impl<'de> serde::Deserialize<'de> for Cursor {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl serde::Serialize for Cursor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl schemars::JsonSchema for Cursor {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cursor".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

/// Part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<Cursor>,
    /// How long the whole list is.
    pub total: u64,
}

impl<T> Page<T> {
    /// The same page of other things.
    #[must_use]
    pub fn map<U>(self, to: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(to).collect(), next: self.next, total: self.total }
    }

    /// Cuts `found`, which was read one item too far, down to `limit`.
    pub(super) fn cut(mut found: Vec<(Cursor, T)>, limit: u32, total: u64) -> Self {
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next = found.last().map(|(cursor, _)| *cursor).filter(|_| more);
        Self { items: found.into_iter().map(|(_, item)| item).collect(), next, total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_as_itself_and_nothing_else_is_one() {
        for position in [0, 1_786_795_200_000, -1, i64::MIN] {
            let cursor = Cursor { position, tie: [0x0a; 16] };
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for text in ["", "-", "1-", "x-00", "1-zz", "1-0a0a"] {
            assert!(text.parse::<Cursor>().is_err(), "{text}");
        }
    }
}
