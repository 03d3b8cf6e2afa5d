//! `get_conflict`: both sides of a conflict, why it was found and what to do.

use serde::Deserialize;

use crate::domain::{Conflict, IdRef, ScopeOperation};
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
    type Output = Conflict;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Conflict, Failure> {
        Ok(cx.ledger().read(|snapshot| snapshot.conflict(snapshot.resolve(&input.id)?))?)
    }
}

impl Answer for Conflict {}

impl Render for Conflict {
    fn render(&self, screen: &mut Screen) {
        super::details(self, screen);
        screen.gap();
        let evidence = &self.evidence;
        let mut fields = vec![("rule", evidence.rule.to_string()), ("score", format!("{:.3}", self.score))];
        fields.extend(
            evidence
                .summary_jaccard
                .map(|share| ("summaries", format!("{share:.3} of their words are shared"))),
        );
        fields.extend(evidence.at.iter().map(|at| ("overlap", at.overlap.clone())));
        fields.push(("source", self.source_intent_id.to_string()));
        let side = |operation: Option<ScopeOperation>, inferred, scope| {
            let origin = if inferred { "read from prose" } else { "declared" };
            let does = operation.map_or("claim".to_owned(), |operation| format!("{operation} ({origin})"));
            ("", format!("{does} on {scope}"))
        };
        fields.extend(
            evidence
                .at
                .iter()
                .map(|at| side(at.source_operation, at.source_operation_inferred, &at.source_scope)),
        );
        fields.push(("target", self.target_intent_id.to_string()));
        fields.extend(
            evidence
                .at
                .iter()
                .map(|at| side(at.target_operation, at.target_operation_inferred, &at.target_scope)),
        );
        fields.push(("found", screen.ago(self.detected_at)));
        screen.fields(fields);
    }
}
