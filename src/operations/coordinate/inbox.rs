//! `read_inbox`: what others wrote to an agent.

use serde::{Deserialize, Serialize};

use crate::domain::fact::{CoordinationRead, Fact};
use crate::domain::{Agent, Id, IdRef, Message, MessageStatus};
use crate::failure::{Code, Failure};
use crate::ledger::read::{Cursor, Page};
use crate::ledger::{Draft, Snapshot, Transaction};
use crate::operations::answer::{self, page_size};
use crate::operations::events::phrase::Names;
use crate::operations::render::{Text, plain};
use crate::operations::{Cli, Effect, Http, Method, Operation, Preset, Render, Screen, Spec};
use crate::service::acting::{Touched, act};
use crate::service::{Cx, OpenLedger, Surface, presence};

pub struct Inbox;

/// Whose messages.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Whose inbox; the same as --agent.
    #[arg(value_name = "AGENT_ID")]
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    id: Option<IdRef<Agent>>,
    /// Whose inbox.
    // The variable is not read by clap: what is typed twice must agree, and it gives way to either.
    #[arg(long = "agent", value_name = "AGENT_ID", help = "Whose inbox [or set FOREMERGE_AGENT]")]
    #[serde(default)]
    agent_id: Option<IdRef<Agent>>,
    /// Mark what is shown as read.
    #[arg(long)]
    #[serde(default)]
    mark_read: bool,
    /// At most this many (default 100, at most 500).
    #[arg(long, value_name = "N")]
    #[serde(default)]
    limit: Option<u64>,
    /// Where to go on: the `next` of the page before.
    #[arg(long, value_name = "NEXT")]
    #[serde(default)]
    cursor: Option<Cursor>,
    /// Begin with the oldest message even if it is read and there are more than one page.
    #[arg(long, conflicts_with = "cursor")]
    #[serde(default)]
    all: bool,
}

/// Which part of an inbox.
#[derive(Clone, Copy)]
struct Part {
    cursor: Option<Cursor>,
    all: bool,
    limit: u32,
}

impl Part {
    /// What is unread must not be behind a page that was read already: of more than a page, the first one
    /// begins where it is.
    fn begun(self, snapshot: &Snapshot<'_>, agent: Id<Agent>) -> Result<Self, Failure> {
        if self.all || self.cursor.is_some() || snapshot.inbox(agent, None, self.limit)?.next.is_none() {
            return Ok(self);
        }
        Ok(Self { cursor: snapshot.first_unread(agent)?, ..self })
    }

    fn read(self, snapshot: &Snapshot<'_>, agent: Id<Agent>) -> Result<Page<Message>, Failure> {
        Ok(snapshot.inbox(agent, self.cursor, self.limit)?)
    }
}

/// A message, with what a person knows its sender by.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Letter {
    #[serde(flatten)]
    message: Message,
    /// The sender's name, for a person.
    #[serde(skip)]
    from: Text,
}

const VARIABLE: &str = "FOREMERGE_AGENT";
const AGENT: &str = "the id of an agent, or its beginning";

impl Operation for Inbox {
    const SPEC: Spec = Spec {
        id: "read_inbox",
        cli: Cli { noun: Some("coordinate"), verb: "inbox" },
        http: Some(Http { method: Method::Get, path: "/v1/agents/{agent_id}/inbox" }),
        mcp: false,
        effect: Effect::Write,
        summary: "Read what other agents wrote to you, oldest first",
        guide: "Nobody is interrupted by a message: look here before you start, and before you publish code. \
                Of more than a page, the first that is shown is the first unread one; --all begins with the oldest.\n\n\
                Example:\n  foremerge coordinate inbox agt_1f2e3d4c --mark-read",
        codes: &[Code::InvalidInput, Code::NotFound, Code::InvalidTransition],
    };
    const PRESETS: &'static [Preset] = &[Preset {
        http: Http { method: Method::Post, path: "/v1/agents/{agent_id}/inbox/read" },
        set: &["mark_read"],
    }];
    type Needs = OpenLedger;
    type Input = Input;
    type Output = answer::List<Letter>;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Self::Output, Failure> {
        let named = whose(cx, input.id, input.agent_id)?;
        let part = Part { cursor: input.cursor, all: input.all, limit: page_size(input.limit) };
        if !input.mark_read {
            let (page, agent) = cx.ledger().read::<_, Failure>(|snapshot| {
                let agent = snapshot.resolve(&named)?;
                Ok((letters(snapshot, agent, part.begun(snapshot, agent)?)?, agent))
            })?;
            presence::looked(cx, agent);
            return Ok(answer::List(page));
        }
        act(cx, &named, move |transaction, actor| {
            let agent = actor.agent.id;
            // Read back below as it was found: marking moves the first unread one.
            let part = part.begun(transaction, agent)?;
            let page = part.read(transaction, agent)?;
            let unread = page.items.iter().filter(|message| message.status == MessageStatus::Unread);
            let messages: Vec<_> = unread.map(|message| message.id).collect();
            if messages.is_empty() {
                transaction.heard_from(agent)?;
            } else {
                let cause = mark(transaction, agent, messages)?;
                actor.acted(transaction, cause, Touched::Nothing)?;
            }
            Ok(answer::List(letters(transaction, agent, part)?))
        })
    }
}

