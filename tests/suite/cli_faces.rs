//! What is printed of an answer: all of it, its ids, or nothing.

use foremerge::operations::registry;

use crate::cli::{self, publishing, text, texts};
use crate::sandbox::Sandbox;

/// What was printed, when it worked and nothing was complained about.
fn printed(cli: &cli::Cli, words: &[&str], face: &str) -> String {
    cli.shown([words, &[face]].concat())
}

#[test]
fn quiet_prints_nothing_when_it_worked_and_complains_as_ever() {
    let sandbox = Sandbox::new();
    let cli = cli::at(sandbox.repository("r"));
    assert_eq!(printed(&cli, &["init"], "--quiet"), "");
    assert_eq!(printed(&cli, &["agent", "register", "--name", "a"], "-q"), "");
    assert_eq!(cli.data(["agent", "list"])[0]["name"], "a");
    assert_eq!(printed(&cli, &["status"], "--quiet"), "");
    assert_eq!(printed(&cli, &["demo"], "--quiet"), "");
    let ran = cli.run(["--quiet", "intent", "show", "int_00000000"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (3, ""));
    assert!(ran.stderr.starts_with("foremerge: NOT_FOUND: "), "{}", ran.stderr);
}

#[test]
fn quiet_leaves_what_fail_on_found_to_the_exit_status() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    cli.publish(&cli.agent("a"), &["symbol:X=replace"]);
    let check = ["conflicts", "check", "--intent", "t", "--scope", "symbol:X=extend", "--quiet"];
    assert_eq!(cli.shown(check), "");
    let ran = cli.run([&check[..], &["--fail-on", "high"]].concat());
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (7, "", ""));
}

#[test]
fn what_nobody_sees_is_not_marked_as_read() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("a"), cli.agent("b"));
    cli.data(["coordinate", "send", "--from", &one, "--to", &other, "--message", "m"]);
    let ran = cli.run(["-q", "coordinate", "inbox", &other, "--mark-read"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("foremerge: INVALID_INPUT: mark_read: "), "{}", ran.stderr);
    assert_eq!(cli.data(["coordinate", "inbox", &other])[0]["status"], "UNREAD");
    assert_eq!(printed(&cli, &["coordinate", "inbox", &other], "--quiet"), "");
}

#[test]
fn only_the_ids_of_what_was_made_or_is_shown_are_printed_whole() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = printed(&cli, &["agent", "register", "--name", "a"], "--id-only");
    let agent = agent.strip_suffix('\n').unwrap();
    assert_eq!(cli.data(["agent", "list"])[0]["id"], agent);
    let other = cli.agent("b");
    assert_eq!(printed(&cli, &["agent", "list"], "--id-only"), format!("{agent}\n{other}\n"));
    let intent = printed(&cli, &publishing(agent, &["symbol:X=replace"]), "--id-only");
    let intent = intent.strip_suffix('\n').unwrap();
    assert_eq!(printed(&cli, &["intent", "show", &intent[..12]], "--id-only"), format!("{intent}\n"));
    let scopes = ["--scope", "symbol:X", "--scope", "file:a"];
    let claim = [&["work", "claim", "--agent", agent, "--intent", intent], &scopes[..]].concat();
    let claims = printed(&cli, &claim, "--id-only");
    assert_eq!(claims.lines().filter(|id| id.starts_with("clm_") && id.len() == 36).count(), 2, "{claims}");
    assert_eq!(
        printed(&cli, &["work", "start", intent, "--agent", agent], "--id-only"),
        format!("{intent}\n")
    );
    let conflict = text(&cli.publish(&other, &["symbol:X=extend"])["conflicts"][0]["id"]);
    assert_eq!(printed(&cli, &["conflicts", "list"], "--id-only"), format!("{conflict}\n"));
    let events: Vec<_> =
        cli.data(["events", "list"]).as_array().unwrap().iter().map(|e| text(&e["event_id"])).collect();
    assert_eq!(printed(&cli, &["events", "list"], "--id-only").lines().collect::<Vec<_>>(), events);
    assert_eq!(printed(&cli, &["conflicts", "list", "--status", "resolved"], "--id-only"), "");
    let check = [
        "conflicts",
        "check",
        "--intent",
        "t",
        "--scope",
        "symbol:X=extend",
        "--fail-on",
        "high",
        "--id-only",
    ];
    let found = cli.run(check);
    assert!(found.status == 7 && found.stdout.lines().all(|id| id.starts_with("eph_")), "{found:?}");
    let dismissed =
        printed(&cli, &["work", "discard", intent, "--agent", agent, "--reason", "r"], "--id-only");
    assert_eq!(dismissed, format!("{intent}\n"));
    assert_eq!(texts(&cli.data(["intent", "show", intent])["open_conflicts"]["ids"]), Vec::<String>::new());
}

