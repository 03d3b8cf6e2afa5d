//! The order of all replicas, and whether a cause holds.

use rusqlite::{Connection, OptionalExtension};

use super::super::error::Error;
use super::super::execute;
use super::{Aggregate, Effect, Folded, Kind};
use crate::domain::Id;
use crate::domain::event::Replica;

/// (lamport, replica, number): where an event stands in every ledger.
type Place = (u64, Id<Replica>, u64);

pub(super) fn place(connection: &Connection, seq: u64) -> Result<Place, Error> {
    let mut find = connection.prepare_cached(
        "SELECT event.lamport, replica.uid, event.number FROM event JOIN replica ON replica.id = event.replica
         WHERE event.seq = ?1",
    )?;
    Ok(find.query_row([seq], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?)
}

/// Whether an event comes after every other one that is here, and so is last wherever it happens. A
/// ledger's own new events do.
pub(super) fn is_newest(connection: &Connection, event: &Folded) -> Result<bool, Error> {
    let mut later = connection.prepare_cached(
        "SELECT count(*) FROM replica WHERE last_lamport > ?1 OR last_lamport = ?1 AND id <> ?2",
    )?;
    Ok(later.query_row((event.lamport, event.replica), |row| row.get::<_, u64>(0))? == 0)
}

/// Enters event `seq` among those of an aggregate.
pub(super) fn enter(connection: &Connection, aggregate: &Aggregate, seq: u64) -> Result<(), Error> {
    let sql = match aggregate.kind {
        Kind::Agent | Kind::Intent | Kind::Message => {
            "INSERT INTO event_aggregate (aggregate, seq) VALUES (?1, ?2)"
        }
        Kind::Pair => "INSERT INTO event_pair (pair, seq) VALUES (?1, ?2)",
    };
    execute(connection, sql, (aggregate.id, seq)).map(drop)
}

/// Whether event `seq` comes after all others of its aggregate.
pub(super) fn is_last(connection: &Connection, aggregate: &Aggregate, seq: u64) -> Result<bool, Error> {
    Ok(events(connection, aggregate)?.last() == Some(&seq))
}

/// The events of an aggregate, in that order.
pub(super) fn events(connection: &Connection, aggregate: &Aggregate) -> Result<Vec<u64>, Error> {
    let sql = match aggregate.kind {
        Kind::Agent | Kind::Intent | Kind::Message => {
            "SELECT event.seq FROM event_aggregate JOIN event USING (seq) JOIN replica ON replica.id = event.replica
             WHERE aggregate = ?1 ORDER BY event.lamport, replica.uid, event.number"
        }
        Kind::Pair => {
            "SELECT event.seq FROM event_pair JOIN event USING (seq) JOIN replica ON replica.id = event.replica
             WHERE pair = ?1 ORDER BY event.lamport, replica.uid, event.number"
        }
    };
    let mut find = connection.prepare_cached(sql)?;
    let found = find.query_map([aggregate.id], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(found)
}

/// An event that names a cause follows it: into effect only if the cause is known, comes
/// before it, and took effect.
pub(super) fn fate_of_cause(connection: &Connection, event: &Folded) -> Result<Effect, Error> {
    let Some(cause) = event.cause else { return Ok(Effect::Applied) };
    let mut find = connection.prepare_cached(
        "SELECT event.seq, ineffective.seq IS NULL FROM event LEFT JOIN ineffective ON ineffective.seq = event.seq
         WHERE event.event_id = ?1",
    )?;
    let found: Option<(u64, bool)> =
        find.query_row([cause], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(match found {
        None => Effect::Ignored("its cause is not known here"),
        Some((cause, _)) if place(connection, cause)? >= place(connection, event.seq)? => {
            Effect::Ignored("its cause does not come before it")
        }
        Some((_, false)) => Effect::Ignored("its cause had no effect"),
        Some((_, true)) => Effect::Applied,
    })
}
