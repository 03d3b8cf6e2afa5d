//! What was found against other intents, and what of it goes on record.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::silence::Silence;
use crate::detect::bounds::{self, Against};
use crate::detect::findings::Finding;
use crate::domain::fact::{ConflictDetected, PairFindings, SightedAt, Sighting};
use crate::domain::{Conflict, Id, Intent, ScopeKind, Severity, Timestamp};
use crate::failure::Failure;
use crate::ledger::Snapshot;

/// What an intent meets. Counterparts and their scopes go by their numbers in the file.
#[derive(Default)]
pub struct Findings {
    /// Kind and full form of the acting intent's scopes, which findings name by their places.
    pub(super) mine: Vec<(ScopeKind, String)>,
    pub(super) met: BTreeMap<i64, Met>,
}

/// What was found against one counterpart.
pub(super) struct Met {
    pub agent: i64,
    pub published_at: Timestamp,
    /// The second number of each meeting is that of the scope in the dictionary.
    pub findings: Vec<Finding>,
}

impl Findings {
    /// Leaves out what was found against this intent.
    pub fn forget(&mut self, intent: i64) {
        self.met.remove(&intent);
    }

    /// Keeps what was found against these intents alone.
    pub fn keep(&mut self, intents: &BTreeSet<i64>) {
        self.met.retain(|intent, _| intents.contains(intent));
    }

    /// What of it goes on record, and the intents whose silent owners are owed the rest: against
    /// them only HIGH is recorded.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn recordable(&self, snapshot: &Snapshot<'_>, silence: &mut Silence) -> Result<Recordable, Failure> {
        let mut near = Vec::with_capacity(self.met.len());
        let mut owed = Vec::new();
        for (row, met) in &self.met {
            let mut findings = Cow::from(&met.findings);
            if silence.stopped(snapshot, *row, met.agent)?.is_some() {
                let high = |finding: &&Finding| finding.severity == Severity::High;
                findings = met.findings.iter().filter(high).cloned().collect();
                if findings.len() < met.findings.len() {
                    owed.push(snapshot.intent_id(*row)?);
                }
            }
            if !findings.is_empty() {
                near.push((*row, met.published_at, findings));
            }
        }
        let beyond = bounds::drop_beyond(&mut near, |(_, published_at, findings)| (findings, *published_at));
        let mut against = Vec::with_capacity(near.len());
        for (row, published_at, findings) in near {
            let (intent, findings) = (snapshot.intent_id(row)?, findings.into_owned());
            against.push(Against { intent, published_at, findings });
        }
        let (recorded, omitted) = bounds::recorded(against);
        let omitted = omitted + beyond;
        let mut listed = Listed::default();
        let mut pairs = Vec::with_capacity(recorded.len());
        for against in recorded {
            let mut found = Vec::with_capacity(against.findings.len());
            for finding in against.findings {
                let at = match finding.at {
                    None => None,
                    Some(at) => {
                        let mine = listed.place(self.mine[at.scopes.0].clone());
                        let theirs = listed.theirs(snapshot, at.scopes.1)?;
                        let (tier, operations, inferred) = (at.tier, at.operations, at.inferred);
                        Some(SightedAt { tier, scopes: (mine, theirs), operations, inferred })
                    }
                };
                found.push(Sighting {
                    rule: finding.rule,
                    at,
                    similarity: finding.similarity,
                    asserted: finding.asserted,
                    severity: finding.severity,
                    score: finding.score,
                });
            }
            pairs.push(PairFindings { with: against.intent, found });
        }
        Ok(Recordable { findings: ConflictDetected { scopes: listed.scopes, pairs, omitted }, owed })
    }

    /// Every conflict that the comparison shows to hold, on record or not, as the intent `acting`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn identities(
        &self,
        snapshot: &Snapshot<'_>,
        acting: Id<Intent>,
    ) -> Result<HashSet<Id<Conflict>>, Failure> {
        let mut holding = HashSet::new();
        for (row, met) in &self.met {
            let with = snapshot.intent_id(*row)?;
            for finding in &met.findings {
                let theirs;
                let (mine, other) = match finding.at {
                    None => (("", ""), ("", "")),
                    Some(at) => {
                        let (kind, full) = &self.mine[at.scopes.0];
                        theirs = snapshot.scope(at.scopes.1)?;
                        ((kind.as_str(), full.as_str()), (theirs.0.as_str(), theirs.1.as_str()))
                    }
                };
                holding.insert(Conflict::identity(
                    finding.rule,
                    [(acting, mine.0, mine.1), (with, other.0, other.1)],
                ));
            }
        }
        Ok(holding)
    }
}

/// What of a comparison goes on record.
#[derive(Debug, PartialEq)]
pub struct Recordable {
    /// The findings; without pairs when there are none.
    pub findings: ConflictDetected,
    /// Intents of silent owners with findings below HIGH.
    pub owed: Vec<Id<Intent>>,
}

/// Scopes an event names, each once.
#[derive(Default)]
struct Listed {
    scopes: Vec<(ScopeKind, String)>,
    places: HashMap<(ScopeKind, String), usize>,
    by_number: HashMap<usize, usize>,
}

impl Listed {
    fn place(&mut self, scope: (ScopeKind, String)) -> usize {
        *self.places.entry(scope).or_insert_with_key(|scope| {
            self.scopes.push(scope.clone());
            self.scopes.len() - 1
        })
    }

    fn theirs(&mut self, snapshot: &Snapshot<'_>, number: usize) -> Result<usize, Failure> {
        if let Some(place) = self.by_number.get(&number) {
            return Ok(*place);
        }
        let place = self.place(snapshot.scope(number)?);
        self.by_number.insert(number, place);
        Ok(place)
    }
}
