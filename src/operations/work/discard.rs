//! `discard_work`: the owner gives the work up; what collided with it is dismissed.

use serde::Deserialize;

use crate::domain::fact::{Fact, WorkDiscarded};
use crate::domain::text::Prose;
use crate::domain::transition::Act;
use crate::domain::{Agent, IdRef, Intent};
use crate::failure::{Code, Failure};
use crate::ledger::Draft;
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::acting::{Touched, act};
use crate::service::gates::may;
use crate::service::recording::{self, Acting};
use crate::service::{Cx, OpenLedger};

pub struct Discard;

/// Which work ends, and why.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The intent, or the beginning of its id.
    #[arg(value_name = "INTENT_ID")]
    intent_id: IdRef<Intent>,
    /// Its owner.
    #[arg(long = "agent", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    agent_id: IdRef<Agent>,
    /// Why it is given up.
    #[arg(long, allow_hyphen_values = true)]
    reason: Prose,
}

impl Operation for Discard {
    const SPEC: Spec = Spec {
        id: "discard_work",
        cli: Cli { noun: Some("work"), verb: "discard" },
        http: Some(Http { method: Method::Post, path: "/v1/work/{intent_id}/discard" }),
        mcp: true,
        effect: Effect::Write,
        summary: "Give work up: its claims end and its open conflicts are dismissed",
        guide: "There is no way back: publish a new intent to go on. To leave it to somebody else, say so in a message \
                and let them adopt it.\n\n\
                Example:\n  foremerge work discard int_1f2e3d4c --reason \"paypal-agent does the same\"",
        codes: &[Code::InvalidInput, Code::NotFound, Code::Forbidden, Code::InvalidTransition],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Intent;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Intent, Failure> {
        let (named, reason) = (input.intent_id, input.reason.into_string());
        act(cx, &input.agent_id, move |transaction, actor| {
            let (agent, intent) = (actor.agent.id, transaction.intent(transaction.resolve(&named)?)?);
            may(Act::Discard, &intent, agent)?;
            let fact = Fact::WorkDiscarded(WorkDiscarded { reason });
            let cause =
                transaction.record(Draft { entity: intent.id.to_string(), agent, cause: None, fact })?;
            recording::dismiss_discarded(transaction, Acting { intent: intent.id, agent, cause })?;
            actor.acted(transaction, cause, Touched::Intent(intent.id))?;
            Ok(transaction.intent(intent.id)?)
        })
    }
}

impl Answer for Intent {
    const IDS: Option<fn(&Self) -> Vec<String>> = Some(|intent| vec![intent.id.to_string()]);
}

impl Render for Intent {
    fn render(&self, screen: &mut Screen) {
        screen.line(format!("Discarded {}: {}", self.id, self.summary));
    }
}
