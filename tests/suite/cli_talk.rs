//! Talking and settling from the command line.

use serde_json::json;

use crate::cli::{self, text};
use crate::sandbox::Sandbox;

#[test]
fn what_was_settled_as_a_hint_is_open_again_when_it_becomes_certain() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    let hint = ["intent", "publish", "--task", "t", "--summary", "Replace Pay", "--scope", "symbol:Pay"];
    let guessed = cli.data(hint.iter().copied().chain(["--agent", &one]));
    let found = cli.publish(&other, &["symbol:Pay=extend"]);
    let conflict = text(&found["conflicts"][0]["id"]);
    assert_eq!(found["conflicts"][0]["severity"], "MEDIUM", "an operation was read from prose");
    let settle =
        ["conflicts", "resolve", &conflict, "--agent", &other, "--resolution", "split", "--rationale", "r"];
    assert_eq!(cli.data(settle)["status"], "RESOLVED");
    let intent = text(&guessed["intent"]["id"]);
    cli.data(["intent", "amend", &intent, "--agent", &one, "--scope", "symbol:Pay=replace"]);
    let seen = cli.data(["conflicts", "show", &conflict]);
    assert_eq!((&seen["status"], &seen["severity"]), (&json!("OPEN"), &json!("HIGH")));
    assert!(seen.get("decision").is_none() && seen.get("previously_settled").is_none(), "{seen}");
    let seen = cli.data(["conflicts", "detections", &conflict]);
    let seen: Vec<_> = seen
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (text(&one["severity"]), one["previously_settled"].as_bool().unwrap()))
        .collect();
    assert_eq!(
        seen,
        [("MEDIUM".to_owned(), false), ("HIGH".to_owned(), false)],
        "the second opened it again"
    );
}

#[test]
fn an_inbox_can_be_named_either_way_and_both_must_agree() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    cli.data(["coordinate", "send", "--from", &one, "--to", &other, "--message", "-- first?"]);
    let inbox =
        |words: &[&str]| cli.data(["coordinate", "inbox"].iter().chain(words)).as_array().unwrap().len();
    assert_eq!(inbox(&[&other]), 1);
    assert_eq!(inbox(&["--agent", &other]), 1);
    assert_eq!(inbox(&[&other, "--agent", &other[..12]]), 1, "two spellings of one agent");
    let message = cli.refusal("INVALID_INPUT", ["coordinate", "inbox", &other, "--agent", &one]);
    assert!(message.contains(&one) && message.contains(&other), "{message}");
    cli.refused("INVALID_INPUT", ["coordinate", "inbox"]);
    let as_one = cli.with("FOREMERGE_AGENT", &one);
    assert_eq!(as_one.data(["coordinate", "inbox"]), json!([]), "the environment says whose");
    let others = as_one.data(["coordinate", "inbox", &other]);
    assert_eq!(others.as_array().unwrap().len(), 1, "what is typed counts more");
    let as_other = cli.with("FOREMERGE_AGENT", &other);
    for typed in [&one, &one[..12]] {
        let message = as_other.refusal("INVALID_INPUT", ["coordinate", "inbox", typed, "--agent", &other]);
        assert!(message.contains(typed) && message.contains(&other), "{message}");
    }
    assert_eq!(as_other.data(["coordinate", "inbox", "--agent", &one]), json!([]));
    for unset in ["", "me", "cfl_12345678"] {
        let nobody = cli.with("FOREMERGE_AGENT", unset);
        let message = nobody.refusal("INVALID_INPUT", ["coordinate", "inbox"]);
        assert!(message.contains("--agent") && message.contains("FOREMERGE_AGENT"), "{unset}: {message}");
        assert_eq!(nobody.data(["coordinate", "inbox", &one]), json!([]), "{unset}: nobody asked it");
    }
    let reply = as_one.data(["coordinate", "send", "--to", &other, "--message", "second"]);
    assert_eq!(reply["from_agent_id"], json!(one));
}

