//! `list_conflicts`: conflicts on record.

use serde::Deserialize;

use crate::domain::{Conflict, ConflictStatus};
use crate::failure::{Code, Failure};
use crate::ledger::read::Cursor;
use crate::operations::answer::{self, page_size};
use crate::operations::render::{Cell, dim, plain};
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

impl answer::Listed for Conflict {
    fn listed_id(&self) -> String {
        self.id.to_string()
    }
}

impl Render for answer::List<Conflict> {
    fn render(&self, screen: &mut Screen) {
        if self.0.total == 0 {
            screen.line("No such conflicts are on record. What would collide with work you plan:");
            return screen.command("foremerge conflicts check --intent SUMMARY --scope KIND:KEY=OPERATION");
        }
        let rows = self.0.items.iter().map(|conflict| {
            vec![
                Cell::from(conflict.id),
                conflict.severity.into(),
                conflict.status.into(),
                Cell::cut(&conflict.brief, super::TOLD),
                dim(screen.ago(conflict.detected_at)).into(),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&["CONFLICT", "SEVERITY", "STATUS", "WHAT", "FOUND"], rows);
        screen.gap();
        if let Some(conflict) = self.0.items.first() {
            screen.line("Both sides, and what to do:");
            screen.command(plain("foremerge conflicts show ").id(conflict.id));
        }
        screen.rest(self.0.items.len(), self.0.total, self.0.next, "--cursor");
    }
}
