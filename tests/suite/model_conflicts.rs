//! Which work collides in the model of the operations, and what became of it.

use std::collections::BTreeSet;

use foremerge::domain::{ConflictStatus, Rule, ScopeOperation, Severity};

use crate::model_reference::Reference;

/// What tells conflicts apart: the rule, both intents, the smaller number first, and the key.
pub type Identity = (Rule, usize, usize, usize);

#[derive(Default)]
pub struct Conflicts {
    /// In the order of their first sight.
    pub all: Vec<Conflict>,
    /// Work that was not compared yet with other work, since its owner was gone.
    pub owed: BTreeSet<(usize, usize)>,
}

pub struct Conflict {
    pub identity: Identity,
    pub severity: Severity,
    pub status: ConflictStatus,
    /// The severity it was closed at for good.
    pub settled: Option<Severity>,
    /// Operations of both intents in their order; claims have none.
    operations: Option<(ScopeOperation, ScopeOperation)>,
}

impl Conflict {
    fn is_unsettled(&self) -> bool {
        matches!(self.status, ConflictStatus::Open | ConflictStatus::Coordinating)
    }

    fn close(&mut self, status: ConflictStatus, for_good: bool) {
        if self.is_unsettled() {
            (self.status, self.settled) = (status, for_good.then_some(self.severity));
        }
    }

    fn is_of(&self, intent: usize) -> bool {
        self.identity.1 == intent || self.identity.2 == intent
    }
}

/// Something two intents collide in right now.
struct Finding {
    identity: Identity,
    severity: Severity,
    operations: Option<(ScopeOperation, ScopeOperation)>,
}

fn destroys(operation: ScopeOperation) -> bool {
    use ScopeOperation::{Add, Extend, Migrate, Modify, Remove, Rename, Replace};
    match operation {
        Add | Extend | Modify => false,
        Replace | Remove | Rename | Migrate => true,
    }
}

fn identity(rule: Rule, one: usize, other: usize, key: usize) -> Identity {
    (rule, one.min(other), one.max(other), key)
}

impl Conflicts {
    fn see(&mut self, found: &Finding) {
        let Finding { identity, severity, operations } = *found;
        let Some(known) = self.all.iter_mut().find(|one| one.identity == identity) else {
            let (status, settled) = (ConflictStatus::Open, None);
            self.all.push(Conflict { identity, severity, status, settled, operations });
            return;
        };
        if !known.is_unsettled() && known.settled.is_none_or(|settled| severity > settled) {
            (known.status, known.settled) = (ConflictStatus::Open, None);
        }
        (known.severity, known.operations) = (severity, operations);
    }

    pub fn discarded(&mut self, intent: usize) {
        for one in self.all.iter_mut().filter(|one| one.is_of(intent)) {
            one.close(ConflictStatus::Dismissed, true);
        }
    }

    pub fn talked_about(&mut self, conflict: usize) {
        if self.all[conflict].status == ConflictStatus::Open {
            self.all[conflict].status = ConflictStatus::Coordinating;
        }
    }

    /// Whether there was something to resolve.
    pub fn resolve(&mut self, conflict: usize, all: bool) -> bool {
        if !self.all[conflict].is_unsettled() {
            return false;
        }
        let (_, low, high, _) = self.all[conflict].identity;
        for (place, one) in self.all.iter_mut().enumerate() {
            if place == conflict || (all && (one.identity.1, one.identity.2) == (low, high)) {
                one.close(ConflictStatus::Resolved, true);
            }
        }
        true
    }

    /// These pairs were compared.
    pub fn settled(&mut self, debts: &[(usize, usize)]) {
        self.owed.retain(|debt| !debts.contains(debt));
    }
}

