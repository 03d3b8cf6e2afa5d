//! The folds once more, written to be obviously right: all events at once, in order, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use foremerge::domain::conflict::Decision;
use foremerge::domain::fact::{CoordinationRead, CoordinationSent, Fact};
use foremerge::domain::{
    Agent, AgentStatus, Assessment, Claim, ClaimStatus, Conflict, ConflictStatus, Event, Id, Intent,
    IntentStatus, Message, MessageStatus, Severity, Timestamp,
};
use foremerge::ledger::exchange::Carried;

use crate::simulator_model_pairs::Pairs;
use crate::simulator_model_work::Work;

/// What a ledger with some events should say.
#[derive(Debug, Default, PartialEq)]
pub struct Expected {
    pub effective: BTreeMap<Id<Event>, bool>,
    pub agents: BTreeMap<Id<Agent>, (String, AgentStatus)>,
    pub intents: BTreeMap<Id<Intent>, ExpectedIntent>,
    pub conflicts: BTreeMap<Id<Conflict>, ExpectedConflict>,
    /// Sender, recipient, what it is about, and whether it was read.
    pub messages: BTreeMap<Id<Message>, Letter>,
    /// The intent that findings are owed to, and the other one.
    pub owed: BTreeSet<(Id<Intent>, Id<Intent>)>,
}

impl Expected {
    /// One line for each thing it says.
    fn lines(&self) -> BTreeSet<String> {
        fn all<K: Debug, V: Debug>(map: &BTreeMap<K, V>) -> impl Iterator<Item = String> {
            map.iter().map(|(key, value)| format!("{key:?}: {value:?}"))
        }
        let owed = self.owed.iter().map(|owed| format!("owed: {owed:?}"));
        let rest = all(&self.conflicts).chain(all(&self.messages)).chain(owed);
        all(&self.effective).chain(all(&self.agents)).chain(all(&self.intents)).chain(rest).collect()
    }

    /// Whether the ledger says the same; if not, what is different.
    pub fn is_what(&self, ledger: &Self) {
        let (mine, theirs) = (self.lines(), ledger.lines());
        let only =
            |here: &BTreeSet<String>, there| here.difference(there).cloned().collect::<Vec<_>>().join("\n");
        let (said, expected) = (only(&theirs, &mine), only(&mine, &theirs));
        assert!(mine == theirs, "the ledger says\n{said}\nand the model\n{expected}");
    }
}

pub type Letter = (Id<Agent>, Id<Agent>, Option<Id<Conflict>>, MessageStatus);

#[derive(Debug, PartialEq)]
pub struct ExpectedIntent {
    pub owner: Id<Agent>,
    pub status: IntentStatus,
    pub summary: String,
    pub published: Timestamp,
    pub claims: BTreeMap<Id<Claim>, (Id<Agent>, ClaimStatus, Timestamp)>,
    /// Sorted: assessment, who judged, and the other intent.
    pub assessments: Vec<(Id<Assessment>, Id<Agent>, Id<Intent>)>,
}

#[derive(Debug, PartialEq)]
pub struct ExpectedConflict {
    pub status: ConflictStatus,
    /// Of the latest sight, as is the score in thousandths.
    pub severity: Severity,
    pub score: u16,
    /// Time of the first sight.
    pub first: Timestamp,
    pub previously_settled: bool,
    pub decision: Option<Id<Decision>>,
}

/// What the events lead to, seen at `now`.
pub fn fold<'e>(events: impl IntoIterator<Item = &'e Carried>, now: Timestamp) -> Expected {
    let mut events: Vec<_> = events.into_iter().collect();
    events.sort_by_key(|event| (event.lamport, event.replica, event.number));
    let mut state = State::default();
    for event in events {
        // A cause that is not here yet has no entry: it is unknown, or does not come before.
        let caused = event.cause.is_none_or(|cause| state.effective.get(&cause) == Some(&true));
        let effective = match Fact::read(&event.event_type, event.version, &event.shared, None) {
            None => true,
            Some(fact) => event.entity_type == fact.heading().2 && caused && state.apply(event, &fact),
        };
        state.effective.insert(event.event_id, effective);
    }
    let intents = state.work.into_iter().map(|(intent, work)| (intent, work.expected(now)));
    Expected {
        effective: state.effective,
        agents: state.agents,
        intents: intents.collect(),
        conflicts: state.pairs.conflicts(),
        messages: state.messages,
        owed: state.pairs.owed,
    }
}

