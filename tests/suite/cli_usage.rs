//! The command line itself: help, refusals, statuses, global options and environment variables.

use foremerge::operations::registry;
use serde_json::json;

use crate::cli::{self, publishing, string, text};
use crate::sandbox::Sandbox;

const COMMANDS: &[&[&str]] = &[
    &["init"],
    &["agent", "register"],
    &["agent", "list"],
    &["agent", "retire"],
    &["intent", "publish"],
    &["intent", "amend"],
    &["intent", "show"],
    &["work", "claim"],
    &["work", "start"],
    &["work", "release"],
    &["work", "discard"],
    &["work", "adopt"],
    &["conflicts", "check"],
    &["conflicts", "list"],
    &["conflicts", "show"],
    &["events", "list"],
    &["events", "audit"],
    &["status"],
    &["graph"],
    &["demo"],
];
const FAMILIES: &[&str] = &["agent", "intent", "work", "conflicts", "events"];

#[test]
fn help_and_version_are_answers_at_every_level() {
    let sandbox = Sandbox::new();
    let cli = cli::at(&sandbox.root);
    let families = FAMILIES.iter().map(std::slice::from_ref);
    for words in [&[][..]].into_iter().chain(families).chain(COMMANDS.iter().copied()) {
        for (help, long) in [("--help", true), ("-h", false)] {
            let shown = cli.shown([words, &[help]].concat());
            assert!(shown.contains("Usage: foremerge"), "{words:?}: {shown}");
            assert!(shown.contains("--json"), "{words:?} hides the global options");
            let example = !words.is_empty() && long;
            assert!(!example || shown.contains("Example:\n  foremerge"), "{words:?} has no example: {shown}");
        }
        for version in ["--version", "-V"] {
            let shown = cli.shown([words, &[version]].concat());
            assert_eq!(shown, format!("foremerge {}\n", env!("CARGO_PKG_VERSION")), "{words:?}");
        }
        let help = cli.shown([words, &["--help"]].concat());
        assert_eq!(cli.shown([&["help"], words].concat()), help);
        assert_eq!(cli.shown([&["help"], words, &["--json"]].concat()), help);
    }
    assert_eq!(cli.shown(["help", "--help"]), cli.shown(["--help"]));
    assert_eq!(cli.shown(["help", "lifecycle", "--json"]), cli.shown(["help", "lifecycle"]));
    assert!(std::fs::read_dir(&sandbox.root).unwrap().next().is_none(), "asking for help made something");
}

#[test]
fn help_keeps_what_is_its_own_apart_and_tells_of_variables_whether_set_or_not() {
    let sandbox = Sandbox::new();
    let cli = cli::at(&sandbox.root);
    let unset = cli.shown(["intent", "publish", "--help"]);
    let (own, everywhere) = unset.split_once("\nGlobal options:\n").expect("a section of its own");
    assert!(own.contains("--agent <AGENT_ID>") && own.contains("[or set FOREMERGE_AGENT]"), "{unset}");
    assert!(!own.contains("--cwd") && everywhere.contains("[or set FOREMERGE_DB]"), "{unset}");
    let set = cli.with("FOREMERGE_AGENT", "agt_00000000").with("FOREMERGE_DB", "/x/y");
    let shown = set.shown(["intent", "publish", "--help"]);
    assert_eq!(shown, unset, "what they are set to is nobody's business");
}

