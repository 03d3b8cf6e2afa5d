//! Verifying the history: every hash, every link, and that nothing is missing at the end.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

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
    /// The replicas this ledger spoke as and their last numbers, once all events are verified.
    own: Vec<(Id<Replica>, u64)>,
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
    let mut chains = Chains { head: None, replicas: HashMap::new(), own: Vec::new() };
    let mut verified = 0;
    let fault = loop {
        if !go_on(verified) {
            return Err(Error::Cancelled);
        }
        match verify_page(connection, page.max(1), &mut verified, &mut chains) {
            Ok(true) => {}
            Ok(false) => break lost(&chains, mark, verified),
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
///
/// A mark that speaks of an earlier replica than the newest was overtaken by a crash right after a new one
/// was minted, and says nothing. One that speaks of a replica nobody knows was left by what is lost.
fn lost(chains: &Chains, mark: Option<Mark>, verified: u64) -> Option<Fault> {
    let mark = mark?;
    let known = chains.own.iter().position(|(id, _)| *id == mark.replica);
    if known.is_some_and(|place| place + 1 < chains.own.len()) {
        return None;
    }
    let present = known.map_or(0, |place| chains.own[place].1);
    (mark.number > present || mark.seq > verified).then(|| Fault {
        seq: verified + 1,
        why: format!("{} events were acknowledged here and {verified} are left", mark.seq),
    })
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

/// Verifies the next page in one moment of the ledger; false when there was none left, and then what the
/// ledger says about the ends of its chains is verified too.
fn verify_page(
    connection: &Connection,
    page: u32,
    verified: &mut u64,
    chains: &mut Chains,
) -> Result<bool, PageError> {
    let before = *verified;
    let moment = connection.unchecked_transaction()?;
    verify_events(&moment, page, verified, chains)?;
    if *verified == before {
        verify_ends(&moment, chains)?;
    }
    moment.finish()?;
    Ok(*verified > before)
}

/// Does everything beside the events end where they do? The next event would build on it.
fn verify_ends(connection: &Connection, chains: &mut Chains) -> Result<(), PageError> {
    let mut read = connection
        .prepare("SELECT id, uid, own, last_number, last_lamport, last_hash FROM replica ORDER BY id")?;
    let mut rows = read.query([])?;
    while let Some(row) = rows.next()? {
        let (replica, id, own): (i64, Id<Replica>, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let end: (u64, u64, Vec<u8>) = (row.get(3)?, row.get(4)?, row.get(5)?);
        let verified = chains.replicas.get(&replica);
        let (number, lamport, hash) =
            verified.map_or((0, 0, &[][..]), |speaker| (speaker.number, speaker.lamport, &speaker.hash));
        if (end.0, end.1, end.2.as_slice()) != (number, lamport, hash) {
            return Err(PageError::Fault(format!(
                "the end that is noted for {id} is not that of its events"
            )));
        }
        if own {
            chains.own.push((id, number));
        }
    }
    let outside = "SELECT EXISTS (SELECT 1 FROM event WHERE seq < 1)
        OR EXISTS (SELECT 1 FROM event_local WHERE seq < 1 OR seq > (SELECT coalesce(max(seq), 0) FROM event))";
    if connection.query_row(outside, [], |row| row.get(0))? {
        let why = "something is stored before the first or after the last event";
        return Err(PageError::Fault(why.to_owned()));
    }
    Ok(())
}

fn verify_events(
    connection: &Connection,
    page: u32,
    verified: &mut u64,
    chains: &mut Chains,
) -> Result<(), PageError> {
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
    Ok(())
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
            let mut find = connection.prepare_cached("SELECT uid FROM replica WHERE id = ?1")?;
            let Some(id) = find.query_row([replica], |row| row.get(0)).optional()? else {
                return fault("nobody knows which replica recorded it");
            };
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
