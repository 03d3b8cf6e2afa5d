//! `list_events`: the history, in order of arrival.

use serde::{Deserialize, Serialize};

use crate::domain::Event;
use crate::failure::{Code, Failure};
use crate::operations::answer::{PageInfo, clamped};
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
        Ok(cx.ledger().read::<_, crate::ledger::Error>(|snapshot| {
            Ok(Output { events: snapshot.events(after, limit)?, last_seq: snapshot.last_seq()? })
        })?)
    }
}

impl Answer for Output {
    fn page(&self) -> Option<PageInfo> {
        self.next().map(|seq| PageInfo { next: Some(seq.to_string()), total: self.last_seq })
    }
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        if self.events.is_empty() {
            return screen.line("No events.");
        }
        let rows = self.events.iter().map(|event| {
            vec![
                event.seq.to_string(),
                screen.ago(event.created_at),
                event.event_type.clone(),
                event.entity_id.chars().take(12).collect(),
                event.agent_id.as_deref().unwrap_or_default().chars().take(12).collect(),
                event.why_not_effective.clone().map(|why| format!("no effect: {why}")).unwrap_or_default(),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&["SEQ", "WHEN", "EVENT", "ENTITY", "AGENT", ""], rows);
        screen.rest(self.events.len(), self.last_seq, self.next(), "--after-seq");
    }
}
