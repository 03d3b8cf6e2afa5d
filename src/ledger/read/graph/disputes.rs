//! Conflicts as the graph shows them, and the events in which they were seen.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::Row;

use crate::domain::conflict::{Decision, Detection, detection_identity};
use crate::domain::fact::{ConflictDetected, Fact};
use crate::domain::{
    Agent, Conflict, ConflictStatus, Event, Id, Intent, Rule, ScopeKind, Severity, Timestamp,
};
use crate::ledger::Error;
use crate::ledger::read::Snapshot;

/// A conflict.
#[derive(Debug, Clone, Copy)]
pub struct DrawnConflict {
    /// Its place among all: the event in which it was first seen, and its key, for one event may find
    /// many.
    pub place: DrawnPlace,
    /// How much it matters.
    pub severity: Severity,
    /// Where it stands.
    pub status: ConflictStatus,
    /// Number of the decision that settled it.
    pub decision: Option<i64>,
}

/// First event, pair, rule and the scopes of both sides, all but the rule by numbers in this file.
pub type DrawnPlace = (u64, i64, Rule, i64, i64);

/// What a conflict is about.
#[derive(Debug, Clone, Copy)]
pub struct DrawnIdentity {
    /// Its id.
    pub id: Id<Conflict>,
    /// Its intents, the smaller id first.
    pub between: (Id<Intent>, Id<Intent>),
    /// When it was first seen.
    pub seen_at: Timestamp,
}

/// A decision.
#[derive(Debug, Clone)]
pub struct DrawnDecision {
    /// Its id.
    pub id: Id<Decision>,
    /// Who recorded it.
    pub agent: Id<Agent>,
    /// What was agreed.
    pub title: String,
    /// When.
    pub decided_at: Timestamp,
}

/// One observation of a conflict.
#[derive(Debug, Clone, Copy)]
pub struct DrawnDetection {
    /// Its id.
    pub id: Id<Detection>,
    /// The conflict that was seen.
    pub conflict: Id<Conflict>,
    /// The event in which it was seen.
    pub seq: u64,
    /// How much it mattered.
    pub severity: Severity,
    /// Thousandths.
    pub score: u16,
    /// When.
    pub created_at: Timestamp,
}

/// Findings of one event.
struct Sighted {
    seq: u64,
    event: Id<Event>,
    acting: Id<Intent>,
    fact: ConflictDetected,
    created_at: Timestamp,
}

impl Snapshot<'_> {
    /// Every conflict of the intent with this number, in no order.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn drawn_conflicts(&self, intent: i64) -> Result<Vec<DrawnConflict>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT first_seq, conflict.pair, rule, low_scope, high_scope, severity, status, decision
             FROM pair_of CROSS JOIN conflict ON conflict.pair = pair_of.pair WHERE pair_of.intent = ?1",
        )?;
        let found = find.query_map([intent], |row| {
            Ok(DrawnConflict {
                place: (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?),
                severity: row.get(5)?,
                status: row.get(6)?,
                decision: row.get(7)?,
            })
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// What a conflict is about.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn drawn_identity(&self, place: DrawnPlace) -> Result<DrawnIdentity, Error> {
        let (first_seq, pair, rule, low_scope, high_scope) = place;
        let mut find = self.connection().prepare_cached(
            "SELECT low.uid, high.uid, created_at, low_scope.kind, low_scope.full, high_scope.kind, high_scope.full
             FROM pair JOIN aggregate low ON low.id = pair.low JOIN aggregate high ON high.id = pair.high
             JOIN event ON event.seq = ?2
             LEFT JOIN scope low_scope ON low_scope.id = ?3 LEFT JOIN scope high_scope ON high_scope.id = ?4
             WHERE pair.id = ?1",
        )?;
        Ok(find.query_row((pair, first_seq, low_scope, high_scope), |row| {
            let scope = |row: &Row<'_>, first: usize| {
                let (kind, full): (Option<ScopeKind>, Option<String>) =
                    (row.get(first)?, row.get(first + 1)?);
                Ok::<_, rusqlite::Error>((kind.map_or("", ScopeKind::as_str), full.unwrap_or_default()))
            };
            let (low, high): (Id<Intent>, Id<Intent>) = (row.get(0)?, row.get(1)?);
            let ((low_kind, low_full), (high_kind, high_full)) = (scope(row, 3)?, scope(row, 5)?);
            let id = Conflict::identity(rule, [(low, low_kind, &low_full), (high, high_kind, &high_full)]);
            Ok(DrawnIdentity { id, between: (low, high), seen_at: row.get(2)? })
        })?)
    }

    /// The decision with this number.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn drawn_decision(&self, decision: i64) -> Result<DrawnDecision, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT decision.uid, owner.uid, title, decided_at
             FROM decision JOIN aggregate owner ON owner.id = decision.agent WHERE decision.id = ?1",
        )?;
        Ok(find.query_row([decision], |row| {
            Ok(DrawnDecision {
                id: row.get(0)?,
                agent: row.get(1)?,
                title: row.get(2)?,
                decided_at: row.get(3)?,
            })
        })?)
    }

    /// Every observation of these conflicts, each with the number of its pair, newest first.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn drawn_detections(&self, conflicts: &[(i64, DrawnIdentity)]) -> Result<Vec<DrawnDetection>, Error> {
        let mut pairs: HashMap<i64, Vec<&DrawnIdentity>> = HashMap::new();
        for (pair, conflict) in conflicts {
            pairs.entry(*pair).or_default().push(conflict);
        }
        // An event may speak of many pairs, and is parsed once.
        let (mut events, mut seen) = (HashMap::new(), Vec::new());
        let mut find = self.connection().prepare_cached("SELECT seq FROM event_pair WHERE pair = ?1")?;
        for (pair, wanted) in pairs {
            for seq in find.query_map([pair], |row| row.get::<_, u64>(0))? {
                let event = match events.entry(seq?) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => {
                        let found = self.sighted(*new.key())?;
                        new.insert(found)
                    }
                };
                if let Some(event) = event {
                    event.of(&wanted, &mut seen);
                }
            }
        }
        seen.sort_by_key(|one| (Reverse(one.seq), one.id));
        Ok(seen)
    }

    /// What an event found, if it is such an event and had an effect.
    fn sighted(&self, seq: u64) -> Result<Option<Sighted>, Error> {
        let Some(said) = self.said(seq)? else { return Ok(None) };
        Ok(match (said.fact, Id::exact(&said.entity_id)) {
            (Fact::ConflictDetected(fact) | Fact::ConflictRedetected(fact), Some(acting)) => {
                Some(Sighted { seq, event: said.event_id, acting, fact, created_at: said.created_at })
            }
            _ => None,
        })
    }
}

impl Sighted {
    /// Adds the observations of these conflicts, all of one pair.
    fn of(&self, wanted: &[&DrawnIdentity], seen: &mut Vec<DrawnDetection>) {
        let between = |with: Id<Intent>| (self.acting.min(with), self.acting.max(with));
        let sides = wanted.first().map(|conflict| conflict.between);
        for pair in self.fact.pairs.iter().filter(|pair| Some(between(pair.with)) == sides) {
            for sighting in &pair.found {
                let conflict = self.fact.identity(self.acting, pair.with, sighting);
                let Some(conflict) = conflict.filter(|id| wanted.iter().any(|one| one.id == *id)) else {
                    continue;
                };
                seen.push(DrawnDetection {
                    id: detection_identity(self.event, conflict),
                    conflict,
                    seq: self.seq,
                    severity: sighting.severity,
                    score: sighting.score,
                    created_at: self.created_at,
                });
            }
        }
    }
}
