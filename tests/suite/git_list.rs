//! The list of worktrees beside stock git's, and how much of each is not committed.

use std::collections::BTreeSet;
use std::path::Path;

use foremerge::git::worktree::Worktree;
use foremerge::git::{Exclusions, Repository};

use crate::sandbox::{Sandbox, append, git, git_command, try_git, write};

fn list(at: &Path) -> Vec<Worktree> {
    Repository::discover(at).unwrap().worktrees().unwrap()
}

/// How many paths stock git names.
fn git_counts(at: &Path) -> u64 {
    let mut command =
        git_command(at, &["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]);
    let output = command.output().unwrap();
    assert!(output.status.success());
    let entries = output.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    entries.map(|entry| entry[3..].to_vec()).collect::<BTreeSet<_>>().len() as u64
}

/// Ours says what git says of every worktree.
#[track_caller]
fn agrees(at: &Path) -> Vec<Worktree> {
    let ours = list(at);
    let shown = |worktree: &Worktree| {
        let head = worktree.head.as_ref().unwrap();
        let null = "0".repeat(40);
        let commit = head.commit.as_deref().unwrap_or(&null);
        match &head.branch {
            Some(branch) => format!("{} {commit} refs/heads/{branch}", worktree.path.display()),
            None => format!("{} {commit} detached", worktree.path.display()),
        }
    };
    let theirs: BTreeSet<_> = git(at, &["worktree", "list", "--porcelain"])
        .split("\n\n")
        .filter(|entry| !entry.contains("\nbare"))
        .map(|entry| {
            let words: Vec<_> = entry
                .lines()
                .filter(|line| !line.starts_with("prunable") && !line.starts_with("locked"))
                .map(|line| line.split_once(' ').map_or(line, |(_, value)| value).to_owned())
                .collect();
            words.join(" ")
        })
        .collect();
    assert_eq!(ours.iter().map(shown).collect::<BTreeSet<_>>(), theirs);
    for worktree in ours.iter().filter(|worktree| worktree.present) {
        assert_eq!(worktree.dirty, Some(git_counts(&worktree.path)), "{worktree:?}");
        assert_eq!(worktree.problem, None);
    }
    ours
}

#[test]
fn branches_commits_detached_and_unborn_heads_are_told_apart() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["worktree", "add", "-q", "-b", "topic/x", "../z"]);
    git(&at, &["worktree", "add", "-q", "--detach", "../a"]);
    git(&at, &["worktree", "add", "-q", "--orphan", "-b", "fresh", "../m"]);
    let listed = agrees(&at);
    let paths: Vec<_> = listed.iter().map(|worktree| worktree.path.clone()).collect();
    assert_eq!(paths, [at.clone(), sandbox.path("a"), sandbox.path("m"), sandbox.path("z")]);
    assert_eq!(agrees(&sandbox.path("z")), listed, "the same from everywhere");
}

#[test]
fn every_kind_of_change_is_counted_once() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    for name in ["staged", "both", "gone", "mode", "link", "removed"] {
        write(&at.join(name), name);
    }
    write(&at.join(".gitignore"), "ignored\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "files"]);
    assert_eq!(agrees(&at)[0].dirty, Some(0));
    append(&at.join("staged"), "x");
    append(&at.join("both"), "x");
    git(&at, &["add", "."]);
    append(&at.join("both"), "y");
    std::fs::remove_file(at.join("gone")).unwrap();
    git(&at, &["rm", "-q", "--cached", "removed"]);
    std::fs::remove_file(at.join("link")).unwrap();
    std::os::unix::fs::symlink("staged", at.join("link")).unwrap();
    write(&at.join("ignored"), "x");
    for name in ["new", "with space", "new\nline", "d/e/f", "d/g"] {
        std::fs::create_dir_all(at.join(name).parent().unwrap()).unwrap();
        write(&at.join(name), name);
    }
    for untracked in ["all", "no", "normal"] {
        git(&at, &["config", "status.showUntrackedFiles", untracked]);
        assert_eq!(agrees(&at)[0].dirty, Some(10));
    }
    let before = std::fs::read(at.join(".git/index")).unwrap();
    list(&at);
    assert_eq!(std::fs::read(at.join(".git/index")).unwrap(), before);
}

