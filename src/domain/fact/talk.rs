//! What agents say to each other, and what they agree on.

use serde::{Deserialize, Serialize};

use super::Payload;
use crate::domain::conflict::Decision;
use crate::domain::{Agent, Conflict, Id, Intent, Message};

/// A conflict with the two intents it is between, the smaller id first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictBetween {
    /// The conflict.
    pub conflict_id: Id<Conflict>,
    /// Its intents.
    pub between: (Id<Intent>, Id<Intent>),
}

/// A message was sent; the entity is the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoordinationSent {
    /// For whom it is.
    pub to_agent_id: Id<Agent>,
    /// The text.
    pub message: String,
    /// The conflict it is about.
    #[serde(flatten)]
    pub about: Option<ConflictBetween>,
}

/// An agent marked messages in its inbox; the entity is the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoordinationRead {
    /// The messages.
    pub messages: Vec<Id<Message>>,
}

/// An agreement settled conflicts between two intents; the entity is the first of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictResolved {
    /// The decision.
    pub decision_id: Id<Decision>,
    /// The two intents, the smaller id first.
    pub between: (Id<Intent>, Id<Intent>),
    /// Every conflict it settles.
    pub conflicts: Vec<Id<Conflict>>,
    /// What was decided.
    pub resolution: String,
    /// Why, and after which messages.
    pub rationale: String,
}

impl Payload for CoordinationSent {}
impl Payload for CoordinationRead {}
impl Payload for ConflictResolved {}
