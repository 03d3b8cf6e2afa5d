//! Overlaps between two lists of scopes, without comparing each with each.
//!
//! A scope is looked up by its full form, its alias, what it ends in, the directories above it
//! and its words; only what turns up is compared. The result is that of [`overlap`] on all pairs.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::names::{SIMILAR, reaches, vary};
use super::qualified::dotted;
use super::tiers::{Compared, alias_key, directories_above, key, overlap, tails};
use crate::domain::ScopeKind;
use crate::domain::conflict::Tier;

/// One side of a comparison, prepared to be looked up.
pub struct Lookup<'s> {
    scopes: Vec<&'s Compared>,
    by_full: HashMap<&'s str, Vec<usize>>,
    by_alias: HashMap<&'s str, Vec<usize>>,
    /// By the dotted name, and by everything shorter that it ends in.
    by_name: HashMap<String, Vec<usize>>,
    by_tail: HashMap<String, Vec<usize>>,
    /// By a word of the name, and how many it has.
    by_word: HashMap<(ScopeKind, usize, &'s str), Vec<usize>>,
    files: BTreeMap<&'s str, usize>,
}

impl<'s> Lookup<'s> {
    /// Prepares `scopes`; an overlap names them by their position.
    pub fn new(scopes: impl IntoIterator<Item = &'s Compared>) -> Self {
        let mut lookup = Self {
            scopes: scopes.into_iter().collect(),
            by_full: HashMap::new(),
            by_alias: HashMap::new(),
            by_name: HashMap::new(),
            by_tail: HashMap::new(),
            by_word: HashMap::new(),
            files: BTreeMap::new(),
        };
        for (place, scope) in lookup.scopes.iter().copied().enumerate() {
            lookup.by_full.entry(&scope.full).or_default().push(place);
            lookup.by_full.entry(key(scope)).or_default().push(place);
            if scope.kind == ScopeKind::File {
                lookup.files.insert(&scope.full, place);
                lookup.by_alias.entry(&scope.alias).or_default().push(place);
                continue;
            }
            if let Some(alias) = alias_key(scope) {
                lookup.by_alias.entry(alias).or_default().push(place);
            }
            let name = dotted(&scope.full);
            for tail in tails(&name) {
                lookup.by_tail.entry(tail.to_owned()).or_default().push(place);
            }
            lookup.by_name.entry(name).or_default().push(place);
            for word in &scope.words {
                lookup.by_word.entry((scope.kind, scope.words.len(), word)).or_default().push(place);
            }
        }
        lookup
    }

    /// The scopes that overlap with `scope`, in order.
    #[must_use]
    pub fn overlaps(&self, scope: &Compared) -> Vec<(usize, Tier)> {
        let mut near: HashSet<usize> = HashSet::new();
        near.extend(self.by_full.get(scope.full.as_str()).into_iter().flatten());
        near.extend(self.by_full.get(key(scope)).into_iter().flatten());
        near.extend(self.by_alias.get(scope.alias.as_str()).into_iter().flatten());
        if scope.kind == ScopeKind::File {
            near.extend(directories_above(&scope.full).filter_map(|above| self.files.get(above)));
            let below = if scope.full == "." { String::new() } else { format!("{}/", scope.full) };
            let range = self.files.range(below.as_str()..);
            near.extend(range.take_while(|(file, _)| file.starts_with(&below)).map(|(_, place)| place));
        } else {
            let name = dotted(&scope.full);
            near.extend(self.by_tail.get(&name).into_iter().flatten());
            let ends = tails(&name).chain([name.as_str()]);
            near.extend(ends.filter_map(|tail| self.by_name.get(tail)).flatten());
            self.similar(scope, &mut near);
        }
        let mut found: Vec<_> =
            near.into_iter().filter_map(|place| Some((place, overlap(scope, self.scopes[place])?))).collect();
        found.sort_by_key(|(place, _)| *place);
        found
    }

    /// A name that has all my words has my rarest one; one whose words are all mine lacks as many
    /// of mine as it is shorter, and so has one of that many rarest and one more.
    fn similar(&self, scope: &Compared, near: &mut HashSet<usize>) {
        let mine = scope.words.len();
        let sizes = (1..=mine * 2).filter(|size| reaches(mine.min(*size), mine.max(*size), SIMILAR));
        for size in sizes.filter(|_| vary(scope.kind)) {
            let found = |word| self.by_word.get(&(scope.kind, size, word)).map_or(&[][..], Vec::as_slice);
            let mut lists: Vec<_> = scope.words.iter().map(|word| found(word.as_str())).collect();
            lists.sort_by_key(|places| places.len());
            near.extend(lists.into_iter().take(mine.saturating_sub(size) + 1).flatten());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::canonical::{forms, relative};
    use super::*;

    fn scope() -> impl Strategy<Value = Compared> {
        let kind =
            prop::sample::select(&[ScopeKind::Symbol, ScopeKind::File, ScopeKind::Domain, ScopeKind::Api]);
        let part = prop::sample::select(&[
            "a",
            "B",
            "PayService",
            "payService",
            "StripePayService",
            "pay.rs",
            "List<a::B>",
            "#a",
            "é",
            "E\u{301}",
        ]);
        let separator = prop::sample::select(&["::", ".", "/", "\\", "#", " "]);
        (kind, prop::collection::vec((part, separator), 1..4)).prop_map(|(kind, parts)| {
            let mut key: String = parts.iter().flat_map(|(part, separator)| [*part, *separator]).collect();
            key.truncate(key.len() - parts.last().unwrap().1.len());
            if kind == ScopeKind::File {
                key = relative(&key).unwrap();
            }
            Compared::new(&key, forms(kind, &key))
        })
    }

    proptest! {
        #[test]
        fn looking_up_finds_what_comparing_each_with_each_finds(
            scopes in prop::collection::vec(scope(), 0..12),
            asked in scope(),
        ) {
            // One full form stands once in an intent.
            let mut seen = HashSet::new();
            let scopes: Vec<_> =
                scopes.into_iter().filter(|scope| seen.insert((scope.kind, scope.full.clone()))).collect();
            let all: Vec<_> = scopes
                .iter()
                .enumerate()
                .filter_map(|(place, other)| Some((place, overlap(&asked, other)?)))
                .collect();
            prop_assert_eq!(Lookup::new(&scopes).overlaps(&asked), all);
        }
    }
}
