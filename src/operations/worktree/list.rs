//! `list_worktrees`: where work goes on, and whose it is.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::domain::{Agent, AgentStatus, Id};
use crate::failure::{Code, Failure};
use crate::git::worktree;
use crate::ledger::Ledger;
use crate::operations::{Answer, Cli, Effect, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenRepository};

pub struct List;

/// Nothing to choose.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Input {}

/// Every worktree.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Output(Vec<Worktree>);

/// A worktree.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct Worktree {
    /// Real path of its root.
    path: String,
    /// The branch that is checked out; absent when a commit is, without a branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// Full id of the commit that is checked out; absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    /// Whether its directory is there.
    present: bool,
    /// How many paths differ from what is checked out, untracked files among them; absent when that cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    dirty: Option<u64>,
    /// Active agents that work in it, oldest first.
    agents: Vec<Occupant>,
    /// How many live claims they hold.
    claims: u64,
    /// What cannot be read of it, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// An agent in a worktree.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct Occupant {
    /// Its identifier.
    id: Id<Agent>,
    /// The name it gave itself.
    name: String,
}

impl Operation for List {
    const SPEC: Spec = Spec {
        id: "list_worktrees",
        cli: Cli { noun: Some("worktree"), verb: "list" },
        http: None,
        mcp: false,
        effect: Effect::Read,
        summary: "List the worktrees of this repository, and who works in them",
        guide: "Shows what is checked out in each, how many paths are not committed, and the agents that registered \
                there. Without a ledger nobody has.\n\nExample:\n  foremerge worktree list",
        codes: &[],
    };
    type Needs = OpenRepository;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenRepository>, _: Input) -> Result<Output, Failure> {
        let (agents, claims) = match cx.host().ledger() {
            Ok(ledger) => {
                (active_agents(&ledger)?, ledger.read(|snapshot| snapshot.live_claims_by_agent(cx.now()))?)
            }
            Err(failure) if failure.code == Code::NotInitialized => (Vec::new(), HashMap::new()),
            Err(failure) => return Err(failure),
        };
        let worktrees = cx.repository().worktrees()?;
        Ok(Output(worktrees.into_iter().map(|worktree| with_agents(worktree, &agents, &claims)).collect()))
    }
}

fn active_agents(ledger: &Ledger) -> Result<Vec<Agent>, Failure> {
    ledger.read(|snapshot| {
        let mut all = Vec::new();
        let mut after = None;
        loop {
            let page = snapshot.agents(false, after, 500)?;
            all.extend(page.items.into_iter().filter(|agent| agent.status == AgentStatus::Active));
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    })
}

fn with_agents(worktree: worktree::Worktree, agents: &[Agent], claims: &HashMap<Id<Agent>, u64>) -> Worktree {
    let path = worktree.path.to_string_lossy().into_owned();
    let here: Vec<_> = agents.iter().filter(|agent| agent.worktree.as_deref() == Some(&path)).collect();
    let (branch, head) = worktree.head.map_or((None, None), |head| (head.branch, head.commit));
    Worktree {
        claims: here.iter().filter_map(|agent| claims.get(&agent.id)).sum(),
        agents: here.into_iter().map(|agent| Occupant { id: agent.id, name: agent.name.clone() }).collect(),
        path,
        branch,
        head,
        present: worktree.present,
        dirty: worktree.dirty,
        problem: worktree.problem,
    }
}

impl Answer for Output {}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        if self.0.is_empty() {
            return screen.line(
                "There are no worktrees. Make one: foremerge worktree create --branch BRANCH --path DIR",
            );
        }
        let rows = self.0.iter().map(|worktree| {
            let head = worktree.head.as_deref().map_or("none yet", |head| head.get(..12).unwrap_or(head));
            let dirty = match worktree.dirty {
                Some(dirty) => dirty.to_string(),
                None if worktree.present => "unknown".to_owned(),
                None => "gone".to_owned(),
            };
            let agents =
                worktree.agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ");
            vec![
                worktree.path.clone(),
                worktree.branch.clone().unwrap_or_else(|| "(detached)".to_owned()),
                head.to_owned(),
                dirty,
                agents,
                worktree.claims.to_string(),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&["WORKTREE", "BRANCH", "HEAD", "DIRTY", "AGENTS", "CLAIMS"], rows);
        for worktree in &self.0 {
            if let Some(problem) = &worktree.problem {
                screen.line(format!("{}: {problem}", worktree.path));
            }
        }
    }
}