#[test]
fn a_command_line_that_does_not_parse_is_refused_input_on_either_face() {
    let sandbox = Sandbox::new();
    let cli = cli::at(&sandbox.root);
    let cases: &[(&[&str], &[&str])] = &[
        (&["statu"], &["'statu'", "'status'"]),
        (&["frobnicate"], &["'frobnicate'"]),
        (&["agent", "regster"], &["'regster'", "'register'"]),
        (&["agent", "list", "--limt", "3"], &["'--limt'", "'--limit'"]),
        (&["agent", "list", "extra"], &["'extra'"]),
        (&["agent", "list", "--limit"], &["--limit"]),
        (&["agent", "list", "--limit", "many"], &["'many'", "--limit", "a whole number from 0 to"]),
        (
            &["agent", "list", "--limit", "99999999999999999999"],
            &["--limit", "18446744073709551615 is accepted"],
        ),
        (&["work", "watch", "--interval-ms", "1.5"], &["--interval-ms", "a whole number"]),
        (&["agent", "rgister"], &["'register', 'list'"]),
        (&["intent", "publish", "--task", "t", "--summary", "s"], &["FOREMERGE_AGENT", "`agent register`"]),
        (&["agent", "list", "--limit=-1"], &["'-1'", "--limit"]),
        (&["agent", "register"], &["--name"]),
        (&["agent", "register", "--name", "a", "--name", "b"], &["--name"]),
        (
            &["agent", "register", "--name", "a", "--worktree", ".", "--no-worktree"],
            &["--worktree", "--no-worktree"],
        ),
        (&["intent", "show"], &["INTENT_ID"]),
        (&["events", "list", "--after-seq", "-1"], &["-1", "--after-seq"]),
        (&["conflicts", "list", "--status", "wrong"], &["`wrong`", "OPEN", "DISMISSED"]),
    ];
    for (words, mentioned) in cases {
        let message = cli.refusal("INVALID_INPUT", words.iter());
        for word in *mentioned {
            assert!(message.contains(word), "{words:?} does not mention {word}: {message}");
            assert!(cli.run(words.iter()).stderr.contains(word), "{words:?} does not mention {word}");
        }
    }
}

#[test]
fn a_refused_argument_is_named_to_programs_as_the_field_it_fills() {
    let sandbox = Sandbox::new();
    let cli = cli::at(&sandbox.root);
    let refused = |words: &[&str]| {
        let details = cli.refused("INVALID_INPUT", words)["details"].take();
        (text(&details["field"]), details["accepted"].clone())
    };
    let statuses = json!(["OPEN", "COORDINATING", "RESOLVED", "OVERRIDDEN", "DISMISSED"]);
    assert_eq!(refused(&["conflicts", "list", "--status", "wrong"]), ("status".to_owned(), statuses));
    let (field, accepted) = refused(&["work", "query", "--status", "wrong"]);
    assert_eq!(
        (field.as_str(), &accepted[0]),
        ("status", &json!("INTENT")),
        "of this command, not of another"
    );
    let (field, accepted) = refused(&["-C", "/", "intent", "show"]);
    assert!(field == "id" && accepted["pattern"].is_string(), "{field}: {accepted}");
    assert_eq!(refused(&["coordinate", "send", "--to", "agt_123456", "--message", "m"]).0, "from_agent_id");
    let (field, accepted) = refused(&["agent", "list", "--limt", "3"]);
    assert!(field == "--limt" && accepted.to_string().contains("--limit"), "{field}: {accepted}");
    let (field, accepted) = refused(&["agent", "regster"]);
    assert_eq!((field.as_str(), accepted), ("command", json!(["register", "list", "retire", "help"])));
    let (field, accepted) = refused(&["statu"]);
    assert!(field == "command" && accepted.as_array().unwrap().contains(&json!("status")), "{accepted}");
    let (field, _) = refused(&["work", "watch", "--interval-ms", "soon"]);
    assert_eq!(field, "interval-ms");
    let severities = json!(["LOW", "MEDIUM", "HIGH"]);
    let refusal = refused(&["conflicts", "check", "--intent", "x", "--fail-on", "critical"]);
    assert_eq!(refusal, ("fail_on".to_owned(), severities));
}

