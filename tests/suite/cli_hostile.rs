//! Text that would control the terminal, break a line or be taken for something else.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use serde_json::json;

use crate::cli::{self, Cli, text};
use crate::sandbox::{Sandbox, git, scrubbed};

/// Everything at once: escape sequences, line ends, bidirectional overrides, invisible letters.
const HOSTILE: &str = "a\u{1b}[31m\u{1b}]0;title\u{7}b\rc\nforemerge: d\u{8}\u{7f}\u{9b}2J\u{202e}e\u{2066}f\u{61c}\u{200b}g\u{2028}h\u{e0041}i\tj\u{1f600}";

fn is_tame(text: &str) -> Result<(), String> {
    let wild = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{61c}' | '\u{200b}' | '\u{2028}' | '\u{202e}' | '\u{2066}' | '\u{e0041}')
    };
    match text.chars().find(|c| wild(*c)) {
        Some(c) => Err(format!("{c:?} in {text:?}")),
        None if text.lines().any(|line| line.starts_with("foremerge: d")) => {
            Err(format!("a forged line: {text}"))
        }
        None => Ok(()),
    }
}

fn hostile_words(agent: &str) -> Vec<OsString> {
    let scope = format!("symbol:{HOSTILE}=replace");
    let file = format!("file:src/{HOSTILE}=modify");
    let metadata = json!({ HOSTILE: HOSTILE }).to_string();
    let words = [
        "intent",
        "publish",
        "--agent",
        agent,
        "--task",
        HOSTILE,
        "--summary",
        HOSTILE,
        "--rationale",
        HOSTILE,
        "--scope",
        &scope,
        "--scope",
        &file,
        "--metadata-json",
        &metadata,
    ];
    words.map(OsString::from).to_vec()
}

fn hostile_agent(cli: &Cli, name: &str) -> String {
    let agent = cli.data(["agent", "register", "--name", name, "--model", HOSTILE, "--capability", HOSTILE]);
    assert_eq!((&agent["name"], &agent["model"]), (&json!(name), &json!(HOSTILE)), "unchanged in JSON");
    assert_eq!(agent["capabilities"], json!([HOSTILE]));
    text(&agent["id"])
}

#[test]
fn stored_text_cannot_control_the_terminal_and_comes_back_unchanged() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = hostile_agent(&cli, HOSTILE);
    let first = cli.data(hostile_words(&agent));
    let intent = &first["intent"];
    for field in ["task", "summary", "rationale"] {
        assert_eq!(intent[field], HOSTILE, "{field}");
    }
    assert_eq!(intent["metadata"], json!({ HOSTILE: HOSTILE }));
    assert_eq!(intent["scopes"][0]["key"], HOSTILE);
    let other = hostile_agent(&cli, &format!("{HOSTILE}2"));
    is_tame(&cli.shown(hostile_words(&other))).unwrap();
    let conflict = text(&cli.data(["conflicts", "list"])[0]["id"]);
    for words in [
        &["agent", "register", "--name", HOSTILE, "--model", HOSTILE, "--capability", HOSTILE][..],
        &["agent", "list"],
        &["intent", "show", &text(&intent["id"])],
        &["conflicts", "list"],
        &["conflicts", "show", &conflict],
        &["events", "list"],
        &["events", "audit"],
        &["status"],
    ] {
        let json = cli.shown([words, &["--json"]].concat());
        is_tame(&json).unwrap_or_else(|why| panic!("{words:?}: {why}"));
        for columns in ["20", "40", "100", "200"] {
            is_tame(&cli.with("COLUMNS", columns).shown(words))
                .unwrap_or_else(|why| panic!("{words:?}: {why}"));
        }
    }
}

