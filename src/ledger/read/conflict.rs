//! Conflicts, put into words as they are read.

use rusqlite::{OptionalExtension, Row};

use super::super::error::Error;
use super::{Cursor, Page, Snapshot, StatusConflict, StatusSide};
use crate::detect::advice::{self, Party};
use crate::domain::conflict::{Evidence, Tier};
use crate::domain::{Conflict, ConflictStatus, Id, Intent, Rule, Scope, ScopeKind, ScopeOperation};

const SELECT: &str = "SELECT conflict.uid, rule, severity, score, low.uid, high.uid, tier, asserted,
        low_operation, high_operation, low_inferred, high_inferred, conflict.status, event.created_at, first_seq,
        low_scope.kind, low_scope.full, coalesce(low_declared.key, low_scope.full), coalesce(low_agent.name, '?'),
        high_scope.kind, high_scope.full, coalesce(high_declared.key, high_scope.full), coalesce(high_agent.name, '?')
    FROM conflict JOIN aggregate pair ON pair.id = conflict.pair
    JOIN aggregate low ON low.id = pair.low JOIN aggregate high ON high.id = pair.high
    JOIN scope low_scope ON low_scope.id = conflict.low_scope
    JOIN scope high_scope ON high_scope.id = conflict.high_scope
    JOIN event ON event.seq = conflict.first_seq
    LEFT JOIN intent_scope low_declared ON low_declared.intent = low.id AND low_declared.scope = conflict.low_scope
    LEFT JOIN intent_scope high_declared ON high_declared.intent = high.id AND high_declared.scope = conflict.high_scope
    LEFT JOIN intent low_intent ON low_intent.id = low.id LEFT JOIN agent low_agent ON low_agent.id = low_intent.agent
    LEFT JOIN intent high_intent ON high_intent.id = high.id LEFT JOIN agent high_agent ON high_agent.id = high_intent.agent";

/// Scopes shown per side of a conflict in the overview.
const SCOPES_SHOWN: u32 = 10;

struct End {
    kind: ScopeKind,
    full: String,
    key: String,
    agent: String,
    operation: ScopeOperation,
}

impl End {
    fn read(row: &Row<'_>, first: usize, operation: ScopeOperation) -> rusqlite::Result<Self> {
        Ok(Self {
            kind: row.get(first)?,
            full: row.get(first + 1)?,
            key: row.get(first + 2)?,
            agent: row.get(first + 3)?,
            operation,
        })
    }

    fn party(&self) -> Party<'_> {
        Party { agent: &self.agent, kind: self.kind, key: &self.key, operation: self.operation }
    }
}

fn conflict(row: &Row<'_>) -> rusqlite::Result<Conflict> {
    let rule: Rule = row.get(1)?;
    let tier: Tier = row.get(6)?;
    let asserted = row.get(7)?;
    let (source, target) = (End::read(row, 15, row.get(8)?)?, End::read(row, 19, row.get(9)?)?);
    Ok(Conflict {
        id: row.get(0)?,
        kind: rule.kind().to_owned(),
        severity: row.get(2)?,
        score: f64::from(row.get::<_, u16>(3)?) / 1000.0,
        source_intent_id: row.get(4)?,
        target_intent_id: row.get(5)?,
        scope: Scope { kind: source.kind, key: source.key.clone() },
        explanation: advice::explanation(rule, source.party(), target.party(), asserted),
        suggestion: advice::suggestion(rule, source.party(), target.party()),
        evidence: Evidence {
            rule,
            asserted,
            overlap: tier.in_words().to_owned(),
            source_operation: source.operation,
            target_operation: target.operation,
            source_scope: Scope { kind: source.kind, key: source.full },
            target_scope: Scope { kind: target.kind, key: target.full },
            source_operation_inferred: row.get(10)?,
            target_operation_inferred: row.get(11)?,
            // No intent can have published code: there are no ChangeSets yet.
            detected_before_code: true,
        },
        status: row.get(12)?,
        detected_at: row.get(13)?,
    })
}

impl Snapshot<'_> {
    /// One conflict.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn conflict(&self, id: Id<Conflict>) -> Result<Conflict, Error> {
        let mut find = self.connection().prepare_cached(&format!("{SELECT} WHERE conflict.uid = ?1"))?;
        find.query_row([id], conflict)
            .optional()?
            .ok_or_else(|| Error::NotFound { noun: "conflict", reference: id.to_string() })
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
        let after = after.unwrap_or(Cursor { position: i64::MAX, uid: [0; 16] });
        // Newest first, ties by id: behind the cursor are older ones, and equals with a larger id.
        let behind = "(first_seq < ?1 OR (first_seq = ?1 AND conflict.uid > ?2))";
        let order = "ORDER BY first_seq DESC, conflict.uid LIMIT ?3";
        let read = |row: &Row<'_>| {
            let conflict = conflict(row)?;
            Ok((Cursor { position: row.get(14)?, uid: *conflict.id.as_bytes() }, conflict))
        };
        let (found, total) = match status {
            None => {
                let mut find =
                    self.connection().prepare_cached(&format!("{SELECT} WHERE {behind} {order}"))?;
                let found = find
                    .query_map((after.position, after.uid, limit + 1), read)?
                    .collect::<Result<_, _>>()?;
                (found, self.count("SELECT count(*) FROM conflict", [])?)
            }
            Some(status) => {
                let sql = format!("{SELECT} WHERE conflict.status = ?4 AND {behind} {order}");
                let mut find = self.connection().prepare_cached(&sql)?;
                let values = (after.position, after.uid, limit + 1, status);
                let found = find.query_map(values, read)?.collect::<Result<_, _>>()?;
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
        const UNSETTLED: &str = "WHERE conflict.status IN (1, 2)";
        let mut find = self
            .connection()
            .prepare_cached(&format!("{SELECT} {UNSETTLED} ORDER BY first_seq, conflict.uid LIMIT ?1"))?;
        let mut rows = find.query([limit])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let conflict = conflict(row)?;
            let source = self.side(row.get(18)?, conflict.source_intent_id)?;
            let target = self.side(row.get(22)?, conflict.target_intent_id)?;
            found.push(StatusConflict { conflict, source, target });
        }
        Ok((found, self.count(&format!("SELECT count(*) FROM conflict {UNSETTLED}"), [])?))
    }

    fn side(&self, agent_name: String, intent: Id<Intent>) -> Result<StatusSide, Error> {
        let scopes = self.declared_scopes(intent, SCOPES_SHOWN)?;
        Ok(StatusSide { agent_name, scopes, scope_count: self.scope_count(intent)? })
    }

    /// The conflicts between two intents.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn conflicts_between(&self, one: Id<Intent>, other: Id<Intent>) -> Result<Vec<Conflict>, Error> {
        let mut find = self.connection().prepare_cached(&format!(
            "{SELECT} WHERE low.kind = 2 AND low.uid = ?1 AND high.kind = 2 AND high.uid = ?2
             ORDER BY severity DESC, rule, conflict.uid"
        ))?;
        let found = find.query_map((one.min(other), one.max(other)), conflict)?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}
