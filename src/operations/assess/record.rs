//! `record_assessment`: the owner of an intent judges how it goes together with another.

use serde::Deserialize;

use crate::domain::assessment::{Reaction, Verdict};
use crate::domain::fact::{Fact, IntentAssessed};
use crate::domain::text::Prose;
use crate::domain::transition::Act;
use crate::domain::{Agent, Assessment, Id, IdRef, Intent};
use crate::failure::{Code, Failure};
use crate::ledger::Draft;
use crate::operations::render::plain;
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::acting::{Touched, act};
use crate::service::gates::may;
use crate::service::{Cx, OpenLedger};

pub struct Record;

/// Who judges what, and how.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The owner of the intent.
    #[arg(long = "agent", alias = "agent-id", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    agent_id: IdRef<Agent>,
    /// The intent that is assessed.
    #[arg(long = "intent", alias = "intent-id", value_name = "INTENT_ID")]
    intent_id: IdRef<Intent>,
    /// The other intent.
    #[arg(long = "related-intent", alias = "related-intent-id", value_name = "INTENT_ID")]
    related_intent_id: IdRef<Intent>,
    /// How the two go together: conflicts, compatible, duplicate or `depends_on`.
    #[arg(long)]
    verdict: Verdict,
    /// Why.
    #[arg(long, allow_hyphen_values = true)]
    rationale: Prose,
    /// What the agent does about it: proceeding, rescoping, waiting or abandoning.
    #[arg(long)]
    action: Reaction,
}

impl Operation for Record {
    const SPEC: Spec = Spec {
        id: "record_assessment",
        cli: Cli { noun: Some("assess"), verb: "record" },
        http: Some(Http { method: Method::Post, path: "/v1/assessments" }),
        mcp: true,
        effect: Effect::Write,
        summary: "Judge how your work goes together with other work that touches it",
        guide: "Foremerge says what overlaps; what that means is for the agent to say, who knows both. It can be said \
                again when things change. An assessment settles nothing: for that, resolve the conflict.\n\n\
                Example:\n  foremerge assess record --intent int_1f2e3d4c --related-intent int_5a6b7c8d \\\n    \
                --verdict conflicts --action rescoping \\\n    \
                --rationale \"Their replacement removes my extension point\"",
        codes: &[Code::InvalidInput, Code::NotFound, Code::Forbidden],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Assessment;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Assessment, Failure> {
        let Input { agent_id, intent_id, related_intent_id, verdict, rationale, action } = input;
        let rationale = rationale.into_string();
        act(cx, &agent_id, move |transaction, actor| {
            let (agent, intent) = (actor.agent.id, transaction.intent(transaction.resolve(&intent_id)?)?);
            let related_intent_id = transaction.resolve(&related_intent_id)?;
            if related_intent_id == intent.id {
                return Err(Failure::invalid(
                    "related_intent_id",
                    "an intent is not assessed against itself; name another",
                    "another intent than intent_id",
                ));
            }
            may(Act::Assess, &intent, agent)?;
            let assessment_id: Id<Assessment> = transaction.new_id()?;
            let fact = IntentAssessed { assessment_id, related_intent_id, verdict, rationale, action };
            let fact = Fact::IntentAssessed(fact);
            let cause =
                transaction.record(Draft { entity: intent.id.to_string(), agent, cause: None, fact })?;
            actor.acted(transaction, cause, Touched::Intent(intent.id))?;
            Ok(transaction.assessment(intent.id, assessment_id)?)
        })
    }
}

impl Answer for Assessment {
    const IDS: Option<fn(&Self) -> Vec<String>> = Some(|assessment| vec![assessment.id.to_string()]);
}

impl Render for Assessment {
    fn render(&self, screen: &mut Screen) {
        let said = plain("Recorded ").and_dim(self.id).and(": ").id(self.intent_id).and(" ");
        let said = said.then(self.verdict).and(" ").id(self.related_intent_id);
        screen.line(said.and(format!(", {}", self.action)));
        let (why, command) = match self.action {
            Reaction::Proceeding => return,
            Reaction::Rescoping => ("Say what you touch instead:", "foremerge intent amend "),
            Reaction::Waiting => ("See when the other work moves:", "foremerge intent show "),
            Reaction::Abandoning => {
                ("Give the work up, so that nobody waits for it:", "foremerge work discard ")
            }
        };
        screen.line(why);
        let own = |command| plain(command).id(self.intent_id).and(" --agent ").id(self.agent_id);
        screen.command(match self.action {
            Reaction::Rescoping => own(command).and(" --scope KIND:KEY=OPERATION"),
            Reaction::Abandoning => own(command).and(" --reason REASON"),
            Reaction::Proceeding | Reaction::Waiting => plain(command).id(self.related_intent_id),
        });
    }
}
