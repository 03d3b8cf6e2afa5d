//! Which conflict a row is about.
//!
//! The identifier of a conflict follows from its rule, intents and scopes. The ledger keeps these
//! and the beginning of the identifier, to find it by.

use std::collections::HashMap;

use rusqlite::{Connection, Row};

use super::super::blocks::{BY_HEAD, head, listed_through};
use super::super::error::Error;
use super::Snapshot;
use crate::domain::conflict::OpenConflicts;
use crate::domain::cut::Cut;
use crate::domain::{
    Conflict, ConflictStatus, Id, Intent, Rule, ScopeKind, ScopeOperation, Severity, Timestamp,
};

/// What an identifier is made of, and where that is found.
const PARTS: &str =
    "rule, low.uid, low_scope.kind, low_scope.full, high.uid, high_scope.kind, high_scope.full";
const JOINED: &str = "JOIN pair ON pair.id = conflict.pair
    JOIN aggregate low ON low.id = pair.low JOIN aggregate high ON high.id = pair.high
    LEFT JOIN scope low_scope ON low_scope.id = conflict.low_scope
    LEFT JOIN scope high_scope ON high_scope.id = conflict.high_scope";
/// The pairs an intent is one side of. A condition on the status beside it is written `+status`, or
/// every open conflict there is would be looked at instead.
pub(super) const OF_INTENT: &str = "conflict.pair IN (SELECT pair FROM pair_of
        WHERE intent = (SELECT id FROM aggregate WHERE kind = 2 AND uid = ?1))";

/// Ids an [`OpenConflicts`] shows; its count is whole.
const SHOWN: u32 = 100;

/// What tells the conflicts of one pair apart: the rule and the numbers of both scopes.
pub(in super::super) type InPair = (Rule, i64, i64);

/// An unsettled conflict of an intent, and the other intent.
pub type Unsettled = (Id<Conflict>, Id<Intent>);

/// Which unsettled conflicts are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// All of them.
    All,
    /// Those between the intents themselves, and not between their claims.
    Intents,
}

/// What is on record of a conflict, as far as it decides whether to record it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownConflict {
    /// Where it stands.
    pub status: ConflictStatus,
    /// How much it matters.
    pub severity: Severity,
    /// What the source and the target do.
    pub operations: Option<(ScopeOperation, ScopeOperation)>,
    /// The severity at which the matter was closed for good, if it was.
    pub settled: Option<Severity>,
}

/// The identifier of the conflict whose [`PARTS`] stand first in `row`.
fn identity(row: &Row<'_>) -> rusqlite::Result<Id<Conflict>> {
    let side = |first: usize| {
        let kind: Option<ScopeKind> = row.get(first + 1)?;
        let full = row.get_ref(first + 2)?.as_str_or_null()?;
        Ok::<_, rusqlite::Error>((row.get(first)?, kind.map_or("", ScopeKind::as_str), full.unwrap_or("")))
    };
    Ok(Conflict::identity(row.get(0)?, [side(1)?, side(4)?]))
}

/// The same with the other intent of the pair.
fn with_other(row: &Row<'_>, intent: Id<Intent>) -> rusqlite::Result<Unsettled> {
    let (low, high): (Id<Intent>, Id<Intent>) = (row.get(1)?, row.get(4)?);
    Ok((identity(row)?, if low == intent { high } else { low }))
}

fn by_other(mut found: Vec<Unsettled>) -> Vec<Unsettled> {
    found.sort_unstable_by_key(|(conflict, other)| (*other, *conflict));
    found
}

/// The conflicts of a pair.
pub(in super::super) fn of_pair(
    connection: &Connection,
    pair: i64,
) -> Result<Vec<(Id<Conflict>, InPair)>, Error> {
    let sql =
        format!("SELECT {PARTS}, low_scope, high_scope FROM conflict {JOINED} WHERE conflict.pair = ?1");
    let mut find = connection.prepare_cached(&sql)?;
    let found =
        find.query_map([pair], |row| Ok((identity(row)?, (row.get(0)?, row.get(7)?, row.get(8)?))))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Conflicts with identifiers from `first` to `last`, in order, at most `most`.
pub(super) fn between(
    connection: &Connection,
    (first, last): (Id<Conflict>, Id<Conflict>),
    most: usize,
) -> Result<Vec<Id<Conflict>>, Error> {
    let sql = format!("SELECT {PARTS} FROM {BY_HEAD} {JOINED} ORDER BY uid_head");
    let mut find = connection.prepare_cached(&sql)?;
    let mut found = Vec::new();
    let mut rows = find.query((head(first), head(last), listed_through(connection)?))?;
    while let Some(row) = rows.next()?.filter(|_| found.len() < most) {
        found.extend(Some(identity(row)?).filter(|id| (first..=last).contains(id)));
    }
    found.sort_unstable();
    Ok(found)
}

/// The newest thousand conflicts.
pub(super) fn newest(connection: &Connection) -> Result<Vec<Id<Conflict>>, Error> {
    let sql = format!(
        "SELECT {PARTS} FROM (SELECT * FROM conflict WHERE status = 1
             UNION ALL SELECT * FROM conflict WHERE status = 2 UNION ALL SELECT * FROM conflict WHERE status = 3
             UNION ALL SELECT * FROM conflict WHERE status = 4 UNION ALL SELECT * FROM conflict WHERE status = 5
             ORDER BY first_seq DESC, pair DESC, rule DESC, low_scope DESC, high_scope DESC LIMIT 1000) conflict {JOINED}"
    );
    let mut find = connection.prepare_cached(&sql)?;
    Ok(find.query_map([], identity)?.collect::<Result<_, _>>()?)
}

