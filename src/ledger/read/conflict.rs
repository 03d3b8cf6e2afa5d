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
}

impl End {
    fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Self>> {
        let Some(kind) = row.get(first)? else { return Ok(None) };
        Ok(Some(Self { kind, full: row.get(first + 1)?, key: row.get(first + 2)? }))
    }

    fn party<'a>(&'a self, agent: &'a str, operation: Option<ScopeOperation>) -> Party<'a> {
        Party { agent, kind: self.kind, key: &self.key, operation }
    }
}

/// Who meets, and where: what is the same at every sight of a conflict.
pub(super) struct Meeting {
    pub rule: Rule,
    /// The intents, the smaller id first, as all that follows.
    pub between: (Id<Intent>, Id<Intent>),
    agents: (String, String),
    /// `None` for duplicate work.
    ends: Option<(End, End)>,
}

/// What was seen of a conflict at one time.
pub(super) struct Sight {
    pub severity: Severity,
    /// Thousandths.
    pub score: u16,
    pub tier: Option<Tier>,
    pub asserted: bool,
    pub similarity: Option<u16>,
    pub operations: (Option<ScopeOperation>, Option<ScopeOperation>),
    /// Whether an operation was read from prose.
    pub inferred: (bool, bool),
}

/// What a sight of a conflict says to whoever reads it.
pub(super) struct Worded {
    pub explanation: String,
    pub suggestion: String,
    pub evidence: Evidence,
}

impl Meeting {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            rule: row.get(0)?,
            between: (row.get(3)?, row.get(4)?),
            agents: (row.get(14)?, row.get(18)?),
            ends: End::read(row, 11)?.zip(End::read(row, 15)?),
        })
    }

    pub(super) fn identity(&self) -> Id<Conflict> {
        let side = |end: &End| (end.kind.as_str(), end.full.clone());
        let nowhere = (("", String::new()), ("", String::new()));
        let (low, high) = self.ends.as_ref().map_or(nowhere, |(low, high)| (side(low), side(high)));
        Conflict::identity(self.rule, [(self.between.0, low.0, &low.1), (self.between.1, high.0, &high.1)])
    }

    /// The scope of the source, as declared.
    pub(super) fn scope(&self) -> Option<Scope> {
        self.ends.as_ref().map(|(source, _)| Scope { kind: source.kind, key: source.key.clone() })
    }

    pub(super) fn worded(&self, sight: &Sight) -> Worded {
        let (rule, agents) = (self.rule, &self.agents);
        let (explanation, suggestion, at) =
            if let (Some((source, target)), Some(tier)) = (&self.ends, sight.tier) {
                let (source_operation, target_operation) = sight.operations;
                let one = source.party(&agents.0, source_operation);
                let other = target.party(&agents.1, target_operation);
                let at = EvidenceAt {
                    overlap: tier.in_words().to_owned(),
                    source_operation,
                    target_operation,
                    source_scope: Scope { kind: source.kind, key: source.full.clone() },
                    target_scope: Scope { kind: target.kind, key: target.full.clone() },
                    source_operation_inferred: sight.inferred.0,
                    target_operation_inferred: sight.inferred.1,
                };
                let explanation = advice::explanation(rule, one, other, sight.asserted);
                (explanation, advice::suggestion(rule, one, other), Some(at))
            } else {
                let shared = sight.similarity.unwrap_or(0);
                let explanation = advice::duplicate_explanation(&agents.0, &agents.1, shared);
                (explanation, advice::DUPLICATE_SUGGESTION.to_owned(), None)
            };
        let evidence = Evidence {
            rule,
            asserted: sight.asserted,
            at,
            summary_jaccard: sight.similarity.map(share),
            soft_claim: rule == Rule::OverlappingClaim,
            // No intent can have published code: there are no ChangeSets yet.
            detected_before_code: true,
        };
        Worded { explanation, suggestion, evidence }
    }
}

/// Thousandths as clients read them.
pub(super) fn share(thousandths: u16) -> f64 {
    f64::from(thousandths) / 1000.0
}

/// The latest sight of a conflict.
fn latest(row: &Row<'_>) -> rusqlite::Result<Sight> {
    let flags: u8 = row.get(6)?;
    Ok(Sight {
        severity: row.get(1)?,
        score: row.get(2)?,
        tier: row.get(5)?,
        asserted: flags & 1 != 0,
        similarity: row.get(19)?,
        operations: (row.get(7)?, row.get(8)?),
        inferred: (flags & 2 != 0, flags & 4 != 0),
    })
}

fn conflict(row: &Row<'_>) -> rusqlite::Result<Conflict> {
    let (meeting, sight) = (Meeting::read(row)?, latest(row)?);
    let Worded { explanation, suggestion, evidence } = meeting.worded(&sight);
    Ok(Conflict {
        id: meeting.identity(),
        kind: meeting.rule.kind().to_owned(),
        severity: sight.severity,
        score: share(sight.score),
        source_intent_id: meeting.between.0,
        target_intent_id: meeting.between.1,
        scope: meeting.scope(),
        explanation,
        suggestion,
        evidence,
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
        self.on_record(id, |row| conflict(row).map(|found| (found.id, found)))
    }

    /// The number of a conflict's pair, and who meets in it.
    pub(super) fn meeting(&self, id: Id<Conflict>) -> Result<(i64, Meeting), Error> {
        self.on_record(id, |row| {
            let (pair, meeting) = (row.get(21)?, Meeting::read(row)?);
            Ok((meeting.identity(), (pair, meeting)))
        })
    }

    fn on_record<T>(
        &self,
        id: Id<Conflict>,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<(Id<Conflict>, T)>,
    ) -> Result<T, Error> {
        let sql = format!("{SELECT} FROM conflict {TABLES} WHERE uid_head = ?1");
        let mut find = self.connection().prepare_cached(&sql)?;
        for found in find.query_map([head(id)], |row| read(row))? {
            let (known, found) = found?;
            if known == id {
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
