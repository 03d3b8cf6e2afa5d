//! The figures of docs/performance.md, each beside a reference measured in the same breath.
//!
//! Run with `cargo bench`; name figures to run only those: `cargo bench -- publish audit`.
//! Nothing here is asserted: machines differ, and the reader judges the ratios.
#![expect(clippy::disallowed_methods, reason = "a bench asks the clock and runs the reference commands")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on should say where")]

mod git;
mod scale;
mod work;
mod worktrees;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use foremerge::ledger::{Durability, Ledger, Place, Settings};
use foremerge::operations::registry;
use foremerge::service::{Call, Host, Surface};
use foremerge::world::{Real, World};
use rustix::time::{ClockId, clock_gettime};
use serde_json::value::RawValue;
use serde_json::{Value, json};

type Figure = (&'static str, fn());

const FIGURES: &[Figure] = &[
    ("status", cold_status),
    ("publish", publish_cpu),
    ("wall", publish_wall),
    ("bytes", ledger_bytes),
    ("audit", audit_rate),
    ("skewed", scale::skewed),
    ("large", scale::large),
    ("claims", work::claims),
    ("reads", work::reads),
    ("memory", work::memory),
    ("worktree", worktrees::worktree),
    ("refs", worktrees::refs),
    ("snapshot", git::snapshot),
    ("stream", git::large_file),
    ("patch", git::patch_digest),
    ("landing", git::landing),
];

fn main() {
    let wanted: Vec<_> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if wanted == ["reader"] {
        return work::reader();
    }
    for (name, figure) in FIGURES {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            figure();
        }
    }
}

/// A ledger without a repository, and a process that works on it.
struct Bench {
    directory: tempfile::TempDir,
    host: Host,
}

impl Bench {
    fn new(durability: Durability) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings { durability, ..Settings::default() };
        let host = Host::new(Arc::new(Real), Some(directory.path()), None, settings).unwrap();
        run(&host, "init", json!({ "standalone": "." }));
        Self { directory, host }
    }

    fn ledger(&self) -> PathBuf {
        self.directory.path().join(".foremerge/state.sqlite3")
    }

    fn agents(&self, count: usize) -> Vec<String> {
        (0..count)
            .map(|number| {
                let agent = run(&self.host, "register_agent", json!({ "name": format!("agent-{number}") }));
                agent["id"].as_str().unwrap().to_owned()
            })
            .collect()
    }

    /// Publishes intents of three scopes that touch nothing of each other.
    fn publish_disjoint(&self, agents: &[String], numbers: std::ops::Range<usize>) {
        for number in numbers {
            publish(&self.host, &agents[number % agents.len()], number);
        }
    }

    /// Where the bytes went, where this SQLite can say so.
    fn largest_tables(&self, thing: &str, count: u64) {
        let connection = rusqlite::Connection::open(self.ledger()).unwrap();
        let by_table = "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 9";
        let Ok(mut largest) = connection.prepare(by_table) else { return };
        let rows =
            largest.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, u64>(1)?))).unwrap();
        for row in rows.flatten() {
            println!("    {:24} {:6} bytes per {thing}", row.0, row.1 / count);
        }
    }

    fn bytes_after_checkpoint(&self) -> u64 {
        let connection = rusqlite::Connection::open(self.ledger()).unwrap();
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let pragma = |name: &str| {
            connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, u64>(0)).unwrap()
        };
        pragma("page_count") * pragma("page_size")
    }
}

/// The answer of an operation, as a surface would send it.
fn answer(host: &Host, operation: &str, input: Value) -> Box<RawValue> {
    let entry = registry::find(operation).unwrap();
    (entry.run_json)(host, &Call::of(Surface::Cli), input).unwrap().to_text().unwrap()
}

fn run(host: &Host, operation: &str, input: Value) -> Value {
    serde_json::from_str(answer(host, operation, input).get()).unwrap()
}

fn publish(host: &Host, agent: &str, number: usize) -> Value {
    let input = json!({
        "agent_id": agent,
        "task": format!("task-{}", number % 40),
        "summary": format!("Rework module{number} so that its callers stay as they are"),
        "rationale": "It grew by accident and nobody can say what it promises.",
        "scopes": [
            { "kind": "symbol", "key": format!("crate::module{number}::Service{number}"), "operation": "replace" },
            { "kind": "file", "key": format!("src/module{number}/service.rs"), "operation": "modify" },
            { "kind": "api", "key": format!("POST /v1/module{number}"), "operation": "extend" },
        ],
    });
    run(host, "publish_intent", input)
}

fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort();
    samples[samples.len() / 2]
}

fn millis(duration: Duration) -> String {
    format!("{:.3} ms", duration.as_secs_f64() * 1e3)
}

fn ratio(one: Duration, other: Duration) -> String {
    format!("{:.2}", one.as_secs_f64() / other.as_secs_f64())
}

fn wall(command: &mut Command) -> Duration {
    let started = Instant::now();
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}");
    started.elapsed()
}

