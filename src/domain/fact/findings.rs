//! What was found between intents.

use serde::{Deserialize, Serialize};

use super::Payload;
use crate::domain::conflict::{Tier, detection_identity};
use crate::domain::word::words;
use crate::domain::{Conflict, Event, Id, Intent, Rule, Scope, ScopeKind, ScopeOperation, Severity};

/// Conflicts of the acting intent that no longer hold, by counterpart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictDismissed {
    /// The counterpart and the conflicts with it.
    pub pairs: Vec<(Id<Intent>, Vec<Id<Conflict>>)>,
    /// Why.
    pub reason: Dismissal,
}

words! {
    /// Why a conflict does not hold any more.
    pub enum Dismissal: "reason" {
        /// An intent was amended or adopted: what is seen again afterwards is open again.
        OverlapGone = 1, "overlap_gone";
        /// A claim was released or ran out: claimed again, it is open again.
        ClaimEnded = 2, "claim_ended";
        /// A side was given up.
        Discarded = 3, "discarded";
        /// Both sides have ended.
        Ended = 4, "ended";
    }
}

impl Dismissal {
    /// Whether the matter is closed, rather than gone for the time being.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Discarded | Self::Ended)
    }
}

/// Other intents that the acting intent was, or was not yet, compared with. Owed: their owners
/// have been silent, findings below HIGH wait for their return. Settled: the acting intent's
/// owner returned and they were compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counterparts {
    /// The other intents.
    pub with: Vec<Id<Intent>>,
}

/// One acting call found conflicts; the entity is the acting intent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConflictDetected {
    /// Every scope named below, once: kind and full form.
    pub scopes: Vec<(ScopeKind, String)>,
    /// What was found, by counterpart.
    pub pairs: Vec<PairFindings>,
    /// Findings below HIGH that were left unrecorded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde asks for")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What was found between the acting intent and one counterpart. Stored as `[with, found]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "(Id<Intent>, Vec<Sighting>)", into = "(Id<Intent>, Vec<Sighting>)")]
pub struct PairFindings {
    /// The counterpart.
    pub with: Id<Intent>,
    /// The findings.
    pub found: Vec<Sighting>,
}

impl From<(Id<Intent>, Vec<Sighting>)> for PairFindings {
    fn from((with, found): (Id<Intent>, Vec<Sighting>)) -> Self {
        Self { with, found }
    }
}

impl From<PairFindings> for (Id<Intent>, Vec<Sighting>) {
    fn from(pair: PairFindings) -> Self {
        (pair.with, pair.found)
    }
}

/// One finding, `mine` being the acting intent's side.
///
/// Findings are most of what a busy ledger holds, so one is stored as an array of numbers, words by
/// their codes: `[rule, severity, score, similarity]` for duplicate work, otherwise
/// `[rule, severity, score, tier, my scope, their scope, my operation, their operation, flags]`
/// with operation 0 where there is none and flags 1 asserted, 2 mine and 4 theirs inferred.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct Sighting {
    /// The rule.
    pub rule: Rule,
    /// Where the two meet; `None` for duplicate work.
    pub at: Option<SightedAt>,
    /// Share of words both summaries have, in thousandths, for duplicate work.
    pub similarity: Option<u16>,
    /// Whether the overlap is certain and both operations were declared.
    pub asserted: bool,
    /// How much it matters.
    pub severity: Severity,
    /// Thousandths.
    pub score: u16,
}

/// Where two intents meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SightedAt {
    /// How the scopes overlap.
    pub tier: Tier,
    /// Index of my scope and of theirs in [`ConflictDetected::scopes`].
    pub scopes: (usize, usize),
    /// My operation and theirs; claims have none.
    pub operations: Option<(ScopeOperation, ScopeOperation)>,
    /// Whether mine or theirs was read from prose.
    pub inferred: (bool, bool),
}

impl From<Sighting> for Vec<u32> {
    fn from(sighting: Sighting) -> Self {
        let Sighting { rule, at, similarity, asserted, severity, score } = sighting;
        let head = [rule.code().into(), severity.code().into(), score.into()];
        let Some(SightedAt { tier, scopes, operations, inferred }) = at else {
            return [head.as_slice(), &[similarity.unwrap_or(0).into()]].concat();
        };
        let place = |scope: usize| u32::try_from(scope).unwrap_or(u32::MAX);
        let (mine, theirs) =
            operations.map_or((0, 0), |(mine, theirs)| (mine.code().into(), theirs.code().into()));
        let flags = u32::from(asserted) | u32::from(inferred.0) << 1 | u32::from(inferred.1) << 2;
        [head.as_slice(), &[tier.code().into(), place(scopes.0), place(scopes.1), mine, theirs, flags]]
            .concat()
    }
}

impl TryFrom<Vec<u32>> for Sighting {
    type Error = &'static str;

    fn try_from(stored: Vec<u32>) -> Result<Self, Self::Error> {
        read_sighting(&stored).ok_or("a finding of another shape")
    }
}

