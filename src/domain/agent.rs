//! Agents: whoever publishes intents, once per session.

use super::id::IdKind;
use super::word::words;
use super::{Id, Timestamp};

words! {
    /// Whether an agent still takes part.
    pub enum AgentStatus: "agent status" {
        /// It may act.
        Active = 1, "ACTIVE";
        /// It was retired and is hidden from lists.
        Retired = 2, "RETIRED";
    }
}

/// A registered agent.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Agent {
    /// Its identifier, needed to act.
    pub id: Id<Agent>,
    /// The name it gave itself; several agents may share one.
    pub name: String,
    /// The model behind it, if it said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it says it can do.
    pub capabilities: Vec<String>,
    /// Real path of the root of the worktree it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// Branch checked out there when it registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// Commit checked out there when it registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_head: Option<String>,
    /// Whether it still takes part.
    pub status: AgentStatus,
    /// When it registered.
    pub registered_at: Timestamp,
}

impl IdKind for Agent {
    const PREFIX: &'static str = "agt";
    const NOUN: &'static str = "agent";
}