#[test]
fn what_a_check_found_is_no_conflict_to_talk_about_and_the_refusal_says_what_to_do() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    cli.publish(&one, &["symbol:Pay=replace"]);
    let check = cli.data(["conflicts", "check", "--intent", "Extend Pay", "--scope", "symbol:Pay=extend"]);
    let found = text(&check["conflicts"][0]["id"]);
    let send = ["coordinate", "send", "--from", &other, "--to", &one, "--message", "m", "--conflict", &found];
    let settle =
        ["conflicts", "resolve", &found, "--agent", &other, "--resolution", "split", "--rationale", "r"];
    for words in [&send[..], &settle, &["conflicts", "show", &found], &["conflicts", "detections", &found]] {
        let message = cli.refused_without_trace(words);
        assert!(message.contains("no record") && message.contains("publish or amend"), "{message}");
    }
}

#[test]
fn a_message_cannot_do_anything_to_the_terminal_it_is_read_on() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    let hostile = "look\u{1b}[2J\u{202e}here\nand\r\nthere";
    cli.data(["coordinate", "send", "--from", &one, "--to", &other, "--message", hostile]);
    let shown = cli.shown(["coordinate", "inbox", &other]);
    assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    assert!(shown.contains("\n  and"), "its lines stay lines: {shown:?}");
}

#[test]
fn the_flags_of_an_assessment_have_their_longer_names_too() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("one");
    let [one, other] =
        ["symbol:A=add", "symbol:B=add"].map(|scope| text(&cli.publish(&agent, &[scope])["intent"]["id"]));
    let verdict = ["--verdict", "compatible", "--action", "proceeding", "--rationale", "other files"];
    let long = ["assess", "record", "--agent-id", &agent, "--intent-id", &one, "--related-intent-id", &other];
    assert_eq!(cli.data(long.iter().chain(&verdict))["intent_id"], json!(one));
    let short = ["assess", "record", "--agent", &agent, "--intent", &one, "--related-intent", &other];
    cli.data(short.iter().chain(&verdict));
    assert_eq!(cli.data(["assess", "list", "--intent", &one]).as_array().unwrap().len(), 2);
}

#[test]
fn an_option_is_no_text_for_the_option_before_it_unless_it_is_given_with_a_sign() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    let send = ["coordinate", "send", "--from", &one, "--to", &other];
    let publish = ["intent", "publish", "--agent", &one];
    let cases: &[(&[&str], &[&str], &str)] = &[
        (&send, &["--message", "--help"], "message"),
        (&send, &["--message", "-h"], "message"),
        (&send, &["--message", "--conflict=con_123456"], "message"),
        (&send, &["--message", "--to"], "message"),
        (&publish, &["--task", "t", "--summary", "--json"], "summary"),
        (&publish, &["--summary", "--task", "t"], "summary"),
        (&publish, &["--task", "t", "--summary", "s", "--rationale", "-q"], "rationale"),
        (&publish, &["--task", "t", "--summary", "s", "--rationale", "-C", "/"], "rationale"),
        (&["worktree", "create"], &["--path", "../x", "--branch", "--base"], "branch"),
    ];
    let before = cli.last_seq();
    for (command, words, field) in cases {
        let words = [*command, *words].concat();
        // A directory before the command is read with the whole grammar, the rest with a part of it.
        for words in [words.clone(), [&["-C", "."], &words[..]].concat()] {
            if words.contains(&"--json") {
                let ran = cli.run(&words);
                assert_eq!((ran.status, &ran.envelope()["error"]["details"]["field"]), (2, &json!(field)));
                continue;
            }
            let error = cli.refused("INVALID_INPUT", &words);
            assert_eq!(error["details"]["field"], *field, "{words:?}");
            let message = text(&error["message"]);
            assert!(
                message.contains("a value is required") && message.contains(&format!("--{field}=-")),
                "{message}"
            );
        }
    }
    assert_eq!(cli.last_seq(), before, "nothing was recorded");
    for words in [
        &["--message=--help"][..],
        &["--message", "- fix the parser"],
        &["--message", "-3 degrees"],
        &["--message", "--help is no help"],
        &["--message", "--"],
        &["--message", "-x"],
        &["--message", "--elsewhere"],
    ] {
        let answer = cli.data([&send[..], words].concat());
        let meant = words.last().unwrap().trim_start_matches("--message=");
        assert_eq!(answer["message"], *meant, "{words:?}: {answer}");
    }
}
