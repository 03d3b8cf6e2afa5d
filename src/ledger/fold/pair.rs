//! The aggregate of one pair of intents, with its conflicts.

use rusqlite::Connection;

use super::super::blocks::{self, head};
use super::super::error::Error;
use super::super::execute;
use super::super::read::identity::of_pair;
use super::{Aggregate, Effect, Folded, Kind, entity};
use crate::domain::fact::{
    ConflictDetected, ConflictDismissed, ConflictResolved, CoordinationSent, Fact, Sighting,
};
use crate::domain::{Agent, Conflict, ConflictStatus, Id, Intent};

const NO_INTENT: Effect = Effect::Ignored("it names no intent");

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
    let close = Close { status: ConflictStatus::Dismissed, settled: fact.reason.is_final(), decision: None };
    close.unsettled(connection, pair.id, &gone.copied().collect::<Vec<_>>())?;
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
    let close = Close { status: ConflictStatus::Resolved, settled: true, decision: Some(decision) };
    if close.unsettled(connection, pair, &fact.conflicts)? == 0 {
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
    let about = fact.about.map(|about| about.conflict_id);
    for (conflict, (rule, low_scope, high_scope)) in of_pair(connection, pair)? {
        if Some(conflict) == about {
            execute(
                connection,
                "UPDATE conflict SET status = ?5 WHERE pair = ?1 AND rule = ?2 AND low_scope = ?3 AND high_scope = ?4
                     AND status = ?6",
                (pair, rule, low_scope, high_scope, ConflictStatus::Coordinating, ConflictStatus::Open),
            )?;
        }
    }
    Ok(Effect::Applied)
}

/// How unsettled conflicts of a pair end.
struct Close {
    status: ConflictStatus,
    /// Whether for good.
    settled: bool,
    decision: Option<i64>,
}

impl Close {
    /// Closes those of `named` that are not settled yet. Returns how many.
    fn unsettled(&self, connection: &Connection, pair: i64, named: &[Id<Conflict>]) -> Result<usize, Error> {
        let mut closed = 0;
        for (conflict, (rule, low_scope, high_scope)) in of_pair(connection, pair)? {
            if named.contains(&conflict) {
                closed += execute(
                    connection,
                    "UPDATE conflict SET status = ?5, settled = CASE WHEN ?6 THEN severity END, decision = ?7
                     WHERE pair = ?1 AND rule = ?2 AND low_scope = ?3 AND high_scope = ?4 AND status IN (?8, ?9)",
                    (
                        pair,
                        rule,
                        low_scope,
                        high_scope,
                        self.status,
                        self.settled,
                        self.decision,
                        ConflictStatus::Open,
                        ConflictStatus::Coordinating,
                    ),
                )?;
            }
        }
        Ok(closed)
    }
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

/// First sight opens a conflict; a later one brings severity, score and operations up to date, and
/// opens it again unless it was settled at this severity or a higher one.
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
             status = CASE WHEN status IN (?15, ?16) THEN status
                           WHEN excluded.severity <= settled THEN status ELSE excluded.status END,
             decision = CASE WHEN excluded.severity <= settled THEN decision END,
             settled = CASE WHEN excluded.severity <= settled THEN settled END",
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
            ConflictStatus::Open,
            ConflictStatus::Coordinating,
        ],
    )?;
    if event.is_listed(connection, pair)? {
        blocks::list(connection, identity, pair)?;
    }
    Ok(())
}
