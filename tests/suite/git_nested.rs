//! Repositories inside a worktree that are not quite what they seem, beside stock git: the same letters, and what they
//! hold has a say.

use std::path::Path;

use crate::beside_git::{agrees, lines, look};
use crate::sandbox::{Sandbox, git, shell, write};

/// A new file, another text in it and another text in a file that is tracked in there each make another state.
#[track_caller]
fn is_looked_into(root: &Path, nested: &str) {
    let mut known = vec![agrees(root, nested).fingerprint];
    for (name, text) in
        [("new", "one"), ("new", "two"), ("src/deep/a.rs", "changed"), ("src/deep/a.rs", "again")]
    {
        std::fs::create_dir_all(root.join(nested).join("src/deep")).unwrap();
        write(&root.join(nested).join(name), text);
        let now = agrees(root, nested).fingerprint;
        assert!(!known.contains(&now), "{nested}: {name}, {text}");
        known.push(now);
    }
}

#[test]
fn what_only_points_to_this_repository_is_looked_into() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    git(&root, &["worktree", "add", "-q", "../side"]);
    shell(&root, "cp -r ../side copy; mkdir file; echo 'gitdir: ../.git' > file/.git");
    for nested in ["copy", "file"] {
        is_looked_into(&root, nested);
    }
    // Moved by hand, it is no longer where its repository looks for it, until git is told.
    shell(&root, "rm -r copy file; git worktree add -q inner; mv inner moved");
    is_looked_into(&root, "moved");
    git(&root, &["worktree", "repair", "moved"]);
    let before = look(&root);
    write(&root.join("moved/new"), "another agent's work");
    assert_eq!(look(&root), before);
}

#[test]
fn the_main_worktree_within_a_linked_one_is_left_to_its_own_snapshot() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("side/main");
    shell(
        &main,
        "git worktree add -q ../../new; mv ../../new/.git ../../new/src ..; git worktree repair .. 2>/dev/null",
    );
    let side = sandbox.path("side");
    let before = agrees(&side, "main");
    assert_eq!(lines(&before), ["?? main/"]);
    write(&main.join("new"), "another agent's work");
    assert_eq!(look(&side), before);
}

#[test]
fn a_nested_repository_that_says_it_is_bare_is_looked_into() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    sandbox.repository("r/n");
    git(&root.join("n"), &["config", "core.bare", "true"]);
    is_looked_into(&root, "n");
}

#[test]
fn a_submodule_that_gave_way_to_something_else_is_one_change() {
    let sandbox = Sandbox::new();
    sandbox.repository("part");
    let root = sandbox.repository("r");
    git(&root, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", "../part", "n"]);
    git(&root, &["commit", "-q", "-m", "n"]);
    for script in ["echo f > n", "mkfifo n", "mkdir n; touch n/f", "true"] {
        shell(&root, &format!("rm -rf n; {script}"));
        agrees(&root, script);
    }
    // git status refuses to go on over a link.
    for target in ["src", "nowhere"] {
        shell(&root, &format!("rm -rf n; ln -s {target} n"));
        assert_eq!(lines(&look(&root)), [" T n"]);
    }
    shell(&root, "rm n; echo f > n");
    let before = agrees(&root, "a file");
    assert_eq!(lines(&before), [" T n"]);
    write(&root.join("n"), "g");
    assert_ne!(look(&root).fingerprint, before.fingerprint);
    git(&root, &["rm", "-q", "--cached", "n"]);
    agrees(&root, "no longer tracked");
}
