//! Comparing an intent with the active work of other agents.
//!
//! The comparison runs on a read, before the write lock is taken. Inside the write only what
//! was touched meanwhile is looked at again.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

use super::findings::{Findings, Met};
use super::silence::Silence;
use crate::detect::findings::{self, Finding, Side, SideScope, between};
use crate::detect::tiers::Compared;
use crate::detect::{prose, rules};
use crate::domain::conflict::{Overlap, RelatedWork};
use crate::domain::cut::Cut;
use crate::domain::fact::PublishedScope;
use crate::domain::{Agent, Scope, Timestamp};
use crate::failure::Failure;
use crate::ledger::Snapshot;
use crate::ledger::read::Counterpart;

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
    found: Findings,
}

/// A counterpart to tell about.
pub struct Nearest {
    /// Its number in the file.
    pub row: i64,
    /// What is shown of it.
    pub counterpart: Counterpart,
    /// Since when it stands still, its owner being gone.
    pub stopped: Option<Timestamp>,
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
        let mine = scopes.iter().map(|scope| (scope.kind, scope.full.clone())).collect();
        let found = Findings { mine, met: BTreeMap::new() };
        let mut matches = Self { agent, scopes, side, namesakes, as_of, found };
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
                let met = self.found.met.entry(posting.intent).or_insert_with(|| Met {
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
            self.found.met.iter().filter(|(_, met)| same(met)).map(|(intent, _)| *intent).collect();
        let words = &self.side.summary;
        let mut shares = snapshot.summaries(self.agent, words, rules::DUPLICATE, None)?;
        shares.retain(|(intent, _)| !same.contains(intent));
        let half = rules::DUPLICATE_ON_SHARED_SCOPE + 1;
        shares.extend(snapshot.summaries(self.agent, words, half, Some(&same))?);
        for (intent, share) in shares {
            let Some(finding) = findings::duplicate(share, same.contains(&intent)) else { continue };
            match self.found.met.entry(intent) {
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
            self.found.met.remove(&intent);
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
            self.found.met.insert(intent, Met { agent, published_at, findings });
        }
        Ok(())
    }

    /// Whether these are the words and scopes of the intent with this number, as it is now.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn is_about(&self, snapshot: &Snapshot<'_>, summary: &str, intent: i64) -> Result<bool, Failure> {
        Ok(self.side.summary == prose::words(summary) && self.scopes == snapshot.published_scopes(intent)?)
    }

    /// The counterparts to tell about: work of agents that are there first, then certain overlaps, then many. Returns
    /// at most [`RELATED_SHOWN`] and how many there are.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn nearest(
        &self,
        snapshot: &Snapshot<'_>,
        silence: &mut Silence,
    ) -> Result<(Vec<Nearest>, usize), Failure> {
        let mut ranked = Vec::with_capacity(self.found.met.len());
        for (intent, met) in &self.found.met {
            let stopped = silence.stopped(snapshot, *intent, met.agent)?;
            let asserted = met.findings.iter().any(|finding| finding.asserted);
            ranked.push(((stopped.is_some(), !asserted, Reverse(met.findings.len())), *intent, stopped));
        }
        ranked.sort_by_key(|(order, intent, _)| (*order, *intent));
        let total = ranked.len();
        let nearest = ranked
            .into_iter()
            .take(RELATED_SHOWN)
            .map(|(_, row, stopped)| Ok(Nearest { row, counterpart: snapshot.counterpart(row)?, stopped }));
        Ok((nearest.collect::<Result<_, Failure>>()?, total))
    }

    /// What was found against one of them, for the answer.
    #[must_use]
    pub fn related(&self, nearest: Nearest) -> RelatedWork {
        let Nearest { row, counterpart, stopped } = nearest;
        let findings = &self.found.met[&row].findings;
        let meetings: Vec<_> = findings.iter().filter_map(|finding| self.overlap(finding)).collect();
        let overlap_count = meetings.len() as u64;
        let overlap: Vec<_> = meetings.into_iter().take(OVERLAPS_SHOWN).collect();
        RelatedWork {
            intent_id: counterpart.intent,
            agent_id: counterpart.agent,
            agent: counterpart.agent_name,
            task: counterpart.task,
            summary: counterpart.summary,
            status: counterpart.status,
            cut: Cut::default().with("overlap", overlap.len(), overlap_count),
            overlap,
            overlap_count,
            asserted: findings.iter().any(|finding| finding.asserted),
            owner_stopped_since: stopped,
        }
    }

    fn overlap(&self, finding: &Finding) -> Option<Overlap> {
        let at = finding.at?;
        let (mine_does, theirs_does) = at.operations?;
        let mine = &self.scopes[at.scopes.0];
        Some(Overlap {
            scope: Scope { kind: mine.kind, key: mine.key.clone() },
            your_operation: mine_does,
            their_operation: theirs_does,
            interaction: finding.rule.kind().to_owned(),
            asserted: finding.asserted,
        })
    }

    /// What was found.
    #[must_use]
    pub fn found(&self) -> &Findings {
        &self.found
    }

    /// What was found, to leave some of it out.
    pub fn found_mut(&mut self) -> &mut Findings {
        &mut self.found
    }

    /// The scopes that were compared.
    #[must_use]
    pub fn scopes(&self) -> &[PublishedScope] {
        &self.scopes
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
