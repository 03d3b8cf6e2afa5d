//! Verifying the history: every hash, every link, and that nothing is missing at the end.

use std::collections::HashMap;

use rusqlite::Connection;

use super::error::Error;
use super::mark::Mark;
use super::{Ledger, open};
use crate::domain::event::{Link, Replica, event_hash, local_hash};
use crate::domain::{Digest, Event, Id};

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// Events that are as they were recorded, in one unbroken chain from the first.
    pub events_verified: u64,
    /// Hash of the last of them.
    pub head_hash: Option<Digest>,
    /// The first event that is not, and why.
    pub fault: Option<Fault>,
}

/// The first thing an audit found wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Sequence number of the first event that is wrong or missing.
    pub seq: u64,
    /// What is wrong.
    pub why: String,
}

struct Chains {
    head: Option<Digest>,
    replicas: HashMap<i64, Speaker>,
}

struct Speaker {
    id: Id<Replica>,
    number: u64,
    lamport: u64,
    hash: Vec<u8>,
}

/// Verifies the whole history in pages of `page` events, each a read of its own, on a connection
/// of its own. `go_on` hears how many events are verified and stops the audit by answering false.
///
/// # Errors
/// [`Error::Cancelled`], and whatever stops a read. What is wrong with the history is an answer.
pub fn audit(ledger: &Ledger, page: u32, mut go_on: impl FnMut(u64) -> bool) -> Result<Audit, Error> {
    let place = &ledger.shared.place;
    // Read first: every event it counts was committed before it was written.
    let mark = Mark::read(place);
    let reader = open::reader(place, ledger.shared.identity)?;
    let connection = reader.connection();
    let mut chains = Chains { head: None, replicas: HashMap::new() };
    let mut verified = 0;
    let fault = loop {
        if !go_on(verified) {
            return Err(Error::Cancelled);
        }
        let before = verified;
        match verify_page(connection, page.max(1), &mut verified, &mut chains, mark) {
            Ok(()) if verified == before => break None,
            Ok(()) => {}
            Err(PageError::Fault(why)) => break Some(Fault { seq: verified + 1, why }),
            Err(PageError::Sqlite(error)) => match Error::at(place.file(), &error) {
                Error::Corrupt { why, .. } => break Some(Fault { seq: verified + 1, why }),
                // SQLite did its part: what it read is nothing an event can hold.
                Error::Internal(why) if error.sqlite_error_code().is_none() => {
                    break Some(Fault { seq: verified + 1, why: format!("it cannot be read: {why}") });
                }
                error => return Err(error),
            },
        }
    };
    Ok(Audit { events_verified: verified, head_hash: chains.head, fault })
}

/// Is the end of the history still there? Its own chain cannot tell; the mark can.
fn truncated(
    connection: &Connection,
    chains: &Chains,
    mark: Option<Mark>,
    verified: u64,
) -> Result<(), PageError> {
    let Some(mark) = mark else { return Ok(()) };
    let present =
        chains.replicas.values().find(|speaker| speaker.id == mark.replica).map_or(0, |one| one.number);
    let newest_own: Option<Id<Replica>> = {
        let mut find = connection.prepare("SELECT uid FROM replica WHERE own ORDER BY id DESC LIMIT 1")?;
        find.query_map([], |row| row.get(0))?.next().transpose()?
    };
    if newest_own == Some(mark.replica) && (mark.number > present || mark.seq > verified) {
        let why = format!("{} events were acknowledged here and {verified} are left", mark.seq);
        return Err(PageError::Fault(why));
    }
    Ok(())
}

/// Does everything beside the events end where they do? The next event would build on it.
fn loose_ends(connection: &Connection, chains: &Chains) -> Result<(), PageError> {
    let mut ends = connection.prepare("SELECT id, uid, last_number, last_lamport, last_hash FROM replica")?;
    let mut rows = ends.query([])?;
    while let Some(row) = rows.next()? {
        let noted: (u64, u64, Vec<u8>) = (row.get(2)?, row.get(3)?, row.get(4)?);
        let speaker = chains.replicas.get(&row.get(0)?);
        if noted != speaker.map_or((0, 0, Vec::new()), |one| (one.number, one.lamport, one.hash.clone())) {
            let id: Id<Replica> = row.get(1)?;
            return Err(PageError::Fault(format!(
                "the end that is noted for {id} is not that of its events"
            )));
        }
    }
    let outside = "SELECT EXISTS (SELECT 1 FROM event WHERE seq < 1)
        OR EXISTS (SELECT 1 FROM event_local WHERE seq < 1 OR seq > (SELECT coalesce(max(seq), 0) FROM event))";
    if connection.query_row(outside, [], |row| row.get(0))? {
        return Err(PageError::Fault(
            "something is stored before the first or after the last event".to_owned(),
        ));
    }
    Ok(())
}

