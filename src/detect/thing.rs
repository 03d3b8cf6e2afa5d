//! What a scope is called in prose.

use super::canonical::is_source_ending;
use super::english::singular;
use super::names::{self, Words};
use crate::domain::ScopeKind;

/// The name of a scope as it turns up in sentences.
pub struct Thing {
    kind: ScopeKind,
    /// All words of the name, in the singular.
    words: Words,
    /// Those that are left without what it belongs to; none if it belongs to nothing.
    own: Words,
    /// The last of them.
    last: Option<String>,
}

impl Thing {
    /// What is called by the key of a scope.
    #[must_use]
    pub fn new(kind: ScopeKind, key: &str) -> Self {
        let parted: &[char] = match kind {
            ScopeKind::Api | ScopeKind::Env | ScopeKind::Migration | ScopeKind::Test => &[],
            ScopeKind::File => &['/'],
            _ => &[':', '.', '#', '/', '\\'],
        };
        let own = key.trim_end_matches(parted).rsplit_once(parted).map_or("", |(_, own)| own);
        Self {
            kind,
            words: names::words(kind, key).iter().map(|word| singular(word)).collect(),
            own: said(own).collect(),
            last: said(key).last(),
        }
    }

    /// Whether all of a spoken word belongs to the name.
    #[must_use]
    pub fn has(&self, spoken: &str) -> bool {
        let mut said = said(spoken).peekable();
        said.peek().is_some() && said.all(|word| self.words.contains(&word))
    }

    /// Whether the name goes on with `next` after the spoken word.
    #[must_use]
    pub fn goes_on(&self, spoken: &str, next: &str) -> bool {
        self.has(next) && !said(spoken).any(|word| said(next).any(|other| other == word))
    }

    /// How much of the name is said, first without what only begins like it, then with that.
    #[must_use]
    pub fn said_in(&self, spoken: &[&str]) -> (usize, usize) {
        (self.exactly(spoken).len(), self.named(spoken))
    }

    /// How many words of the name are said.
    #[must_use]
    pub fn named(&self, spoken: &[&str]) -> usize {
        let found: Words = spoken.iter().flat_map(said).filter(|word| self.words.contains(word)).collect();
        found.len()
    }

    /// Whether the thing itself is named, and not what it belongs to alone.
    #[must_use]
    pub fn is_named_by(&self, spoken: &[&str]) -> bool {
        !self.own.is_empty() && self.own.is_subset(&self.exactly(spoken))
    }

    /// Whether something of the thing is named and not the thing: `Cart::total`, `CartTest` or
    /// `Cart's total` of `Cart`.
    #[must_use]
    pub fn has_more(&self, spoken: &[&str]) -> bool {
        let Some((_, before)) = spoken.split_last() else { return false };
        let is_owner = |word: &&str| {
            let owner = word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s"));
            owner.is_some_and(|owner| self.named(&[owner]) > 0)
        };
        before.iter().any(is_owner) || (self.named(spoken) > 0 && self.exactly(spoken).is_empty())
    }

    /// Whether this is a word for things of its kind: a setting is a flag, a method of a class a method.
    #[must_use]
    pub fn can_be_called(&self, noun: &str) -> bool {
        let of_its_kind: &[&str] = match self.kind {
            ScopeKind::Test => &["test", "spec"],
            ScopeKind::Env | ScopeKind::Config => {
                &["entry", "field", "flag", "option", "parameter", "property", "variable"]
            }
            ScopeKind::Symbol | ScopeKind::Schema | ScopeKind::Contract if !self.own.is_empty() => {
                &["attribute", "column", "field", "helper", "index", "method", "property", "variable"]
            }
            _ => &[],
        };
        of_its_kind.contains(&noun) || self.last.as_deref() == Some(noun)
    }

    /// The words of the name that are said by words that do not go on after it.
    fn exactly(&self, spoken: &[&str]) -> Words {
        let ends_in_it = |spoken: &&&str| {
            let said: Vec<_> = said(spoken).collect();
            let mut ends = said.iter().rev();
            let is_known = |word: Option<&String>| word.is_some_and(|word| self.words.contains(word));
            let is_ending = |word: Option<&String>| word.is_some_and(|word| is_source_ending(word));
            let last = ends.next();
            is_known(last) || (spoken.contains('.') && is_ending(last) && is_known(ends.next()))
        };
        spoken.iter().filter(ends_in_it).flat_map(said).filter(|word| self.words.contains(word)).collect()
    }
}

/// The words of what is spoken, in the singular.
fn said(spoken: impl AsRef<str>) -> impl Iterator<Item = String> {
    names::split(spoken).map(|word| singular(&word))
}
