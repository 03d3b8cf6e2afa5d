//! `list_agents`: who takes part.

use serde::Deserialize;

use crate::domain::{Agent, AgentStatus};
use crate::failure::{Code, Failure};
use crate::ledger::read::Cursor;
use crate::operations::answer::{self, page_size};
use crate::operations::render::{Cell, dim};
use crate::operations::{Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenLedger};

pub struct List;

/// Which agents.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// Include retired agents.
    #[arg(long)]
    all: bool,
    /// At most this many (default 100, at most 500).
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Where to go on: the `next` of the page before.
    #[arg(long, value_name = "NEXT")]
    cursor: Option<Cursor>,
}

impl Operation for List {
    const SPEC: Spec = Spec {
        id: "list_agents",
        cli: Cli { noun: Some("agent"), verb: "list" },
        http: Some(Http { method: Method::Get, path: "/v1/agents" }),
        mcp: true,
        effect: Effect::Read,
        summary: "List registered agents, oldest first",
        guide: "Retired agents are left out unless asked for.\n\nExample:\n  foremerge agent list",
        codes: &[Code::InvalidInput],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = answer::List<Agent>;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Self::Output, Failure> {
        let page =
            cx.ledger().read(|snapshot| snapshot.agents(input.all, input.cursor, page_size(input.limit)));
        Ok(answer::List(page?))
    }
}

impl answer::Listed for Agent {
    fn listed_id(&self) -> String {
        self.id.to_string()
    }
}

impl Render for answer::List<Agent> {
    fn render(&self, screen: &mut Screen) {
        if self.0.total == 0 {
            screen.line("No agents are registered. Register one in each worktree:");
            return screen.command("foremerge agent register --name NAME");
        }
        let rows = self.0.items.iter().map(|agent| {
            vec![
                Cell::from(agent.id),
                Cell::cut(&agent.name, 2),
                if agent.status == AgentStatus::Retired { dim("retired").into() } else { Cell::default() },
                agent.git_branch.as_deref().unwrap_or_default().into(),
                agent.worktree.as_deref().unwrap_or_default().into(),
                dim(screen.ago(agent.registered_at)).into(),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&["AGENT", "NAME", "STATUS", "BRANCH", "WORKTREE", "REGISTERED"], rows);
        screen.rest(self.0.items.len(), self.0.total, self.0.next, "--cursor");
    }
}