#[test]
fn refused_text_cannot_control_the_terminal() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    let agent = cli.agent("a");
    let option = format!("--{HOSTILE}");
    let both = format!("symbol:{HOSTILE}=replace");
    let twice = both.replace("=replace", "=add");
    let outside = format!("file:/{HOSTILE}=add");
    let publish = ["intent", "publish", "--agent", &agent, "--task", "t", "--summary", "s", "--scope"];
    let with = |scope| [&publish[..], &[scope]].concat();
    let cases: &[&[&str]] = &[
        &[HOSTILE],
        &["agent", HOSTILE],
        &["agent", "list", HOSTILE],
        &["agent", "list", &option],
        &["agent", "list", "--limit", HOSTILE],
        &["agent", "list", "--cursor", HOSTILE],
        &["agent", "register", "--name", "a", "--worktree", HOSTILE],
        &["agent", "register", "--name", &HOSTILE.repeat(20)],
        &["intent", "show", HOSTILE],
        &["conflicts", "show", HOSTILE],
        &["conflicts", "list", "--status", HOSTILE],
        &["--cwd", HOSTILE, "status"],
        &["--database", HOSTILE, "init"],
        &["init", "--standalone", HOSTILE],
        &["demo", "--keep", HOSTILE, HOSTILE],
        &with(HOSTILE),
        &with(&outside),
        &[&with(&both)[..], &["--scope", &twice]].concat(),
        &[&publish[..8], &["--metadata-json", HOSTILE]].concat(),
        &[&publish[..8], &["--depends-on", HOSTILE]].concat(),
    ];
    for words in cases {
        let ran = cli.run(words.iter());
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{words:?}: {}", ran.stderr);
        is_tame(&ran.stderr).unwrap_or_else(|why| panic!("{words:?}: {why}"));
        cli.refused("INVALID_INPUT", words.iter());
    }
    for name in ["FOREMERGE_AGENT", "FOREMERGE_DB"] {
        let cli = cli.with(name, HOSTILE);
        is_tame(&cli.run(["intent", "publish", "--task", "t", "--summary", "s"]).stderr).unwrap();
        is_tame(&cli.run(["intent", "publish", "--help"]).stdout).unwrap();
    }
}

#[test]
fn hostile_paths_and_branches_are_shown_escaped() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("a\u{1b}[31m\nforemerge: d");
    git(&root, &["switch", "-q", "-c", "b\u{202e}\u{61c}ranch"]);
    let cli = cli::at(&root);
    for words in [&["init"][..], &["agent", "register", "--name", "a"], &["agent", "list"], &["status"]] {
        is_tame(&cli.shown(words)).unwrap();
    }
    let agent = &cli.data(["agent", "list"])[0];
    assert_eq!((&agent["worktree"], &agent["git_branch"]), (&json!(root), &json!("b\u{202e}\u{61c}ranch")));
    std::fs::write(root.join(".git/foremerge/state.sqlite3"), "").unwrap();
    is_tame(&cli.run(["status"]).stderr).unwrap();
}

#[test]
fn a_value_that_begins_with_a_hyphen_is_data() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    let agent =
        text(&cli.data(["agent", "register", "--name=--json", "--model=-m", "--capability=--"])["id"]);
    let listed = cli.data(["agent", "list"]);
    assert_eq!((&listed[0]["name"], &listed[0]["model"]), (&json!("--json"), &json!("-m")));
    let published = cli.data([
        "intent",
        "publish",
        "--agent",
        &agent,
        "--task=-t",
        "--summary",
        "- fix it",
        "--rationale",
        "- because\n- of that",
        "--scope",
        "api:--flag=add",
    ]);
    assert_eq!(published["intent"]["summary"], "- fix it");
    assert_eq!(published["intent"]["rationale"], "- because\n- of that");
    assert_eq!(published["intent"]["scopes"][0]["key"], "--flag");
    let dashed = root.join("-dash");
    std::fs::create_dir(&dashed).unwrap();
    assert_eq!(cli.data(["--cwd=-dash", "agent", "list"]), listed);
    assert_eq!(cli.data(["agent", "register", "--name", "b", "--worktree=-dash"])["worktree"], json!(root));
    let error = cli.run(["--json", "intent", "show", "--", "--json"]);
    assert_eq!((error.status, &error.envelope()["error"]["code"]), (2, &json!("INVALID_INPUT")));
    let plain = cli.run(["intent", "show", "--", "--json"]);
    assert_eq!((plain.status, plain.stdout.as_str()), (2, ""), "after -- it is no option");
}

