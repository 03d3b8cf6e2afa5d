//! A repository with a ledger, the real binary in it, and what must hold of every ledger at any time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};
use std::sync::Arc;

use foremerge::domain::Event;
use foremerge::failure::Failure;
use foremerge::ledger::replay::Part;
use foremerge::ledger::{self, Ledger, Patience, Place, Settings, audit};
use foremerge::operations::registry;
use foremerge::service::{Call, Host, Surface};
use foremerge::world::{Real, World};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, scrubbed};

pub struct Workplace {
    pub sandbox: Sandbox,
    pub repository: PathBuf,
}

impl Workplace {
    pub fn without_ledger() -> Self {
        let sandbox = Sandbox::new();
        let repository = sandbox.repository("repository");
        Self { sandbox, repository }
    }

    pub fn new() -> Self {
        let workplace = Self::without_ledger();
        cli(&workplace.repository, &["init"]).succeeded();
        workplace
    }

    /// One in which two agents have published work that collides, over and over.
    pub fn busy(rounds: u64) -> Self {
        let workplace = Self::new();
        work(&host(&workplace.repository), "busy", rounds);
        workplace
    }

    pub fn git_dir(&self) -> PathBuf {
        self.repository.join(".git")
    }

    pub fn ledger_dir(&self) -> PathBuf {
        self.git_dir().join("foremerge")
    }

    pub fn file(&self) -> PathBuf {
        self.ledger_dir().join("state.sqlite3")
    }

    pub fn wal(&self) -> PathBuf {
        self.ledger_dir().join("state.sqlite3-wal")
    }

    pub fn shm(&self) -> PathBuf {
        self.ledger_dir().join("state.sqlite3-shm")
    }

    /// Folds the whole write-ahead log into the file, as a clean end of work does.
    pub fn checkpoint(&self) {
        let connection = raw(&self.file());
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    }
}

/// The file as any SQLite program opens it, with the log left where it is at the end.
pub fn raw(file: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(file).unwrap();
    let keep = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(keep, true).unwrap();
    connection
}

/// The binary, at `directory`, without anybody's configuration.
pub fn foremerge(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = scrubbed(env!("CARGO_BIN_EXE_foremerge"));
    for variable in ["FOREMERGE_DB", "FOREMERGE_AGENT"] {
        command.env_remove(variable);
    }
    command.current_dir(directory).arg("--json").args(arguments);
    command
}

pub fn cli(directory: &Path, arguments: &[&str]) -> Answer {
    Answer::read(&foremerge(directory, arguments).output().unwrap(), arguments)
}

/// What the binary answered.
#[derive(Debug)]
pub struct Answer {
    pub status: ExitStatus,
    pub envelope: Value,
    pub what: String,
}

impl Answer {
    pub fn read(output: &Output, arguments: &[&str]) -> Self {
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let envelope = serde_json::from_str(&text)
            .unwrap_or_else(|_| panic!("{arguments:?} ended with {}: {text}{errors}", output.status));
        Self { status: output.status, envelope, what: arguments.join(" ") }
    }

    #[track_caller]
    pub fn succeeded(self) -> Value {
        assert!(self.status.success(), "{}: {}", self.what, self.envelope);
        self.envelope["data"].clone()
    }

    #[track_caller]
    pub fn refused(&self, code: &str) {
        assert_eq!(self.envelope["error"]["code"], code, "{}: {}", self.what, self.envelope);
        assert!(!self.status.success(), "{}", self.what);
        let message = self.envelope["error"]["message"].as_str().unwrap();
        assert!(!message.contains("  ") && !message.is_empty(), "a hole in: {message}");
    }
}

/// A process of the product at `directory`, inside this one.
pub fn host(directory: &Path) -> Host {
    host_in(directory, Arc::new(Real), Settings::default())
}

pub fn host_in(directory: &Path, world: Arc<dyn World>, settings: Settings) -> Host {
    Host::new(world, Some(directory), None, settings).unwrap()
}

/// One operation with its types erased, as the surfaces run it.
pub fn call(host: &Host, operation: &str, input: Value) -> Result<Value, Failure> {
    let entry = registry::find(operation).unwrap();
    (entry.run_json)(host, &Call::of(Surface::Http), input)?.to_json()
}

