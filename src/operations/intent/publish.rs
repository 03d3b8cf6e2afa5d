//! `publish_intent`: an agent says what it is about to do, and hears who is in the way.

use serde::{Deserialize, Serialize};

use super::found::Found;
use crate::detect::canonical;
use crate::domain::fact::{Fact, IntentPublished};
use crate::domain::metadata::Metadata;
use crate::domain::scope::DeclaredScope;
use crate::domain::text::{Name, Prose, Summary};
use crate::domain::{Agent, Digest, Id, IdRef, Intent};
use crate::failure::{Code, Failure};
use crate::ledger::{Draft, Patience, Transaction};
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::acting::{Actor, Touched};
use crate::service::matching::Matches;
use crate::service::recording::{self, Acting};
use crate::service::silence::Silence;
use crate::service::{Cx, OpenLedger, scopes};

pub struct Publish;

/// Most intents another may depend on.
const DEPENDENCIES: usize = 1_000;

/// What is about to happen.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The agent that will do it.
    #[arg(long = "agent", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    agent_id: IdRef<Agent>,
    /// Title of the task it belongs to, such as `payments-provider`.
    #[arg(long)]
    task: Name,
    /// What will be done, in one line.
    #[arg(long, allow_hyphen_values = true)]
    summary: Summary,
    /// Why it is done this way.
    #[arg(long, allow_hyphen_values = true)]
    #[serde(default)]
    rationale: Option<Prose>,
    /// What it touches and how; may be repeated, at most 1,000 times.
    #[arg(long = "scope", value_name = "KIND:KEY=OPERATION")]
    #[serde(default)]
    scopes: Vec<DeclaredScope>,
    /// An intent it builds on; may be repeated.
    #[arg(long = "depends-on", value_name = "INTENT_ID")]
    #[serde(default)]
    depends_on: Vec<IdRef<Intent>>,
    /// Whatever else should be kept with it, as a JSON object of at most 64 KiB.
    #[arg(long = "metadata-json", value_name = "JSON")]
    #[serde(default)]
    metadata: Option<Metadata>,
}

/// The published intent and what it collides with.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The intent.
    intent: Intent,
    #[serde(flatten)]
    found: Found,
}

impl Operation for Publish {
    const SPEC: Spec = Spec {
        id: "publish_intent",
        cli: Cli { noun: Some("intent"), verb: "publish" },
        http: Some(Http { method: Method::Post, path: "/v1/intents" }),
        mcp: true,
        effect: Effect::Write,
        summary: "Say what you are about to do, and hear who is in the way",
        guide: "Publish before you write code. Each scope says what you do to it: add, extend and modify keep what \
                others depend on; replace, remove, rename and migrate do not.\n\
                Kinds: symbol api schema config infra test migration env file component contract domain\n\n\
                Example:\n  foremerge intent publish --agent agt_1f2e3d4c --task payments \\\n    \
                --summary \"Replace PaymentService with StripePaymentService\" \\\n    \
                --scope symbol:PaymentService=replace",
        codes: &[Code::InvalidInput, Code::NotFound, Code::InvalidTransition],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        if input.depends_on.len() > DEPENDENCIES {
            let accepted = format!("at most {DEPENDENCIES} intents");
            return Err(Failure::invalid("depends_on", &accepted, accepted.as_str()));
        }
        let scopes = scopes::publishable(cx, input.scopes, input.summary.as_str())?;
        let (actor, depends_on, mut matches) = cx.ledger().read::<_, Failure>(|snapshot| {
            let actor = Actor::find(cx, snapshot, &input.agent_id)?;
            let depends_on = input.depends_on.iter().map(|other| snapshot.resolve(other));
            let mut depends_on = depends_on.collect::<Result<Vec<_>, _>>()?;
            let mut named = std::collections::HashSet::new();
            depends_on.retain(|other| named.insert(*other));
            let matches = Matches::find(snapshot, &actor.agent, input.summary.as_str(), scopes)?;
            Ok((actor, depends_on, matches))
        })?;
        let task = input.task.into_string();
        let fact = IntentPublished {
            task_id: Id::derived(&Digest::of_fields(&[b"task", canonical::folded(&task).as_bytes()])),
            task,
            summary: input.summary.into_string(),
            rationale: input.rationale.map(Prose::into_string),
            scopes: matches.scopes().to_vec(),
            depends_on,
            metadata: input.metadata.unwrap_or_default(),
        };
        let write = move |transaction: &mut Transaction<'_>| {
            matches.refresh(transaction)?;
            let (intent, agent): (Id<Intent>, _) = (transaction.new_id()?, actor.agent.id);
            let fact = Fact::IntentPublished(fact);
            let cause = transaction.record(Draft { entity: intent.to_string(), agent, cause: None, fact })?;
            let mut silence = Silence::new(transaction.now());
            let findings = recording::record(
                transaction,
                Acting { intent, agent, cause },
                matches.found(),
                &mut silence,
            )?;
            actor.acted(transaction, cause, Touched::Compared(intent))?;
            Ok::<_, Failure>((transaction.intent(intent)?, matches, findings, silence))
        };
        let (intent, matches, findings, mut silence) = cx.ledger().write(Patience::Wait, write)?;
        // Put into words when nobody waits for the ledger any more.
        let found =
            cx.ledger().read(|snapshot| Found::read(snapshot, &intent, &matches, &findings, &mut silence))?;
        Ok(Output { intent, found })
    }
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> = Some(|output| vec![output.intent.id.to_string()]);

    fn warnings(&self) -> &[String] {
        &self.found.warnings
    }
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        screen.line(format!("Published {}: {}", self.intent.id, self.intent.summary));
        self.found.render(&self.intent, screen);
    }
}
