//! The aggregate of one agent.

use rusqlite::Connection;

use super::super::error::Error;
use super::super::execute;
use super::{Effect, Folded};
use crate::domain::AgentStatus;
use crate::domain::fact::AgentRegistered;

pub(super) fn clear(connection: &Connection, agent: i64) -> Result<(), Error> {
    execute(connection, "DELETE FROM agent WHERE id = ?1", [agent]).map(drop)
}

pub(super) fn registered(
    connection: &Connection,
    agent: i64,
    event: &Folded,
    fact: &AgentRegistered,
) -> Result<Effect, Error> {
    let added = execute(
        connection,
        "INSERT INTO agent (id, name, model, capabilities, worktree, git_branch, git_head, status, registered_at, replica)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (id) DO NOTHING",
        rusqlite::params![
            agent,
            fact.name,
            fact.model,
            serde_json::to_string(&fact.capabilities)?,
            fact.worktree,
            fact.git_branch,
            fact.git_head,
            AgentStatus::Active,
            event.created_at,
            event.replica,
        ],
    )?;
    Ok(if added == 1 { Effect::Applied } else { Effect::Ignored("the agent is registered already") })
}

pub(super) fn retired(connection: &Connection, agent: i64) -> Result<Effect, Error> {
    let retired = execute(
        connection,
        "UPDATE agent SET status = ?3 WHERE id = ?1 AND status = ?2",
        (agent, AgentStatus::Active, AgentStatus::Retired),
    )?;
    Ok(if retired == 1 { Effect::Applied } else { Effect::Ignored("no such agent takes part any more") })
}
