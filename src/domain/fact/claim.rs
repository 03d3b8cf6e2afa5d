//! What is said about claims; the entity is the claim.

use serde::{Deserialize, Serialize};

use super::Payload;
use crate::domain::{Id, Intent, ScopeKind, Timestamp};

/// A scope was claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimCreated {
    /// For which work.
    pub intent_id: Id<Intent>,
    /// What kind of thing it is.
    pub kind: ScopeKind,
    /// Spelling as claimed, a `file:` key relative to the worktree root.
    pub key: String,
    /// Full canonical form.
    pub full: String,
    /// Alias, where it differs from `full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Why it is claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it runs out.
    pub lease_expires_at: Timestamp,
}

/// A claim was prolonged, or brought back after its lease had run out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimRenewed {
    /// For which work.
    pub intent_id: Id<Intent>,
    /// Why it is claimed, if that was said anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it runs out.
    pub lease_expires_at: Timestamp,
}

/// A claim was given up before its work ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimReleased {
    /// For which work.
    pub intent_id: Id<Intent>,
}

impl Payload for ClaimCreated {}
impl Payload for ClaimRenewed {}
impl Payload for ClaimReleased {}
