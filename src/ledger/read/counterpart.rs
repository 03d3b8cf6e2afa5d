//! Other agents' active intents, as they are compared and shown.

use rusqlite::OptionalExtension;

use super::super::error::Error;
use super::Snapshot;
use crate::detect::findings::{Side, SideScope};
use crate::detect::prose;
use crate::detect::tiers::Compared;
use crate::domain::fact::PublishedScope;
use crate::domain::{Agent, CanonicalScope, Id, Intent, IntentStatus, Timestamp};

/// An active intent that other work is compared against.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterpart {
    /// The intent.
    pub intent: Id<Intent>,
    /// Its owner.
    pub agent: Id<Agent>,
    /// The owner's name.
    pub agent_name: String,
    /// Its task.
    pub task: String,
    /// What it will do.
    pub summary: String,
    /// Where it stands.
    pub status: IntentStatus,
    /// When it was published.
    pub published_at: Timestamp,
}

/// An intent that findings are owed to, by its number in the file, and those it waits to be compared with.
pub type Owed = (i64, Vec<Awaited>);

/// An intent that another one waits to be compared with.
#[derive(Debug, Clone, Copy)]
pub struct Awaited {
    /// Its number in the file.
    pub intent: i64,
    /// That of its owner.
    pub owner: i64,
    /// Whether it waits for the comparison, too.
    pub waits: bool,
}

impl Snapshot<'_> {
    /// The number of an intent in this file, that of its owner, and whether it is active.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn intent_row(&self, intent: Id<Intent>) -> Result<Option<(i64, i64, bool)>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT intent.id, agent, status FROM intent JOIN aggregate USING (id) WHERE kind = 2 AND uid = ?1",
        )?;
        let found = find.query_row([intent], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, IntentStatus>(2)?.is_active()))
        });
        Ok(found.optional()?)
    }

    /// The number of a known intent in this file.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn row_of(&self, intent: Id<Intent>) -> Result<i64, Error> {
        let found = self.intent_row(intent)?.map(|(row, ..)| row);
        found.ok_or_else(|| Error::NotFound { noun: "intent", reference: intent.to_string() })
    }

    /// The number of an agent in this file; 0 for one that never did anything.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn agent_row(&self, agent: Id<Agent>) -> Result<i64, Error> {
        let mut find =
            self.connection().prepare_cached("SELECT id FROM aggregate WHERE kind = 1 AND uid = ?1")?;
        Ok(find.query_row([agent], |row| row.get(0)).optional()?.unwrap_or(0))
    }

    /// How many active intents there are of agents other than `agent`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn active_count(&self, agent: i64) -> Result<u64, Error> {
        let mut total = 0;
        for status in IntentStatus::ALL.iter().filter(|status| status.is_active()) {
            total +=
                self.count("SELECT count(*) FROM intent WHERE status = ?1 AND agent <> ?2", (status, agent))?;
        }
        Ok(total)
    }

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

    /// The intent with this number.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn intent_id(&self, intent: i64) -> Result<Id<Intent>, Error> {
        let mut find = self.connection().prepare_cached("SELECT uid FROM aggregate WHERE id = ?1")?;
        Ok(find.query_row([intent], |row| row.get(0))?)
    }

    /// What is shown of an intent.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn counterpart(&self, intent: i64) -> Result<Counterpart, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT self.uid, owner.uid, coalesce(agent.name, ''), task, summary, intent.status, created_at
             FROM intent JOIN aggregate self USING (id) JOIN aggregate owner ON owner.id = intent.agent
             LEFT JOIN agent ON agent.id = intent.agent WHERE intent.id = ?1",
        )?;
        Ok(find.query_row([intent], |row| {
            Ok(Counterpart {
                intent: row.get(0)?,
                agent: row.get(1)?,
                agent_name: row.get(2)?,
                task: row.get(3)?,
                summary: row.get(4)?,
                status: row.get(5)?,
                published_at: row.get(6)?,
            })
        })?)
    }

    /// What an intent brings to a comparison, and the dictionary number of each of its scopes.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn side(&self, intent: i64) -> Result<(Side, Vec<i64>), Error> {
        let mut find = self.connection().prepare_cached("SELECT summary FROM intent WHERE id = ?1")?;
        let summary: String = find.query_row([intent], |row| row.get(0))?;
        let mut side = Side { scopes: Vec::new(), summary: prose::words(&summary), namesake: false };
        let mut numbers = Vec::new();
        let mut scopes = self.connection().prepare_cached(
            "SELECT kind, full, alias, key, operation, inferred, scope.id FROM intent_scope JOIN scope ON scope.id = scope
             WHERE intent = ?1 ORDER BY place",
        )?;
        let mut rows = scopes.query([intent])?;
        while let Some(row) = rows.next()? {
            let full: String = row.get(1)?;
            let alias: Option<String> = row.get(2)?;
            let alias = alias.unwrap_or_else(|| full.clone());
            let canonical = CanonicalScope { kind: row.get(0)?, full, alias };
            let compared = Compared::new(&row.get::<_, String>(3)?, canonical);
            side.scopes.push(SideScope { compared, operation: row.get(4)?, inferred: row.get(5)? });
            numbers.push(row.get(6)?);
        }
        Ok((side, numbers))
    }

    /// The scopes of an intent as it published them.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn published_scopes(&self, intent: i64) -> Result<Vec<PublishedScope>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT kind, key, operation, inferred, full, alias FROM intent_scope JOIN scope ON scope.id = scope
             WHERE intent = ?1 ORDER BY place",
        )?;
        let found = find.query_map([intent], |row| {
            Ok(PublishedScope {
                kind: row.get(0)?,
                key: row.get(1)?,
                operation: row.get(2)?,
                inferred: row.get(3)?,
                full: row.get(4)?,
                alias: row.get(5)?,
            })
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Active intents of an agent that findings are owed to, each with the active intents (and
    /// their owners) it has to be compared with.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn debts(&self, agent: i64) -> Result<Vec<Owed>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT debtor.id, other.id, other.agent, debtor.status, other.status,
                    EXISTS (SELECT 1 FROM owed back WHERE back.pair = owed.pair AND back.debtor = other.id)
             FROM intent debtor JOIN owed ON owed.debtor = debtor.id JOIN pair ON pair.id = owed.pair
             JOIN intent other ON other.id = pair.low + pair.high - debtor.id
             WHERE debtor.agent = ?1 ORDER BY debtor.id, other.id",
        )?;
        let mut debts: Vec<Owed> = Vec::new();
        let mut rows = find.query([agent])?;
        while let Some(row) = rows.next()? {
            let (mine, theirs): (IntentStatus, IntentStatus) = (row.get(3)?, row.get(4)?);
            if !mine.is_active() || !theirs.is_active() {
                continue;
            }
            let (debtor, other) =
                (row.get(0)?, Awaited { intent: row.get(1)?, owner: row.get(2)?, waits: row.get(5)? });
            match debts.last_mut() {
                Some((last, others)) if *last == debtor => others.push(other),
                _ => debts.push((debtor, vec![other])),
            }
        }
        Ok(debts)
    }

    /// Kind and full form of a scope in the dictionary of this file.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn scope(&self, number: usize) -> Result<(crate::domain::ScopeKind, String), Error> {
        let mut find = self.connection().prepare_cached("SELECT kind, full FROM scope WHERE id = ?1")?;
        Ok(find.query_row([number], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }
}