fn read_sighting(stored: &[u32]) -> Option<Sighting> {
    let code = |number: u32| u8::try_from(number).ok();
    let operation = |number| ScopeOperation::from_code(code(number)?);
    let [rule, severity, score, rest @ ..] = stored else { return None };
    let (at, similarity, asserted) = match *rest {
        [similarity] => (None, Some(u16::try_from(similarity).ok()?), false),
        [tier, mine, theirs, my_operation, their_operation, flags] => {
            let operations = match (my_operation, their_operation) {
                (0, 0) => None,
                (mine, theirs) => Some((operation(mine)?, operation(theirs)?)),
            };
            let scopes = (usize::try_from(mine).ok()?, usize::try_from(theirs).ok()?);
            let inferred = (flags & 2 != 0, flags & 4 != 0);
            let at = SightedAt { tier: Tier::from_code(code(tier)?)?, scopes, operations, inferred };
            (Some(at), None, flags & 1 != 0)
        }
        _ => return None,
    };
    Some(Sighting {
        rule: Rule::from_code(code(*rule)?)?,
        at,
        similarity,
        asserted,
        severity: Severity::from_code(code(*severity)?)?,
        score: u16::try_from(*score).ok()?,
    })
}

impl ConflictDetected {
    /// The conflict a sighting is an observation of; `None` when it names a scope that is not
    /// listed.
    #[must_use]
    pub fn identity(
        &self,
        acting: Id<Intent>,
        with: Id<Intent>,
        sighting: &Sighting,
    ) -> Option<Id<Conflict>> {
        let side = |place: usize| self.scopes.get(place).map(|(kind, full)| (kind.as_str(), full.as_str()));
        let (mine, theirs) = match sighting.at {
            Some(at) => (side(at.scopes.0)?, side(at.scopes.1)?),
            None => (("", ""), ("", "")),
        };
        Some(Conflict::identity(sighting.rule, [(acting, mine.0, mine.1), (with, theirs.0, theirs.1)]))
    }

    /// Every conflict it observes, as the intent `acting`.
    pub fn identities(&self, acting: Id<Intent>) -> impl Iterator<Item = Id<Conflict>> {
        let sightings = self.pairs.iter().flat_map(|pair| pair.found.iter().map(|found| (pair.with, found)));
        sightings.filter_map(move |(with, found)| self.identity(acting, with, found))
    }

    /// The payload as clients read it: `conflicts[]` with conflict and detection ids.
    #[must_use]
    pub fn describe(&self, event: Id<Event>, acting: Id<Intent>) -> serde_json::Value {
        let sightings =
            self.pairs.iter().flat_map(|pair| pair.found.iter().map(move |found| (pair.with, found)));
        let conflicts: Vec<_> = sightings
            .filter_map(|(with, found)| {
                let conflict = self.identity(acting, with, found)?;
                let mut described = serde_json::json!({
                    "conflict_id": conflict,
                    "detection_id": detection_identity(event, conflict),
                    "kind": found.rule.kind(),
                    "rule": found.rule,
                    "severity": found.severity,
                    "score": f64::from(found.score) / 1000.0,
                    "with_intent_id": with,
                });
                if let (Some(at), Some(described)) = (found.at, described.as_object_mut()) {
                    let scope = |(kind, full): &(ScopeKind, String)| Scope { kind: *kind, key: full.clone() };
                    described.insert("scope".to_owned(), serde_json::json!(scope(&self.scopes[at.scopes.0])));
                    described.insert(
                        "their_scope".to_owned(),
                        serde_json::json!(scope(&self.scopes[at.scopes.1])),
                    );
                    if let Some((mine, theirs)) = at.operations {
                        described.insert("operation".to_owned(), serde_json::json!(mine));
                        described.insert("their_operation".to_owned(), serde_json::json!(theirs));
                    }
                }
                Some(described)
            })
            .collect();
        serde_json::json!({ "conflicts": conflicts, "omitted": self.omitted })
    }
}

impl Payload for ConflictDetected {}
impl Payload for ConflictDismissed {}
impl Payload for Counterparts {}

#[cfg(test)]
mod tests {
    use super::*;

    fn sighting() -> Sighting {
        Sighting {
            rule: Rule::DestructiveVsAdditive,
            at: Some(SightedAt {
                tier: Tier::Same,
                scopes: (0, 1),
                operations: Some((ScopeOperation::Replace, ScopeOperation::Extend)),
                inferred: (false, true),
            }),
            similarity: None,
            asserted: false,
            severity: Severity::Medium,
            score: 970,
        }
    }

    #[test]
    fn a_stored_finding_is_small_and_reads_back_as_itself() {
        let claimed = SightedAt { operations: None, ..sighting().at.unwrap() };
        let stored = [
            (sighting(), "[1,2,970,1,0,1,4,2,4]"),
            (Sighting { at: Some(claimed), asserted: true, ..sighting() }, "[1,2,970,1,0,1,0,0,5]"),
            (
                Sighting { rule: Rule::DuplicateWork, at: None, similarity: Some(667), ..sighting() },
                "[4,2,970,667]",
            ),
        ];
        for (sighting, expected) in stored {
            let text = serde_json::to_string(&sighting).unwrap();
            assert_eq!(text, expected);
            assert_eq!(serde_json::from_str::<Sighting>(&text).unwrap(), sighting);
        }
    }

    #[test]
    fn a_finding_of_another_shape_is_not_guessed_at() {
        for stored in
            ["[]", "[1,2,970]", "[99,2,970,667]", "[1,2,970,1,0,1,4,0,0]", "[1,2,970,1,0,1,4,2,4,7]"]
        {
            assert!(serde_json::from_str::<Sighting>(stored).is_err(), "{stored}");
        }
    }

    #[test]
    fn a_finding_that_names_no_listed_scope_has_no_identity() {
        let fact = ConflictDetected { scopes: vec![], pairs: vec![], omitted: 0 };
        assert_eq!(fact.identity(Id::from_bytes([1; 16]), Id::from_bytes([2; 16]), &sighting()), None);
    }
}
