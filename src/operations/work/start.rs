//! `start_work`: the owner says that the code is being written.

use serde::{Deserialize, Serialize};

use crate::domain::conflict::OpenConflicts;
use crate::domain::fact::{Fact, LifecycleTransitioned};
use crate::domain::transition::Act;
use crate::domain::{Agent, IdRef, Intent};
use crate::failure::{Code, Failure};
use crate::ledger::Draft;
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec, conflicts};
use crate::service::acting::{Touched, act};
use crate::service::gates::may;
use crate::service::{Cx, OpenLedger};

pub struct Start;

/// Which work begins.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The intent, or the beginning of its id.
    #[arg(value_name = "INTENT_ID")]
    intent_id: IdRef<Intent>,
    /// Its owner.
    #[arg(long = "agent", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    agent_id: IdRef<Agent>,
}

/// The intent as it is now, and what is open against it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    intent: Intent,
    /// Unsettled conflicts with other work, some of which may be newer than the intent.
    open_conflicts: OpenConflicts,
}

impl Operation for Start {
    const SPEC: Spec = Spec {
        id: "start_work",
        cli: Cli { noun: Some("work"), verb: "start" },
        http: Some(Http { method: Method::Post, path: "/v1/work/{intent_id}/start" }),
        mcp: true,
        effect: Effect::Write,
        summary: "Say that you begin to write the code",
        guide: "Claim first. The answer tells which conflicts are open by now: others may have published since.\n\n\
                Example:\n  foremerge work start int_1f2e3d4c",
        codes: &[Code::InvalidInput, Code::NotFound, Code::Forbidden, Code::InvalidTransition],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        let named = input.intent_id;
        act(cx, &input.agent_id, move |transaction, actor| {
            let (agent, intent) = (actor.agent.id, transaction.intent(transaction.resolve(&named)?)?);
            let to = may(Act::Start, &intent, agent)?;
            let fact = Fact::LifecycleTransitioned(LifecycleTransitioned { from: intent.status, to });
            let cause =
                transaction.record(Draft { entity: intent.id.to_string(), agent, cause: None, fact })?;
            actor.acted(transaction, cause, Touched::Intent(intent.id))?;
            let open_conflicts = transaction.open_conflicts(intent.id)?;
            Ok(Output { intent: transaction.intent(intent.id)?, open_conflicts })
        })
    }
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> = Some(|output| vec![output.intent.id.to_string()]);
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        screen.line(format!("Started {}: {}", self.intent.id, self.intent.summary));
        screen.gap();
        conflicts::open(self.intent.id, &self.open_conflicts, screen);
    }
}