impl Reference {
    /// Everything an intent of `owner` collides in with active work of others.
    fn findings(&self, intent: usize, owner: usize) -> Vec<Finding> {
        let mut found = Vec::new();
        let others = self.intents.iter().enumerate();
        for (other, theirs) in others.filter(|(_, work)| work.is_active() && work.owner != owner) {
            let namesakes = self.agents[owner].is_namesake_of(&self.agents[theirs.owner]);
            for (key, mine_does) in &self.intents[intent].scopes {
                let Some(theirs_does) = theirs.scopes.get(key) else { continue };
                let rule = match (destroys(*mine_does), destroys(*theirs_does)) {
                    (true, true) => Rule::DivergentRewrite,
                    (false, false) => Rule::SharedContract,
                    _ => Rule::DestructiveVsAdditive,
                };
                // A session is never certain to collide with another one of itself.
                let certain = rule != Rule::SharedContract && !namesakes;
                let severity = if certain { Severity::High } else { Severity::Medium };
                let operations = (*mine_does, *theirs_does);
                let operations = if intent < other { operations } else { (operations.1, operations.0) };
                let identity = identity(rule, intent, other, *key);
                found.push(Finding { identity, severity, operations: Some(operations) });
            }
        }
        found
    }

    /// Puts on record what an intent of `owner` collides in, with `only` these if they are named.
    /// Below HIGH, work that stands still is owed the comparison instead.
    pub fn compare(&mut self, intent: usize, owner: usize, only: Option<&BTreeSet<usize>>) {
        for found in self.findings(intent, owner) {
            let (_, low, high, _) = found.identity;
            let other = if low == intent { high } else { low };
            if only.is_some_and(|only| !only.contains(&other)) {
                continue;
            }
            if found.severity < Severity::High && self.is_stopped(other) {
                self.conflicts.owed.insert((other, intent));
            } else {
                self.conflicts.see(&found);
            }
        }
    }

    /// Claims of others on the same keys that are live.
    pub fn compare_claims(&mut self, intent: usize, owner: usize, keys: &[usize]) {
        for key in keys {
            for other in 0..self.intents.len() {
                let theirs = &self.intents[other];
                if theirs.owner != owner && theirs.has_live_claim_on(*key, self.now) {
                    let identity = identity(Rule::OverlappingClaim, intent, other, *key);
                    self.conflicts.see(&Finding { identity, severity: Severity::Medium, operations: None });
                }
            }
        }
    }

    /// What an intent of `owner` no longer collides in with active work, with `only` these if they are named. Work that
    /// stands still is owed the comparison instead.
    pub fn dismiss_gone(&mut self, intent: usize, owner: usize, only: Option<&BTreeSet<usize>>) {
        let holds: BTreeSet<_> =
            self.findings(intent, owner).into_iter().map(|found| found.identity).collect();
        let of_it = self.conflicts.all.iter().filter(|one| one.is_of(intent) && one.is_unsettled());
        let gone: Vec<_> = of_it
            .map(|one| one.identity)
            .filter(|identity| identity.0 != Rule::OverlappingClaim && !holds.contains(identity))
            .collect();
        for identity in gone {
            let (_, low, high, _) = identity;
            let other = if low == intent { high } else { low };
            if only.is_some_and(|only| !only.contains(&other)) || !self.intents[other].is_active() {
                continue;
            }
            if self.is_stopped(other) {
                self.conflicts.owed.insert((other, intent));
                continue;
            }
            for one in self.conflicts.all.iter_mut().filter(|one| one.identity == identity) {
                one.close(ConflictStatus::Dismissed, false);
            }
        }
    }

    /// What two claims of which one has ended collided in.
    pub fn dismiss_ended_claims(&mut self, intent: usize) {
        let now = self.now;
        let live = |intent: usize, key| self.intents[intent].has_live_claim_on(key, now);
        for one in self.conflicts.all.iter_mut().filter(|one| one.is_of(intent)) {
            let (rule, low, high, key) = one.identity;
            if rule == Rule::OverlappingClaim && !(live(low, key) && live(high, key)) {
                one.close(ConflictStatus::Dismissed, false);
            }
        }
    }
}
