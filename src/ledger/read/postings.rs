//! Which active scopes and summaries of other agents are near a given one, through the indexes.
//!
//! The answers are exactly those of comparing with every active intent, which a property test
//! holds: [`crate::detect::tiers::overlap`] says what overlaps, this finds it.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use rusqlite::{Row, ToSql};

use super::super::error::Error;
use super::Snapshot;
use crate::detect::findings::{FEWEST_WORDS, says_enough};
use crate::detect::names::{self, Words, reaches};
use crate::detect::tiers::{
    Compared, alias_key, are_similar, directories_above, dotted, has_tails, key, says_too_little, tails,
};
use crate::domain::conflict::Tier;
use crate::domain::{CanonicalScope, ScopeKind, ScopeOperation, Timestamp};

/// An active scope of another agent that overlaps with the one asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The intent, by its number in this file.
    pub intent: i64,
    /// Its owner, likewise.
    pub agent: i64,
    /// The scope, by its number in the dictionary of this file.
    pub scope: i64,
    /// How the two overlap.
    pub tier: Tier,
    /// For a directory and what lies below it: whether the one asked for is the directory.
    pub contains: bool,
    /// For similar names: the share of words, in thousandths.
    pub words: u32,
    /// What the other intent does to it.
    pub operation: ScopeOperation,
    /// Whether that was read from prose.
    pub inferred: bool,
    /// When the other intent was published.
    pub published_at: Timestamp,
}

const POSTING: &str = "SELECT id, intent, agent, scope, operation, inferred, published_at FROM active_scope";
const BY_FULL: &str = "kind = ?1 AND full = ?2";
/// Scopes other than the one with the same full form.
const BY_ALIAS: &str = "kind = ?1 AND alias = ?2 AND scope <> ?3";
/// A full form that is its own alias.
const IS_ALIAS: &str = "kind = ?1 AND full = ?2 AND alias IS NULL";
/// A word that stands in this many sets is as frequent as any: counting stops.
const FREQUENT: u32 = 256;
/// So few intents are compared one by one.
const FEW: usize = 64;

/// Postings found so far, each under the first and so strongest tier it was found by.
struct Near<'s> {
    snapshot: &'s Snapshot<'s>,
    agent: i64,
    found: HashMap<i64, Posting>,
}

