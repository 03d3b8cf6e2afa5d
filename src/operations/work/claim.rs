//! `claim_work`: the owner says which scopes it is at work on, and hears who else is.

use serde::{Deserialize, Serialize};

use crate::detect::warnings;
use crate::domain::claim::Lease;
use crate::domain::cut::Cut;
use crate::domain::fact::{ClaimCreated, ClaimRenewed, ConflictDetected, Fact, LifecycleTransitioned};
use crate::domain::scope::NamedScope;
use crate::domain::text::Prose;
use crate::domain::transition::Act;
use crate::domain::{Agent, Claim, Conflict, Event, Id, IdRef, Intent};
use crate::failure::{Code, Failure};
use crate::ledger::{Draft, Patience, Transaction};
use crate::operations::render::plain;
use crate::operations::{
    Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec, conflicts, intent,
};
use crate::service::acting::{Actor, Touched};
use crate::service::claiming::OtherClaims;
use crate::service::gates::may;
use crate::service::recording::{self, Acting};
use crate::service::scopes::Named;
use crate::service::silence::Silence;
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
    #[arg(long, value_name = "SECONDS")]
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
    /// Overlaps that were not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<u64>,
    /// Recorded but left out of this answer, by field.
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    cut: Cut,
    /// What the claims are for, for a person.
    #[serde(skip)]
    intent: Intent,
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
            return Err(Failure::invalid("scopes", "name at least one to claim", "at least one scope"));
        }
        let wanted = scopes::named(cx, "scopes", input.scopes)?;
        let lease = input.lease_seconds.map_or_else(Lease::default, Lease::of_seconds);
        let reason = input.reason.map(Prose::into_string);
        let (actor, intent, others) = cx.ledger().read::<_, Failure>(|snapshot| {
            for scope in &wanted {
                scopes::carries_no_operation(snapshot, "scopes", scope)?;
            }
            let actor = Actor::find(cx, snapshot, &input.agent_id)?;
            let intent = snapshot.resolve(&input.intent_id)?;
            may(Act::Claim, &snapshot.intent(intent)?, actor.agent.id)?;
            let others = OtherClaims::find(snapshot, actor.agent.id, &wanted, cx.now())?;
            Ok((actor, intent, others))
        })?;
        let odd = |scope: &Named| warnings::dropped_class(scope.canonical.kind, &scope.key);
        let scope_warnings = wanted.iter().filter_map(odd).take(warnings::SHOWN).collect();
        let (claims, found, intent) =
            cx.ledger().write(Patience::Wait, move |transaction: &mut Transaction<'_>| {
                let (agent, now, before) = (actor.agent.id, transaction.now(), transaction.intent(intent)?);
                let to = may(Act::Claim, &before, agent)?;
                let mut call = Call { intent, agent, lease, reason, cause: None };
                let mut claims = Vec::with_capacity(wanted.len());
                for scope in &wanted {
                    claims.push(call.grant(transaction, scope)?);
                }
                if to != before.status {
                    let fact = LifecycleTransitioned { from: before.status, to };
                    call.record(transaction, intent.to_string(), Fact::LifecycleTransitioned(fact))?;
                }
                let mut found = ConflictDetected::default();
                if let Some(cause) = call.cause {
                    let others = others.now(transaction, now)?;
                    found = recording::record(
                        transaction,
                        Acting { intent, agent, cause },
                        &others,
                        &mut Silence::new(transaction.now()),
                    )?;
                    actor.acted(transaction, cause, Touched::Intent(intent))?;
                }
                let claims = claims.iter().map(|claim| transaction.claim(intent, *claim, now));
                Ok::<_, Failure>((claims.collect::<Result<Vec<_>, _>>()?, found, transaction.intent(intent)?))
            })?;
        let ids: Vec<_> = found.identities(intent.id).collect();
        let shown = &ids[..ids.len().min(SHOWN)];
        Ok(Output {
            claims,
            warnings: cx.ledger().read(|snapshot| snapshot.conflicts_of(intent.id, shown, []))?,
            advisory_only: true,
            scope_warnings,
            omitted: Some(found.omitted).filter(|count| *count > 0),
            cut: Cut::default().with("warnings", shown.len(), ids.len() as u64),
            intent,
        })
    }
}

/// Most conflicts shown in one answer.
const SHOWN: usize = 100;

/// The write of one call: its first event is the cause of all others.
struct Call {
    intent: Id<Intent>,
    agent: Id<Agent>,
    lease: Lease,
    reason: Option<String>,
    cause: Option<Id<Event>>,
}

impl Call {
    /// Renews the claim the intent holds on the scope, or makes one.
    fn grant(&mut self, transaction: &mut Transaction<'_>, scope: &Named) -> Result<Id<Claim>, Failure> {
        let (intent_id, canonical) = (self.intent, &scope.canonical);
        let (lease_expires_at, reason) = (self.lease.end(transaction.now()), self.reason.clone());
        let held = transaction.held_claim(intent_id, canonical.kind, &canonical.full)?;
        let (claim, fact) = if let Some(held) = held {
            (held, Fact::ClaimRenewed(ClaimRenewed { intent_id, reason, lease_expires_at }))
        } else {
            let fact = ClaimCreated {
                intent_id,
                kind: canonical.kind,
                key: scope.key.clone(),
                full: canonical.full.clone(),
                alias: canonical.own_alias(),
                reason,
                lease_expires_at,
            };
            (transaction.new_id()?, Fact::ClaimCreated(fact))
        };
        self.record(transaction, claim.to_string(), fact)?;
        Ok(claim)
    }

    fn record(
        &mut self,
        transaction: &mut Transaction<'_>,
        entity: String,
        fact: Fact,
    ) -> Result<(), Failure> {
        let event = transaction.record(Draft { entity, agent: self.agent, cause: self.cause, fact })?;
        self.cause = self.cause.or(Some(event));
        Ok(())
    }
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> =
        Some(|output| output.claims.iter().map(|claim| claim.id.to_string()).collect());

    fn warnings(&self) -> &[String] {
        &self.scope_warnings
    }
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        for claim in &self.claims {
            let claimed = format!("Claimed {} {} (", claim.scope, screen.ahead(claim.lease_expires_at));
            screen.line(plain(claimed).id(claim.id).and(")"));
        }
        for warning in &self.scope_warnings {
            screen.warning(warning);
        }
        for conflict in &self.warnings {
            screen.gap();
            conflicts::advice(conflict, screen);
        }
        conflicts::hidden(self.cut.of("warnings") + self.omitted.unwrap_or(0), screen);
        intent::next(&self.intent, screen);
    }
}