#[test]
fn a_number_below_zero_is_refused_by_the_name_of_what_it_was_given_for() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let mut refused = 0;
    for entry in registry::ALL {
        let words: Vec<_> = entry.spec.cli.noun.into_iter().chain([entry.spec.cli.verb]).collect();
        let schema = (entry.input_schema)().to_value();
        let command = (entry.arguments)(clap::Command::new("x"));
        for (field, described) in schema["properties"].as_object().into_iter().flatten() {
            let kind = &described["type"];
            let is_number = |kind: &serde_json::Value| kind == "integer" || kind == "number";
            if !is_number(kind) && !kind.as_array().is_some_and(|kinds| kinds.iter().any(is_number)) {
                continue;
            }
            let argument = command.get_arguments().find(|argument| argument.get_id() == field.as_str());
            let option = format!("--{}", argument.unwrap().get_long().unwrap());
            let words = [&words[..], &[&option, "-1"]].concat();
            // A lease may be any number and is clamped.
            if described.get("minimum").is_none() {
                assert!(!cli.refusal("INVALID_INPUT", &words).contains("-1"), "{words:?}");
                continue;
            }
            let error = cli.refused("INVALID_INPUT", &words);
            assert_eq!(error["details"]["field"], field.as_str(), "{error}");
            assert_eq!(error["details"]["accepted"]["minimum"], described["minimum"], "{error}");
            assert!(text(&error["message"]).contains(&option), "{error}");
            refused += 1;
        }
    }
    assert!(refused >= 10, "{refused}");
    for option in ["--after-seq", "--interval-ms"] {
        assert!(cli.refusal("INVALID_INPUT", ["work", "watch", option, "-1"]).contains(option));
    }
    cli.refusal("INVALID_INPUT", ["status", "--watch", "--interval-ms", "-5"]);
}

#[test]
fn a_missing_command_is_refused_and_the_person_sees_which_there_are() {
    let sandbox = Sandbox::new();
    let cli = cli::at(&sandbox.root);
    let families = FAMILIES.iter().map(std::slice::from_ref);
    for words in [&[][..]].into_iter().chain(families) {
        let ran = cli.run(words);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{words:?}");
        assert!(ran.stderr.contains("Commands:"), "{words:?}: {}", ran.stderr);
        let json = cli.run([words, &["--json"]].concat());
        let error = &json.envelope()["error"];
        assert_eq!((json.status, &error["code"]), (2, &json!("INVALID_INPUT")), "{words:?}");
        let message = text(&error["message"]);
        assert!(message.contains("command") && message.contains("foremerge"), "{words:?}: {message}");
    }
}

#[test]
fn global_options_are_taken_before_and_after_the_command() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let (cwd, database) = (string(&root), sandbox.path("led/ger"));
    let elsewhere = cli::at(&sandbox.root);
    elsewhere.data(["--cwd", cwd, "--database", string(&database), "init"]);
    let lines: &[&[&str]] = &[
        &["--json", "-C", cwd, "--database", string(&database), "agent", "list"],
        &["agent", "list", "--json", "--cwd", cwd, "--database", string(&database)],
        &["agent", "--json", "-C", cwd, "list", "--database", string(&database)],
        &["agent", &format!("--cwd={cwd}"), "list", &format!("--database={}", string(&database)), "--json"],
    ];
    for words in lines {
        let ran = elsewhere.run(words.iter());
        assert_eq!((ran.status, ran.envelope()), (0, json!({ "ok": true, "data": [] })), "{words:?}");
    }
    let twice = ["--json", "agent", "--json", "list", "--json"];
    let ran = elsewhere.run(["-C", cwd, "--database", string(&database)].iter().chain(&twice));
    assert_eq!((ran.status, ran.envelope()), (0, json!({ "ok": true, "data": [] })));
    let ran = elsewhere.run(["-C", "/nowhere", "agent", "list", "-C", cwd, "--database", string(&database)]);
    assert_eq!(ran.status, 0, "the nearer one counts: {}", ran.stderr);
    elsewhere.refusal("NOT_A_REPOSITORY", ["agent", "list"]);
    elsewhere.refusal("NOT_INITIALIZED", ["-C", cwd, "agent", "list"]);
}

