//! What a write can do: record events, and say that an agent was heard of.

use std::ops::Deref;

use rusqlite::Connection;

use super::chain::{self, Entry, Head, ReplicaHead};
use super::error::Error;
use super::{Snapshot, execute, fold};
use crate::domain::event::local_hash;
use crate::domain::fact::Fact;
use crate::domain::{Agent, Event, Id, Timestamp};
use crate::world::{Point, World};

/// An event that is about to be recorded.
#[derive(Debug)]
pub struct Draft {
    /// Identifier of the entity it happened to, as text.
    pub entity: String,
    /// Who did it.
    pub agent: Id<Agent>,
    /// The event it follows from.
    pub cause: Option<Id<Event>>,
    /// What happened.
    pub fact: Fact,
}

/// An atomic write. Reads on it see what it has written.
pub struct Transaction<'t> {
    snapshot: Snapshot<'t>,
    connection: &'t Connection,
    world: &'t dyn World,
    now: Timestamp,
    /// Where both chains end; restored when the write is given up.
    pub(super) ends: Ends,
}

/// The ends of the chains inside a transaction.
#[derive(Debug, Clone)]
pub(super) struct Ends {
    pub head: Head,
    pub own: ReplicaHead,
}

impl<'t> Deref for Transaction<'t> {
    type Target = Snapshot<'t>;
    fn deref(&self) -> &Snapshot<'t> {
        &self.snapshot
    }
}

impl<'t> Transaction<'t> {
    pub(super) fn new(connection: &'t Connection, world: &'t dyn World, ends: Ends) -> Self {
        Self { snapshot: Snapshot::new(connection), connection, world, now: world.now(), ends }
    }

    pub(super) fn connection(&self) -> &'t Connection {
        self.connection
    }

    /// When this write happens.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// A new random identifier.
    ///
    /// # Errors
    /// When the operating system has no chance to give.
    pub fn new_id<K>(&self) -> Result<Id<K>, Error> {
        Ok(self.world.new_id()?)
    }

    /// Appends an event and folds it.
    ///
    /// # Errors
    /// Whatever stops a write; the transaction is then given up.
    pub fn record(&mut self, draft: Draft) -> Result<Id<Event>, Error> {
        let (event_type, version, entity_type) = draft.fact.heading();
        let local =
            draft.fact.local()?.map(|payload| Ok::<_, Error>((self.new_id::<()>()?, payload))).transpose()?;
        let entry = Entry {
            event_id: self.new_id()?,
            event_type: event_type.to_owned(),
            version,
            entity_type: entity_type.to_owned(),
            entity_id: draft.entity,
            agent_id: Some(draft.agent.to_string()),
            cause: draft.cause,
            created_at: self.now,
            shared: draft.fact.shared()?,
            local_hash: local.as_ref().map(|(salt, payload)| local_hash(salt.as_bytes(), payload)),
        };
        let lamport = chain::lamport(self.connection)? + 1;
        let Ends { head, own } = &mut self.ends;
        chain::append(self.connection, &entry, lamport, own, head, None)?;
        if let Some((salt, payload)) = local {
            execute(
                self.connection,
                "INSERT INTO event_local (seq, salt, payload) VALUES (?1, ?2, ?3)",
                (head.seq, salt, payload),
            )?;
        }
        fold::settle_new(self.connection, (head.seq, lamport, own.row), &entry, draft.fact)?;
        self.world.reached(Point::EventRecorded);
        Ok(entry.event_id)
    }

    /// Notes that `agent` acted or looked just now. Not history.
    ///
    /// # Errors
    /// Whatever stops a write.
    pub fn heard_from(&self, agent: Id<Agent>) -> Result<(), Error> {
        execute(
            self.connection,
            "INSERT INTO presence (agent, last_seen) SELECT id, ?2 FROM aggregate WHERE kind = 1 AND uid = ?1
             ON CONFLICT (agent) DO UPDATE SET last_seen = max(last_seen, excluded.last_seen)",
            (agent, self.now),
        )?;
        Ok(())
    }
}
