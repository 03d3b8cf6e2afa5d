//! Scopes: what a piece of work touches, and the operation it performs there.

use super::word::words;
use super::{Invalid, Text};

words! {
    /// What kind of thing a scope names.
    pub enum ScopeKind: "scope kind" {
        /// A class, function, method, type or constant.
        Symbol = 1, "symbol";
        /// A route, endpoint or remote call.
        Api = 2, "api";
        /// A database or message schema.
        Schema = 3, "schema";
        /// A configuration key.
        Config = 4, "config";
        /// A piece of infrastructure.
        Infra = 5, "infra";
        /// A test or test suite.
        Test = 6, "test";
        /// A data or schema migration.
        Migration = 7, "migration";
        /// An environment variable.
        Env = 8, "env";
        /// A file or directory, relative to the worktree root.
        File = 9, "file";
        /// A deployable or user-interface component.
        Component = 10, "component";
        /// An agreed interface between parts.
        Contract = 11, "contract";
        /// A business domain.
        Domain = 12, "domain";
    }
}

words! {
    /// What an intent does to one scope.
    pub enum ScopeOperation: "scope operation" {
        /// Creates it.
        Add = 1, "add";
        /// Adds to it; what exists stays.
        Extend = 2, "extend";
        /// Changes it; what depends on it stays valid.
        Modify = 3, "modify";
        /// Puts something else in its place.
        Replace = 4, "replace";
        /// Takes it away.
        Remove = 5, "remove";
        /// Gives it another name.
        Rename = 6, "rename";
        /// Moves it to another form or place.
        Migrate = 7, "migrate";
    }
}

impl ScopeOperation {
    /// Whether other work that depends on the scope may break.
    #[must_use]
    pub const fn is_destructive(self) -> bool {
        matches!(self, Self::Replace | Self::Remove | Self::Rename | Self::Migrate)
    }
}

/// The key of a scope as written: at most 1,000 characters.
pub type ScopeKey = Text<1_000>;

/// A scope as a caller declares it, with its operation.
///
/// On the command line `KIND:KEY=OPERATION`; the operation follows the last `=`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
#[schemars(inline)]
pub struct DeclaredScope {
    /// What kind of thing it is.
    pub kind: ScopeKind,
    /// Which one: a symbol, route, path or name, spelled as you would write it.
    pub key: ScopeKey,
    /// What the work does to it. `add`, `extend` and `modify` keep what others depend on;
    /// `replace`, `remove`, `rename` and `migrate` do not. Only the command line may leave it
    /// out: it is then read from the summary and never asserts.
    #[serde(deserialize_with = "declared")]
    #[schemars(with = "ScopeOperation")]
    pub operation: Option<ScopeOperation>,
}

fn declared<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<ScopeOperation>, D::Error> {
    serde::Deserialize::deserialize(deserializer).map(Some)
}

/// A scope as a caller names it, where no operation belongs. On the command line `KIND:KEY`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
#[schemars(inline)]
pub struct NamedScope {
    /// What kind of thing it is.
    pub kind: ScopeKind,
    /// Which one: a symbol, route, path or name, spelled as you would write it.
    pub key: ScopeKey,
}

impl NamedScope {
    /// The key without the operation somebody wrote behind it.
    #[must_use]
    pub fn key_before_operation(key: &str) -> Option<&str> {
        let (key, operation) = key.rsplit_once('=')?;
        operation.parse::<ScopeOperation>().is_ok().then_some(key.trim_end())
    }
}

impl std::str::FromStr for NamedScope {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        const FORM: &str = "write KIND:KEY, such as symbol:PaymentService";
        let (kind, key) = text.split_once(':').ok_or_else(|| Invalid(format!("no kind; {FORM}")))?;
        let key = key.parse().map_err(|Invalid(why)| Invalid(format!("the key {why}; {FORM}")))?;
        Ok(Self { kind: kind.parse()?, key })
    }
}

/// Takes an object only: serde alone would take `["symbol", "x", "add"]` for a struct, too.
macro_rules! read_as_object {
    ($scope:ty, $expected:literal) => {
        impl<'de> serde::Deserialize<'de> for $scope {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;
                impl<'de> serde::de::Visitor<'de> for Fields {
                    type Value = $scope;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<$scope, A::Error> {
                        <$scope>::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    }
                }
                deserializer.deserialize_map(Fields)
            }
        }
    };
}
read_as_object!(DeclaredScope, "an object with kind, key and operation");
read_as_object!(NamedScope, "an object with kind and key");

