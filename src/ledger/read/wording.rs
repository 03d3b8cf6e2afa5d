//! Conflicts, put into words as they are read. Many on one page share intents and scopes: each is looked up once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use rusqlite::{OptionalExtension, Row};

use super::super::error::Error;
use super::Snapshot;
use super::counterpart::Counterpart;
use crate::detect::advice::{self, Party};
use crate::domain::conflict::{Decision, Evidence, EvidenceAt, Tier};
use crate::domain::{
    Agent, Conflict, Id, Intent, Rule, Scope, ScopeKind, ScopeOperation, Severity, Timestamp,
};

/// An intent, its owner and the owner's name.
pub(super) struct Side {
    pub intent: Id<Intent>,
    pub agent: String,
    /// `None` where the intent is not known here.
    owner: Option<Id<Agent>>,
}

/// A scope of one side.
struct End {
    kind: ScopeKind,
    full: Rc<str>,
    /// As the intent declared it.
    key: String,
}

impl End {
    fn party<'a>(&'a self, agent: &'a str, operation: Option<ScopeOperation>) -> Party<'a> {
        Party { agent, kind: self.kind, key: &self.key, operation }
    }
}

/// Who meets, and where: what is the same at every sight of a conflict.
pub(super) struct Meeting {
    rule: Rule,
    /// The one with the smaller id first, as all that follows.
    pub sides: (Rc<Side>, Rc<Side>),
    /// `None` for duplicate work.
    ends: Option<(Rc<End>, Rc<End>)>,
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
    pub brief: String,
    pub suggestion: String,
    pub evidence: Evidence,
}

impl Meeting {
    pub(super) fn identity(&self) -> Id<Conflict> {
        let (low, high) = (self.sides.0.intent, self.sides.1.intent);
        match &self.ends {
            Some((source, target)) => Conflict::identity(
                self.rule,
                [(low, source.kind.as_str(), &source.full), (high, target.kind.as_str(), &target.full)],
            ),
            None => Conflict::identity(self.rule, [(low, "", ""), (high, "", "")]),
        }
    }

    /// What both sides' agents are called.
    fn called(&self) -> (String, String) {
        let (one, other) = &self.sides;
        match one.owner.zip(other.owner) {
            Some(owners) => advice::called((&one.agent, owners.0), (&other.agent, owners.1)),
            None => (one.agent.clone(), other.agent.clone()),
        }
    }

    /// The scope of the source, as declared.
    pub(super) fn scope(&self) -> Option<Scope> {
        self.ends.as_ref().map(|(source, _)| Scope { kind: source.kind, key: source.key.clone() })
    }

    pub(super) fn worded(&self, sight: &Sight) -> Worded {
        let (rule, agents) = (self.rule, self.called());
        let agents = (agents.0.as_str(), agents.1.as_str());
        let (explanation, brief, suggestion, at) =
            if let (Some((source, target)), Some(tier)) = (&self.ends, sight.tier) {
                let (source_operation, target_operation) = sight.operations;
                let one = source.party(agents.0, source_operation);
                let other = target.party(agents.1, target_operation);
                let at = EvidenceAt {
                    overlap: tier.in_words().to_owned(),
                    source_operation,
                    target_operation,
                    source_scope: Scope { kind: source.kind, key: source.full.to_string() },
                    target_scope: Scope { kind: target.kind, key: target.full.to_string() },
                    source_operation_inferred: sight.inferred.0,
                    target_operation_inferred: sight.inferred.1,
                };
                let explanation = advice::explanation(rule, one, other, sight.asserted);
                let brief = advice::brief(rule, one, other, sight.asserted);
                (explanation, brief, advice::suggestion(rule, one, other), Some(at))
            } else {
                let shared = sight.similarity.unwrap_or(0);
                let explanation = advice::duplicate_explanation(agents.0, agents.1, shared);
                (explanation.clone(), explanation, advice::DUPLICATE_SUGGESTION.to_owned(), None)
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
        Worded { explanation, brief, suggestion, evidence }
    }
}

impl Snapshot<'_> {
    /// The key of a scope as the intent declares it, or as it was claimed for it last.
    fn spelling(&self, intent: i64, scope: i64) -> Result<Option<String>, Error> {
        for sql in [
            "SELECT key FROM intent_scope WHERE intent = ?1 AND scope = ?2",
            "SELECT key FROM claim WHERE intent = ?1 AND scope = ?2 ORDER BY created_at DESC, uid LIMIT 1",
        ] {
            let mut find = self.connection().prepare_cached(sql)?;
            if let Some(key) = find.query_row((intent, scope), |row| row.get(0)).optional()? {
                return Ok(Some(key));
            }
        }
        Ok(None)
    }

    /// A scope that is given in its full form, as this intent spells it.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an intent that is not known here.
    pub fn spelled(&self, intent: Id<Intent>, scope: &Scope) -> Result<Scope, Error> {
        let intent = self.row_of(intent)?;
        let mut find =
            self.connection().prepare_cached("SELECT id FROM scope WHERE kind = ?1 AND full = ?2")?;
        let number = find.query_row((scope.kind, &scope.key), |row| row.get(0)).optional()?;
        let key = number.map(|number| self.spelling(intent, number)).transpose()?.flatten();
        Ok(Scope { kind: scope.kind, key: key.unwrap_or_else(|| scope.key.clone()) })
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
        similarity: row.get(13)?,
        operations: (row.get(7)?, row.get(8)?),
        inferred: (flags & 2 != 0, flags & 4 != 0),
    })
}

