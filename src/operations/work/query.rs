//! `query_work`: who is at work on what.

use serde::{Deserialize, Serialize};

use crate::domain::cut::Cut;
use crate::domain::scope::NamedScope;
use crate::domain::{Agent, Claim, Id, IdRef, Intent, IntentStatus};
use crate::failure::{Code, Failure};
use crate::ledger::read::{Cursor, Which, Work};
use crate::operations::answer::{self, Listed, clamped};
use crate::operations::render::{Cell, Style, Text, dim, plain};
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, PageInfo, Render, Screen, Spec};
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
    /// Every claim ever held for it: live ones first, then oldest first.
    claims: Vec<Claim>,
    /// How many of them are live.
    live_claims: u64,
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
            live_claims: work.live_claims,
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
    type Output = Found;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Self::Output, Failure> {
        let scope = scopes::named(cx, "scope", input.scope.into_iter().collect())?.pop();
        let limit = clamped(input.limit, 50, 500);
        let (found, asker) = cx.ledger().read::<_, Failure>(|snapshot| {
            if let Some(scope) = &scope {
                scopes::carries_no_operation(snapshot, "scope", scope)?;
            }
            let resolve = |agent: &Option<IdRef<Agent>>| {
                agent.as_ref().map(|agent| snapshot.resolve(agent)).transpose()
            };
            let (agent, asker) = (resolve(&input.agent_id)?, resolve(&input.asker_id)?);
            let scope = scope.map(|scope| scope.canonical);
            let which = Which { agent, status: input.status, scope };
            let narrowed = which.agent.is_some() || which.status.is_some() || which.scope.is_some();
            let page = snapshot.work(&which, input.cursor, limit, cx.now())?;
            Ok((Found { list: answer::List(page.map(Item::from)), narrowed }, asker))
        })?;
        if let Some(asker) = asker {
            presence::looked(cx, asker);
        }
        Ok(found)
    }
}

/// What was found.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Found {
    list: answer::List<Item>,
    /// Whether there may be other work, for a person.
    #[serde(skip)]
    narrowed: bool,
}

impl Answer for Found {
    const IDS: Option<fn(&Self) -> Vec<String>> =
        Some(|found| found.list.0.items.iter().map(Listed::listed_id).collect());

    fn page(&self) -> Option<PageInfo> {
        self.list.page()
    }
}

impl Listed for Item {
    fn listed_id(&self) -> String {
        self.intent.id.to_string()
    }
}

impl Item {
    fn row(&self, screen: &Screen) -> Vec<Cell> {
        let intent = &self.intent;
        let conflicts = Text::default().styled(Style::Warning, counted(self.open_conflicts, "conflict"));
        let scopes: Vec<_> = intent.scopes.iter().map(ToString::to_string).collect();
        vec![
            Cell::from(intent.id),
            intent.status.into(),
            Cell::cut(
                self.agent.as_ref().map_or_else(|| intent.agent_id.into(), |agent| plain(&agent.name)),
                1,
            ),
            counted(self.live_claims, "claim").into(),
            if self.open_conflicts == 0 { Cell::default() } else { conflicts.into() },
            Cell::cut(&intent.summary, 3),
            Cell::cut(dim(scopes.join(", ")), 2),
            dim(screen.ago(intent.created_at)).into(),
        ]
    }
}

/// Empty for none, so that what nobody has takes no room.
fn counted(count: u64, thing: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

impl Render for Found {
    fn render(&self, screen: &mut Screen) {
        if self.list.0.total == 0 {
            if self.narrowed {
                screen.line("No such work. Everything there is, and how to add to it:");
                screen.command("foremerge work query");
            } else {
                screen.line("No work yet. Say what you are about to do:");
            }
            return screen.command(
                "foremerge intent publish --agent AGENT_ID --task TASK --summary SUMMARY \
                 --scope KIND:KEY=OPERATION",
            );
        }
        self.list.render(screen);
    }
}

impl Render for answer::List<Item> {
    fn render(&self, screen: &mut Screen) {
        let rows: Vec<_> = self.0.items.iter().map(|item| item.row(screen)).collect();
        let header = ["INTENT", "STATUS", "AGENT", "CLAIMED", "COLLIDES", "SUMMARY", "TOUCHES", "PUBLISHED"];
        screen.table(&header, rows);
        screen.gap();
        if let Some(item) = self.0.items.iter().find(|item| item.open_conflicts > 0).or(self.0.items.first())
        {
            screen.line("All of one, and what is open against it:");
            screen.command(plain("foremerge intent show ").id(item.intent.id));
        }
        screen.rest(self.0.items.len(), self.0.total, self.0.next, "--cursor");
    }
}
