//! Conflicts, put into words as they are read.

use rusqlite::{OptionalExtension, Row};

use super::super::error::Error;
use super::{Cursor, Page, Snapshot, StatusConflict, StatusSide};
use crate::detect::advice::{self, Party};
use crate::domain::conflict::{Decision, Evidence, EvidenceAt, Tier};
use crate::domain::{Conflict, ConflictStatus, Id, Intent, Rule, Scope, ScopeKind, ScopeOperation, Severity};

const SELECT: &str = "SELECT conflict.uid, rule, severity, score, low.uid, high.uid, tier, asserted,
        low_operation, high_operation, low_inferred, high_inferred, conflict.status, event.created_at, first_seq,
        low_scope.kind, low_scope.full, coalesce(low_declared.key, low_scope.full), coalesce(low_agent.name, '?'),
        high_scope.kind, high_scope.full, coalesce(high_declared.key, high_scope.full), coalesce(high_agent.name, '?'),
        similarity, settled, decision.uid, decider.uid, title, decision.rationale, decided_at
    FROM conflict JOIN aggregate pair ON pair.id = conflict.pair
    JOIN aggregate low ON low.id = pair.low JOIN aggregate high ON high.id = pair.high
    LEFT JOIN scope low_scope ON low_scope.id = conflict.low_scope
    LEFT JOIN scope high_scope ON high_scope.id = conflict.high_scope
    JOIN event ON event.seq = conflict.first_seq
    LEFT JOIN intent_scope low_declared ON low_declared.intent = low.id AND low_declared.scope = conflict.low_scope
    LEFT JOIN intent_scope high_declared ON high_declared.intent = high.id AND high_declared.scope = conflict.high_scope
    LEFT JOIN intent low_intent ON low_intent.id = low.id LEFT JOIN agent low_agent ON low_agent.id = low_intent.agent
    LEFT JOIN intent high_intent ON high_intent.id = high.id LEFT JOIN agent high_agent ON high_agent.id = high_intent.agent
    LEFT JOIN decision ON decision.id = conflict.decision LEFT JOIN aggregate decider ON decider.id = decision.agent";

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
    /// Whether the matter was closed for good.
    pub settled: bool,
}

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
    let rule: Rule = row.get(1)?;
    let tier: Option<Tier> = row.get(6)?;
    let asserted = row.get(7)?;
    let similarity: Option<u16> = row.get(23)?;
    let (source_agent, target_agent): (String, String) = (row.get(18)?, row.get(22)?);
    let (at, scope, explanation, suggestion) = if let Some(tier) = tier {
        let (source, target) = (End::read(row, 15, row.get(8)?)?, End::read(row, 19, row.get(9)?)?);
        let scope = Scope { kind: source.kind, key: source.key.clone() };
        let (one, other) = (source.party(&source_agent), target.party(&target_agent));
        let explanation = advice::explanation(rule, one, other, asserted);
        let suggestion = advice::suggestion(rule, one, other);
        let at = EvidenceAt {
            overlap: tier.in_words().to_owned(),
            source_operation: source.operation,
            target_operation: target.operation,
            source_scope: Scope { kind: source.kind, key: source.full },
            target_scope: Scope { kind: target.kind, key: target.full },
            source_operation_inferred: row.get(10)?,
            target_operation_inferred: row.get(11)?,
        };
        (Some(at), Some(scope), explanation, suggestion)
    } else {
        let explanation =
            advice::duplicate_explanation(&source_agent, &target_agent, similarity.unwrap_or(0));
        (None, None, explanation, advice::DUPLICATE_SUGGESTION.to_owned())
    };
    Ok(Conflict {
        id: row.get(0)?,
        kind: rule.kind().to_owned(),
        severity: row.get(2)?,
        score: f64::from(row.get::<_, u16>(3)?) / 1000.0,
        source_intent_id: row.get(4)?,
        target_intent_id: row.get(5)?,
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
        status: row.get(12)?,
        previously_settled: row.get::<_, Option<Severity>>(24)?.is_some(),
        detected_at: row.get(13)?,
        decision: decision(row)?,
    })
}

