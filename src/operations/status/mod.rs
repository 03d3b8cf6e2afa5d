//! `status`: who works on what, and who collides with whom.

mod report;
mod screen;

use serde::{Deserialize, Serialize};

use super::{Answer, Cli, Effect, Http, Method, Operation, Spec};
use crate::domain::cut::Cut;
use crate::domain::{
    Agent, Claim, Conflict, ConflictStatus, Id, Intent, IntentStatus, Scope, Severity, Timestamp,
};
use crate::failure::{Code, Failure};
use crate::service::{Cx, OpenLedger};

pub struct Status;

/// Nothing to choose.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Input {}

/// One consistent moment.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Agents that are not retired, oldest first.
    agents: Vec<AgentRow>,
    /// Active intents by lifecycle status.
    intents: Vec<IntentGroup>,
    /// Live claims, those that run out first first.
    claims: Vec<ClaimRow>,
    /// Conflicts that are OPEN or COORDINATING, oldest first.
    conflicts: Vec<ConflictRow>,
    /// What active intents wait for, the newest first.
    waiting: Vec<WaitRow>,
    /// ChangeSets by status.
    changesets: Vec<serde_json::Value>,
    /// Whole counts of lists that may be cut.
    counts: Counts,
    /// The newest event.
    as_of_event: u64,
    /// How many agents, claims, conflicts and waiting intents are left out.
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    cut: Cut,
    /// The most urgent of it, for a person.
    #[serde(skip)]
    first: screen::First,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct AgentRow {
    id: Id<Agent>,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree: Option<String>,
    last_seen_at: Timestamp,
    stale: bool,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct IntentGroup {
    status: IntentStatus,
    count: u64,
    intents: Vec<IntentRow>,
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    cut: Cut,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct IntentRow {
    id: Id<Intent>,
    agent_id: Id<Agent>,
    agent_name: String,
    summary: String,
    stranded: bool,
    created_at: Timestamp,
    /// Since when nobody has heard of its owner, if it is stranded.
    #[serde(skip)]
    silent_since: Option<Timestamp>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct ClaimRow {
    id: Id<Claim>,
    agent_id: Id<Agent>,
    agent_name: String,
    intent_id: Id<Intent>,
    scope: Scope,
    lease_expires_at: Timestamp,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct ConflictRow {
    id: Id<Conflict>,
    kind: String,
    severity: Severity,
    status: ConflictStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
    source_intent_id: Id<Intent>,
    source_agent_name: String,
    source_scopes: Vec<Scope>,
    target_intent_id: Id<Intent>,
    target_agent_name: String,
    target_scopes: Vec<Scope>,
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    cut: Cut,
    explanation: String,
    detected_at: Timestamp,
}

/// An active intent that builds on another, or whose owner said that it waits for it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct WaitRow {
    intent_id: Id<Intent>,
    agent_name: String,
    /// What it waits for.
    for_intent_id: Id<Intent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    for_agent_name: Option<String>,
    /// Where that stands; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    for_status: Option<IntentStatus>,
    since: Timestamp,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct Counts {
    agents: u64,
    claims: u64,
    conflicts: u64,
    waiting: u64,
}

impl Operation for Status {
    const SPEC: Spec = Spec {
        id: "status",
        cli: Cli { noun: None, verb: "status" },
        http: Some(Http { method: Method::Get, path: "/v1/status" }),
        mcp: true,
        effect: Effect::Read,
        summary: "Show who works on what, and who collides with whom",
        guide: "All sections describe one moment. Long sections are cut, the most urgent comes first, counts are whole.\n\n\
                Example:\n  foremerge status",
        codes: &[Code::InvalidInput],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, _: Input) -> Result<Output, Failure> {
        let now = cx.now();
        cx.ledger().read(|snapshot| report::read(snapshot, now))
    }
}

impl Answer for Output {}
