//! Watching the history from another process.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::child::{Job, Order, Worker};
use crate::cli::{self, text};
use crate::sandbox::{Sandbox, scrubbed};
use crate::terminal::{Terminal, program_side};

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
    assert!(lines[0].starts_with("1 ") && lines[0].ends_with(" one registered"), "{shown}");
    assert!(lines[1].starts_with("2 ") && lines[1].contains(" one published int_"), "{shown}");
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
    let quiet = cli::at(&at).run(["work", "watch", "--quiet"]);
    assert!(quiet.status == 2 && quiet.stderr.contains("nothing to watch with --quiet"), "{quiet:?}");
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

/// Waits until `child` has ended, and answers how and what it complained of.
fn ended(child: &mut Child) -> (ExitStatus, String) {
    let pause = Duration::from_millis(10);
    for _ in 0..PATIENCE.as_millis() / pause.as_millis() {
        if let Some(status) = child.try_wait().unwrap() {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            return (status, said);
        }
        std::thread::sleep(pause);
    }
    child.kill().unwrap();
    panic!("the watcher goes on");
}

/// A watcher that has printed the only event there is to `out`, and waits for more.
fn idle(at: &Path, out: impl Into<Stdio>, shown: impl FnOnce() -> String) -> Child {
    cli::initialized(at).agent("one");
    let mut command = scrubbed(env!("CARGO_BIN_EXE_foremerge"));
    command
        .env_remove("FOREMERGE_DB")
        .current_dir(at)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(Stdio::piped());
    let child = command.args(["work", "watch", "--after-seq", "0"]).spawn().unwrap();
    // Its end of the output is open there alone from here on.
    drop(command);
    let shown = shown();
    assert!(shown.contains("one registered"), "{shown}");
    child
}

#[test]
fn a_watcher_with_nothing_to_print_ends_when_its_reader_goes_away() {
    let sandbox = Sandbox::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut reader = BufReader::new(reader);
    let mut child = idle(&sandbox.repository("r"), writer, || {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        line
    });
    drop(reader);
    let (status, said) = ended(&mut child);
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

#[test]
fn a_watcher_with_nothing_to_print_ends_when_its_terminal_is_closed() {
    let sandbox = Sandbox::new();
    let terminal = Terminal::new();
    let out = program_side(&terminal.path, false);
    let mut child = idle(&sandbox.repository("r"), out, || terminal.shows("one registered"));
    drop(terminal);
    let (status, said) = ended(&mut child);
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

/// Who starts this in the background of a plain shell has interrupts ignored by everything below it.
fn interrupts_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 0b10 != 0)
}

#[test]
fn an_interrupt_ends_a_watcher_without_a_word() {
    if interrupts_are_ignored() {
        return;
    }
    let sandbox = Sandbox::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut reader = BufReader::new(reader);
    let mut child = idle(&sandbox.repository("r"), writer, || {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        line
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let (status, said) = ended(&mut child);
    assert_eq!((status.signal(), said.as_str()), (Some(2), ""), "as any program that nobody asked to stay");
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    crate::workplace::sound(&sandbox.path("r"), &[]);
}

#[test]
fn a_person_ends_a_watcher_from_the_keyboard() {
    if interrupts_are_ignored() {
        return;
    }
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let cli = cli::initialized(&at);
    cli.agent("one");
    let terminal = Terminal::new();
    let order = Order {
        job: Job::WatchOnATerminal,
        at: &at,
        name: terminal.path.to_str().unwrap(),
        rounds: 0,
        crash: None,
    };
    let mut worker = Worker::start(&order);
    worker.go();
    let (send, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let shown = terminal.shows("one registered");
        terminal.types(&[3]);
        let _ = send.send((shown, terminal.shows("")));
    });
    let (shown, rest) = ended.recv_timeout(PATIENCE).expect("the watcher ends");
    assert!(shown.contains("one registered"), "{shown}");
    assert!(!rest.contains("foremerge"), "it goes without a word: {rest}");
    assert_eq!(worker.end().status.signal(), Some(2));
}
