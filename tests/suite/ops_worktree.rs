//! `worktree create` and `worktree list`, as people and programs see them.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::cli::{self, string, text, texts};
use crate::sandbox::{Sandbox, git, write};

#[test]
fn a_worktree_is_made_without_a_ledger_and_relative_to_cwd() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let cli = cli::at(&sandbox.root);
    let base = git(&at, &["rev-parse", "HEAD"]);
    let create =
        ["--cwd", "r/src", "worktree", "create", "--branch", "agent/one", "--path", "../../trees/one"];
    assert_eq!(
        cli.data(create),
        json!({ "branch": "agent/one", "path": sandbox.path("trees/one"), "base": base, "created": true })
    );
    assert!(!at.join(".git/foremerge").exists());
    assert_eq!(git(&sandbox.path("trees/one"), &["status", "--porcelain=v1", "--branch"]), "## agent/one");
    let again = cli.refused("INVALID_INPUT", create);
    assert_eq!(again["details"]["field"], "branch");
    let shown =
        cli::at(&at).shown(["worktree", "create", "--branch", "two", "--path", "../two", "--base", "HEAD"]);
    let two = sandbox.path("two").display().to_string();
    let made = format!("Made a worktree at {two}\nbranch  two\nbase    {base}\n");
    assert!(shown.starts_with(&made), "{shown}");
    assert!(shown.ends_with(&format!("\n  foremerge -C {two} agent register --name NAME\n")), "{shown}");
}

#[test]
fn refusals_name_the_field_and_leave_nothing_behind() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let cli = cli::at(&at);
    let create =
        |branch, path, base| ["worktree", "create", "--branch", branch, "--path", path, "--base", base];
    for (words, field) in [
        (create("-x", "../t", "HEAD"), "branch"),
        (create("main", "../t", "HEAD"), "branch"),
        (create("main/x", "../t", "HEAD"), "branch"),
        (create("t", ".", "HEAD"), "path"),
        (create("t", ".git/hooks/x", "HEAD"), "path"),
        (create("t", "../t", "--all"), "base"),
        (create("t", "../t", "HEAD^{tree}"), "base"),
        (create("t", "../t", ""), "base"),
    ] {
        let error = cli.refused("INVALID_INPUT", words);
        assert_eq!(error["details"]["field"], field, "{error}");
    }
    assert_eq!(git(&at, &["branch", "--format=%(refname)"]), "refs/heads/main");
    assert!(!sandbox.path("t").exists());
    cli::at(&sandbox.root).refused("NOT_A_REPOSITORY", create("t", "t", "HEAD"));
    cli::at(&sandbox.root).refused("NOT_A_REPOSITORY", ["worktree", "list"]);
}

#[test]
fn a_path_that_looks_like_an_option_is_a_path() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let made = cli::at(&at).data(["worktree", "create", "--branch", "t", "--path", "-x"]);
    assert_eq!(made["path"], string(&at.join("-x")));
}

#[test]
fn a_hook_that_fails_ends_the_command_with_bad_news_and_keeps_standard_output_clean() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let hook = at.join(".git/hooks/post-checkout");
    write(&hook, "#!/bin/sh\necho noise\nexit 3\n");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = cli::at(&at).run(["--json", "worktree", "create", "--branch", "t", "--path", "../t"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (6, "noise\n"));
    let envelope = ran.envelope();
    assert_eq!((&envelope["ok"], &envelope["data"]["created"]), (&json!(true), &json!(true)));
    let warning = text(&envelope["data"]["warnings"][0]);
    assert!(warning.contains("post-checkout failed: it ended with exit status 3"), "{warning}");
    assert_eq!(git(&sandbox.path("t"), &["status", "--porcelain"]), "");
}

#[test]
fn the_list_shows_who_works_where() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let head = git(&at, &["rev-parse", "HEAD"]);
    let cli = cli::at(&at);
    let tree = cli.data(["worktree", "create", "--branch", "topic", "--path", "../tree"]);
    let main = json!({ "path": at, "branch": "main", "head": head, "present": true, "dirty": 0, "agents": [], "claims": 0 });
    let mut linked = main.clone();
    linked["path"] = tree["path"].clone();
    linked["branch"] = json!("topic");
    assert_eq!(cli.data(["worktree", "list"]), json!([main, linked]), "no ledger is needed");

    let initialized = cli::initialized(&at);
    let agents: Vec<_> =
        ["one", "two"].map(|name| cli::at(sandbox.path("tree")).agent(name)).into_iter().collect();
    initialized.data(["agent", "register", "--name", "three", "--no-worktree"]);
    write(&sandbox.path("tree/new"), "");
    linked["agents"] = json!([{ "id": agents[0], "name": "one" }, { "id": agents[1], "name": "two" }]);
    linked["dirty"] = json!(1);
    let published = initialized.publish(&agents[0], &["symbol:X=add"]);
    let intent = text(&published["intent"]["id"]);
    let claim = ["work", "claim", "--agent", &agents[0], "--intent", &intent];
    initialized.data(claim.iter().chain(&["--scope", "symbol:X", "--scope", "symbol:Y"]));
    linked["claims"] = json!(2);
    assert_eq!(cli.data(["worktree", "list"]), json!([main, linked]));
    let shown = cli::at(sandbox.path("tree/src")).shown(["worktree", "list"]);
    let lines: Vec<_> =
        shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines[0], "BRANCH HEAD FILES CLAIMED AGENTS WORKTREE");
    let short = &head[..12];
    let tree = sandbox.path("tree").display().to_string();
    assert_eq!(lines[2..].join(" "), format!("topic {short} 1 dirty 2 claims one, two {tree}"));
}

#[test]
fn a_detached_and_a_missing_worktree_are_shown_as_such() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["worktree", "add", "-q", "--detach", "../a"]);
    git(&at, &["worktree", "add", "-q", "-b", "topic", "../gone"]);
    std::fs::remove_dir_all(sandbox.path("gone")).unwrap();
    let listed = cli::at(&at).data(["worktree", "list"]);
    assert!(listed[1].get("branch").is_none(), "{listed}");
    assert_eq!((&listed[2]["present"], listed[2].get("dirty")), (&json!(false), None));
    let shown = cli::at(&at).shown(["worktree", "list"]);
    assert!(shown.contains("(detached)") && shown.contains("gone"), "{shown}");
    let paths =
        texts(&json!(listed.as_array().unwrap().iter().map(|row| row["path"].clone()).collect::<Vec<_>>()));
    assert_eq!(paths, [string(&at), string(&sandbox.path("a")), string(&sandbox.path("gone"))]);
}
