//! Many that make worktrees at once: all get theirs, or exactly one does.

use std::path::Path;

use crate::child::{Job, Order, Worker};
use crate::git_create::{create, is_good, journals};
use crate::sandbox::{Sandbox, git, git_worktrees, try_git};

const MANY: usize = 20;

/// What twenty processes answered that started together, each with the name it was given.
fn together(at: &Path, name: impl Fn(usize) -> String) -> Vec<String> {
    let names: Vec<_> = (0..MANY).map(name).collect();
    let orders = names.iter().map(|name| Order { job: Job::AddWorktree, at, name, rounds: 1, crash: None });
    let mut racers: Vec<_> = orders.map(|order| Worker::start(&order)).collect();
    for racer in &mut racers {
        racer.go();
    }
    racers
        .into_iter()
        .flat_map(|racer| {
            let ended = racer.end();
            assert!(ended.status.success() && ended.acknowledged.len() == 1, "{}", ended.said);
            ended.acknowledged
        })
        .collect()
}

#[test]
fn twenty_processes_make_twenty_worktrees() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    // The entries of half of them would have the same name.
    let path =
        |number| sandbox.path(&format!("trees/{number}/{}", if number % 2 == 0 { "same" } else { "other" }));
    let said = together(&at, |number| format!("topic/{number}={}", path(number).display()));
    for (number, said) in said.iter().enumerate() {
        assert_eq!(said, &format!("made topic/{number}"));
        let status = git(&path(number), &["status", "--porcelain=v1", "--branch"]);
        assert_eq!(status, format!("## topic/{number}"));
    }
    assert_eq!(git_worktrees(&at).len(), MANY + 1);
    git(&at, &["fsck", "--strict"]);
    assert_eq!(git(&at, &["worktree", "prune", "--dry-run"]), "");
    assert_eq!(journals(&at), [""; 0]);
}

#[test]
fn of_twenty_that_want_one_branch_exactly_one_gets_it_and_the_others_leave_nothing() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let path = |number| sandbox.path(&format!("trees/{number}"));
    let said = together(&at, |number| format!("topic={}", path(number).display()));
    let made: Vec<_> = (0..MANY).filter(|number| said[*number] == "made topic").collect();
    let [winner] = made[..] else { panic!("{said:?}") };
    let others =
        said.iter().filter(|said| said.starts_with("branch: the branch topic exists already")).count();
    assert_eq!(others, MANY - 1, "{said:?}");
    assert_eq!(git_worktrees(&at), [at.clone(), path(winner)]);
    assert_eq!(std::fs::read_dir(sandbox.path("trees")).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(at.join(".git/worktrees")).unwrap().count(), 1);
    assert_eq!(journals(&at), [""; 0]);
}

#[test]
fn of_twenty_that_want_one_place_exactly_one_gets_it_and_the_others_leave_no_branch() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let tree = sandbox.path("deep/tree");
    let said = together(&at, |number| format!("topic{number}={}", tree.display()));
    let made: Vec<_> = (0..MANY).filter(|number| said[*number] == format!("made topic{number}")).collect();
    let [winner] = made[..] else { panic!("{said:?}") };
    assert_eq!(said.iter().filter(|said| said.starts_with("path: ")).count(), MANY - 1, "{said:?}");
    assert_eq!(git(&tree, &["status", "--porcelain=v1", "--branch"]), format!("## topic{winner}"));
    let branches = git(&at, &["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, format!("main\ntopic{winner}"));
    assert_eq!(journals(&at), [""; 0]);
}

#[test]
fn stock_git_may_add_worktrees_at_the_same_time() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    std::thread::scope(|scope| {
        let (at, sandbox) = (&at, &sandbox);
        scope.spawn(move || {
            for number in 0..15 {
                let made =
                    create(at, &format!("ours{number}"), &sandbox.path(&format!("o/{number}"))).unwrap();
                assert_eq!(git(&made.path, &["status", "--porcelain"]), "");
            }
        });
        scope.spawn(move || {
            for number in 0..15 {
                let (branch, path) = (format!("git{number}"), format!("../g/{number}"));
                // Git itself gives up when it meets an entry that is half made.
                let added = try_git(at, &["worktree", "add", "-q", "-b", &branch, &path]);
                let said = String::from_utf8_lossy(&added.stderr);
                assert!(added.status.success(), "{said}");
            }
        });
    });
    assert_eq!(git_worktrees(&at).len(), 31);
    is_good(&at, &create(&at, "last", &sandbox.path("last")).unwrap());
}
