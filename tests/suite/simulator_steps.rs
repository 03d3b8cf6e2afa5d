//! What can happen in a simulated run, and how it is drawn.

use std::fmt;

use foremerge::detect::canonical;
use foremerge::domain::conflict::Tier;
use foremerge::domain::event::{Link, Replica};
use foremerge::domain::fact::{
    AgentRegistered, ConflictDetected, ConflictDismissed, Counterparts, Fact, IntentAmended, IntentPublished,
    PairFindings, PublishedScope, SightedAt, Sighting,
};
use foremerge::domain::metadata::Metadata;
use foremerge::domain::{
    Agent, Digest, Event, Id, Rule, ScopeClaim, ScopeKind, ScopeOperation, Severity, Timestamp,
};
use foremerge::ledger::exchange::Carried;
use foremerge::world::Fake;
use proptest::prelude::*;

use crate::simulator::{RECORDERS, Simulation};

/// One step of a run. Numbers are taken modulo what is there.
#[derive(Clone)]
pub enum Step {
    Pass { at: u8, millis: i64 },
    Register { at: u8, worktree: bool },
    Publish { at: u8, agent: u8, scopes: Vec<(u8, ScopeOperation)> },
    Record { at: u8, saying: Saying },
    Say { stranger: u8, saying: Saying },
    Carry { from: u8, to: u8, speaker: u8, count: u8, again: bool },
    Tell { stranger: u8, to: u8, count: u8, again: bool },
}

/// An event as somebody says it.
#[derive(Clone)]
pub struct Saying {
    pub what: What,
    pub cause: Cause,
    /// How much Lamport time a stranger lets pass before it.
    pub later: u8,
}

#[derive(Clone, Debug)]
pub enum What {
    Agent {
        agent: u8,
    },
    Intent {
        intent: u8,
        agent: u8,
        scopes: Vec<(u8, ScopeOperation)>,
    },
    Amendment {
        intent: u8,
        agent: u8,
        scopes: Vec<(u8, ScopeOperation)>,
    },
    /// Dismisses what the same findings would detect.
    Dismissal {
        acting: u8,
        found: Vec<(u8, u8, u8, Severity)>,
    },
    /// Findings with these wait for their owners, or are settled by the acting one's.
    Debt {
        acting: u8,
        with: Vec<u8>,
        settled: bool,
    },
    /// Per finding: the counterpart, and indexes into two listed scopes.
    Findings {
        acting: u8,
        found: Vec<(u8, u8, u8, Severity)>,
    },
    /// Well chained and otherwise odd; only strangers say it. See [`ODDITIES`].
    Odd {
        form: u8,
        pick: u8,
    },
}

#[derive(Clone, Copy, Debug)]
pub enum Cause {
    Nothing,
    /// An event that never happens.
    Nobody,
    Known(u8),
    /// An event a stranger may say later.
    Coming {
        stranger: u8,
        ahead: u8,
    },
}

impl Step {
    /// The ledger that may be another one afterwards; strangers have none.
    pub fn ledger(&self) -> Option<usize> {
        match self {
            Self::Pass { .. } | Self::Say { .. } => None,
            Self::Register { at, .. } | Self::Publish { at, .. } | Self::Record { at, .. } => {
                Some(usize::from(*at) % RECORDERS)
            }
            Self::Carry { to, .. } | Self::Tell { to, .. } => Some(usize::from(*to) % (RECORDERS + 1)),
        }
    }
}

impl fmt::Debug for Step {
    /// One line, also in a pretty list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass { at, millis } => write!(f, "{millis} ms pass at {at}"),
            Self::Register { at, worktree } => write!(f, "register at {at}, worktree: {worktree}"),
            Self::Publish { at, agent, scopes } => write!(f, "publish at {at} by {agent}: {scopes:?}"),
            Self::Record { at, saying } => write!(f, "record at {at}: {saying:?}"),
            Self::Say { stranger, saying } => {
                write!(f, "stranger {stranger} says, {} later: {saying:?}", saying.later)
            }
            Self::Carry { from, to, speaker, count, again } => {
                write!(f, "carry {count} of {speaker} from {from} to {to}, again: {again}")
            }
            Self::Tell { stranger, to, count, again } => {
                write!(f, "tell {count} of stranger {stranger} to {to}, again: {again}")
            }
        }
    }
}

impl fmt::Debug for Saying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} because of {:?}", self.what, self.cause)
    }
}

