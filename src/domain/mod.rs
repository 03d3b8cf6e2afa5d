//! What the words of Foremerge mean: identifiers, scopes, intents, conflicts, events.
//!
//! Pure values and rules. Nothing here reads a clock, a file, a database or a repository;
//! everything above may depend on this room, and this room depends on nothing.

pub mod agent;
pub mod assessment;
pub mod claim;
pub mod conflict;
pub mod cut;
pub mod digest;
pub mod event;
pub mod fact;
pub mod graph;
pub mod id;
pub mod intent;
pub mod message;
pub mod metadata;
pub mod nearest;
pub mod scope;
pub mod shell;
pub mod text;
pub mod time;
pub mod transition;
pub mod word;

pub use agent::{Agent, AgentStatus};
pub use assessment::Assessment;
pub use claim::{Claim, ClaimStatus};
pub use conflict::{Conflict, ConflictStatus, Rule, Severity};
pub use digest::Digest;
pub use event::Event;
pub use id::{Id, IdRef};
pub use intent::{Intent, IntentStatus, Task};
pub use message::{Message, MessageStatus};
pub use scope::{CanonicalScope, Scope, ScopeClaim, ScopeKind, ScopeOperation};
pub use text::Text;
pub use time::Timestamp;

/// A value that was refused, with a sentence that says what is accepted.
///
/// The field it belongs to is added by whoever knows it: the argument parser, the JSON reader
/// or the operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    /// Wraps the sentence shown to the caller.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
