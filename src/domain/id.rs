//! Identifiers: a readable prefix, `_` and 32 lower-case hexadecimal digits.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use super::text::{article, quoted};
use super::{Digest, Invalid};

/// What an [`Id`] names: fixes the prefix and the word used in messages.
pub trait IdKind {
    /// The letters before `_`, such as `agt`.
    const PREFIX: &'static str;
    /// The entity in a sentence, such as `agent`.
    const NOUN: &'static str;
    /// A prefix that is easily given instead, and what a refusal says to that.
    const MISTAKEN: Option<(&'static str, &'static str)> = None;
}

/// The identifier of one `K`: 128 bits, random or derived from what it identifies.
pub struct Id<K> {
    bytes: [u8; 16],
    kind: PhantomData<fn() -> K>,
}

impl<K> Id<K> {
    /// An identifier of these 16 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self { bytes, kind: PhantomData }
    }

    /// The identifier derived from the first half of `digest`: equal content, equal identifier.
    #[must_use]
    pub fn derived(digest: &Digest) -> Self {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest.as_bytes()[..16]);
        Self::from_bytes(bytes)
    }

    /// The 16 bytes, as the ledger stores them.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.bytes
    }
}

impl<K: IdKind> Id<K> {
    /// The identifier spelled exactly as it is displayed, as events name their entities: one
    /// entity has one spelling in the history.
    #[must_use]
    pub fn exact(text: &str) -> Option<Self> {
        text.parse().ok().filter(|id: &Self| id.to_string() == text)
    }

    /// The shortest spelling every surface accepts: prefix, `_` and eight digits.
    #[must_use]
    pub fn short(&self) -> String {
        let full = self.to_string();
        full[..K::PREFIX.len() + 9].to_owned()
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.bytes.cmp(&other.bytes)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl<K: IdKind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        // In one piece: an answer spells hundreds of identifiers.
        let mut digits = [0; 32];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.bytes) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 0xf)];
        }
        f.write_str(K::PREFIX)?;
        f.write_str("_")?;
        f.write_str(std::str::from_utf8(&digits).map_err(|_| fmt::Error)?)
    }
}

impl<K: IdKind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K: IdKind> FromStr for Id<K> {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let reference: IdRef<K> = text.parse()?;
        let (low, high) = reference.range();
        if low == high { Ok(low) } else { Err(IdRef::<K>::refusal(text)) }
    }
}

impl<K: IdKind> serde::Serialize for Id<K> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, K: IdKind> serde::Deserialize<'de> for Id<K> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl<K: IdKind> schemars::JsonSchema for Id<K> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Id_{}", K::PREFIX).into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": format!("^{}_[0-9a-f]{{32}}$", K::PREFIX) })
    }
}

/// An identifier as a caller writes it: the prefix and the first 6 to 32 hexadecimal digits.
///
/// It is resolved to one [`Id`] inside the operation's transaction.
pub struct IdRef<K> {
    digits: String,
    kind: PhantomData<fn() -> K>,
}

impl<K: IdKind> IdRef<K> {
    const FEWEST: usize = 6;
    const MOST: usize = 32;

    fn refusal(text: &str) -> Invalid {
        let given = text.trim().split_once('_').map_or("", |(prefix, _)| prefix);
        let remark = K::MISTAKEN.filter(|(prefix, _)| given.eq_ignore_ascii_case(prefix));
        Invalid(format!(
            "`{}` is not the id of {} {}; accepted: `{}_` and 6 to 32 hexadecimal digits{}",
            quoted(text),
            article(K::NOUN),
            K::NOUN,
            K::PREFIX,
            remark.map(|(_, remark)| format!("; {remark}")).unwrap_or_default(),
        ))
    }

    /// The lowest and the highest identifier that begin with these digits.
    #[must_use]
    pub fn range(&self) -> (Id<K>, Id<K>) {
        let bound = |fill: u8| {
            let mut bytes = [0; 16];
            for (index, byte) in bytes.iter_mut().enumerate() {
                let digit = |at: usize| self.digits.as_bytes().get(at).map_or(fill, |c| hex_value(*c));
                *byte = digit(index * 2) << 4 | digit(index * 2 + 1);
            }
            Id::from_bytes(bytes)
        };
        (bound(0), bound(0xf))
    }
}

const fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

impl<K> Clone for IdRef<K> {
    fn clone(&self) -> Self {
        Self { digits: self.digits.clone(), kind: PhantomData }
    }
}

impl<K: IdKind> From<Id<K>> for IdRef<K> {
    fn from(id: Id<K>) -> Self {
        Self { digits: id.to_string()[K::PREFIX.len() + 1..].to_owned(), kind: PhantomData }
    }
}

impl<K: IdKind> fmt::Display for IdRef<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", K::PREFIX, self.digits)
    }
}

impl<K: IdKind> fmt::Debug for IdRef<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K: IdKind> FromStr for IdRef<K> {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let digits = text
            .trim()
            .split_once('_')
            .filter(|(prefix, _)| prefix.eq_ignore_ascii_case(K::PREFIX))
            .map(|(_, digits)| digits)
            .filter(|digits| (Self::FEWEST..=Self::MOST).contains(&digits.len()))
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .ok_or_else(|| Self::refusal(text))?;
        Ok(Self { digits: digits.to_ascii_lowercase(), kind: PhantomData })
    }
}

impl<'de, K: IdKind> serde::Deserialize<'de> for IdRef<K> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl<K: IdKind> schemars::JsonSchema for IdRef<K> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("IdRef_{}", K::PREFIX).into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": format!("^{}_[0-9a-fA-F]{{6,32}}$", K::PREFIX) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Agent;

    #[test]
    fn a_prefix_of_odd_length_covers_exactly_the_ids_that_begin_with_it() {
        let reference: IdRef<Agent> = "agt_ABCDEF1".parse().unwrap();
        let (low, high) = reference.range();
        assert_eq!(low.to_string(), "agt_abcdef10000000000000000000000000");
        assert_eq!(high.to_string(), "agt_abcdef1fffffffffffffffffffffffff");
    }

    #[test]
    fn an_id_reads_back_as_itself_and_its_short_form_is_a_prefix_of_it() {
        let id: Id<Agent> = Id::from_bytes([0xa7; 16]);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!(id.to_string().starts_with(&id.short()));
        assert!(id.short().parse::<IdRef<Agent>>().is_ok());
    }

    #[test]
    fn an_exact_id_has_no_other_spelling() {
        let id: Id<Agent> = Id::from_bytes([0xa7; 16]);
        let text = id.to_string();
        assert_eq!(Id::exact(&text), Some(id));
        for other in [text.replace('a', "A"), format!(" {text}"), id.short()] {
            assert_eq!(Id::<Agent>::exact(&other), None, "{other}");
        }
    }

    #[test]
    fn the_id_of_a_what_if_finding_is_refused_with_the_reason_and_a_way_on() {
        let conflict =
            |text: &str| text.parse::<IdRef<crate::domain::Conflict>>().map(drop).unwrap_err().to_string();
        let refusal = conflict(" EPH_12345678");
        assert!(refusal.contains("`cfl_` and 6 to 32"), "{refusal}");
        assert!(refusal.contains("no record") && refusal.contains("publish"), "{refusal}");
        assert!(!conflict("agt_12345678").contains("no record"));
        let agent = "eph_12345678".parse::<IdRef<Agent>>().unwrap_err().to_string();
        assert!(!agent.contains("no record"), "no agent is meant by that: {agent}");
    }

    #[test]
    fn short_long_foreign_and_non_hexadecimal_ids_are_refused_by_name() {
        for text in [
            "",
            "agt_",
            "agt_12345",
            "int_123456",
            "agt_12345g",
            &format!("agt_{}", "0".repeat(33)),
            "agt_日本語語語語",
        ] {
            let refusal = text.parse::<IdRef<Agent>>().unwrap_err().0;
            assert!(refusal.contains("`agt_` and 6 to 32 hexadecimal digits"), "{text}: {refusal}");
        }
        assert!("agt_123456".parse::<Id<Agent>>().is_err(), "a full id is 32 digits");
    }
}