#[test]
fn what_is_hidden_from_git_counts_as_it_does_in_a_snapshot() {
    let sandbox = Sandbox::new();
    let part = sandbox.repository("part");
    let at = sandbox.repository("r");
    let url = part.to_str().unwrap();
    git(&at, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "sub"]);
    git(&at, &["commit", "-q", "-m", "sub"]);
    git(&at, &["config", "submodule.sub.ignore", "all"]);
    git(&at, &["update-index", "--assume-unchanged", "src/deep/a.rs"]);
    assert_eq!(agrees(&at)[0].dirty, Some(0));
    write(&at.join("src/deep/a.rs"), "changed");
    write(&at.join("sub/new"), "new");
    assert_eq!(git(&at, &["status", "--porcelain"]), "");
    assert_eq!(list(&at)[0].dirty, Some(2));
    let snapshot = Repository::discover(&at).unwrap().snapshot(b"", &Exclusions::default()).unwrap();
    assert_eq!(snapshot.changed_paths().len(), 2);
}

#[test]
fn conflicts_are_counted_as_git_counts_them() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    for name in ["both", "ours-gone", "theirs-gone"] {
        write(&at.join(name), "base\n");
    }
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "base"]);
    git(&at, &["checkout", "-q", "-b", "other"]);
    for (name, side) in [("both", "other\n"), ("ours-gone", "other\n"), ("added", "other\n")] {
        write(&at.join(name), side);
    }
    git(&at, &["rm", "-q", "theirs-gone"]);
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "other"]);
    git(&at, &["checkout", "-q", "main"]);
    for (name, side) in [("both", "main\n"), ("theirs-gone", "main\n"), ("added", "main\n")] {
        write(&at.join(name), side);
    }
    git(&at, &["rm", "-q", "ours-gone"]);
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "main"]);
    assert!(!try_git(&at, &["merge", "other"]).status.success());
    assert_eq!(agrees(&at)[0].dirty, Some(4));
}

#[test]
fn a_worktree_that_is_gone_is_listed_with_what_is_known() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["worktree", "add", "-q", "-b", "topic", "../gone"]);
    std::fs::remove_dir_all(sandbox.path("gone")).unwrap();
    let listed = agrees(&at);
    let gone = &listed[1];
    assert_eq!(
        (gone.path.as_path(), gone.present, gone.dirty),
        (sandbox.path("gone").as_path(), false, None)
    );
    assert_eq!(gone.head.as_ref().unwrap().branch.as_deref(), Some("topic"));
    sandbox.repository("gone");
    assert!(!list(&at)[1].present, "another repository is there now");
}

#[test]
fn what_is_wrong_with_one_worktree_is_said_with_it() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    for name in ["headless", "broken", "sparse", "fine"] {
        git(&at, &["worktree", "add", "-q", "-b", name, &format!("../{name}")]);
    }
    git(&sandbox.path("sparse"), &["sparse-checkout", "set", "--sparse-index", "nothing"]);
    let admin = at.join(".git/worktrees");
    std::fs::remove_file(admin.join("headless/HEAD")).unwrap();
    write(&admin.join("broken/index"), "no index");
    let listed = list(&at);
    let dirty = |name: &str| {
        let found = listed.iter().find(|worktree| worktree.path == sandbox.path(name)).unwrap();
        assert_eq!(found.problem.is_none(), found.dirty.is_some(), "{found:?}");
        found.dirty
    };
    assert_eq!(
        (dirty("headless"), dirty("broken"), dirty("sparse"), dirty("fine")),
        (None, None, None, Some(0))
    );
}

#[test]
fn a_worktree_moved_by_hand_is_listed_where_one_stands() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["worktree", "add", "-q", "-b", "topic", "../old"]);
    std::fs::rename(sandbox.path("old"), sandbox.path("new")).unwrap();
    let listed = list(&sandbox.path("new"));
    let paths: Vec<_> = listed.iter().map(|worktree| (worktree.path.clone(), worktree.present)).collect();
    assert_eq!(paths, [(at, true), (sandbox.path("new"), true)]);
}

#[test]
fn bare_and_separate_repositories_list_what_git_lists() {
    let sandbox = Sandbox::new();
    sandbox.repository("origin");
    git(&sandbox.root, &["clone", "-q", "--bare", "origin", "store.git"]);
    let bare = sandbox.path("store.git");
    git(&bare, &["worktree", "add", "-q", "../one", "main"]);
    assert_eq!(agrees(&bare).len(), 1);
    assert_eq!(agrees(&sandbox.path("one")).len(), 1);
    let main = sandbox.repository_with("main", &["--separate-git-dir=apart"]);
    git(&main, &["worktree", "add", "-q", "-b", "topic", "../linked"]);
    assert_eq!(list(&main).len(), 2);
}
