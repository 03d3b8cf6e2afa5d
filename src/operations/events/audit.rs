//! `audit_events`: verifies the whole history.

use serde::{Deserialize, Serialize};

use crate::failure::{Code, Exit, Failure};
use crate::ledger::audit;
use crate::operations::answer::clamped;
use crate::operations::render::{Style, Text, plain};
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenLedger};

pub struct Audit;

/// How it is read.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// Events read at a time (default 1,000, at most 10,000).
    #[arg(long, value_name = "N")]
    page_size: Option<u64>,
}

/// What the audit found.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Whether every event is as it was recorded and none is missing.
    valid: bool,
    /// How many events are.
    events_verified: u64,
    /// The last of them.
    last_seq: u64,
    /// Its hash; absent for an empty history.
    #[serde(skip_serializing_if = "Option::is_none")]
    head_hash: Option<String>,
    /// The first event that is wrong or missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_bad_seq: Option<u64>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Operation for Audit {
    const SPEC: Spec = Spec {
        id: "audit_events",
        cli: Cli { noun: Some("events"), verb: "audit" },
        http: Some(Http { method: Method::Get, path: "/v1/audit/event-chain" }),
        mcp: false,
        effect: Effect::Read,
        summary: "Verify every event and that none is missing",
        guide: "Exits with status 6 when something is wrong and names the first bad seq. Others can go on working \
                meanwhile.\n\nExample:\n  foremerge events audit",
        codes: &[Code::InvalidInput, Code::NotReady],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        let page = clamped(input.page_size, 1_000, 10_000);
        let total = cx.ledger().read(|snapshot| snapshot.last_seq())?;
        let found = audit::audit(cx.ledger(), page, |verified| cx.step(verified, Some(total)).is_ok())?;
        let (first_bad_seq, reason) =
            found.fault.map_or((None, None), |fault| (Some(fault.seq), Some(fault.why)));
        Ok(Output {
            valid: first_bad_seq.is_none(),
            events_verified: found.events_verified,
            last_seq: found.events_verified,
            head_hash: found.head_hash.map(|hash| hash.to_string()),
            first_bad_seq,
            reason,
        })
    }
}

impl Answer for Output {
    fn exit(&self) -> Exit {
        if self.valid { Exit::Success } else { Exit::Negative }
    }
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        match (&self.first_bad_seq, &self.reason) {
            (Some(seq), Some(reason)) => {
                let bad = Text::default().styled(Style::Alarm, format!("BAD at event {seq}"));
                screen.line(bad.and(format!(": {reason}")));
                screen.line(match self.events_verified {
                    0 => "There is none before it.".to_owned(),
                    1 => "The one event before it is as it was recorded.".to_owned(),
                    count => format!("All {count} events before it are as they were recorded."),
                });
            }
            _ => screen.line(match self.events_verified {
                0 => "There are no events yet.".to_owned(),
                1 => "The only event is as it was recorded.".to_owned(),
                count => format!("All {count} events are as they were recorded."),
            }),
        }
        if let Some(head) = &self.head_hash {
            screen.line(plain("head ").and_dim(head));
        }
    }
}
