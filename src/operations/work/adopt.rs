//! `adopt_work`: an agent takes over work whose owner is gone.

use serde::{Deserialize, Serialize};

use crate::domain::conflict::OpenConflicts;
use crate::domain::fact::{Counterparts, Fact, IntentAdopted};
use crate::domain::text::Prose;
use crate::domain::transition::Act;
use crate::domain::{Agent, IdRef, Intent, Timestamp};
use crate::failure::{Code, Failure};
use crate::ledger::{Draft, Patience, Snapshot, Transaction};
use crate::operations::render::plain;
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec, conflicts};
use crate::service::acting::{Actor, Touched};
use crate::service::gates::may;
use crate::service::matching::Matches;
use crate::service::recording::{self, Acting};
use crate::service::silence::Silence;
use crate::service::{Cx, OpenLedger};

pub struct Adopt;

/// Which work, and why.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The intent, or the beginning of its id.
    #[arg(value_name = "INTENT_ID")]
    intent_id: IdRef<Intent>,
    /// Who takes it over.
    #[arg(long = "agent", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    agent_id: IdRef<Agent>,
    /// Why.
    #[arg(long, allow_hyphen_values = true)]
    reason: Prose,
}

/// The intent with its new owner, and what is open against it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    intent: Intent,
    /// Unsettled conflicts with other work.
    open_conflicts: OpenConflicts,
}

impl Operation for Adopt {
    const SPEC: Spec = Spec {
        id: "adopt_work",
        cli: Cli { noun: Some("work"), verb: "adopt" },
        http: Some(Http { method: Method::Post, path: "/v1/work/{intent_id}/adopt" }),
        mcp: true,
        effect: Effect::Write,
        summary: "Take over work whose owner is gone",
        guide: "Work can be adopted when its owner has not been heard of for two hours and none of its claims is \
                live; a new session of the same name in the same worktree may at once. The work keeps its state, its \
                claims end.\n\n\
                Example:\n  foremerge work adopt int_1f2e3d4c --reason \"the session was restarted\"",
        codes: &[Code::InvalidInput, Code::NotFound, Code::Forbidden, Code::InvalidTransition],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        let (actor, intent, mut matches) = cx.ledger().read::<_, Failure>(|snapshot| {
            let actor = Actor::find(cx, snapshot, &input.agent_id)?;
            let intent = snapshot.intent(snapshot.resolve(&input.intent_id)?)?;
            may_adopt(snapshot, &intent, &actor.agent, cx.now())?;
            let scopes = snapshot.published_scopes(snapshot.row_of(intent.id)?)?;
            let matches = Matches::find(snapshot, &actor.agent, &intent.summary, scopes)?;
            Ok((actor, intent.id, matches))
        })?;
        let reason = input.reason.into_string();
        cx.ledger().write(Patience::Wait, move |transaction: &mut Transaction<'_>| {
            let (agent, now) = (actor.agent.id, transaction.now());
            let before = transaction.intent(intent)?;
            may_adopt(transaction, &before, &actor.agent, now)?;
            let row = transaction.row_of(intent)?;
            if matches.is_about(transaction, &before.summary, row)? {
                matches.refresh(transaction)?;
            } else {
                // It was amended since it was compared.
                let scopes = transaction.published_scopes(row)?;
                matches = Matches::find(transaction, &actor.agent, &before.summary, scopes)?;
            }
            matches.found_mut().forget(row);
            let owed = recording::owed_to(transaction, &before, now)?;
            let fact = Fact::IntentAdopted(IntentAdopted { from_agent_id: before.agent_id, reason });
            let cause = transaction.record(Draft { entity: intent.to_string(), agent, cause: None, fact })?;
            let acting = Acting { intent, agent, cause };
            recording::dismiss(transaction, acting, matches.found(), None)?;
            recording::record(transaction, acting, matches.found(), &mut Silence::new(transaction.now()))?;
            if !owed.is_empty() {
                transaction.record(acting.draft(Fact::FindingsSettled(Counterparts { with: owed })))?;
            }
            actor.acted(transaction, cause, Touched::Compared(intent))?;
            let open_conflicts = transaction.open_conflicts(intent)?;
            Ok::<_, Failure>(Output { intent: transaction.intent(intent)?, open_conflicts })
        })
    }
}

/// Work is left alone while its owner may come back to it.
fn may_adopt(snapshot: &Snapshot<'_>, intent: &Intent, agent: &Agent, now: Timestamp) -> Result<(), Failure> {
    may(Act::Adopt, intent, agent.id)?;
    let owner = snapshot.agent(intent.agent_id)?;
    let restarted = owner.worktree.is_some() && owner.worktree == agent.worktree && owner.name == agent.name;
    if restarted {
        return Ok(());
    }
    let refuse = |why: String| Err(Failure::new(Code::Forbidden, format!("{}: {why}", intent.id)));
    if snapshot.has_live_claim(snapshot.row_of(intent.id)?, now)? {
        return refuse(format!("{} ({}) holds a live claim for it", owner.id, owner.name));
    }
    let seen = snapshot.last_seen(owner.id)?;
    if !seen.is_stale(now) {
        let why = if seen.local { "was heard of within two hours" } else { "works in another clone" };
        return refuse(format!("its owner {} ({}) {why}", owner.id, owner.name));
    }
    Ok(())
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> = Some(|output| vec![output.intent.id.to_string()]);
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        screen.line(format!("Adopted {} ({}): {}", self.intent.id, self.intent.status, self.intent.summary));
        screen.gap();
        conflicts::open(self.intent.id, &self.open_conflicts, screen);
        screen.gap();
        screen.line("Its claims ended with the change of owner. Claim what you work on:");
        let claim = plain("foremerge work claim --intent ").id(self.intent.id).and(" --agent ");
        screen.command(claim.id(self.intent.agent_id).and(" --scope KIND:KEY"));
    }
}
