//! Appending to the history: two chains of hashes, and who is speaking.

use rusqlite::{Connection, OptionalExtension};

use super::error::Error;
use super::execute;
use super::mark::Mark;
use crate::domain::event::{Link, Replica, event_hash};
use crate::domain::{Digest, Event, Id, Timestamp};
use crate::world::World;

/// The end of the ledger's chain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub seq: u64,
    hash: Option<Digest>,
}

/// The end of one replica's chain.
#[derive(Debug, Clone)]
pub(super) struct ReplicaHead {
    /// Its number in the file; 0 for one that is not entered yet.
    pub row: i64,
    pub id: Id<Replica>,
    pub number: u64,
    pub lamport: u64,
    pub hash: Vec<u8>,
}

impl ReplicaHead {
    /// A replica that has said nothing yet and is entered with its first event.
    pub(super) fn new(id: Id<Replica>) -> Self {
        Self { row: 0, id, number: 0, lamport: 0, hash: Vec::new() }
    }
}

/// Everything about an event except its places in the chains.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub event_id: Id<Event>,
    pub event_type: String,
    pub version: u32,
    pub entity_type: String,
    pub entity_id: String,
    pub agent_id: Option<String>,
    pub cause: Option<Id<Event>>,
    pub created_at: Timestamp,
    pub shared: String,
    pub local_hash: Option<Digest>,
}

pub(super) fn head(connection: &Connection) -> Result<Head, Error> {
    let mut newest =
        connection.prepare_cached("SELECT seq, event_hash FROM event ORDER BY seq DESC LIMIT 1")?;
    let found =
        newest.query_row([], |row| Ok(Head { seq: row.get(0)?, hash: Some(row.get(1)?) })).optional()?;
    Ok(found.unwrap_or(Head { seq: 0, hash: None }))
}

/// The highest Lamport time any known event has.
pub(super) fn lamport(connection: &Connection) -> Result<u64, Error> {
    Ok(connection
        .prepare_cached("SELECT coalesce(max(last_lamport), 0) FROM replica")?
        .query_row([], |row| row.get(0))?)
}

pub(super) fn replica(connection: &Connection, id: Id<Replica>) -> Result<Option<ReplicaHead>, Error> {
    let mut find = connection
        .prepare_cached("SELECT id, uid, last_number, last_lamport, last_hash FROM replica WHERE uid = ?1")?;
    Ok(find.query_row([id], replica_head).optional()?)
}

fn replica_head(row: &rusqlite::Row<'_>) -> rusqlite::Result<ReplicaHead> {
    Ok(ReplicaHead {
        row: row.get(0)?,
        id: row.get(1)?,
        number: row.get(2)?,
        lamport: row.get(3)?,
        hash: row.get(4)?,
    })
}

/// Enters a replica that has said nothing yet.
pub(super) fn introduce(connection: &Connection, id: Id<Replica>, own: bool) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO replica (uid, own, last_number, last_lamport, last_hash) VALUES (?1, ?2, 0, 0, x'')",
        (id, own),
    )?;
    Ok(())
}

/// The replica this ledger speaks as, a new one where the old one may be speaking elsewhere.
///
/// That is so when the mark beside the ledger is missing, was written for another file (a copy),
/// or knows of more events than the ledger (a restored backup).
pub(super) fn own_replica(
    connection: &Connection,
    mark: Option<Mark>,
    inode: u64,
    world: &dyn World,
) -> Result<ReplicaHead, Error> {
    let newest = connection
        .prepare_cached(
            "SELECT id, uid, last_number, last_lamport, last_hash FROM replica WHERE own ORDER BY id DESC LIMIT 1",
        )?
        .query_row([], replica_head)
        .optional()?;
    if let (Some(newest), Some(mark)) = (&newest, mark)
        && mark.inode == inode
        && mark.replica == newest.id
        && mark.number <= newest.number
    {
        return Ok(newest.clone());
    }
    let minted: Id<Replica> = world.new_id()?;
    introduce(connection, minted, true)?;
    replica(connection, minted)?.ok_or_else(|| Error::Internal("a new replica is not there".to_owned()))
}

/// Appends `entry` as the replica's next event and moves both heads.
///
/// `promised` is the replica hash an event from elsewhere came with: another one is refused
/// before anything changes.
pub(super) fn append(
    connection: &Connection,
    entry: &Entry,
    lamport: u64,
    replica: &mut ReplicaHead,
    head: &mut Head,
    promised: Option<Digest>,
) -> Result<(), Error> {
    let number = replica.number + 1;
    let seq = head.seq + 1;
    let link = Link {
        prev_replica_hash: &replica.hash,
        replica: replica.id,
        number,
        lamport,
        event_id: entry.event_id,
        event_type: &entry.event_type,
        version: entry.version,
        entity_type: &entry.entity_type,
        entity_id: &entry.entity_id,
        agent_id: entry.agent_id.as_deref().unwrap_or_default(),
        cause: entry.cause.as_ref().map_or(&[], |cause| cause.as_bytes().as_slice()),
        created_at: entry.created_at,
        shared: &entry.shared,
        local_hash: entry.local_hash.as_ref().map_or(&[], |hash| hash.as_bytes().as_slice()),
    };
    let replica_hash = link.replica_hash();
    if promised.is_some_and(|promised| promised != replica_hash) {
        let why = "its hash does not fit its content and what came before".to_owned();
        return Err(Error::Refused { replica: replica.id.to_string(), number, why });
    }
    if replica.row == 0 {
        introduce(connection, replica.id, false)?;
        replica.row = connection.last_insert_rowid();
    }
    let hash =
        event_hash(head.hash.as_ref().map_or(&[], |hash| hash.as_bytes().as_slice()), seq, &replica_hash);
    execute(
        connection,
        "INSERT INTO event (seq, event_id, replica, number, lamport, event_type, version, entity_type, entity_id,
                            agent_id, cause, created_at, shared, local_hash, replica_hash, event_hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        rusqlite::params![
            seq,
            entry.event_id,
            replica.row,
            number,
            lamport,
            entry.event_type,
            entry.version,
            entry.entity_type,
            entry.entity_id,
            entry.agent_id,
            entry.cause,
            entry.created_at,
            entry.shared,
            entry.local_hash,
            replica_hash,
            hash
        ],
    )?;
    execute(
        connection,
        "UPDATE replica SET last_number = ?2, last_lamport = ?3, last_hash = ?4 WHERE id = ?1",
        (replica.row, number, lamport, replica_hash),
    )?;
    *head = Head { seq, hash: Some(hash) };
    replica.number = number;
    replica.lamport = lamport;
    replica.hash = replica_hash.as_bytes().to_vec();
    Ok(())
}
