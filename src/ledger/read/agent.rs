//! Agents, and when they were last heard of.

use std::time::Duration;

use rusqlite::{OptionalExtension, Row};

use super::super::error::Error;
use super::{Cursor, Page, Snapshot};
use crate::domain::{Agent, AgentStatus, Id, Intent, IntentStatus, Timestamp};

/// When an agent was last heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastSeen {
    /// The later of its presence and its newest event.
    pub at: Timestamp,
    /// Whether it belongs to this clone: only then does silence mean anything.
    pub local: bool,
}

impl LastSeen {
    /// Silence after which an agent counts as gone.
    pub const GONE_AFTER: Duration = Duration::from_secs(2 * 60 * 60);

    /// Whether the agent counts as gone at `now`.
    #[must_use]
    pub fn is_stale(self, now: Timestamp) -> bool {
        self.local && now.since(self.at) >= Self::GONE_AFTER
    }
}

const COLUMNS: &str =
    "aggregate.uid, name, model, capabilities, worktree, git_branch, git_head, status, registered_at";

fn agent(row: &Row<'_>) -> rusqlite::Result<Agent> {
    let capabilities: String = row.get(3)?;
    Ok(Agent {
        id: row.get(0)?,
        name: row.get(1)?,
        model: row.get(2)?,
        capabilities: serde_json::from_str(&capabilities).unwrap_or_default(),
        worktree: row.get(4)?,
        git_branch: row.get(5)?,
        git_head: row.get(6)?,
        status: row.get(7)?,
        registered_at: row.get(8)?,
    })
}

impl Snapshot<'_> {
    /// One agent.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn agent(&self, id: Id<Agent>) -> Result<Agent, Error> {
        let mut find = self.connection().prepare_cached(&format!(
            "SELECT {COLUMNS} FROM agent JOIN aggregate USING (id) WHERE kind = 1 AND uid = ?1"
        ))?;
        find.query_row([id], agent)
            .optional()?
            .ok_or_else(|| Error::NotFound { noun: "agent", reference: id.to_string() })
    }

    /// Agents, oldest first; retired ones only when `all`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn agents(&self, all: bool, after: Option<Cursor>, limit: u32) -> Result<Page<Agent>, Error> {
        let hidden = if all { None } else { Some(AgentStatus::Retired) };
        let total = self.count("SELECT count(*) FROM agent WHERE status IS NOT ?1", [hidden])?;
        let after = after.unwrap_or(Cursor { position: i64::MIN, tie: [0; 16] });
        let mut find = self.connection().prepare_cached(&format!(
            "SELECT {COLUMNS} FROM agent JOIN aggregate USING (id)
             WHERE status IS NOT ?1 AND (registered_at, uid) > (?2, ?3) ORDER BY registered_at, uid LIMIT ?4"
        ))?;
        let found = find.query_map((hidden, after.position, after.tie, limit + 1), |row| {
            let agent = agent(row)?;
            let cursor = Cursor { position: agent.registered_at.as_millis(), tie: *agent.id.as_bytes() };
            Ok((cursor, agent))
        })?;
        Ok(Page::cut(found.collect::<Result<_, _>>()?, limit, total))
    }

    /// Active intents of an agent, oldest first, at most `limit`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn open_work_of(&self, agent: Id<Agent>, limit: u32) -> Result<Vec<Id<Intent>>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT uid FROM intent JOIN aggregate USING (id)
             WHERE intent.agent = ?1 AND intent.status NOT IN (?2, ?3) ORDER BY created_at, uid LIMIT ?4",
        )?;
        let ended = (IntentStatus::Committed, IntentStatus::Discarded);
        let found = find.query_map((self.agent_row(agent)?, ended.0, ended.1, limit), |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Active agents of this name in this worktree, other than `except`, oldest first.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn namesakes(&self, name: &str, worktree: &str, except: Id<Agent>) -> Result<Vec<Id<Agent>>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT uid FROM agent JOIN aggregate USING (id)
             WHERE worktree = ?1 AND name = ?2 AND status = ?3 AND uid <> ?4 ORDER BY registered_at, uid",
        )?;
        let found = find.query_map((worktree, name, AgentStatus::Active, except), |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// When the agent was last heard of.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn last_seen(&self, agent: Id<Agent>) -> Result<LastSeen, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT max(coalesce((SELECT last_seen FROM presence WHERE presence.agent = agent.id), registered_at),
                        coalesce((SELECT max(created_at) FROM event WHERE agent_id = ?2), registered_at)),
                    (SELECT own FROM replica WHERE replica.id = agent.replica)
             FROM agent JOIN aggregate USING (id) WHERE kind = 1 AND uid = ?1",
        )?;
        find.query_row((agent, agent.to_string()), |row| Ok(LastSeen { at: row.get(0)?, local: row.get(1)? }))
            .optional()?
            .ok_or_else(|| Error::NotFound { noun: "agent", reference: agent.to_string() })
    }

    /// When the agent with this number was last heard of; `None` for one that is not known.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn last_seen_row(&self, agent: i64) -> Result<Option<LastSeen>, Error> {
        let mut find = self
            .connection()
            .prepare_cached("SELECT uid FROM aggregate JOIN agent USING (id) WHERE id = ?1")?;
        let known: Option<Id<Agent>> = find.query_row([agent], |row| row.get(0)).optional()?;
        known.map(|known| self.last_seen(known)).transpose()
    }

    /// When the agent with this number was last noted to be there; its events may be newer.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn presence(&self, agent: i64) -> Result<Option<Timestamp>, Error> {
        let mut find = self.connection().prepare_cached("SELECT last_seen FROM presence WHERE agent = ?1")?;
        Ok(find.query_row([agent], |row| row.get(0)).optional()?)
    }

    pub(super) fn count(&self, sql: &str, values: impl rusqlite::Params) -> Result<u64, Error> {
        Ok(self.connection().prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
    }
}
