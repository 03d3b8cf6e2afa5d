//! The graph of who does what, where it meets and how it was settled: nodes and edges.
//!
//! It is derived on read and stores nothing. `docs/graph.md` says what each kind means.

use serde_json::Value;

use super::id::IdKind;
use super::word::words;
use super::{CanonicalScope, Digest, Id, Intent, ScopeKind, Timestamp};

words! {
    /// What a node stands for.
    pub enum NodeKind: "node kind" {
        /// Whoever publishes intents.
        Agent = 1, "Agent";
        /// What intents belong to.
        Task = 2, "Task";
        /// What an agent is about to do.
        Intent = 3, "Intent";
        /// A lease on a scope.
        Claim = 4, "Claim";
        /// Anything that is touched, but for symbols.
        Scope = 5, "Scope";
        /// A symbol, by its alias.
        Symbol = 6, "Symbol";
        /// An intent as others build on it.
        Dependency = 7, "Dependency";
        /// What the parties agreed.
        Decision = 8, "Decision";
        /// A finding on record.
        Conflict = 9, "Conflict";
        /// One observation of it.
        ConflictDetection = 10, "ConflictDetection";
    }
}

words! {
    /// What an edge says.
    pub enum EdgeKind: "edge kind" {
        /// Agent to Task.
        WorksOn = 1, "WORKS_ON";
        /// Task to Intent.
        HasIntent = 2, "HAS_INTENT";
        /// Intent to Claim.
        MakesClaim = 3, "MAKES_CLAIM";
        /// Intent or Claim to Scope or Symbol.
        Claims = 4, "CLAIMS";
        /// Intent to the Dependency it is for others.
        AffectsDependency = 5, "AFFECTS_DEPENDENCY";
        /// Intent to the Dependency it builds on.
        DependsOn = 6, "DEPENDS_ON";
        /// Intent to Intent.
        Assessed = 7, "ASSESSED";
        /// Agent to Decision.
        RecordsDecision = 8, "RECORDS_DECISION";
        /// Intent to Conflict.
        HasConflict = 9, "HAS_CONFLICT";
        /// Intent to Intent, the smaller id first.
        ConflictsWith = 10, "CONFLICTS_WITH";
        /// Detection to Conflict.
        OccurrenceOf = 11, "OCCURRENCE_OF";
        /// Conflict to Decision.
        ResolvedBy = 12, "RESOLVED_BY";
    }
}

/// A node.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Node {
    /// The same in every answer. For an entity its id, otherwise derived from kind and key.
    pub id: String,
    /// What it stands for.
    pub kind: NodeKind,
    /// The entity's id; of a Scope or Symbol its kind and canonical form, of a Dependency the id of
    /// the intent that is built on.
    pub key: String,
    /// A few words for a person.
    pub label: String,
    /// The short form of the entity.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub data: Value,
    /// When it came to be; of a Scope, Symbol or Task when the oldest intent or claim in this answer
    /// that has it did.
    pub created_at: Timestamp,
}

/// An edge between two nodes of the same answer.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Edge {
    /// The same in every answer: derived from kind and ends, of an assessment from its id, too.
    pub id: String,
    /// Id of the node it leaves.
    pub from: String,
    /// Id of the node it leads to.
    pub to: String,
    /// What it says.
    pub kind: EdgeKind,
    /// What more there is to say.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub data: Value,
    /// Since when.
    pub created_at: Timestamp,
}

macro_rules! derived_ids {
    ($($(#[$meta:meta])* $name:ident = $prefix:literal, $noun:literal;)+) => { $(
        $(#[$meta])*
        #[derive(Debug)]
        enum $name {}

        impl IdKind for $name {
            const PREFIX: &'static str = $prefix;
            const NOUN: &'static str = $noun;
        }
    )+ };
}
derived_ids! {
    ScopeNode = "scp", "scope node";
    DependencyNode = "dep", "dependency node";
    DrawnEdge = "edg", "edge";
}

fn derived<K: IdKind>(parts: &[&str]) -> String {
    let parts: Vec<_> = parts.iter().map(|part| part.as_bytes()).collect();
    Id::<K>::derived(&Digest::of_fields(&parts)).to_string()
}

impl Node {
    /// The node of something that is touched: of a symbol by its alias, of anything else by its
    /// full form.
    #[must_use]
    pub fn of_scope(scope: &CanonicalScope, created_at: Timestamp) -> Self {
        let (kind, form) = match scope.kind {
            ScopeKind::Symbol => (NodeKind::Symbol, &scope.alias),
            _ => (NodeKind::Scope, &scope.full),
        };
        let key = format!("{}:{form}", scope.kind);
        let data = serde_json::json!({ "kind": scope.kind, "key": form });
        Self {
            id: derived::<ScopeNode>(&[kind.as_str(), &key]),
            kind,
            label: key.clone(),
            key,
            data,
            created_at,
        }
    }

    /// The id of the node of an intent as others build on it.
    #[must_use]
    pub fn dependency_id(intent: Id<Intent>) -> String {
        derived::<DependencyNode>(&[&intent.to_string()])
    }
}

impl Edge {
    /// An edge that is told from others of its kind between the same nodes by `apart`, if there
    /// can be any.
    #[must_use]
    pub fn new(
        kind: EdgeKind,
        (from, to): (&str, &str),
        apart: Option<&str>,
        data: Value,
        created_at: Timestamp,
    ) -> Self {
        let id = derived::<DrawnEdge>(&[kind.as_str(), from, to, apart.unwrap_or_default()]);
        Self { id, from: from.to_owned(), to: to.to_owned(), kind, data, created_at }
    }
}
