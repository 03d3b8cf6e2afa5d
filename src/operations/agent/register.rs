//! `register_agent`: an agent introduces itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::domain::fact::{AgentRegistered, Fact};
use crate::domain::text::Name;
use crate::domain::{Agent, Id};
use crate::failure::{Code, Failure};
use crate::ledger::{Draft, Patience};
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenLedger, Surface};

pub struct Register;

/// Most capabilities an agent may name.
const CAPABILITIES: usize = 100;

/// Who it is.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What to call the agent, such as `payments-stripe`.
    #[arg(long)]
    name: Name,
    /// The model behind it.
    #[arg(long)]
    #[serde(default)]
    model: Option<Name>,
    /// Something it can do, such as `rust`; may be repeated, at most 100 times.
    #[arg(long = "capability", value_name = "CAPABILITY")]
    #[serde(default)]
    capabilities: Vec<Name>,
    /// The worktree it works in; on the command line the one at --cwd unless given.
    #[arg(long, value_name = "DIR", conflicts_with = "no_worktree")]
    #[serde(default)]
    worktree: Option<PathBuf>,
    /// Register without a worktree.
    #[arg(long)]
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    no_worktree: bool,
}

/// The new agent.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    agent: Agent,
    /// What may go wrong, if anything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    warnings: Vec<String>,
}

impl Operation for Register {
    const SPEC: Spec = Spec {
        id: "register_agent",
        cli: Cli { noun: Some("agent"), verb: "register" },
        http: Some(Http { method: Method::Post, path: "/v1/agents/register" }),
        mcp: true,
        effect: Effect::Write,
        summary: "Introduce an agent and get its id",
        guide: "Register once per session, each in its own worktree: the id is what every later call acts as. \
                Put it into FOREMERGE_AGENT to leave out --agent.\n\n\
                Example:\n  foremerge agent register --name payments-stripe --capability rust",
        codes: &[Code::InvalidInput],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        if input.capabilities.len() > CAPABILITIES {
            let accepted = format!("at most {CAPABILITIES}");
            return Err(Failure::invalid("capabilities", format!("{accepted} may be named"), accepted));
        }
        let place = match (&input.worktree, cx.call().surface) {
            (Some(worktree), _) => Some(cx.host().worktree(worktree)?),
            (None, Surface::Cli) if !input.no_worktree => around(cx)?,
            (None, _) => None,
        };
        let (worktree, head) = place.map_or((None, None), |(root, head)| (Some(root), Some(head)));
        let worktree = worktree.map(|root| root.to_string_lossy().into_owned());
        let (git_branch, git_head) = head.map_or((None, None), |head| (head.branch, head.commit));
        let fact = AgentRegistered {
            name: input.name.into_string(),
            model: input.model.map(Name::into_string),
            capabilities: input.capabilities.into_iter().map(Name::into_string).collect(),
            git_branch,
            git_head,
            worktree,
        };
        cx.ledger().write(Patience::Wait, move |transaction| {
            let agent: Id<Agent> = transaction.new_id()?;
            let namesakes = match &fact.worktree {
                Some(worktree) => transaction.namesakes(&fact.name, worktree, agent)?,
                None => Vec::new(),
            };
            transaction.record(Draft {
                entity: agent.to_string(),
                agent,
                cause: None,
                fact: Fact::AgentRegistered(fact),
            })?;
            transaction.heard_from(agent)?;
            let warnings = namesakes.last().map(|namesake| {
                let others = match namesakes.len() {
                    1 => format!("{namesake} has this name in this worktree already"),
                    count => format!(
                        "{count} agents have this name in this worktree already, the newest is {namesake}"
                    ),
                };
                format!("{others}: if this is the same session, go on as that one")
            });
            Ok(Output { agent: transaction.agent(agent)?, warnings: warnings.into_iter().collect() })
        })
    }
}

/// The worktree at the host's directory. In a bare repository or without one there is none.
fn around(cx: &Cx<'_, OpenLedger>) -> Result<Option<(PathBuf, crate::git::Head)>, Failure> {
    match cx.host().repository() {
        Ok(repository) => match repository.worktree_root() {
            Some(root) => Ok(Some((root.to_owned(), repository.head()?))),
            None => Ok(None),
        },
        Err(failure) if failure.code == Code::NotARepository => Ok(None),
        Err(failure) => Err(failure),
    }
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> = Some(|output| vec![output.agent.id.to_string()]);
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        super::details(&self.agent, screen);
        for warning in &self.warnings {
            screen.warning(warning);
        }
        screen.gap();
        screen.line("It acts in every command of a shell that knows it:");
        screen.command(format!("export FOREMERGE_AGENT={}", self.agent.id));
        screen.line("Say what you are about to do before you write code:");
        screen.command("foremerge intent publish --task TASK --summary SUMMARY --scope KIND:KEY=OPERATION");
    }
}
