//! Making worktrees: stock git accepts every one, and refuses where git refuses, with nothing left behind.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use foremerge::git::worktree::{CreateError, Created, HookRun, Request};
use foremerge::git::{Repository, RevisionError};
use foremerge::world::Fake;

use crate::sandbox::{Sandbox, git, git_worktrees, try_git, write};
use crate::workplace::{listing, unchanged};

pub fn create_from(at: &Path, branch: &str, path: &Path, base: &str) -> Result<Created, CreateError> {
    let request = Request { branch, path, base };
    Repository::discover(at).unwrap().create_worktree(&Fake::new(1), &request)
}

pub fn create(at: &Path, branch: &str, path: &Path) -> Result<Created, CreateError> {
    create_from(at, branch, path, "HEAD")
}

/// What stock git must say of a new worktree.
#[track_caller]
pub fn is_good(at: &Path, created: &Created) {
    let (path, branch) = (created.path.as_path(), created.branch.as_str());
    let listed = git(at, &["worktree", "list", "--porcelain"]);
    let entry = format!("worktree {}\nHEAD {}\nbranch refs/heads/{branch}", path.display(), created.base);
    assert!(listed.split("\n\n").any(|found| found == entry), "{entry} is not in {listed}");
    assert_eq!(git(path, &["status", "--porcelain=v1", "--branch"]), format!("## {branch}"));
    assert_eq!(git(path, &["rev-parse", "HEAD"]), created.base);
    git(at, &["fsck", "--strict", "--no-dangling"]);
    assert_eq!(journals(at), [""; 0]);
}

/// What is left in the common directory of worktrees in the making.
pub fn journals(at: &Path) -> Vec<String> {
    let common = Repository::discover(at).unwrap().common_dir().to_owned();
    let names = std::fs::read_dir(common).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.contains("adding")).collect()
}

/// A refusal must leave the whole directory as it was, but for the file whose lock is the turn.
#[track_caller]
fn refused(sandbox: &Sandbox, at: &Path, branch: &str, path: &Path, base: &str) -> CreateError {
    // The lock file is made by the first call and stays.
    let _ = create(at, "-", path);
    let turn = Repository::discover(at).unwrap().common_dir().join("foremerge.lock");
    write(&turn, "");
    let before = listing(&sandbox.root);
    let error = create_from(at, branch, path, base).unwrap_err();
    unchanged(&before, &listing(&sandbox.root));
    error
}

#[test]
fn a_new_worktree_is_what_git_itself_would_have_made() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let made = create(&at, "topic/one", &sandbox.path("new/one")).unwrap();
    assert_eq!(made.path, sandbox.path("new/one"));
    assert_eq!((made.branch.as_str(), &made.hook), ("topic/one", &HookRun::Absent));
    assert_eq!(made.base, git(&at, &["rev-parse", "HEAD"]));
    is_good(&at, &made);
    git(&at, &["worktree", "add", "-q", "-b", "topic/two", "../new/two"]);
    for file in ["commondir", "HEAD", "gitdir"] {
        let read =
            |name: &str| std::fs::read_to_string(at.join(".git/worktrees").join(name).join(file)).unwrap();
        assert_eq!(read("one").replace("one", "two"), read("two"));
    }
    let index = |path: &str| git(&sandbox.path(path), &["ls-files", "--stage", "-v"]);
    assert_eq!(index("new/one"), index("new/two"));
    let reflog = |branch: &str| git(&at, &["reflog", "show", "--format=%gs", branch]);
    assert_eq!(reflog("topic/one"), reflog("topic/two"));
    assert_eq!(std::fs::read(made.path.join("src/deep/a.rs")).unwrap(), b"fn a() {}\n");
    git(&at, &["worktree", "move", "../new/one", "../moved"]);
    assert_eq!(git(&sandbox.path("moved"), &["status", "--porcelain"]), "");
    git(&at, &["worktree", "remove", "../moved"]);
    assert!(!sandbox.path("moved").exists());
    git(&at, &["branch", "-d", "topic/one"]);
}

