//! What agents do in the model test of operations, and how it is drawn.

use std::fmt;

use foremerge::domain::ScopeOperation;
use proptest::prelude::*;

/// Stands for an id that nothing has.
pub const NOBODY: usize = usize::MAX;

/// What is touched and claimed: equal or unrelated, never merely similar.
pub const KEYS: [&str; 3] = ["billing", "cart", "mail"];
pub const NAMES: [&str; 3] = ["ann", "ben", "cleo"];

/// Who does it.
#[derive(Clone, Copy, Debug)]
pub enum Who {
    /// The owner of the intent it is about.
    Owner,
    Agent(usize),
}

/// A call, or time passing. Agents, intents and conflicts go by the order of their appearance,
/// as drawn modulo how many there are; intents and conflicts from the latest.
#[derive(Clone, Debug)]
pub enum Act {
    Pass {
        minutes: i64,
    },
    Register {
        name: usize,
        worktree: bool,
    },
    Retire {
        agent: usize,
    },
    Publish {
        agent: usize,
        scopes: Vec<(usize, ScopeOperation)>,
    },
    Amend {
        by: Who,
        intent: usize,
        scopes: Vec<(usize, ScopeOperation)>,
    },
    Claim {
        by: Who,
        intent: usize,
        keys: Vec<usize>,
        seconds: Option<i64>,
        with_operation: bool,
    },
    /// Without any key: everything.
    Release {
        by: Who,
        intent: usize,
        keys: Vec<usize>,
        with_operation: bool,
    },
    Start {
        by: Who,
        intent: usize,
    },
    Discard {
        by: Who,
        intent: usize,
    },
    Adopt {
        agent: usize,
        intent: usize,
    },
    Assess {
        by: Who,
        intent: usize,
        related: usize,
    },
    Send {
        from: usize,
        to: usize,
        about: Option<usize>,
    },
    Inbox {
        agent: usize,
        mark: bool,
    },
    Resolve {
        agent: usize,
        conflict: usize,
        all: bool,
    },
    Look {
        agent: usize,
        intent: usize,
    },
}

impl Act {
    /// The operation it calls; none for time.
    pub fn operation(&self) -> Option<&'static str> {
        Some(match self {
            Self::Pass { .. } => return None,
            Self::Register { .. } => "register_agent",
            Self::Retire { .. } => "retire_agent",
            Self::Publish { .. } => "publish_intent",
            Self::Amend { .. } => "amend_intent",
            Self::Claim { .. } => "claim_work",
            Self::Release { .. } => "release_work",
            Self::Start { .. } => "start_work",
            Self::Discard { .. } => "discard_work",
            Self::Adopt { .. } => "adopt_work",
            Self::Assess { .. } => "record_assessment",
            Self::Send { .. } => "coordinate_with_agent",
            Self::Inbox { .. } => "read_inbox",
            Self::Resolve { .. } => "resolve_conflict",
            Self::Look { .. } => "get_intent",
        })
    }
}

struct Named<'n>(char, &'n usize);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self.1 == NOBODY { write!(f, "{}?", self.0) } else { write!(f, "{}{}", self.0, self.1) }
    }
}

fn agent(number: &usize) -> Named<'_> {
    Named('a', number)
}

fn intent(number: &usize) -> Named<'_> {
    Named('i', number)
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner => f.write_str("its owner"),
            Self::Agent(number) => agent(number).fmt(f),
        }
    }
}

fn declared(scopes: &[(usize, ScopeOperation)]) -> String {
    let scopes: Vec<_> =
        scopes.iter().map(|(key, operation)| format!("{operation} {}", KEYS[*key])).collect();
    scopes.join(", ")
}

fn keys(keys: &[usize], with_operation: bool) -> String {
    let odd = with_operation.then_some("billing=add");
    let keys: Vec<_> = keys.iter().map(|key| KEYS[*key]).chain(odd).collect();
    if keys.is_empty() { "everything".to_owned() } else { keys.join(", ") }
}

impl fmt::Display for Act {
    /// A line of the story: a0 is the first agent, i0 the first intent, c0 the first conflict.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass { minutes } => write!(f, "{minutes} minutes pass"),
            Self::Register { name, worktree } => {
                write!(f, "register {}{}", NAMES[*name], if *worktree { " in the worktree" } else { "" })
            }
            Self::Retire { agent: it } => write!(f, "{} retires", agent(it)),
            Self::Publish { agent: by, scopes } => write!(f, "{} publishes: {}", agent(by), declared(scopes)),
            Self::Amend { by, intent: it, scopes } => {
                write!(f, "{by} amends {}: {}", intent(it), declared(scopes))
            }
            Self::Claim { by, intent: it, keys: of, seconds, with_operation } => {
                let of = keys(of, *with_operation);
                write!(f, "{by} claims for {}: {of}, for {seconds:?} seconds", intent(it))
            }
            Self::Release { by, intent: it, keys: of, with_operation } => {
                write!(f, "{by} releases of {}: {}", intent(it), keys(of, *with_operation))
            }
            Self::Start { by, intent: it } => write!(f, "{by} starts {}", intent(it)),
            Self::Discard { by, intent: it } => write!(f, "{by} discards {}", intent(it)),
            Self::Adopt { agent: by, intent: it } => write!(f, "{} adopts {}", agent(by), intent(it)),
            Self::Assess { by, intent: it, related } => {
                write!(f, "{by} assesses {} against {}", intent(it), intent(related))
            }
            Self::Send { from, to, about } => {
                write!(f, "{} writes to {}", agent(from), agent(to))?;
                about.iter().try_for_each(|about| write!(f, " about {}", Named('c', about)))
            }
            Self::Inbox { agent: by, mark } => {
                write!(f, "{} {} its inbox", agent(by), if *mark { "marks" } else { "reads" })
            }
            Self::Resolve { agent: by, conflict, all } => {
                let rest = if *all { " and all between the two" } else { "" };
                write!(f, "{} resolves {}{rest}", agent(by), Named('c', conflict))
            }
            Self::Look { agent: by, intent: it } => write!(f, "{} looks at {}", agent(by), intent(it)),
        }
    }
}

