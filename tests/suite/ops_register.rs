//! Registering agents.

use serde_json::json;

use crate::cli::{self, string, text, texts};
use crate::library::Library;
use crate::sandbox::{Sandbox, git, write};

#[test]
fn a_worktree_is_stored_as_the_real_path_of_its_root_however_it_was_named() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let linked = sandbox.path("linked");
    git(&root, &["worktree", "add", "-q", "-b", "topic", string(&linked)]);
    std::os::unix::fs::symlink(&linked, sandbox.path("alias")).unwrap();
    let cli = cli::initialized(&root);
    for (at, named) in [
        (&root, "../linked"),
        (&root, "src/../../linked/src/deep"),
        (&root, string(&linked)),
        (&root, string(&sandbox.path("alias/src"))),
        (&linked, "."),
    ] {
        let words = ["-C", string(at), "agent", "register", "--name", "a", "--worktree", named];
        let agent = cli.data(words);
        assert_eq!((&agent["worktree"], &agent["git_branch"]), (&json!(linked), &json!("topic")), "{named}");
    }
}

#[test]
fn a_worktree_that_is_none_of_this_repository_is_refused_input() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let other = sandbox.repository("other");
    let cli = cli::initialized(&root);
    let plain = sandbox.mkdir("plain");
    let inner = root.join("inner");
    git(&root, &["init", "-q", string(&inner)]);
    let cases = [
        (string(&other), "another repository"),
        (string(&inner), "another repository"),
        (string(&plain), "not in a Git worktree"),
        ("..", "not in a Git worktree"),
        ("nowhere", "not a directory"),
        ("src/deep/a.rs", "not a directory"),
        (".git", "inside a Git directory"),
        (".git/refs", "inside a Git directory"),
    ];
    for (worktree, why) in cases {
        let message =
            cli.refused_without_trace(&["agent", "register", "--name", "a", "--worktree", worktree]);
        assert!(message.starts_with("worktree: ") && message.contains(why), "{worktree}: {message}");
    }
}

#[test]
fn without_a_worktree_an_agent_has_neither_branch_nor_head() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    let agent = cli.data(["agent", "register", "--name", "a", "--no-worktree"]);
    for field in ["worktree", "git_branch", "git_head"] {
        assert!(agent.get(field).is_none(), "{agent}");
    }
    let inside = cli.data(["-C", string(&root.join(".git")), "agent", "register", "--name", "b"]);
    assert!(inside.get("worktree").is_none(), "{inside}");
}

#[test]
fn a_namesake_in_the_same_worktree_is_named_in_a_warning_and_elsewhere_is_nobody() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let linked = sandbox.path("linked");
    git(&root, &["worktree", "add", "-q", string(&linked)]);
    let cli = cli::initialized(&root);
    let register = |worktree: &str| cli.data(["agent", "register", "--name", "a", "--worktree", worktree]);
    let first = register(".");
    assert!(first.get("warnings").is_none(), "{first}");
    assert!(register(string(&linked)).get("warnings").is_none());
    assert!(cli.data(["agent", "register", "--name", "A"]).get("warnings").is_none());
    assert!(cli.data(["agent", "register", "--name", "a", "--no-worktree"]).get("warnings").is_none());
    let second = register("src");
    let [warning] = &texts(&second["warnings"])[..] else { panic!("{second}") };
    assert!(warning.contains(&text(&first["id"])), "{warning}");
    assert!(!warning.contains("1 agents"), "{warning}");
    assert_ne!(second["id"], first["id"], "registering always makes a new agent");
    let third = texts(&register(".")["warnings"]).remove(0);
    assert!(third.contains("2 agents") && third.contains(&text(&second["id"])), "{third}");
    assert!(cli.shown(["agent", "register", "--name", "a"]).contains("\nwarning: 3 agents"));
}