#[test]
fn names_of_branches_are_refused_as_git_refuses_them() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["branch", "x"]);
    let tree = sandbox.path("tree");
    for branch in [
        "", "-x", "--force", "HEAD", "a..b", "a b", "a.lock", "@{-1}", "a/", "/a", "a//b", "a~1", ".a",
        "a\u{7f}",
    ] {
        let error = refused(&sandbox, &at, branch, &tree, "HEAD");
        assert!(matches!(error, CreateError::BranchName { .. }), "{branch}: {error}");
        let there = try_git(&at, &["check-ref-format", "--branch", branch]);
        // A shorthand for the branch before is no name either.
        assert!(!there.status.success() || branch.starts_with("@{"), "git takes {branch}");
    }
    let long = "x".repeat(251);
    assert!(matches!(refused(&sandbox, &at, &long, &tree, "HEAD"), CreateError::BranchName { .. }));
    let error = refused(&sandbox, &at, "x", &tree, "HEAD");
    assert_eq!(error, CreateError::BranchExists { branch: "x".into(), at: None });
    let error = refused(&sandbox, &at, "main", &tree, "HEAD");
    assert_eq!(error, CreateError::BranchExists { branch: "main".into(), at: Some(at.clone()) });
    git(&at, &["worktree", "add", "-q", "../linked", "x"]);
    let error = refused(&sandbox, &at, "x", &tree, "HEAD");
    assert_eq!(error, CreateError::BranchExists { branch: "x".into(), at: Some(sandbox.path("linked")) });
    assert_eq!(error.field(), Some("branch"));
}

#[test]
fn a_branch_that_would_be_a_directory_of_another_is_refused_packed_or_not() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["branch", "a/b"]);
    let tree = sandbox.path("tree");
    for _ in 0..2 {
        for branch in ["a", "a/b/c", "main/x"] {
            let error = refused(&sandbox, &at, branch, &tree, "HEAD");
            let with = if branch == "main/x" { "refs/heads/main" } else { "refs/heads/a/b" };
            assert_eq!(error, CreateError::BranchClash { branch: branch.into(), with: with.into() });
        }
        git(&at, &["pack-refs", "--all"]);
    }
}

#[test]
fn a_branch_that_another_worktree_is_about_to_make_is_refused() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["worktree", "add", "-q", "--orphan", "-b", "fresh", "../fresh"]);
    let error = refused(&sandbox, &at, "fresh", &sandbox.path("tree"), "HEAD");
    assert_eq!(error, CreateError::BranchAwaited { branch: "fresh".into(), at: sandbox.path("fresh") });
}

#[test]
fn a_path_that_is_not_free_is_refused() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    write(&sandbox.mkdir("full").join("mine"), "mine");
    write(&sandbox.path("file"), "mine");
    git(&at, &["worktree", "add", "-q", "--detach", "../gone"]);
    std::fs::remove_dir_all(sandbox.path("gone")).unwrap();
    let cases = [
        (sandbox.path("full"), "not empty"),
        (sandbox.path("file"), "a file is there"),
        (sandbox.path("file/below"), "Not a directory"),
        (sandbox.path("gone"), "git worktree prune"),
        (at.clone(), "not empty"),
        (at.join(".git/worktrees/mine"), "belongs to Git"),
        (PathBuf::from("relative"), "absolute"),
    ];
    for (path, why) in cases {
        let error = refused(&sandbox, &at, "topic", &path, "HEAD");
        assert!(matches!(error, CreateError::Path { .. }), "{error}");
        assert!(error.to_string().contains(why), "{error}");
    }
    git(&at, &["worktree", "prune"]);
    is_good(&at, &create(&at, "topic", &sandbox.path("gone")).unwrap());
}

#[test]
fn an_empty_directory_is_taken_and_stays_when_it_comes_to_nothing() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    is_good(&at, &create(&at, "one", &sandbox.mkdir("empty")).unwrap());
    write(&at.join(".gitattributes"), "*.rs filter=broken\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "filtered"]);
    git(&at, &["config", "filter.broken.smudge", "false"]);
    git(&at, &["config", "filter.broken.required", "true"]);
    sandbox.mkdir("another");
    for path in [sandbox.path("another"), sandbox.path("made/for/this")] {
        let error = refused(&sandbox, &at, "two", &path, "HEAD");
        assert!(matches!(error, CreateError::Git(_)), "{error}");
    }
    assert_eq!(git_worktrees(&at), [sandbox.path("empty"), at.clone()]);
}

