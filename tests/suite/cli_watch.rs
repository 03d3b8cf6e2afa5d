//! Watching the history from another process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::{self, text};
use crate::sandbox::{Sandbox, scrubbed};

/// Nothing here takes a hundredth of this; a hang must fail rather than stay.
const PATIENCE: Duration = Duration::from_secs(60);

struct Watcher {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Watcher {
    fn start(directory: &Path, words: &[&str]) -> Self {
        let mut command: Command = scrubbed(env!("CARGO_BIN_EXE_foremerge"));
        command.args(["work", "watch", "--interval-ms", "100"]).args(words).current_dir(directory);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    fn next(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("an event was printed")
    }

    fn next_event(&self) -> Value {
        let envelope: Value = serde_json::from_str(&self.next()).unwrap();
        assert_eq!(envelope["ok"], true);
        envelope["data"].clone()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_watcher_prints_each_event_another_process_records_as_an_envelope_of_its_own() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let cli = cli::initialized(&at);
    let agent = cli.agent("one");
    let watcher = Watcher::start(&at, &["--json", "--after-seq", "1"]);
    let intent = text(&cli.publish(&agent, &["symbol:X=replace"])["intent"]["id"]);
    let event = watcher.next_event();
    assert_eq!(
        (&event["seq"], &event["event_type"], &event["entity_id"]),
        (&json!(2), &json!("intent.published"), &json!(intent))
    );
    assert_eq!(event["payload"]["scopes"][0]["key"], "X");
    let other = cli.agent("other");
    cli.publish(&other, &["symbol:X=extend"]);
    let types: Vec<_> = (0..3).map(|_| text(&watcher.next_event()["event_type"])).collect();
    assert_eq!(types, ["agent.registered", "intent.published", "conflict.detected"]);
}

#[test]
fn once_prints_what_there_is_and_ends_and_a_person_gets_a_line_for_each() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    assert_eq!(cli.shown(["work", "watch", "--once"]), "");
    let agent = cli.agent("one");
    cli.publish(&agent, &["symbol:X=replace"]);
    let shown = cli.shown(["work", "watch", "--once"]);
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines.len(), 2, "{shown}");
    assert!(lines[0].starts_with("1 ") && lines[0].contains("agent.registered"), "{shown}");
    assert!(lines[1].contains(&agent[..12]), "{shown}");
    let behind = cli.run(["--json", "work", "watch", "--once", "--after-seq", "1"]);
    assert_eq!(behind.stdout.lines().count(), 1, "{}", behind.stdout);
    assert_eq!(cli.shown(["work", "watch", "--once", "--after-seq", &u64::MAX.to_string()]), "");
}

#[test]
fn without_a_beginning_a_watcher_tells_only_of_what_happens_from_now_on() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let cli = cli::initialized(&at);
    cli.agent("early");
    let watcher = Watcher::start(&at, &[]);
    // Until the watcher has begun nobody can tell what is new to it: agents register until one is told of.
    let mut number = 0;
    let first = loop {
        cli.agent(&format!("late {number}"));
        number += 1;
        if let Ok(line) = watcher.lines.recv_timeout(Duration::from_millis(200)) {
            break line;
        }
        assert!(number < 300, "nothing is told");
    };
    assert!(!first.starts_with("1 "), "{first}");
}

#[test]
fn a_watcher_nobody_reads_ends_in_peace_and_one_without_a_ledger_says_so() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    cli::at(&at).refused("NOT_INITIALIZED", ["work", "watch", "--once"]);
    let cli = cli::initialized(&at);
    cli.agent("one");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = scrubbed(env!("CARGO_BIN_EXE_foremerge"));
    let status = command.args(["work", "watch", "--after-seq", "0"]).current_dir(&at).stdout(writer).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_watcher_whose_ledger_is_replaced_ends_and_says_so() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let cli = cli::initialized(&at);
    cli.agent("one");
    let mut watcher = Watcher::start(&at, &["--json", "--after-seq", "0"]);
    assert_eq!(watcher.next_event()["seq"], 1);
    let file = at.join(".git/foremerge/state.sqlite3");
    std::fs::copy(&file, file.with_extension("copy")).unwrap();
    std::fs::rename(file.with_extension("copy"), &file).unwrap();
    let last: Value = serde_json::from_str(&watcher.next()).unwrap();
    assert_eq!(last["error"]["code"], "LEDGER_REPLACED", "{last}");
    assert_eq!(watcher.child.wait().unwrap().code(), Some(5));
}
