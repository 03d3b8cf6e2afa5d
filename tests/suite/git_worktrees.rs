//! Repositories that are more than one directory: linked worktrees, bare stores, separate Git directories, submodules.

use foremerge::git::Repository;

use crate::agreement::{agree, sorted_roots};
use crate::sandbox::{Sandbox, git, git_worktrees, write};

#[test]
fn linked_worktrees_share_one_common_directory() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let linked = sandbox.path("linked with space");
    git(&main, &["worktree", "add", "-q", "-b", "topic", "../linked with space"]);
    git(&main, &["worktree", "add", "-q", "--detach", "inner"]);
    for dir in [linked.join("src/deep"), main.join("inner"), main.clone()] {
        let found = agree(&dir);
        assert_eq!(found.common_dir(), main.join(".git"));
        assert_eq!(found.is_linked_worktree(), !dir.ends_with("main"));
        assert_eq!(sorted_roots(&found), git_worktrees(&main));
    }
    let admin = agree(&main.join(".git/worktrees/inner"));
    assert!(admin.is_linked_worktree());
    assert_eq!(admin.worktree_root(), None);
}

#[test]
fn a_bare_repository_and_its_sibling_worktrees_are_one_repository() {
    let sandbox = Sandbox::new();
    sandbox.repository("origin");
    let project = sandbox.mkdir("project");
    git(&project, &["clone", "-q", "--bare", "../origin", "store.git"]);
    let bare = project.join("store.git");
    git(&bare, &["worktree", "add", "-q", "../one", "main"]);
    git(&bare, &["worktree", "add", "-q", "-b", "two", "../two"]);
    for dir in [bare.clone(), bare.join("refs"), project.join("one/src"), project.join("two")] {
        let found = agree(&dir);
        assert_eq!(found.common_dir(), bare);
        assert_eq!(sorted_roots(&found), [project.join("one"), project.join("two")]);
        assert_eq!(sorted_roots(&found), git_worktrees(&bare));
    }
}

#[test]
fn a_bare_repository_with_worktree_configuration_keeps_its_worktrees() {
    let sandbox = Sandbox::new();
    sandbox.repository("origin");
    git(&sandbox.root, &["clone", "-q", "--bare", "origin", "store.git"]);
    let bare = sandbox.path("store.git");
    git(&bare, &["config", "extensions.worktreeConfig", "true"]);
    git(&bare, &["config", "--unset", "core.bare"]);
    git(&bare, &["config", "--worktree", "core.bare", "true"]);
    git(&bare, &["worktree", "add", "-q", "../one", "main"]);
    for dir in [bare, sandbox.path("one")] {
        assert_eq!(sorted_roots(&agree(&dir)), [sandbox.path("one")]);
    }
}

#[test]
fn a_bare_repository_named_dot_git_has_no_main_worktree() {
    let sandbox = Sandbox::new();
    sandbox.repository("origin");
    let project = sandbox.mkdir("project");
    git(&project, &["clone", "-q", "--bare", "../origin", ".git"]);
    git(&project, &["worktree", "add", "-q", "tree", "main"]);
    assert_eq!(sorted_roots(&agree(&project.join("tree"))), [project.join("tree")]);
    let found = Repository::discover(&project).unwrap();
    assert_eq!(found.worktree_root(), None);
    assert_eq!(sorted_roots(&found), [project.join("tree")]);
}

