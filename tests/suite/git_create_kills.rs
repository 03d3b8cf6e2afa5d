//! kill -9 at any moment of making a worktree: it is all there or not at all once somebody makes another.
#![expect(clippy::disallowed_methods, reason = "a test kills real processes and times them")]

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::cli::string;
use crate::git_create::{create, journals};
use crate::ledger_kills::Chance;
use crate::sandbox::{Sandbox, git, git_worktrees, try_git, write};
use crate::workplace::{cli, foremerge};

fn kills(rounds: u64, seed: u64) {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    for number in 0..150 {
        write(&at.join(format!("file{number}")), &format!("{number}\n"));
    }
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "files"]);
    let started = Instant::now();
    cli(&at, &["worktree", "create", "--branch", "first", "--path", "../first"]).succeeded();
    let usual = u64::try_from(started.elapsed().as_micros()).unwrap();
    let mut chance = Chance(seed);
    let mut killed = 0;
    for round in 0..rounds {
        let (branch, tree) = (format!("topic/{round}"), sandbox.path(&format!("trees/{round}")));
        let words = ["worktree", "create", "--branch", &branch, "--path", string(&tree)];
        let mut child = foremerge(&at, &words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(chance.below(usual)));
        child.kill().unwrap();
        killed += u64::from(!child.wait().unwrap().success());
        let there = || try_git(&at, &["rev-parse", "--verify", "--quiet", &branch]).status.success();
        let made = if chance.below(2) == 0 {
            let other =
                create(&at, &format!("other/{round}"), &sandbox.path(&format!("others/{round}"))).unwrap();
            // An empty directory is nobody's loss, and killed before it was noted it may be anybody's.
            let is_filled = std::fs::read_dir(&tree).is_ok_and(|mut inside| inside.next().is_some());
            assert_eq!((there(), there()), (is_filled, git_worktrees(&at).contains(&tree)), "{round}");
            assert_eq!(git(&other.path, &["status", "--porcelain"]), "");
            create(&at, &branch, &tree)
        } else {
            create(&at, &branch, &tree)
        };
        // Done before the kill came, and nobody's to make again.
        assert!(made.is_ok() || there(), "{round}: {made:?}");
        let status = git(&tree, &["status", "--porcelain=v1", "--branch"]);
        assert_eq!(status, format!("## {branch}"), "{round}");
    }
    git(&at, &["fsck", "--strict", "--no-dangling"]);
    assert_eq!(git(&at, &["worktree", "prune", "--dry-run"]), "");
    assert_eq!(journals(&at), [""; 0]);
    eprintln!("{killed} of {rounds} processes died");
    assert!(killed > 0);
}

#[test]
fn twenty_kills_leave_nothing_half_made() {
    kills(20, 3);
}

#[test]
#[ignore = "deep: 300 kills"]
fn three_hundred_kills_leave_nothing_half_made() {
    kills(300, 4);
}
