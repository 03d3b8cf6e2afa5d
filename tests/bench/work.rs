//! Figures of claims, of the overview and of every list, on ledgers of 100 and of 10,000 intents.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foremerge::ledger::{Durability, Settings};
use foremerge::operations::registry::{self, Entry};
use foremerge::operations::spec::Method;
use foremerge::service::{Call, Host, Surface};
use foremerge::world::Real;
use serde_json::{Value, json};

use super::{Bench, cpu, median, millis, publish, ratio, run};

fn claim(host: &Host, agent: &str, intent: &Value, number: usize) {
    let input = json!({
        "agent_id": agent,
        "intent_id": intent,
        "scopes": [{ "kind": "symbol", "key": format!("crate::module{number}::Service{number}") }],
        "reason": "The provider boundary moves.",
    });
    run(host, "claim_work", input);
}

/// 2,000 times publish, then claim, on one open ledger.
pub fn claims() {
    let bench = Bench::new(Durability::Off);
    let agents = bench.agents(50);
    let samples: Vec<_> = (0..2_000)
        .map(|number| {
            let agent = &agents[number % agents.len()];
            let start = cpu();
            let intent = publish(&bench.host, agent, number)["intent"]["id"].clone();
            let published = cpu();
            claim(&bench.host, agent, &intent, number);
            (published.saturating_sub(start), cpu().saturating_sub(published))
        })
        .collect();
    for (which, samples) in [("all of them", &samples[..]), ("the last fifth", &samples[1_600..])] {
        println!(
            "publish then claim, CPU, {which}: {} and {}, bound 1 ms and 0.5 ms",
            millis(median(samples.iter().map(|pair| pair.0).collect())),
            millis(median(samples.iter().map(|pair| pair.1).collect())),
        );
    }
    let bench = Bench::new(Durability::Full);
    let agents = bench.agents(50);
    let bare = rusqlite::Connection::open(bench.directory.path().join("bare.sqlite3")).unwrap();
    bare.execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE row (value INTEGER);")
        .unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for number in 0..500 {
        let (agent, start) = (&agents[number % agents.len()], Instant::now());
        let intent = publish(&bench.host, agent, number)["intent"]["id"].clone();
        claim(&bench.host, agent, &intent, number);
        ours.push(start.elapsed());
        let start = Instant::now();
        for _ in 0..2 {
            bare.execute("INSERT INTO row VALUES (?1)", [number]).unwrap();
        }
        theirs.push(start.elapsed());
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!(
        "publish then claim, wall, FULL: {}; two bare FULL commits {}, bound twice that and 1.5 ms: {}",
        millis(ours),
        millis(theirs),
        millis(theirs * 2 + Duration::from_micros(1_500)),
    );
}

/// A ledger in which agents talk: every second intent extends what the one before replaces, each such
/// pair exchanges a message, each tenth intent is claimed, and the first is assessed against many.
struct Busy {
    bench: Bench,
    agents: Vec<String>,
    first: Value,
    conflict: Value,
}

impl Busy {
    fn new(intents: usize) -> Self {
        let bench = Bench::new(Durability::Off);
        let agents = bench.agents(50);
        let (mut first, mut conflict) = (Value::Null, Value::Null);
        for number in 0..intents {
            let agent = &agents[number % agents.len()];
            let module = number / 2;
            let operation = if number % 2 == 0 { "replace" } else { "extend" };
            let input = json!({
                "agent_id": agent,
                "task": format!("task-{}", number % 40),
                "summary": format!("Rework module{module} for reason{number}"),
                "scopes": [
                    { "kind": "symbol", "key": format!("crate::module{module}::Service{module}"), "operation": operation },
                    { "kind": "file", "key": format!("src/module{module}/part{number}.rs"), "operation": "modify" },
                ],
            });
            let published = run(&bench.host, "publish_intent", input);
            let intent = published["intent"]["id"].clone();
            if number == 0 {
                first = intent.clone();
            } else if number <= intents / 5 {
                let input = json!({
                    "agent_id": agents[0],
                    "intent_id": first,
                    "related_intent_id": intent,
                    "verdict": "compatible",
                    "rationale": "It touches other modules.",
                    "action": "proceeding",
                });
                run(&bench.host, "record_assessment", input);
            }
            if let Some(found) = published["conflicts"].get(0) {
                conflict = found["id"].clone();
                let input = json!({
                    "from_agent_id": agent,
                    "to_agent_id": agents[(number + 49) % agents.len()],
                    "message": "Let us introduce a provider first.",
                    "conflict_id": conflict,
                });
                run(&bench.host, "coordinate_with_agent", input);
            }
            if number % 10 == 0 {
                claim(&bench.host, agent, &intent, module);
            }
        }
        Self { bench, agents, first, conflict }
    }

    /// What a list that is about one thing is asked about.
    fn subject(&self, field: &str) -> Value {
        match field {
            "agent_id" => json!(self.agents[0]),
            "intent_id" | "id" => self.first.clone(),
            "conflict_id" => self.conflict.clone(),
            other => panic!("no list is known to need {other}"),
        }
    }

    fn input(&self, entry: &Entry) -> Value {
        let schema = (entry.input_schema)().to_value();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut named: Vec<_> = required.iter().filter_map(Value::as_str).collect();
        if entry.spec.id == "read_inbox" {
            named.push("agent_id");
        }
        named.into_iter().map(|field| (field.to_owned(), self.subject(field))).collect()
    }
}

/// Every operation that reads a list.
fn lists() -> impl Iterator<Item = &'static Entry> {
    registry::ALL.iter().filter(|entry| {
        let reads = entry.routes().iter().any(|(route, _)| route.method == Method::Get);
        reads && (entry.input_schema)().to_value()["properties"].get("limit").is_some()
    })
}

