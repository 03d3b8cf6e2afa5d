//! `get_graph`: who does what, where it meets and how it was settled, as nodes and edges.

mod disputes;
mod dot;
mod drawing;
mod gather;
mod mermaid;

use serde::{Deserialize, Serialize};

use super::answer::{PageInfo, page_size};
use super::render::escaped_json;
use super::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::domain::cut::Cut;
use crate::domain::graph::{Edge, Node, NodeKind};
use crate::domain::{Agent, IdRef, Intent};
use crate::failure::{Code, Failure};
use crate::ledger::Snapshot;
use crate::ledger::read::graph::OnPage;
use crate::ledger::read::{Cursor, Page};
use crate::service::{Cx, OpenLedger};

pub struct Graph;

/// Hops from an intent: as far as one may ask, and as far as one goes unasked.
const HOPS: (u8, u8) = (3, 1);

/// How a person, or a program that draws, gets it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The data, indented.
    #[default]
    Json,
    /// For Graphviz.
    Dot,
    /// For Mermaid.
    Mermaid,
}

/// Which part of the graph.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// Only this intent and what is near it.
    #[arg(long = "intent", value_name = "INTENT_ID")]
    intent_id: Option<IdRef<Intent>>,
    /// How near: 0 to 3 steps over conflicts and dependencies (default 1); needs an intent.
    #[arg(long, value_name = "STEPS")]
    depth: Option<u8>,
    /// Only intents of this agent.
    #[arg(long = "agent", value_name = "AGENT_ID")]
    agent_id: Option<IdRef<Agent>>,
    /// Only nodes of this kind, and edges between them; may be repeated.
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<NodeKind>,
    /// At most this many intents, with all that belongs to them (default 100, at most 500).
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Where to go on: the `next` of the page before.
    #[arg(long, value_name = "NEXT")]
    cursor: Option<Cursor>,
    /// How it is written; with --json always as JSON.
    #[arg(long, value_enum, default_value_t)]
    #[serde(skip)]
    #[schemars(skip)]
    format: Format,
}

/// A page of the graph: up to so many intents, newest first, with all that belongs to each. Both
/// ends of every edge are there.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The nodes, each once.
    nodes: Vec<Node>,
    /// The edges, each once.
    edges: Vec<Edge>,
    /// How much is left out of this page: `intents` that are on other pages, `conflicts` and
    /// `detections` beyond the newest 500, and of one intent more than 100 of anything else.
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    cut: Cut,
    #[serde(skip)]
    page: Option<PageInfo>,
    #[serde(skip)]
    format: Format,
}

impl Operation for Graph {
    const SPEC: Spec = Spec {
        id: "get_graph",
        cli: Cli { noun: None, verb: "graph" },
        http: Some(Http { method: Method::Get, path: "/v1/graph" }),
        mcp: false,
        effect: Effect::Read,
        summary: "Draw who does what, where it meets and how it was settled",
        guide: "A page holds up to 100 intents, newest first; an intent beyond it that something on it leads to is a \
                node without anything of its own. Agents without work stand on the last page.\n\n\
                Example:\n  foremerge graph --intent int_1f2e3d4c --depth 2 --format dot \\\n    \
                | dot -Tsvg -o work.svg",
        codes: &[Code::InvalidInput, Code::NotFound],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        let depth = match (input.depth, &input.intent_id) {
            (Some(_), None) => {
                return Err(Failure::invalid(
                    "depth",
                    "is counted from an intent: name one",
                    "a depth beside an intent_id",
                ));
            }
            (Some(depth), _) if depth > HOPS.0 => {
                let accepted = format!("0 to {}", HOPS.0);
                return Err(Failure::invalid("depth", format!("must be {accepted}"), accepted));
            }
            (depth, _) => depth.unwrap_or(HOPS.1),
        };
        let now = cx.now();
        cx.ledger().read(|snapshot| {
            let owner = input.agent_id.as_ref().map(|agent| snapshot.resolve(agent)).transpose()?;
            let page = select(snapshot, &input, owner.map(|id| snapshot.agent_row(id)).transpose()?, depth)?;
            let mut gather = gather::Gather::new(snapshot, now);
            if let Some(owner) = owner {
                gather.agent(owner)?;
            }
            for found in &page.items {
                gather.intent(*found)?;
            }
            gather.disputes(&page.items)?;
            if page.next.is_none() && owner.is_none() && input.intent_id.is_none() {
                gather.idle_agents()?;
            }
            let (nodes, edges, cut) = gather.drawn(&input.kinds);
            let shown = page.items.len();
            let next = page.next.map(|cursor| cursor.to_string());
            let whole = next.is_none() && shown as u64 == page.total;
            Ok(Output {
                nodes,
                edges,
                cut: cut.with("intents", shown, page.total),
                page: (!whole).then_some(PageInfo { next, total: page.total }),
                format: input.format,
            })
        })
    }
}

fn select(
    snapshot: &Snapshot<'_>,
    input: &Input,
    agent: Option<i64>,
    depth: u8,
) -> Result<Page<OnPage>, Failure> {
    let limit = page_size(input.limit);
    Ok(match &input.intent_id {
        Some(intent) => {
            let intent = snapshot.row_of(snapshot.resolve(intent)?)?;
            snapshot.neighbourhood(intent, depth, agent, input.cursor, limit)?
        }
        None => snapshot.drawn_page(agent, input.cursor, limit)?,
    })
}

impl Answer for Output {
    fn page(&self) -> Option<PageInfo> {
        self.page.clone()
    }
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        let lines = match self.format {
            Format::Json => match serde_json::to_string_pretty(&Shown { output: self, page: &self.page }) {
                Ok(text) => text.lines().map(escaped_json).collect(),
                Err(error) => vec![format!("it cannot be written: {error}")],
            },
            Format::Dot => self.commented("//", dot::lines(&self.nodes, &self.edges)),
            Format::Mermaid => self.commented("%%", mermaid::lines(&self.nodes, &self.edges)),
        };
        for line in lines {
            screen.verbatim(line);
        }
    }
}

/// What a person gets as JSON: without the envelope, which would say where the graph goes on.
#[derive(Serialize)]
struct Shown<'o> {
    #[serde(flatten)]
    output: &'o Output,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: &'o Option<PageInfo>,
}

impl Output {
    /// The drawing, and behind it as comments what it does not show.
    fn commented(&self, sign: &str, mut lines: Vec<String>) -> Vec<String> {
        if !self.cut.is_empty() {
            let parts: Vec<_> = self.cut.parts().map(|(field, count)| format!("{count} {field}")).collect();
            lines.push(format!("{sign} cut: {}", parts.join(", ")));
        }
        if let Some(next) = self.page.as_ref().and_then(|page| page.next.as_ref()) {
            lines.push(format!("{sign} the next page: --cursor {next}"));
        }
        lines
    }
}
