//! Comparing an intent with the active work of other agents.
//!
//! The comparison runs on a read, before the write lock is taken. Inside the write only what
//! was touched meanwhile is looked at again.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::detect::bounds::{self, Against};
use crate::detect::findings::{self, Finding, Side, SideScope, between};
use crate::detect::tiers::Compared;
use crate::detect::{prose, rules};
use crate::domain::conflict::{Overlap, RelatedWork};
use crate::domain::cut::Cut;
use crate::domain::fact::{ConflictDetected, PairFindings, PublishedScope, SightedAt, Sighting};
use crate::domain::{Agent, Conflict, Id, Intent, Scope, ScopeKind, Severity, Timestamp};
use crate::failure::Failure;
use crate::ledger::Snapshot;
use crate::ledger::read::LastSeen;

/// Most entries of related work in an answer.
pub const RELATED_SHOWN: usize = 50;
/// Most overlaps shown for one of them.
pub const OVERLAPS_SHOWN: usize = 20;

/// What an intent collides with. Counterparts and their scopes go by their numbers in the file.
pub struct Matches {
    agent: i64,
    scopes: Vec<PublishedScope>,
    side: Side,
    /// Other sessions of the same agent: their work is surfaced and never asserted.
    namesakes: Vec<i64>,
    as_of: u64,
    found: BTreeMap<i64, Met>,
}

/// What was found against one counterpart.
struct Met {
    agent: i64,
    published_at: Timestamp,
    /// The second number of each meeting is that of the scope in the dictionary.
    findings: Vec<Finding>,
}

