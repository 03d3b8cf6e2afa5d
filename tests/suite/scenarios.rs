//! Findings people keep switched on: a corpus of stories with what should be said about each.
//!
//! fixtures/scenarios/apart was written from the rules and the stories alone, without sight of
//! the code; fixtures/scenarios/beside was written next to it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use foremerge::domain::fact::{AgentRegistered, Fact};
use foremerge::domain::{Agent, Id};
use foremerge::ledger::{Draft, Durability, Error, Patience, Settings};
use foremerge::operations::registry;
use foremerge::service::{Call, Host, Surface};
use foremerge::world::{Fake, World};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Corpus {
    scenarios: Vec<Scenario>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    name: String,
    #[expect(dead_code, reason = "for whoever reads the corpus")]
    story: String,
    intents: Vec<Planned>,
    #[serde(default)]
    expect: Vec<Expected>,
    #[serde(default)]
    quiet: Vec<Quiet>,
    /// Set where a person might wish for something else than the rules give.
    #[serde(default)]
    #[expect(dead_code, reason = "for whoever reads the corpus")]
    doubt: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Planned {
    agent: String,
    #[serde(default)]
    worktree: Option<String>,
    summary: String,
    scopes: Vec<String>,
    #[serde(default)]
    silent_hours: Option<u32>,
    #[serde(default)]
    closed: bool,
    #[serde(default)]
    restarted: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    between: [usize; 2],
    rule: String,
    severity: String,
    #[serde(default)]
    scopes: Option<[String; 2]>,
    #[expect(dead_code, reason = "for whoever reads the corpus")]
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Quiet {
    between: [usize; 2],
    #[expect(dead_code, reason = "for whoever reads the corpus")]
    why: String,
}

/// Pair of intents, rule, severity, scope of each side.
type Said = ((usize, usize), String, String, Option<(String, String)>);

struct Stage {
    world: Arc<Fake>,
    host: Host,
    agents: HashMap<(String, String), Vec<Id<Agent>>>,
    _directory: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let directory =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let world = Arc::new(Fake::new(7).started_in(directory.path()));
        let settings = Settings { durability: Durability::Off, ..Settings::default() };
        let host = Host::new(Arc::clone(&world) as Arc<dyn World>, None, None, settings).unwrap();
        run(&host, "init", json!({ "standalone": "." }));
        Self { world, host, agents: HashMap::new(), _directory: directory }
    }

    fn agent(&mut self, planned: &Planned) -> Id<Agent> {
        let worktree = planned.worktree.clone().unwrap_or_else(|| planned.agent.clone());
        let sessions = self.agents.entry((planned.agent.clone(), worktree.clone())).or_default();
        if sessions.is_empty() || planned.restarted {
            let name = planned.agent.clone();
            let agent = self.host.ledger().unwrap().write::<_, Error>(Patience::Wait, move |transaction| {
                let agent: Id<Agent> = transaction.new_id()?;
                let fact = AgentRegistered {
                    name,
                    model: None,
                    capabilities: vec![],
                    git_branch: None,
                    git_head: None,
                    worktree: Some(worktree),
                };
                let fact = Fact::AgentRegistered(fact);
                transaction.record(Draft { entity: agent.to_string(), agent, cause: None, fact })?;
                transaction.heard_from(agent)?;
                Ok(agent)
            });
            sessions.push(agent.unwrap());
        }
        *sessions.last().unwrap()
    }

    fn publish(&mut self, planned: &Planned) -> String {
        let agent = self.agent(planned).to_string();
        let entry = registry::find("publish_intent").unwrap();
        let mut words = vec!["publish", "--agent", &agent, "--task", "t", "--summary", &planned.summary];
        words.extend(planned.scopes.iter().flat_map(|scope| ["--scope", scope]));
        let matches = (entry.arguments)(clap::Command::new("publish")).try_get_matches_from(words).unwrap();
        let answer = (entry.run_arguments)(&self.host, &Call::of(Surface::Cli), &matches);
        let answer =
            answer.unwrap_or_else(|failure| panic!("{failure}: {}", planned.summary)).to_json().unwrap();
        answer["intent"]["id"].as_str().unwrap().to_owned()
    }

    fn close(&mut self, intent: &str, planned: &Planned) {
        let agent = self.agent(&Planned { restarted: false, ..copy(planned) });
        let input = json!({ "intent_id": intent, "agent_id": agent, "reason": "finished" });
        run(&self.host, "discard_work", input);
    }

    /// Lets time pass so that silent owners were last heard of as long ago as the story says.
    fn fall_silent(&mut self, intents: &[Planned]) {
        let longest = intents.iter().filter_map(|planned| planned.silent_hours).max().unwrap_or(0);
        for hours in (0..=longest).rev() {
            for planned in intents.iter().filter(|planned| planned.silent_hours.unwrap_or(0) == hours) {
                let agent = self.agent(&Planned { restarted: false, ..copy(planned) });
                let heard =
                    move |transaction: &mut foremerge::ledger::Transaction<'_>| transaction.heard_from(agent);
                self.host.ledger().unwrap().write::<_, Error>(Patience::Wait, heard).unwrap();
            }
            if hours > 0 {
                self.world.pass(3_600_000);
            }
        }
    }
}

fn copy(planned: &Planned) -> Planned {
    Planned {
        agent: planned.agent.clone(),
        worktree: planned.worktree.clone(),
        summary: String::new(),
        scopes: vec![],
        silent_hours: planned.silent_hours,
        closed: planned.closed,
        restarted: planned.restarted,
    }
}

fn run(host: &Host, operation: &str, input: Value) -> Value {
    let entry = registry::find(operation).unwrap();
    (entry.run_json)(host, &Call::of(Surface::Cli), input).unwrap().to_json().unwrap()
}

/// Everything on record after the story was played.
fn play(scenario: &Scenario) -> BTreeSet<Said> {
    let mut stage = Stage::new();
    let mut ids: Vec<String> = Vec::new();
    for (place, planned) in scenario.intents.iter().enumerate() {
        if place + 1 == scenario.intents.len() && place > 0 {
            stage.fall_silent(&scenario.intents[..place]);
            for (id, planned) in ids.iter().zip(&scenario.intents).filter(|(_, planned)| planned.closed) {
                stage.close(id, planned);
            }
        }
        stage.world.pass(1_000);
        ids.push(stage.publish(planned));
    }
    let recorded = run(&stage.host, "list_conflicts", json!({ "limit": 500 }));
    recorded.as_array().unwrap().iter().map(|conflict| said(conflict, &ids, &scenario.intents)).collect()
}

fn said(conflict: &Value, ids: &[String], intents: &[Planned]) -> Said {
    let place = |field: &str| ids.iter().position(|id| conflict[field] == id.as_str()).unwrap();
    let evidence = &conflict["evidence"];
    let side = |field: &str, place: usize| {
        let scope = &evidence[field];
        let (kind, full) = (scope["kind"].as_str()?, scope["key"].as_str()?);
        intents[place]
            .scopes
            .iter()
            .map(|scope| undeclared(scope))
            .find(|scope| canonical(scope) == (kind.to_owned(), full.to_owned()))
    };
    let (source, target) = (place("source_intent_id"), place("target_intent_id"));
    let scopes = side("source_scope", source).zip(side("target_scope", target));
    let (pair, scopes) = if source < target {
        ((source, target), scopes)
    } else {
        ((target, source), scopes.map(|(one, other)| (other, one)))
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (pair, text(&evidence["rule"]), text(&conflict["severity"]), scopes.map(normal))
}

/// The scope without its operation.
fn undeclared(scope: &str) -> String {
    let declared =
        scope.rsplit_once('=').filter(|(_, word)| word.parse::<foremerge::domain::ScopeOperation>().is_ok());
    declared.map_or(scope, |(scope, _)| scope).trim().to_owned()
}

fn canonical(scope: &str) -> (String, String) {
    let (kind, key) = scope.split_once(':').unwrap();
    let kind: foremerge::domain::ScopeKind = kind.parse().unwrap();
    let key = key.trim();
    let key = if kind == foremerge::domain::ScopeKind::File {
        foremerge::detect::canonical::relative(key).unwrap()
    } else {
        key.to_owned()
    };
    (kind.to_string(), foremerge::detect::canonical::forms(kind, &key).full)
}

fn normal((one, other): (String, String)) -> (String, String) {
    let form = |scope: &str| {
        let (kind, full) = canonical(scope);
        format!("{kind}:{full}")
    };
    (form(&one), form(&other))
}

fn wanted(scenario: &Scenario) -> BTreeSet<Said> {
    let expected = scenario.expect.iter().map(|expected| {
        let [one, other] = expected.between;
        let scopes = expected.scopes.clone().map(|[mine, theirs]| {
            let scopes = (mine, theirs);
            normal(if one < other { scopes } else { (scopes.1, scopes.0) })
        });
        ((one.min(other), one.max(other)), expected.rule.clone(), expected.severity.clone(), scopes)
    });
    expected.collect()
}

#[derive(Default)]
struct Tally {
    right: usize,
    missed: usize,
    wrong: usize,
}

impl Tally {
    fn precision(&self) -> f64 {
        share(self.right, self.wrong)
    }

    fn recall(&self) -> f64 {
        share(self.right, self.missed)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred findings")]
fn share(right: usize, other: usize) -> f64 {
    if right + other == 0 { 1.0 } else { right as f64 / (right + other) as f64 }
}

#[test]
fn findings_say_what_a_person_would_want_to_hear() {
    let mut tallies: BTreeMap<(String, String), Tally> = BTreeMap::new();
    let mut errors = Vec::new();
    let (mut scenarios, mut quiet, mut loud) = (0, 0, 0);
    for half in ["apart", "beside"] {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/scenarios").join(half);
        let mut files: Vec<_> =
            std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "json")) {
            let corpus: Corpus = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
            for scenario in &corpus.scenarios {
                scenarios += 1;
                quiet += scenario.quiet.len();
                loud +=
                    scenario.expect.iter().map(|expected| expected.between).collect::<BTreeSet<_>>().len();
                covers_every_pair(scenario);
                let (wanted, said) = (wanted(scenario), play(scenario));
                for finding in wanted.union(&said) {
                    for severity in [finding.2.as_str(), "any"] {
                        let tally = tallies.entry((half.to_owned(), severity.to_owned())).or_default();
                        match (wanted.contains(finding), said.contains(finding)) {
                            (true, true) => tally.right += 1,
                            (true, false) => tally.missed += 1,
                            _ => tally.wrong += 1,
                        }
                    }
                    if wanted.contains(finding) != said.contains(finding) {
                        let what = if wanted.contains(finding) { "missed" } else { "unwanted" };
                        errors.push(format!("{what} [{half}] {}: {finding:?}", scenario.name));
                    }
                }
            }
        }
    }
    println!("{scenarios} scenarios, {loud} conflicting and {quiet} quiet pairs");
    for ((half, severity), tally) in &tallies {
        println!(
            "{half:8} {severity:8} precision {:.3} recall {:.3} ({} right, {} unwanted, {} missed)",
            tally.precision(),
            tally.recall(),
            tally.right,
            tally.wrong,
            tally.missed
        );
    }
    for error in &errors {
        println!("{error}");
    }
    for ((half, severity), tally) in &tallies {
        let least = if severity == "HIGH" { 1.0 } else { 0.95 };
        if severity == "HIGH" || severity == "any" {
            assert!(tally.precision() >= least, "{half} {severity}: precision {:.3}", tally.precision());
            assert!(tally.recall() >= least, "{half} {severity}: recall {:.3}", tally.recall());
        }
    }
    assert!(
        scenarios >= 150 && quiet >= 3 * loud,
        "{scenarios} scenarios, {quiet} quiet and {loud} loud pairs"
    );
}

/// A pair that nobody said anything about would count as quiet without having been thought of.
fn covers_every_pair(scenario: &Scenario) {
    let pairs = scenario
        .expect
        .iter()
        .map(|expected| expected.between)
        .chain(scenario.quiet.iter().map(|quiet| quiet.between));
    let covered: BTreeSet<_> = pairs.map(|[one, other]| (one.min(other), one.max(other))).collect();
    let count = scenario.intents.len();
    assert_eq!(covered.len(), count * (count - 1) / 2, "{}", scenario.name);
}
