//! `publish_intent`: an agent says what it is about to do, and hears who is in the way.

use serde::{Deserialize, Serialize};

use crate::detect::bounds::SHOWN_HIGH;
use crate::detect::canonical;
use crate::domain::conflict::RelatedWork;
use crate::domain::cut::Cut;
use crate::domain::fact::{ConflictDetected, Fact, IntentPublished};
use crate::domain::metadata::Metadata;
use crate::domain::scope::DeclaredScope;
use crate::domain::text::{Name, Prose, Summary};
use crate::domain::{Agent, Conflict, Digest, Id, IdRef, Intent, Severity};
use crate::failure::{Code, Failure};
use crate::ledger::{Draft, Patience, Transaction};
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::host::register_first;
use crate::service::matching::Matches;
use crate::service::{Cx, OpenLedger, scopes};

pub struct Publish;

/// Most intents another may depend on.
const DEPENDENCIES: usize = 1_000;

/// What is about to happen.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The agent that will do it.
    #[arg(long = "agent", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    agent_id: IdRef<Agent>,
    /// Title of the task it belongs to, such as `payments-provider`.
    #[arg(long)]
    task: Name,
    /// What will be done, in one line.
    #[arg(long, allow_hyphen_values = true)]
    summary: Summary,
    /// Why it is done this way.
    #[arg(long, allow_hyphen_values = true)]
    #[serde(default)]
    rationale: Option<Prose>,
    /// What it touches and how; may be repeated, at most 1,000 times.
    #[arg(long = "scope", value_name = "KIND:KEY=OPERATION")]
    #[serde(default)]
    scopes: Vec<DeclaredScope>,
    /// An intent it builds on; may be repeated.
    #[arg(long = "depends-on", value_name = "INTENT_ID")]
    #[serde(default)]
    depends_on: Vec<IdRef<Intent>>,
    /// Whatever else should be kept with it, as a JSON object of at most 64 KiB.
    #[arg(long = "metadata-json", value_name = "JSON")]
    #[serde(default)]
    metadata: Option<Metadata>,
}

/// The published intent and what it collides with.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The intent.
    intent: Intent,
    /// Conflicts that were recorded, most severe first.
    conflicts: Vec<Conflict>,
    /// Other agents' active work that touches it.
    related_work: Vec<RelatedWork>,
    /// Whether the agent should judge how its work and the related work go together.
    assessment_required: bool,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// What is odd about the intent itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    warnings: Vec<String>,
    /// Findings below HIGH that were not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<u64>,
    /// Recorded or found but left out of this answer, by field.
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    cut: Cut,
}

impl Operation for Publish {
    const SPEC: Spec = Spec {
        id: "publish_intent",
        cli: Cli { noun: Some("intent"), verb: "publish" },
        http: Some(Http { method: Method::Post, path: "/v1/intents" }),
        mcp: true,
        effect: Effect::Write,
        summary: "Say what you are about to do, and hear who is in the way",
        guide: "Publish before you write code. Each scope says what you do to it: add, extend and modify keep what \
                others depend on; replace, remove, rename and migrate do not.\n\
                Kinds: symbol api schema config infra test migration env file component contract domain\n\n\
                Example:\n  foremerge intent publish --agent agt_1f2e3d4c --task payments \\\n    \
                --summary \"Replace PaymentService with StripePaymentService\" \\\n    \
                --scope symbol:PaymentService=replace",
        codes: &[Code::InvalidInput, Code::NotFound],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        if input.depends_on.len() > DEPENDENCIES {
            return Err(Failure::invalid("depends_on", format!("at most {DEPENDENCIES} intents")));
        }
        let scopes = scopes::publishable(cx, input.scopes)?;
        let (agent, depends_on, mut matches) = cx.ledger().read::<_, Failure>(|snapshot| {
            let agent = snapshot.resolve(&input.agent_id).map_err(|error| register_first(error.into()))?;
            let depends_on = input.depends_on.iter().map(|other| snapshot.resolve(other));
            let mut depends_on = depends_on.collect::<Result<Vec<_>, _>>()?;
            let mut named = std::collections::HashSet::new();
            depends_on.retain(|other| named.insert(*other));
            Ok((agent, depends_on, Matches::find(snapshot, snapshot.agent(agent)?, scopes)?))
        })?;
        let task = input.task.into_string();
        let fact = IntentPublished {
            task_id: Id::derived(&Digest::of_fields(&[b"task", canonical::folded(&task).as_bytes()])),
            task,
            summary: input.summary.into_string(),
            rationale: input.rationale.map(Prose::into_string),
            scopes: matches.scopes().to_vec(),
            depends_on,
            metadata: input.metadata.unwrap_or_default(),
        };
        cx.ledger().write(Patience::Wait, move |transaction| {
            matches.refresh(transaction)?;
            let intent: Id<Intent> = transaction.new_id()?;
            let draft = |cause, fact| Draft { entity: intent.to_string(), agent, cause, fact };
            let published = transaction.record(draft(None, Fact::IntentPublished(fact)))?;
            let detected = matches.detected();
            if let Some(detected) = detected.clone() {
                transaction.record(draft(Some(published), Fact::ConflictDetected(detected)))?;
            }
            transaction.heard_from(agent)?;
            answer(transaction, intent, &matches, detected)
        })
    }
}

