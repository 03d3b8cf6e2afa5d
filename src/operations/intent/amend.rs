//! `amend_intent`: the owner changes what an intent touches, before its code is validated.

use serde::{Deserialize, Serialize};

use super::found::Found;
use crate::domain::fact::{Fact, IntentAmended};
use crate::domain::scope::DeclaredScope;
use crate::domain::text::Summary;
use crate::domain::transition::Act;
use crate::domain::{Agent, Conflict, Id, IdRef, Intent};
use crate::failure::{Code, Failure};
use crate::ledger::{Draft, Patience, Transaction};
use crate::operations::render::plain;
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::acting::{Actor, Touched};
use crate::service::gates::may;
use crate::service::matching::Matches;
use crate::service::recording::{self, Acting, NoLonger};
use crate::service::silence::Silence;
use crate::service::{Cx, OpenLedger, scopes};

pub struct Amend;

/// What changes.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The intent, or the beginning of its id.
    #[arg(value_name = "INTENT_ID")]
    id: IdRef<Intent>,
    /// Its owner.
    #[arg(long = "agent", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    agent_id: IdRef<Agent>,
    /// Everything it touches from now on, and how; may be repeated. Replaces all scopes it had.
    #[arg(long = "scope", value_name = "KIND:KEY=OPERATION", required = true)]
    scopes: Vec<DeclaredScope>,
    /// What will be done now, if that changes.
    #[arg(long, allow_hyphen_values = true)]
    #[serde(default)]
    summary: Option<Summary>,
}

/// The amended intent, what it collides with, and what no longer holds.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The intent.
    intent: Intent,
    /// Conflicts that no longer hold and were dismissed.
    dismissed: Vec<Id<Conflict>>,
    /// Conflicts that no longer hold and stay open until the silent owner of the other side is back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    left_open: Vec<Id<Conflict>>,
    #[serde(flatten)]
    found: Found,
}

impl Operation for Amend {
    const SPEC: Spec = Spec {
        id: "amend_intent",
        cli: Cli { noun: Some("intent"), verb: "amend" },
        http: Some(Http { method: Method::Post, path: "/v1/intents/{id}/amend" }),
        mcp: true,
        effect: Effect::Write,
        summary: "Change what an intent touches; conflicts that no longer hold are dismissed",
        guide: "Give every scope the intent has from now on. Only its owner may, and only before its code is \
                validated.\n\n\
                Example:\n  foremerge intent amend int_1f2e3d4c --scope symbol:PaymentProvider=add",
        codes: &[Code::InvalidInput, Code::NotFound, Code::Forbidden, Code::InvalidTransition],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        if input.scopes.is_empty() {
            return Err(Failure::invalid(
                "scopes",
                "name at least one; an intent cannot be amended to touch nothing",
                "at least one scope",
            ));
        }
        // What is malformed is refused before it is asked whose intent it is, or whether there is one.
        let present = || cx.ledger().read(|snapshot| snapshot.intent(snapshot.resolve(&input.id)?));
        let words = match &input.summary {
            Some(summary) => summary.as_str().to_owned(),
            None => present().map(|intent| intent.summary).unwrap_or_default(),
        };
        let scopes = scopes::publishable(cx, input.scopes, &words)?;
        let (actor, intent, mut matches) = cx.ledger().read::<_, Failure>(|snapshot| {
            let actor = Actor::find(cx, snapshot, &input.agent_id)?;
            let intent = snapshot.intent(snapshot.resolve(&input.id)?)?;
            may(Act::Amend, &intent, actor.agent.id)?;
            let matches = Matches::find(snapshot, &actor.agent, &words, scopes)?;
            Ok((actor, intent.id, matches))
        })?;
        let summary = input.summary.map(Summary::into_string);
        let write = move |transaction: &mut Transaction<'_>| {
            let agent = actor.agent.id;
            may(Act::Amend, &transaction.intent(intent)?, agent)?;
            matches.refresh(transaction)?;
            let fact = Fact::IntentAmended(IntentAmended { scopes: matches.scopes().to_vec(), summary });
            let cause = transaction.record(Draft { entity: intent.to_string(), agent, cause: None, fact })?;
            let acting = Acting { intent, agent, cause };
            let no_longer = recording::dismiss(transaction, acting, matches.found(), None)?;
            let mut silence = Silence::new(transaction.now());
            let findings = recording::record(transaction, acting, matches.found(), &mut silence)?;
            actor.acted(transaction, cause, Touched::Compared(intent))?;
            Ok::<_, Failure>((transaction.intent(intent)?, no_longer, matches, findings, silence))
        };
        let (intent, no_longer, matches, findings, mut silence) = cx.ledger().write(Patience::Wait, write)?;
        let found =
            cx.ledger().read(|snapshot| Found::read(snapshot, &intent, &matches, &findings, &mut silence))?;
        let NoLonger { dismissed, left_open } = no_longer;
        Ok(Output { intent, dismissed, left_open, found })
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
        screen.line(format!("Amended {}: {}", self.intent.id, self.intent.summary));
        if !self.dismissed.is_empty() {
            let dismissed = plain("Dismissed, for they no longer hold:");
            screen.line(self.dismissed.iter().fold(dismissed, |text, id| text.and(" ").id(id)));
        }
        if !self.left_open.is_empty() {
            let left_open = plain("No longer hold, and stay open until their silent owners are back:");
            screen.line(self.left_open.iter().fold(left_open, |text, id| text.and(" ").id(id)));
        }
        self.found.render(&self.intent, screen);
    }
}