impl std::str::FromStr for DeclaredScope {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        const FORM: &str = "write KIND:KEY=OPERATION, such as symbol:PaymentService=replace";
        let (kind, rest) = text.split_once(':').ok_or_else(|| Invalid(format!("no kind; {FORM}")))?;
        let kind = kind.parse()?;
        let (key, operation) = match rest.rsplit_once('=') {
            None => (rest, None),
            Some((key, operation)) => {
                let operation =
                    operation.parse().map_err(|Invalid(why)| Invalid(format!("{why}; {FORM}")))?;
                (key, Some(operation))
            }
        };
        let key = key.parse().map_err(|Invalid(why)| Invalid(format!("the key {why}; {FORM}")))?;
        Ok(Self { kind, key, operation })
    }
}

/// A scope without an operation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Scope {
    /// What kind of thing it is.
    pub kind: ScopeKind,
    /// Which one, spelled as declared.
    pub key: String,
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.kind, self.key)
    }
}

/// A scope of an intent, as stored.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct ScopeClaim {
    /// What kind of thing it is.
    pub kind: ScopeKind,
    /// Which one, spelled as declared.
    pub key: String,
    /// What the intent does to it.
    pub operation: ScopeOperation,
    /// Present and true when the operation was read from prose instead of being declared.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub inferred: bool,
}

impl std::fmt::Display for ScopeClaim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}={}", self.kind, self.key, self.operation)
    }
}

/// The two forms scopes are compared by, fixed when the scope was declared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalScope {
    /// What kind of thing it is.
    pub kind: ScopeKind,
    /// The whole key in canonical spelling.
    pub full: String,
    /// For a symbol its last two parts; for every other kind the same as `full`.
    pub alias: String,
}

impl CanonicalScope {
    /// The alias where it differs from the full form, as events keep it.
    #[must_use]
    pub fn own_alias(&self) -> Option<String> {
        (self.alias != self.full).then(|| self.alias.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operation_of_a_scope_follows_the_last_equals_sign() {
        let scope: DeclaredScope = "api:GET /search?q=x=add".parse().unwrap();
        assert_eq!(scope.kind, ScopeKind::Api);
        assert_eq!(scope.key.as_str(), "GET /search?q=x");
        assert_eq!(scope.operation, Some(ScopeOperation::Add));
        let scope: DeclaredScope = "Symbol: crate::Pay =REPLACE".parse().unwrap();
        assert_eq!((scope.key.as_str(), scope.operation), ("crate::Pay", Some(ScopeOperation::Replace)));
    }

    #[test]
    fn a_scope_without_kind_key_or_operation_is_refused_with_the_form_to_write() {
        for text in ["PaymentService", "symbol:=add", "symbol:x=frobnicate", "symbol:x=", ""] {
            let refusal = text.parse::<DeclaredScope>().unwrap_err().0;
            assert!(refusal.contains("KIND:KEY=OPERATION"), "{text}: {refusal}");
        }
        let refusal = "gadget:x=add".parse::<DeclaredScope>().unwrap_err().0;
        assert!(refusal.contains("symbol, api, schema"), "{refusal}");
    }

    #[test]
    fn where_no_operation_belongs_everything_after_the_kind_is_the_key() {
        let scope: NamedScope = "api:GET /search?q=add".parse().unwrap();
        assert_eq!((scope.kind, scope.key.as_str()), (ScopeKind::Api, "GET /search?q=add"));
        assert_eq!(NamedScope::key_before_operation("Pay = replace"), Some("Pay"));
        assert_eq!(NamedScope::key_before_operation("GET /search?q=x"), None);
        assert!("PaymentService".parse::<NamedScope>().unwrap_err().0.contains("KIND:KEY"));
        assert!(serde_json::from_str::<NamedScope>(r#"["symbol","x"]"#).is_err());
        let json = r#"{"kind":"symbol","key":"x","operation":"add"}"#;
        assert!(serde_json::from_str::<NamedScope>(json).unwrap_err().to_string().contains("operation"));
    }

    #[test]
    fn a_request_cannot_mark_its_own_operation_as_inferred() {
        let json = r#"{"kind":"symbol","key":"x","operation":"add","inferred":true}"#;
        assert!(serde_json::from_str::<DeclaredScope>(json).unwrap_err().to_string().contains("inferred"));
    }
}
