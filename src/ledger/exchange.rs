//! Events from and for other ledgers of the same work.
//!
//! Each replica's events travel in their own order; between replicas any order and any
//! repetition leads to the same state. Only the shared part of an event travels. Nothing in the
//! product carries events yet: this is the door sharing will use, and tests use it to hold the
//! folds to their promise.

use rusqlite::OptionalExtension;

use super::chain::{self, Entry, ReplicaHead};
use super::error::Error;
use super::{Snapshot, Transaction, fold};
use crate::domain::event::Replica;
use crate::domain::{Digest, Event, Id, Timestamp};

/// An event on its way: what its replica said, without what must not leave the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The recording replica.
    pub replica: Id<Replica>,
    /// Place in that replica's chain, from 1.
    pub number: u64,
    /// Lamport time.
    pub lamport: u64,
    /// The event's identifier.
    pub event_id: Id<Event>,
    /// Event type.
    pub event_type: String,
    /// Version of the payload's shape.
    pub version: u32,
    /// Entity type.
    pub entity_type: String,
    /// Entity identifier.
    pub entity_id: String,
    /// Acting agent.
    pub agent_id: Option<String>,
    /// The event this one follows from.
    pub cause: Option<Id<Event>>,
    /// When it happened.
    pub created_at: Timestamp,
    /// The part of the payload that may leave the machine, byte for byte.
    pub shared: String,
    /// Digest of salt and local part.
    pub local_hash: Option<Digest>,
    /// The replica's chain up to and including this event.
    pub replica_hash: Digest,
}

/// What became of a carried event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admitted {
    /// It is part of the history now.
    Appended,
    /// It was here already.
    Known,
}

/// How far ahead of everything known a Lamport time may be. It stops one bad event from using
/// up all times there are.
const FARTHEST_LEAP: u64 = 1 << 32;

impl Snapshot<'_> {
    /// The replicas whose events are here, with the number of the last one.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn replicas(&self) -> Result<Vec<(Id<Replica>, u64)>, Error> {
        let mut all =
            self.connection().prepare_cached("SELECT uid, last_number FROM replica ORDER BY uid")?;
        Ok(all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
    }

    /// Events of one replica after `number`, at most `limit`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn carry(&self, replica: Id<Replica>, number: u64, limit: u32) -> Result<Vec<Carried>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT number, lamport, event_id, event_type, version, entity_type, entity_id, agent_id, cause, created_at,
                    shared, local_hash, replica_hash
             FROM event WHERE replica = (SELECT id FROM replica WHERE uid = ?1) AND number > ?2
             ORDER BY number LIMIT ?3",
        )?;
        let found = find.query_map((replica, number, limit), |row| {
            Ok(Carried {
                replica,
                number: row.get(0)?,
                lamport: row.get(1)?,
                event_id: row.get(2)?,
                event_type: row.get(3)?,
                version: row.get(4)?,
                entity_type: row.get(5)?,
                entity_id: row.get(6)?,
                agent_id: row.get(7)?,
                cause: row.get(8)?,
                created_at: row.get(9)?,
                shared: row.get(10)?,
                local_hash: row.get(11)?,
                replica_hash: row.get(12)?,
            })
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

impl Transaction<'_> {
    /// Takes an event of another replica into the history.
    ///
    /// # Errors
    /// [`Error::Refused`] for one that was tampered with, forks its replica's chain or comes
    /// before one it builds on; nothing is then changed.
    pub fn admit(&mut self, event: &Carried) -> Result<Admitted, Error> {
        let refuse = |why: &str| {
            let replica = event.replica.to_string();
            Err(Error::Refused { replica, number: event.number, why: why.to_owned() })
        };
        let connection = self.connection();
        let known = chain::replica(connection, event.replica)?;
        let (number, lamport) = known.as_ref().map_or((0, 0), |known| (known.number, known.lamport));
        if let Some(known) = &known {
            if event.number <= number {
                return match self.hash_of(known.row, event.number)? {
                    Some(hash) if hash == event.replica_hash => Ok(Admitted::Known),
                    _ => refuse("another event has this number: the chain is forked"),
                };
            }
            if known.row == self.ends.own.row {
                return refuse("it claims to come from this ledger, which never recorded it");
            }
        }
        if event.number != number + 1 {
            return refuse("the events before it are missing");
        }
        if event.lamport <= lamport {
            return refuse("its time is not after that of the event before");
        }
        if event.lamport > FARTHEST_LEAP + chain::lamport(connection)? {
            return refuse("its time is too far ahead");
        }
        if event.agent_id.as_deref() == Some("") {
            return refuse("its agent is empty: an event without one names none");
        }
        let entry = Entry {
            event_id: event.event_id,
            event_type: event.event_type.clone(),
            version: event.version,
            entity_type: event.entity_type.clone(),
            entity_id: event.entity_id.clone(),
            agent_id: event.agent_id.clone(),
            cause: event.cause,
            created_at: event.created_at,
            shared: event.shared.clone(),
            local_hash: event.local_hash,
        };
        if self.has_event(event.event_id)? {
            return refuse("another replica has an event with this id");
        }
        let mut speaker = known.unwrap_or_else(|| ReplicaHead::new(event.replica));
        let head = &mut self.ends.head;
        chain::append(connection, &entry, event.lamport, &mut speaker, head, Some(event.replica_hash))?;
        fold::settle(connection, head.seq)?;
        Ok(Admitted::Appended)
    }

    fn hash_of(&self, replica: i64, number: u64) -> Result<Option<Digest>, Error> {
        let mut find = self
            .connection()
            .prepare_cached("SELECT replica_hash FROM event WHERE replica = ?1 AND number = ?2")?;
        Ok(find.query_row((replica, number), |row| row.get(0)).optional()?)
    }

    fn has_event(&self, event: Id<Event>) -> Result<bool, Error> {
        let mut find = self.connection().prepare_cached("SELECT 1 FROM event WHERE event_id = ?1")?;
        Ok(find.query_row([event], |_| Ok(())).optional()?.is_some())
    }
}
