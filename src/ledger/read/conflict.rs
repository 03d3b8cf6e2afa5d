//! Conflicts, put into words as they are read.

use std::collections::HashMap;

use rusqlite::Row;

use super::super::error::Error;
use super::super::sql::head;
use super::age::Place;
use super::{Cursor, Page, Snapshot, StatusConflict, StatusSide};
use crate::detect::advice::{self, Party};
use crate::domain::conflict::{Decision, Evidence, EvidenceAt, Tier};
use crate::domain::{Conflict, ConflictStatus, Id, Intent, Rule, Scope, ScopeKind, ScopeOperation, Severity};

const SELECT: &str = "SELECT rule, severity, score, low.uid, high.uid, tier, flags, low_operation, high_operation,
        conflict.status, event.created_at, low_scope.kind, low_scope.full, coalesce(low_declared.key, low_scope.full),
        coalesce(low_agent.name, '?'), high_scope.kind, high_scope.full, coalesce(high_declared.key, high_scope.full),
        coalesce(high_agent.name, '?'), similarity, first_seq, conflict.pair, rule, conflict.low_scope,
        conflict.high_scope, settled, decision.uid, decider.uid, title, decision.rationale, decided_at";
const TABLES: &str = "JOIN pair ON pair.id = conflict.pair
    JOIN aggregate low ON low.id = pair.low JOIN aggregate high ON high.id = pair.high
    LEFT JOIN scope low_scope ON low_scope.id = conflict.low_scope
    LEFT JOIN scope high_scope ON high_scope.id = conflict.high_scope
    JOIN event ON event.seq = conflict.first_seq
    LEFT JOIN intent_scope low_declared ON low_declared.intent = low.id AND low_declared.scope = conflict.low_scope
    LEFT JOIN intent_scope high_declared ON high_declared.intent = high.id AND high_declared.scope = conflict.high_scope
    LEFT JOIN intent low_intent ON low_intent.id = low.id LEFT JOIN agent low_agent ON low_agent.id = low_intent.agent
    LEFT JOIN intent high_intent ON high_intent.id = high.id LEFT JOIN agent high_agent ON high_agent.id = high_intent.agent
    LEFT JOIN decision ON decision.id = conflict.decision LEFT JOIN aggregate decider ON decider.id = decision.agent";
/// What comes after the cursor: older ones, and of one event those that stand before in its order.
const BEHIND: &str = "(first_seq, pair, rule, low_scope, high_scope) < (?1, ?2, ?3, ?4, ?5)";
const NEWEST_FIRST: &str = "first_seq DESC, conflict.pair DESC, rule DESC, low_scope DESC, high_scope DESC";

/// Scopes shown per side of a conflict in the overview.
const SCOPES_SHOWN: u32 = 10;

struct End {
    kind: ScopeKind,
    full: String,
    key: String,
    operation: Option<ScopeOperation>,
}

impl End {
    fn read(row: &Row<'_>, first: usize, operation: Option<ScopeOperation>) -> rusqlite::Result<Self> {
        Ok(Self { kind: row.get(first)?, full: row.get(first + 1)?, key: row.get(first + 2)?, operation })
    }

    fn party<'a>(&'a self, agent: &'a str) -> Party<'a> {
        Party { agent, kind: self.kind, key: &self.key, operation: self.operation }
    }
}

fn conflict(row: &Row<'_>) -> rusqlite::Result<Conflict> {
    let rule: Rule = row.get(0)?;
    let (low, high): (Id<Intent>, Id<Intent>) = (row.get(3)?, row.get(4)?);
    let tier: Option<Tier> = row.get(5)?;
    let flags: u8 = row.get(6)?;
    let asserted = flags & 1 != 0;
    let similarity: Option<u16> = row.get(19)?;
    let (source_agent, target_agent): (String, String) = (row.get(14)?, row.get(18)?);
    let (id, at, scope, explanation, suggestion) = if let Some(tier) = tier {
        let (source, target) = (End::read(row, 11, row.get(7)?)?, End::read(row, 15, row.get(8)?)?);
        let scope = Scope { kind: source.kind, key: source.key.clone() };
        let (one, other) = (source.party(&source_agent), target.party(&target_agent));
        let explanation = advice::explanation(rule, one, other, asserted);
        let suggestion = advice::suggestion(rule, one, other);
        let id = Conflict::identity(
            rule,
            [(low, source.kind.as_str(), &source.full), (high, target.kind.as_str(), &target.full)],
        );
        let at = EvidenceAt {
            overlap: tier.in_words().to_owned(),
            source_operation: source.operation,
            target_operation: target.operation,
            source_scope: Scope { kind: source.kind, key: source.full },
            target_scope: Scope { kind: target.kind, key: target.full },
            source_operation_inferred: flags & 2 != 0,
            target_operation_inferred: flags & 4 != 0,
        };
        (id, Some(at), Some(scope), explanation, suggestion)
    } else {
        let explanation =
            advice::duplicate_explanation(&source_agent, &target_agent, similarity.unwrap_or(0));
        let id = Conflict::identity(rule, [(low, "", ""), (high, "", "")]);
        (id, None, None, explanation, advice::DUPLICATE_SUGGESTION.to_owned())
    };
    Ok(Conflict {
        id,
        kind: rule.kind().to_owned(),
        severity: row.get(1)?,
        score: f64::from(row.get::<_, u16>(2)?) / 1000.0,
        source_intent_id: low,
        target_intent_id: high,
        scope,
        explanation,
        suggestion,
        evidence: Evidence {
            rule,
            asserted,
            at,
            summary_jaccard: similarity.map(|share| f64::from(share) / 1000.0),
            soft_claim: rule == Rule::OverlappingClaim,
            // No intent can have published code: there are no ChangeSets yet.
            detected_before_code: true,
        },
        status: row.get(9)?,
        previously_settled: row.get::<_, Option<Severity>>(25)?.is_some(),
        detected_at: row.get(10)?,
        decision: decision(row)?,
    })
}