#[test]
fn arguments_that_are_not_utf_8_are_refused_or_taken_as_paths_but_never_panic() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    let odd = OsStr::from_bytes(b"x\xff\xfe");
    let word = OsStr::new;
    for words in [
        vec![odd],
        vec![word("agent"), odd],
        vec![word("agent"), word("register"), word("--name"), odd],
        vec![word("intent"), word("show"), odd],
        vec![word("agent"), word("list"), word("--cursor"), odd],
        vec![word("--cwd"), odd, word("status")],
        vec![word("agent"), word("register"), word("--name"), word("a"), word("--worktree"), odd],
    ] {
        cli.refused("INVALID_INPUT", words);
    }
    let agent = cli.with("FOREMERGE_AGENT", odd);
    agent.refused("INVALID_INPUT", ["intent", "publish", "--task", "t", "--summary", "s"]);
    let there = sandbox.root.join(odd);
    git(&root, &[word("worktree"), word("add"), word("-q"), there.as_os_str()]);
    let listed = cli.data([word("-C"), there.as_os_str(), word("agent"), word("list")]);
    assert_eq!(listed, json!([]));
}

#[test]
fn columns_follow_the_width_and_ids_stay_whole() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent(&"long".repeat(40)));
    let summary = "words and more words ".repeat(20) + &"x".repeat(300);
    let publish = ["intent", "publish", "--task", "t", "--scope", "symbol:X=replace", "--summary", &summary];
    let intent = text(&cli.data([&publish[..], &["--agent", &one]].concat())["intent"]["id"]);
    cli.data([&publish[..], &["--agent", &other]].concat());
    let conflict = text(&cli.data(["conflicts", "list"])[0]["id"]);
    for (columns, widest) in
        [("40", 80), ("80", 80), ("200", 200), ("", 100), ("0", 100), ("wide", 100), ("-5", 100)]
    {
        let cli = cli.with("COLUMNS", columns);
        let wide = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let status = cli.shown(["status"]);
        for id in [&one, &other, &intent, &conflict] {
            assert!(status.contains(&id[..12]), "{columns}: {id} is broken: {status}");
        }
        for words in [&["status"][..], &["agent", "list"], &["conflicts", "list"], &["events", "list"]] {
            let shown = cli.shown(words);
            assert!(wide(&shown) <= widest, "COLUMNS={columns} {words:?}: {} wide:\n{shown}", wide(&shown));
        }
        let squeezed: String = status.split_whitespace().collect();
        assert!(squeezed.contains(&conflict[..12]));
    }
}

#[test]
fn a_printed_command_does_what_it_says_whatever_is_in_the_key() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    let key = format!("symbol:{HOSTILE}it's \\ $HOME");
    let mut conflict = String::new();
    for name in ["one", "other"] {
        let agent = cli.agent(name);
        let intent = text(&cli.publish(&agent, &[])["intent"]["id"]);
        let claim = ["work", "claim", "--agent", &agent, "--intent", &intent, "--scope", &key];
        let overlaps = cli.data(claim)["warnings"].take();
        conflict = overlaps.get(0).map(|overlap| text(&overlap["id"])).unwrap_or_default();
    }
    let shown = cli.with("COLUMNS", "10000").shown(["conflicts", "show", &conflict]);
    let released: Vec<_> =
        shown.lines().map(str::trim).filter(|line| line.starts_with("foremerge work release")).collect();
    assert_eq!(released.len(), 2, "{shown}");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_foremerge")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", program.display());
    for command in released {
        let ran =
            scrubbed("bash").args(["-euc", command]).env("PATH", &path).current_dir(&root).output().unwrap();
        assert!(ran.status.success(), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}
