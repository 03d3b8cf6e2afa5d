//! The overview.

use super::super::error::Error;
use super::Snapshot;
use crate::domain::{Agent, Conflict, Id, Intent, IntentStatus, Scope, Timestamp};

/// Active intents of one lifecycle status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouped {
    /// The status.
    pub status: IntentStatus,
    /// How many there are.
    pub count: u64,
    /// The oldest of them.
    pub intents: Vec<StatusIntent>,
}

/// An intent in the overview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusIntent {
    /// The intent.
    pub id: Id<Intent>,
    /// Its number in this file.
    pub row: i64,
    /// Its owner.
    pub agent: Id<Agent>,
    /// The owner's number in this file.
    pub agent_row: i64,
    /// The owner's name.
    pub agent_name: String,
    /// What it will do.
    pub summary: String,
    /// When it was published.
    pub created_at: Timestamp,
}

/// An unsettled conflict in the overview.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusConflict {
    /// The conflict.
    pub conflict: Conflict,
    /// The source's side.
    pub source: StatusSide,
    /// The target's side.
    pub target: StatusSide,
}

/// A party to a conflict in the overview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusSide {
    /// Name of the agent.
    pub agent_name: String,
    /// The intent's first scopes as declared.
    pub scopes: Vec<Scope>,
    /// How many it has.
    pub scope_count: u64,
}

impl Snapshot<'_> {
    /// Active intents by status, oldest first, at most `limit` of each status; counts are whole.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn active_intents(&self, limit: u32) -> Result<Vec<Grouped>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT self.uid, owner.uid, coalesce(agent.name, ''), summary, created_at, intent.id, intent.agent
             FROM intent JOIN aggregate self USING (id) JOIN aggregate owner ON owner.id = intent.agent
             LEFT JOIN agent ON agent.id = intent.agent
             WHERE intent.status = ?1 ORDER BY created_at, self.uid LIMIT ?2",
        )?;
        let mut groups = Vec::new();
        for status in IntentStatus::ALL.iter().copied().filter(|status| status.is_active()) {
            let count = self.count("SELECT count(*) FROM intent WHERE status = ?1", [status])?;
            if count == 0 {
                continue;
            }
            let intents = find.query_map((status, limit), |row| {
                Ok(StatusIntent {
                    id: row.get(0)?,
                    agent: row.get(1)?,
                    agent_name: row.get(2)?,
                    summary: row.get(3)?,
                    created_at: row.get(4)?,
                    row: row.get(5)?,
                    agent_row: row.get(6)?,
                })
            })?;
            groups.push(Grouped { status, count, intents: intents.collect::<Result<_, _>>()? });
        }
        Ok(groups)
    }

    /// The first scopes of an intent as declared.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn declared_scopes(&self, intent: Id<Intent>, limit: u32) -> Result<Vec<Scope>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT scope.kind, key FROM aggregate self JOIN intent_scope ON intent = self.id JOIN scope ON scope.id = scope
             WHERE self.kind = 2 AND self.uid = ?1 ORDER BY place LIMIT ?2",
        )?;
        let found =
            find.query_map((intent, limit), |row| Ok(Scope { kind: row.get(0)?, key: row.get(1)? }))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// How many scopes an intent has.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn scope_count(&self, intent: Id<Intent>) -> Result<u64, Error> {
        self.count(
            "SELECT count(*) FROM aggregate self JOIN intent_scope ON intent = self.id
             WHERE self.kind = 2 AND self.uid = ?1",
            [intent],
        )
    }
}
