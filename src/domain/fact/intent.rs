//! What agents say of their work.

use serde::{Deserialize, Serialize};

use super::Payload;
use crate::domain::metadata::Metadata;
use crate::domain::{CanonicalScope, Id, Intent, ScopeClaim, ScopeKind, ScopeOperation, Task};

/// An agent said what it is about to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntentPublished {
    /// Title of the task as written.
    pub task: String,
    /// The task.
    pub task_id: Id<Task>,
    /// What will be done.
    pub summary: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// What it touches, in the order of declaration, no full form twice.
    pub scopes: Vec<PublishedScope>,
    /// Intents it builds on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<Id<Intent>>,
    /// Whatever else the agent attached.
    #[serde(default)]
    pub metadata: Metadata,
}

/// A declared scope with the canonical forms of the version that declared it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedScope {
    /// What kind of thing it is.
    pub kind: ScopeKind,
    /// Spelling as declared, a `file:` key relative to the worktree root.
    pub key: String,
    /// What the intent does to it.
    pub operation: ScopeOperation,
    /// Whether the operation was read from prose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inferred: bool,
    /// Full canonical form.
    pub full: String,
    /// Alias, where it differs from `full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
}

impl PublishedScope {
    /// The scope with the forms it is compared by.
    #[must_use]
    pub fn new(claim: ScopeClaim, canonical: CanonicalScope) -> Self {
        let ScopeClaim { kind, key, operation, inferred } = claim;
        let alias = canonical.own_alias();
        Self { kind, key, operation, inferred, full: canonical.full, alias }
    }

    /// The forms it is compared by.
    #[must_use]
    pub fn canonical(&self) -> CanonicalScope {
        let alias = self.alias.clone().unwrap_or_else(|| self.full.clone());
        CanonicalScope { kind: self.kind, full: self.full.clone(), alias }
    }
}

/// The owner changed what the intent touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentAmended {
    /// What it touches now, in the order of declaration, no full form twice.
    pub scopes: Vec<PublishedScope>,
    /// What will be done now, if that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl Payload for IntentPublished {}
impl Payload for IntentAmended {}
