//! Messages: what agents say to each other about their work.

use super::id::IdKind;
use super::word::words;
use super::{Agent, Conflict, Id, Timestamp};

words! {
    /// Whether the recipient has seen a message.
    pub enum MessageStatus: "message status" {
        /// Not yet.
        Unread = 1, "UNREAD";
        /// Its recipient marked it.
        Read = 2, "READ";
    }
}

/// A durable message. It interrupts nobody: its recipient finds it in the inbox.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Message {
    /// Its identifier; decisions refer to it.
    pub id: Id<Message>,
    /// Who wrote it.
    pub from_agent_id: Id<Agent>,
    /// For whom it is.
    pub to_agent_id: Id<Agent>,
    /// The text.
    pub message: String,
    /// The conflict it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict_id: Option<Id<Conflict>>,
    /// Whether the recipient has seen it.
    pub status: MessageStatus,
    /// When it was sent.
    pub created_at: Timestamp,
}

impl IdKind for Message {
    const PREFIX: &'static str = "msg";
    const NOUN: &'static str = "message";
}