impl Near<'_> {
    fn look(
        &mut self,
        tier: Tier,
        contains: bool,
        condition: &str,
        values: &[&dyn ToSql],
    ) -> Result<(), Error> {
        let mut find = self.snapshot.connection().prepare_cached(&format!("{POSTING} WHERE {condition}"))?;
        let mut rows = find.query(values)?;
        while let Some(row) = rows.next()? {
            self.add(row, tier, contains, 0)?;
        }
        Ok(())
    }

    fn add(&mut self, row: &Row<'_>, tier: Tier, contains: bool, words: u32) -> Result<(), Error> {
        let agent = row.get(2)?;
        if agent != self.agent {
            self.found.entry(row.get(0)?).or_insert(Posting {
                intent: row.get(1)?,
                agent,
                scope: row.get(3)?,
                tier,
                contains,
                words,
                operation: row.get(4)?,
                inferred: row.get(5)?,
                published_at: row.get(6)?,
            });
        }
        Ok(())
    }

    /// Looks for the same full form. Returns the number of that scope, 0 where none has it.
    fn same(&mut self, scope: &Compared) -> Result<i64, Error> {
        self.look(Tier::Same, false, BY_FULL, &[&scope.kind, &scope.full])?;
        Ok(self.found.values().next().map_or(0, |posting| posting.scope))
    }

    fn files(&mut self, scope: &Compared) -> Result<(), Error> {
        let same = self.same(scope)?;
        self.look(Tier::SameName, false, BY_ALIAS, &[&scope.kind, &scope.alias, &same])?;
        if scope.alias != scope.full {
            self.look(Tier::SameName, false, IS_ALIAS, &[&scope.kind, &scope.alias])?;
        }
        for above in directories_above(&scope.full) {
            self.look(Tier::Inside, false, BY_FULL, &[&scope.kind, &above])?;
        }
        self.other_kinds(scope)?;
        if scope.full == "." {
            return self.look(Tier::Inside, true, "kind = ?1", &[&scope.kind]);
        }
        // What lies below begins with the path and `/`, and comes before the path and `0`.
        let (first, last) = (format!("{}/", scope.full), format!("{}0", scope.full));
        self.look(Tier::Inside, true, "kind = ?1 AND full >= ?2 AND full < ?3", &[&scope.kind, &first, &last])
    }

    fn names(&mut self, scope: &Compared) -> Result<(), Error> {
        let same = self.same(scope)?;
        if let Some(alias) = alias_key(scope) {
            self.look(Tier::SameName, false, BY_ALIAS, &[&scope.kind, &alias, &same])?;
            if alias != scope.full {
                self.look(Tier::SameName, false, IS_ALIAS, &[&scope.kind, &alias])?;
            }
        }
        if has_tails(scope.kind) {
            let name = dotted(&scope.full);
            let reversed = |name: &str| name.chars().rev().collect::<String>();
            for tail in tails(&name).chain([name.as_str()]).filter(|tail| !says_too_little(tail)) {
                let reversed = reversed(tail);
                let condition = "kind = ?1 AND reversed = ?2 AND scope <> ?3";
                self.look(Tier::SameName, false, condition, &[&scope.kind, &reversed, &same])?;
            }
            if !says_too_little(&scope.full) {
                // What ends in this name begins, reversed, with it and a dot; `/` follows the dot.
                let (first, last) = (format!("{}.", reversed(&name)), format!("{}/", reversed(&name)));
                let range = "kind = ?1 AND reversed >= ?2 AND reversed < ?3";
                self.look(Tier::SameName, false, range, &[&scope.kind, &first, &last])?;
            }
        }
        self.other_kinds(scope)?;
        if names::vary(scope.kind) { self.similar(scope) } else { Ok(()) }
    }

    fn other_kinds(&mut self, scope: &Compared) -> Result<(), Error> {
        let key = key(scope);
        for kind in ScopeKind::ALL.iter().filter(|kind| **kind != scope.kind) {
            if *kind == ScopeKind::File {
                self.look(Tier::OtherKind, false, IS_ALIAS, &[kind, &key])?;
                self.look(Tier::OtherKind, false, BY_ALIAS, &[kind, &key, &0])?;
            } else {
                self.look(Tier::OtherKind, false, BY_FULL, &[kind, &key])?;
            }
        }
        Ok(())
    }

    /// A name that has all my words has my rarest one; one whose words are all mine lacks as many
    /// of mine as it is shorter, and so has one of that many rarest and one more.
    fn similar(&mut self, scope: &Compared) -> Result<(), Error> {
        let mine = scope.words.len();
        for size in 1..=mine * 2 {
            if !reaches(mine.min(size), mine.max(size), names::SIMILAR) {
                continue;
            }
            let probes = mine.saturating_sub(size) + 1;
            let count = "SELECT count(*) FROM (SELECT 1 FROM active_word WHERE kind = ?1 AND word = ?2 AND size = ?3 LIMIT ?4)";
            let rarity = |word: &String| self.snapshot.count(count, (scope.kind, word, size, FREQUENT));
            for word in rarest(&scope.words, probes, rarity)? {
                let mut find = self.snapshot.connection().prepare_cached(
                    "SELECT scope FROM active_word WHERE kind = ?1 AND word = ?2 AND size = ?3",
                )?;
                let mut named = self.snapshot.connection().prepare_cached(
                    "SELECT id, active_scope.intent, agent, active_scope.scope, active_scope.operation,
                            active_scope.inferred, published_at, full, active_scope.alias, key
                     FROM active_scope JOIN intent_scope ON intent_scope.intent = active_scope.intent
                         AND intent_scope.scope = active_scope.scope
                     WHERE id = ?1",
                )?;
                let mut rows = find.query((scope.kind, word, size))?;
                while let Some(row) = rows.next()? {
                    let row: i64 = row.get(0)?;
                    // Most names that share a word are one name, which is found already.
                    if self.found.contains_key(&row) {
                        continue;
                    }
                    let mut rows = named.query([row])?;
                    let Some(row) = rows.next()? else { continue };
                    let full: String = row.get(7)?;
                    let alias = row.get::<_, Option<String>>(8)?.unwrap_or_else(|| full.clone());
                    let canonical = CanonicalScope { kind: scope.kind, full, alias };
                    let theirs = Compared::new(&row.get::<_, String>(9)?, canonical);
                    if are_similar(scope, &theirs) {
                        self.add(row, Tier::SimilarName, false, names::jaccard(&scope.words, &theirs.words))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The `most` words that stand in the fewest sets.
fn rarest(
    words: &Words,
    most: usize,
    rarity: impl Fn(&String) -> Result<u64, Error>,
) -> Result<Vec<&String>, Error> {
    let mut ranked = words.iter().map(|word| Ok((rarity(word)?, word))).collect::<Result<Vec<_>, Error>>()?;
    ranked.sort();
    Ok(ranked.into_iter().take(most).map(|(_, word)| word).collect())
}

impl Snapshot<'_> {
    /// Active scopes of agents other than `agent` that overlap with `scope`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn postings(&self, agent: i64, scope: &Compared) -> Result<Vec<Posting>, Error> {
        let mut near = Near { snapshot: self, agent, found: HashMap::new() };
        if scope.kind == ScopeKind::File {
            near.files(scope)?;
        } else {
            near.names(scope)?;
        }
        let mut found: Vec<_> = near.found.into_values().collect();
        found.sort_by_key(|posting| (posting.intent, posting.scope));
        Ok(found)
    }

    /// Active intents of agents other than `agent` whose summaries share at least `least`
    /// thousandths of their words with `words`, with that share; among the intents `within` if
    /// given. A summary that does not [say enough](says_enough) shares nothing.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn summaries(
        &self,
        agent: i64,
        words: &Words,
        least: u32,
        within: Option<&HashSet<i64>>,
    ) -> Result<Vec<(i64, u32)>, Error> {
        let mut compared = HashMap::new();
        if !says_enough(words) {
            return Ok(vec![]);
        }
        if let Some(few) = within.filter(|within| within.len() <= FEW) {
            for intent in few {
                self.compare_summary(*intent, words, &mut compared)?;
            }
        } else {
            self.probe_summaries(words, least, within, &mut compared)?;
        }
        let mut owner = self.connection().prepare_cached("SELECT agent FROM intent WHERE id = ?1")?;
        let mut found = Vec::new();
        for (intent, share) in compared.into_iter().filter(|(_, share)| *share >= least) {
            if owner.query_row([intent], |row| row.get::<_, i64>(0))? != agent {
                found.push((intent, share));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    fn probe_summaries(
        &self,
        words: &Words,
        least: u32,
        within: Option<&HashSet<i64>>,
        compared: &mut HashMap<i64, u32>,
    ) -> Result<(), Error> {
        let mine = words.len();
        for size in 1..=mine * 3 {
            // The least overlap that reaches the share decides how many of my words may be missing.
            let Some(overlap) = (1..=mine.min(size)).find(|both| reaches(*both, mine + size - both, least))
            else {
                continue;
            };
            let count =
                "SELECT count(*) FROM (SELECT 1 FROM active_summary WHERE word = ?1 AND size = ?2 LIMIT ?3)";
            let rarity = |word: &String| self.count(count, (word, size, FREQUENT));
            for word in rarest(words, mine - overlap + 1, rarity)? {
                let mut find = self
                    .connection()
                    .prepare_cached("SELECT intent FROM active_summary WHERE word = ?1 AND size = ?2")?;
                let mut rows = find.query((word, size))?;
                while let Some(row) = rows.next()? {
                    let intent: i64 = row.get(0)?;
                    if within.is_none_or(|within| within.contains(&intent)) {
                        self.compare_summary(intent, words, compared)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Notes the share of words between `words` and the summary of an active intent, once.
    fn compare_summary(
        &self,
        intent: i64,
        words: &Words,
        compared: &mut HashMap<i64, u32>,
    ) -> Result<(), Error> {
        if let Entry::Vacant(new) = compared.entry(intent) {
            let mut find =
                self.connection().prepare_cached("SELECT word FROM active_summary WHERE intent = ?1")?;
            let (mut all, mut both) = (0, 0);
            let mut theirs = find.query([intent])?;
            while let Some(row) = theirs.next()? {
                all += 1;
                both += usize::from(words.contains(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?));
            }
            let enough = all >= FEWEST_WORDS;
            new.insert(if enough { names::share(both, words.len() + all - both) } else { 0 });
        }
        Ok(())
    }
}