pub fn register(host: &Host, name: &str) -> Result<String, Failure> {
    call(host, "register_agent", json!({ "name": name }))
        .map(|agent| agent["id"].as_str().unwrap().to_owned())
}

/// An intent that collides with those that anybody published under this number or the other of its couple.
pub fn publish(host: &Host, agent: &str, number: u64) -> Result<String, Failure> {
    let operation = if number.is_multiple_of(2) { "replace" } else { "extend" };
    let input = json!({
        "agent_id": agent, "task": format!("task {number}"), "summary": format!("rework part {number} of billing"),
        "scopes": [{ "kind": "symbol", "key": format!("Payment{}Service", number / 2), "operation": operation },
                   { "kind": "file", "key": format!("src/part{number}.rs"), "operation": "modify" }],
    });
    let published = call(host, "publish_intent", input)?;
    Ok(published["intent"]["id"].as_str().unwrap().to_owned())
}

/// `rounds` agents that publish an intent each. Answers every id that was acknowledged.
pub fn work(host: &Host, name: &str, rounds: u64) -> Vec<String> {
    let mut ids = Vec::new();
    for round in 0..rounds {
        let agent = register(host, &format!("{name}-{round}")).unwrap();
        ids.push(publish(host, &agent, round).unwrap());
        ids.push(agent);
    }
    ids
}

pub fn open(repository: &Path) -> Ledger {
    let place = Place::in_directory(repository.join(".git/foremerge"));
    Ledger::open(place, Settings::default(), Arc::new(Real)).unwrap()
}

/// Ends a transaction that must leave no trace.
struct Undo(Result<String, ledger::Error>);

impl From<ledger::Error> for Undo {
    fn from(error: ledger::Error) -> Self {
        Self(Err(error))
    }
}

/// What holds of a ledger whatever happened to its writers: it opens, its chain is whole, its state is what
/// its events say, and it has everything that was acknowledged.
#[track_caller]
pub fn sound(repository: &Path, acknowledged: &[String]) -> Vec<Event> {
    let ledger = open(repository);
    let found = audit::audit(&ledger, 1_000, |_| true).unwrap();
    assert_eq!(found.fault, None);
    let live = ledger.read::<_, ledger::Error>(|now| now.derived_state(Part::Everything)).unwrap();
    let folded = ledger.write::<(), Undo>(Patience::Wait, |transaction| {
        transaction.replay()?;
        Err(Undo(transaction.derived_state(Part::Everything)))
    });
    assert_eq!(folded.err().unwrap().0.unwrap(), live, "replay leads elsewhere");
    let events = events(&ledger);
    assert_eq!(events.len() as u64, found.events_verified);
    let known: BTreeSet<_> = events.iter().map(|event| event.entity_id.as_str()).collect();
    for id in acknowledged {
        assert!(known.contains(id.as_str()), "{id} was acknowledged and is lost");
    }
    events
}

pub fn events(ledger: &Ledger) -> Vec<Event> {
    let mut all: Vec<Event> = Vec::new();
    loop {
        let after = all.last().map_or(0, |event| event.seq);
        let page = ledger.read::<_, ledger::Error>(|now| now.events(after, 1_000)).unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

/// The ledgers that spoke, in order of appearance.
pub fn replicas(events: &[Event]) -> Vec<String> {
    let mut replicas: Vec<_> = events.iter().map(|event| event.replica.to_string()).collect();
    replicas.dedup();
    replicas
}

/// Every file below `directory` with its content, to see that nothing was created, changed or destroyed.
/// The shared memory beside a ledger is SQLite's scratch paper: only its being there counts.
pub fn listing(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        found.insert(directory.clone(), Vec::new());
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let scratch = path.to_string_lossy().ends_with("-shm");
                let content = if scratch { Vec::new() } else { std::fs::read(&path).unwrap() };
                found.insert(path, content);
            }
        }
    }
    found
}

/// Like [`assert_eq!`] of two listings, without printing their bytes.
#[track_caller]
pub fn unchanged(before: &BTreeMap<PathBuf, Vec<u8>>, after: &BTreeMap<PathBuf, Vec<u8>>) {
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differ: Vec<_> = paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(differ.is_empty(), "created, changed or destroyed: {differ:?}");
}

/// Names of what crashed or finished creations left beside the ledger.
pub fn leftovers(git_dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(git_dir).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.contains(".new-")).collect()
}
