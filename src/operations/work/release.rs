//! `release_work`: the owner gives claims up before the work ends.

use serde::{Deserialize, Serialize};

use crate::domain::fact::{ClaimReleased, Fact};
use crate::domain::scope::NamedScope;
use crate::domain::transition::Act;
use crate::domain::{Agent, Claim, IdRef, Intent};
use crate::failure::{Code, Failure};
use crate::ledger::Draft;
use crate::operations::render::plain;
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::acting::{Touched, act};
use crate::service::gates::may;
use crate::service::{Cx, OpenLedger, scopes};

pub struct Release;

/// Which claims end.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The intent, or the beginning of its id.
    #[arg(value_name = "INTENT_ID")]
    intent_id: IdRef<Intent>,
    /// Its owner.
    #[arg(long = "agent", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    agent_id: IdRef<Agent>,
    /// A claimed scope to release; may be repeated. Without any, all claims of the intent end.
    #[arg(long = "scope", value_name = "KIND:KEY")]
    #[serde(default)]
    scopes: Vec<NamedScope>,
}

/// The claims that ended.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// As they are now.
    claims: Vec<Claim>,
}

impl Operation for Release {
    const SPEC: Spec = Spec {
        id: "release_work",
        cli: Cli { noun: Some("work"), verb: "release" },
        http: Some(Http { method: Method::Post, path: "/v1/work/{intent_id}/release" }),
        mcp: false,
        effect: Effect::Write,
        summary: "Give claims up before the work ends",
        guide: "What you no longer need, others need not ask you about. Claims of work that is discarded or lands \
                end by themselves.\n\n\
                Example:\n  foremerge work release int_1f2e3d4c --scope symbol:PaymentService",
        codes: &[Code::InvalidInput, Code::NotFound, Code::Forbidden],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        let (named, wanted) = (input.intent_id, scopes::named(cx, "scopes", input.scopes)?);
        cx.ledger().read(|snapshot| {
            wanted.iter().try_for_each(|scope| scopes::carries_no_operation(snapshot, "scopes", scope))
        })?;
        act(cx, &input.agent_id, move |transaction, actor| {
            let (agent, intent) = (actor.agent.id, transaction.intent(transaction.resolve(&named)?)?);
            may(Act::Release, &intent, agent)?;
            let mut held = Vec::new();
            for scope in &wanted {
                let claim = transaction.held_claim(intent.id, scope.canonical.kind, &scope.canonical.full)?;
                let claim = claim.ok_or_else(|| {
                    let message = format!("{} holds no claim on `{scope}`", intent.id);
                    Failure::new(Code::NotFound, message)
                        .with("field", "scopes")
                        .with(Failure::REFERENCE, scope.to_string())
                })?;
                if !held.contains(&claim) {
                    held.push(claim);
                }
            }
            if wanted.is_empty() {
                held = transaction.held_claims(intent.id)?;
            }
            let mut cause = None;
            for claim in &held {
                let fact = Fact::ClaimReleased(ClaimReleased { intent_id: intent.id });
                let event = transaction.record(Draft { entity: claim.to_string(), agent, cause, fact })?;
                cause = cause.or(Some(event));
            }
            match cause {
                Some(cause) => actor.acted(transaction, cause, Touched::Intent(intent.id))?,
                // Nothing was held; the owner was heard of all the same.
                None => transaction.heard_from(agent)?,
            }
            let now = transaction.now();
            let claims = held
                .iter()
                .map(|claim| transaction.claim(intent.id, *claim, now))
                .collect::<Result<_, _>>()?;
            Ok(Output { claims })
        })
    }
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> =
        Some(|output| output.claims.iter().map(|claim| claim.id.to_string()).collect());
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        if self.claims.is_empty() {
            return screen.line("Nothing was claimed.");
        }
        for claim in &self.claims {
            screen.line(plain(format!("Released {} (", claim.scope)).id(claim.id).and(")"));
        }
    }
}
