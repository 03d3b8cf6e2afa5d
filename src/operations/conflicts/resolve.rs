//! `resolve_conflict`: the parties agreed, and somebody records what.

use serde::{Deserialize, Serialize};

use crate::domain::fact::{ConflictResolved, Fact};
use crate::domain::text::{Prose, Summary};
use crate::domain::{Agent, Conflict, ConflictStatus, Id, IdRef, Intent};
use crate::failure::{Audience, Code, Failure};
use crate::ledger::{Draft, Transaction};
use crate::operations::render::plain;
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::acting::{Touched, act};
use crate::service::{Cx, OpenLedger, Surface};

pub struct Resolve;

/// What was agreed.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The conflict, or the beginning of its id.
    #[arg(value_name = "CONFLICT_ID")]
    conflict_id: IdRef<Conflict>,
    /// Who records it.
    #[arg(long = "agent", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    agent_id: IdRef<Agent>,
    /// What was decided, in one line, such as `sequenced: the provider lands first`.
    #[arg(long, allow_hyphen_values = true)]
    resolution: Summary,
    /// Why; name the messages that led to it.
    #[arg(long, allow_hyphen_values = true)]
    rationale: Prose,
    /// Settle by the same decision every open conflict between the two sides of this one. Name either side: its
    /// conflicts with other work stay open.
    #[arg(long, value_name = "INTENT_ID")]
    #[serde(default)]
    all_with: Option<IdRef<Intent>>,
}

/// The settled conflict.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    conflict: Conflict,
    /// Others that the decision settled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    also_resolved: Vec<Id<Conflict>>,
    /// Who recorded it, for a person.
    #[serde(skip)]
    by: String,
}

impl Operation for Resolve {
    const SPEC: Spec = Spec {
        id: "resolve_conflict",
        cli: Cli { noun: Some("conflicts"), verb: "resolve" },
        http: Some(Http { method: Method::Post, path: "/v1/conflicts/{conflict_id}/resolve" }),
        mcp: true,
        effect: Effect::Write,
        summary: "Record what the parties agreed on; the conflict is settled",
        guide: "Talk first: a resolution says that both sides know how their work goes together. It merges nothing; it \
                opens the way to acceptance for both. Seen again, the conflict stays settled unless it has become more \
                severe.\n\n\
                Example:\n  foremerge conflicts resolve cfl_1f2e3d4c \\\n    \
                --resolution \"sequenced: provider first\" \\\n    \
                --rationale \"agreed in msg_5a6b7c8d\"",
        codes: &[Code::InvalidInput, Code::NotFound, Code::Forbidden, Code::InvalidTransition],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        let Input { conflict_id, agent_id, resolution, rationale, all_with } = input;
        let parties_only = cx.call().surface == Surface::Mcp;
        act(cx, &agent_id, move |transaction, actor| {
            let agent = actor.agent.id;
            let conflict = transaction.conflict(transaction.resolve(&conflict_id)?)?;
            let between = (conflict.source_intent_id, conflict.target_intent_id);
            let all = is_side(transaction, all_with.as_ref(), between)?;
            if parties_only && !is_party(transaction, agent, between)? {
                let message = format!(
                    "{} is between {} and {}, and {agent} owns neither; only a party may resolve it",
                    conflict.id, between.0, between.1
                );
                return Err(
                    Failure::new(Code::Forbidden, message).then(Audience::Agent, "coordinate_with_agent")
                );
            }
            if !matches!(conflict.status, ConflictStatus::Open | ConflictStatus::Coordinating) {
                let message = format!(
                    "{} is {}; only an OPEN or COORDINATING conflict can be resolved",
                    conflict.id, conflict.status
                );
                let accepted =
                    [ConflictStatus::Open, ConflictStatus::Coordinating].map(ConflictStatus::as_str);
                return Err(Failure::in_state(conflict.status.as_str(), message, accepted.to_vec()));
            }
            let mut also_resolved = Vec::new();
            if all {
                also_resolved = transaction.unsettled_between(between)?;
                also_resolved.retain(|other| *other != conflict.id);
            }
            let fact = Fact::ConflictResolved(ConflictResolved {
                decision_id: transaction.new_id()?,
                between,
                conflicts: std::iter::once(conflict.id).chain(also_resolved.iter().copied()).collect(),
                resolution: resolution.into_string(),
                rationale: rationale.into_string(),
            });
            let entity = conflict.id.to_string();
            let cause = transaction.record(Draft { entity, agent, cause: None, fact })?;
            let by = actor.agent.name.clone();
            actor.acted(transaction, cause, Touched::Nothing)?;
            Ok(Output { conflict: transaction.conflict(conflict.id)?, also_resolved, by })
        })
    }
}

/// Whether all conflicts between the two are meant; the intent that says so must be one of them.
fn is_side(
    transaction: &Transaction<'_>,
    all_with: Option<&IdRef<Intent>>,
    between: (Id<Intent>, Id<Intent>),
) -> Result<bool, Failure> {
    let Some(named) = all_with else { return Ok(false) };
    let intent = transaction.resolve(named)?;
    if intent != between.0 && intent != between.1 {
        let message =
            format!("{intent} is no side of the conflict; its sides are {} and {}", between.0, between.1);
        return Err(Failure::invalid(
            "all_with",
            message,
            vec![between.0.to_string(), between.1.to_string()],
        ));
    }
    Ok(true)
}

fn is_party(
    transaction: &Transaction<'_>,
    agent: Id<Agent>,
    between: (Id<Intent>, Id<Intent>),
) -> Result<bool, Failure> {
    Ok(transaction.intent(between.0)?.agent_id == agent || transaction.intent(between.1)?.agent_id == agent)
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> = Some(|output| {
        let settled = std::iter::once(&output.conflict.id).chain(&output.also_resolved);
        settled.map(ToString::to_string).collect()
    });
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        super::details(&self.conflict, screen);
        if let Some(decision) = &self.conflict.decision {
            screen.gap();
            super::decided(decision, plain(&self.by), screen);
        }
        if self.also_resolved.is_empty() {
            return;
        }
        screen.gap();
        screen.heading(format!("SETTLED WITH IT {}", self.also_resolved.len()));
        for id in self.also_resolved.iter().take(super::SHOWN) {
            screen.line(*id);
        }
        screen.more_in(
            self.also_resolved.len().min(super::SHOWN),
            self.also_resolved.len() as u64,
            "foremerge conflicts list --status resolved",
        );
    }
}