#[test]
fn names_are_trimmed_kept_as_written_and_bounded_in_characters() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let longest = "\u{1f600}".repeat(200);
    for (given, kept) in
        [("  a  b ", "a  b"), (&longest, &longest), ("Stra\u{df}e", "Stra\u{df}e"), ("e\u{301}", "e\u{301}")]
    {
        let name = format!("--name={given}");
        let agent = cli.data(["agent", "register", &name, "--model", given, "--capability", given]);
        assert_eq!((&agent["name"], &agent["model"]), (&json!(kept), &json!(kept)));
        assert_eq!(agent["capabilities"], json!([kept]));
    }
    let (over, huge) = ("x".repeat(201), "x".repeat(70_000));
    for bad in ["", "   ", "\n\t", "\u{3000}", &over, &huge] {
        for option in ["--name", "--model", "--capability"] {
            let mut words = vec!["agent", "register", option, bad];
            words.extend(["--name", "a"].into_iter().filter(|_| option != "--name"));
            let message = cli.refused_without_trace(&words);
            assert!(message.contains(option), "{message:.300}");
            let why = if bad.len() > 100 { "must be at most 200 characters" } else { "must not be empty" };
            assert!(message.contains(why), "{message:.300}");
            assert!(message.len() < 2_000, "the refusal of a long text is short: {}", message.len());
        }
    }
}

#[test]
fn a_hundred_capabilities_are_accepted_and_one_more_is_not() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let words = |count: usize| {
        let mut words = vec!["agent".to_owned(), "register".into(), "--name".into(), "a".into()];
        words.extend((0..count).flat_map(|number| ["--capability".to_owned(), format!("c{number}")]));
        words
    };
    assert_eq!(cli.data(words(100))["capabilities"].as_array().unwrap().len(), 100);
    let refused = cli.refused("INVALID_INPUT", words(101));
    assert_eq!(refused["details"]["field"], "capabilities");
    assert_eq!(cli.last_seq(), 1);
}

#[test]
fn over_the_json_interface_an_agent_has_a_worktree_only_when_it_names_one() {
    let library = Library::new();
    let bare = library.data("register_agent", json!({ "name": "a" }));
    assert!(bare.get("worktree").is_none(), "{bare}");
    let named = library.data("register_agent", json!({ "name": "a", "worktree": "." }));
    assert_eq!(named["worktree"], json!(library.sandbox.path("r")));
    for bad in ["", "/", "nowhere"] {
        let input = json!({ "name": "a", "worktree": bad });
        let failure = library.refusal(foremerge::failure::Code::InvalidInput, "register_agent", input);
        assert_eq!(failure.details["field"], "worktree", "{bad:?}");
    }
    write(&library.sandbox.path("r/a.rs"), "still there");
}

#[test]
fn of_a_namesake_its_open_work_can_be_adopted_and_a_silent_one_is_not_called_there() {
    let library = Library::new();
    let root = library.sandbox.path("r");
    let register = || library.data("register_agent", json!({ "name": "a", "worktree": root }));
    let first = text(&register()["id"]);
    let intent = text(&library.publish(&first, &["domain:d=add"])["intent"]["id"]);
    let warning = texts(&register()["warnings"]).remove(0);
    assert!(warning.contains("already") && warning.contains(&format!("work adopt {intent}")), "{warning}");
    library.world.pass(2 * 60 * 60 * 1_000);
    let third = register();
    let warning = texts(&third["warnings"]).remove(0);
    assert!(warning.contains(&first) && warning.contains("is silent"), "{warning}");
    assert!(warning.contains(&format!("work adopt {intent}")), "{warning}");
    let input = json!({ "intent_id": intent, "agent_id": third["id"], "reason": "restarted" });
    library.data("adopt_work", input);
    let warning = texts(&register()["warnings"]).remove(0);
    assert!(warning.contains(&text(&third["id"])) && warning.contains("already"), "{warning}");
    assert!(warning.contains(&format!("work adopt {intent}")), "{warning}");
    let input = json!({ "name": "a", "worktree": root });
    let screen = library.screen("register_agent", input, 200);
    assert!(screen.contains("\nwarning: 2 agents"), "{screen}");
    library.world.pass(2 * 60 * 60 * 1_000);
    library.data("discard_work", json!({ "intent_id": intent, "agent_id": third["id"], "reason": "r" }));
    library.world.pass(2 * 60 * 60 * 1_000);
    assert!(register().get("warnings").is_none(), "whoever left nothing behind concerns nobody");
}

#[test]
fn warnings_are_told_to_those_who_want_nothing_else() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let first = cli.agent("a");
    for face in ["--id-only", "--quiet"] {
        let ran = cli.run(["agent", "register", "--name", "a", face]);
        assert!(
            ran.stderr.contains("foremerge: warning: ") && ran.stderr.contains("already"),
            "{}",
            ran.stderr
        );
        let words = ["intent", "publish", "--agent", &first, "--task", "t", "--summary", "look around", face];
        let ran = cli.run(words);
        assert!(ran.stderr.starts_with("foremerge: warning: "), "{}", ran.stderr);
    }
}
