//! Which rows of a table of scopes overlap with a given scope, through the indexes of that table.
//!
//! [`crate::detect::tiers::overlap`] says what overlaps; this finds the same, which property tests
//! hold for both tables.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::{Row, ToSql};

use super::super::error::Error;
use super::Snapshot;
use crate::detect::names::{self, Words, reaches};
use crate::detect::qualified::dotted;
use crate::detect::tiers::{
    Compared, alias_key, are_similar, directories_above, has_tails, key, says_too_little, tails,
};
use crate::domain::conflict::Tier;
use crate::domain::{CanonicalScope, ScopeKind};

/// How a row overlaps with the scope asked for.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub tier: Tier,
    /// For a directory and what lies below it: whether the one asked for is the directory.
    pub contains: bool,
    /// For similar names: the share of words, in thousandths.
    pub words: u32,
}

const fn by(tier: Tier) -> Way {
    Way { tier, contains: false, words: 0 }
}

/// A table of scopes with their canonical forms, and what is read of a row. The first columns are the
/// number of the row and that of its agent.
pub(super) struct Source<T> {
    pub select: &'static str,
    /// Whether overlaps that are mere hints count.
    pub hints: bool,
    pub read: fn(&Row<'_>, Way) -> rusqlite::Result<T>,
}

const BY_FULL: &str = "kind = ?1 AND full = ?2";
/// Scopes other than the one with the same full form.
const BY_ALIAS: &str = "kind = ?1 AND alias = ?2 AND scope <> ?3";
/// A full form that is its own alias.
const IS_ALIAS: &str = "kind = ?1 AND full = ?2 AND alias IS NULL";
/// The same full form in any of the [`NAMED_KINDS`].
const BY_FULL_IN_KINDS: &str = "kind IN (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) AND full = ?1";
/// Kinds whose scopes are not files.
const NAMED_KINDS: usize = ScopeKind::ALL.len() - 1;
/// A word that stands in this many sets is as frequent as any: counting stops.
pub(super) const FREQUENT: u32 = 256;
/// What was met so far, each row under the first and so strongest tier it was found by.
pub(super) struct Near<'s, T> {
    snapshot: &'s Snapshot<'s>,
    source: &'s Source<T>,
    agent: i64,
    /// `None` for what is the agent's own.
    met: HashMap<i64, Option<T>>,
    /// The number of the scope asked for, 0 while nothing has the same full form.
    same: i64,
}

impl<'s, T> Near<'s, T> {
    /// Rows of agents other than `agent` that overlap with `scope`, in no order.
    pub(super) fn find(
        snapshot: &'s Snapshot<'s>,
        source: &'s Source<T>,
        agent: i64,
        scope: &Compared,
    ) -> Result<Vec<T>, Error> {
        let mut near = Self { snapshot, source, agent, met: HashMap::new(), same: 0 };
        if scope.kind == ScopeKind::File {
            near.files(scope)?;
        } else {
            near.names(scope)?;
        }
        Ok(near.met.into_values().flatten().collect())
    }

    fn look(&mut self, way: Way, condition: &str, values: &[&dyn ToSql]) -> Result<(), Error> {
        let select = self.source.select;
        let mut find = self.snapshot.connection().prepare_cached(&format!("{select} {condition}"))?;
        let mut rows = find.query(values)?;
        while let Some(row) = rows.next()? {
            self.add(row, way)?;
        }
        Ok(())
    }

    fn add(&mut self, row: &Row<'_>, way: Way) -> Result<(), Error> {
        let Entry::Vacant(new) = self.met.entry(row.get(0)?) else { return Ok(()) };
        let is_own = row.get::<_, i64>(1)? == self.agent;
        new.insert(if is_own { None } else { Some((self.source.read)(row, way)?) });
        if way.tier == Tier::Same {
            self.same = row.get(3)?;
        }
        Ok(())
    }

