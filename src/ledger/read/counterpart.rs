//! Other agents' active intents, found by what they touch.

use rusqlite::OptionalExtension;

use super::super::error::Error;
use super::Snapshot;
use crate::detect::findings::SideScope;
use crate::domain::fact::PublishedScope;
use crate::domain::{Agent, Id, Intent, IntentStatus, Scope, Timestamp};

/// An active intent that other work is compared against.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterpart {
    /// The intent.
    pub intent: Id<Intent>,
    /// Its owner.
    pub agent: Id<Agent>,
    /// The owner's name.
    pub agent_name: String,
    /// The owner's worktree.
    pub worktree: Option<String>,
    /// Its task.
    pub task: String,
    /// What it will do.
    pub summary: String,
    /// Where it stands.
    pub status: IntentStatus,
    /// When it was published.
    pub published_at: Timestamp,
    /// Its scopes as they are compared.
    pub scopes: Vec<SideScope>,
    /// Its scopes as declared, in the same order.
    pub declared: Vec<Scope>,
}

impl Snapshot<'_> {
    /// Active intents of agents other than `agent` that share a full scope with `scopes`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn candidates(&self, agent: Id<Agent>, scopes: &[PublishedScope]) -> Result<Vec<Id<Intent>>, Error> {
        let mut find = self.connection().prepare_cached(Self::CANDIDATES)?;
        let mut found = std::collections::BTreeSet::new();
        for scope in scopes {
            for candidate in find.query_map((scope.kind, &scope.full, agent), |row| row.get(0))? {
                found.insert(candidate?);
            }
        }
        Ok(found.into_iter().collect())
    }

    #[doc(hidden)]
    pub const CANDIDATES: &'static str = "SELECT self.uid FROM scope
         JOIN active_scope ON active_scope.scope = scope.id JOIN aggregate self ON self.id = active_scope.intent
         JOIN aggregate owner ON owner.id = active_scope.agent
         WHERE scope.kind = ?1 AND scope.full = ?2 AND owner.uid <> ?3";

    /// Intents that something happened to after event `seq`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn intents_touched_since(&self, seq: u64) -> Result<Vec<Id<Intent>>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT DISTINCT entity_id FROM event WHERE seq > ?1 AND entity_type = 'Intent'",
        )?;
        let mut touched = Vec::new();
        for entity in find.query_map([seq], |row| row.get::<_, String>(0))? {
            touched.extend(Id::<Intent>::exact(&entity?));
        }
        Ok(touched)
    }

    /// The intent as a counterpart; `None` when it is not active (any more).
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn counterpart(&self, intent: Id<Intent>) -> Result<Option<Counterpart>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT intent.id, owner.uid, coalesce(agent.name, ''), agent.worktree, task, summary, intent.status, created_at
             FROM intent JOIN aggregate self USING (id) JOIN aggregate owner ON owner.id = intent.agent
             LEFT JOIN agent ON agent.id = intent.agent WHERE self.kind = 2 AND self.uid = ?1",
        )?;
        let found = find
            .query_row([intent], |row| {
                let counterpart = Counterpart {
                    intent,
                    agent: row.get(1)?,
                    agent_name: row.get(2)?,
                    worktree: row.get(3)?,
                    task: row.get(4)?,
                    summary: row.get(5)?,
                    status: row.get(6)?,
                    published_at: row.get(7)?,
                    scopes: Vec::new(),
                    declared: Vec::new(),
                };
                Ok((row.get::<_, i64>(0)?, counterpart))
            })
            .optional()?;
        let Some((row, mut counterpart)) = found.filter(|(_, counterpart)| counterpart.status.is_active())
        else {
            return Ok(None);
        };
        let mut scopes = self.connection().prepare_cached(
            "SELECT kind, full, operation, inferred, key FROM intent_scope JOIN scope ON scope.id = scope
             WHERE intent = ?1 ORDER BY place",
        )?;
        let mut rows = scopes.query([row])?;
        while let Some(row) = rows.next()? {
            let kind = row.get(0)?;
            counterpart.scopes.push(SideScope {
                kind,
                full: row.get(1)?,
                operation: row.get(2)?,
                inferred: row.get(3)?,
            });
            counterpart.declared.push(Scope { kind, key: row.get(4)? });
        }
        Ok(Some(counterpart))
    }
}
