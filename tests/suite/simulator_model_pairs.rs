//! What happens between two intents: conflicts that are seen, talked about, settled and gone.

use std::collections::{BTreeMap, BTreeSet};

use foremerge::domain::conflict::Decision;
use foremerge::domain::fact::{ConflictDetected, ConflictResolved, Dismissal, Fact};
use foremerge::domain::{Conflict, ConflictStatus, Id, Intent, Severity, Timestamp};
use foremerge::ledger::exchange::Carried;

use crate::simulator_model::{ExpectedConflict, actor};

#[derive(Default)]
pub struct Pairs {
    conflicts: BTreeMap<Id<Conflict>, Met>,
    /// The intent that findings are owed to, and the other one.
    pub owed: BTreeSet<(Id<Intent>, Id<Intent>)>,
}

/// A conflict between two intents, which are kept in no order.
struct Met {
    between: BTreeSet<Id<Intent>>,
    severity: Severity,
    score: u16,
    first: Timestamp,
    stands: Stands,
}

enum Stands {
    Open,
    TalkedAbout,
    Resolved { at: Severity, by: Id<Decision> },
    GoneForGood { at: Severity },
    GoneForNow,
}

impl Met {
    fn is_unsettled(&self) -> bool {
        matches!(self.stands, Stands::Open | Stands::TalkedAbout)
    }

    /// Seen with a severity that its settlement, if any, does not cover.
    fn reopens_at(&self, severity: Severity) -> bool {
        match self.stands {
            Stands::Open | Stands::TalkedAbout => false,
            Stands::GoneForNow => true,
            Stands::Resolved { at, .. } | Stands::GoneForGood { at } => severity > at,
        }
    }
}

impl Pairs {
    /// Whether the event has an effect.
    pub fn happens(&mut self, event: &Carried, fact: &Fact) -> bool {
        if let Fact::ConflictResolved(fact) = fact {
            let named = Id::<Conflict>::exact(&event.entity_id).is_some();
            return named && actor(event).is_some() && self.resolved(fact);
        }
        let Some(acting) = Id::<Intent>::exact(&event.entity_id) else { return false };
        let others: Vec<_> = match fact {
            Fact::ConflictDetected(fact) | Fact::ConflictRedetected(fact) => {
                fact.pairs.iter().map(|pair| pair.with).collect()
            }
            Fact::ConflictDismissed(fact) => fact.pairs.iter().map(|(with, _)| *with).collect(),
            Fact::FindingsOwed(fact) | Fact::FindingsSettled(fact) => fact.with.clone(),
            other => panic!("{other:?} does not happen to a pair"),
        };
        let others: BTreeSet<_> = others.into_iter().filter(|with| *with != acting).collect();
        if others.is_empty() {
            return false;
        }
        match fact {
            Fact::ConflictDetected(fact) | Fact::ConflictRedetected(fact) => {
                self.seen(acting, fact, event.created_at);
            }
            Fact::ConflictDismissed(fact) => {
                for (with, gone) in &fact.pairs {
                    for conflict in gone {
                        self.gone(*conflict, [acting, *with], fact.reason);
                    }
                }
            }
            Fact::FindingsOwed(_) => self.owed.extend(others.into_iter().map(|with| (with, acting))),
            _ => self.owed.retain(|(debtor, other)| *debtor != acting || !others.contains(other)),
        }
        true
    }

    fn seen(&mut self, acting: Id<Intent>, fact: &ConflictDetected, at: Timestamp) {
        for pair in fact.pairs.iter().filter(|pair| pair.with != acting) {
            for found in &pair.found {
                let Some(conflict) = fact.identity(acting, pair.with, found) else { continue };
                let met = self.conflicts.entry(conflict).or_insert_with(|| Met {
                    between: BTreeSet::from([acting, pair.with]),
                    severity: found.severity,
                    score: found.score,
                    first: at,
                    stands: Stands::Open,
                });
                if met.reopens_at(found.severity) {
                    met.stands = Stands::Open;
                }
                (met.severity, met.score) = (found.severity, found.score);
            }
        }
    }

    /// The unsettled conflict of that name between the two.
    fn unsettled(&mut self, conflict: Id<Conflict>, between: [Id<Intent>; 2]) -> Option<&mut Met> {
        let between = BTreeSet::from(between);
        self.conflicts.get_mut(&conflict).filter(|met| met.between == between && met.is_unsettled())
    }

    fn gone(&mut self, conflict: Id<Conflict>, between: [Id<Intent>; 2], why: Dismissal) {
        let Some(met) = self.unsettled(conflict, between) else { return };
        met.stands = match why {
            Dismissal::OverlapGone | Dismissal::ClaimEnded => Stands::GoneForNow,
            Dismissal::Discarded | Dismissal::Ended => Stands::GoneForGood { at: met.severity },
        };
    }

    fn resolved(&mut self, fact: &ConflictResolved) -> bool {
        let mut any = false;
        for conflict in &fact.conflicts {
            if let Some(met) = self.unsettled(*conflict, fact.between.into()) {
                met.stands = Stands::Resolved { at: met.severity, by: fact.decision_id };
                any = true;
            }
        }
        any
    }

    pub fn talked_about(&mut self, conflict: Id<Conflict>, between: (Id<Intent>, Id<Intent>)) {
        if let Some(met) = self.unsettled(conflict, between.into()) {
            met.stands = Stands::TalkedAbout;
        }
    }

    pub fn conflicts(&self) -> BTreeMap<Id<Conflict>, ExpectedConflict> {
        let expected = self.conflicts.iter().map(|(conflict, met)| {
            let (status, previously_settled, decision) = match met.stands {
                Stands::Open => (ConflictStatus::Open, false, None),
                Stands::TalkedAbout => (ConflictStatus::Coordinating, false, None),
                Stands::Resolved { by, .. } => (ConflictStatus::Resolved, true, Some(by)),
                Stands::GoneForGood { .. } => (ConflictStatus::Dismissed, true, None),
                Stands::GoneForNow => (ConflictStatus::Dismissed, false, None),
            };
            let &Met { severity, score, first, .. } = met;
            let expected = ExpectedConflict { status, severity, score, first, previously_settled, decision };
            (*conflict, expected)
        });
        expected.collect()
    }
}
