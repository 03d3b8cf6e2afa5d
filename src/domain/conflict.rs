//! Conflicts: findings on record between two intents.

use super::cut::Cut;
use super::id::IdKind;
use super::word::words;
use super::{Agent, Digest, Event, Id, Intent, Scope, ScopeOperation, Timestamp};

words! {
    /// The rule behind a finding.
    pub enum Rule: "rule" {
        /// One side breaks what the other builds on.
        DestructiveVsAdditive = 1, "FM-C001";
        /// Both sides break the same thing, each in its own way.
        DivergentRewrite = 2, "FM-C002";
        /// Both sides change the same thing and keep it.
        SharedContract = 3, "FM-C003";
        /// Both sides say they will do the same.
        DuplicateWork = 4, "FM-C004";
        /// Both sides claim the same thing.
        OverlappingClaim = 5, "FM-C005";
    }
}

impl Rule {
    /// The conflict kind on the wire.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::DestructiveVsAdditive => "destructive_vs_additive",
            Self::DivergentRewrite => "divergent_rewrite",
            Self::SharedContract => "shared_contract",
            Self::DuplicateWork => "duplicate_work",
            Self::OverlappingClaim => "overlapping_claim",
        }
    }
}

words! {
    /// How much a finding matters.
    pub enum Severity: "severity" {
        /// Worth knowing.
        Low = 1, "LOW";
        /// Worth talking about.
        Medium = 2, "MEDIUM";
        /// Blocks acceptance until it is settled.
        High = 3, "HIGH";
    }
}

words! {
    /// How strongly two scopes overlap.
    pub enum Tier: "tier" {
        /// The full forms are equal.
        Same = 1, "same";
        /// Same name, other namespace; or files that differ by case alone.
        SameName = 2, "name";
        /// One key under two kinds.
        OtherKind = 3, "kind";
        /// A directory and what lies below it.
        Inside = 4, "inside";
        /// Names that share nearly all their words.
        SimilarName = 5, "similar";
    }
}

impl Tier {
    /// The overlap in words, as evidence shows it.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Same => "the same semantic scope",
            Self::SameName => "the same name in another namespace",
            Self::OtherKind => "the same key under another kind",
            Self::Inside => "a directory and what lies below it",
            Self::SimilarName => "names that share nearly all their words",
        }
    }
}

words! {
    /// Where a conflict stands.
    pub enum ConflictStatus: "conflict status" {
        /// Nobody has reacted.
        Open = 1, "OPEN";
        /// The parties talk about it.
        Coordinating = 2, "COORDINATING";
        /// The parties agreed.
        Resolved = 3, "RESOLVED";
        /// Accepted in spite of it.
        Overridden = 4, "OVERRIDDEN";
        /// It no longer holds.
        Dismissed = 5, "DISMISSED";
    }
}

impl ConflictStatus {
    /// Whether it still stands between the two sides.
    #[must_use]
    pub const fn is_unsettled(self) -> bool {
        matches!(self, Self::Open | Self::Coordinating)
    }
}

/// Why a finding was made; what does not apply to its rule is absent.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Evidence {
    /// The rule, such as `FM-C001`.
    pub rule: Rule,
    /// Whether the overlap is certain and both operations were declared.
    pub asserted: bool,
    /// How the scopes overlap.
    #[serde(flatten)]
    pub at: Option<EvidenceAt>,
    /// Share of words both summaries have, for duplicate work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_jaccard: Option<f64>,
    /// True where it is claims that overlap, which keep nobody out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub soft_claim: bool,
    /// Whether neither intent had published code.
    pub detected_before_code: bool,
}

/// Where two intents meet, as evidence.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct EvidenceAt {
    /// How the scopes overlap, in words.
    pub overlap: String,
    /// Operation of the source intent; claims have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_operation: Option<ScopeOperation>,
    /// Operation of the target intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_operation: Option<ScopeOperation>,
    /// Scope of the source intent in canonical form.
    pub source_scope: Scope,
    /// Scope of the target intent in canonical form.
    pub target_scope: Scope,
    /// Whether the source operation was read from prose.
    pub source_operation_inferred: bool,
    /// Whether the target operation was read from prose.
    pub target_operation_inferred: bool,
}

/// A decision that settled a conflict.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Decision {
    /// Its identifier; conflicts settled together share it.
    pub id: Id<Decision>,
    /// Who recorded it.
    pub agent_id: Id<Agent>,
    /// What was decided.
    pub title: String,
    /// Why, and after which messages.
    pub rationale: String,
    /// When it was recorded.
    pub decided_at: Timestamp,
}

impl IdKind for Decision {
    const PREFIX: &'static str = "dec";
    const NOUN: &'static str = "decision";
}

/// A conflict on record. The intent with the smaller id is the source.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Conflict {
    /// Derived from rule, intents and scopes: the same on every machine.
    pub id: Id<Conflict>,
    /// The rule's kind.
    pub kind: String,
    /// How much it matters.
    pub severity: Severity,
    /// 0 to 1, three places.
    pub score: f64,
    /// The intent with the smaller id.
    pub source_intent_id: Id<Intent>,
    /// The other intent.
    pub target_intent_id: Id<Intent>,
    /// The source's scope as declared; absent for duplicate work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// What collides, in a sentence.
    pub explanation: String,
    /// The same for a row of a screen.
    #[serde(skip)]
    pub brief: String,
    /// What to do about it.
    pub suggestion: String,
    /// Why the finding was made.
    pub evidence: Evidence,
    /// Where it stands.
    pub status: ConflictStatus,
    /// True where the matter was closed for good: seen again, it stays as it is unless it has
    /// become more severe.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub previously_settled: bool,
    /// When it was first seen.
    pub detected_at: Timestamp,
    /// What settled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

