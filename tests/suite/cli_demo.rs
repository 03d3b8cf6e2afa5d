//! The demonstration, run as a stranger would who has just installed it.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::{self, string};
use crate::sandbox::{Sandbox, git, scrubbed, write};

/// What the demonstration ends with: the overview of work that goes on in agreement.
fn ends_in_agreement(story: &str) {
    let (_, overview) = story.rsplit_once("$ foremerge status\n").unwrap_or_else(|| panic!("{story}"));
    assert!(
        overview.starts_with(
            "No open conflicts.
"
        ),
        "{overview}"
    );
    for part in [
        "
WORK 2  CLAIMED 1  IN_PROGRESS 1
",
        "
CLAIMS 2
",
        "
AGENTS 2
",
    ] {
        assert!(overview.contains(part), "{part:?} in {overview}");
    }
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn the_demonstration_shows_a_collision_and_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let (temporary, here) = (sandbox.mkdir("tmp"), sandbox.mkdir("here"));
    let cli = cli::at(&here).with("TMPDIR", &temporary);
    let story = cli.shown(["demo"]);
    ends_in_agreement(&story);
    assert!(story.contains("paypal $ foremerge intent publish --agent agt_"), "{story}");
    assert!(story.contains("are as they were recorded"), "{story}");
    assert!(is_empty(&temporary) && is_empty(&here));
}

#[test]
fn the_demonstration_clears_up_even_when_nobody_reads_on() {
    let sandbox = Sandbox::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = scrubbed(env!("CARGO_BIN_EXE_foremerge"));
    let output = command.arg("demo").env("TMPDIR", &sandbox.root).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    assert!(is_empty(&sandbox.root));
}

#[test]
fn the_demonstration_in_json_is_one_envelope_per_command() {
    let sandbox = Sandbox::new();
    let cli = cli::at(&sandbox.root).with("TMPDIR", &sandbox.root);
    let ran = cli.run(["demo", "--json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let answers: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answers.iter().all(|answer| answer["ok"] == true));
    let status = &answers.last().unwrap()["data"];
    assert_eq!(status["counts"], json!({ "agents": 2, "claims": 2, "conflicts": 0, "waiting": 1 }));
    let resolved = answers.iter().find(|answer| answer["data"]["decision"].is_object()).unwrap();
    assert_eq!(
        (&resolved["data"]["severity"], &resolved["data"]["status"]),
        (&json!("HIGH"), &json!("RESOLVED"))
    );
}

#[test]
fn a_kept_demonstration_is_a_repository_that_git_finds_clean() {
    let sandbox = Sandbox::new();
    let cli = cli::at(sandbox.mkdir("elsewhere"));
    let story = cli.shown(["-C", string(&sandbox.root), "demo", "--keep", "new/demo"]);
    let kept = sandbox.path("new/demo");
    assert!(story.contains(&format!("Everything is in {}", string(&kept))), "{story}");
    assert!(is_empty(&sandbox.path("elsewhere")), "--keep starts at --cwd");
    let (overview, _) = story.rsplit_once("Everything is in").unwrap();
    ends_in_agreement(overview);
    for (worktree, branch) in [("shop", "main"), ("stripe", "stripe"), ("paypal", "paypal")] {
        let worktree = kept.join(worktree);
        assert_eq!(git(&worktree, &["status", "--porcelain", "--branch"]), format!("## {branch}"));
        assert_eq!(git(&worktree, &["status", "--porcelain", "--ignored"]), "");
        git(&worktree, &["fsck", "--strict"]);
        let status = cli::at(&worktree).data(["status"]);
        assert_eq!(status["counts"]["claims"], 2);
    }
    assert_eq!(cli::at(kept.join("shop")).data(["events", "audit"])["valid"], true);
}

#[test]
fn a_directory_in_use_is_refused_and_left_alone() {
    let sandbox = Sandbox::new();
    let cli = cli::at(&sandbox.root);
    let full = sandbox.mkdir("full");
    write(&full.join("mine"), "mine");
    for bad in ["full", "full/mine", "full/mine/below"] {
        let error = cli.refused("INVALID_INPUT", ["demo", "--keep", bad]);
        assert_eq!(error["details"]["field"], "keep", "{bad}");
    }
    assert_eq!(std::fs::read_dir(&full).unwrap().count(), 1);
    cli.shown(["demo", "--keep", string(&sandbox.mkdir("empty"))]);
}

#[test]
fn neither_git_configuration_nor_environment_gets_into_the_demonstration() {
    let sandbox = Sandbox::new();
    let home = sandbox.mkdir("home");
    let other = sandbox.repository("other");
    let trap = sandbox.path("trap");
    write(
        &home.join(".gitconfig"),
        &format!(
            "[core]\n\tautocrlf = true\n\tbare = true\n\thooksPath = {trap}\n\tworktree = {trap}\n\tfileMode = false\n\
             \tfsmonitor = {trap}\n\tattributesFile = {trap}\n\texcludesFile = {trap}\n\
             [init]\n\tdefaultBranch = other\n\tdefaultObjectFormat = sha256\n\tdefaultRefFormat = reftable\n\
             \ttemplateDir = {trap}\n[commit]\n\tgpgSign = true\n[user]\n\tuseConfigOnly = true\n\
             [safe]\n\tbareRepository = explicit\n[extensions]\n\tworktreeConfig = true\n\
             [include]\n\tpath = {trap}/none\n[alias]\n\tstatus = !touch {trap}\n",
            trap = string(&trap)
        ),
    );
    let cli = cli::at(&other)
        .with("HOME", &home)
        .with("TMPDIR", sandbox.mkdir("tmp"))
        .with("FOREMERGE_AGENT", "agt_00000000")
        .with("FOREMERGE_DB", sandbox.path("foreign/ledger"))
        .with("GIT_DIR", other.join(".git"))
        .with("GIT_WORK_TREE", &other)
        .with("GIT_INDEX_FILE", other.join(".git/index"))
        .with("GIT_CONFIG_GLOBAL", "/nonexistent")
        .with("GIT_AUTHOR_DATE", "nonsense");
    ends_in_agreement(&cli.shown(["demo"]));
    let kept = sandbox.path("kept");
    cli.shown(["demo", "--keep", string(&kept)]);
    assert_eq!(git(&kept.join("shop"), &["status", "--porcelain", "--branch"]), "## main");
    assert!(is_empty(&sandbox.path("tmp")) && !trap.exists() && !sandbox.path("foreign").exists());
    assert!(!other.join(".git/foremerge").exists());
    assert_eq!(git(&other, &["status", "--porcelain"]), "");
}