#[test]
fn talk_judgements_and_settlements_have_ids_of_their_own() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("a"), cli.agent("b"));
    let first = text(&cli.publish(&one, &["symbol:X=replace"])["intent"]["id"]);
    let answer = cli.publish(&other, &["symbol:X=extend"]);
    let (second, conflict) = (text(&answer["intent"]["id"]), text(&answer["conflicts"][0]["id"]));
    assert_eq!(printed(&cli, &["work", "query"], "--id-only"), format!("{second}\n{first}\n"));
    let judging = ["assess", "record", "--agent", &other, "--intent", &second, "--related-intent", &first];
    let judged = ["--verdict", "conflicts", "--action", "waiting", "--rationale", "r"];
    let assessment = printed(&cli, &[&judging[..], &judged].concat(), "--id-only");
    assert!(assessment.starts_with("asm_"), "{assessment}");
    assert_eq!(printed(&cli, &["assess", "list", "--intent", &second], "--id-only"), assessment);
    let sending = ["coordinate", "send", "--from", &other, "--to", &one, "--message", "m"];
    let message = printed(&cli, &sending, "--id-only");
    assert!(message.starts_with("msg_"), "{message}");
    assert_eq!(printed(&cli, &["coordinate", "inbox", &one], "--id-only"), message);
    let agreed = ["--agent", &one, "--resolution", "r", "--rationale", "r"];
    let resolving = [&["conflicts", "resolve", &conflict][..], &agreed].concat();
    assert_eq!(printed(&cli, &resolving, "--id-only"), format!("{conflict}\n"));
}

#[test]
fn a_list_of_ids_that_is_cut_says_so_beside_them() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (first, second) = (cli.agent("a"), cli.agent("b"));
    let ran = cli.run(["agent", "list", "--limit", "1", "--id-only"]);
    assert_eq!((ran.status, ran.stdout), (0, format!("{first}\n")));
    let next = ran.stderr.trim_end().rsplit(' ').next().unwrap();
    assert_eq!(printed(&cli, &["agent", "list", "--cursor", next], "--id-only"), format!("{second}\n"));
}

#[test]
fn a_command_without_ids_refuses_to_print_them_and_does_nothing() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::at(&root);
    for words in [
        &["init"][..],
        &["status"],
        &["events", "audit"],
        &["demo"],
        &["graph"],
        &["worktree", "list"],
        &["work", "watch"],
    ] {
        let error = cli.refused("INVALID_INPUT", [words, &["--id-only"]].concat().iter());
        assert!(!root.join(".git/foremerge").exists(), "{error}");
    }
    for (id, has) in [("init", false), ("status", false), ("audit_events", false), ("publish_intent", true)] {
        assert_eq!(registry::find(id).unwrap().has_ids, has, "{id}");
    }
}

#[test]
fn the_faces_exclude_each_other_wherever_they_are_given() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    for words in [
        &["--quiet", "agent", "list", "--id-only"][..],
        &["agent", "--id-only", "list", "--quiet"],
        &["agent", "list", "--quiet", "--json"],
        &["--json", "agent", "--id-only", "list"],
    ] {
        let ran = cli.run(words);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            ran.status == 2 && said.contains("one of --json, --quiet and --id-only"),
            "{words:?}: {said}"
        );
        assert_eq!(ran.stdout.is_empty(), !words.contains(&"--json"), "{words:?}: {said}");
    }
}