#[test]
fn a_relative_cwd_starts_where_the_shell_is_and_a_bad_one_is_named() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    cli::initialized(&root);
    let cli = cli::at(&sandbox.root);
    assert_eq!(cli.data(["-C", "r/src/../src/deep", "agent", "list"]), json!([]));
    for bad in ["nowhere", "r/src/deep/a.rs"] {
        let message = cli.refusal("INVALID_INPUT", ["--cwd", bad, "agent", "list"]);
        assert!(message.starts_with("cwd: ") && message.contains(bad), "{message}");
    }
}

#[test]
fn each_kind_of_failure_has_its_own_exit_status() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::at(&root);
    let error = cli.refused("NOT_INITIALIZED", ["status"]);
    assert_eq!(error["next"], json!([{ "audience": "operator", "run": "foremerge init" }]));
    assert!(cli.run(["status"]).stderr.contains("operator: foremerge init"));
    cli.data(["init"]);
    for id in ["agt_00000000", "int_00000000"] {
        let words = if id.starts_with("agt") { publishing(id, &[]) } else { vec!["intent", "show", id] };
        assert!(cli.refusal("NOT_FOUND", words).contains(id));
    }
    let error = cli.refused("NOT_FOUND", publishing("agt_00000000", &[]));
    assert_eq!(error["next"][0]["run"], "foremerge agent register --name NAME");
    assert_eq!(error["next"][0]["audience"], "agent");
    std::fs::write(root.join(".git/foremerge/state.sqlite3"), "no database").unwrap();
    let ran = cli.run(["status"]);
    assert_eq!((ran.status, ran.stderr.starts_with("foremerge: CORRUPT_LEDGER: ")), (5, true), "{ran:?}");
}

#[test]
fn foremerge_agent_fills_actors_only_and_the_flag_wins() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    let as_one = cli.with("FOREMERGE_AGENT", &one);
    let words = ["intent", "publish", "--task", "t", "--summary", "s"];
    assert_eq!(as_one.data(words)["intent"]["agent_id"], json!(one));
    let given = [&words[..], &["--agent", &other]].concat();
    assert_eq!(as_one.data(given)["intent"]["agent_id"], json!(other));
    assert_eq!(as_one.data(["agent", "list"]).as_array().unwrap().len(), 2, "it filters nothing");
    let unset = cli.with("FOREMERGE_AGENT", "");
    assert!(unset.refusal("INVALID_INPUT", words).contains("--agent <AGENT_ID>"));
    unset.data(["intent", "show", &text(&as_one.data(words)["intent"]["id"])]);

    let wrong = cli.with("FOREMERGE_AGENT", "me");
    let message = wrong.refusal("INVALID_INPUT", words);
    assert!(message.contains("(from FOREMERGE_AGENT)"), "nobody typed --agent: {message}");
    let message = wrong.refusal("INVALID_INPUT", [&words[..], &["--agent", "you"]].concat());
    assert!(message.contains("`you`") && !message.contains("FOREMERGE_AGENT"), "{message}");
    for words in
        [&["status"][..], &["agent", "list"], &["agent", "register", "--name", "x"], &["events", "audit"]]
    {
        wrong.data(words);
    }
}

