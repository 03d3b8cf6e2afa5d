//! `retire_agent`: an agent without open work leaves the lists.

use serde::Deserialize;

use crate::domain::fact::{AgentRetired, Fact};
use crate::domain::{Agent, AgentStatus, IdRef};
use crate::failure::{Audience, Code, Failure};
use crate::ledger::{Draft, Patience, Transaction};
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenLedger};

pub struct Retire;

/// Which agent.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The agent, or the beginning of its id.
    #[arg(value_name = "AGENT_ID")]
    id: IdRef<Agent>,
}

impl Operation for Retire {
    const SPEC: Spec = Spec {
        id: "retire_agent",
        cli: Cli { noun: Some("agent"), verb: "retire" },
        http: Some(Http { method: Method::Post, path: "/v1/agents/{id}/retire" }),
        mcp: false,
        effect: Effect::Write,
        summary: "Take an agent without open work out of the lists",
        guide: "Its history stays, `agent list --all` still shows it, and it cannot act any more. Open work has to land, \
                be discarded or be adopted first.\n\n\
                Example:\n  foremerge agent retire agt_1f2e3d4c",
        codes: &[Code::InvalidInput, Code::NotFound, Code::InvalidTransition],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Agent;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Agent, Failure> {
        cx.ledger().write(Patience::Wait, move |transaction: &mut Transaction<'_>| {
            let agent = transaction.agent(transaction.resolve(&input.id)?)?;
            if agent.status == AgentStatus::Retired {
                let message = format!("{} ({}) is retired already", agent.id, agent.name);
                let accepted = vec![AgentStatus::Active.as_str()];
                return Err(Failure::in_state(agent.status.as_str(), message, accepted));
            }
            let open = transaction.open_work_of(agent.id, SHOWN)?;
            if !open.is_empty() {
                let work: Vec<_> = open.iter().map(ToString::to_string).collect();
                let message = format!("{} ({}) has open work: {}", agent.id, agent.name, work.join(", "));
                return Err(Failure::in_state(agent.status.as_str(), message, "an agent without open work")
                    .with("open_work", work)
                    .then(Audience::Agent, "discard_work")
                    .then(Audience::Agent, "adopt_work"));
            }
            let fact = Fact::AgentRetired(AgentRetired {});
            transaction.record(Draft { entity: agent.id.to_string(), agent: agent.id, cause: None, fact })?;
            Ok(transaction.agent(agent.id)?)
        })
    }
}

/// Most intents a refusal names.
const SHOWN: u32 = 10;

impl Answer for Agent {
    const IDS: Option<fn(&Self) -> Vec<String>> = Some(|agent| vec![agent.id.to_string()]);
}

impl Render for Agent {
    fn render(&self, screen: &mut Screen) {
        screen.line(format!("Retired {} ({})", self.id, self.name));
    }
}