fn letters(snapshot: &Snapshot<'_>, agent: Id<Agent>, part: Part) -> Result<Page<Letter>, Failure> {
    let page = part.read(snapshot, agent)?;
    let names = Names::of_agents(snapshot, page.items.iter().map(|message| message.from_agent_id))?;
    Ok(page.map(|message| Letter { from: names.name(message.from_agent_id), message }))
}

fn mark(
    transaction: &mut Transaction<'_>,
    agent: Id<Agent>,
    messages: Vec<Id<Message>>,
) -> Result<Id<crate::domain::Event>, Failure> {
    let fact = Fact::CoordinationRead(CoordinationRead { messages });
    Ok(transaction.record(Draft { entity: agent.to_string(), agent, cause: None, fact })?)
}

/// What is typed both ways must agree; the environment has its say where nothing is typed.
fn whose(
    cx: &Cx<'_, OpenLedger>,
    id: Option<IdRef<Agent>>,
    agent_id: Option<IdRef<Agent>>,
) -> Result<IdRef<Agent>, Failure> {
    let (Some(one), Some(other)) = (&id, &agent_id) else {
        return id.or(agent_id).map_or_else(|| from_the_environment(cx), Ok);
    };
    let resolve = |named: &IdRef<Agent>| cx.ledger().read(|snapshot| snapshot.resolve(named));
    if one.to_string() != other.to_string() && resolve(one)? != resolve(other)? {
        return Err(Failure::invalid(
            "agent_id",
            format!("{one} and --agent {other} are two agents; name one"),
            "one agent",
        ));
    }
    Ok(one.clone())
}

fn from_the_environment(cx: &Cx<'_, OpenLedger>) -> Result<IdRef<Agent>, Failure> {
    let set = cx.host().world().variable(VARIABLE).filter(|_| cx.call().surface == Surface::Cli);
    match set {
        Some(set) => set.to_string_lossy().parse().map_err(|refused| {
            Failure::invalid("agent_id", format!("{refused} (from {VARIABLE}); or give --agent"), AGENT)
        }),
        None if cx.call().surface == Surface::Cli => Err(Failure::invalid(
            "agent_id",
            format!("say whose inbox, with --agent or by {VARIABLE}"),
            AGENT,
        )),
        None => Err(Failure::invalid("agent_id", "say whose inbox", AGENT)),
    }
}

impl answer::Listed for Letter {
    fn listed_id(&self) -> String {
        self.message.id.to_string()
    }
}

impl Render for answer::List<Letter> {
    fn render(&self, screen: &mut Screen) {
        if self.0.total == 0 {
            screen.line("No messages. Whom to write to, and how:");
            screen.command("foremerge agent list");
            return screen
                .command("foremerge coordinate send --from AGENT_ID --to AGENT_ID --message MESSAGE");
        }
        for Letter { message, from } in &self.0.items {
            screen.gap();
            let head = Text::from(message.status).and("  ").then(from.clone());
            let head = head.and_dim(format!("  {}", screen.ago(message.created_at)));
            let head = match message.conflict_id {
                Some(conflict) => head.and("  about ").id(conflict),
                None => head,
            };
            screen.line(head.and("  ").id(message.id));
            for line in message.message.lines() {
                screen.line(format!("  {line}"));
            }
        }
        let unread = |letter: &&Letter| letter.message.status == MessageStatus::Unread;
        screen.gap();
        if let Some(Letter { message, from }) = self.0.items.iter().rfind(unread).or(self.0.items.last()) {
            screen.line(plain("To answer ").then(from.clone()).and(":"));
            let answer = plain("foremerge coordinate send --from ").id(message.to_agent_id);
            let answer = answer.and(" --to ").id(message.from_agent_id);
            let answer = match message.conflict_id {
                Some(conflict) => answer.and(" --conflict ").id(conflict),
                None => answer,
            };
            screen.command(answer.and(" --message MESSAGE"));
        }
        if let Some(Letter { message, .. }) = self.0.items.iter().find(unread) {
            screen.line("Once you have read them:");
            screen.command(plain("foremerge coordinate inbox ").id(message.to_agent_id).and(" --mark-read"));
        }
        let (shown, total) = (self.0.items.len(), self.0.total);
        screen.rest(shown, total, self.0.next, "--cursor");
        if self.0.next.is_none() && (shown as u64) < total {
            screen.line(format!("{shown} of {total} shown; from the oldest on: --all"));
        }
    }
}