    fn files(&mut self, scope: &Compared) -> Result<(), Error> {
        self.look(by(Tier::Same), BY_FULL, &[&scope.kind, &scope.full])?;
        let same = self.same;
        self.look(by(Tier::SameName), BY_ALIAS, &[&scope.kind, &scope.alias, &same])?;
        if scope.alias != scope.full {
            self.look(by(Tier::SameName), IS_ALIAS, &[&scope.kind, &scope.alias])?;
        }
        for above in directories_above(&scope.full) {
            self.look(by(Tier::Inside), BY_FULL, &[&scope.kind, &above])?;
        }
        self.other_kinds(scope)?;
        let inside = Way { contains: true, ..by(Tier::Inside) };
        if scope.full == "." {
            return self.look(inside, "kind = ?1", &[&scope.kind]);
        }
        // What lies below begins with the path and `/`, and comes before the path and `0`.
        let (first, last) = (format!("{}/", scope.full), format!("{}0", scope.full));
        self.look(inside, "kind = ?1 AND full >= ?2 AND full < ?3", &[&scope.kind, &first, &last])
    }

    fn names(&mut self, scope: &Compared) -> Result<(), Error> {
        self.look(by(Tier::Same), BY_FULL, &[&scope.kind, &scope.full])?;
        let same = self.same;
        if let Some(alias) = alias_key(scope) {
            self.look(by(Tier::SameName), BY_ALIAS, &[&scope.kind, &alias, &same])?;
            if alias != scope.full {
                self.look(by(Tier::SameName), IS_ALIAS, &[&scope.kind, &alias])?;
            }
        }
        if has_tails(scope.kind) {
            let name = dotted(&scope.full);
            let reversed = |name: &str| name.chars().rev().collect::<String>();
            for tail in tails(&name).chain([name.as_str()]).filter(|tail| !says_too_little(tail)) {
                let reversed = reversed(tail);
                let condition = "kind = ?1 AND reversed = ?2 AND scope <> ?3";
                self.look(by(Tier::SameName), condition, &[&scope.kind, &reversed, &same])?;
            }
            if !says_too_little(&scope.full) {
                // What ends in this name begins, reversed, with it and a dot; `/` follows the dot.
                let (first, last) = (format!("{}.", reversed(&name)), format!("{}/", reversed(&name)));
                let range = "kind = ?1 AND reversed >= ?2 AND reversed < ?3";
                self.look(by(Tier::SameName), range, &[&scope.kind, &first, &last])?;
            }
        }
        self.other_kinds(scope)?;
        if self.source.hints && names::vary(scope.kind) { self.similar(scope) } else { Ok(()) }
    }

    fn other_kinds(&mut self, scope: &Compared) -> Result<(), Error> {
        if !self.source.hints {
            return Ok(());
        }
        let key = key(scope);
        let way = by(Tier::OtherKind);
        if scope.kind != ScopeKind::File {
            self.look(way, IS_ALIAS, &[&ScopeKind::File, &key])?;
            self.look(way, BY_ALIAS, &[&ScopeKind::File, &key, &0])?;
        }
        // A file is another kind to all of them; a name leaves out its own kind by asking for another one twice.
        let kinds = ScopeKind::ALL.iter().filter(|kind| **kind != scope.kind && **kind != ScopeKind::File);
        let mut values: Vec<&dyn ToSql> = vec![&key];
        values.extend(kinds.cycle().take(NAMED_KINDS).map(|kind| kind as &dyn ToSql));
        self.look(way, BY_FULL_IN_KINDS, &values)
    }

