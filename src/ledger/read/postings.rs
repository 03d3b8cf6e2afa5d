//! Which active scopes and summaries of other agents are near a given one, through the indexes.
//!
//! The answers are exactly those of comparing with every active intent, which a property test
//! holds: [`crate::detect::tiers::overlap`] says what overlaps, this finds it.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::CachedStatement;

use super::super::error::Error;
use super::super::signature::{self, at_most_shared};
use super::Snapshot;
use super::near::{FREQUENT, Near, Probe, Source, probes};
use crate::detect::findings::{FEWEST_WORDS, says_enough};
use crate::detect::names::{self, Words, reaches};
use crate::detect::tiers::Compared;
use crate::domain::conflict::Tier;
use crate::domain::{ScopeOperation, Timestamp};

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

/// A live claim of another agent that overlaps with the scope asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NearClaim {
    /// The claim, by its number in this file.
    pub claim: i64,
    /// The intent it is for, likewise.
    pub intent: i64,
    /// The scope, by its number in the dictionary of this file.
    pub scope: i64,
    /// How the two overlap.
    pub tier: Tier,
    /// When its lease ends.
    pub lease_expires_at: Timestamp,
    /// When it was made.
    pub claimed_at: Timestamp,
}

const POSTINGS: Source<Posting> = Source {
    select: "SELECT id, agent, intent, scope, operation, inferred, published_at FROM active_scope WHERE",
    hints: true,
    read: |row, way| {
        Ok(Posting {
            intent: row.get(2)?,
            agent: row.get(1)?,
            scope: row.get(3)?,
            tier: way.tier,
            contains: way.contains,
            words: way.words,
            operation: row.get(4)?,
            inferred: row.get(5)?,
            published_at: row.get(6)?,
        })
    },
};

const CLAIMS: Source<NearClaim> = Source {
    select: "SELECT id, agent, intent, scope, lease_expires_at, created_at FROM claim WHERE status = 1 AND",
    hints: false,
    read: |row, way| {
        Ok(NearClaim {
            claim: row.get(0)?,
            intent: row.get(2)?,
            scope: row.get(3)?,
            tier: way.tier,
            lease_expires_at: row.get(4)?,
            claimed_at: row.get(5)?,
        })
    },
};

/// So few intents are compared one by one.
const FEW: usize = 64;

impl Snapshot<'_> {
    /// Active scopes of agents other than `agent` that overlap with `scope`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn postings(&self, agent: i64, scope: &Compared) -> Result<Vec<Posting>, Error> {
        let mut found = Near::find(self, &POSTINGS, agent, scope)?;
        found.sort_by_key(|posting| (posting.intent, posting.scope));
        Ok(found)
    }

    /// Claims of agents other than `agent` whose leases run at `now` and that overlap with `scope`: the
    /// same thing, the same name in another namespace, or a directory and what lies below it.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn claims_near(&self, agent: i64, scope: &Compared, now: Timestamp) -> Result<Vec<NearClaim>, Error> {
        let mut found = Near::find(self, &CLAIMS, agent, scope)?;
        found.retain(|claim| claim.lease_expires_at > now);
        found.sort_by_key(|claim| claim.claim);
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
        if !says_enough(words) {
            return Ok(vec![]);
        }
        let mut compared = Summaries::new(self, words)?;
        if let Some(few) = within.filter(|within| within.len() <= FEW) {
            for intent in few {
                compared.look_at(*intent)?;
            }
        } else {
            self.probe_summaries(least, within, &mut compared)?;
        }
        let mut owner = self.connection().prepare_cached("SELECT agent FROM intent WHERE id = ?1")?;
        let mut found = Vec::new();
        for (intent, share) in compared.shares.into_iter().filter(|(_, share)| *share >= least) {
            if owner.query_row([intent], |row| row.get::<_, i64>(0))? != agent {
                found.push((intent, share));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    fn probe_summaries(
        &self,
        least: u32,
        within: Option<&HashSet<i64>>,
        compared: &mut Summaries<'_>,
    ) -> Result<(), Error> {
        let words = compared.words;
        let mine = words.len();
        let bits: Vec<_> = words.iter().map(|word| signature::bit(word)).collect();
        // The least overlap that reaches the share, by size, decides how many of my words may be missing.
        let overlaps: BTreeMap<_, _> = (1..=mine * 3)
            .filter_map(|size| {
                let overlap = (1..=mine.min(size)).find(|both| reaches(*both, mine + size - both, least))?;
                Some((size, overlap))
            })
            .collect();
        let count = "SELECT count(*) FROM (SELECT 1 FROM active_summary WHERE word = ?1
             AND size BETWEEN ?2 AND ?3 LIMIT ?4)";
        let rarity =
            |word: &str, sizes: (usize, usize)| self.count(count, (word, sizes.0, sizes.1, FREQUENT));
        let needed = overlaps.iter().map(|(size, overlap)| (*size, mine - overlap + 1));
        for Probe { word, sizes } in probes(words, needed, rarity)? {
            let mut find = self.connection().prepare_cached(
                "SELECT intent, size, signature FROM active_summary WHERE word = ?1 AND size BETWEEN ?2 AND ?3",
            )?;
            let mut rows = find.query((word, sizes.0, sizes.1))?;
            while let Some(row) = rows.next()? {
                let intent: i64 = row.get(0)?;
                let shared = at_most_shared(&bits, row.get(2)?);
                let can_reach = overlaps.get(&row.get(1)?).is_some_and(|overlap| shared >= *overlap);
                if can_reach && within.is_none_or(|within| within.contains(&intent)) {
                    compared.look_at(intent)?;
                }
            }
        }
        Ok(())
    }
}

/// Summaries of active intents, compared with mine, each once.
struct Summaries<'s> {
    words: &'s Words,
    find: CachedStatement<'s>,
    /// Thousandths of the words of both.
    shares: HashMap<i64, u32>,
}

impl<'s> Summaries<'s> {
    fn new(snapshot: &'s Snapshot<'_>, words: &'s Words) -> Result<Self, Error> {
        let find =
            snapshot.connection().prepare_cached("SELECT word FROM active_summary WHERE intent = ?1")?;
        Ok(Self { words, find, shares: HashMap::new() })
    }

    fn look_at(&mut self, intent: i64) -> Result<(), Error> {
        if let Entry::Vacant(new) = self.shares.entry(intent) {
            let (mut all, mut both) = (0, 0);
            let mut theirs = self.find.query([intent])?;
            while let Some(row) = theirs.next()? {
                all += 1;
                both += usize::from(
                    self.words.contains(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?),
                );
            }
            let enough = all >= FEWEST_WORDS;
            new.insert(if enough { names::share(both, self.words.len() + all - both) } else { 0 });
        }
        Ok(())
    }
}