impl IdKind for Conflict {
    const PREFIX: &'static str = "cfl";
    const NOUN: &'static str = "conflict";
    const MISTAKEN: Option<(&'static str, &'static str)> = Some((
        Ephemeral::PREFIX,
        "a what-if finding of `conflicts check` has no record: publish or amend the intent, and what it then collides \
         with gets such an id",
    ));
}

impl Conflict {
    /// The identity of the conflict that `rule` finds between two intents on two full scopes.
    ///
    /// `sides` are (intent, scope kind, full form), in any order.
    #[must_use]
    pub fn identity(rule: Rule, mut sides: [(Id<Intent>, &str, &str); 2]) -> Id<Self> {
        sides.sort();
        let [(low, low_kind, low_full), (high, high_kind, high_full)] = sides;
        Id::derived(&Digest::of_fields(&[
            b"conflict",
            rule.kind().as_bytes(),
            low.as_bytes(),
            low_kind.as_bytes(),
            low_full.as_bytes(),
            high.as_bytes(),
            high_kind.as_bytes(),
            high_full.as_bytes(),
        ]))
    }
}

/// A finding that is not on record; its identifier is good for one answer.
#[derive(Debug)]
pub enum Ephemeral {}

impl IdKind for Ephemeral {
    const PREFIX: &'static str = "eph";
    const NOUN: &'static str = "what-if finding";
}

/// One observation of a conflict.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Detection {
    /// Derived from the event and the conflict: the same on every machine.
    pub id: Id<Detection>,
    /// The conflict that was seen.
    pub conflict_id: Id<Conflict>,
    /// How much it mattered then.
    pub severity: Severity,
    /// 0 to 1, three places.
    pub score: f64,
    /// The source's scope as declared; absent for duplicate work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// What collides, in a sentence.
    pub explanation: String,
    /// The same for a row of a screen.
    #[serde(skip)]
    pub brief: String,
    /// What to do about it.
    pub suggestion: String,
    /// Why the finding was made.
    pub evidence: Evidence,
    /// Whether the matter was closed for good by then, at this severity or a higher one: this sight
    /// did not open it again.
    pub previously_settled: bool,
    /// When it was seen.
    pub detected_at: Timestamp,
    /// The event that recorded it.
    pub event_id: Id<Event>,
    /// That event's place in this ledger.
    pub seq: u64,
}

impl IdKind for Detection {
    const PREFIX: &'static str = "dtn";
    const NOUN: &'static str = "detection";
}

/// The identity of the observation of `conflict` that the event `event` recorded.
#[must_use]
pub fn detection_identity(event: Id<Event>, conflict: Id<Conflict>) -> Id<Detection> {
    Id::derived(&Digest::of_fields(&[b"detection", event.as_bytes(), conflict.as_bytes()]))
}

/// Unsettled conflicts of an intent at one moment.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct OpenConflicts {
    /// How many are OPEN or COORDINATING.
    pub count: u64,
    /// Their ids, at most the first 100.
    pub ids: Vec<Id<Conflict>>,
    /// The newest event when they were read.
    pub as_of_event: u64,
    /// How many ids are left out.
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    pub cut: Cut,
}

/// Another agent's active intent that touches this one.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct RelatedWork {
    /// The other intent.
    pub intent_id: Id<Intent>,
    /// Its owner.
    pub agent_id: Id<Agent>,
    /// The owner's name.
    pub agent: String,
    /// Its task.
    pub task: String,
    /// What it will do.
    pub summary: String,
    /// Where it stands.
    pub status: super::IntentStatus,
    /// Where the two meet, at most the first 20 places.
    pub overlap: Vec<Overlap>,
    /// In how many places they meet.
    pub overlap_count: u64,
    /// How many overlaps are left out.
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    pub cut: Cut,
    /// Whether any overlap is certain with both operations declared.
    pub asserted: bool,
    /// Present when the owner has been silent for two hours: since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_stopped_since: Option<Timestamp>,
}

/// One scope two intents share.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Overlap {
    /// Your scope, as declared.
    pub scope: Scope,
    /// What you do to it.
    pub your_operation: ScopeOperation,
    /// What they do to it.
    pub their_operation: ScopeOperation,
    /// How the two interact: the kind of the rule.
    pub interaction: String,
    /// Whether it is certain and both operations were declared.
    pub asserted: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_of_a_conflict_does_not_depend_on_who_looked() {
        let (one, two) = (Id::from_bytes([1; 16]), Id::from_bytes([2; 16]));
        let seen = |sides| Conflict::identity(Rule::DivergentRewrite, sides);
        let identity = seen([(one, "symbol", "a"), (two, "symbol", "b")]);
        assert_eq!(identity, seen([(two, "symbol", "b"), (one, "symbol", "a")]));
        assert_ne!(identity, seen([(one, "symbol", "b"), (two, "symbol", "a")]), "each side keeps its scope");
        let other_rule =
            Conflict::identity(Rule::SharedContract, [(one, "symbol", "a"), (two, "symbol", "b")]);
        assert_ne!(identity, other_rule);
    }
}
