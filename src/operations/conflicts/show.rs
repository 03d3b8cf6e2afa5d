//! `get_conflict`: both sides of a conflict, why it was found and what to do.

use serde::{Deserialize, Serialize};

use super::sides::{self, Side};
use crate::domain::{Conflict, IdRef};
use crate::failure::{Code, Failure};
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenLedger};

pub struct Show;

/// Which conflict.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The conflict, or the beginning of its id.
    #[arg(value_name = "CONFLICT_ID")]
    id: IdRef<Conflict>,
}

/// The conflict.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    #[serde(flatten)]
    conflict: Conflict,
    /// Source and target, for a person; absent where nothing is known here.
    #[serde(skip)]
    sides: [Option<Side>; 2],
}

impl Operation for Show {
    const SPEC: Spec = Spec {
        id: "get_conflict",
        cli: Cli { noun: Some("conflicts"), verb: "show" },
        http: Some(Http { method: Method::Get, path: "/v1/conflicts/{id}" }),
        mcp: false,
        effect: Effect::Read,
        summary: "Show both sides of a conflict, why it was found and what to do",
        guide: "The source is the intent with the smaller id; neither side is at fault.\n\n\
                Example:\n  foremerge conflicts show cfl_1f2e3d4c",
        codes: &[Code::InvalidInput, Code::NotFound],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        cx.ledger().read(|snapshot| {
            let conflict = snapshot.conflict(snapshot.resolve(&input.id)?)?;
            // A side whose events have not arrived here does not hide the other.
            let side = |intent, at| match Side::read(snapshot, intent, at) {
                Err(failure) if failure.code == Code::NotFound => Ok(None),
                side => side.map(Some),
            };
            let at = conflict.evidence.at.as_ref();
            let sides = [
                side(conflict.source_intent_id, at.map(|at| &at.source_scope))?,
                side(conflict.target_intent_id, at.map(|at| &at.target_scope))?,
            ];
            Ok(Output { conflict, sides })
        })
    }
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> = Some(|output| vec![output.conflict.id.to_string()]);
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        let (conflict, evidence) = (&self.conflict, &self.conflict.evidence);
        super::details(conflict, screen);
        sides::show(conflict, &self.sides, screen);
        screen.gap();
        screen.heading("WHY");
        let when = if evidence.detected_before_code { ", before there was code" } else { "" };
        let mut fields = vec![("found", format!("{}{when}", screen.ago(conflict.detected_at)))];
        let certainty = if evidence.asserted { "certain" } else { "a hint" };
        fields.extend(evidence.at.iter().map(|at| ("overlap", format!("{} ({certainty})", at.overlap))));
        fields.extend(
            evidence
                .summary_jaccard
                .map(|share| ("summaries", format!("{:.0} % of their words are shared", share * 100.0))),
        );
        fields.push(("rule", format!("{}, score {:.3}", evidence.rule, conflict.score)));
        screen.fields(fields);
        sides::what_to_do(conflict, &self.sides, screen);
    }
}
