//! `coordinate_with_agent`: an agent writes to another.

use serde::{Deserialize, Serialize};

use crate::domain::fact::{ConflictBetween, CoordinationSent, Fact};
use crate::domain::text::Prose;
use crate::domain::{Agent, AgentStatus, Conflict, Id, IdRef, Message};
use crate::failure::{Audience, Code, Failure};
use crate::ledger::Draft;
use crate::operations::render::plain;
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::acting::{Touched, act};
use crate::service::{Cx, OpenLedger};

pub struct Send;

/// Who writes what to whom.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Who writes.
    #[arg(long = "from", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    from_agent_id: IdRef<Agent>,
    /// For whom it is.
    #[arg(long = "to", value_name = "AGENT_ID")]
    to_agent_id: IdRef<Agent>,
    /// The text.
    #[arg(long, allow_hyphen_values = true)]
    message: Prose,
    /// The conflict it is about; an open one is then being coordinated.
    #[arg(long = "conflict", value_name = "CONFLICT_ID")]
    #[serde(default)]
    conflict_id: Option<IdRef<Conflict>>,
}

/// The message as it was kept.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    message: Message,
    /// The recipient's name, for a person.
    #[serde(skip)]
    to: String,
    /// Whether what it is about waits to be settled.
    #[serde(skip)]
    unsettled: bool,
}

impl Operation for Send {
    const SPEC: Spec = Spec {
        id: "coordinate_with_agent",
        cli: Cli { noun: Some("coordinate"), verb: "send" },
        http: Some(Http { method: Method::Post, path: "/v1/coordinate" }),
        mcp: true,
        effect: Effect::Write,
        summary: "Write to another agent, about a conflict or anything else",
        guide: "The message is kept and interrupts nobody: its recipient finds it with `foremerge coordinate inbox`. \
                Name its id when you settle the conflict.\n\n\
                Example:\n  foremerge coordinate send --to agt_1f2e3d4c --conflict cfl_5a6b7c8d \\\n    \
                --message \"Let us introduce PaymentProvider first; I will own the trait.\"",
        codes: &[Code::InvalidInput, Code::NotFound, Code::InvalidTransition],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        let (to, about, message) = (input.to_agent_id, input.conflict_id, input.message.into_string());
        act(cx, &input.from_agent_id, move |transaction, actor| {
            let agent = actor.agent.id;
            let recipient = transaction.agent(transaction.resolve(&to)?)?;
            if recipient.id == agent {
                return Err(Failure::invalid(
                    "to_agent_id",
                    "an agent does not write to itself; name another",
                    "another agent",
                ));
            }
            let about = about.map(|conflict| transaction.resolve(&conflict)).transpose()?;
            if recipient.status == AgentStatus::Retired {
                let message = format!("{} ({}) was retired and reads no more", recipient.id, recipient.name);
                let accepted = vec![AgentStatus::Active.as_str()];
                let refusal = Failure::in_state(recipient.status.as_str(), message, accepted);
                return Err(refusal.then(Audience::Agent, "list_agents"));
            }
            let between = |conflict_id| {
                let conflict = transaction.conflict(conflict_id)?;
                let between = (conflict.source_intent_id, conflict.target_intent_id);
                Ok::<_, Failure>(ConflictBetween { conflict_id, between })
            };
            let about = about.map(between).transpose()?;
            let id: Id<Message> = transaction.new_id()?;
            let fact = Fact::CoordinationSent(CoordinationSent { to_agent_id: recipient.id, message, about });
            let cause = transaction.record(Draft { entity: id.to_string(), agent, cause: None, fact })?;
            actor.acted(transaction, cause, Touched::Nothing)?;
            let message = transaction.message(id)?;
            let conflict = message.conflict_id.map(|conflict| transaction.conflict(conflict)).transpose()?;
            let unsettled = conflict.is_some_and(|conflict| conflict.status.is_unsettled());
            Ok(Output { message, to: recipient.name, unsettled })
        })
    }
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> = Some(|output| vec![output.message.id.to_string()]);
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        let Self { message, to, unsettled } = self;
        let sent = plain("Sent ").and_dim(message.id).and(format!(" to {to} (")).id(message.to_agent_id);
        screen.line(sent.and(")"));
        if let Some(conflict) = message.conflict_id.filter(|_| *unsettled) {
            screen.line("Once you agree, put it on record:");
            let resolve = plain("foremerge conflicts resolve ").id(conflict).and(" --agent ");
            let resolve =
                resolve.id(message.from_agent_id).and(" --resolution RESOLUTION --rationale RATIONALE");
            screen.command(resolve);
        }
    }
}