enum PageError {
    Fault(String),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for PageError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn verify_page(
    connection: &Connection,
    page: u32,
    verified: &mut u64,
    chains: &mut Chains,
    mark: Option<Mark>,
) -> Result<(), PageError> {
    let moment = connection.unchecked_transaction()?;
    let before = *verified;
    let mut read = connection.prepare_cached(
        "SELECT event.seq, replica, number, lamport, event_id, event_type, version, entity_type, entity_id,
                agent_id, cause, created_at, shared, local_hash,
                replica_hash, event_hash, salt, payload
         FROM event LEFT JOIN event_local USING (seq) WHERE event.seq > ?1 ORDER BY event.seq LIMIT ?2",
    )?;
    let mut rows = read.query((*verified, page))?;
    while let Some(row) = rows.next()? {
        let seq: u64 = row.get(0)?;
        if seq != *verified + 1 {
            return Err(PageError::Fault(format!("event {} is missing", *verified + 1)));
        }
        verify(connection, row, seq, chains)?;
        *verified = seq;
    }
    if *verified == before {
        truncated(connection, chains, mark, *verified)?;
        loose_ends(connection, chains)?;
    }
    drop(rows);
    Ok(moment.finish()?)
}

fn verify(
    connection: &Connection,
    row: &rusqlite::Row<'_>,
    seq: u64,
    chains: &mut Chains,
) -> Result<(), PageError> {
    let fault = |why: &str| Err(PageError::Fault(why.to_owned()));
    let text = |column: usize| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
    let blob = |column: usize| row.get_ref(column)?.as_blob().map_err(rusqlite::Error::from);
    let replica: i64 = row.get(1)?;
    let speaker = match chains.replicas.entry(replica) {
        std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
        std::collections::hash_map::Entry::Vacant(new) => {
            let id =
                connection.query_row("SELECT uid FROM replica WHERE id = ?1", [replica], |row| row.get(0))?;
            new.insert(Speaker { id, number: 0, lamport: 0, hash: Vec::new() })
        }
    };
    // What is absent is hashed as nothing: nothing must not be stored in its place.
    let cause: Option<Id<Event>> = row.get(10)?;
    let recorded_local_hash: Option<Digest> = row.get(13)?;
    let agent_id = row.get_ref(9)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    if agent_id == Some("") {
        return fault("its agent is empty");
    }
    let link = Link {
        prev_replica_hash: &speaker.hash,
        replica: speaker.id,
        number: row.get(2)?,
        lamport: row.get(3)?,
        event_id: row.get(4)?,
        event_type: text(5)?,
        version: row.get(6)?,
        entity_type: text(7)?,
        entity_id: text(8)?,
        agent_id: agent_id.unwrap_or_default(),
        cause: cause.as_ref().map_or(&[], |cause| cause.as_bytes().as_slice()),
        created_at: row.get(11)?,
        shared: text(12)?,
        local_hash: recorded_local_hash.as_ref().map_or(&[], |hash| hash.as_bytes().as_slice()),
    };
    if link.number != speaker.number + 1 {
        return fault("its number does not follow that of its replica's event before");
    }
    if link.lamport <= speaker.lamport {
        return fault("its time does not follow that of its replica's event before");
    }
    let computed = link.replica_hash();
    if blob(14)? != computed.as_bytes() {
        return fault("its replica hash does not fit its content and what came before");
    }
    let hash =
        event_hash(chains.head.as_ref().map_or(&[], |head| head.as_bytes().as_slice()), seq, &computed);
    if blob(15)? != hash.as_bytes() {
        return fault("its event hash does not fit its place in the history");
    }
    // A local part may have been forgotten; one that is there must be the one that was hashed.
    if let Some(payload) = row.get_ref(17)?.as_str_or_null().map_err(rusqlite::Error::from)?
        && link.local_hash != local_hash(blob(16)?, payload).as_bytes()
    {
        return fault("its local part is not the one that was recorded");
    }
    speaker.number = link.number;
    speaker.lamport = link.lamport;
    speaker.hash = computed.as_bytes().to_vec();
    chains.head = Some(hash);
    Ok(())
}
