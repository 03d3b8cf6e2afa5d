//! The folds once more, written to be obviously right: all events at once, in order, in memory.

use std::collections::{BTreeMap, BTreeSet};

use foremerge::domain::fact::Fact;
use foremerge::domain::{Agent, Conflict, Event, Id, Intent, Severity, Timestamp};
use foremerge::ledger::exchange::Carried;

/// What a ledger with some events should say.
#[derive(Debug, Default, PartialEq)]
pub struct Expected {
    pub effective: BTreeMap<Id<Event>, bool>,
    /// Name.
    pub agents: BTreeMap<Id<Agent>, String>,
    /// Owner, summary, publication.
    pub intents: BTreeMap<Id<Intent>, (Id<Agent>, String, Timestamp)>,
    /// Severity, thousandths of the latest sight; time of the first.
    pub conflicts: BTreeMap<Id<Conflict>, (Severity, u16, Timestamp)>,
    /// Conflicts that do not hold any more.
    pub dismissed: BTreeSet<Id<Conflict>>,
}

pub fn fold<'e>(events: impl IntoIterator<Item = &'e Carried>) -> Expected {
    let mut events: Vec<_> = events.into_iter().collect();
    events.sort_by_key(|event| (event.lamport, event.replica, event.number));
    let mut state = Expected::default();
    for event in events {
        // A cause that is not here yet has no entry: it is unknown, or does not come before.
        let caused = event.cause.is_none_or(|cause| state.effective.get(&cause) == Some(&true));
        let effective = match Fact::read(&event.event_type, event.version, &event.shared, None) {
            None => true,
            Some(fact) => state.apply(event, caused, &fact),
        };
        state.effective.insert(event.event_id, effective);
    }
    state
}

impl Expected {
    fn apply(&mut self, event: &Carried, caused: bool, fact: &Fact) -> bool {
        if event.entity_type != fact.heading().2 {
            return false;
        }
        match fact {
            Fact::AgentRegistered(fact) => {
                let Some(agent) = Id::exact(&event.entity_id) else { return false };
                let open = caused && !self.agents.contains_key(&agent);
                if open {
                    self.agents.insert(agent, fact.name.clone());
                }
                open
            }
            Fact::IntentPublished(fact) => {
                let Some(intent) = Id::exact(&event.entity_id) else { return false };
                let owner = event.agent_id.as_deref().and_then(Id::exact);
                let Some(owner) = owner.filter(|_| caused && !self.intents.contains_key(&intent)) else {
                    return false;
                };
                self.intents.insert(intent, (owner, fact.summary.clone(), event.created_at));
                true
            }
            Fact::IntentAmended(fact) => {
                let intent = Id::exact(&event.entity_id);
                let Some(known) = intent.and_then(|intent| self.intents.get_mut(&intent)) else {
                    return false;
                };
                if !caused || event.agent_id.as_deref().and_then(Id::exact) != Some(known.0) {
                    return false;
                }
                known.1 = fact.summary.clone().unwrap_or_else(|| known.1.clone());
                true
            }
            Fact::ConflictDismissed(fact) => {
                let Some(acting) = Id::<Intent>::exact(&event.entity_id) else { return false };
                let others: Vec<_> = fact.pairs.iter().filter(|(with, _)| *with != acting).collect();
                if others.is_empty() || !caused {
                    return false;
                }
                let known = others.into_iter().flat_map(|(_, conflicts)| conflicts);
                self.dismissed.extend(known.filter(|conflict| self.conflicts.contains_key(conflict)));
                true
            }
            Fact::FindingsOwed(fact) | Fact::FindingsSettled(fact) => {
                let acting = Id::<Intent>::exact(&event.entity_id);
                caused && acting.is_some_and(|acting| fact.with.iter().any(|with| *with != acting))
            }
            Fact::ConflictDetected(fact) | Fact::ConflictRedetected(fact) => {
                let Some(acting) = Id::exact(&event.entity_id) else { return false };
                let others: Vec<_> = fact.pairs.iter().filter(|pair| pair.with != acting).collect();
                if others.is_empty() || !caused {
                    return false;
                }
                for pair in others {
                    for found in &pair.found {
                        let Some(conflict) = fact.identity(acting, pair.with, found) else { continue };
                        let first = self.conflicts.get(&conflict).map_or(event.created_at, |seen| seen.2);
                        self.conflicts.insert(conflict, (found.severity, found.score, first));
                        self.dismissed.remove(&conflict);
                    }
                }
                true
            }
            other => panic!("no step of the simulator says {other:?}"),
        }
    }
}