/// Puts the conflicts of one answer into words.
///
/// Rows are read as: rule, severity, score, low and high intent, tier, flags, both operations, status, first
/// event, both scopes, similarity, settled severity and decision, all by their numbers.
pub(super) struct Wording<'s> {
    snapshot: &'s Snapshot<'s>,
    sides: HashMap<i64, Rc<Side>>,
    scopes: HashMap<i64, (ScopeKind, Rc<str>)>,
    ends: HashMap<(i64, i64), Rc<End>>,
    times: HashMap<i64, Timestamp>,
}

impl<'s> Wording<'s> {
    pub(super) fn new(snapshot: &'s Snapshot<'s>) -> Self {
        Self {
            snapshot,
            sides: HashMap::new(),
            scopes: HashMap::new(),
            ends: HashMap::new(),
            times: HashMap::new(),
        }
    }

    /// Takes it that the intent with this number is what was read of it on the same snapshot.
    pub(super) fn knows(&mut self, intent: i64, counterpart: &Counterpart) {
        let Counterpart { intent: id, agent, agent_name, .. } = counterpart;
        let side = Side { intent: *id, agent: agent_name.clone(), owner: Some(*agent) };
        self.sides.insert(intent, Rc::new(side));
    }

    pub(super) fn conflict(&mut self, row: &Row<'_>) -> Result<Conflict, Error> {
        let (meeting, sight) = (self.meeting(row)?, latest(row)?);
        let Worded { explanation, brief, suggestion, evidence } = meeting.worded(&sight);
        let decision = row.get::<_, Option<i64>>(15)?;
        Ok(Conflict {
            id: meeting.identity(),
            kind: meeting.rule.kind().to_owned(),
            severity: sight.severity,
            score: share(sight.score),
            source_intent_id: meeting.sides.0.intent,
            target_intent_id: meeting.sides.1.intent,
            scope: meeting.scope(),
            explanation,
            brief,
            suggestion,
            evidence,
            status: row.get(9)?,
            previously_settled: row.get::<_, Option<Severity>>(14)?.is_some(),
            detected_at: self.time(row.get(10)?)?,
            decision: decision.map(|decision| self.decision(decision)).transpose()?,
        })
    }

    pub(super) fn meeting(&mut self, row: &Row<'_>) -> Result<Meeting, Error> {
        let (low, high): (i64, i64) = (row.get(3)?, row.get(4)?);
        // Duplicate work is found in no scope.
        let ends = match row.get::<_, Option<Tier>>(5)? {
            Some(_) => Some((self.end(low, row.get(11)?)?, self.end(high, row.get(12)?)?)),
            None => None,
        };
        Ok(Meeting { rule: row.get(0)?, sides: (self.side(low)?, self.side(high)?), ends })
    }

    fn side(&mut self, intent: i64) -> Result<Rc<Side>, Error> {
        let new = match self.sides.entry(intent) {
            Entry::Occupied(known) => return Ok(Rc::clone(known.get())),
            Entry::Vacant(new) => new,
        };
        let mut find = self.snapshot.connection().prepare_cached(
            "SELECT self.uid, coalesce(agent.name, '?'), owner.uid FROM aggregate self
             LEFT JOIN intent ON intent.id = self.id LEFT JOIN agent ON agent.id = intent.agent
             LEFT JOIN aggregate owner ON owner.id = intent.agent WHERE self.id = ?1",
        )?;
        let side = find.query_row([intent], |row| {
            Ok(Side { intent: row.get(0)?, agent: row.get(1)?, owner: row.get(2)? })
        })?;
        Ok(Rc::clone(new.insert(Rc::new(side))))
    }

    fn end(&mut self, intent: i64, scope: i64) -> Result<Rc<End>, Error> {
        let new = match self.ends.entry((intent, scope)) {
            Entry::Occupied(known) => return Ok(Rc::clone(known.get())),
            Entry::Vacant(new) => new,
        };
        let connection = self.snapshot.connection();
        let (kind, full) = match self.scopes.entry(scope) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => {
                let mut find = connection.prepare_cached("SELECT kind, full FROM scope WHERE id = ?1")?;
                new.insert(find.query_row([scope], |row| Ok((row.get(0)?, row.get(1)?)))?).clone()
            }
        };
        let key = self.snapshot.spelling(intent, scope)?;
        let end = End { kind, key: key.unwrap_or_else(|| full.to_string()), full };
        Ok(Rc::clone(new.insert(Rc::new(end))))
    }

    fn time(&mut self, seq: i64) -> Result<Timestamp, Error> {
        let new = match self.times.entry(seq) {
            Entry::Occupied(known) => return Ok(*known.get()),
            Entry::Vacant(new) => new,
        };
        let mut find =
            self.snapshot.connection().prepare_cached("SELECT created_at FROM event WHERE seq = ?1")?;
        Ok(*new.insert(find.query_row([seq], |row| row.get(0))?))
    }

    fn decision(&self, decision: i64) -> Result<Decision, Error> {
        let mut find = self.snapshot.connection().prepare_cached(
            "SELECT decision.uid, decider.uid, title, rationale, decided_at
             FROM decision JOIN aggregate decider ON decider.id = decision.agent WHERE decision.id = ?1",
        )?;
        Ok(find.query_row([decision], |row| {
            let (id, agent_id, title) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Decision { id, agent_id, title, rationale: row.get(3)?, decided_at: row.get(4)? })
        })?)
    }
}
