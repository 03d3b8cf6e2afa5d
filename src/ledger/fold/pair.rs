//! The aggregate of one pair of intents, with its conflicts.

use rusqlite::{Connection, OptionalExtension};

use super::super::error::Error;
use super::super::execute;
use super::{Effect, Folded, Kind, entity, scope};
use crate::domain::fact::{ConflictDetected, Sighting};
use crate::domain::{ConflictStatus, Id, Intent};

pub(super) fn clear(connection: &Connection, pair: i64) -> Result<(), Error> {
    execute(connection, "DELETE FROM conflict WHERE pair = ?1", [pair]).map(drop)
}

pub(super) fn detected(
    connection: &Connection,
    pair: i64,
    event: &Folded,
    fact: &ConflictDetected,
) -> Result<Effect, Error> {
    let Some(acting) = Id::<Intent>::exact(&event.entity_id) else {
        return Ok(Effect::Ignored("it names no intent"));
    };
    for counterpart in &fact.pairs {
        if belongs(connection, pair, acting, counterpart.with)? {
            for sighting in &counterpart.found {
                see(connection, pair, event, fact, acting, counterpart.with, sighting)?;
            }
        }
    }
    Ok(Effect::Applied)
}

/// Whether `pair` is the pair of these two intents.
fn belongs(connection: &Connection, pair: i64, acting: Id<Intent>, with: Id<Intent>) -> Result<bool, Error> {
    let low = entity(connection, Kind::Intent, acting.min(with))?;
    let high = entity(connection, Kind::Intent, acting.max(with))?;
    let mut find =
        connection.prepare_cached("SELECT 1 FROM aggregate WHERE id = ?1 AND low = ?2 AND high = ?3")?;
    Ok(find.query_row((pair, low, high), |_| Ok(())).optional()?.is_some())
}

/// First sight opens a conflict; a later one brings severity, score and operations up to date.
fn see(
    connection: &Connection,
    pair: i64,
    event: &Folded,
    fact: &ConflictDetected,
    acting: Id<Intent>,
    with: Id<Intent>,
    sighting: &Sighting,
) -> Result<(), Error> {
    // A finding that names a scope it does not list says nothing.
    let Some(identity) = fact.identity(acting, with, sighting) else { return Ok(()) };
    let side = |at: usize| scope(connection, fact.scopes[at].0, &fact.scopes[at].1);
    let (mine, theirs) = (side(sighting.scopes.0)?, side(sighting.scopes.1)?);
    let mine = (mine, sighting.operations.0, sighting.inferred.0);
    let theirs = (theirs, sighting.operations.1, sighting.inferred.1);
    let (low, high) = if acting < with { (mine, theirs) } else { (theirs, mine) };
    execute(
        connection,
        "INSERT INTO conflict (pair, rule, low_scope, high_scope, uid, tier, severity, score, low_operation,
                               high_operation, low_inferred, high_inferred, asserted, status, first_seq)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
         ON CONFLICT (pair, rule, low_scope, high_scope) DO UPDATE SET
             tier = excluded.tier, severity = excluded.severity, score = excluded.score,
             low_operation = excluded.low_operation, high_operation = excluded.high_operation,
             low_inferred = excluded.low_inferred, high_inferred = excluded.high_inferred,
             asserted = excluded.asserted",
        rusqlite::params![
            pair,
            sighting.rule,
            low.0,
            high.0,
            identity,
            sighting.tier,
            sighting.severity,
            sighting.score,
            low.1,
            high.1,
            low.2,
            high.2,
            sighting.asserted,
            ConflictStatus::Open,
            event.seq,
        ],
    )
    .map(drop)
}
