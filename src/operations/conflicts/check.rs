//! `check_conflicts`: what an intent collides with, on record or what if.

use serde::{Deserialize, Serialize};

use crate::detect::advice::{self, Party};
use crate::detect::bounds::SHOWN_HIGH;
use crate::domain::conflict::{Ephemeral, RelatedWork};
use crate::domain::cut::Cut;
use crate::domain::fact::{ConflictDetected, PublishedScope, Sighting};
use crate::domain::scope::DeclaredScope;
use crate::domain::text::Summary;
use crate::domain::{Agent, Conflict, Id, IdRef, Intent, Scope, ScopeOperation, Severity};
use crate::failure::{Code, Exit, Failure};
use crate::ledger::Snapshot;
use crate::ledger::read::Among;
use crate::operations::render::{Text, plain};
use crate::operations::{Answer, Cli, Effect, Http, Method, Operation, Render, Screen, Spec};
use crate::service::matching::Matches;
use crate::service::silence::Silence;
use crate::service::{Cx, OpenLedger, presence, scopes};

pub struct Check;

/// What is compared: a stored intent, a stored intent with other scopes, or work not yet
/// published.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// The intent to check. Alone: what is on record of it. With scopes: what if it touched these.
    #[arg(long = "intent-id", value_name = "INTENT_ID")]
    intent_id: Option<IdRef<Intent>>,
    /// Work that is not published yet, in one line.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    intent: Option<Summary>,
    /// What it would touch and how; may be repeated, at most 1,000 times.
    #[arg(long = "scope", value_name = "KIND:KEY=OPERATION")]
    scopes: Vec<DeclaredScope>,
    /// Who asks; noted as present, and its own work is left out.
    #[arg(long = "agent", env = "FOREMERGE_AGENT", value_name = "AGENT_ID")]
    agent_id: Option<IdRef<Agent>>,
    /// End with status 7 if anything of this severity or above is found.
    #[arg(long, value_name = "SEVERITY")]
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    fail_on: Option<Severity>,
}

/// What was found.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The findings, most severe first.
    conflicts: Vec<Finding>,
    /// How many active intents of other agents it was compared with.
    checked_intents: u64,
    /// Whether any of it would block acceptance.
    blocking: bool,
    /// What follows from findings.
    policy: &'static str,
    /// Whether this was a what-if: its ids are good for this answer only.
    ephemeral: bool,
    /// The newest event when it was read.
    as_of_event: u64,
    /// Work it touches whose owner has been silent for two hours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    stopped_work: Vec<RelatedWork>,
    /// Findings below HIGH that would not be recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<u64>,
    /// How many findings are left out of this answer.
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    cut: Cut,
    #[serde(skip)]
    fail_on: Option<Severity>,
}

/// A finding: a conflict on record, or what would become one.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum Finding {
    OnRecord(Conflict),
    WhatIf(WhatIf),
}

/// What would become a conflict. The source is the work that was asked about.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct WhatIf {
    /// Good for this answer only.
    id: Id<Ephemeral>,
    /// The rule's kind.
    kind: &'static str,
    /// How much it matters.
    severity: Severity,
    /// 0 to 1, three places.
    score: f64,
    /// The intent that was asked about; absent for unpublished work.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_intent_id: Option<Id<Intent>>,
    /// The other intent.
    target_intent_id: Id<Intent>,
    /// The scope asked about, as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
    /// What collides, in a sentence.
    explanation: String,
    /// What to do about it.
    suggestion: String,
    /// Why it was found.
    evidence: WhatIfEvidence,
    /// True where the parties have settled this conflict, at this severity or a higher one: it would
    /// stay settled, and blocks nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    previously_settled: bool,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct WhatIfEvidence {
    rule: crate::domain::Rule,
    asserted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    overlap: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_operation: Option<ScopeOperation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_operation: Option<ScopeOperation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_scope: Option<Scope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_scope: Option<Scope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_jaccard: Option<f64>,
    ephemeral: bool,
}

const POLICY: &str =
    "A HIGH conflict blocks acceptance until it is settled or overridden; anything below is advice.";

