//! `status`: who works on what, and who collides with whom.

use serde::{Deserialize, Serialize};

use super::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::domain::cut::Cut;
use crate::domain::text::beginning;
use crate::domain::{
    Agent, Claim, Conflict, ConflictStatus, Id, Intent, IntentStatus, Scope, Severity, Timestamp,
};
use crate::failure::{Code, Failure};
use crate::ledger::Snapshot;
use crate::ledger::read::LiveClaim;
use crate::service::silence::Silence;
use crate::service::{Cx, OpenLedger};

pub struct Status;

/// Rows shown per section; counts are always whole.
const ROWS: u32 = 20;
/// Characters shown of a summary or an explanation; the whole is one call away.
const SHOWN: usize = 300;

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
    /// ChangeSets by status.
    changesets: Vec<serde_json::Value>,
    /// Whole counts of lists that may be cut.
    counts: Counts,
    /// The newest event.
    as_of_event: u64,
    /// How many agents and conflicts are left out.
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    cut: Cut,
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

impl From<LiveClaim> for ClaimRow {
    fn from(live: LiveClaim) -> Self {
        let LiveClaim { claim, agent_name } = live;
        Self {
            id: claim.id,
            agent_id: claim.agent_id,
            agent_name,
            intent_id: claim.intent_id,
            scope: claim.scope,
            lease_expires_at: claim.lease_expires_at,
        }
    }
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

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct Counts {
    agents: u64,
    claims: u64,
    conflicts: u64,
}

impl Operation for Status {
    const SPEC: Spec = Spec {
        id: "status",
        cli: Cli { noun: None, verb: "status" },
        http: Some(Http { method: Method::Get, path: "/v1/status" }),
        mcp: true,
        effect: Effect::Read,
        summary: "Show who works on what, and who collides with whom",
        guide: "All sections describe one moment. Long sections are cut, counts are whole.\n\n\
                Example:\n  foremerge status",
        codes: &[Code::InvalidInput],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, _: Input) -> Result<Output, Failure> {
        let now = cx.now();
        cx.ledger().read(|snapshot| report(snapshot, now))
    }
}

fn report(snapshot: &Snapshot<'_>, now: Timestamp) -> Result<Output, Failure> {
    let page = snapshot.agents(false, None, ROWS)?;
    let mut agents = Vec::with_capacity(page.items.len());
    for agent in page.items {
        let seen = snapshot.last_seen(agent.id)?;
        agents.push(AgentRow {
            id: agent.id,
            name: agent.name,
            model: agent.model,
            worktree: agent.worktree,
            last_seen_at: seen.at,
            stale: seen.is_stale(now),
        });
    }
    let (mut intents, mut silence) = (Vec::new(), Silence::new(now));
    for group in snapshot.active_intents(ROWS)? {
        let mut rows = Vec::with_capacity(group.intents.len());
        for intent in group.intents {
            rows.push(IntentRow {
                id: intent.id,
                agent_id: intent.agent,
                agent_name: intent.agent_name,
                summary: beginning(&intent.summary, SHOWN).into_owned(),
                stranded: silence.stopped(snapshot, intent.row, intent.agent_row)?.is_some(),
                created_at: intent.created_at,
            });
        }
        let cut = Cut::default().with("intents", rows.len(), group.count);
        intents.push(IntentGroup { status: group.status, count: group.count, intents: rows, cut });
    }
    let (live, claims) = snapshot.live_claims(now, ROWS)?;
    let (unsettled, conflicts) = snapshot.unsettled_conflicts(ROWS)?;
    let cut = Cut::default()
        .with("agents", agents.len(), page.total)
        .with("claims", live.len(), claims)
        .with("conflicts", unsettled.len(), conflicts);
    Ok(Output {
        cut,
        agents,
        intents,
        claims: live.into_iter().map(ClaimRow::from).collect(),
        conflicts: unsettled.into_iter().map(conflict_row).collect(),
        changesets: Vec::new(),
        counts: Counts { agents: page.total, claims, conflicts },
        as_of_event: snapshot.last_seq()?,
    })
}

fn conflict_row(found: crate::ledger::read::StatusConflict) -> ConflictRow {
    let conflict = found.conflict;
    let (source, target) = (found.source, found.target);
    ConflictRow {
        cut: Cut::default().with("source_scopes", source.scopes.len(), source.scope_count).with(
            "target_scopes",
            target.scopes.len(),
            target.scope_count,
        ),
        id: conflict.id,
        kind: conflict.kind,
        severity: conflict.severity,
        status: conflict.status,
        scope: conflict.scope,
        source_intent_id: conflict.source_intent_id,
        source_agent_name: source.agent_name,
        source_scopes: source.scopes,
        target_intent_id: conflict.target_intent_id,
        target_agent_name: target.agent_name,
        target_scopes: target.scopes,
        explanation: beginning(&conflict.explanation, SHOWN).into_owned(),
        detected_at: conflict.detected_at,
    }
}

impl Answer for Output {}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        if self.counts.agents == 0 {
            return screen
                .line("Nobody works here yet. Register an agent: foremerge agent register --name NAME");
        }
        screen.line(format!("AGENTS {}", self.counts.agents));
        let rows = self.agents.iter().map(|agent| {
            let seen = screen.ago(agent.last_seen_at);
            vec![
                agent.id.short(),
                agent.name.clone(),
                if agent.stale { format!("silent, seen {seen}") } else { format!("seen {seen}") },
                agent.worktree.clone().unwrap_or_default(),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&[], rows);
        screen.more(self.agents.len(), self.counts.agents);
        if self.intents.is_empty() {
            screen.gap();
            screen.line("No intents. Publish one before you write code: foremerge intent publish --help");
        }
        for group in &self.intents {
            screen.gap();
            screen.line(format!("{} {}", group.status, group.count));
            let rows = group.intents.iter().map(|intent| {
                let stranded = if intent.stranded { " (stranded)" } else { "" };
                vec![
                    intent.id.short(),
                    format!("{}{stranded}", intent.agent_name),
                    intent.summary.clone(),
                    screen.ago(intent.created_at),
                ]
            });
            let rows: Vec<_> = rows.collect();
            screen.table(&[], rows);
            screen.more(group.intents.len(), group.count);
        }
        if self.counts.claims > 0 {
            screen.gap();
            screen.line(format!("CLAIMS {}", self.counts.claims));
            let rows = self.claims.iter().map(|claim| {
                vec![
                    claim.intent_id.short(),
                    claim.agent_name.clone(),
                    claim.scope.to_string(),
                    screen.ahead(claim.lease_expires_at),
                ]
            });
            let rows: Vec<_> = rows.collect();
            screen.table(&[], rows);
            screen.more(self.claims.len(), self.counts.claims);
        }
        screen.gap();
        if self.counts.conflicts == 0 {
            return screen.line("No open conflicts.");
        }
        screen.line(format!("OPEN CONFLICTS {}", self.counts.conflicts));
        let rows = self.conflicts.iter().map(|conflict| {
            vec![
                conflict.id.short(),
                conflict.severity.to_string(),
                conflict.explanation.clone(),
                screen.ago(conflict.detected_at),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&[], rows);
        screen.more(self.conflicts.len(), self.counts.conflicts);
    }
}
