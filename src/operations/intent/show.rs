//! `get_intent`: one intent and where it stands.

use serde::{Deserialize, Serialize};

use crate::domain::conflict::OpenConflicts;
use crate::domain::{Agent, IdRef, Intent};
use crate::failure::{Code, Failure};
use crate::operations::render::plain;
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec, conflicts};
use crate::service::{Cx, OpenLedger, presence};

pub struct Show;

/// Which intent.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The intent, or the beginning of its id.
    #[arg(value_name = "INTENT_ID")]
    id: IdRef<Intent>,
    /// Who asks; noted as present.
    #[arg(long = "agent", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    #[serde(default)]
    agent_id: Option<IdRef<Agent>>,
}

/// An intent, its owner and what is open against it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The intent.
    intent: Intent,
    /// Its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<Agent>,
    /// Unsettled conflicts with other work.
    open_conflicts: OpenConflicts,
}

impl Operation for Show {
    const SPEC: Spec = Spec {
        id: "get_intent",
        cli: Cli { noun: Some("intent"), verb: "show" },
        http: Some(Http { method: Method::Get, path: "/v1/intents/{id}" }),
        mcp: true,
        effect: Effect::Read,
        summary: "Show one intent, its owner and its open conflicts",
        guide: "Conflicts are found when the later intent is published, so look again before you rely on an earlier \
                answer.\n\nExample:\n  foremerge intent show int_1f2e3d4c",
        codes: &[Code::InvalidInput, Code::NotFound],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        let (output, asker) = cx.ledger().read::<_, Failure>(|snapshot| {
            let asker = input.agent_id.as_ref().map(|agent| snapshot.resolve(agent)).transpose()?;
            let intent = snapshot.intent(snapshot.resolve(&input.id)?)?;
            let agent = snapshot.agent(intent.agent_id).ok();
            let open_conflicts = snapshot.open_conflicts(intent.id)?;
            Ok((Output { intent, agent, open_conflicts }, asker))
        })?;
        if let Some(asker) = asker {
            presence::looked(cx, asker);
        }
        Ok(output)
    }
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> = Some(|output| vec![output.intent.id.to_string()]);
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        let owner = match &self.agent {
            Some(agent) => plain(&agent.name).and(" (").id(agent.id).and(")"),
            None => self.intent.agent_id.into(),
        };
        super::details(&self.intent, owner, screen);
        screen.gap();
        conflicts::open(self.intent.id, &self.open_conflicts, screen);
        super::next(&self.intent, screen);
    }
}
