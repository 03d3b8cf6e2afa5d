//! The public form of an event.

use super::id::IdKind;
use super::{Digest, Id, Timestamp};

/// What `prev_hash` of the first event says.
pub const GENESIS: &str = "GENESIS";

/// A ledger that mints events: one per clone, anew for a restored or copied one.
#[derive(Debug)]
pub enum Replica {}

impl IdKind for Replica {
    const PREFIX: &'static str = "rep";
    const NOUN: &'static str = "replica";
}

/// One event of the append-only history.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Event {
    /// Order of arrival in this ledger, from 1 without gaps; page by it.
    pub seq: u64,
    /// Its identifier, the same in every ledger.
    pub event_id: Id<Event>,
    /// What happened, such as `intent.published`; ignore what you do not know.
    pub event_type: String,
    /// What it happened to: `Agent`, `Intent`, …
    pub entity_type: String,
    /// The identifier of that entity.
    pub entity_id: String,
    /// Who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The facts.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub payload: serde_json::Value,
    /// When it happened, by the clock of the ledger that recorded it.
    pub created_at: Timestamp,
    /// `event_hash` of the event before, `GENESIS` for the first.
    pub prev_hash: String,
    /// Hash over `prev_hash`, `seq` and `replica_hash`.
    pub event_hash: String,
    /// The ledger that recorded it first.
    pub replica: Id<Replica>,
    /// Its place in that ledger's own chain, from 1.
    pub number: u64,
    /// Lamport time: greater than that of every event its ledger had seen.
    pub lamport: u64,
    /// Hash over everything the recording ledger said, chained per replica.
    pub replica_hash: String,
    /// The event this one follows from, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Id<Event>>,
    /// False when its precondition did not hold at its place; it is then kept without effect.
    pub effective: bool,
    /// Why it has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not_effective: Option<String>,
}

impl IdKind for Event {
    const PREFIX: &'static str = "evt";
    const NOUN: &'static str = "event";
}

/// What a replica's chain link covers, exactly as stored. See docs/ledger.md for a verifier.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// Replica hash of the replica's event before; empty for its first.
    pub prev_replica_hash: &'a [u8],
    /// The recording replica.
    pub replica: Id<Replica>,
    /// Place in the replica's chain.
    pub number: u64,
    /// Lamport time.
    pub lamport: u64,
    /// The event's identifier.
    pub event_id: Id<Event>,
    /// Event type.
    pub event_type: &'a str,
    /// Version of the payload's shape.
    pub version: u32,
    /// Entity type.
    pub entity_type: &'a str,
    /// Entity identifier.
    pub entity_id: &'a str,
    /// Acting agent; empty when there is none.
    pub agent_id: &'a str,
    /// The event this one follows from; empty when there is none.
    pub cause: &'a [u8],
    /// When it happened.
    pub created_at: Timestamp,
    /// The part of the payload that may leave the machine.
    pub shared: &'a str,
    /// Digest of salt and local part; empty when there is no local part.
    pub local_hash: &'a [u8],
}

impl Link<'_> {
    /// The hash that binds this event to everything its replica said before.
    #[must_use]
    pub fn replica_hash(&self) -> Digest {
        let decimal = |value: u64| value.to_string();
        Digest::of_fields(&[
            self.prev_replica_hash,
            self.replica.as_bytes(),
            decimal(self.number).as_bytes(),
            decimal(self.lamport).as_bytes(),
            self.event_id.as_bytes(),
            self.event_type.as_bytes(),
            self.version.to_string().as_bytes(),
            self.entity_type.as_bytes(),
            self.entity_id.as_bytes(),
            self.agent_id.as_bytes(),
            self.cause,
            self.created_at.as_millis().to_string().as_bytes(),
            Digest::of(self.shared.as_bytes()).as_bytes(),
            self.local_hash,
        ])
    }
}

/// The hash that binds an event to its place in this ledger; `prev_hash` is empty for the first.
#[must_use]
pub fn event_hash(prev_hash: &[u8], seq: u64, replica_hash: &Digest) -> Digest {
    Digest::of_fields(&[prev_hash, seq.to_string().as_bytes(), replica_hash.as_bytes()])
}

/// The digest a chain keeps of a local part, so that the part itself can be forgotten.
#[must_use]
pub fn local_hash(salt: &[u8], local: &str) -> Digest {
    Digest::of_fields(&[salt, local.as_bytes()])
}
