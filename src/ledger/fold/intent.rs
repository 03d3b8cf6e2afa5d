//! The aggregate of one intent, with its claims and ChangeSets.

use rusqlite::{Connection, OptionalExtension};

use super::super::error::Error;
use super::super::execute;
use super::{Effect, Folded, Kind, entity, scope};
use crate::domain::fact::IntentPublished;
use crate::domain::transition::{Act, after};
use crate::domain::{Agent, Id, IntentStatus};

pub(super) fn clear(connection: &Connection, intent: i64) -> Result<(), Error> {
    execute(
        connection,
        "DELETE FROM active_scope WHERE intent = ?1 AND scope IN (SELECT scope FROM intent_scope WHERE intent = ?1)",
        [intent],
    )?;
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
    for (place, declared) in fact.scopes.iter().enumerate() {
        let scope = scope(connection, declared.kind, &declared.full)?;
        let new = execute(
            connection,
            "INSERT INTO intent_scope (intent, scope, place, operation, inferred, key) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (intent, scope) DO NOTHING",
            (intent, scope, place, declared.operation, declared.inferred, &declared.key),
        )?;
        if new == 1 && status.is_active() {
            execute(
                connection,
                "INSERT INTO active_scope (scope, intent, agent) VALUES (?1, ?2, ?3)",
                (scope, intent, agent),
            )?;
        }
    }
    Ok(Effect::Applied)
}

fn status(connection: &Connection, intent: i64) -> Result<Option<IntentStatus>, Error> {
    let mut find = connection.prepare_cached("SELECT status FROM intent WHERE id = ?1")?;
    Ok(find.query_row([intent], |row| row.get(0)).optional()?)
}
