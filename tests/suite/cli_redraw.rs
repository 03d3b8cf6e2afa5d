//! `status --watch`, and what changes when the answer goes to a real terminal.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::cli::{self, string};
use crate::sandbox::{Sandbox, scrubbed};
use crate::terminal::{Terminal, program_side};

/// A program that is killed when a test is over, whatever its end.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn watching(root: &Path, words: &[&str], stdout: impl Into<Stdio>) -> Running {
    let mut command = scrubbed(env!("CARGO_BIN_EXE_foremerge"));
    for name in ["FOREMERGE_DB", "COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm").args(["-C", string(root), "status"]).args(words);
    Running(command.stdin(Stdio::null()).stderr(Stdio::piped()).stdout(stdout).spawn().unwrap())
}

fn watch(root: &Path, words: &[&str]) -> (Running, BufReader<std::process::ChildStdout>) {
    let watch = [&["--watch", "--interval-ms", "100"], words].concat();
    let mut running = watching(root, &watch, Stdio::piped());
    let stdout = BufReader::new(running.0.stdout.take().unwrap());
    (running, stdout)
}

/// Reads until a line contains `wanted`; fails when the program ends before.
fn read_to(reader: &mut impl BufRead, wanted: &str) -> String {
    let mut all = String::new();
    while !all.lines().last().is_some_and(|line| line.contains(wanted)) {
        let read = reader.read_line(&mut all).unwrap();
        assert!(read > 0, "it ended before {wanted}: {all}");
    }
    all
}

#[test]
fn the_overview_is_shown_again_when_something_happened_and_only_then() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    let (mut running, mut shown) = watch(&root, &[]);
    read_to(&mut shown, "foremerge help lifecycle");
    cli.agent("first");
    let again = read_to(&mut shown, "first");
    assert!(again.starts_with("\n--- 20") && again.contains("\nAGENTS 1\n"), "{again}");
    cli.data(["events", "audit"]);
    cli.agent("second");
    let again = read_to(&mut shown, "first");
    assert_eq!(again.matches("--- ").count(), 1, "reading is no reason to draw: {again}");
    assert!(again.contains("\nAGENTS 2\n"), "{again}");
    drop(shown);
    assert_eq!(running.0.wait().unwrap().code(), Some(0), "nobody reads on");
    let mut complaints = String::new();
    running.0.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert_eq!(complaints, "");
}

#[test]
fn for_a_program_every_change_is_one_envelope_on_one_line() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    let (_running, mut shown) = watch(&root, &["--json"]);
    for agents in 0..3 {
        let mut line = String::new();
        shown.read_line(&mut line).unwrap();
        let envelope: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&envelope["ok"], &envelope["data"]["counts"]["agents"]),
            (&Value::Bool(true), &agents.into())
        );
        cli.agent("a");
    }
}

#[test]
fn an_interrupt_ends_the_watch() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    cli::initialized(&root);
    let (mut running, mut shown) = watch(&root, &[]);
    read_to(&mut shown, "lifecycle");
    kill_process(Pid::from_child(&running.0), Signal::INT).unwrap();
    assert!(!running.0.wait().unwrap().success());
}

#[test]
fn a_watch_that_cannot_be_is_refused() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::at(&root);
    cli.refused("NOT_INITIALIZED", ["status", "--watch"]);
    cli.data(["init"]);
    let ran = cli.run(["status", "--watch", "--quiet"]);
    assert!(ran.status == 2 && ran.stderr.contains("watch: "), "{ran:?}");
    cli.refused("INVALID_INPUT", ["status", "--interval-ms", "100"]);
    cli.refused("INVALID_INPUT", ["status", "--watch", "--interval-ms", "-1"]);
    let (mut running, mut shown) = watch(&root, &[]);
    read_to(&mut shown, "lifecycle");
    std::fs::rename(root.join(".git/foremerge"), root.join(".git/elsewhere")).unwrap();
    assert_eq!(running.0.wait().unwrap().code(), Some(5), "a ledger that is gone cannot be watched");
}

#[test]
fn a_terminal_gets_colours_its_own_width_and_a_clean_screen_each_time() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    cli.publish(&cli.agent("one"), &["symbol:X=replace"]);
    cli.publish(&cli.agent("other"), &["symbol:X=extend"]);
    let terminal = Terminal::new();
    terminal.is_wide(60);
    let watch = ["--watch", "--interval-ms", "100"];
    let _running = watching(&root, &watch, program_side(&terminal.path, false));
    let first = terminal.shows("/r");
    assert!(first.starts_with("\u{1b}[H\u{1b}[2J"), "{first:?}");
    assert!(first.contains("\u{1b}[1m\u{1b}[31mHIGH\u{1b}[0m"), "{first:?}");
    let plain = cli.with("COLUMNS", "60").shown(["status"]);
    let bare: String = first
        .replace("\r\n", "\n")
        .split('\u{1b}')
        .map(|part| {
            part.strip_prefix('[')
                .map_or(part, |rest| rest.split_once(['m', 'H', 'J']).map_or("", |(_, text)| text))
        })
        .collect();
    assert_eq!(bare.lines().take(3).collect::<Vec<_>>(), plain.lines().take(3).collect::<Vec<_>>());
    cli.agent("third");
    let again = terminal.shows("third");
    assert!(again.contains("\u{1b}[H\u{1b}[2J"), "{again:?}");
    assert!(!(first + &again).contains("[3J"), "what was scrolled off before is not ours to clear");
}

#[test]
fn a_command_that_showed_no_progress_has_none_to_take_away() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    let complaints = |words: &[&str]| {
        let terminal = Terminal::new();
        let mut command = scrubbed(env!("CARGO_BIN_EXE_foremerge"));
        command.args(["-C", string(&root)]).args(words).stdin(Stdio::null()).stdout(Stdio::null());
        let mut running = Running(command.stderr(program_side(&terminal.path, false)).spawn().unwrap());
        drop(command);
        assert!(running.0.wait().unwrap().success(), "{words:?}");
        terminal.shows("")
    };
    assert_eq!(complaints(&["agent", "list"]), "");
    assert_eq!(complaints(&["status"]), "");
    cli.agent("one");
    let audited = complaints(&["events", "audit"]);
    assert!(audited.contains("1 of ") && audited.ends_with("\r\u{1b}[2K"), "{audited:?}");
}
