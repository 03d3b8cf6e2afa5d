//! Conflicts on record: one, those of an intent, and lists of them.

use std::collections::HashMap;

use rusqlite::{Row, Rows};

use super::super::blocks::{BY_HEAD, head, listed_through};
use super::super::error::Error;
use super::age::Place;
use super::counterpart::Counterpart;
use super::identity::OF_INTENT;
use super::wording::{Meeting, Side, Wording};
use super::{Cursor, Page, Snapshot, StatusConflict, StatusSide};
use crate::domain::{Conflict, ConflictStatus, Id, Intent, Severity};

const SELECT: &str = "SELECT rule, severity, score, pair.low, pair.high, tier, flags, low_operation,
    high_operation, status, first_seq, low_scope, high_scope, similarity, settled, decision, conflict.pair";
const TABLES: &str = "JOIN pair ON pair.id = conflict.pair";
/// What comes after the cursor: older ones, and of one event those that stand before in its order.
const BEHIND: &str = "(first_seq, pair, rule, low_scope, high_scope) < (?1, ?2, ?3, ?4, ?5)";
const NEWEST_FIRST: &str = "first_seq DESC, conflict.pair DESC, rule DESC, low_scope DESC, high_scope DESC";

/// Scopes shown per side of a conflict in the overview.
const SCOPES_SHOWN: u32 = 10;

/// Unsettled conflicts looked at for which are most severe: a screen shows a few, however many there are.
const WEIGHED: u32 = 500;

