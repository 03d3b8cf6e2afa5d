//! Figures of many agents that want the same things, and of very large intents.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use foremerge::ledger::{Durability, Settings};
use foremerge::operations::registry;
use foremerge::service::{Call, Host, Surface};
use foremerge::world::Real;
use serde_json::{Value, json};

use super::{Bench, answer, cpu, median, millis, run};

/// The generator `skewed`: agents that reach for the same few things.
struct Skewed {
    chance: u64,
    /// Weights of the keys, summed up: the k-th weighs 1/k.
    weights: Vec<f64>,
}

impl Skewed {
    const AGENTS: usize = 50;
    const SCOPES: usize = 3;
    /// Of a hundred scopes so many are declared with a destructive operation.
    const DESTRUCTIVE: u64 = 5;

    fn new(seed: u64, intents: usize) -> Self {
        let mut sum = 0.0;
        let weights = (1..=u32::try_from(intents / 10).unwrap()).map(|rank| {
            sum += 1.0 / f64::from(rank);
            sum
        });
        Self { chance: seed, weights: weights.collect() }
    }

    /// The generator called `SplitMix64`.
    fn draw(&mut self) -> u64 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.chance ^ (self.chance >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn key(&mut self) -> usize {
        let share = f64::from(u32::try_from(self.draw() >> 32).unwrap()) / f64::from(u32::MAX);
        let point = share * self.weights.last().unwrap();
        self.weights.partition_point(|sum| *sum < point).min(self.weights.len() - 1)
    }

    fn word(&mut self, of: &[&'static str]) -> &'static str {
        of[usize::try_from(self.draw() % of.len() as u64).unwrap()]
    }

    fn intent(&mut self, agent: &str, number: usize) -> Value {
        let mut keys = Vec::with_capacity(Self::SCOPES);
        while keys.len() < Self::SCOPES {
            let key = self.key();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let subject = keys[0];
        let scopes = keys.into_iter().map(|key| {
            let destructive = self.draw() % 100 < Self::DESTRUCTIVE;
            let operation = if destructive {
                self.word(&["replace", "remove", "rename", "migrate"])
            } else {
                self.word(&["add", "extend", "modify"])
            };
            json!({ "kind": "symbol", "key": format!("crate::area{key}::Service{key}"), "operation": operation })
        });
        let scopes: Vec<_> = scopes.collect();
        let (verb, what) = (self.word(VERBS), self.word(ASPECTS));
        let (other, why) = (self.word(ASPECTS), self.word(REASONS));
        json!({
            "agent_id": agent,
            "task": format!("task-{}", number % 40),
            "summary": format!("{verb} {what} and {other} of service{subject} {why}"),
            "rationale": "It grew by accident and nobody can say what it promises.",
            "scopes": scopes,
        })
    }
}

const VERBS: &[&str] = &["Rework", "Add", "Extend", "Fix", "Split", "Speed up", "Document", "Harden"];
const ASPECTS: &[&str] = &[
    "retries",
    "timeouts",
    "paging",
    "caching",
    "logging",
    "metrics",
    "validation",
    "errors",
    "limits",
    "tracing",
    "queries",
    "sessions",
    "tokens",
    "uploads",
    "exports",
    "filters",
    "sorting",
    "webhooks",
    "currencies",
    "roles",
    "audits",
    "locks",
    "batches",
    "alerts",
];
const REASONS: &[&str] = &[
    "for the mobile client",
    "before the release",
    "so that support can see them",
    "after last week's outage",
    "for the new region",
    "as the contract asks",
    "to save memory",
    "for partners",
];

/// How many findings an answer says are on record.
fn recorded(answer: &Value) -> usize {
    let cut = answer["cut"]["conflicts"].as_u64().unwrap_or(0);
    answer["conflicts"].as_array().unwrap().len() + usize::try_from(cut).unwrap()
}

/// What a publish costs, and what it leaves in the ledger, where agents reach for the same things.
pub fn skewed() {
    for per_agent in [4, 40] {
        let intents = Skewed::AGENTS * per_agent;
        let bench = Bench::new(Durability::Off);
        let empty = bench.bytes_after_checkpoint();
        let agents = bench.agents(Skewed::AGENTS);
        let mut skewed = Skewed::new(1, intents);
        let mut samples = Vec::with_capacity(intents);
        for number in 0..intents {
            let agent = &agents[number % agents.len()];
            let input = skewed.intent(agent, number);
            let before = cpu();
            let answer = answer(&bench.host, "publish_intent", input);
            let taken = cpu().saturating_sub(before);
            samples.push((taken, recorded(&serde_json::from_str(answer.get()).unwrap())));
        }
        let bytes = bench.bytes_after_checkpoint() - empty;
        let findings: usize = samples.iter().map(|(_, findings)| findings).sum();
        println!(
            "skewed, {intents} active intents, {findings} findings: ledger {bytes} bytes, bound {}",
            intents * 4_096 + findings * 200
        );
        bench.largest_tables("finding", findings as u64);
        report("all of them", &samples);
        report("the last fifth", &samples[intents - intents / 5..]);
        draw(&bench.host);
    }
}

/// What the graph costs, page by page.
fn draw(host: &Host) {
    let entry = registry::find("get_graph").unwrap();
    let (mut input, mut pages) = (json!({}), Vec::new());
    loop {
        let start = cpu();
        let answer = (entry.run_json)(host, &Call::of(Surface::Http), input.clone()).unwrap();
        let size = answer.to_text().unwrap().get().len();
        pages.push((cpu().saturating_sub(start), size));
        let Some(next) = answer.page().and_then(|page| page.next) else { break };
        input["cursor"] = json!(next);
    }
    let (first, slowest) = (pages[0], pages.iter().max().unwrap());
    println!(
        "    get_graph, CPU: first page {}, {} bytes; slowest of {} pages {}, {} bytes",
        millis(first.0),
        first.1,
        pages.len(),
        millis(slowest.0),
        slowest.1,
    );
}

fn report(which: &str, samples: &[(Duration, usize)]) {
    let count = u32::try_from(samples.len()).unwrap();
    let bound = |findings: usize| Duration::from_micros(1_000 + 20 * findings as u64);
    let taken: Duration = samples.iter().map(|(taken, _)| *taken).sum();
    let allowed: Duration = samples.iter().map(|(_, findings)| bound(*findings)).sum();
    let over = samples.iter().filter(|(taken, findings)| *taken > bound(*findings)).count();
    println!(
        "    publish, CPU, {which}: mean {}, bound {}; median {}, {over} of {count} over their own bound",
        millis(taken / count),
        millis(allowed / count),
        millis(median(samples.iter().map(|(taken, _)| *taken).collect())),
    );
}

/// Two intents of 1,000 scopes, half of them shared, while another process' writer goes on.
pub fn large() {
    let (mut walls, mut waits, mut usual, mut size) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..5 {
        let bench = Bench::new(Durability::Full);
        let agents = bench.agents(3);
        run(&bench.host, "publish_intent", large_intent(&agents[0], 0, "replace"));
        let settings = Settings { durability: Durability::Full, ..Settings::default() };
        let other = Host::new(Arc::new(Real), Some(bench.directory.path()), None, settings).unwrap();
        let (agent, done) = (agents[2].clone(), Arc::new(AtomicBool::new(false)));
        let stop = Arc::clone(&done);
        let writer = std::thread::spawn(move || {
            let mut waited = Vec::new();
            while !stop.load(Ordering::Relaxed) || waited.len() < 50 {
                let began = Instant::now();
                super::publish(&other, &agent, waited.len());
                waited.push((began, began.elapsed()));
            }
            waited
        });
        std::thread::sleep(Duration::from_millis(50));
        let began = Instant::now();
        let answer = run(&bench.host, "publish_intent", large_intent(&agents[1], 500, "extend"));
        let ended = Instant::now();
        done.store(true, Ordering::Relaxed);
        walls.push(ended - began);
        size = answer.to_string().len();
        assert_eq!((recorded(&answer), &answer["related_work"][0]["overlap_count"]), (500, &json!(500)));
        let (beside, alone): (Vec<_>, Vec<_>) =
            writer.join().unwrap().into_iter().partition(|(at, took)| *at + *took > began && *at < ended);
        waits.push(beside.iter().map(|(_, took)| *took).max().unwrap_or_default());
        usual.extend(alone.into_iter().map(|(_, took)| took));
    }
    println!(
        "two intents of 1,000 scopes, half shared: wall {} (slowest of 5 {}), answer {size} bytes; a publish beside \
         it takes at most {} (in the middle round {}), usually {}",
        millis(median(walls.clone())),
        millis(walls.into_iter().max().unwrap()),
        millis(*waits.iter().max().unwrap()),
        millis(median(waits)),
        millis(median(usual)),
    );
}

fn large_intent(agent: &str, first: usize, operation: &str) -> Value {
    let scopes = (first..first + 1_000).map(|number| {
        json!({ "kind": "symbol", "key": format!("billing::module{number}::Service"), "operation": operation })
    });
    json!({ "agent_id": agent, "task": "large", "summary": "Rework billing", "scopes": scopes.collect::<Vec<_>>() })
}