pub fn scope_key(at: u8) -> String {
    format!("Scope{}", at % 3)
}

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
    fn by(entity_id: String, agent: Id<Agent>, fact: &Fact) -> Self {
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
        later: u8,
        cause: Option<Id<Event>>,
    ) -> Carried {
        let number = last.map_or(0, |event| event.number) + 1;
        let event = Carried {
            replica,
            number,
            lamport: last.map_or(0, |event| event.lamport) + 1 + u64::from(later),
            event_id: stranger_event(stranger, usize::try_from(number).unwrap()),
            event_type: self.event_type,
            version: self.version,
            entity_type: self.entity_type,
            entity_id: self.entity_id,
            agent_id: self.agent_id,
            cause,
            created_at: Timestamp::from_millis(Fake::START.as_millis() - i64::from(later)),
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

pub fn published(scopes: &[(u8, ScopeOperation)], summary: &str) -> IntentPublished {
    let scopes = scopes.iter().map(|(key, operation)| {
        let (kind, key) = (ScopeKind::Symbol, scope_key(*key));
        let forms = canonical::forms(kind, &key);
        PublishedScope::new(ScopeClaim { kind, key, operation: *operation, inferred: false }, forms)
    });
    IntentPublished {
        task: "t".to_owned(),
        task_id: Id::from_bytes([7; 16]),
        summary: summary.to_owned(),
        rationale: None,
        scopes: scopes.collect(),
        depends_on: Vec::new(),
        metadata: Metadata::default(),
    }
}

/// How many forms of [`What::Odd`] there are.
const ODDITIES: u8 = 17;

impl What {
    /// What of it a ledger of this version can record: entity, agent and fact.
    pub fn fact(&self, run: &Simulation) -> Option<(String, Id<Agent>, Fact)> {
        match self {
            Self::Agent { agent } => {
                let fact = AgentRegistered {
                    name: format!("again-{agent}"),
                    model: None,
                    capabilities: Vec::new(),
                    git_branch: None,
                    git_head: None,
                    worktree: None,
                };
                let agent = run.agent(*agent);
                Some((agent.to_string(), agent, Fact::AgentRegistered(fact)))
            }
            Self::Intent { intent, agent, scopes } => {
                let fact = published(scopes, &format!("by {agent} on {}", scopes.len()));
                Some((run.intent(*intent).to_string(), run.agent(*agent), Fact::IntentPublished(fact)))
            }
            Self::Findings { acting, found } => {
                let pairs = found.iter().map(|(with, mine, theirs, severity)| PairFindings {
                    with: run.intent(*with),
                    found: vec![Sighting {
                        rule: Rule::ALL[usize::from(*mine) % Rule::ALL.len()],
                        at: Some(SightedAt {
                            tier: Tier::Same,
                            scopes: (usize::from(*mine), usize::from(*theirs)),
                            operations: Some((ScopeOperation::Replace, ScopeOperation::Extend)),
                            inferred: (false, theirs % 2 == 1),
                        }),
                        similarity: None,
                        asserted: *severity == Severity::High,
                        severity: *severity,
                        score: u16::from(*theirs) * 10,
                    }],
                });
                let scopes = (0..2).map(|at| (ScopeKind::Symbol, scope_key(at).to_lowercase())).collect();
                let fact = ConflictDetected { scopes, pairs: pairs.collect(), omitted: 0 };
                let agent = run.agent(*acting);
                Some((run.intent(*acting).to_string(), agent, Fact::ConflictDetected(fact)))
            }
            Self::Amendment { intent, agent, scopes } => {
                let scopes = published(scopes, "").scopes;
                let summary = scopes.is_empty().then(|| format!("amended by {agent}"));
                let fact = Fact::IntentAmended(IntentAmended { scopes, summary });
                Some((run.intent(*intent).to_string(), run.agent(*agent), fact))
            }
            Self::Dismissal { acting, found } => {
                let (entity, agent, fact) =
                    Self::Findings { acting: *acting, found: found.clone() }.fact(run)?;
                let Fact::ConflictDetected(found) = fact else { return None };
                let acting = run.intent(*acting);
                let pairs = found.pairs.iter().map(|pair| {
                    let conflicts =
                        pair.found.iter().filter_map(|one| found.identity(acting, pair.with, one));
                    (pair.with, conflicts.collect())
                });
                let pairs = pairs.collect();
                let fact =
                    ConflictDismissed { pairs, reason: foremerge::domain::fact::Dismissal::OverlapGone };
                Some((entity, agent, Fact::ConflictDismissed(fact)))
            }
            Self::Debt { acting, with, settled } => {
                let with = Counterparts { with: with.iter().map(|with| run.intent(*with)).collect() };
                let fact = if *settled { Fact::FindingsSettled(with) } else { Fact::FindingsOwed(with) };
                Some((run.intent(*acting).to_string(), run.agent(*acting), fact))
            }
            Self::Odd { .. } => None,
        }
    }

    /// What a stranger says of it.
    pub fn told(&self, run: &Simulation) -> Told {
        let Self::Odd { form, pick } = self else {
            let (entity, agent, fact) = self.fact(run).unwrap();
            return Told::by(entity, agent, &fact);
        };
        let known = |what: &Self| what.told(run);
        let agent = || known(&Self::Agent { agent: *pick });
        let intent = || {
            let scopes = vec![(*pick, ScopeOperation::Remove)];
            known(&Self::Intent { intent: *pick, agent: *pick, scopes })
        };
        let findings = || {
            known(&Self::Findings { acting: *pick, found: vec![(pick.wrapping_add(1), 0, 1, Severity::Low)] })
        };
        let wider = |told: Told| {
            let shared = format!("{{ \"later\" :\t{{\"b\":1.50,\"a\":[ ]}},{}", &told.shared[1..]);
            Told { shared, ..told }
        };
        match form % ODDITIES {
            0 => Told {
                event_type: "intent.sung".to_owned(),
                shared: "{ \"key\":\"C♯\\u0000\" }".to_owned(),
                ..intent()
            },
            1 => Told { version: 2, ..intent() },
            2 => Told { version: u32::MAX, event_type: String::new(), entity_type: String::new(), ..agent() },
            3 => wider(agent()),
            4 => wider(intent()),
            5 => wider(findings()),
            6 => Told { agent_id: None, ..intent() },
            7 => Told { agent_id: Some("nobody".to_owned()), ..intent() },
            8 => Told { entity_id: "agt_ and no more".to_owned(), ..agent() },
            9 => Told { entity_id: String::new(), ..intent() },
            10 => Told { entity_id: "int_zz".to_owned(), ..findings() },
            11 => Told { shared: "no JSON \0 at all".to_owned(), ..intent() },
            12 => Told { entity_id: agent().entity_id.replace('a', "A"), ..agent() },
            13 => Told { entity_id: format!(" {}", intent().entity_id), ..intent() },
            14 => Told { agent_id: intent().agent_id.map(|agent| agent + "\n"), ..intent() },
            15 => Told { entity_type: "Agent".to_owned(), ..findings() },
            _ => known(&Self::Findings { acting: *pick, found: vec![(*pick, 0, 0, Severity::High)] }),
        }
    }
}

fn scopes() -> impl Strategy<Value = Vec<(u8, ScopeOperation)>> {
    prop::collection::vec((0..3_u8, prop::sample::select(ScopeOperation::ALL)), 0..3).prop_map(
        |mut scopes| {
            scopes.sort();
            scopes.dedup_by_key(|(key, _)| *key);
            scopes
        },
    )
}

fn what() -> impl Strategy<Value = What> {
    let finding = || (0..5_u8, 0..3_u8, 0..3_u8, prop::sample::select(Severity::ALL));
    prop_oneof![
        2 => (0..5_u8).prop_map(|agent| What::Agent { agent }),
        3 => (0..5_u8, 0..5_u8, scopes())
            .prop_map(|(intent, agent, scopes)| What::Intent { intent, agent, scopes }),
        4 => (0..5_u8, prop::collection::vec(finding(), 0..4))
            .prop_map(|(acting, found)| What::Findings { acting, found }),
        2 => (0..5_u8, 0..5_u8, scopes())
            .prop_map(|(intent, agent, scopes)| What::Amendment { intent, agent, scopes }),
        1 => (0..5_u8, prop::collection::vec(finding(), 0..3))
            .prop_map(|(acting, found)| What::Dismissal { acting, found }),
        1 => (0..5_u8, prop::collection::vec(0..5_u8, 0..3), any::<bool>())
            .prop_map(|(acting, with, settled)| What::Debt { acting, with, settled }),
        3 => (0..ODDITIES, 0..4_u8).prop_map(|(form, pick)| What::Odd { form, pick }),
    ]
}

fn saying() -> impl Strategy<Value = Saying> {
    let cause = prop_oneof![
        3 => Just(Cause::Nothing),
        1 => Just(Cause::Nobody),
        4 => any::<u8>().prop_map(Cause::Known),
        3 => (0..2_u8, 0..3_u8).prop_map(|(stranger, ahead)| Cause::Coming { stranger, ahead }),
    ];
    (what(), cause, prop_oneof![3 => Just(0_u8), 1 => 1..4_u8]).prop_map(|(what, cause, later)| Saying {
        what,
        cause,
        later,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let node = || 0..3_u8;
    prop_oneof![
        1 => (node(), -90_000..10_000_000_i64).prop_map(|(at, millis)| Step::Pass { at, millis }),
        2 => (node(), any::<bool>()).prop_map(|(at, worktree)| Step::Register { at, worktree }),
        4 => (node(), 0..6_u8, scopes()).prop_map(|(at, agent, scopes)| Step::Publish { at, agent, scopes }),
        3 => (node(), saying()).prop_map(|(at, saying)| Step::Record { at, saying }),
        5 => (0..2_u8, saying()).prop_map(|(stranger, saying)| Step::Say { stranger, saying }),
        6 => (node(), node(), 0..5_u8, 1..6_u8, any::<bool>())
            .prop_map(|(from, to, speaker, count, again)| Step::Carry { from, to, speaker, count, again }),
        4 => (0..2_u8, node(), 1..4_u8, any::<bool>())
            .prop_map(|(stranger, to, count, again)| Step::Tell { stranger, to, count, again }),
    ]
}

/// A run of at most `most` steps.
pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..=most)
}
