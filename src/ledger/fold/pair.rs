//! The aggregate of one pair of intents, with its conflicts.

use rusqlite::Connection;

use super::super::error::Error;
use super::super::execute;
use super::super::read::identity::of_pair;
use super::super::sql::head;
use super::{Aggregate, Effect, Folded, Kind, entity};
use crate::domain::fact::{ConflictDetected, ConflictDismissed, Fact, Sighting};
use crate::domain::{ConflictStatus, Id, Intent};

const NO_INTENT: Effect = Effect::Ignored("it names no intent");

/// The other intents an event is about.
pub(super) fn counterparts(fact: &Fact) -> Vec<Id<Intent>> {
    match fact {
        Fact::ConflictDetected(fact) | Fact::ConflictRedetected(fact) => {
            fact.pairs.iter().map(|pair| pair.with).collect()
        }
        Fact::ConflictDismissed(fact) => fact.pairs.iter().map(|(with, _)| *with).collect(),
        Fact::FindingsOwed(fact) | Fact::FindingsSettled(fact) => fact.with.clone(),
        Fact::AgentRegistered(_) | Fact::IntentPublished(_) | Fact::IntentAmended(_) => Vec::new(),
    }
}

pub(super) fn clear(connection: &Connection, pair: i64) -> Result<(), Error> {
    execute(connection, "DELETE FROM owed WHERE pair = ?1", [pair])?;
    execute(connection, "DELETE FROM conflict WHERE pair = ?1", [pair]).map(drop)
}

pub(super) fn detected(
    connection: &Connection,
    pair: &Aggregate,
    event: &Folded,
    fact: &ConflictDetected,
) -> Result<Effect, Error> {
    let Some((acting, with)) = parties(pair, event) else { return Ok(NO_INTENT) };
    for counterpart in fact.pairs.iter().filter(|counterpart| counterpart.with == with) {
        for sighting in &counterpart.found {
            see(connection, pair.id, event, fact, (acting, with), sighting)?;
        }
    }
    Ok(Effect::Applied)
}

/// What no longer holds is dismissed, unless somebody settled it.
pub(super) fn dismissed(
    connection: &Connection,
    pair: &Aggregate,
    event: &Folded,
    fact: &ConflictDismissed,
) -> Result<Effect, Error> {
    let Some((_, with)) = parties(pair, event) else { return Ok(NO_INTENT) };
    let gone = fact.pairs.iter().filter(|(other, _)| *other == with).flat_map(|(_, gone)| gone);
    for (conflict, (rule, low_scope, high_scope)) in of_pair(connection, pair.id)? {
        if gone.clone().any(|gone| *gone == conflict) {
            execute(
                connection,
                "UPDATE conflict SET status = ?5 WHERE pair = ?1 AND rule = ?2 AND low_scope = ?3 AND high_scope = ?4
                     AND status IN (?6, ?7)",
                (
                    pair.id,
                    rule,
                    low_scope,
                    high_scope,
                    ConflictStatus::Dismissed,
                    ConflictStatus::Open,
                    ConflictStatus::Coordinating,
                ),
            )?;
        }
    }
    Ok(Effect::Applied)
}

/// The owner of the other intent was silent: what was found with it waits for their return.
pub(super) fn owed(connection: &Connection, pair: &Aggregate, event: &Folded) -> Result<Effect, Error> {
    let Some((_, with)) = parties(pair, event) else { return Ok(NO_INTENT) };
    let debtor = entity(connection, Kind::Intent, with)?;
    execute(
        connection,
        "INSERT INTO owed (pair, debtor) VALUES (?1, ?2) ON CONFLICT (pair, debtor) DO NOTHING",
        (pair.id, debtor),
    )?;
    Ok(Effect::Applied)
}

/// The owner of the acting intent is back and looked.
pub(super) fn settled(connection: &Connection, pair: &Aggregate, event: &Folded) -> Result<Effect, Error> {
    let Some((acting, _)) = parties(pair, event) else { return Ok(NO_INTENT) };
    let debtor = entity(connection, Kind::Intent, acting)?;
    execute(connection, "DELETE FROM owed WHERE pair = ?1 AND debtor = ?2", (pair.id, debtor))?;
    Ok(Effect::Applied)
}

/// The intent an event acts for, and the other one of the pair.
fn parties(pair: &Aggregate, event: &Folded) -> Option<(Id<Intent>, Id<Intent>)> {
    let (acting, (low, high)) = (event.intent?, pair.sides?);
    Some((acting, if acting == low { high } else { low }))
}

/// First sight opens a conflict; a later one brings severity, score and operations up to date and
/// opens it again if it was dismissed.
fn see(
    connection: &Connection,
    pair: i64,
    event: &Folded,
    fact: &ConflictDetected,
    (acting, with): (Id<Intent>, Id<Intent>),
    sighting: &Sighting,
) -> Result<(), Error> {
    // A finding that names a scope it does not list says nothing.
    let Some(identity) = fact.identity(acting, with, sighting) else { return Ok(()) };
    let mut scopes = (0, 0);
    if let Some(at) = sighting.at {
        let numbers = event.scopes(connection, &fact.scopes)?;
        scopes = (numbers[at.scopes.0], numbers[at.scopes.1]);
    }
    let (my_operation, their_operation) = sighting.at.and_then(|at| at.operations).unzip();
    let inferred = sighting.at.map_or((false, false), |at| at.inferred);
    let mine = (scopes.0, my_operation, inferred.0);
    let theirs = (scopes.1, their_operation, inferred.1);
    let (low, high) = if acting < with { (mine, theirs) } else { (theirs, mine) };
    let flags = u8::from(sighting.asserted) | u8::from(low.2) << 1 | u8::from(high.2) << 2;
    execute(
        connection,
        "INSERT INTO conflict (pair, rule, low_scope, high_scope, uid_head, tier, severity, score, low_operation,
                               high_operation, flags, similarity, status, first_seq)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (pair, rule, low_scope, high_scope) DO UPDATE SET
             tier = excluded.tier, severity = excluded.severity, score = excluded.score,
             low_operation = excluded.low_operation, high_operation = excluded.high_operation,
             flags = excluded.flags, similarity = excluded.similarity,
             status = CASE status WHEN ?15 THEN excluded.status ELSE status END",
        rusqlite::params![
            pair,
            sighting.rule,
            low.0,
            high.0,
            head(identity),
            sighting.at.map(|at| at.tier),
            sighting.severity,
            sighting.score,
            low.1,
            high.1,
            flags,
            sighting.similarity,
            ConflictStatus::Open,
            event.seq,
            ConflictStatus::Dismissed,
        ],
    )
    .map(drop)
}