fn answer(
    transaction: &Transaction<'_>,
    intent: Id<Intent>,
    matches: &Matches,
    detected: Option<ConflictDetected>,
) -> Result<Output, Failure> {
    let intent = transaction.intent(intent)?;
    let omitted = detected.as_ref().map(|event| event.omitted).filter(|count| *count > 0);
    let mut conflicts = Vec::new();
    for pair in detected.into_iter().flat_map(|event| event.pairs) {
        conflicts.extend(transaction.conflicts_between(intent.id, pair.with)?);
    }
    conflicts.sort_by_key(|conflict| std::cmp::Reverse(conflict.severity));
    let found = conflicts.len();
    let mut high = 0;
    conflicts.retain(|conflict| {
        high += usize::from(conflict.severity == Severity::High);
        conflict.severity != Severity::High || high <= SHOWN_HIGH
    });
    let (related_work, related) = matches.related(transaction, transaction.now())?;
    let cut = Cut::default().with("conflicts", conflicts.len(), found as u64).with(
        "related_work",
        related_work.len(),
        related as u64,
    );
    let assessment_required = high > 0 || related_work.iter().any(|work| work.owner_stopped_since.is_none());
    let next = match (high, assessment_required) {
        (1.., _) => Some("Talk to the owners of the conflicting work before you write code."),
        (0, true) => Some("Look at the related work before you write code: it touches the same scopes."),
        _ => None,
    };
    let no_scopes = "No scopes are declared, so no conflict can be found by what this work touches. It is published as \
                     a placeholder.";
    Ok(Output {
        warnings: if intent.scopes.is_empty() { vec![no_scopes.to_owned()] } else { Vec::new() },
        intent,
        conflicts,
        related_work,
        assessment_required,
        next: next.map(str::to_owned),
        omitted,
        cut,
    })
}

impl Answer for Output {}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        screen.line(format!("Published {}: {}", self.intent.id, self.intent.summary));
        for warning in &self.warnings {
            screen.line(format!("warning: {warning}"));
        }
        let stopped = |work: &RelatedWork, screen: &mut Screen| {
            if let Some(since) = work.owner_stopped_since {
                screen.line(format!("  {} was last heard of {}.", work.agent, screen.ago(since)));
            }
        };
        for conflict in &self.conflicts {
            screen.gap();
            crate::operations::conflicts::details(conflict, screen);
            let sides = [conflict.source_intent_id, conflict.target_intent_id];
            for work in self.related_work.iter().filter(|work| sides.contains(&work.intent_id)) {
                stopped(work, screen);
            }
        }
        let without_conflict = self.related_work.iter().filter(|work| {
            !self.conflicts.iter().any(|conflict| {
                [conflict.source_intent_id, conflict.target_intent_id].contains(&work.intent_id)
            })
        });
        for work in without_conflict {
            screen.gap();
            screen.line(format!("Related: {} {} ({})", work.intent_id.short(), work.summary, work.agent));
            stopped(work, screen);
        }
        if let Some(omitted) = self.omitted {
            screen.line(match omitted {
                1 => "One lesser finding was not recorded.".to_owned(),
                _ => format!("{omitted} lesser findings were not recorded."),
            });
        }
        let cut = self.cut.of("conflicts");
        if cut > 0 {
            screen.line(format!("{cut} more conflicts are on record: foremerge conflicts list"));
        }
        if let Some(next) = &self.next {
            screen.gap();
            screen.line(next);
        } else if self.related_work.is_empty() && !self.intent.scopes.is_empty() {
            screen.line("Nobody else's active work touches it.");
        }
    }
}
