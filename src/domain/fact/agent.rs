//! What agents say of themselves.

use serde::{Deserialize, Serialize};

use super::Payload;

/// An agent introduced itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRegistered {
    /// The name it gave itself.
    pub name: String,
    /// The model behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it says it can do.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// Branch checked out in its worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// Commit checked out in its worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_head: Option<String>,
    /// Root of its worktree; the local part.
    #[serde(skip)]
    pub worktree: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct AgentRegisteredLocal {
    worktree: String,
}

/// An agent without open work left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRetired {}

impl Payload for AgentRetired {}

impl Payload for AgentRegistered {
    fn local(&self) -> serde_json::Result<Option<String>> {
        let Some(worktree) = self.worktree.clone() else { return Ok(None) };
        serde_json::to_string(&AgentRegisteredLocal { worktree }).map(Some)
    }

    fn with_local(mut self, local: &str) -> Self {
        self.worktree = serde_json::from_str::<AgentRegisteredLocal>(local).ok().map(|local| local.worktree);
        self
    }
}