impl Snapshot<'_> {
    /// What is on record of each conflict of an intent, settled or not.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn known_conflicts(&self, intent: Id<Intent>) -> Result<HashMap<Id<Conflict>, KnownConflict>, Error> {
        let sql = format!(
            "SELECT {PARTS}, status, severity, low_operation, high_operation, settled FROM conflict {JOINED} WHERE {OF_INTENT}"
        );
        let mut find = self.connection().prepare_cached(&sql)?;
        let known = find.query_map([intent], |row| {
            let operations: (Option<ScopeOperation>, Option<ScopeOperation>) = (row.get(9)?, row.get(10)?);
            let known = KnownConflict {
                status: row.get(7)?,
                severity: row.get(8)?,
                operations: operations.0.zip(operations.1),
                settled: row.get(11)?,
            };
            Ok((identity(row)?, known))
        })?;
        Ok(known.collect::<Result<_, _>>()?)
    }

    /// Unsettled conflicts of an intent with the other intent of each, grouped by that.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn unsettled_of(&self, intent: Id<Intent>, among: Among) -> Result<Vec<Unsettled>, Error> {
        let sql = format!(
            "SELECT {PARTS} FROM conflict {JOINED} WHERE +conflict.status IN (1, 2) AND {OF_INTENT} AND rule <> ?2"
        );
        let mut find = self.connection().prepare_cached(&sql)?;
        let but = match among {
            Among::All => 0,
            Among::Intents => Rule::OverlappingClaim.code(),
        };
        let found = find.query_map((intent, but), |row| with_other(row, intent))?;
        Ok(by_other(found.collect::<Result<_, _>>()?))
    }

    /// Unsettled conflicts over claims of an intent of which one claim has ended by `now`, and
    /// the other intent of each.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn ended_claim_conflicts(&self, intent: Id<Intent>, now: Timestamp) -> Result<Vec<Unsettled>, Error> {
        let sql = format!(
            "SELECT {PARTS} FROM conflict {JOINED} WHERE {OF_INTENT} AND rule = 5 AND +conflict.status IN (1, 2)
                 AND NOT (EXISTS (SELECT 1 FROM claim WHERE claim.intent = pair.low AND claim.scope = conflict.low_scope
                                  AND claim.status = 1 AND lease_expires_at > ?2)
                      AND EXISTS (SELECT 1 FROM claim WHERE claim.intent = pair.high AND claim.scope = conflict.high_scope
                                  AND claim.status = 1 AND lease_expires_at > ?2))"
        );
        let mut find = self.connection().prepare_cached(&sql)?;
        let found = find.query_map((intent, now), |row| with_other(row, intent))?;
        Ok(by_other(found.collect::<Result<_, _>>()?))
    }

    /// Unsettled conflicts between two intents, the smaller id first.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn unsettled_between(&self, between: (Id<Intent>, Id<Intent>)) -> Result<Vec<Id<Conflict>>, Error> {
        let of_one = self.unsettled_of(between.0, Among::All)?;
        Ok(of_one
            .into_iter()
            .filter(|(_, other)| *other == between.1)
            .map(|(conflict, _)| conflict)
            .collect())
    }

    /// Unsettled conflicts of an intent, newest first.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn open_conflicts(&self, intent: Id<Intent>) -> Result<OpenConflicts, Error> {
        let count = self.count(
            &format!("SELECT count(*) FROM conflict WHERE +conflict.status IN (1, 2) AND {OF_INTENT}"),
            [intent],
        )?;
        let sql = format!(
            "SELECT {PARTS} FROM conflict {JOINED} WHERE +conflict.status IN (1, 2) AND {OF_INTENT}
             ORDER BY first_seq DESC, conflict.pair DESC, rule DESC, low_scope DESC, high_scope DESC LIMIT {SHOWN}"
        );
        let mut find = self.connection().prepare_cached(&sql)?;
        let ids: Vec<_> = find.query_map([intent], identity)?.collect::<Result<_, _>>()?;
        let cut = Cut::default().with("ids", ids.len(), count);
        Ok(OpenConflicts { count, ids, as_of_event: self.last_seq()?, cut })
    }
}
