//! `get_intent`: one intent and where it stands.

use serde::{Deserialize, Serialize};

use super::Dependency;
use crate::domain::conflict::OpenConflicts;
use crate::domain::cut::Cut;
use crate::domain::{Agent, Claim, ClaimStatus, IdRef, Intent};
use crate::failure::{Code, Failure};
use crate::operations::render::{Cell, dim, plain};
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec, conflicts};
use crate::service::{Cx, OpenLedger, presence};

pub struct Show;

/// Which intent.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The intent, or the beginning of its id.
    #[arg(value_name = "INTENT_ID")]
    id: IdRef<Intent>,
    /// Who asks; noted as present.
    #[arg(long = "agent", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    #[serde(default)]
    agent_id: Option<IdRef<Agent>>,
}

/// An intent, its owner and what is open against it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The intent.
    intent: Intent,
    /// Its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<Agent>,
    /// Its claims whose leases run, oldest first.
    claims: Vec<Claim>,
    /// Where each intent it builds on stands.
    dependencies: Vec<Dependency>,
    /// Unsettled conflicts with other work.
    open_conflicts: OpenConflicts,
    /// How many claims and dependencies are left out.
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    cut: Cut,
}

/// Most claims, and most dependencies, that are shown.
const SHOWN: u32 = 100;

impl Operation for Show {
    const SPEC: Spec = Spec {
        id: "get_intent",
        cli: Cli { noun: Some("intent"), verb: "show" },
        http: Some(Http { method: Method::Get, path: "/v1/intents/{id}" }),
        mcp: true,
        effect: Effect::Read,
        summary: "Show one intent, its owner, its claims and its open conflicts",
        guide: "Conflicts are found when the later intent is published, so look again before you rely on an earlier \
                answer.\n\nExample:\n  foremerge intent show int_1f2e3d4c",
        codes: &[Code::InvalidInput, Code::NotFound],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        let (output, asker) = cx.ledger().read::<_, Failure>(|snapshot| {
            let asker = input.agent_id.as_ref().map(|agent| snapshot.resolve(agent)).transpose()?;
            let intent = snapshot.intent(snapshot.resolve(&input.id)?)?;
            let agent = snapshot.agent(intent.agent_id).ok();
            let open_conflicts = snapshot.open_conflicts(intent.id)?;
            let row = snapshot.row_of(intent.id)?;
            let mut claims = snapshot.claims_of(intent.id, cx.now(), SHOWN)?;
            claims.retain(|claim| claim.status == ClaimStatus::Active);
            let live = snapshot.live_claim_count(row, cx.now())?;
            let named = intent.depends_on.iter().take(SHOWN as usize);
            let dependencies = named.map(|other| Dependency::read(snapshot, *other));
            let dependencies = dependencies.collect::<Result<Vec<_>, _>>()?;
            let cut = Cut::default().with("claims", claims.len(), live).with(
                "dependencies",
                dependencies.len(),
                intent.depends_on.len() as u64,
            );
            Ok((Output { intent, agent, claims, dependencies, open_conflicts, cut }, asker))
        })?;
        if let Some(asker) = asker {
            presence::looked(cx, asker);
        }
        Ok(output)
    }
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> = Some(|output| vec![output.intent.id.to_string()]);
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        let owner = match &self.agent {
            Some(agent) => plain(&agent.name).and(" (").id(agent.id).and(")"),
            None => self.intent.agent_id.into(),
        };
        super::details(&self.intent, owner, &self.dependencies, screen);
        screen.gap();
        if !self.claims.is_empty() {
            let live = self.claims.len() as u64 + self.cut.of("claims");
            screen.heading(format!("CLAIMS {live}"));
            let rows = self.claims.iter().map(|claim| {
                vec![Cell::cut(claim.scope.to_string(), 1), dim(screen.ahead(claim.lease_expires_at)).into()]
            });
            let rows: Vec<_> = rows.collect();
            screen.table(&[], rows);
            screen.more(self.claims.len(), live);
            screen.gap();
        }
        conflicts::open(self.intent.id, &self.open_conflicts, screen);
        super::next(&self.intent, screen);
    }
}
