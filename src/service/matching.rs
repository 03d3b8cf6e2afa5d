//! Comparing an intent with the active work of other agents.
//!
//! The comparison runs on a read, before the write lock is taken. Inside the write only what
//! was touched meanwhile is looked at again.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::detect::bounds::{self, Against};
use crate::detect::findings::{Finding, Side, SideScope, between};
use crate::domain::conflict::{Overlap, RelatedWork};
use crate::domain::cut::Cut;
use crate::domain::fact::{ConflictDetected, PairFindings, PublishedScope, Sighting};
use crate::domain::{Agent, Id, Intent, Scope, Timestamp};
use crate::failure::Failure;
use crate::ledger::Snapshot;
use crate::ledger::read::Counterpart;

/// Most entries of related work in an answer.
pub const RELATED_SHOWN: usize = 50;
/// Most overlaps shown for one of them.
pub const OVERLAPS_SHOWN: usize = 20;

/// What an intent collides with.
pub struct Matches {
    agent: Agent,
    scopes: Vec<PublishedScope>,
    as_of: u64,
    found: BTreeMap<Id<Intent>, (Counterpart, Vec<Finding>)>,
}

impl Matches {
    /// Compares the scopes of an intent of `agent` with all active work of others.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn find(snapshot: &Snapshot<'_>, agent: Agent, scopes: Vec<PublishedScope>) -> Result<Self, Failure> {
        let as_of = snapshot.last_seq()?;
        let candidates = snapshot.candidates(agent.id, &scopes)?;
        let mut matches = Self { agent, scopes, as_of, found: BTreeMap::new() };
        for candidate in candidates {
            matches.look_at(snapshot, candidate)?;
        }
        Ok(matches)
    }

    /// Brings the comparison up to the present moment.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn refresh(&mut self, snapshot: &Snapshot<'_>) -> Result<(), Failure> {
        for touched in snapshot.intents_touched_since(self.as_of)? {
            self.look_at(snapshot, touched)?;
        }
        self.as_of = snapshot.last_seq()?;
        Ok(())
    }

    fn look_at(&mut self, snapshot: &Snapshot<'_>, intent: Id<Intent>) -> Result<(), Failure> {
        self.found.remove(&intent);
        let Some(counterpart) = snapshot.counterpart(intent)?.filter(|other| other.agent != self.agent.id)
        else {
            return Ok(());
        };
        let mine = Side { scopes: self.scopes.iter().map(compared).collect(), namesake: false };
        let namesake = counterpart.agent_name == self.agent.name
            && counterpart.worktree.is_some()
            && counterpart.worktree == self.agent.worktree;
        let theirs = Side { scopes: counterpart.scopes.clone(), namesake };
        let findings = between(&mine, &theirs);
        if !findings.is_empty() {
            self.found.insert(intent, (counterpart, findings));
        }
        Ok(())
    }

    /// What of it goes on record: `None` when nothing was found.
    #[must_use]
    pub fn detected(&self) -> Option<ConflictDetected> {
        let against = self.found.values().map(|(counterpart, findings)| Against {
            intent: counterpart.intent,
            published_at: counterpart.published_at,
            findings: findings.clone(),
        });
        let (recorded, omitted) = bounds::recorded(against.collect());
        if recorded.is_empty() {
            return None;
        }
        let mut event = ConflictDetected { scopes: Vec::new(), pairs: Vec::new(), omitted };
        let mut places = std::collections::HashMap::new();
        for against in recorded {
            let theirs = &self.found[&against.intent].0.scopes;
            let mut place = |kind, full: &String| {
                *places.entry((kind, full.clone())).or_insert_with(|| {
                    event.scopes.push((kind, full.clone()));
                    event.scopes.len() - 1
                })
            };
            let found = against.findings.iter().map(|finding| {
                let (mine, theirs) = (&self.scopes[finding.scopes.0], &theirs[finding.scopes.1]);
                Sighting {
                    rule: finding.rule,
                    tier: finding.tier,
                    scopes: (place(mine.kind, &mine.full), place(theirs.kind, &theirs.full)),
                    operations: finding.operations,
                    inferred: finding.inferred,
                    asserted: finding.asserted,
                    severity: finding.severity,
                    score: finding.score,
                }
            });
            let found = found.collect();
            event.pairs.push(PairFindings { with: against.intent, found });
        }
        Some(event)
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
        let mut related = Vec::with_capacity(self.found.len());
        for (counterpart, findings) in self.found.values() {
            let seen = snapshot.last_seen(counterpart.agent).ok();
            let stopped = seen.filter(|seen| seen.is_stale(now)).map(|seen| seen.at);
            let overlap: Vec<_> =
                findings.iter().take(OVERLAPS_SHOWN).map(|finding| self.overlap(finding)).collect();
            related.push(RelatedWork {
                intent_id: counterpart.intent,
                agent_id: counterpart.agent,
                agent: counterpart.agent_name.clone(),
                task: counterpart.task.clone(),
                summary: counterpart.summary.clone(),
                status: counterpart.status,
                cut: Cut::default().with("overlap", overlap.len(), findings.len() as u64),
                overlap,
                overlap_count: findings.len() as u64,
                asserted: findings.iter().any(|finding| finding.asserted),
                owner_stopped_since: stopped,
            });
        }
        related.sort_by_key(|work| {
            (work.owner_stopped_since.is_some(), !work.asserted, Reverse(work.overlap_count), work.intent_id)
        });
        let total = related.len();
        related.truncate(RELATED_SHOWN);
        Ok((related, total))
    }

    fn overlap(&self, finding: &Finding) -> Overlap {
        let mine = &self.scopes[finding.scopes.0];
        Overlap {
            scope: Scope { kind: mine.kind, key: mine.key.clone() },
            your_operation: finding.operations.0,
            their_operation: finding.operations.1,
            interaction: finding.rule.kind().to_owned(),
            asserted: finding.asserted,
        }
    }

    /// The scopes that were compared.
    #[must_use]
    pub fn scopes(&self) -> &[PublishedScope] {
        &self.scopes
    }
}

fn compared(scope: &PublishedScope) -> SideScope {
    SideScope {
        kind: scope.kind,
        full: scope.full.clone(),
        operation: scope.operation,
        inferred: scope.inferred,
    }
}
