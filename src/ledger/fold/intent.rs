//! The aggregate of one intent, with its claims and ChangeSets.

use rusqlite::{Connection, OptionalExtension};

use super::super::error::Error;
use super::super::execute;
use super::{Effect, Folded, Kind, active, claim, entity, scope};
use crate::domain::fact::{IntentAmended, IntentPublished, PublishedScope};
use crate::domain::transition::{Act, Who, after, who};
use crate::domain::{Agent, Id, IntentStatus, Timestamp};

pub(super) fn clear(connection: &Connection, intent: i64) -> Result<(), Error> {
    active::leave(connection, intent)?;
    claim::clear(connection, intent)?;
    execute(connection, "DELETE FROM assessment WHERE intent = ?1", [intent])?;
    execute(connection, "DELETE FROM intent_dependency WHERE intent = ?1", [intent])?;
    execute(connection, "DELETE FROM intent_scope WHERE intent = ?1", [intent])?;
    execute(connection, "DELETE FROM intent WHERE id = ?1", [intent]).map(drop)
}

pub(super) fn published(
    connection: &Connection,
    intent: i64,
    event: &Folded,
    fact: &IntentPublished,
) -> Result<Effect, Error> {
    let Some(status) = after(Act::Publish, status(connection, intent)?) else {
        return Ok(Effect::Ignored("the intent is published already"));
    };
    let owner: Option<Id<Agent>> = event.agent_id.as_deref().and_then(Id::exact);
    let Some(owner) = owner else { return Ok(Effect::Ignored("it names no agent")) };
    let agent = entity(connection, Kind::Agent, owner)?;
    execute(
        connection,
        "INSERT INTO intent (id, agent, task_id, task, summary, rationale, depends_on, metadata, status, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10)",
        rusqlite::params![
            intent,
            agent,
            fact.task_id,
            fact.task,
            fact.summary,
            fact.rationale,
            serde_json::to_string(&fact.depends_on)?,
            serde_json::to_string(&fact.metadata)?,
            status,
            event.created_at,
        ],
    )?;
    for dependency in &fact.depends_on {
        let dependency = entity(connection, Kind::Intent, *dependency)?;
        execute(
            connection,
            "INSERT INTO intent_dependency (dependency, intent) VALUES (?1, ?2)
             ON CONFLICT (dependency, intent) DO NOTHING",
            (dependency, intent),
        )?;
    }
    touch(connection, (intent, agent), &fact.scopes, event.created_at)?;
    active::summary(connection, intent, &fact.summary)?;
    Ok(Effect::Applied)
}

pub(super) fn amended(
    connection: &Connection,
    intent: i64,
    event: &Folded,
    fact: &IntentAmended,
) -> Result<Effect, Error> {
    let state = match may(connection, intent, event, Act::Amend)? {
        Ok(state) => state,
        Err(why) => return Ok(Effect::Ignored(why)),
    };
    let mut find = connection.prepare_cached("SELECT summary, created_at FROM intent WHERE id = ?1")?;
    let (summary, published_at): (String, Timestamp) =
        find.query_row([intent], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let summary = fact.summary.as_ref().unwrap_or(&summary);
    execute(connection, "UPDATE intent SET summary = ?2 WHERE id = ?1", (intent, summary))?;
    changed(connection, intent, event)?;
    active::leave(connection, intent)?;
    execute(connection, "DELETE FROM intent_scope WHERE intent = ?1", [intent])?;
    touch(connection, (intent, state.agent), &fact.scopes, published_at)?;
    active::summary(connection, intent, summary)?;
    Ok(Effect::Applied)
}

/// An intent that something may happen to.
pub(super) struct State {
    /// Number of its owner.
    pub agent: i64,
    /// Its owner.
    pub owner: Id<Agent>,
    /// The state it will be in.
    pub after: IntentStatus,
}

/// Whether the event's agent may do this to the intent as it is, or why not.
pub(super) fn may(
    connection: &Connection,
    intent: i64,
    event: &Folded,
    act: Act,
) -> Result<Result<State, &'static str>, Error> {
    let mut find = connection.prepare_cached(
        "SELECT agent, uid, status FROM intent JOIN aggregate ON aggregate.id = agent WHERE intent.id = ?1",
    )?;
    let found: Option<(i64, Id<Agent>, IntentStatus)> =
        find.query_row([intent], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
    let Some((agent, owner, status)) = found else { return Ok(Err("the intent does not exist")) };
    let by_owner = event.agent_id.as_deref().and_then(Id::exact) == Some(owner);
    Ok(match (who(act), after(act, Some(status))) {
        (Who::Owner, _) if !by_owner => Err("it was not done by the owner of the intent"),
        (Who::Others, _) if by_owner => Err("the owner cannot do this to its own intent"),
        (_, None) => Err("the intent was in another state by then"),
        (_, Some(after)) => Ok(State { agent, owner, after }),
    })
}

/// Notes that something happened to the intent.
pub(super) fn changed(connection: &Connection, intent: i64, event: &Folded) -> Result<(), Error> {
    execute(
        connection,
        "UPDATE intent SET updated_at = max(updated_at, ?2) WHERE id = ?1",
        (intent, event.created_at),
    )
    .map(drop)
}

/// Enters what an active intent touches, where reads and other work find it.
fn touch(
    connection: &Connection,
    (intent, agent): (i64, i64),
    scopes: &[PublishedScope],
    published_at: Timestamp,
) -> Result<(), Error> {
    for (place, declared) in scopes.iter().enumerate() {
        let scope = scope(connection, declared.kind, &declared.full)?;
        let new = execute(
            connection,
            "INSERT INTO intent_scope (intent, scope, place, operation, inferred, key, alias)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (intent, scope) DO NOTHING",
            (intent, scope, place, declared.operation, declared.inferred, &declared.key, &declared.alias),
        )?;
        if new == 1 {
            active::scope(connection, (intent, agent, scope), declared, published_at)?;
        }
    }
    Ok(())
}

fn status(connection: &Connection, intent: i64) -> Result<Option<IntentStatus>, Error> {
    let mut find = connection.prepare_cached("SELECT status FROM intent WHERE id = ?1")?;
    Ok(find.query_row([intent], |row| row.get(0)).optional()?)
}
