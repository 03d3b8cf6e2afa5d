//! `query_work`: who is at work on what.

use serde::{Deserialize, Serialize};

use crate::domain::cut::Cut;
use crate::domain::scope::NamedScope;
use crate::domain::{Agent, Claim, ClaimStatus, Id, IdRef, Intent, IntentStatus};
use crate::failure::{Code, Failure};
use crate::ledger::read::{Cursor, Which, Work};
use crate::operations::answer::{self, clamped};
use crate::operations::{Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenLedger, presence, scopes};

pub struct Query;

/// Which work.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// Only the work of this agent.
    #[arg(long = "agent", value_name = "AGENT_ID")]
    agent_id: Option<IdRef<Agent>>,
    /// Only work in this state.
    #[arg(long)]
    status: Option<IntentStatus>,
    /// Only work that declares this scope or ever claimed it, in whatever namespace.
    #[arg(long, value_name = "KIND:KEY")]
    scope: Option<NamedScope>,
    /// At most this many (default 50, at most 500).
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Where to go on: the `next` of the page before.
    #[arg(long, value_name = "NEXT")]
    cursor: Option<Cursor>,
    /// Who asks; noted as present. It narrows nothing.
    // The variable is set in every shell of an agent: filling the filter, it would hide everybody else.
    #[arg(long = "as", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    asker_id: Option<IdRef<Agent>>,
}

/// An intent with what belongs to it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Item {
    /// The intent.
    intent: Intent,
    /// Its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<Agent>,
    /// Every claim ever held for it, oldest first.
    claims: Vec<Claim>,
    /// Intents that build on it.
    dependents: Vec<Id<Intent>>,
    /// Its OPEN and COORDINATING conflicts.
    open_conflicts: u64,
    /// Left out of the lists, by field.
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    cut: Cut,
}

impl From<Work> for Item {
    fn from(work: Work) -> Self {
        let cut = Cut::default().with("claims", work.claims.len(), work.claim_count);
        Self {
            cut: cut.with("dependents", work.dependents.len(), work.dependent_count),
            intent: work.intent,
            agent: work.agent,
            claims: work.claims,
            dependents: work.dependents,
            open_conflicts: work.open_conflicts,
        }
    }
}

impl Operation for Query {
    const SPEC: Spec = Spec {
        id: "query_work",
        cli: Cli { noun: Some("work"), verb: "query" },
        http: Some(Http { method: Method::Get, path: "/v1/work" }),
        mcp: true,
        effect: Effect::Read,
        summary: "Ask who is at work on what, newest first",
        guide: "A symbol is matched by its container and member, whatever namespace is written before them.\n\
                States: INTENT CLAIMED IN_PROGRESS PROVISIONAL VALIDATED ACCEPTED COMMITTED DISCARDED\n\n\
                Example:\n  foremerge work query --scope symbol:Report::render",
        codes: &[Code::InvalidInput, Code::NotFound],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = answer::List<Item>;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Self::Output, Failure> {
        let scope = scopes::named(cx, "scope", input.scope.into_iter().collect())?.pop();
        let limit = clamped(input.limit, 50, 500);
        let (page, asker) = cx.ledger().read::<_, Failure>(|snapshot| {
            if let Some(scope) = &scope {
                scopes::carries_no_operation(snapshot, "scope", scope)?;
            }
            let resolve = |agent: &Option<IdRef<Agent>>| {
                agent.as_ref().map(|agent| snapshot.resolve(agent)).transpose()
            };
            let (agent, asker) = (resolve(&input.agent_id)?, resolve(&input.asker_id)?);
            let scope = scope.map(|scope| scope.canonical);
            let which = Which { agent, status: input.status, scope };
            Ok((snapshot.work(&which, input.cursor, limit, cx.now())?, asker))
        })?;
        if let Some(asker) = asker {
            presence::looked(cx, asker);
        }
        Ok(answer::List(page.map(Item::from)))
    }
}

impl Render for answer::List<Item> {
    fn render(&self, screen: &mut Screen) {
        if self.0.total == 0 {
            return screen.line("No such work. Everything there is: foremerge work query");
        }
        let rows = self.0.items.iter().map(|item| {
            let live = item.claims.iter().filter(|claim| claim.status == ClaimStatus::Active).count();
            vec![
                item.intent.id.short(),
                item.intent.status.to_string(),
                item.agent.as_ref().map_or_else(|| item.intent.agent_id.short(), |agent| agent.name.clone()),
                item.intent.summary.clone(),
                live.to_string(),
                item.open_conflicts.to_string(),
                screen.ago(item.intent.created_at),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&["INTENT", "STATUS", "AGENT", "SUMMARY", "CLAIMS", "CONFLICTS", "PUBLISHED"], rows);
        screen.rest(self.0.items.len(), self.0.total, self.0.next, "--cursor");
    }
}