impl Matches {
    /// Compares an intent of `agent` with all active work of others.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn find(
        snapshot: &Snapshot<'_>,
        agent: &Agent,
        summary: &str,
        scopes: Vec<PublishedScope>,
    ) -> Result<Self, Failure> {
        Self::unpublished(snapshot, Some(agent), summary, scopes)
    }

    /// Compares work that need not be published or have an owner with all active work of others.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn unpublished(
        snapshot: &Snapshot<'_>,
        owner: Option<&Agent>,
        summary: &str,
        scopes: Vec<PublishedScope>,
    ) -> Result<Self, Failure> {
        let mut namesakes = Vec::new();
        if let Some((owner, worktree)) = owner.and_then(|owner| Some((owner, owner.worktree.as_ref()?))) {
            for namesake in snapshot.namesakes(&owner.name, worktree, owner.id)? {
                namesakes.push(snapshot.agent_row(namesake)?);
            }
        }
        let side = Side {
            scopes: scopes.iter().map(compared).collect(),
            summary: prose::words(summary),
            namesake: false,
        };
        let as_of = snapshot.last_seq()?;
        let agent = owner.map(|owner| snapshot.agent_row(owner.id)).transpose()?.unwrap_or(0);
        let mut matches = Self { agent, scopes, side, namesakes, as_of, found: BTreeMap::new() };
        matches.search(snapshot)?;
        Ok(matches)
    }

    fn search(&mut self, snapshot: &Snapshot<'_>) -> Result<(), Failure> {
        for (place, scope) in self.side.scopes.iter().enumerate() {
            for posting in snapshot.postings(self.agent, &scope.compared)? {
                let finding = findings::meeting(&findings::Overlap {
                    tier: posting.tier,
                    scopes: (place, number(posting.scope)),
                    operations: (scope.operation, posting.operation),
                    inferred: (scope.inferred, posting.inferred),
                    mine_contains: posting.contains,
                    words: posting.words,
                    namesakes: self.namesakes.contains(&posting.agent),
                });
                let met = self.found.entry(posting.intent).or_insert_with(|| Met {
                    agent: posting.agent,
                    published_at: posting.published_at,
                    findings: Vec::new(),
                });
                met.findings.push(finding);
            }
        }
        // Half of the words count only between intents that do the same to a shared scope: looking
        // for half of them everywhere would find everything that is written after one pattern.
        let same = |met: &Met| findings::same_operation(&met.findings);
        let same: HashSet<i64> =
            self.found.iter().filter(|(_, met)| same(met)).map(|(intent, _)| *intent).collect();
        let words = &self.side.summary;
        let mut shares = snapshot.summaries(self.agent, words, rules::DUPLICATE, None)?;
        shares.retain(|(intent, _)| !same.contains(intent));
        let half = rules::DUPLICATE_ON_SHARED_SCOPE + 1;
        shares.extend(snapshot.summaries(self.agent, words, half, Some(&same))?);
        for (intent, share) in shares {
            let Some(finding) = findings::duplicate(share, same.contains(&intent)) else { continue };
            match self.found.entry(intent) {
                Entry::Occupied(mut met) => met.get_mut().findings.push(finding),
                Entry::Vacant(new) => {
                    let other = snapshot.counterpart(intent)?;
                    let agent = snapshot.agent_row(other.agent)?;
                    new.insert(Met { agent, published_at: other.published_at, findings: vec![finding] });
                }
            }
        }
        Ok(())
    }

    /// Brings the comparison up to the present moment.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn refresh(&mut self, snapshot: &Snapshot<'_>) -> Result<(), Failure> {
        for touched in snapshot.intents_touched_since(self.as_of)? {
            let Some((intent, agent, active)) = snapshot.intent_row(touched)? else { continue };
            self.found.remove(&intent);
            if active && agent != self.agent {
                self.look_at(snapshot, intent, agent)?;
            }
        }
        self.as_of = snapshot.last_seq()?;
        Ok(())
    }

    fn look_at(&mut self, snapshot: &Snapshot<'_>, intent: i64, agent: i64) -> Result<(), Failure> {
        let (mut theirs, numbers) = snapshot.side(intent)?;
        theirs.namesake = self.namesakes.contains(&agent);
        let mut findings = between(&self.side, &theirs);
        for at in findings.iter_mut().filter_map(|finding| finding.at.as_mut()) {
            at.scopes.1 = number(numbers[at.scopes.1]);
        }
        if !findings.is_empty() {
            let published_at = snapshot.counterpart(intent)?.published_at;
            self.found.insert(intent, Met { agent, published_at, findings });
        }
        Ok(())
    }

    /// Keeps what was found against these intents alone.
    pub fn keep(&mut self, intents: &BTreeSet<i64>) {
        self.found.retain(|intent, _| intents.contains(intent));
    }

    /// What of it goes on record, and the intents whose silent owners are owed the rest: against
    /// them only HIGH is recorded.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn recordable(&self, snapshot: &Snapshot<'_>, now: Timestamp) -> Result<Recordable, Failure> {
        let mut silence = Silence::new(now);
        let mut near = Vec::with_capacity(self.found.len());
        let mut owed = Vec::new();
        for (row, met) in &self.found {
            let mut findings = Cow::from(&met.findings);
            if silence.since(snapshot, met.agent)?.is_some() {
                let high = |finding: &&Finding| finding.severity == Severity::High;
                findings = met.findings.iter().filter(high).cloned().collect();
                if findings.len() < met.findings.len() {
                    owed.push(snapshot.intent_id(*row)?);
                }
            }
            if !findings.is_empty() {
                near.push((*row, met.published_at, findings));
            }
        }
        let beyond = bounds::drop_beyond(&mut near, |(_, published_at, findings)| (findings, *published_at));
        let mut against = Vec::with_capacity(near.len());
        for (row, published_at, findings) in near {
            let (intent, findings) = (snapshot.intent_id(row)?, findings.into_owned());
            against.push(Against { intent, published_at, findings });
        }
        let (recorded, omitted) = bounds::recorded(against);
        let omitted = omitted + beyond;
        let mut listed = Listed::default();
        let mut pairs = Vec::with_capacity(recorded.len());
        for against in recorded {
            let mut found = Vec::with_capacity(against.findings.len());
            for finding in against.findings {
                let at = match finding.at {
                    None => None,
                    Some(at) => {
                        let mine = &self.scopes[at.scopes.0];
                        let mine = listed.place((mine.kind, mine.full.clone()));
                        let theirs = listed.theirs(snapshot, at.scopes.1)?;
                        let (tier, operations, inferred) = (at.tier, Some(at.operations), at.inferred);
                        Some(SightedAt { tier, scopes: (mine, theirs), operations, inferred })
                    }
                };
                found.push(Sighting {
                    rule: finding.rule,
                    at,
                    similarity: finding.similarity,
                    asserted: finding.asserted,
                    severity: finding.severity,
                    score: finding.score,
                });
            }
            pairs.push(PairFindings { with: against.intent, found });
        }
        Ok(Recordable { findings: ConflictDetected { scopes: listed.scopes, pairs, omitted }, owed })
    }

    /// Everything that was found, for the answer: work of agents that are there first, then
    /// certain overlaps, then many. Returns at most [`RELATED_SHOWN`] entries and how many there
    /// are.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn related(
        &self,
        snapshot: &Snapshot<'_>,
        now: Timestamp,
    ) -> Result<(Vec<RelatedWork>, usize), Failure> {
        let mut silence = Silence::new(now);
        let mut ranked = Vec::with_capacity(self.found.len());
        for (intent, met) in &self.found {
            let stopped = silence.since(snapshot, met.agent)?;
            let asserted = met.findings.iter().any(|finding| finding.asserted);
            ranked.push(((stopped.is_some(), !asserted, Reverse(met.findings.len())), *intent, stopped));
        }
        ranked.sort_by_key(|(order, intent, _)| (*order, *intent));
        let total = ranked.len();
        let mut related = Vec::with_capacity(total.min(RELATED_SHOWN));
        for (_, intent, stopped) in ranked.into_iter().take(RELATED_SHOWN) {
            let findings = &self.found[&intent].findings;
            let other = snapshot.counterpart(intent)?;
            let meetings: Vec<_> = findings.iter().filter_map(|finding| self.overlap(finding)).collect();
            let overlap_count = meetings.len() as u64;
            let overlap: Vec<_> = meetings.into_iter().take(OVERLAPS_SHOWN).collect();
            related.push(RelatedWork {
                intent_id: other.intent,
                agent_id: other.agent,
                agent: other.agent_name,
                task: other.task,
                summary: other.summary,
                status: other.status,
                cut: Cut::default().with("overlap", overlap.len(), overlap_count),
                overlap,
                overlap_count,
                asserted: findings.iter().any(|finding| finding.asserted),
                owner_stopped_since: stopped,
            });
        }
        Ok((related, total))
    }

    fn overlap(&self, finding: &Finding) -> Option<Overlap> {
        let at = finding.at?;
        let mine = &self.scopes[at.scopes.0];
        Some(Overlap {
            scope: Scope { kind: mine.kind, key: mine.key.clone() },
            your_operation: at.operations.0,
            their_operation: at.operations.1,
            interaction: finding.rule.kind().to_owned(),
            asserted: finding.asserted,
        })
    }

    /// Every conflict that the comparison shows to hold, on record or not, as the intent `acting`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn identities(
        &self,
        snapshot: &Snapshot<'_>,
        acting: Id<Intent>,
    ) -> Result<HashSet<Id<Conflict>>, Failure> {
        let mut holding = HashSet::new();
        for (row, met) in &self.found {
            let with = snapshot.intent_id(*row)?;
            for finding in &met.findings {
                let theirs;
                let (mine, other) = match finding.at {
                    None => (("", ""), ("", "")),
                    Some(at) => {
                        let scope = &self.scopes[at.scopes.0];
                        theirs = snapshot.scope(at.scopes.1)?;
                        ((scope.kind.as_str(), scope.full.as_str()), (theirs.0.as_str(), theirs.1.as_str()))
                    }
                };
                holding.insert(Conflict::identity(
                    finding.rule,
                    [(acting, mine.0, mine.1), (with, other.0, other.1)],
                ));
            }
        }
        Ok(holding)
    }

    /// The scopes that were compared.
    #[must_use]
    pub fn scopes(&self) -> &[PublishedScope] {
        &self.scopes
    }
}