impl Snapshot<'_> {
    /// One conflict.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn conflict(&self, id: Id<Conflict>) -> Result<Conflict, Error> {
        self.on_record(id, |wording, row| wording.conflict(row))
    }

    /// The number of a conflict's pair, and who meets in it.
    pub(super) fn meeting(&self, id: Id<Conflict>) -> Result<(i64, Meeting), Error> {
        self.on_record(id, |wording, row| Ok((row.get(16)?, wording.meeting(row)?)))
    }

    fn on_record<T>(
        &self,
        id: Id<Conflict>,
        read: impl Fn(&mut Wording<'_>, &Row<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let sql = format!("{SELECT} FROM {BY_HEAD} {TABLES}");
        let mut find = self.connection().prepare_cached(&sql)?;
        let (mut wording, head) = (Wording::new(self), head(id));
        let mut rows = find.query((head, head, listed_through(self.connection())?))?;
        while let Some(row) = rows.next()? {
            if wording.meeting(row)?.identity() == id {
                return read(&mut wording, row);
            }
        }
        Err(Error::NotFound { noun: "conflict", reference: id.to_string() })
    }

    /// The conflicts of `intent` with these identifiers, in this order; without those that are not
    /// on record. What was `known` of other intents, by their numbers, is not read again.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn conflicts_of<'c>(
        &self,
        intent: Id<Intent>,
        ids: &[Id<Conflict>],
        known: impl IntoIterator<Item = (i64, &'c Counterpart)>,
    ) -> Result<Vec<Conflict>, Error> {
        // By the intent's pairs and not by identifier: what was found together lies together.
        let sql = format!(
            "{SELECT} FROM conflict {TABLES} WHERE +uid_head IN (SELECT value FROM json_each(?2)) AND {OF_INTENT}"
        );
        let heads: Vec<_> = ids.iter().map(|id| head(*id)).collect();
        let mut find = self.connection().prepare_cached(&sql)?;
        let mut rows = find.query((intent, serde_json::to_string(&heads)?))?;
        let (mut wording, mut found) = (Wording::new(self), HashMap::new());
        for (row, counterpart) in known {
            wording.knows(row, counterpart);
        }
        while let Some(row) = rows.next()? {
            let conflict = wording.conflict(row)?;
            found.insert(conflict.id, conflict);
        }
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
    }

    /// Conflicts, newest first, all or those with `status`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn conflicts(
        &self,
        status: Option<ConflictStatus>,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Page<Conflict>, Error> {
        let Place { first_seq, pair, rule, scopes } = after.map_or(Place::END, Place::from);
        let after = (first_seq, pair, rule, scopes.0, scopes.1, limit + 1);
        let mut wording = Wording::new(self);
        let mut read = |mut rows: Rows<'_>| {
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let place = Place {
                    first_seq: row.get(10)?,
                    pair: row.get(16)?,
                    rule: row.get(0)?,
                    scopes: (row.get(11)?, row.get(12)?),
                };
                found.push((place.into(), wording.conflict(row)?));
            }
            Ok::<_, Error>(found)
        };
        let (found, total) = match status {
            None => {
                // One status after the other through the index, merged as they are read.
                let sql = format!(
                    "{SELECT} FROM (SELECT * FROM conflict WHERE status = 1 AND {BEHIND}
                         UNION ALL SELECT * FROM conflict WHERE status = 2 AND {BEHIND}
                         UNION ALL SELECT * FROM conflict WHERE status = 3 AND {BEHIND}
                         UNION ALL SELECT * FROM conflict WHERE status = 4 AND {BEHIND}
                         UNION ALL SELECT * FROM conflict WHERE status = 5 AND {BEHIND}
                         ORDER BY first_seq DESC, pair DESC, rule DESC, low_scope DESC, high_scope DESC LIMIT ?6) conflict
                     {TABLES} ORDER BY {NEWEST_FIRST}"
                );
                let mut find = self.connection().prepare_cached(&sql)?;
                let found = read(find.query(after)?)?;
                (found, self.count("SELECT count(*) FROM conflict", [])?)
            }
            Some(status) => {
                let sql = format!(
                    "{SELECT} FROM (SELECT * FROM conflict WHERE status = ?7 AND {BEHIND}
                         ORDER BY first_seq DESC, pair DESC, rule DESC, low_scope DESC, high_scope DESC LIMIT ?6) conflict
                     {TABLES} ORDER BY {NEWEST_FIRST}"
                );
                let mut find = self.connection().prepare_cached(&sql)?;
                let values = (after.0, after.1, after.2, after.3, after.4, after.5, status);
                let found = read(find.query(values)?)?;
                (found, self.count("SELECT count(*) FROM conflict WHERE status = ?1", [status])?)
            }
        };
        Ok(Page::cut(found, limit, total))
    }

    /// Conflicts that are OPEN or COORDINATING, oldest first, with both parties; their count is
    /// whole.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn unsettled_conflicts(&self, limit: u32) -> Result<(Vec<StatusConflict>, u64), Error> {
        let sql = format!(
            "{SELECT} FROM (SELECT * FROM conflict WHERE status = 1 UNION ALL SELECT * FROM conflict WHERE status = 2
                 ORDER BY first_seq, pair, rule, low_scope, high_scope LIMIT ?1) conflict
             {TABLES} ORDER BY first_seq, conflict.pair, rule, low_scope, high_scope"
        );
        let mut find = self.connection().prepare_cached(&sql)?;
        let mut rows = find.query([limit])?;
        let (mut wording, mut found) = (Wording::new(self), Vec::new());
        while let Some(row) = rows.next()? {
            let (conflict, Meeting { sides, .. }) = (wording.conflict(row)?, wording.meeting(row)?);
            let (source, target) = (self.party(&sides.0)?, self.party(&sides.1)?);
            found.push(StatusConflict { conflict, source, target });
        }
        Ok((found, self.count("SELECT count(*) FROM conflict WHERE status IN (1, 2)", [])?))
    }

    /// Conflicts that are OPEN or COORDINATING, the most severe of the oldest [`WEIGHED`] first, at most
    /// `limit`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn severest_conflicts(&self, limit: u32) -> Result<Vec<Conflict>, Error> {
        let sql = format!(
            "{SELECT} FROM (SELECT * FROM (
                 SELECT * FROM conflict WHERE status = 1 UNION ALL SELECT * FROM conflict WHERE status = 2
                     ORDER BY first_seq, pair, rule, low_scope, high_scope LIMIT {WEIGHED})
                 ORDER BY severity DESC, first_seq, pair, rule, low_scope, high_scope LIMIT ?1) conflict
             {TABLES} ORDER BY severity DESC, first_seq, conflict.pair, rule, low_scope, high_scope"
        );
        let mut find = self.connection().prepare_cached(&sql)?;
        let (mut wording, mut rows, mut found) = (Wording::new(self), find.query([limit])?, Vec::new());
        while let Some(row) = rows.next()? {
            found.push(wording.conflict(row)?);
        }
        Ok(found)
    }

    /// How many of the oldest [`WEIGHED`] of them there are of each severity that has any, most severe
    /// first.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn severities(&self) -> Result<Vec<(Severity, u64)>, Error> {
        let sql = format!(
            "SELECT severity, count(*) FROM (
                 SELECT * FROM conflict WHERE status = 1 UNION ALL SELECT * FROM conflict WHERE status = 2
                     ORDER BY first_seq, pair, rule, low_scope, high_scope LIMIT {WEIGHED})
             GROUP BY severity ORDER BY severity DESC"
        );
        let mut find = self.connection().prepare_cached(&sql)?;
        Ok(find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
    }

    fn party(&self, side: &Side) -> Result<StatusSide, Error> {
        let scopes = self.declared_scopes(side.intent, SCOPES_SHOWN)?;
        Ok(StatusSide { agent_name: side.agent.clone(), scopes, scope_count: self.scope_count(side.intent)? })
    }
}