fn first_page(busy: &Busy, operation: &str, input: &Value) -> (Duration, usize) {
    let mut size = 0;
    let samples = (0..60).map(|_| {
        let start = Instant::now();
        size = run(&busy.bench.host, operation, input.clone()).to_string().len();
        start.elapsed()
    });
    (median(samples.collect()), size)
}

/// The overview and the first page of every list, at 100 and at 10,000 intents.
pub fn reads() {
    let (small, large) = (Busy::new(100), Busy::new(10_000));
    let operations = lists().map(|entry| entry.spec.id).chain(["status"]);
    for operation in operations {
        let entry = registry::find(operation).unwrap();
        let (few, _) = first_page(&small, operation, &small.input(entry));
        let (many, size) = first_page(&large, operation, &large.input(entry));
        println!(
            "{operation}: first page at 10,000 intents {}, {size} bytes; at 100 intents {}, ratio {}",
            millis(many),
            millis(few),
            ratio(many, few),
        );
    }
}

/// Tells a process of its own where to read every list to its last page.
const LISTS: &str = "FOREMERGE_BENCH_LISTS";

/// The most memory a process needs that reads every list of 10,000 intents to its last page.
pub fn memory() {
    let busy = Busy::new(10_000);
    let plan: Vec<_> = lists().map(|entry| json!([entry.spec.id, busy.input(entry)])).collect();
    let status = Command::new(std::env::current_exe().unwrap())
        .arg("reader")
        .env(LISTS, Value::Array(plan).to_string())
        .current_dir(busy.bench.directory.path())
        .status()
        .unwrap();
    assert!(status.success());
}

/// Reads every list it is told of to its last page, and says how much memory that took.
pub fn reader() {
    let Ok(plan) = std::env::var(LISTS) else { return };
    let plan: Vec<(String, Value)> = serde_json::from_str(&plan).unwrap();
    let settings = Settings { durability: Durability::Off, ..Settings::default() };
    let host = Host::new(Arc::new(Real), None, None, settings).unwrap();
    let (mut pages, mut bytes) = (0, 0);
    for (operation, mut input) in plan {
        let entry = registry::find(&operation).unwrap();
        loop {
            let answer = (entry.run_json)(&host, &Call::of(Surface::Cli), input.clone()).unwrap();
            bytes += answer.to_text().unwrap().get().len();
            pages += 1;
            let Some(next) = answer.page().and_then(|page| page.next) else { break };
            let field = if operation == "list_events" { "after_seq" } else { "cursor" };
            input[field] = next.parse::<u64>().map_or_else(|_| json!(next), |seq| json!(seq));
        }
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim();
    println!(
        "every list of 10,000 intents to its last page, {pages} pages, {bytes} bytes: peak {peak}, bound 65536 kB"
    );
}
