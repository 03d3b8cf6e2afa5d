//! `list_worktrees`: where work goes on, and whose it is.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::domain::{Agent, AgentStatus, Id};
use crate::failure::{Code, Failure};
use crate::git::worktree;
use crate::ledger::Ledger;
use crate::operations::render::{Cell, Style, Text, dim, plain};
use crate::operations::{Answer, Cli, Effect, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenRepository};

pub struct List;

/// Digits shown of a commit.
const HEAD: usize = 12;

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

impl Worktree {
    fn row(&self) -> Vec<Cell> {
        let warning = |words: &str| Text::default().styled(Style::Warning, words);
        let agents: Vec<_> = self.agents.iter().map(|agent| agent.name.as_str()).collect();
        vec![
            self.branch.as_ref().map_or_else(|| dim("(detached)"), plain).into(),
            dim(self.head.as_deref().map_or("none yet", |head| head.get(..HEAD).unwrap_or(head))).into(),
            match self.dirty {
                Some(0) => Text::default().styled(Style::Good, "clean").into(),
                Some(paths) => format!("{paths} dirty").into(),
                None if self.present => warning("unreadable").into(),
                None => warning("gone").into(),
            },
            match self.claims {
                0 => Cell::default(),
                1 => "1 claim".into(),
                claims => format!("{claims} claims").into(),
            },
            Cell::cut(agents.join(", "), 2),
            Cell::from(&self.path),
        ]
    }
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        let rows: Vec<_> = self.0.iter().map(Worktree::row).collect();
        if rows.is_empty() {
            screen.line("There are no worktrees. Make one for each agent:");
        } else {
            screen.table(&["BRANCH", "HEAD", "FILES", "CLAIMED", "AGENTS", "WORKTREE"], rows);
        }
        for worktree in &self.0 {
            if let Some(problem) = &worktree.problem {
                screen.warning(format!("{}: {problem}", worktree.path));
            }
        }
        if self.0.len() < 2 {
            screen.gap();
            if !self.0.is_empty() {
                screen.line("Make one for each agent:");
            }
            screen.command("foremerge worktree create --branch BRANCH --path DIR");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Timestamp;

    fn worktree(path: &str, branch: Option<&str>, agents: &[&str]) -> Worktree {
        let agents =
            agents.iter().map(|name| Occupant { id: Id::from_bytes([1; 16]), name: (*name).to_owned() });
        Worktree {
            path: path.to_owned(),
            branch: branch.map(str::to_owned),
            head: Some("1f2e3d4c5b6a79880716253443526170f1e2d3c4".to_owned()),
            present: true,
            dirty: Some(0),
            agents: agents.collect(),
            claims: 0,
            problem: None,
        }
    }

    fn shown(worktrees: Vec<Worktree>, width: u16) -> String {
        let mut screen = Screen::new(width, Timestamp::from_millis(0));
        Output(worktrees).render(&mut screen);
        screen.into_text()
    }

    #[test]
    fn the_list_reads_well_at_every_width() {
        let worktrees = || {
            let mut stripe = worktree(
                "/home/ada/shop-worktrees/stripe",
                Some("agent/stripe"),
                &["stripe-agent", "支払い-エージェント 🦀"],
            );
            (stripe.dirty, stripe.claims) = (Some(12), 3);
            let mut gone = worktree("/home/ada/shop-worktrees/old\u{1b}[31m", None, &[]);
            (gone.present, gone.dirty, gone.head) = (false, None, None);
            gone.problem = Some("its HEAD cannot be read".to_owned());
            vec![worktree("/home/ada/shop", Some("main"), &[]), stripe, gone]
        };
        for (width, expected) in [
            (60, include_str!("../../../fixtures/screens/worktree-list-60.txt")),
            (80, include_str!("../../../fixtures/screens/worktree-list-80.txt")),
            (140, include_str!("../../../fixtures/screens/worktree-list-140.txt")),
        ] {
            assert_eq!(shown(worktrees(), width), expected, "{width}");
        }
        let alone = shown(vec![worktree("/home/ada/shop", Some("main"), &[])], 80);
        assert_eq!(alone, include_str!("../../../fixtures/screens/worktree-list-alone.txt"));
    }
}
