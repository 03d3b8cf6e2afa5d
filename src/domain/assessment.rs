//! Assessments: what an agent makes of other work that touches its own.

use super::id::IdKind;
use super::word::words;
use super::{Agent, Id, Intent, Timestamp};

words! {
    /// How two intents go together.
    pub enum Verdict: "verdict" {
        /// Both cannot stand as they are.
        Conflicts = 1, "conflicts";
        /// Both can stand.
        Compatible = 2, "compatible";
        /// They do the same.
        Duplicate = 3, "duplicate";
        /// The assessed intent builds on the other.
        DependsOn = 4, "depends_on";
    }
}

impl Verdict {
    /// As it is said between the names of two intents.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Conflicts => "conflicts with",
            Self::Compatible => "is compatible with",
            Self::Duplicate => "is a duplicate of",
            Self::DependsOn => "depends on",
        }
    }
}

words! {
    /// What the agent does about it.
    pub enum Reaction: "action" {
        /// It goes on as it said.
        Proceeding = 1, "proceeding";
        /// It changes what it touches.
        Rescoping = 2, "rescoping";
        /// It waits for the other.
        Waiting = 3, "waiting";
        /// It gives the work up.
        Abandoning = 4, "abandoning";
    }
}

/// A judgement on record.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Assessment {
    /// Its identifier.
    pub id: Id<Assessment>,
    /// Who judged.
    pub agent_id: Id<Agent>,
    /// The intent that was assessed.
    pub intent_id: Id<Intent>,
    /// The other one.
    pub related_intent_id: Id<Intent>,
    /// How the two go together.
    pub verdict: Verdict,
    /// Why.
    pub rationale: String,
    /// What the agent does about it.
    pub action: Reaction,
    /// When it was recorded.
    pub created_at: Timestamp,
}

impl IdKind for Assessment {
    const PREFIX: &'static str = "asm";
    const NOUN: &'static str = "assessment";
}
