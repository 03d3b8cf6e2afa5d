//! Closed vocabularies: enums with one spelling on every surface and one number in the ledger.

/// Declares an enum whose variants have a stored code and a wire spelling.
///
/// Spellings parse without regard to case, and a refusal lists every accepted one. Codes are
/// what the ledger stores: never reuse or renumber one.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $noun:literal {
            $( $(#[$variant_meta:meta])* $variant:ident = $code:literal, $text:literal; )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[$variant_meta])* $variant, )+ }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// The spelling used on every surface.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $text, )+ }
            }

            /// The number stored in the ledger.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self { $( Self::$variant => $code, )+ }
            }

            /// The value stored as `code`, if this version knows it.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $( $code => Some(Self::$variant), )+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::domain::Invalid;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let wanted = text.trim();
                Self::ALL.iter().copied().find(|word| word.as_str().eq_ignore_ascii_case(wanted)).ok_or_else(|| {
                    let accepted: Vec<_> = Self::ALL.iter().map(|word| word.as_str()).collect();
                    let meant = $crate::domain::nearest::nearest(wanted, accepted.iter().copied());
                    let meant = meant.map(|word| format!("did you mean `{word}`? ")).unwrap_or_default();
                    $crate::domain::Invalid(format!(
                        concat!("`{}` is not {} ", $noun, "; {}accepted: {}"),
                        $crate::domain::text::quoted(wanted),
                        $crate::domain::text::article($noun),
                        meant,
                        accepted.join(", "),
                    ))
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($name).into() }
            fn inline_schema() -> bool { true }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let words: Vec<_> = Self::ALL.iter().map(|word| word.as_str()).collect();
                schemars::json_schema!({ "type": "string", "enum": words })
            }
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    use crate::domain::ScopeKind;

    #[test]
    fn a_word_parses_in_any_case_and_a_refusal_lists_what_is_accepted() {
        assert_eq!("SyMbol".parse(), Ok(ScopeKind::Symbol));
        let refusal = "gadget".parse::<ScopeKind>().unwrap_err().0;
        assert!(refusal.contains("`gadget` is not a scope kind"), "{refusal}");
        let vowel = "gadget".parse::<crate::domain::IntentStatus>().unwrap_err().0;
        assert!(vowel.contains("`gadget` is not an intent status"), "{vowel}");
        for kind in ScopeKind::ALL {
            assert!(refusal.contains(kind.as_str()), "{refusal}");
            assert_eq!(ScopeKind::from_code(kind.code()), Some(*kind));
        }
    }

    #[test]
    fn a_mistyped_word_is_put_right() {
        let refusal = "Symbl".parse::<ScopeKind>().unwrap_err().0;
        assert!(
            refusal.contains("is not a scope kind; did you mean `symbol`? accepted: symbol, "),
            "{refusal}"
        );
        assert!(!"gadget".parse::<ScopeKind>().unwrap_err().0.contains("did you mean"));
    }

    #[test]
    fn control_characters_in_a_refused_word_are_escaped() {
        let refusal = "x\u{1b}[2J".parse::<ScopeKind>().unwrap_err().0;
        assert!(!refusal.contains('\u{1b}'), "{refusal:?}");
    }
}
