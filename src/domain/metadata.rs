//! Free-form facts a caller attaches to an intent.

use super::Invalid;

/// A JSON object of at most 64 KiB, kept as given.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct Metadata(serde_json::Map<String, serde_json::Value>);

impl Metadata {
    /// The largest accepted size in bytes, written compactly.
    pub const MAX_BYTES: usize = 64 * 1024;
    /// How deep objects and lists may lie in each other. JSON readers stop at 128, and what is
    /// recorded is read back inside events and answers.
    pub const MAX_DEPTH: usize = 64;

    /// Accepts `object` if it is within the bound.
    ///
    /// # Errors
    /// [`Invalid`] when its compact JSON is over [`Self::MAX_BYTES`] or nested deeper than
    /// [`Self::MAX_DEPTH`].
    pub fn new(object: serde_json::Map<String, serde_json::Value>) -> Result<Self, Invalid> {
        if !object.values().all(|value| is_shallow(value, Self::MAX_DEPTH - 1)) {
            return Err(Invalid(format!("must be nested at most {} levels deep", Self::MAX_DEPTH)));
        }
        let metadata = Self(object);
        let size = serde_json::to_vec(&metadata).map_or(usize::MAX, |bytes| bytes.len());
        if size > Self::MAX_BYTES {
            return Err(Invalid(format!("must be at most {} bytes of JSON", Self::MAX_BYTES)));
        }
        Ok(metadata)
    }
}

/// Whether `value` has at most `levels` levels.
fn is_shallow(value: &serde_json::Value, levels: usize) -> bool {
    let below = |inner| levels > 0 && is_shallow(inner, levels - 1);
    match value {
        serde_json::Value::Array(items) => levels > 0 && items.iter().all(below),
        serde_json::Value::Object(object) => levels > 0 && object.values().all(below),
        _ => true,
    }
}

impl std::str::FromStr for Metadata {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        match serde_json::from_str(text) {
            Ok(serde_json::Value::Object(object)) => Self::new(object),
            Ok(_) => Err(Invalid::new("must be a JSON object, such as {\"ticket\": 42}")),
            Err(error) => Err(Invalid(format!("must be a JSON object: {error}"))),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Metadata {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(serde_json::Map::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Metadata {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Metadata".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "additionalProperties": true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_json_object_within_the_bound_is_metadata() {
        assert!(r#"{"ticket": 42}"#.parse::<Metadata>().is_ok());
        for text in ["[]", "1", "nonsense", "", "{\"a\":"] {
            assert!(text.parse::<Metadata>().is_err(), "{text}");
        }
        let nested =
            |levels: usize| format!("{}{}", "{\"a\":".repeat(levels - 1) + "{}", "}".repeat(levels - 1));
        assert!(nested(Metadata::MAX_DEPTH).parse::<Metadata>().is_ok());
        assert!(nested(Metadata::MAX_DEPTH + 1).parse::<Metadata>().unwrap_err().0.contains("64 levels"));
        let large = format!("{{\"a\":\"{}\"}}", "x".repeat(Metadata::MAX_BYTES));
        assert!(large.parse::<Metadata>().unwrap_err().0.contains("65536 bytes"));
    }
}