impl Operation for Check {
    const SPEC: Spec = Spec {
        id: "check_conflicts",
        cli: Cli { noun: Some("conflicts"), verb: "check" },
        http: Some(Http { method: Method::Post, path: "/v1/conflicts/check" }),
        mcp: true,
        effect: Effect::Read,
        summary: "Ask what an intent collides with, or what would collide",
        guide: "With --intent-id alone it reads the open conflicts on record. With scopes, or with --intent and a text, \
                it compares in memory, stores nothing, and its ids are good for this answer only.\n\n\
                Example:\n  foremerge conflicts check --intent \"Drop the users table\" \\\n    \
                --scope schema:users=remove --fail-on high",
        codes: &[Code::InvalidInput, Code::NotFound],
    };
    type Needs = OpenLedger;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenLedger>, input: Input) -> Result<Output, Failure> {
        let asks = Asked::of(cx, &input)?;
        let scopes = match &asks {
            Asked::OnRecord(_) => Vec::new(),
            Asked::WhatIf(_, summary) => scopes::publishable(cx, input.scopes, summary)?,
        };
        let asker = input.agent_id;
        let (mut output, asker) = cx.ledger().read::<_, Failure>(|snapshot| {
            let asker = asker.as_ref().map(|agent| snapshot.resolve(agent)).transpose()?;
            let output = match asks {
                Asked::OnRecord(intent) => on_record(snapshot, &intent, asker)?,
                Asked::WhatIf(intent, summary) => {
                    let owner = intent.as_ref().map(|intent| intent.agent_id).or(asker);
                    let owner = owner.map(|owner| snapshot.agent(owner)).transpose()?;
                    let id = intent.map(|intent| intent.id);
                    let matches = Matches::unpublished(snapshot, owner.as_ref(), &summary, scopes)?;
                    what_if(cx, snapshot, id, owner.as_ref(), &matches)?
                }
            };
            Ok((output, asker))
        })?;
        if let Some(asker) = asker {
            presence::looked(cx, asker);
        }
        output.fail_on = input.fail_on;
        Ok(output)
    }
}

enum Asked {
    OnRecord(Intent),
    WhatIf(Option<Intent>, String),
}

/// How a check is told what it is about.
const ONE_OF_TWO: &str = "one of intent and intent_id";

impl Asked {
    fn of(cx: &Cx<'_, OpenLedger>, input: &Input) -> Result<Self, Failure> {
        let stored = |id: &IdRef<Intent>| {
            cx.ledger().read::<_, Failure>(|snapshot| Ok(snapshot.intent(snapshot.resolve(id)?)?))
        };
        match (&input.intent_id, &input.intent) {
            (Some(_), Some(_)) => Err(Failure::invalid(
                "intent",
                "give the text of unpublished work, or the intent_id of a published one",
                ONE_OF_TWO,
            )),
            (None, None) => Err(Failure::invalid(
                "intent",
                "give a text, or the intent_id of a published intent",
                ONE_OF_TWO,
            )),
            (Some(id), None) if input.scopes.is_empty() => stored(id).map(Self::OnRecord),
            (Some(id), None) => {
                let intent = stored(id)?;
                let summary = intent.summary.clone();
                Ok(Self::WhatIf(Some(intent), summary))
            }
            // Compared as prose an id would give a false all-clear.
            (None, Some(text)) if text.as_str().parse::<IdRef<Intent>>().is_ok() => Err(Failure::invalid(
                "intent",
                "this is an id, not a text; give it as intent_id (--intent-id)",
                "a text; an id as intent_id",
            )),
            (None, Some(text)) => Ok(Self::WhatIf(None, text.as_str().to_owned())),
        }
    }
}

fn on_record(snapshot: &Snapshot<'_>, intent: &Intent, asker: Option<Id<Agent>>) -> Result<Output, Failure> {
    let unsettled = snapshot.unsettled_of(intent.id, Among::All)?;
    let unsettled: Vec<_> = unsettled.into_iter().map(|(id, _)| id).collect();
    let mut conflicts = snapshot.conflicts_of(intent.id, &unsettled, [])?;
    conflicts.sort_by_key(|conflict| (std::cmp::Reverse(conflict.severity), conflict.id));
    let blocking = conflicts.iter().any(|conflict| conflict.severity == Severity::High);
    let all = conflicts.len();
    conflicts.truncate(SHOWN_HIGH);
    let own = snapshot.agent_row(asker.unwrap_or(intent.agent_id))?;
    Ok(Output {
        cut: Cut::default().with("conflicts", conflicts.len(), all as u64),
        conflicts: conflicts.into_iter().map(Finding::OnRecord).collect(),
        checked_intents: snapshot.active_count(own)?,
        blocking,
        policy: POLICY,
        ephemeral: false,
        as_of_event: snapshot.last_seq()?,
        stopped_work: Vec::new(),
        omitted: None,
        fail_on: None,
    })
}

