//! What events say: one typed payload per event type, in the exact form that is hashed.
//!
//! `shared` may leave the machine; `local` (absolute paths and the like) never does. A field
//! or type this version does not know is kept in the ledger and skipped here.

use serde::{Deserialize, Serialize};

use super::conflict::{Tier, detection_identity};
use super::metadata::Metadata;
use super::{
    CanonicalScope, Conflict, Event, Id, Intent, Rule, Scope, ScopeClaim, ScopeKind, ScopeOperation,
    Severity, Task,
};

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// `agent.registered`
    AgentRegistered(AgentRegistered),
    /// `intent.published`
    IntentPublished(IntentPublished),
    /// `intent.amended`
    IntentAmended(IntentAmended),
    /// `conflict.detected`
    ConflictDetected(ConflictDetected),
    /// `conflict.redetected`
    ConflictRedetected(ConflictDetected),
    /// `conflict.dismissed`
    ConflictDismissed(ConflictDismissed),
    /// `findings.owed`
    FindingsOwed(Counterparts),
    /// `findings.settled`
    FindingsSettled(Counterparts),
}

/// An agent introduced itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRegistered {
    /// The name it gave itself.
    pub name: String,
    /// The model behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it says it can do.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// Branch checked out in its worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// Commit checked out in its worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_head: Option<String>,
    /// Root of its worktree; the local part.
    #[serde(skip)]
    pub worktree: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct AgentRegisteredLocal {
    worktree: String,
}

/// An agent said what it is about to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntentPublished {
    /// Title of the task as written.
    pub task: String,
    /// The task.
    pub task_id: Id<Task>,
    /// What will be done.
    pub summary: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// What it touches, in the order of declaration, no full form twice.
    pub scopes: Vec<PublishedScope>,
    /// Intents it builds on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<Id<Intent>>,
    /// Whatever else the agent attached.
    #[serde(default)]
    pub metadata: Metadata,
}

/// A declared scope with the canonical forms of the version that declared it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedScope {
    /// What kind of thing it is.
    pub kind: ScopeKind,
    /// Spelling as declared, a `file:` key relative to the worktree root.
    pub key: String,
    /// What the intent does to it.
    pub operation: ScopeOperation,
    /// Whether the operation was read from prose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inferred: bool,
    /// Full canonical form.
    pub full: String,
    /// Alias, where it differs from `full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
}

impl PublishedScope {
    /// The scope with the forms it is compared by.
    #[must_use]
    pub fn new(claim: ScopeClaim, canonical: CanonicalScope) -> Self {
        let ScopeClaim { kind, key, operation, inferred } = claim;
        let alias = (canonical.alias != canonical.full).then_some(canonical.alias);
        Self { kind, key, operation, inferred, full: canonical.full, alias }
    }

    /// The forms it is compared by.
    #[must_use]
    pub fn canonical(&self) -> CanonicalScope {
        let alias = self.alias.clone().unwrap_or_else(|| self.full.clone());
        CanonicalScope { kind: self.kind, full: self.full.clone(), alias }
    }
}

/// The owner changed what the intent touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentAmended {
    /// What it touches now, in the order of declaration, no full form twice.
    pub scopes: Vec<PublishedScope>,
    /// What will be done now, if that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Conflicts of the acting intent that no longer hold, by counterpart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictDismissed {
    /// The counterpart and the conflicts with it.
    pub pairs: Vec<(Id<Intent>, Vec<Id<Conflict>>)>,
    /// Why.
    pub reason: String,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// What was found between the acting intent and one counterpart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairFindings {
    /// The counterpart.
    pub with: Id<Intent>,
    /// The findings.
    pub found: Vec<Sighting>,
}

/// One finding, `mine` being the acting intent's side. Stored as an array to stay small.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredSighting", into = "StoredSighting")]
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
    /// My operation and theirs.
    pub operations: (ScopeOperation, ScopeOperation),
    /// Whether mine or theirs was read from prose.
    pub inferred: (bool, bool),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredSighting {
    /// Rule, tier, scopes, operations, flags, severity, score; flags: 1 asserted, 2 mine and 4
    /// theirs inferred.
    Meeting(Rule, Tier, (usize, usize), (ScopeOperation, ScopeOperation), u8, Severity, u16),
    /// Rule, severity, score, similarity.
    Duplicate(Rule, Severity, u16, u16),
}

impl From<Sighting> for StoredSighting {
    fn from(s: Sighting) -> Self {
        match s.at {
            Some(SightedAt { tier, scopes, operations, inferred }) => {
                let flags = u8::from(s.asserted) | u8::from(inferred.0) << 1 | u8::from(inferred.1) << 2;
                Self::Meeting(s.rule, tier, scopes, operations, flags, s.severity, s.score)
            }
            None => Self::Duplicate(s.rule, s.severity, s.score, s.similarity.unwrap_or(0)),
        }
    }
}

impl From<StoredSighting> for Sighting {
    fn from(stored: StoredSighting) -> Self {
        match stored {
            StoredSighting::Meeting(rule, tier, scopes, operations, flags, severity, score) => {
                let flag = |bit: u8| flags & bit != 0;
                let at = SightedAt { tier, scopes, operations, inferred: (flag(2), flag(4)) };
                Self { rule, at: Some(at), similarity: None, asserted: flag(1), severity, score }
            }
            StoredSighting::Duplicate(rule, severity, score, similarity) => {
                Self { rule, at: None, similarity: Some(similarity), asserted: false, severity, score }
            }
        }
    }
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
                    described.insert("operation".to_owned(), serde_json::json!(at.operations.0));
                    described.insert("their_operation".to_owned(), serde_json::json!(at.operations.1));
                }
                Some(described)
            })
            .collect();
        serde_json::json!({ "conflicts": conflicts, "omitted": self.omitted })
    }
}

