//! Intents: what an agent is about to do, said before there is code.

use super::id::IdKind;
use super::metadata::Metadata;
use super::word::words;
use super::{Agent, Id, ScopeClaim, Timestamp};

words! {
    /// Where an intent stands in its life.
    pub enum IntentStatus: "intent status" {
        /// Published.
        Intent = 1, "INTENT";
        /// Its agent claimed scopes.
        Claimed = 2, "CLAIMED";
        /// Work has begun.
        InProgress = 3, "IN_PROGRESS";
        /// A ChangeSet was published.
        Provisional = 4, "PROVISIONAL";
        /// A check that Foremerge ran has passed.
        Validated = 5, "VALIDATED";
        /// The exact tree was accepted.
        Accepted = 6, "ACCEPTED";
        /// The work landed.
        Committed = 7, "COMMITTED";
        /// The work was given up.
        Discarded = 8, "DISCARDED";
    }
}

impl IntentStatus {
    /// Whether other work is compared against the intent.
    #[must_use]
    pub const fn is_active(self) -> bool {
        !matches!(self, Self::Committed | Self::Discarded)
    }
}

/// The task an intent belongs to, identified by its title.
#[derive(Debug)]
pub enum Task {}

impl IdKind for Task {
    const PREFIX: &'static str = "tsk";
    const NOUN: &'static str = "task";
}

/// A published intent.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Intent {
    /// Its identifier.
    pub id: Id<Intent>,
    /// Who owns it.
    pub agent_id: Id<Agent>,
    /// The task, derived from its title.
    pub task_id: Id<Task>,
    /// Title of the task as written.
    pub task: String,
    /// What will be done.
    pub summary: String,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// What it touches, and how.
    pub scopes: Vec<ScopeClaim>,
    /// Intents it builds on; informational.
    pub depends_on: Vec<Id<Intent>>,
    /// Whatever else the agent attached.
    pub metadata: Metadata,
    /// Where it stands.
    pub status: IntentStatus,
    /// When it was published.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl IdKind for Intent {
    const PREFIX: &'static str = "int";
    const NOUN: &'static str = "intent";
}