fn what_if(
    cx: &Cx<'_, OpenLedger>,
    snapshot: &Snapshot<'_>,
    intent: Option<Id<Intent>>,
    owner: Option<&Agent>,
    matches: &Matches,
) -> Result<Output, Failure> {
    let mut silence = Silence::new(cx.now());
    let found = matches.found().recordable(snapshot, &mut silence)?.findings;
    let known = intent.map(|intent| snapshot.known_conflicts(intent)).transpose()?.unwrap_or_default();
    let mut conflicts = Vec::new();
    for pair in &found.pairs {
        let other = snapshot.intent(pair.with)?;
        let theirs = snapshot.agent(other.agent_id).map_or_else(|_| "?".to_owned(), |agent| agent.name);
        let (mine, theirs) = match owner {
            Some(owner) => advice::called((&owner.name, owner.id), (&theirs, other.agent_id)),
            None => ("your work".to_owned(), theirs),
        };
        for sighting in &pair.found {
            let id = cx.host().world().new_id().map_err(crate::ledger::Error::from)?;
            let ends = ends(snapshot, &found, sighting, matches.scopes(), pair.with)?;
            let (explanation, suggestion, evidence) = words(ends.as_ref(), sighting, &mine, &theirs);
            let identity = intent.and_then(|intent| found.identity(intent, pair.with, sighting));
            let settled = identity.and_then(|identity| known.get(&identity)?.settled);
            conflicts.push(WhatIf {
                id,
                kind: sighting.rule.kind(),
                severity: sighting.severity,
                score: f64::from(sighting.score) / 1000.0,
                source_intent_id: intent,
                target_intent_id: pair.with,
                scope: ends.map(|(mine, _)| mine.declared),
                explanation,
                suggestion,
                evidence,
                previously_settled: settled.is_some_and(|settled| settled >= sighting.severity),
            });
        }
    }
    conflicts.sort_by_key(|conflict| std::cmp::Reverse(conflict.severity));
    let blocking =
        conflicts.iter().any(|conflict| conflict.severity == Severity::High && !conflict.previously_settled);
    let (all, mut high) = (conflicts.len(), 0);
    conflicts.retain(|conflict| {
        high += usize::from(conflict.severity == Severity::High);
        conflict.severity != Severity::High || high <= SHOWN_HIGH
    });
    let (nearest, _) = matches.nearest(snapshot, &mut silence)?;
    let own = owner.map(|owner| snapshot.agent_row(owner.id)).transpose()?;
    Ok(Output {
        cut: Cut::default().with("conflicts", conflicts.len(), all as u64),
        conflicts: conflicts.into_iter().map(Finding::WhatIf).collect(),
        checked_intents: snapshot.active_count(own.unwrap_or(0))?,
        blocking,
        policy: POLICY,
        ephemeral: true,
        as_of_event: snapshot.last_seq()?,
        stopped_work: nearest
            .into_iter()
            .filter(|near| near.stopped.is_some())
            .map(|near| matches.related(near))
            .collect(),
        omitted: Some(found.omitted).filter(|count| *count > 0),
        fail_on: None,
    })
}

/// A scope of one side, in both its spellings.
struct End {
    full: Scope,
    declared: Scope,
}

impl End {
    fn party<'a>(&'a self, agent: &'a str, operation: Option<ScopeOperation>) -> Party<'a> {
        Party { agent, kind: self.declared.kind, key: &self.declared.key, operation }
    }
}

