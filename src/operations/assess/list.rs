//! `list_assessments`: what was made of an intent and its neighbours.

use serde::Deserialize;

use crate::domain::{Assessment, IdRef, Intent};
use crate::failure::{Code, Failure};
use crate::ledger::read::Cursor;
use crate::operations::answer::{self, page_size};
use crate::operations::render::{Cell, dim};
use crate::operations::{Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenLedger};

pub struct List;

/// Of which intent.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The intent that was assessed.
    #[arg(long = "intent", alias = "intent-id", value_name = "INTENT_ID")]
    intent_id: IdRef<Intent>,
    /// At most this many (default 100, at most 500).
    #[arg(long, value_name = "N")]
    #[serde(default)]
    limit: Option<u64>,
    /// Where to go on: the `next` of the page before.
    #[arg(long, value_name = "NEXT")]
    #[serde(default)]
    cursor: Option<Cursor>,
}

impl Operation for List {
    const SPEC: Spec = Spec {
        id: "list_assessments",
        cli: Cli { noun: Some("assess"), verb: "list" },
        http: Some(Http { method: Method::Get, path: "/v1/intents/{intent_id}/assessments" }),
        mcp: false,
        effect: Effect::Read,
        summary: "List the assessments of an intent, oldest first",
        guide: "The latest of several on the same related intent is what its owner thinks now.\n\n\
                Example:\n  foremerge assess list --intent int_1f2e3d4c",
        codes: &[Code::InvalidInput, Code::NotFound],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = answer::List<Assessment>;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Self::Output, Failure> {
        let page = cx.ledger().read::<_, Failure>(|snapshot| {
            let intent = snapshot.resolve(&input.intent_id)?;
            Ok(snapshot.assessments(intent, input.cursor, page_size(input.limit))?)
        });
        Ok(answer::List(page?))
    }
}

impl answer::Listed for Assessment {
    fn listed_id(&self) -> String {
        self.id.to_string()
    }
}

impl Render for answer::List<Assessment> {
    fn render(&self, screen: &mut Screen) {
        if self.0.total == 0 {
            screen.line("Nothing was assessed yet. What the other work is, and what you make of it:");
            screen.command("foremerge conflicts list --status open");
            return screen.command(
                "foremerge assess record --intent INTENT_ID --related-intent INTENT_ID \
                 --verdict conflicts --action rescoping --rationale WHY",
            );
        }
        let rows = self.0.items.iter().map(|assessment| {
            vec![
                Cell::from(assessment.verdict),
                assessment.related_intent_id.into(),
                assessment.action.to_string().into(),
                Cell::from(&assessment.rationale),
                dim(screen.ago(assessment.created_at)).into(),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&["VERDICT", "RELATED", "ACTION", "WHY", "RECORDED"], rows);
        screen.rest(self.0.items.len(), self.0.total, self.0.next, "--cursor");
    }
}
