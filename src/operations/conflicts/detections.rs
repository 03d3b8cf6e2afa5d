//! `list_detections`: every time a conflict was seen.

use serde::Deserialize;

use crate::domain::conflict::Detection;
use crate::domain::{Conflict, IdRef};
use crate::failure::{Code, Failure};
use crate::ledger::read::Cursor;
use crate::operations::answer::{self, page_size};
use crate::operations::render::{Cell, dim, plain};
use crate::operations::{Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenLedger};

pub struct Detections;

/// Of which conflict.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The conflict, or the beginning of its id.
    #[arg(value_name = "CONFLICT_ID")]
    conflict_id: IdRef<Conflict>,
    /// At most this many (default 100, at most 500).
    #[arg(long, value_name = "N")]
    #[serde(default)]
    limit: Option<u64>,
    /// Where to go on: the `next` of the page before.
    #[arg(long, value_name = "NEXT")]
    #[serde(default)]
    cursor: Option<Cursor>,
}

impl Operation for Detections {
    const SPEC: Spec = Spec {
        id: "list_detections",
        cli: Cli { noun: Some("conflicts"), verb: "detections" },
        http: Some(Http { method: Method::Get, path: "/v1/conflicts/{conflict_id}/detections" }),
        mcp: false,
        effect: Effect::Read,
        summary: "List every time a conflict was seen, oldest first",
        guide: "A conflict is seen again when its severity or an operation changes, or after it had gone away. The last \
                sight says how severe it is now; one that came after a settlement opens it only by being more severe \
                than that.\n\n\
                Example:\n  foremerge conflicts detections cfl_1f2e3d4c",
        codes: &[Code::InvalidInput, Code::NotFound],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = answer::List<Detection>;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Self::Output, Failure> {
        let page = cx.ledger().read::<_, Failure>(|snapshot| {
            let conflict = snapshot.resolve(&input.conflict_id)?;
            Ok(snapshot.detections(conflict, input.cursor, page_size(input.limit))?)
        });
        Ok(answer::List(page?))
    }
}

impl answer::Listed for Detection {
    fn listed_id(&self) -> String {
        self.id.to_string()
    }
}

impl Render for answer::List<Detection> {
    fn render(&self, screen: &mut Screen) {
        let rows = self.0.items.iter().map(|seen| {
            vec![
                Cell::from(dim(seen.seq)),
                seen.severity.into(),
                if seen.previously_settled { dim("settled") } else { plain("open") }.into(),
                Cell::cut(&seen.brief, super::TOLD),
                dim(screen.ago(seen.detected_at)).into(),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&["EVENT", "SEVERITY", "THEN", "WHAT", "SEEN"], rows);
        screen.gap();
        if let Some(seen) = self.0.items.first() {
            screen.line("Where it stands now:");
            screen.command(plain("foremerge conflicts show ").id(seen.conflict_id));
        }
        screen.rest(self.0.items.len(), self.0.total, self.0.next, "--cursor");
    }
}
