//! `list_events`: the history, in order of arrival.

use serde::{Deserialize, Serialize};

use super::phrase::{Names, told};
use crate::domain::Event;
use crate::failure::{Code, Failure};
use crate::ledger;
use crate::operations::answer::{PageInfo, clamped};
use crate::operations::render::{Cell, dim};
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenLedger};

pub struct List;

/// Which events.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// Only events after this sequence number.
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after_seq: u64,
    /// At most this many (default 100, at most 1,000).
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

/// Events, oldest first. The page after them begins behind the last `seq`.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Output {
    events: Vec<Event>,
    /// The newest event there is.
    #[serde(skip)]
    last_seq: u64,
    /// Of the agents they name.
    #[serde(skip)]
    names: Names,
}

impl Output {
    /// The sequence number behind which a list that was cut goes on.
    fn next(&self) -> Option<u64> {
        self.events.last().map(|event| event.seq).filter(|seq| *seq < self.last_seq)
    }
}

impl Operation for List {
    const SPEC: Spec = Spec {
        id: "list_events",
        cli: Cli { noun: Some("events"), verb: "list" },
        http: Some(Http { method: Method::Get, path: "/v1/events" }),
        mcp: false,
        effect: Effect::Read,
        summary: "List what happened, oldest first",
        guide: "Go on behind the last seq you saw. Ignore event types and fields you do not know.\n\n\
                Example:\n  foremerge events list --after-seq 40",
        codes: &[Code::InvalidInput],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        let limit = clamped(input.limit, 100, 1_000);
        // Beyond the largest sequence number there is nothing, which is an answer too.
        let after = input.after_seq.min(i64::MAX.cast_unsigned());
        Ok(cx.ledger().read::<_, ledger::Error>(|snapshot| {
            let events = snapshot.events(after, limit)?;
            let names = Names::of(snapshot, &events)?;
            Ok(Output { events, last_seq: snapshot.last_seq()?, names })
        })?)
    }
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> =
        Some(|output| output.events.iter().map(|event| event.event_id.to_string()).collect());

    fn page(&self) -> Option<PageInfo> {
        self.next().map(|seq| PageInfo { next: Some(seq.to_string()), total: self.last_seq })
    }
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        if self.events.is_empty() {
            if self.last_seq == 0 {
                screen.line("Nothing has happened yet. Register an agent in each worktree:");
                return screen.command("foremerge agent register --name NAME");
            }
            screen.line("No events after that. The whole history:");
            return screen.command("foremerge events list");
        }
        let rows = self.events.iter().map(|event| {
            vec![
                Cell::from(dim(event.seq)),
                dim(screen.ago(event.created_at)).into(),
                // All of it is in the answer as JSON, and most of it in what is named.
                Cell::cut(told(event, &self.names), 1),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&["SEQ", "WHEN", "WHAT"], rows);
        screen.rest(self.events.len(), self.last_seq, self.next(), "--after-seq");
    }
}
