//! What happens to one intent and its claims, read off the table of owners and states.

use std::collections::BTreeMap;

use foremerge::domain::fact::Fact;
use foremerge::domain::{Agent, Assessment, Claim, ClaimStatus, Id, Intent, IntentStatus, Timestamp};
use foremerge::ledger::exchange::Carried;

use crate::simulator_model::{ExpectedIntent, actor};

pub struct Work {
    owner: Id<Agent>,
    status: IntentStatus,
    summary: String,
    published: Timestamp,
    claims: BTreeMap<Id<Claim>, Held>,
    assessments: Vec<(Id<Assessment>, Id<Agent>, Id<Intent>)>,
}

struct Held {
    by: Id<Agent>,
    until: Timestamp,
    released: bool,
}

impl Work {
    pub fn new(owner: Id<Agent>, summary: &str, published: Timestamp) -> Self {
        Self {
            owner,
            status: IntentStatus::Intent,
            summary: summary.to_owned(),
            published,
            claims: BTreeMap::new(),
            assessments: Vec::new(),
        }
    }

    /// No event leads further than work in progress yet, but for the end.
    fn ended(&self) -> bool {
        self.status == IntentStatus::Discarded
    }

    fn release_all(&mut self) {
        self.claims.values_mut().for_each(|held| held.released = true);
    }

    /// Whether the event has an effect on the intent, which exists.
    pub fn happens(&mut self, event: &Carried, fact: &Fact) -> bool {
        let actor = actor(event);
        if let Fact::IntentAdopted(fact) = fact {
            let Some(adopter) = actor.filter(|adopter| *adopter != self.owner) else { return false };
            if self.ended() || fact.from_agent_id != self.owner {
                return false;
            }
            self.owner = adopter;
            self.release_all();
            return true;
        }
        if actor != Some(self.owner) {
            return false;
        }
        match fact {
            Fact::IntentAssessed(fact) => {
                self.assessments.push((fact.assessment_id, self.owner, fact.related_intent_id));
                true
            }
            _ if self.ended() => false,
            Fact::IntentAmended(fact) => {
                self.summary = fact.summary.clone().unwrap_or(self.summary.clone());
                true
            }
            Fact::WorkDiscarded(_) => {
                self.status = IntentStatus::Discarded;
                self.release_all();
                true
            }
            Fact::LifecycleTransitioned(fact) => {
                // What it says it came from is the speaker's view; the table decides.
                let open = match fact.to {
                    IntentStatus::Claimed => self.status != IntentStatus::InProgress,
                    IntentStatus::InProgress => self.status == IntentStatus::Claimed,
                    _ => false,
                };
                if open {
                    self.status = fact.to;
                }
                open
            }
            other => panic!("{other:?} does not happen to an intent"),
        }
    }

    /// Whether the event has an effect on the claims of the intent, which exists.
    pub fn claims(&mut self, event: &Carried, fact: &Fact) -> bool {
        if actor(event) != Some(self.owner) || self.ended() {
            // Claims of work that has ended are released, so that nothing is left to release.
            return false;
        }
        let Some(claim) = Id::exact(&event.entity_id) else { return false };
        let held = self.claims.get_mut(&claim);
        match (fact, held) {
            (Fact::ClaimCreated(fact), None) => {
                let held = Held { by: self.owner, until: fact.lease_expires_at, released: false };
                self.claims.insert(claim, held);
                true
            }
            (Fact::ClaimRenewed(fact), Some(held)) if !held.released => {
                held.until = held.until.max(fact.lease_expires_at);
                true
            }
            (Fact::ClaimReleased(_), Some(held)) if !held.released => {
                held.released = true;
                true
            }
            _ => false,
        }
    }

    pub fn expected(self, now: Timestamp) -> ExpectedIntent {
        let claims = self.claims.into_iter().map(|(claim, held)| {
            let status = match held {
                Held { released: true, .. } => ClaimStatus::Released,
                Held { until, .. } if until <= now => ClaimStatus::Expired,
                Held { .. } => ClaimStatus::Active,
            };
            (claim, (held.by, status, held.until))
        });
        let mut assessments = self.assessments;
        assessments.sort();
        ExpectedIntent {
            owner: self.owner,
            status: self.status,
            summary: self.summary,
            published: self.published,
            claims: claims.collect(),
            assessments,
        }
    }
}
