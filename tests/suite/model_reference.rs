//! What the operations are about once more, in memory: agents, their work, and who is there.
//!
//! Written from the rules and apart from the product, for a world of few scopes, where an overlap is an
//! equal key. Numbers are places in the lists.

use std::collections::{BTreeMap, BTreeSet};

use foremerge::domain::{IntentStatus, ScopeOperation, Timestamp};

use crate::model_conflicts::Conflicts;

pub const MINUTE: i64 = 60_000;
const GONE_AFTER: i64 = 120 * MINUTE;

pub struct Reference {
    pub now: i64,
    pub agents: Vec<Agent>,
    pub intents: Vec<Work>,
    pub conflicts: Conflicts,
    /// Recipient, and whether it was read.
    pub messages: Vec<(usize, bool)>,
}

pub struct Agent {
    pub name: usize,
    pub worktree: bool,
    pub retired: bool,
    pub heard: i64,
}

/// Comparisons that wait for an agent, each as its own intent and the other.
pub struct Debts {
    pub due: Vec<(usize, usize)>,
    /// The other's owner is silent by now and does not wait for it yet, but will.
    pub passed_on: Vec<(usize, usize)>,
}

impl Agent {
    /// Whether both are sessions of the same agent.
    pub fn is_namesake_of(&self, other: &Self) -> bool {
        self.worktree && other.worktree && self.name == other.name
    }
}

pub struct Work {
    pub owner: usize,
    pub status: IntentStatus,
    pub scopes: BTreeMap<usize, ScopeOperation>,
    pub claims: Vec<Claim>,
    pub assessments: usize,
}

pub struct Claim {
    pub key: usize,
    pub until: i64,
    pub released: bool,
}

impl Work {
    pub fn is_active(&self) -> bool {
        self.status != IntentStatus::Discarded
    }

    pub fn has_live_claim_on(&self, key: usize, now: i64) -> bool {
        self.claims.iter().any(|claim| claim.key == key && claim.is_live(now))
    }

    pub fn release_all(&mut self) {
        self.claims.iter_mut().for_each(|claim| claim.released = true);
    }
}

impl Claim {
    pub fn is_live(&self, now: i64) -> bool {
        !self.released && self.until > now
    }
}

impl Reference {
    pub fn new(now: Timestamp) -> Self {
        Self {
            now: now.as_millis(),
            agents: Vec::new(),
            intents: Vec::new(),
            conflicts: Conflicts::default(),
            messages: Vec::new(),
        }
    }

    pub fn is_gone(&self, agent: usize) -> bool {
        self.now - self.agents[agent].heard >= GONE_AFTER
    }

    /// Work stands still when its owner is gone and holds no live claim for it.
    pub fn is_stopped(&self, intent: usize) -> bool {
        let work = &self.intents[intent];
        self.is_gone(work.owner) && !work.claims.iter().any(|claim| claim.is_live(self.now))
    }

    /// What an agent is owed: pairs of its active work and other active work.
    pub fn debts(&self, agent: usize) -> Debts {
        let waits = |(debtor, other): &(usize, usize)| {
            let (mine, theirs) = (&self.intents[*debtor], &self.intents[*other]);
            mine.owner == agent && mine.is_active() && theirs.is_active()
        };
        let waiting = self.conflicts.owed.iter().copied().filter(waits);
        let (mut passed_on, due): (Vec<_>, Vec<_>) = waiting.partition(|(_, other)| self.is_stopped(*other));
        passed_on.retain(|(debtor, other)| !self.conflicts.owed.contains(&(*other, *debtor)));
        Debts { due, passed_on }
    }

    /// What every accepted write of an agent ends with; `compared` when the intent it touched was
    /// compared with all others.
    pub fn acted(&mut self, agent: usize, touched: Option<usize>, compared: bool, debts: &Debts) {
        self.agents[agent].heard = self.now;
        if let Some(intent) = touched {
            self.dismiss_ended_claims(intent);
        }
        let debtors: BTreeSet<_> = debts.due.iter().map(|(debtor, _)| *debtor).collect();
        for debtor in debtors {
            let mine = debts.due.iter().filter(|(mine, _)| *mine == debtor);
            let others = mine.map(|(_, other)| *other).collect();
            // Work that has ended on the way meets nobody any more.
            if !(compared && touched == Some(debtor)) && self.intents[debtor].is_active() {
                self.dismiss_gone(debtor, agent, Some(&others));
                self.compare(debtor, agent, Some(&others));
            }
        }
        self.conflicts.settled(&debts.due);
        for (debtor, other) in &debts.passed_on {
            if self.intents[*debtor].is_active() {
                self.conflicts.owed.insert((*other, *debtor));
            }
        }
    }
}