#[test]
fn an_agent_that_is_not_there_any_more_is_told_to_be_from_the_variable_that_named_it() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("a");
    let intent = text(&cli.publish(&agent, &["symbol:X=replace"])["intent"]["id"]);
    let stale = cli.with("FOREMERGE_AGENT", "agt_ffffff");
    let lines: &[&[&str]] = &[
        &["work", "query"],
        &["intent", "show", &intent],
        &["conflicts", "check", "--intent-id", &intent],
        &["coordinate", "inbox"],
        &["coordinate", "inbox", "--mark-read"],
        &["intent", "publish", "--task", "t", "--summary", "s"],
        &["work", "start", &intent],
        &["coordinate", "send", "--to", &agent, "--message", "m"],
    ];
    for words in lines {
        let error = stale.refused("NOT_FOUND", words.iter());
        let message = text(&error["message"]);
        assert!(message.starts_with("no agent has the id agt_ffffff"), "{words:?}: {message}");
        assert!(message.contains("FOREMERGE_AGENT") && message.contains("unset"), "{words:?}: {message}");
        assert_eq!(error["details"]["variable"], "FOREMERGE_AGENT", "{words:?}");
        assert!(error["details"]["field"].is_string(), "{words:?}: {error}");
        assert!(text(&error["next"][0]["run"]).contains("agent register"), "{words:?}: {error}");
    }
    let typed: &[&[&str]] = &[
        &["work", "query", "--as", "agt_ffffff"],
        &["work", "query", "--agent", "agt_ffffff", "--as", &agent],
        &["coordinate", "inbox", "agt_ffffff"],
        &["agent", "retire", "agt_ffffff"],
    ];
    for words in typed {
        let message = stale.refusal("NOT_FOUND", words.iter());
        assert!(!message.contains("FOREMERGE_AGENT"), "{words:?}: {message}");
    }
    let other = cli.agent("b");
    cli.data(["agent", "retire", &other]);
    let retired = cli.with("FOREMERGE_AGENT", &other);
    let message =
        retired.refusal("INVALID_TRANSITION", ["intent", "publish", "--task", "t", "--summary", "s"]);
    assert!(message.contains("FOREMERGE_AGENT"), "{message}");
}

#[test]
fn foremerge_db_names_the_ledger_and_the_option_wins() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (first, second) = (sandbox.path("first/l"), sandbox.path("second/l"));
    let named = cli.with("FOREMERGE_DB", &first);
    assert_eq!(named.data(["init"])["database"], json!(first));
    cli.data(["init", "--database", string(&second)]);
    cli.agent("in the repository");
    named.agent("in the first");
    let agents = |cli: &cli::Cli, words: &[&str]| -> Vec<String> {
        cli.data(words).as_array().unwrap().iter().map(|agent| text(&agent["name"])).collect()
    };
    assert_eq!(agents(&named, &["agent", "list"]), ["in the first"]);
    assert!(agents(&named, &["agent", "list", "--database", string(&second)]).is_empty());
    assert!(agents(&named, &["--database", string(&second), "agent", "list"]).is_empty());
    for unset in [cli.with("FOREMERGE_DB", ""), cli.clone()] {
        assert_eq!(agents(&unset, &["agent", "list"]), ["in the repository"]);
    }
    assert_eq!(agents(&named, &["agent", "list", "--database", ""]), ["in the repository"]);
    assert_eq!(agents(&named, &["agent", "list", "--database="]), ["in the repository"]);
}

#[test]
fn an_answer_that_cannot_be_written_is_no_success_but_a_reader_that_left_is() {
    use std::fs::File;
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    cli::initialized(&root);
    let foremerge = env!("CARGO_BIN_EXE_foremerge");
    let program = || crate::sandbox::scrubbed(foremerge);
    for face in [&[][..], &["--json"], &["--id-only"]] {
        let words = [&["-C", string(&root), "agent", "register", "--name", "a"], face].concat();
        let mut full = program();
        full.args(words).stdout(File::options().write(true).open("/dev/full").unwrap());
        let full = full.output().unwrap();
        let complaint = String::from_utf8_lossy(&full.stderr);
        assert_eq!(full.status.code(), Some(1), "{complaint}");
        assert!(complaint.contains("cannot be printed") && complaint.contains("was done"), "{complaint}");
    }
    for json in [&[][..], &["--json"]] {
        let words = [&["-C", string(&root), "status"], json].concat();
        let full =
            program().args(&words).stdout(File::options().write(true).open("/dev/full").unwrap()).output();
        let full = full.unwrap();
        assert_eq!(full.status.code(), Some(1), "{}", String::from_utf8_lossy(&full.stderr));
        let complaint = String::from_utf8_lossy(&full.stderr);
        assert!(complaint.contains("cannot be printed") && !complaint.contains("was done"), "{complaint}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let left = program().args(&words).stdout(writer).output().unwrap();
        assert_eq!((left.status.code(), left.stderr.is_empty()), (Some(0), true), "{left:?}");
    }
}
