//! `list_conflicts`: conflicts on record.

use serde::Deserialize;

use crate::domain::{Conflict, ConflictStatus};
use crate::failure::{Code, Failure};
use crate::ledger::read::Cursor;
use crate::operations::answer::{self, page_size};
use crate::operations::{Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenLedger};

pub struct List;

/// Which conflicts.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// Only those with this status.
    #[arg(long)]
    status: Option<ConflictStatus>,
    /// At most this many (default 100, at most 500).
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Where to go on: the `next` of the page before.
    #[arg(long, value_name = "NEXT")]
    cursor: Option<Cursor>,
}

impl Operation for List {
    const SPEC: Spec = Spec {
        id: "list_conflicts",
        cli: Cli { noun: Some("conflicts"), verb: "list" },
        http: Some(Http { method: Method::Get, path: "/v1/conflicts" }),
        mcp: false,
        effect: Effect::Read,
        summary: "List conflicts on record, newest first",
        guide: "A status is OPEN, COORDINATING, RESOLVED, OVERRIDDEN or DISMISSED.\n\n\
                Example:\n  foremerge conflicts list --status open",
        codes: &[Code::InvalidInput],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = answer::List<Conflict>;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Self::Output, Failure> {
        let page = cx
            .ledger()
            .read(|snapshot| snapshot.conflicts(input.status, input.cursor, page_size(input.limit)));
        Ok(answer::List(page?))
    }
}

impl Render for answer::List<Conflict> {
    fn render(&self, screen: &mut Screen) {
        if self.0.total == 0 {
            return screen.line("No conflicts.");
        }
        let rows = self.0.items.iter().map(|conflict| {
            vec![
                conflict.id.short(),
                conflict.severity.to_string(),
                conflict.status.to_string(),
                conflict.explanation.clone(),
                screen.ago(conflict.detected_at),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&["CONFLICT", "SEVERITY", "STATUS", "WHAT", "FOUND"], rows);
        screen.rest(self.0.items.len(), self.0.total, self.0.next, "--cursor");
    }
}
