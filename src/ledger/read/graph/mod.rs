//! What the graph is drawn from, a few columns of everything: which intents are on a page.

mod belongings;
mod disputes;

use std::cmp::Reverse;
use std::collections::HashSet;

use rusqlite::{OptionalExtension, Row};

use super::{Cursor, Page, Snapshot};
use crate::domain::{Agent, Id, Intent, IntentStatus, Task, Timestamp};
use crate::ledger::Error;

pub use belongings::{DrawnAssessment, DrawnClaim, DrawnScope};
pub use disputes::{DrawnConflict, DrawnDecision, DrawnDetection, DrawnIdentity, DrawnPlace};

/// The first of something, and how much there is of it.
pub type Counted<T> = (Vec<T>, u64);

/// An intent on a page: its number in this file, and its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnPage {
    /// Number in this file.
    pub row: i64,
    /// Its id.
    pub id: Id<Intent>,
}

/// An intent.
#[derive(Debug, Clone)]
pub struct DrawnIntent {
    /// Its id.
    pub id: Id<Intent>,
    /// Its owner.
    pub agent: Id<Agent>,
    /// Its task.
    pub task_id: Id<Task>,
    /// Title of the task.
    pub task: String,
    /// What it will do.
    pub summary: String,
    /// Where it stands.
    pub status: IntentStatus,
    /// When it was published.
    pub created_at: Timestamp,
}

const SELECT: &str = "SELECT intent.id, uid, created_at FROM intent JOIN aggregate USING (id)";
/// Newest first, behind a cursor.
const BEHIND: &str =
    "created_at <= ?1 AND (created_at < ?1 OR uid > ?2) ORDER BY created_at DESC, uid LIMIT ?3";

fn placed(row: &Row<'_>) -> rusqlite::Result<(Cursor, OnPage)> {
    let found = OnPage { row: row.get(0)?, id: row.get(1)? };
    Ok((Cursor { position: row.get(2)?, tie: *found.id.as_bytes() }, found))
}

impl Snapshot<'_> {
    /// Intents, newest first: all, or those of the agent with this number.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn drawn_page(
        &self,
        agent: Option<i64>,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Page<OnPage>, Error> {
        let after = after.unwrap_or(Cursor { position: i64::MAX, tie: [0; 16] });
        let (found, total) = if let Some(agent) = agent {
            let sql = format!("{SELECT} WHERE agent = ?4 AND {BEHIND}");
            let mut find = self.connection().prepare_cached(&sql)?;
            let found = find.query_map((after.position, after.tie, limit + 1, agent), placed)?;
            let total = self.count("SELECT count(*) FROM intent WHERE agent = ?1", [agent])?;
            (found.collect::<Result<_, _>>()?, total)
        } else {
            let mut find = self.connection().prepare_cached(&format!("{SELECT} WHERE {BEHIND}"))?;
            let found = find.query_map((after.position, after.tie, limit + 1), placed)?;
            (found.collect::<Result<_, _>>()?, self.count("SELECT count(*) FROM intent", [])?)
        };
        Ok(Page::cut(found, limit, total))
    }

    /// Intents within `hops` of the one with this number, over conflicts and dependencies in either
    /// direction, itself included, newest first; only those of one agent if given.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn neighbourhood(
        &self,
        intent: i64,
        hops: u8,
        agent: Option<i64>,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Page<OnPage>, Error> {
        let (mut known, mut outermost) = (HashSet::from([intent]), vec![intent]);
        for _ in 0..hops {
            let mut beyond = Vec::new();
            for intent in outermost {
                beyond.extend(self.neighbours(intent)?.into_iter().filter(|other| known.insert(*other)));
            }
            outermost = beyond;
        }
        let sql = format!("{SELECT} WHERE intent.id = ?1 AND (?2 IS NULL OR agent = ?2)");
        let mut find = self.connection().prepare_cached(&sql)?;
        let mut found = Vec::new();
        for row in known {
            found.extend(find.query_row((row, agent), placed).optional()?);
        }
        let total = found.len() as u64;
        let order = |at: &Cursor| (Reverse(at.position), at.tie);
        found.retain(|(at, _)| after.is_none_or(|after| order(at) > order(&after)));
        found.sort_by_key(|(at, _)| order(at));
        Ok(Page::cut(found, limit, total))
    }

    fn neighbours(&self, intent: i64) -> Result<Vec<i64>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT low + high - ?1 FROM pair_of CROSS JOIN pair ON pair.id = pair_of.pair WHERE pair_of.intent = ?1
                 AND EXISTS (SELECT 1 FROM conflict WHERE conflict.pair = pair.id)
             UNION ALL SELECT dependency FROM intent_dependency WHERE intent = ?1
             UNION ALL SELECT intent FROM intent_dependency WHERE dependency = ?1",
        )?;
        Ok(find.query_map([intent], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// One intent; `None` while it is only known by name.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn drawn_intent(&self, id: Id<Intent>) -> Result<Option<DrawnIntent>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT owner.uid, task_id, task, summary, status, created_at
             FROM aggregate self JOIN intent USING (id) JOIN aggregate owner ON owner.id = intent.agent
             WHERE self.kind = 2 AND self.uid = ?1",
        )?;
        let found = find.query_row([id], |row| {
            Ok(DrawnIntent {
                id,
                agent: row.get(0)?,
                task_id: row.get(1)?,
                task: row.get(2)?,
                summary: row.get(3)?,
                status: row.get(4)?,
                created_at: row.get(5)?,
            })
        });
        Ok(found.optional()?)
    }

    /// Agents that own no intent, oldest first, at most `limit`; their count is whole.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn agents_without_work(&self, limit: u32) -> Result<Counted<Id<Agent>>, Error> {
        const IDLE: &str = "NOT EXISTS (SELECT 1 FROM intent WHERE intent.agent = agent.id)";
        let mut find = self.connection().prepare_cached(&format!(
            "SELECT uid FROM agent JOIN aggregate USING (id) WHERE {IDLE} ORDER BY registered_at, uid LIMIT ?1"
        ))?;
        let found = find.query_map([limit], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let count = format!("SELECT count(*) FROM agent WHERE {IDLE}");
        counted(found, limit, || self.count(&count, []))
    }
}

/// What was found, and how much there is: counted only where the limit was reached.
fn counted<T>(
    found: Vec<T>,
    limit: u32,
    count: impl FnOnce() -> Result<u64, Error>,
) -> Result<Counted<T>, Error> {
    let all = if found.len() < limit as usize { found.len() as u64 } else { count()? };
    Ok((found, all))
}