#[test]
fn a_base_is_whatever_git_takes_for_one_commit() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["tag", "-a", "-m", "v", "v1"]);
    git(&at, &["commit", "-q", "--allow-empty", "-m", "second"]);
    git(&at, &["update-ref", "refs/remotes/origin/main", "HEAD~1"]);
    let first = git(&at, &["rev-parse", "HEAD~1"]);
    let short = &first[..8];
    for (number, base) in
        ["v1", "HEAD~1", "main^", "origin/main", "HEAD@{1}", short, &first, "v1^{}", "tags/v1"]
            .iter()
            .enumerate()
    {
        let branch = format!("b{number}");
        let made = create_from(&at, &branch, &sandbox.path(&branch), base).unwrap();
        assert_eq!(made.base, first, "{base}");
        let says = git(&at, &["reflog", "show", "--format=%gs", &branch]);
        assert_eq!(says, format!("branch: Created from {base}"));
        is_good(&at, &made);
    }
    // No upstream, whatever the start: an agent's branch is pushed under its own name or not at all.
    assert!(!try_git(&at, &["config", "branch.b3.merge"]).status.success());
    let tree = sandbox.path("tree");
    let blob = "HEAD:src/deep/a.rs";
    for base in ["HEAD..HEAD~1", "HEAD^{tree}", blob, "^HEAD"] {
        let error = refused(&sandbox, &at, "topic", &tree, base);
        assert!(matches!(error, CreateError::Base(RevisionError::NotACommit { .. })), "{base}: {error}");
    }
    for base in ["", "nope", "-", "--all", "-b", "HEAD~9", "v1^2", "@{-1}", "0123456", "\0", "a b"] {
        let error = refused(&sandbox, &at, "topic", &tree, base);
        assert!(matches!(error, CreateError::Base(RevisionError::Unknown { .. })), "{base}: {error}");
        assert_eq!(error.field(), Some("base"));
    }
}

#[test]
fn head_is_that_of_the_worktree_one_stands_in() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let first = git(&at, &["rev-parse", "HEAD"]);
    git(&at, &["worktree", "add", "-q", "--detach", "../linked"]);
    git(&at, &["commit", "-q", "--allow-empty", "-m", "second"]);
    let made = create(&sandbox.path("linked"), "topic", &sandbox.path("tree")).unwrap();
    assert_eq!(made.base, first);
    is_good(&at, &made);
}

#[test]
fn before_the_first_commit_there_is_nothing_to_start_from() {
    let sandbox = Sandbox::new();
    git(&sandbox.root, &["init", "-q", "-b", "main", "r"]);
    let error = refused(&sandbox, &sandbox.path("r"), "topic", &sandbox.path("tree"), "HEAD");
    assert_eq!(error, CreateError::Base(RevisionError::Unborn { revision: "HEAD".into() }));
}

#[test]
fn a_broken_entry_of_another_worktree_does_not_stop_a_new_one() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    for name in ["empty", "headless", "deleted", "nothing"] {
        git(&at, &["worktree", "add", "-q", "--detach", &format!("../{name}")]);
    }
    let admin = at.join(".git/worktrees");
    write(&admin.join("empty/gitdir"), "");
    std::fs::remove_file(admin.join("headless/HEAD")).unwrap();
    std::fs::remove_dir_all(sandbox.path("deleted")).unwrap();
    std::fs::remove_file(admin.join("nothing/gitdir")).unwrap();
    let made = create(&at, "topic", &sandbox.path("other/deleted")).unwrap();
    assert_eq!(git(&made.path, &["status", "--porcelain=v1", "--branch"]), "## topic");
    let name = std::fs::read_to_string(made.path.join(".git")).unwrap();
    assert!(name.ends_with("/worktrees/deleted1\n"), "a name of its own: {name}");
}

#[test]
fn a_lock_that_git_left_on_the_branch_is_named() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let lock = at.join(".git/refs/heads/topic.lock");
    write(&lock, "");
    let error = refused(&sandbox, &at, "topic", &sandbox.path("tree"), "HEAD");
    assert_eq!(error, CreateError::Busy { lock });
}

#[test]
fn the_index_is_left_so_that_no_file_counts_as_new_as_it() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    std::os::unix::fs::symlink("nowhere", at.join("link")).unwrap();
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "link"]);
    let made = create(&at, "topic", &sandbox.path("tree")).unwrap();
    let index = at.join(".git/worktrees/tree/index");
    let written = std::fs::metadata(&index).unwrap().mtime();
    let known = git(&made.path, &["ls-files", "--debug"]);
    let times: Vec<i64> = known
        .lines()
        .filter_map(|line| line.trim().strip_prefix("mtime: ")?.split(':').next()?.parse().ok())
        .collect();
    assert_eq!(times.len(), 2);
    assert!(times.iter().all(|time| *time < written), "{known} {written}");
    let before = std::fs::read(&index).unwrap();
    assert_eq!(git(&made.path, &["status", "--porcelain"]), "");
    assert_eq!(std::fs::read(&index).unwrap(), before, "git had nothing to put right");
    // Of the same length, in the same second as like as not.
    write(&made.path.join("src/deep/a.rs"), "fn b() {}\n");
    assert_eq!(git(&made.path, &["status", "--porcelain"]), " M src/deep/a.rs");
}
