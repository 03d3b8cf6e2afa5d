//! Intents.

use rusqlite::OptionalExtension;

use super::super::error::Error;
use super::Snapshot;
use crate::domain::{Id, Intent, IntentStatus, ScopeClaim, ScopeKind};

/// Where an intent stands, for those that build on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its status.
    pub status: IntentStatus,
    /// The name of its owner, where the agent is known here.
    pub agent_name: Option<String>,
}

impl Snapshot<'_> {
    /// One intent.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn intent(&self, id: Id<Intent>) -> Result<Intent, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT intent.id, owner.uid, task_id, task, summary, rationale, depends_on, metadata, status, created_at,
                    updated_at
             FROM intent JOIN aggregate self USING (id) JOIN aggregate owner ON owner.id = agent
             WHERE self.kind = 2 AND self.uid = ?1",
        )?;
        let found = find
            .query_row([id], |row| {
                let (depends_on, metadata): (String, String) = (row.get(6)?, row.get(7)?);
                let intent = Intent {
                    id,
                    agent_id: row.get(1)?,
                    task_id: row.get(2)?,
                    task: row.get(3)?,
                    summary: row.get(4)?,
                    rationale: row.get(5)?,
                    scopes: Vec::new(),
                    depends_on: serde_json::from_str(&depends_on).unwrap_or_default(),
                    metadata: serde_json::from_str(&metadata).unwrap_or_default(),
                    status: row.get(8)?,
                    created_at: row.get(9)?,
                    updated_at: row.get(10)?,
                };
                Ok((row.get::<_, i64>(0)?, intent))
            })
            .optional()?;
        let (row, mut intent) =
            found.ok_or_else(|| Error::NotFound { noun: "intent", reference: id.to_string() })?;
        intent.scopes = self.scopes(row)?;
        Ok(intent)
    }

    /// Where an intent stands; `None` for one that is not known here.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn standing(&self, id: Id<Intent>) -> Result<Option<Standing>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT intent.status, agent.name FROM aggregate self JOIN intent USING (id)
             LEFT JOIN agent ON agent.id = intent.agent WHERE self.kind = 2 AND self.uid = ?1",
        )?;
        let read = |row: &rusqlite::Row<'_>| Ok(Standing { status: row.get(0)?, agent_name: row.get(1)? });
        Ok(find.query_row([id], read).optional()?)
    }

    fn scopes(&self, intent: i64) -> Result<Vec<ScopeClaim>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT kind, key, operation, inferred FROM intent_scope JOIN scope ON scope.id = scope
             WHERE intent = ?1 ORDER BY place",
        )?;
        let found = find.query_map([intent], |row| {
            Ok(ScopeClaim {
                kind: row.get(0)?,
                key: row.get(1)?,
                operation: row.get(2)?,
                inferred: row.get(3)?,
            })
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Whether any intent declares a scope of this full form.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn is_declared(&self, kind: ScopeKind, full: &str) -> Result<bool, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM scope JOIN intent_scope ON intent_scope.scope = scope.id
                            WHERE kind = ?1 AND full = ?2)",
        )?;
        Ok(find.query_row((kind, full), |row| row.get(0))?)
    }
}