fn decision(row: &Row<'_>) -> rusqlite::Result<Option<Decision>> {
    let Some(id) = row.get(25)? else { return Ok(None) };
    let (agent_id, title, rationale, decided_at) = (row.get(26)?, row.get(27)?, row.get(28)?, row.get(29)?);
    Ok(Some(Decision { id, agent_id, title, rationale, decided_at }))
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

    /// The two intents of a conflict, the smaller id first.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn sides_of(&self, id: Id<Conflict>) -> Result<(Id<Intent>, Id<Intent>), Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT low.uid, high.uid FROM conflict JOIN aggregate pair ON pair.id = conflict.pair
             JOIN aggregate low ON low.id = pair.low JOIN aggregate high ON high.id = pair.high
             WHERE conflict.uid = ?1",
        )?;
        find.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?
            .ok_or_else(|| Error::NotFound { noun: "conflict", reference: id.to_string() })
    }

    /// Unsettled conflicts between two intents, the smaller id first.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn unsettled_between(&self, between: (Id<Intent>, Id<Intent>)) -> Result<Vec<Id<Conflict>>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT conflict.uid FROM aggregate low JOIN aggregate high ON high.kind = 2 AND high.uid = ?2
             JOIN aggregate pair ON pair.low = low.id AND pair.high = high.id
             JOIN conflict ON conflict.pair = pair.id
             WHERE low.kind = 2 AND low.uid = ?1 AND conflict.status IN (1, 2) ORDER BY conflict.uid",
        )?;
        let found = find.query_map(between, |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
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
            let source = self.party(row.get(18)?, conflict.source_intent_id)?;
            let target = self.party(row.get(22)?, conflict.target_intent_id)?;
            found.push(StatusConflict { conflict, source, target });
        }
        Ok((found, self.count(&format!("SELECT count(*) FROM conflict {UNSETTLED}"), [])?))
    }

    fn party(&self, agent_name: String, intent: Id<Intent>) -> Result<StatusSide, Error> {
        let scopes = self.declared_scopes(intent, SCOPES_SHOWN)?;
        Ok(StatusSide { agent_name, scopes, scope_count: self.scope_count(intent)? })
    }

    /// What is on record of a conflict, if anything.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn known_conflict(&self, id: Id<Conflict>) -> Result<Option<KnownConflict>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT status, severity, low_operation, high_operation, settled IS NOT NULL
             FROM conflict WHERE uid = ?1",
        )?;
        let known = find.query_row([id], |row| {
            let operations =
                (row.get::<_, Option<ScopeOperation>>(2)?, row.get::<_, Option<ScopeOperation>>(3)?);
            Ok(KnownConflict {
                status: row.get(0)?,
                severity: row.get(1)?,
                operations: operations.0.zip(operations.1),
                settled: row.get(4)?,
            })
        });
        Ok(known.optional()?)
    }

    /// Unsettled conflicts of an intent with the other intent of each, grouped by that.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn unsettled_of(&self, intent: Id<Intent>, among: Among) -> Result<Vec<Unsettled>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT conflict.uid, other.uid FROM aggregate self JOIN aggregate pair ON pair.low = self.id
             JOIN aggregate other ON other.id = pair.high JOIN conflict ON conflict.pair = pair.id
             WHERE self.kind = 2 AND self.uid = ?1 AND conflict.status IN (1, 2) AND conflict.rule <> ?2
             UNION ALL
             SELECT conflict.uid, other.uid FROM aggregate self JOIN aggregate pair ON pair.high = self.id
             JOIN aggregate other ON other.id = pair.low JOIN conflict ON conflict.pair = pair.id
             WHERE self.kind = 2 AND self.uid = ?1 AND conflict.status IN (1, 2) AND conflict.rule <> ?2
             ORDER BY 2, 1",
        )?;
        let but = match among {
            Among::All => None,
            Among::Intents => Some(Rule::OverlappingClaim),
        };
        let found =
            find.query_map((intent, but.map_or(0, Rule::code)), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}
