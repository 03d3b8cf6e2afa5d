//! What strangers say, and in which odd forms: well chained, whatever it says.

use foremerge::domain::event::{Link, Replica};
use foremerge::domain::fact::Fact;
use foremerge::domain::{Agent, Digest, Event, Id, Timestamp};
use foremerge::ledger::exchange::Carried;
use foremerge::world::Fake;

/// The id of the event a stranger says as its `number`th.
pub fn stranger_event(stranger: usize, number: usize) -> Id<Event> {
    Id::derived(&Digest::of(format!("stranger {stranger} event {number}").as_bytes()))
}

/// What an event says, without its place in a chain.
#[derive(Clone)]
pub struct Told {
    pub event_type: String,
    pub version: u32,
    pub entity_type: String,
    pub entity_id: String,
    pub agent_id: Option<String>,
    pub shared: String,
}

impl Told {
    pub fn by(entity_id: String, agent: Id<Agent>, fact: &Fact) -> Self {
        let (event_type, version, entity_type) = fact.heading();
        Self {
            event_type: event_type.to_owned(),
            version,
            entity_type: entity_type.to_owned(),
            entity_id,
            agent_id: Some(agent.to_string()),
            shared: fact.shared().unwrap(),
        }
    }

    /// The event that says it as the next of a stranger's chain.
    pub fn after(
        self,
        last: Option<&Carried>,
        stranger: usize,
        replica: Id<Replica>,
        later: u64,
        cause: Option<Id<Event>>,
    ) -> Carried {
        let number = last.map_or(0, |event| event.number) + 1;
        let event = Carried {
            replica,
            number,
            lamport: last.map_or(0, |event| event.lamport) + 1 + later,
            event_id: stranger_event(stranger, usize::try_from(number).unwrap()),
            event_type: self.event_type,
            version: self.version,
            entity_type: self.entity_type,
            entity_id: self.entity_id,
            agent_id: self.agent_id,
            cause,
            created_at: Timestamp::from_millis(Fake::START.as_millis() - i64::try_from(later % 4).unwrap()),
            shared: self.shared,
            local_hash: number.is_multiple_of(2).then(|| Digest::of(b"stays there")),
            replica_hash: Digest::of(b""),
        };
        chained(event, last.map(|event| event.replica_hash))
    }
}

/// The event with the hash that fits its content and the hash of the event before.
pub fn chained(mut event: Carried, before: Option<Digest>) -> Carried {
    let link = Link {
        prev_replica_hash: before.as_ref().map_or(&[], |hash| hash.as_bytes().as_slice()),
        replica: event.replica,
        number: event.number,
        lamport: event.lamport,
        event_id: event.event_id,
        event_type: &event.event_type,
        version: event.version,
        entity_type: &event.entity_type,
        entity_id: &event.entity_id,
        agent_id: event.agent_id.as_deref().unwrap_or_default(),
        cause: event.cause.as_ref().map_or(&[], |cause| cause.as_bytes().as_slice()),
        created_at: event.created_at,
        shared: &event.shared,
        local_hash: event.local_hash.as_ref().map_or(&[], |hash| hash.as_bytes().as_slice()),
    };
    event.replica_hash = link.replica_hash();
    event
}

/// How an event can be odd and still belong to its chain.
#[derive(Clone, Copy, Debug)]
pub enum Oddity {
    UnknownType,
    LaterVersion,
    LastVersion,
    WithMoreFields,
    NotJson,
    ByNoAgent,
    ByNobody,
    ByAnAgentAndMore,
    OfAnotherType,
    OfNothing,
    OfACutName,
    OfASpacedName,
    OfANameInCapitals,
}

impl Oddity {
    pub const ALL: &[Self] = &[
        Self::UnknownType,
        Self::LaterVersion,
        Self::LastVersion,
        Self::WithMoreFields,
        Self::NotJson,
        Self::ByNoAgent,
        Self::ByNobody,
        Self::ByAnAgentAndMore,
        Self::OfAnotherType,
        Self::OfNothing,
        Self::OfACutName,
        Self::OfASpacedName,
        Self::OfANameInCapitals,
    ];

    /// The same said oddly.
    pub fn of(self, told: Told) -> Told {
        let name = &told.entity_id;
        match self {
            Self::UnknownType => Told {
                event_type: "intent.sung".to_owned(),
                shared: "{ \"key\":\"C♯\\u0000\" }".to_owned(),
                ..told
            },
            Self::LaterVersion => Told { version: 2, ..told },
            Self::LastVersion => {
                Told { version: u32::MAX, event_type: String::new(), entity_type: String::new(), ..told }
            }
            Self::WithMoreFields => {
                let comma = if told.shared == "{}" { "" } else { "," };
                let rest = &told.shared[1..];
                let shared = format!("{{ \"later\" :\t{{\"b\":1.50,\"a\":[ ]}}{comma}{rest}");
                Told { shared, ..told }
            }
            Self::NotJson => Told { shared: "no JSON \0 at all".to_owned(), ..told },
            Self::ByNoAgent => Told { agent_id: None, ..told },
            Self::ByNobody => Told { agent_id: Some("nobody".to_owned()), ..told },
            Self::ByAnAgentAndMore => Told { agent_id: told.agent_id.map(|agent| agent + "\n"), ..told },
            Self::OfAnotherType => Told { entity_type: told.entity_type.to_lowercase(), ..told },
            Self::OfNothing => Told { entity_id: String::new(), ..told },
            Self::OfACutName => Told { entity_id: name[..name.len() - 1].to_owned(), ..told },
            Self::OfASpacedName => Told { entity_id: format!(" {name}"), ..told },
            Self::OfANameInCapitals => {
                let (prefix, digits) = name.split_once('_').unwrap();
                Told { entity_id: format!("{prefix}_{}", digits.to_uppercase()), ..told }
            }
        }
    }
}