#[test]
fn a_separate_git_directory_is_followed() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository_with("main", &["--separate-git-dir=store"]);
    let found = agree(&main.join("src"));
    assert_eq!(found.common_dir(), sandbox.path("store"));
    assert!(!found.is_linked_worktree());
    assert_eq!(sorted_roots(&found), [main]);
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let sandbox = Sandbox::new();
    sandbox.repository("library");
    let main = sandbox.repository("main");
    git(
        &main,
        &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../library", "vendor/library"],
    );
    let found = agree(&main.join("vendor/library/src"));
    assert_eq!(found.common_dir(), main.join(".git/modules/vendor/library"));
    assert_eq!(found.worktree_root(), Some(main.join("vendor/library").as_path()));
    assert_eq!(sorted_roots(&found), [main.join("vendor/library")]);
    assert_eq!(agree(&main.join("vendor")).common_dir(), main.join(".git"));

    git(&main.join("vendor/library"), &["worktree", "add", "-q", "-b", "topic", "../../../beside"]);
    let beside = agree(&sandbox.path("beside"));
    assert_eq!(beside.common_dir(), found.common_dir());
    assert_eq!(sorted_roots(&beside), [sandbox.path("beside"), main.join("vendor/library")]);
}

#[test]
fn core_worktree_decides_where_the_worktree_is() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let other = sandbox.mkdir("other");
    git(&main, &["config", "core.worktree", "../../other"]);
    let found = Repository::discover(&main).unwrap();
    assert_eq!(git(&main, &["rev-parse", "--show-toplevel"]), other.to_str().unwrap());
    assert_eq!(found.worktree_root(), Some(other.as_path()));
}

#[test]
fn a_worktree_moved_by_hand_works_where_git_works() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &["worktree", "add", "-q", "-b", "topic", "../old"]);
    std::fs::rename(sandbox.path("old"), sandbox.path("new")).unwrap();
    // Ours first: git mends the entry while it answers.
    let found = Repository::discover(&sandbox.path("new/src")).unwrap();
    assert_eq!(found.worktree_root(), Some(sandbox.path("new").as_path()));
    assert_eq!(sorted_roots(&found), [main.clone(), sandbox.path("new")]);
    assert_eq!(sorted_roots(&agree(&main)), [main]);
    agree(&sandbox.path("new"));
}

#[test]
fn worktrees_that_are_gone_and_broken_entries_are_left_out() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    for name in ["kept", "deleted", "replaced", "taken", "broken", "empty"] {
        git(&main, &["worktree", "add", "-q", "--detach", &format!("../{name}")]);
    }
    for name in ["deleted", "replaced", "taken"] {
        std::fs::remove_dir_all(sandbox.path(name)).unwrap();
    }
    let other = sandbox.repository("replaced");
    git(&other, &["worktree", "add", "-q", "--detach", "../taken"]);
    write(&main.join(".git/worktrees/empty/gitdir"), "");
    write(&main.join(".git/worktrees/broken/gitdir"), "\0 not a path \n/.git");
    sandbox.mkdir("main/.git/worktrees/stray");
    for dir in [main.clone(), sandbox.path("kept")] {
        assert_eq!(sorted_roots(&agree(&dir)), [sandbox.path("kept"), main.clone()]);
    }
}

#[test]
fn relative_worktree_links_are_followed() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &["worktree", "add", "-q", "-b", "topic", "../linked"]);
    write(&sandbox.path("linked/.git"), "gitdir: ../main/.git/worktrees/linked\n");
    write(&main.join(".git/worktrees/linked/gitdir"), "../../../../linked/.git\n");
    assert_eq!(sorted_roots(&agree(&sandbox.path("linked"))), [sandbox.path("linked"), main.clone()]);
    // The marker of git 2.48 and later, which says no more than that such links may occur.
    git(&main, &["config", "core.repositoryFormatVersion", "1"]);
    git(&main, &["config", "extensions.relativeWorktrees", "true"]);
    assert_eq!(Repository::discover(&main).unwrap().common_dir(), main.join(".git"));
}

#[test]
fn the_private_directory_of_a_deleted_worktree_can_still_be_asked() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &["worktree", "add", "-q", "-b", "topic", "../linked"]);
    std::fs::remove_dir_all(sandbox.path("linked")).unwrap();
    let found = agree(&main.join(".git/worktrees/linked"));
    assert_eq!(found.worktree_root(), None);
    assert_eq!(sorted_roots(&found), [main]);
}
