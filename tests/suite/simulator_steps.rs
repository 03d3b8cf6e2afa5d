//! What can happen in a simulated run, and how it is drawn.

use std::fmt;

use foremerge::domain::ScopeOperation;
use proptest::prelude::*;

use crate::simulator::RECORDERS;
use crate::simulator_draw::{scopes, story, what};
use crate::simulator_what::What;

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
    pub later: Later,
}

#[derive(Clone, Copy, Debug)]
pub enum Later {
    By(u8),
    /// It has heard of everything that was said.
    ThanEverything,
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
                write!(f, "stranger {stranger} says, later {:?}: {saying:?}", saying.later)
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

fn saying() -> BoxedStrategy<Saying> {
    let cause = prop_oneof![
        8 => Just(Cause::Nothing),
        1 => Just(Cause::Nobody),
        4 => any::<u8>().prop_map(Cause::Known),
        2 => (0..2_u8, 0..3_u8).prop_map(|(stranger, ahead)| Cause::Coming { stranger, ahead }),
    ];
    (what(), cause, prop_oneof![(0..4_u8).prop_map(Later::By), Just(Later::ThanEverything)])
        .prop_map(|(what, cause, later)| Saying { what, cause, later })
        .boxed()
}

fn step() -> impl Strategy<Value = Step> {
    let node = || 0..3_u8;
    prop_oneof![
        1 => (node(), -90_000..10_000_000_i64).prop_map(|(at, millis)| Step::Pass { at, millis }),
        2 => (node(), any::<bool>()).prop_map(|(at, worktree)| Step::Register { at, worktree }),
        4 => (node(), 0..6_u8, scopes()).prop_map(|(at, agent, scopes)| Step::Publish { at, agent, scopes }),
        5 => (node(), saying()).prop_map(|(at, saying)| Step::Record { at, saying }),
        5 => (0..2_u8, saying()).prop_map(|(stranger, saying)| Step::Say { stranger, saying }),
        6 => (node(), node(), 0..5_u8, 1..6_u8, any::<bool>())
            .prop_map(|(from, to, speaker, count, again)| Step::Carry { from, to, speaker, count, again }),
        4 => (0..2_u8, node(), 1..4_u8, any::<bool>())
            .prop_map(|(stranger, to, count, again)| Step::Tell { stranger, to, count, again }),
    ]
}

/// A story told by one ledger or one stranger.
fn chapter() -> impl Strategy<Value = Vec<Step>> {
    (0..4_u8, story()).prop_map(|(speaker, story)| {
        let said = story.into_iter().map(|what| {
            let saying = Saying { what, cause: Cause::Nothing, later: Later::ThanEverything };
            match speaker.checked_sub(2) {
                None => Step::Record { at: speaker, saying },
                Some(stranger) => Step::Say { stranger, saying },
            }
        });
        said.collect()
    })
}

/// A run of at most `most` steps, not counting those of stories.
pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let steps = prop_oneof![9 => step().prop_map(|step| vec![step]), 1 => chapter()];
    prop::collection::vec(steps.boxed(), 1..=most).prop_map(|steps| steps.concat())
}