#[derive(Default)]
struct State {
    effective: BTreeMap<Id<Event>, bool>,
    agents: BTreeMap<Id<Agent>, (String, AgentStatus)>,
    work: BTreeMap<Id<Intent>, Work>,
    pairs: Pairs,
    messages: BTreeMap<Id<Message>, Letter>,
}

/// The agent behind an event, if it is spelled as agents are.
pub fn actor(event: &Carried) -> Option<Id<Agent>> {
    event.agent_id.as_deref().and_then(Id::exact)
}

impl State {
    /// Whether the event has an effect; its cause has one.
    fn apply(&mut self, event: &Carried, fact: &Fact) -> bool {
        match fact {
            Fact::AgentRegistered(fact) => {
                let Some(agent) = Id::exact(&event.entity_id) else { return false };
                let new = !self.agents.contains_key(&agent);
                self.agents.entry(agent).or_insert((fact.name.clone(), AgentStatus::Active));
                new
            }
            Fact::AgentRetired(_) => {
                let agent = Id::exact(&event.entity_id).and_then(|agent| self.agents.get_mut(&agent));
                let Some((_, status @ AgentStatus::Active)) = agent else { return false };
                *status = AgentStatus::Retired;
                true
            }
            Fact::IntentPublished(fact) => {
                let (Some(intent), Some(owner)) = (Id::exact(&event.entity_id), actor(event)) else {
                    return false;
                };
                let new = !self.work.contains_key(&intent);
                self.work.entry(intent).or_insert(Work::new(owner, &fact.summary, event.created_at));
                new
            }
            Fact::ClaimCreated(_) | Fact::ClaimRenewed(_) | Fact::ClaimReleased(_) => {
                let intent = match fact {
                    Fact::ClaimCreated(fact) => fact.intent_id,
                    Fact::ClaimRenewed(fact) => fact.intent_id,
                    Fact::ClaimReleased(fact) => fact.intent_id,
                    _ => return false,
                };
                self.work.get_mut(&intent).is_some_and(|work| work.claims(event, fact))
            }
            Fact::IntentAmended(_)
            | Fact::IntentAssessed(_)
            | Fact::IntentAdopted(_)
            | Fact::LifecycleTransitioned(_)
            | Fact::WorkDiscarded(_) => {
                let work = Id::exact(&event.entity_id).and_then(|intent| self.work.get_mut(&intent));
                work.is_some_and(|work| work.happens(event, fact))
            }
            Fact::CoordinationSent(fact) => self.sent(event, fact),
            Fact::CoordinationRead(fact) => self.read(event, fact),
            Fact::ConflictDetected(_)
            | Fact::ConflictRedetected(_)
            | Fact::ConflictDismissed(_)
            | Fact::ConflictResolved(_)
            | Fact::FindingsOwed(_)
            | Fact::FindingsSettled(_) => self.pairs.happens(event, fact),
        }
    }

    fn sent(&mut self, event: &Carried, fact: &CoordinationSent) -> bool {
        let (Some(message), Some(sender)) = (Id::exact(&event.entity_id), actor(event)) else {
            return false;
        };
        let about = fact.about.map(|about| about.conflict_id);
        let letter = (sender, fact.to_agent_id, about, MessageStatus::Unread);
        self.messages.entry(message).or_insert(letter);
        if let Some(about) = fact.about {
            self.pairs.talked_about(about.conflict_id, about.between);
        }
        true
    }

    fn read(&mut self, event: &Carried, fact: &CoordinationRead) -> bool {
        let Some(reader) = Id::<Agent>::exact(&event.entity_id) else { return false };
        for message in &fact.messages {
            if let Some((_, recipient, _, status)) = self.messages.get_mut(message)
                && *recipient == reader
            {
                *status = MessageStatus::Read;
            }
        }
        !fact.messages.is_empty()
    }
}