/// Where work that is not published meets a published intent.
fn ends(
    snapshot: &Snapshot<'_>,
    found: &ConflictDetected,
    sighting: &Sighting,
    mine: &[PublishedScope],
    with: Id<Intent>,
) -> Result<Option<(End, End)>, Failure> {
    let Some(at) = sighting.at else { return Ok(None) };
    let full = |place: usize| Scope { kind: found.scopes[place].0, key: found.scopes[place].1.clone() };
    let (source, target) = (full(at.scopes.0), full(at.scopes.1));
    let declared = mine.iter().find(|scope| scope.kind == source.kind && scope.full == source.key);
    let key = declared.map_or(&source.key, |scope| &scope.key).clone();
    let theirs = snapshot.spelled(with, &target)?;
    let mine = End { declared: Scope { kind: source.kind, key }, full: source };
    Ok(Some((mine, End { declared: theirs, full: target })))
}

fn words(
    ends: Option<&(End, End)>,
    sighting: &Sighting,
    mine: &str,
    theirs: &str,
) -> (String, String, WhatIfEvidence) {
    let mut evidence = WhatIfEvidence {
        rule: sighting.rule,
        asserted: sighting.asserted,
        overlap: None,
        source_operation: None,
        target_operation: None,
        source_scope: None,
        target_scope: None,
        summary_jaccard: sighting.similarity.map(|share| f64::from(share) / 1000.0),
        ephemeral: true,
    };
    let (Some(at), Some((source, target))) = (sighting.at, ends) else {
        let share = sighting.similarity.unwrap_or(0);
        let explanation = advice::duplicate_explanation(mine, theirs, share);
        return (explanation, advice::DUPLICATE_SUGGESTION.to_owned(), evidence);
    };
    let (my_operation, their_operation) = at.operations.unzip();
    let one = source.party(mine, my_operation);
    let other = target.party(theirs, their_operation);
    let explanation = advice::explanation(sighting.rule, one, other, sighting.asserted);
    let suggestion = advice::suggestion(sighting.rule, one, other);
    evidence.overlap = Some(at.tier.in_words());
    evidence.source_operation = my_operation;
    evidence.target_operation = their_operation;
    (
        explanation,
        suggestion,
        WhatIfEvidence {
            source_scope: Some(source.full.clone()),
            target_scope: Some(target.full.clone()),
            ..evidence
        },
    )
}

impl Finding {
    fn id(&self) -> String {
        match self {
            Self::OnRecord(conflict) => conflict.id.to_string(),
            Self::WhatIf(conflict) => conflict.id.to_string(),
        }
    }

    /// How much it matters, unless it is settled.
    fn severity(&self) -> Option<Severity> {
        match self {
            Self::OnRecord(conflict) => Some(conflict.severity),
            Self::WhatIf(conflict) => (!conflict.previously_settled).then_some(conflict.severity),
        }
    }
}

impl Answer for Output {
    const IDS: Option<fn(&Self) -> Vec<String>> =
        Some(|output| output.conflicts.iter().map(|finding| finding.id()).collect());

    fn exit(&self) -> Exit {
        let worst = self.conflicts.iter().filter_map(Finding::severity).max();
        match (self.fail_on, worst) {
            (Some(least), Some(worst)) if worst >= least => Exit::Found,
            _ => Exit::Success,
        }
    }
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        for conflict in &self.conflicts {
            screen.gap();
            match conflict {
                Finding::OnRecord(conflict) => super::advice(conflict, screen),
                Finding::WhatIf(conflict) => {
                    screen.line(
                        Text::from(conflict.severity).and(format!(" {} (would be found)", conflict.kind)),
                    );
                    screen.line(format!("  {}", conflict.explanation));
                    screen.line(format!("  {}", conflict.suggestion));
                }
            }
        }
        screen.gap();
        for work in &self.stopped_work {
            let stopped = plain("Stopped work: ").id(work.intent_id);
            screen.line(stopped.and(format!(" {} ({})", work.summary, work.agent)));
        }
        super::hidden(self.cut.of("conflicts") + self.omitted.unwrap_or(0), screen);
        let intents = if self.checked_intents == 1 { "intent" } else { "intents" };
        let verdict = match (self.conflicts.is_empty(), self.blocking) {
            (true, _) => "Nothing collides.",
            (false, true) => "Something here would block acceptance.",
            (false, false) => "Nothing here would block acceptance.",
        };
        screen.line(format!("Compared with {} active {intents} of others. {verdict}", self.checked_intents));
    }
}