fn number(most: usize) -> impl Strategy<Value = usize> + Clone {
    prop_oneof![20 => 0..most, 1 => Just(NOBODY)]
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![9 => Just(Who::Owner), 1 => number(6).prop_map(Who::Agent)]
}

/// Few of them name one key twice.
fn scopes() -> BoxedStrategy<Vec<(usize, ScopeOperation)>> {
    let scope = (0..KEYS.len(), prop::sample::select(ScopeOperation::ALL));
    (prop::collection::vec(scope, 1..=3), prop::bool::weighted(0.05))
        .prop_map(|(mut scopes, twice)| {
            if !twice {
                scopes.sort_by_key(|(key, _)| *key);
                scopes.dedup_by_key(|(key, _)| *key);
            }
            scopes
        })
        .boxed()
}

fn act() -> BoxedStrategy<Act> {
    let (agent, intent, conflict) = (|| number(6), || number(8), || number(4));
    let odd = || prop::bool::weighted(0.04);
    let some = || prop::sample::subsequence((0..KEYS.len()).collect::<Vec<_>>(), 1..=KEYS.len());
    let maybe = prop_oneof![Just(Vec::new()).boxed(), some().boxed()];
    let minutes = prop::sample::select(vec![1, 30, 60, 119, 120, 180, 1_500]);
    let seconds = prop::option::of(prop::sample::select(vec![-1, 60, 600, 7_200, 14_400, 1_000_000]));
    let people = prop_oneof![
        4 => minutes.prop_map(|minutes| Act::Pass { minutes }),
        2 => (0..NAMES.len(), prop::bool::weighted(0.7))
            .prop_map(|(name, worktree)| Act::Register { name, worktree }),
        1 => agent().prop_map(|agent| Act::Retire { agent }),
        3 => (agent(), agent(), prop::option::weighted(0.9, conflict())).prop_map(|(from, to, about)| Act::Send { from, to, about }),
        1 => (agent(), prop::bool::weighted(0.7)).prop_map(|(agent, mark)| Act::Inbox { agent, mark }),
        2 => (agent(), conflict(), any::<bool>())
            .prop_map(|(agent, conflict, all)| Act::Resolve { agent, conflict, all }),
        1 => (agent(), intent()).prop_map(|(agent, intent)| Act::Look { agent, intent }),
    ];
    let work = prop_oneof![
        5 => (agent(), scopes()).prop_map(|(agent, scopes)| Act::Publish { agent, scopes }),
        3 => (who(), intent(), scopes()).prop_map(|(by, intent, scopes)| Act::Amend { by, intent, scopes }),
        4 => (who(), intent(), some(), seconds, odd()).prop_map(|(by, intent, keys, seconds, with_operation)| {
            Act::Claim { by, intent, keys, seconds, with_operation }
        }),
        2 => (who(), intent(), maybe, odd()).prop_map(|(by, intent, keys, with_operation)| {
            Act::Release { by, intent, keys, with_operation }
        }),
        2 => (who(), intent()).prop_map(|(by, intent)| Act::Start { by, intent }),
        1 => (who(), intent()).prop_map(|(by, intent)| Act::Discard { by, intent }),
        3 => (agent(), intent()).prop_map(|(agent, intent)| Act::Adopt { agent, intent }),
        1 => (who(), intent(), intent()).prop_map(|(by, intent, related)| Act::Assess { by, intent, related }),
    ];
    prop_oneof![2 => people.boxed(), 3 => work.boxed()].boxed()
}

/// An owner is gone when others come to its work: findings are owed, and somebody takes it over.
fn absence() -> impl Strategy<Value = Vec<Act>> {
    let minutes = prop::sample::select(vec![120, 180]);
    (number(6), scopes(), minutes, number(6), scopes(), number(6)).prop_map(
        |(gone, its_scopes, minutes, agent, scopes, heir)| {
            vec![
                Act::Publish { agent: gone, scopes: its_scopes },
                Act::Pass { minutes },
                Act::Publish { agent, scopes },
                Act::Adopt { agent: heir, intent: 1 },
            ]
        },
    )
}

/// The owners of two intents claim the same, and one of them writes to the other.
fn neighbours() -> impl Strategy<Value = Vec<Act>> {
    (0..KEYS.len(), number(6), number(6)).prop_map(|(key, from, to)| {
        let claim = |intent| {
            let (by, keys) = (Who::Owner, vec![key]);
            Act::Claim { by, intent, keys, seconds: None, with_operation: false }
        };
        vec![claim(1), claim(0), Act::Send { from, to, about: Some(0) }]
    })
}

/// What some agents do, two of which are there from the beginning.
#[derive(Clone)]
pub struct Acts(pub Vec<Act>);

impl fmt::Debug for Acts {
    /// The story is told by the failure, with what came of each act.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} acts", self.0.len())
    }
}

pub fn acts(most: usize) -> impl Strategy<Value = Acts> {
    let some = prop_oneof![12 => act().prop_map(|act| vec![act]), 1 => absence(), 1 => neighbours()];
    prop::collection::vec(some.boxed(), 1..=most).prop_map(|rest| {
        let begin = [(0, true), (1, false)].map(|(name, worktree)| Act::Register { name, worktree });
        Acts(begin.into_iter().chain(rest.concat()).collect())
    })
}