/// Whole processes, in turn: `foremerge status --json` on an empty ledger and `git rev-parse HEAD`.
fn cold_status() {
    let directory = tempfile::tempdir().unwrap();
    let shop = directory.path().join("shop");
    foremerge::git::scaffold::create(&shop, &[("README.md", "shop\n")], "first", 1_786_795_200).unwrap();
    let foremerge = env!("CARGO_BIN_EXE_foremerge");
    wall(Command::new(foremerge).arg("init").current_dir(&shop));
    let status = || wall(Command::new(foremerge).args(["status", "--json"]).current_dir(&shop));
    let git = || wall(Command::new("git").args(["rev-parse", "HEAD"]).current_dir(&shop));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..220 {
        let pair = (status(), git());
        if round >= 20 {
            ours.push(pair.0);
            theirs.push(pair.1);
        }
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!(
        "cold status --json {}, git rev-parse HEAD {}, ratio {}",
        millis(ours),
        millis(theirs),
        ratio(ours, theirs)
    );
}

/// CPU time of one publish on an open ledger, nothing pressed to disk.
fn publish_cpu() {
    let mut reference = None;
    for unrelated in [100, 10_000, 100_000] {
        let bench = Bench::new(Durability::Off);
        let agents = bench.agents(50);
        bench.publish_disjoint(&agents, 0..unrelated);
        let samples = (0..400).map(|number| {
            let before = cpu();
            publish(&bench.host, &agents[number % agents.len()], unrelated + number);
            cpu().saturating_sub(before)
        });
        let typical = median(samples.collect());
        let reference = *reference.get_or_insert(typical);
        println!(
            "publish, CPU, {unrelated} unrelated active intents: {}, ratio to 100: {}",
            millis(typical),
            ratio(typical, reference)
        );
    }
}

/// Wall time of a publish with FULL, beside a bare one-row FULL commit on the same file system.
fn publish_wall() {
    let bench = Bench::new(Durability::Full);
    let agents = bench.agents(10);
    bench.publish_disjoint(&agents, 0..100);
    let bare = rusqlite::Connection::open(bench.directory.path().join("bare.sqlite3")).unwrap();
    bare.execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE row (value INTEGER);")
        .unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for number in 0..400 {
        let started = Instant::now();
        publish(&bench.host, &agents[number % 10], 100 + number);
        ours.push(started.elapsed());
        let started = Instant::now();
        bare.execute("INSERT INTO row VALUES (?1)", [number]).unwrap();
        theirs.push(started.elapsed());
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!(
        "publish, wall, FULL: {}, bare FULL commit {}, ratio {}",
        millis(ours),
        millis(theirs),
        ratio(ours, theirs)
    );
}

/// Size of a ledger per disjoint intent of three scopes.
fn ledger_bytes() {
    let bench = Bench::new(Durability::Off);
    let empty = bench.bytes_after_checkpoint();
    let agents = bench.agents(50);
    bench.publish_disjoint(&agents, 0..2_000);
    let full = bench.bytes_after_checkpoint();
    println!("ledger: empty {empty} bytes, per intent of three scopes {} bytes", (full - empty) / 2_000);
    bench.largest_tables("intent", 2_000);
}

/// Audit of 100,000 events of 1 KiB, beside `sha256sum` of the same bytes.
fn audit_rate() {
    const EVENTS: usize = 100_000;
    let bench = Bench::new(Durability::Off);
    let agent = bench.agents(1).remove(0);
    let filler = "x".repeat(600);
    let ledger = Arc::new(open(&bench.ledger()));
    // Recorded directly: an intent each would measure publishing.
    for batch in 0..EVENTS / 500 {
        let (agent, filler) = (agent.parse().unwrap(), filler.clone());
        ledger
            .write::<_, foremerge::ledger::Error>(foremerge::ledger::Patience::Wait, move |transaction| {
                for number in 0..500 {
                    let fact = foremerge::domain::fact::AgentRegistered {
                        name: format!("{batch}-{number}"),
                        model: Some(format!("{filler}{filler}")[..960].to_owned()),
                        capabilities: vec![],
                        git_branch: None,
                        git_head: None,
                        worktree: None,
                    };
                    let id: foremerge::domain::Id<foremerge::domain::Agent> = transaction.new_id()?;
                    transaction.record(foremerge::ledger::Draft {
                        entity: id.to_string(),
                        agent,
                        cause: None,
                        fact: foremerge::domain::fact::Fact::AgentRegistered(fact),
                    })?;
                }
                Ok(())
            })
            .unwrap();
    }
    let payloads = bench.directory.path().join("payloads");
    let connection = rusqlite::Connection::open(bench.ledger()).unwrap();
    let mut bytes = Vec::new();
    let mut all = connection.prepare("SELECT shared FROM event ORDER BY seq").unwrap();
    for shared in all.query_map([], |row| row.get::<_, String>(0)).unwrap() {
        bytes.extend_from_slice(shared.unwrap().as_bytes());
    }
    std::fs::write(&payloads, &bytes).unwrap();
    let foremerge = env!("CARGO_BIN_EXE_foremerge");
    let audit = || {
        wall(Command::new(foremerge).args(["events", "audit", "--json"]).current_dir(bench.directory.path()))
    };
    let sums = || wall(Command::new("sha256sum").arg(&payloads));
    let pairs: Vec<_> = (0..6).map(|_| (audit(), sums())).skip(1).collect();
    let (ours, theirs) = (
        median(pairs.iter().map(|pair| pair.0).collect()),
        median(pairs.iter().map(|pair| pair.1).collect()),
    );
    println!(
        "audit of {EVENTS} events, {} bytes of payload: {}, sha256sum of them {}, ratio {}",
        bytes.len(),
        millis(ours),
        millis(theirs),
        ratio(ours, theirs)
    );
}

fn open(file: &Path) -> Ledger {
    let world: Arc<dyn World> = Arc::new(Real);
    let settings = Settings { durability: Durability::Off, ..Settings::default() };
    Ledger::open(Place::at(file.to_owned()).unwrap(), settings, world).unwrap()
}
