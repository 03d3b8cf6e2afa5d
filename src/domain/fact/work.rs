//! What happens to an intent after it was published; the entity is the intent.

use serde::{Deserialize, Serialize};

use super::Payload;
use crate::domain::assessment::{Assessment, Reaction, Verdict};
use crate::domain::{Agent, Id, Intent, IntentStatus};

/// An intent went from one state to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifecycleTransitioned {
    /// The state it was in.
    pub from: IntentStatus,
    /// The state it is in.
    pub to: IntentStatus,
}

/// The work was given up. Its claims end with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkDiscarded {
    /// Why.
    pub reason: String,
}

/// Another agent took the work over. Its claims end with that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentAdopted {
    /// Who owned it.
    pub from_agent_id: Id<Agent>,
    /// Why.
    pub reason: String,
}

/// Its owner judged how the intent goes together with another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentAssessed {
    /// The judgement.
    pub assessment_id: Id<Assessment>,
    /// The other intent.
    pub related_intent_id: Id<Intent>,
    /// How the two go together.
    pub verdict: Verdict,
    /// Why.
    pub rationale: String,
    /// What its owner does about it.
    pub action: Reaction,
}

impl Payload for LifecycleTransitioned {}
impl Payload for WorkDiscarded {}
impl Payload for IntentAdopted {}
impl Payload for IntentAssessed {}