    /// A name that has all my words has my rarest one; one whose words are all mine lacks as many
    /// of mine as it is shorter, and so has one of that many rarest and one more.
    fn similar(&mut self, scope: &Compared) -> Result<(), Error> {
        let mine = scope.words.len();
        let sizes = (1..=mine * 2).filter(|size| reaches(mine.min(*size), mine.max(*size), names::SIMILAR));
        let sizes = sizes.map(|size| (size, mine.saturating_sub(size) + 1));
        let count = "SELECT count(*) FROM (SELECT 1 FROM active_word WHERE kind = ?1 AND word = ?2
             AND size BETWEEN ?3 AND ?4 LIMIT ?5)";
        let rarity = |word: &str, sizes: (usize, usize)| {
            self.snapshot.count(count, (scope.kind, word, sizes.0, sizes.1, FREQUENT))
        };
        for Probe { word, sizes } in probes(&scope.words, sizes, rarity)? {
            let mut find = self.snapshot.connection().prepare_cached(
                "SELECT scope FROM active_word WHERE kind = ?1 AND word = ?2 AND size BETWEEN ?3 AND ?4",
            )?;
            let mut named = self.snapshot.connection().prepare_cached(
                "SELECT id, agent, active_scope.intent, active_scope.scope, active_scope.operation,
                        active_scope.inferred, published_at, full, active_scope.alias, key
                 FROM active_scope JOIN intent_scope ON intent_scope.intent = active_scope.intent
                     AND intent_scope.scope = active_scope.scope
                 WHERE id = ?1",
            )?;
            let mut rows = find.query((scope.kind, word, sizes.0, sizes.1))?;
            while let Some(row) = rows.next()? {
                let row: i64 = row.get(0)?;
                // Most names that share a word are one name, which is met already.
                if self.met.contains_key(&row) {
                    continue;
                }
                let mut rows = named.query([row])?;
                let Some(row) = rows.next()? else { continue };
                let full: String = row.get(7)?;
                let alias = row.get::<_, Option<String>>(8)?.unwrap_or_else(|| full.clone());
                let canonical = CanonicalScope { kind: scope.kind, full, alias };
                let theirs = Compared::new(&row.get::<_, String>(9)?, canonical);
                if are_similar(scope, &theirs) {
                    let words = names::jaccard(&scope.words, &theirs.words);
                    self.add(row, Way { words, ..by(Tier::SimilarName) })?;
                }
            }
        }
        Ok(())
    }
}

/// A word to look for among the sets whose sizes lie between two, both included.
pub(super) struct Probe<'w> {
    pub word: &'w str,
    pub sizes: (usize, usize),
}

/// Where to look for sets that share enough with `words`. `needed` says for each size, in order, in how many of
/// my words a set of that size has at least one; the larger the size, the fewer they are. The words that stand in
/// the fewest sets are looked for.
pub(super) fn probes(
    words: &Words,
    needed: impl Iterator<Item = (usize, usize)>,
    rarity: impl Fn(&str, (usize, usize)) -> Result<u64, Error>,
) -> Result<Vec<Probe<'_>>, Error> {
    let needed: Vec<_> = needed.collect();
    let (Some((first, most)), Some((last, _))) = (needed.first().copied(), needed.last()) else {
        return Ok(Vec::new());
    };
    // Where there is no choice nothing is counted.
    let rarity = |word: &str| if words.len() > 1 { rarity(word, (first, *last)) } else { Ok(0) };
    let ranked = words.iter().map(|word| Ok((rarity(word)?, word)));
    let mut ranked = ranked.collect::<Result<Vec<_>, Error>>()?;
    ranked.sort();
    let probes = ranked.into_iter().take(most).enumerate().map(|(rank, (_, word))| {
        let reach = needed.partition_point(|(_, probes)| *probes > rank);
        Probe { word, sizes: (first, needed[reach - 1].0) }
    });
    Ok(probes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarest_words_are_looked_for_each_among_the_sizes_that_need_it() {
        let words: Words = ["common", "rare", "rarer"].map(str::to_owned).into();
        let rarity = |word: &str, sizes: (usize, usize)| {
            assert_eq!(sizes, (2, 5), "all sizes count");
            Ok(match word {
                "rarer" => 1,
                "rare" => 2,
                _ => 9,
            })
        };
        let needed = [(2, 2), (3, 2), (4, 1), (5, 1)];
        let probes = probes(&words, needed.into_iter(), rarity).unwrap();
        let probes: Vec<_> = probes.into_iter().map(|probe| (probe.word, probe.sizes)).collect();
        assert_eq!(probes, [("rarer", (2, 5)), ("rare", (2, 3))]);
    }
}