/// What of a comparison goes on record.
#[derive(Debug, PartialEq)]
pub struct Recordable {
    /// The findings; without pairs when there are none.
    pub findings: ConflictDetected,
    /// Intents of silent owners with findings below HIGH.
    pub owed: Vec<Id<Intent>>,
}

/// Which agents have been silent for so long that they count as gone.
pub struct Silence {
    now: Timestamp,
    since: HashMap<i64, Option<Timestamp>>,
}

impl Silence {
    /// Nobody asked yet.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self { now, since: HashMap::new() }
    }

    /// Since when the agent with this number is gone; `None` for one that is there.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn since(&mut self, snapshot: &Snapshot<'_>, agent: i64) -> Result<Option<Timestamp>, Failure> {
        if let Some(known) = self.since.get(&agent) {
            return Ok(*known);
        }
        // Most are there, and their presence says so at once.
        let mut gone = None;
        if snapshot.presence(agent)?.is_none_or(|at| LastSeen { at, local: true }.is_stale(self.now)) {
            gone = snapshot.last_seen_row(agent)?.filter(|seen| seen.is_stale(self.now)).map(|seen| seen.at);
        }
        self.since.insert(agent, gone);
        Ok(gone)
    }
}

/// Scopes an event names, each once.
#[derive(Default)]
struct Listed {
    scopes: Vec<(ScopeKind, String)>,
    places: HashMap<(ScopeKind, String), usize>,
    by_number: HashMap<usize, usize>,
}

impl Listed {
    fn place(&mut self, scope: (ScopeKind, String)) -> usize {
        *self.places.entry(scope).or_insert_with_key(|scope| {
            self.scopes.push(scope.clone());
            self.scopes.len() - 1
        })
    }

    fn theirs(&mut self, snapshot: &Snapshot<'_>, number: usize) -> Result<usize, Failure> {
        if let Some(place) = self.by_number.get(&number) {
            return Ok(*place);
        }
        let place = self.place(snapshot.scope(number)?);
        self.by_number.insert(number, place);
        Ok(place)
    }
}

/// A dictionary number where a finding keeps the place of a scope.
fn number(row: i64) -> usize {
    usize::try_from(row).unwrap_or_default()
}

fn compared(scope: &PublishedScope) -> SideScope {
    SideScope {
        compared: Compared::new(&scope.key, scope.canonical()),
        operation: scope.operation,
        inferred: scope.inferred,
    }
}
