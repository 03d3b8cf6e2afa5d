//! `register_agent`: an agent introduces itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::domain::fact::{AgentRegistered, Fact};
use crate::domain::text::Name;
use crate::domain::{Agent, Id, Intent, Timestamp};
use crate::failure::{Code, Failure};
use crate::ledger::{Draft, Patience, Snapshot};
use crate::operations::render::plain;
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
    /// Open work of a namesake, for a person.
    #[serde(skip)]
    left: Option<Id<Intent>>,
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
            let (live, silent) = apart(transaction, namesakes, transaction.now())?;
            let (warnings, left) = match live.last() {
                Some(newest) => of_the_living(transaction, &live, *newest)?,
                None => of_the_silent(transaction, &silent)?,
            };
            Ok(Output { agent: transaction.agent(agent)?, warnings: warnings.into_iter().collect(), left })
        })
    }
}

type Agents = Vec<Id<Agent>>;

/// Those that were heard of lately, and those that count as gone.
fn apart(snapshot: &Snapshot<'_>, namesakes: Agents, now: Timestamp) -> Result<(Agents, Agents), Failure> {
    let (mut live, mut silent) = (Vec::new(), Vec::new());
    for namesake in namesakes {
        let gone = snapshot.last_seen(namesake)?.is_stale(now);
        if gone { &mut silent } else { &mut live }.push(namesake);
    }
    Ok((live, silent))
}

/// What to say, and open work that may be adopted.
type Told = (Option<String>, Option<Id<Intent>>);

fn of_the_living(snapshot: &Snapshot<'_>, live: &[Id<Agent>], newest: Id<Agent>) -> Result<Told, Failure> {
    let others = match live.len() {
        1 => format!("{newest} has this name in this worktree already"),
        count => format!("{count} agents have this name in this worktree already, the newest is {newest}"),
    };
    let left = newest_open(snapshot, live)?.map(|(_, intent)| intent);
    let adopt = left.map(|intent| format!(", or adopt open work of that name with `work adopt {intent}`"));
    let adopt = adopt.unwrap_or_default();
    Ok((Some(format!("{others}: if this is the same session, go on as that one{adopt}")), left))
}

/// Those that left nothing behind concern nobody any more.
fn of_the_silent(snapshot: &Snapshot<'_>, silent: &[Id<Agent>]) -> Result<Told, Failure> {
    let Some((namesake, intent)) = newest_open(snapshot, silent)? else { return Ok((None, None)) };
    let warning = format!(
        "{namesake}, which had this name in this worktree, is silent and left open work: if it is yours now, \
         adopt it with `work adopt {intent}`"
    );
    Ok((Some(warning), Some(intent)))
}

type Owned = (Id<Agent>, Id<Intent>);

/// Open work of the newest of these agents that has any.
fn newest_open(snapshot: &Snapshot<'_>, agents: &[Id<Agent>]) -> Result<Option<Owned>, Failure> {
    for agent in agents.iter().rev() {
        if let Some(intent) = snapshot.open_work_of(*agent, 1)?.pop() {
            return Ok(Some((*agent, intent)));
        }
    }
    Ok(None)
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

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        super::details(&self.agent, screen);
        for warning in &self.warnings {
            screen.warning(warning);
        }
        if let Some(intent) = self.left {
            let adopt = plain("foremerge work adopt ").id(intent).and(" --agent ").id(self.agent.id);
            screen.command(adopt.and(" --reason REASON"));
        }
        screen.gap();
        screen.line("It acts in every command of a shell that knows it:");
        screen.command(format!("export FOREMERGE_AGENT={}", self.agent.id));
        screen.line("Say what you are about to do before you write code:");
        screen.command("foremerge intent publish --task TASK --summary SUMMARY --scope KIND:KEY=OPERATION");
    }
}