impl Fact {
    /// The event type, the version of its payload's shape and the type of its entity.
    #[must_use]
    pub const fn heading(&self) -> (&'static str, u32, &'static str) {
        match self {
            Self::AgentRegistered(_) => ("agent.registered", 1, "Agent"),
            Self::IntentPublished(_) => ("intent.published", 1, "Intent"),
            Self::IntentAmended(_) => ("intent.amended", 1, "Intent"),
            Self::ConflictDetected(_) => ("conflict.detected", 1, "Intent"),
            Self::ConflictRedetected(_) => ("conflict.redetected", 1, "Intent"),
            Self::ConflictDismissed(_) => ("conflict.dismissed", 1, "Intent"),
            Self::FindingsOwed(_) => ("findings.owed", 1, "Intent"),
            Self::FindingsSettled(_) => ("findings.settled", 1, "Intent"),
        }
    }

    /// The part that may leave the machine, as JSON text.
    ///
    /// # Errors
    /// When a value cannot be written as JSON.
    pub fn shared(&self) -> serde_json::Result<String> {
        match self {
            Self::AgentRegistered(fact) => serde_json::to_string(fact),
            Self::IntentPublished(fact) => serde_json::to_string(fact),
            Self::IntentAmended(fact) => serde_json::to_string(fact),
            Self::ConflictDetected(fact) | Self::ConflictRedetected(fact) => serde_json::to_string(fact),
            Self::ConflictDismissed(fact) => serde_json::to_string(fact),
            Self::FindingsOwed(fact) | Self::FindingsSettled(fact) => serde_json::to_string(fact),
        }
    }

    /// The part that stays on this machine, as JSON text.
    ///
    /// # Errors
    /// When a value cannot be written as JSON.
    pub fn local(&self) -> serde_json::Result<Option<String>> {
        match self {
            Self::AgentRegistered(AgentRegistered { worktree: Some(worktree), .. }) => {
                serde_json::to_string(&AgentRegisteredLocal { worktree: worktree.clone() }).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Reads a stored payload; `None` for a type, version or shape this version does not know.
    #[must_use]
    pub fn read(event_type: &str, version: u32, shared: &str, local: Option<&str>) -> Option<Self> {
        match (event_type, version) {
            ("agent.registered", 1) => {
                let mut fact: AgentRegistered = serde_json::from_str(shared).ok()?;
                fact.worktree = local
                    .and_then(|local| serde_json::from_str::<AgentRegisteredLocal>(local).ok())
                    .map(|local| local.worktree);
                Some(Self::AgentRegistered(fact))
            }
            ("intent.published", 1) => serde_json::from_str(shared).ok().map(Self::IntentPublished),
            ("intent.amended", 1) => serde_json::from_str(shared).ok().map(Self::IntentAmended),
            ("conflict.detected", 1) => serde_json::from_str(shared).ok().map(Self::ConflictDetected),
            ("conflict.redetected", 1) => serde_json::from_str(shared).ok().map(Self::ConflictRedetected),
            ("conflict.dismissed", 1) => serde_json::from_str(shared).ok().map(Self::ConflictDismissed),
            ("findings.owed", 1) => serde_json::from_str(shared).ok().map(Self::FindingsOwed),
            ("findings.settled", 1) => serde_json::from_str(shared).ok().map(Self::FindingsSettled),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sighting() -> Sighting {
        Sighting {
            rule: Rule::DestructiveVsAdditive,
            at: Some(SightedAt {
                tier: Tier::Same,
                scopes: (0, 0),
                operations: (ScopeOperation::Replace, ScopeOperation::Extend),
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
        let text = serde_json::to_string(&sighting()).unwrap();
        assert_eq!(text, r#"["FM-C001","same",[0,0],["replace","extend"],4,"MEDIUM",970]"#);
        assert_eq!(serde_json::from_str::<Sighting>(&text).unwrap(), sighting());
        let duplicate = Sighting { rule: Rule::DuplicateWork, at: None, similarity: Some(667), ..sighting() };
        let text = serde_json::to_string(&duplicate).unwrap();
        assert_eq!(text, r#"["FM-C004","MEDIUM",970,667]"#);
        assert_eq!(serde_json::from_str::<Sighting>(&text).unwrap(), duplicate);
    }

    #[test]
    fn the_local_part_stays_out_of_the_shared_text() {
        let fact = Fact::AgentRegistered(AgentRegistered {
            name: "a".into(),
            model: None,
            capabilities: vec![],
            git_branch: None,
            git_head: None,
            worktree: Some("/home/me/secret".into()),
        });
        let (shared, local) = (fact.shared().unwrap(), fact.local().unwrap());
        assert!(!shared.contains("secret"), "{shared}");
        assert_eq!(Fact::read("agent.registered", 1, &shared, local.as_deref()), Some(fact));
    }

    #[test]
    fn unknown_types_versions_and_shapes_are_skipped_and_unknown_fields_ignored() {
        assert_eq!(Fact::read("agent.promoted", 1, "{}", None), None);
        assert_eq!(Fact::read("agent.registered", 2, r#"{"name":"a"}"#, None), None);
        assert_eq!(Fact::read("agent.registered", 1, r#"{"nom":"a"}"#, None), None);
        assert!(Fact::read("agent.registered", 1, r#"{"name":"a","later":1}"#, None).is_some());
    }

    #[test]
    fn a_finding_that_names_no_listed_scope_has_no_identity() {
        let fact = ConflictDetected { scopes: vec![], pairs: vec![], omitted: 0 };
        assert_eq!(fact.identity(Id::from_bytes([1; 16]), Id::from_bytes([2; 16]), &sighting()), None);
    }
}
