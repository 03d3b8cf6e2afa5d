//! `claim_work`: the owner says which scopes it is at work on, and hears who else is.

use serde::{Deserialize, Serialize};

use crate::detect::warnings;
use crate::domain::claim::Lease;
use crate::domain::fact::{ClaimCreated, ClaimRenewed, Fact, LifecycleTransitioned};
use crate::domain::scope::NamedScope;
use crate::domain::text::Prose;
use crate::domain::transition::Act;
use crate::domain::{Agent, Claim, Conflict, Event, Id, IdRef, Intent};
use crate::failure::{Code, Failure};
use crate::ledger::{Draft, Transaction};
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec, conflicts};
use crate::service::acting::{Touched, act};
use crate::service::gates::may;
use crate::service::scopes::Named;
use crate::service::{Cx, OpenLedger, scopes};

pub struct ClaimWork;

/// What is claimed, and for how long.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The owner of the intent.
    #[arg(long = "agent", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    agent_id: IdRef<Agent>,
    /// The intent the claim is for.
    #[arg(long = "intent", value_name = "INTENT_ID")]
    intent_id: IdRef<Intent>,
    /// What is claimed, without an operation; may be repeated, at most 1,000 times.
    #[arg(long = "scope", value_name = "KIND:KEY", required = true)]
    scopes: Vec<NamedScope>,
    /// Why.
    #[arg(long, allow_hyphen_values = true)]
    #[serde(default)]
    reason: Option<Prose>,
    /// How long the claim runs, in seconds: 60 to 86,400, an hour if nothing is said. Outside that it is
    /// as near as can be; the answer tells.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    #[serde(default)]
    lease_seconds: Option<i64>,
}

/// The claims, and who else claims the same.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The claims as they are now, new and renewed.
    claims: Vec<Claim>,
    /// Live claims of other agents on the same things.
    warnings: Vec<Conflict>,
    /// Always true: nobody is kept out.
    advisory_only: bool,
    /// Spellings that are matched in a way you may not expect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    scope_warnings: Vec<String>,
}

impl Operation for ClaimWork {
    const SPEC: Spec = Spec {
        id: "claim_work",
        cli: Cli { noun: Some("work"), verb: "claim" },
        http: Some(Http { method: Method::Post, path: "/v1/claims" }),
        mcp: true,
        effect: Effect::Write,
        summary: "Say which scopes you are at work on, and hear who else is",
        guide: "A claim is a lease, never a lock: who claims the same is told, nobody is kept out. Claim a held \
                scope again to renew it.\n\n\
                Example:\n  foremerge work claim --intent int_1f2e3d4c --scope symbol:PaymentService",
        codes: &[Code::InvalidInput, Code::NotFound, Code::Forbidden, Code::InvalidTransition],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        if input.scopes.is_empty() {
            return Err(Failure::invalid("scopes", "name at least one to claim"));
        }
        let wanted = scopes::named(cx, input.scopes)?;
        let lease = input.lease_seconds.map_or_else(Lease::default, Lease::of_seconds);
        let (named, reason) = (input.intent_id, input.reason.map(Prose::into_string));
        act(cx, &input.agent_id, move |transaction, actor| {
            for scope in &wanted {
                scopes::carries_no_operation(transaction, scope)?;
            }
            let (agent, intent) = (actor.agent.id, transaction.intent(transaction.resolve(&named)?)?);
            let to = may(Act::Claim, &intent, agent)?;
            let mut cause = None;
            let mut claims = Vec::with_capacity(wanted.len());
            for scope in &wanted {
                let claim = Wish { scope, lease, reason: reason.as_ref(), cause };
                let (claim, event) = claim.grant(transaction, intent.id, agent)?;
                cause = cause.or(Some(event));
                claims.push(claim);
            }
            if to != intent.status {
                let fact = Fact::LifecycleTransitioned(LifecycleTransitioned { from: intent.status, to });
                transaction.record(Draft { entity: intent.id.to_string(), agent, cause, fact })?;
            }
            if let Some(cause) = cause {
                actor.acted(transaction, cause, Touched::Intent(intent.id))?;
            }
            let now = transaction.now();
            let claims =
                claims.iter().map(|claim| transaction.claim(*claim, now)).collect::<Result<_, _>>()?;
            let odd = |scope: &Named| warnings::dropped_class(scope.canonical.kind, &scope.key);
            let scope_warnings = wanted.iter().filter_map(odd).take(warnings::SHOWN).collect();
            Ok(Output { claims, warnings: Vec::new(), advisory_only: true, scope_warnings })
        })
    }
}

/// A scope that is to be claimed.
struct Wish<'w> {
    scope: &'w Named,
    lease: Lease,
    reason: Option<&'w String>,
    cause: Option<Id<Event>>,
}

impl Wish<'_> {
    /// Renews the claim the intent holds on the scope, or makes one.
    fn grant(
        &self,
        transaction: &mut Transaction<'_>,
        intent_id: Id<Intent>,
        agent: Id<Agent>,
    ) -> Result<(Id<Claim>, Id<Event>), Failure> {
        let canonical = &self.scope.canonical;
        let (lease_expires_at, reason) = (self.lease.end(transaction.now()), self.reason.cloned());
        let held = transaction.held_claim(intent_id, canonical.kind, &canonical.full)?;
        let (claim, fact) = if let Some(held) = held {
            (held, Fact::ClaimRenewed(ClaimRenewed { intent_id, reason, lease_expires_at }))
        } else {
            let fact = ClaimCreated {
                intent_id,
                kind: canonical.kind,
                key: self.scope.key.clone(),
                full: canonical.full.clone(),
                alias: canonical.own_alias(),
                reason,
                lease_expires_at,
            };
            (transaction.new_id()?, Fact::ClaimCreated(fact))
        };
        let draft = Draft { entity: claim.to_string(), agent, cause: self.cause, fact };
        Ok((claim, transaction.record(draft)?))
    }
}

impl Answer for Output {}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        for claim in &self.claims {
            screen.line(format!(
                "Claimed {} {} ({})",
                claim.scope,
                screen.ahead(claim.lease_expires_at),
                claim.id.short()
            ));
        }
        for warning in &self.scope_warnings {
            screen.line(format!("warning: {warning}"));
        }
        for conflict in &self.warnings {
            screen.gap();
            conflicts::details(conflict, screen);
        }
    }
}