fn decision(row: &Row<'_>) -> rusqlite::Result<Option<Decision>> {
    let Some(id) = row.get(26)? else { return Ok(None) };
    let (agent_id, title, rationale, decided_at) = (row.get(27)?, row.get(28)?, row.get(29)?, row.get(30)?);
    Ok(Some(Decision { id, agent_id, title, rationale, decided_at }))
}

impl Snapshot<'_> {
    /// One conflict.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn conflict(&self, id: Id<Conflict>) -> Result<Conflict, Error> {
        let sql = format!("{SELECT} FROM conflict {TABLES} WHERE uid_head = ?1");
        let mut find = self.connection().prepare_cached(&sql)?;
        for found in find.query_map([head(id)], conflict)? {
            let found = found?;
            if found.id == id {
                return Ok(found);
            }
        }
        Err(Error::NotFound { noun: "conflict", reference: id.to_string() })
    }

    /// The conflicts of `intent` with these identifiers, in this order; without those that are not
    /// on record.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn conflicts_of(&self, intent: Id<Intent>, ids: &[Id<Conflict>]) -> Result<Vec<Conflict>, Error> {
        // By the intent's pairs and not by identifier: what was found together lies together.
        let sql = format!(
            "{SELECT} FROM conflict {TABLES} WHERE +uid_head IN (SELECT value FROM json_each(?2)) AND conflict.pair IN (
                 SELECT pair.id FROM aggregate self JOIN pair ON pair.low = self.id
                 WHERE self.kind = 2 AND self.uid = ?1
                 UNION ALL
                 SELECT pair.id FROM aggregate self JOIN pair ON pair.high = self.id
                 WHERE self.kind = 2 AND self.uid = ?1)"
        );
        let heads: Vec<_> = ids.iter().map(|id| head(*id)).collect();
        let mut find = self.connection().prepare_cached(&sql)?;
        let found = find.query_map((intent, serde_json::to_string(&heads)?), conflict)?;
        let found = found.map(|found| found.map(|found| (found.id, found)));
        let mut found: HashMap<_, _> = found.collect::<Result<_, _>>()?;
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
        let read = |row: &Row<'_>| Ok((Place::read(row, 20)?.into(), conflict(row)?));
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
                let found = find.query_map(after, read)?.collect::<Result<_, _>>()?;
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
        let sql = format!(
            "{SELECT} FROM (SELECT * FROM conflict WHERE status = 1 UNION ALL SELECT * FROM conflict WHERE status = 2
                 ORDER BY first_seq, pair, rule, low_scope, high_scope LIMIT ?1) conflict
             {TABLES} ORDER BY first_seq, conflict.pair, rule, low_scope, high_scope"
        );
        let mut find = self.connection().prepare_cached(&sql)?;
        let mut rows = find.query([limit])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let conflict = conflict(row)?;
            let source = self.party(row.get(14)?, conflict.source_intent_id)?;
            let target = self.party(row.get(18)?, conflict.target_intent_id)?;
            found.push(StatusConflict { conflict, source, target });
        }
        Ok((found, self.count("SELECT count(*) FROM conflict WHERE status IN (1, 2)", [])?))
    }

    fn party(&self, agent_name: String, intent: Id<Intent>) -> Result<StatusSide, Error> {
        let scopes = self.declared_scopes(intent, SCOPES_SHOWN)?;
        Ok(StatusSide { agent_name, scopes, scope_count: self.scope_count(intent)? })
    }
}
