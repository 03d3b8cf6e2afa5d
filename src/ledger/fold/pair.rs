//! The aggregate of one pair of intents, with its conflicts.

use rusqlite::Connection;

use super::super::error::Error;
use super::super::execute;
use super::{Effect, Folded, Kind, entity, scope};
use crate::domain::fact::{
    ConflictDetected, ConflictDismissed, ConflictResolved, CoordinationSent, Counterparts, Fact, Sighting,
};
use crate::domain::{Agent, ConflictStatus, Id, Intent};

/// The other intents an event is about.
pub(super) fn counterparts(fact: &Fact) -> Vec<Id<Intent>> {
    match fact {
        Fact::ConflictDetected(fact) | Fact::ConflictRedetected(fact) => {
            fact.pairs.iter().map(|pair| pair.with).collect()
        }
        Fact::ConflictDismissed(fact) => fact.pairs.iter().map(|(with, _)| *with).collect(),
        Fact::FindingsOwed(fact) | Fact::FindingsSettled(fact) => fact.with.clone(),
        _ => Vec::new(),
    }
}

pub(super) fn clear(connection: &Connection, pair: i64) -> Result<(), Error> {
    execute(connection, "DELETE FROM owed WHERE pair = ?1", [pair])?;
    execute(connection, "DELETE FROM decision WHERE pair = ?1", [pair])?;
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
    let sides = sides(connection, pair)?;
    for counterpart in &fact.pairs {
        if (acting.min(counterpart.with), acting.max(counterpart.with)) == sides {
            for sighting in &counterpart.found {
                see(connection, pair, event, fact, acting, counterpart.with, sighting)?;
            }
        }
    }
    Ok(Effect::Applied)
}

/// What no longer holds is dismissed, unless somebody settled it.
pub(super) fn dismissed(
    connection: &Connection,
    pair: i64,
    event: &Folded,
    fact: &ConflictDismissed,
) -> Result<Effect, Error> {
    let Some(acting) = Id::<Intent>::exact(&event.entity_id) else {
        return Ok(Effect::Ignored("it names no intent"));
    };
    let sides = sides(connection, pair)?;
    for (with, conflicts) in &fact.pairs {
        if (acting.min(*with), acting.max(*with)) == sides {
            for conflict in conflicts {
                execute(
                    connection,
                    "UPDATE conflict SET status = ?3, settled = CASE WHEN ?6 THEN severity END
                     WHERE uid = ?2 AND pair = ?1 AND status IN (?4, ?5)",
                    (
                        pair,
                        conflict,
                        ConflictStatus::Dismissed,
                        ConflictStatus::Open,
                        ConflictStatus::Coordinating,
                        fact.reason.is_final(),
                    ),
                )?;
            }
        }
    }
    Ok(Effect::Applied)
}

/// The parties agreed: every conflict they named that is not settled yet shares the decision.
pub(super) fn resolved(
    connection: &Connection,
    pair: i64,
    event: &Folded,
    fact: &ConflictResolved,
) -> Result<Effect, Error> {
    let Some(agent) = event.agent_id.as_deref().and_then(Id::<Agent>::exact) else {
        return Ok(Effect::Ignored("it names no agent"));
    };
    execute(
        connection,
        "INSERT INTO decision (uid, pair, agent, title, rationale, decided_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (
            fact.decision_id,
            pair,
            entity(connection, Kind::Agent, agent)?,
            &fact.resolution,
            &fact.rationale,
            event.created_at,
        ),
    )?;
    let decision = connection.last_insert_rowid();
    let mut settled = 0;
    for conflict in &fact.conflicts {
        settled += execute(
            connection,
            "UPDATE conflict SET status = ?3, settled = severity, decision = ?4
             WHERE uid = ?2 AND pair = ?1 AND status IN (?5, ?6)",
            (
                pair,
                conflict,
                ConflictStatus::Resolved,
                decision,
                ConflictStatus::Open,
                ConflictStatus::Coordinating,
            ),
        )?;
    }
    if settled == 0 {
        execute(connection, "DELETE FROM decision WHERE id = ?1", [decision])?;
        return Ok(Effect::Ignored("nothing it names was still open"));
    }
    Ok(Effect::Applied)
}

