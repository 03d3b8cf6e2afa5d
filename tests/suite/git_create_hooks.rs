//! The post-checkout hook of a new worktree: found, run and reported as stock git does it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use foremerge::git::Repository;
use foremerge::git::worktree::{Created, HookRun, Request};
use foremerge::world::{Fake, Real, World};

use crate::sandbox::{Sandbox, git, try_git, write};

fn hook(path: &Path, script: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    write(path, script);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn create_in(world: &dyn World, at: &Path, branch: &str, path: &Path) -> Created {
    let request = Request { branch, path, base: "HEAD" };
    Repository::discover(at).unwrap().create_worktree(world, &request).unwrap()
}

/// A hook that notes where and how it runs, in a file named after the worktree.
fn noting(sandbox: &Sandbox) -> String {
    let log = sandbox.mkdir("log");
    format!(
        "#!/bin/sh\nexec > {}/$(basename $(pwd)) 2>&1\necho \"$0\"; pwd; echo \"$@\"; git rev-parse --git-dir --abbrev-ref HEAD\n\
         env | grep -E '^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR)='; readlink /proc/self/fd/0\n",
        log.display()
    )
}

/// What the hook noted of a worktree of ours and of one of git's, made from `from`.
#[track_caller]
fn same_as_git(sandbox: &Sandbox, from: &Path) -> String {
    let made = create_in(&Real, from, "ours", &sandbox.path("ours"));
    assert_eq!(made.hook, HookRun::Succeeded);
    let theirs = sandbox.path("theirs");
    git(from, &["worktree", "add", "-q", "-b", "theirs", theirs.to_str().unwrap()]);
    let noted = |name: &str| std::fs::read_to_string(sandbox.path("log").join(name)).unwrap();
    let ours = noted("ours");
    assert_eq!(ours.replace("ours", "theirs"), noted("theirs"));
    ours
}

#[test]
fn the_hook_of_the_common_directory_runs_as_git_runs_it() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    hook(&at.join(".git/hooks/post-checkout"), &noting(&sandbox));
    let noted = same_as_git(&sandbox, &at);
    let head = git(&at, &["rev-parse", "HEAD"]);
    let tree = sandbox.path("ours");
    assert!(noted.contains(&format!("{}\n{} {head} 1\n", tree.display(), "0".repeat(40))), "{noted}");
    assert!(noted.ends_with("/dev/null\n"), "{noted}");
}

#[test]
fn a_hooks_path_counts_from_the_worktree_the_command_ran_in() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["config", "core.hooksPath", ".husky/_"]);
    git(&at, &["worktree", "add", "-q", "--detach", "../linked"]);
    hook(&sandbox.path("linked/.husky/_/post-checkout"), &noting(&sandbox));
    hook(&at.join(".git/hooks/post-checkout"), "#!/bin/sh\nexit 1\n");
    let noted = same_as_git(&sandbox, &sandbox.path("linked"));
    assert!(noted.contains("linked/.husky/_/post-checkout"), "{noted}");
    let made = create_in(&Real, &at, "none", &sandbox.path("none"));
    assert_eq!(made.hook, HookRun::Absent, "the main worktree has no such directory");
}

#[test]
fn an_absolute_hooks_path_and_one_without_a_shell_line_work() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let script = noting(&sandbox).replace("#!/bin/sh\n", "");
    hook(&sandbox.path("hooks/post-checkout"), &script);
    git(&at, &["config", "core.hooksPath", sandbox.path("hooks").to_str().unwrap()]);
    same_as_git(&sandbox, &at);
}

#[test]
fn an_empty_hooks_path_is_the_root_of_the_file_system_as_with_git() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    hook(&at.join(".git/hooks/post-checkout"), &noting(&sandbox));
    git(&at, &["config", "core.hooksPath", ""]);
    let made = create_in(&Real, &at, "ours", &sandbox.path("ours"));
    assert_eq!(made.hook, HookRun::Absent);
    git(&at, &["worktree", "add", "-q", "-b", "gits", "../gits"]);
    assert!(!sandbox.path("log/gits").exists() && !sandbox.path("log/ours").exists(), "git runs it neither");
}

#[test]
fn a_bare_repository_and_one_with_sha256_run_theirs() {
    let sandbox = Sandbox::new();
    sandbox.repository_with("origin", &["--object-format=sha256"]);
    git(&sandbox.root, &["clone", "-q", "--bare", "origin", "store.git"]);
    let bare = sandbox.path("store.git");
    hook(&bare.join("hooks/post-checkout"), &noting(&sandbox));
    let noted = same_as_git(&sandbox, &bare);
    assert!(noted.contains(&"0".repeat(64)), "{noted}");
}

#[test]
fn a_hook_that_fails_leaves_the_worktree_and_is_told_of() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let path = at.join(".git/hooks/post-checkout");
    hook(&path, "#!/bin/sh\nexit 3\n");
    assert_eq!(try_git(&at, &["worktree", "add", "-b", "git", "../git"]).status.code(), Some(3));
    let failed = |how: &str| HookRun::Failed { hook: path.clone(), how: how.to_owned() };
    let made = create_in(&Real, &at, "three", &sandbox.path("three"));
    assert_eq!(made.hook, failed("it ended with exit status 3"));
    assert_eq!(git(&made.path, &["status", "--porcelain=v1", "--branch"]), "## three");
    hook(&path, "#!/bin/sh\nkill -9 $$\n");
    assert_eq!(create_in(&Real, &at, "killed", &sandbox.path("killed")).hook, failed("it was killed"));
    hook(&path, "#!/nonexistent\n");
    let HookRun::Failed { how, .. } = create_in(&Real, &at, "lost", &sandbox.path("lost")).hook else {
        panic!()
    };
    assert!(how.starts_with("it cannot be started: "), "{how}");
}

#[test]
fn a_hook_that_is_not_executable_is_ignored_and_said_so() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let path = at.join(".git/hooks/post-checkout");
    hook(&path, "#!/bin/sh\nexit 3\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(try_git(&at, &["worktree", "add", "-b", "git", "../git"]).status.success());
    let made = create_in(&Real, &at, "ours", &sandbox.path("ours"));
    assert_eq!(made.hook, HookRun::Ignored { hook: path });
}

#[test]
fn no_hook_runs_for_a_worktree_that_came_to_nothing() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    hook(&at.join(".git/hooks/post-checkout"), "");
    let world = Fake::new(1);
    let request = Request { branch: "main", path: &sandbox.path("tree"), base: "HEAD" };
    Repository::discover(&at).unwrap().create_worktree(&world, &request).unwrap_err();
    assert!(world.hooks().is_empty());
    let world = Fake::new(1).whose_hooks_end_with(None);
    let made = create_in(&world, &at, "topic", &sandbox.path("tree"));
    assert!(matches!(made.hook, HookRun::Failed { .. }));
    assert_eq!(world.hooks(), [at.join(".git/hooks/post-checkout")]);
}

#[test]
fn a_hook_may_make_a_worktree_itself() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let foremerge = env!("CARGO_BIN_EXE_foremerge");
    let inner = sandbox.path("inner");
    let script = format!(
        "#!/bin/sh\ntest -e {0} || {foremerge} worktree create --branch inner --path {0}\n",
        inner.display()
    );
    hook(&at.join(".git/hooks/post-checkout"), &script);
    assert_eq!(create_in(&Real, &at, "outer", &sandbox.path("outer")).hook, HookRun::Succeeded);
    assert_eq!(git(&inner, &["status", "--porcelain=v1", "--branch"]), "## inner");
}