/// A message is about a conflict.
pub(super) fn talked_about(
    connection: &Connection,
    pair: i64,
    fact: &CoordinationSent,
) -> Result<Effect, Error> {
    execute(
        connection,
        "UPDATE conflict SET status = ?3 WHERE uid = ?2 AND pair = ?1 AND status = ?4",
        (pair, fact.about.map(|about| about.conflict_id), ConflictStatus::Coordinating, ConflictStatus::Open),
    )?;
    Ok(Effect::Applied)
}

/// The owner of the other intent was silent: what was found with it waits for their return.
pub(super) fn owed(
    connection: &Connection,
    pair: i64,
    event: &Folded,
    fact: &Counterparts,
) -> Result<Effect, Error> {
    let Some(acting) = Id::<Intent>::exact(&event.entity_id) else {
        return Ok(Effect::Ignored("it names no intent"));
    };
    let sides = sides(connection, pair)?;
    for with in &fact.with {
        if (acting.min(*with), acting.max(*with)) == sides {
            let debtor = entity(connection, Kind::Intent, *with)?;
            execute(
                connection,
                "INSERT INTO owed (pair, debtor) VALUES (?1, ?2) ON CONFLICT (pair, debtor) DO NOTHING",
                (pair, debtor),
            )?;
        }
    }
    Ok(Effect::Applied)
}

/// The owner of the acting intent is back and looked.
pub(super) fn settled(connection: &Connection, pair: i64, event: &Folded) -> Result<Effect, Error> {
    let Some(acting) = Id::<Intent>::exact(&event.entity_id) else {
        return Ok(Effect::Ignored("it names no intent"));
    };
    let debtor = entity(connection, Kind::Intent, acting)?;
    execute(connection, "DELETE FROM owed WHERE pair = ?1 AND debtor = ?2", (pair, debtor))?;
    Ok(Effect::Applied)
}

/// The two intents of a pair, the smaller id first.
fn sides(connection: &Connection, pair: i64) -> Result<(Id<Intent>, Id<Intent>), Error> {
    let mut find = connection.prepare_cached(
        "SELECT low.uid, high.uid FROM aggregate pair JOIN aggregate low ON low.id = pair.low
         JOIN aggregate high ON high.id = pair.high WHERE pair.id = ?1",
    )?;
    Ok(find.query_row([pair], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// First sight opens a conflict; a later one brings severity, score and operations up to date, and
/// opens it again unless it was settled at this severity or a higher one.
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
    let side = |place: usize| scope(connection, fact.scopes[place].0, &fact.scopes[place].1);
    let mut scopes = (0, 0);
    if let Some(at) = sighting.at {
        scopes = (side(at.scopes.0)?, side(at.scopes.1)?);
    }
    let (my_operation, their_operation) = sighting.at.and_then(|at| at.operations).unzip();
    let mine = (scopes.0, my_operation, sighting.at.map(|at| at.inferred.0));
    let theirs = (scopes.1, their_operation, sighting.at.map(|at| at.inferred.1));
    let (low, high) = if acting < with { (mine, theirs) } else { (theirs, mine) };
    execute(
        connection,
        "INSERT INTO conflict (pair, rule, low_scope, high_scope, uid, tier, severity, score, low_operation,
                               high_operation, low_inferred, high_inferred, similarity, asserted, status, first_seq)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
         ON CONFLICT (pair, rule, low_scope, high_scope) DO UPDATE SET
             tier = excluded.tier, severity = excluded.severity, score = excluded.score,
             low_operation = excluded.low_operation, high_operation = excluded.high_operation,
             low_inferred = excluded.low_inferred, high_inferred = excluded.high_inferred,
             similarity = excluded.similarity, asserted = excluded.asserted,
             status = CASE WHEN status IN (?17, ?18) THEN status
                           WHEN excluded.severity <= settled THEN status ELSE excluded.status END,
             decision = CASE WHEN excluded.severity <= settled THEN decision END,
             settled = CASE WHEN excluded.severity <= settled THEN settled END",
        rusqlite::params![
            pair,
            sighting.rule,
            low.0,
            high.0,
            identity,
            sighting.at.map(|at| at.tier),
            sighting.severity,
            sighting.score,
            low.1,
            high.1,
            low.2,
            high.2,
            sighting.similarity,
            sighting.asserted,
            ConflictStatus::Open,
            event.seq,
            ConflictStatus::Open,
            ConflictStatus::Coordinating,
        ],
    )
    .map(drop)
}
