//! Worktrees and refs, beside what stock git takes for the same.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use foremerge::git::Repository;
use foremerge::git::worktree::Request;
use foremerge::world::Real;

use super::git::{forget_the_peak, peak};
use super::{median, millis, ratio, wall};

fn git(at: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(at).args(arguments);
    command
}

fn repository(at: &Path, files: usize) {
    let named: Vec<_> = (0..files)
        .map(|number| (format!("d{}/f{number}", number % 50), format!("{number} ").repeat(40)))
        .collect();
    let content: Vec<_> = named.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    foremerge::git::scaffold::create(at, &content, "first", 1_786_795_200).unwrap();
    wall(&mut git(at, &["repack", "-adq"]));
}

/// Whole processes, in turn: `foremerge worktree create` and `git worktree add`, and one look at each.
pub fn worktree() {
    for (files, rounds) in [(50, 60), (5_000, 20)] {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().join("r");
        repository(&at, files);
        let mut times: [Vec<Duration>; 4] = Default::default();
        for round in 0..rounds {
            let (ours, theirs) = (format!("o{round}"), format!("g{round}"));
            let path = |name: &str| directory.path().join(name);
            let foremerge = env!("CARGO_BIN_EXE_foremerge");
            let mut create = Command::new(foremerge);
            create
                .current_dir(&at)
                .args(["worktree", "create", "--branch", &ours, "--path"])
                .arg(path(&ours));
            let mut add = git(&at, &["worktree", "add", "-q", "-b", &theirs]);
            add.arg(path(&theirs));
            // Whoever is first finds the objects where the other left them.
            let pair = if round % 2 == 0 {
                (wall(&mut create), wall(&mut add))
            } else {
                let theirs = wall(&mut add);
                (wall(&mut create), theirs)
            };
            let status = ["--no-optional-locks", "status", "--porcelain"];
            let looks = (wall(&mut git(&path(&ours), &status)), wall(&mut git(&path(&theirs), &status)));
            for (kept, time) in times.iter_mut().zip([pair.0, pair.1, looks.0, looks.1]) {
                kept.push(time);
            }
            for name in [&ours, &theirs] {
                std::fs::remove_dir_all(path(name)).unwrap();
            }
            wall(&mut git(&at, &["worktree", "prune"]));
        }
        forget_the_peak();
        let request = Request { branch: "peak", path: &directory.path().join("peak"), base: "HEAD" };
        Repository::discover(&at).unwrap().create_worktree(&Real, &request).unwrap();
        let peak = peak();
        let [create, add, ours, theirs] = times.map(median);
        println!(
            "worktree create, {files} files: {}, git worktree add {}, ratio {}; git status of it {}, of git's {}, ratio {}; peak of making one {peak}",
            millis(create),
            millis(add),
            ratio(create, add),
            millis(ours),
            millis(theirs),
            ratio(ours, theirs)
        );
    }
}

/// Listing 5,000 refs of ours in this process, and `git for-each-ref` of the same.
pub fn refs() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path().join("r");
    repository(&at, 50);
    let head = Repository::discover(&at).unwrap().head().unwrap().commit.unwrap();
    let refs = at.join(".git/refs/foremerge/accepted");
    std::fs::create_dir_all(&refs).unwrap();
    for number in 0..5_000 {
        std::fs::write(refs.join(format!("chg_{number:032x}")), format!("{head}\n")).unwrap();
    }
    for kind in ["loose", "packed"] {
        forget_the_peak();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..15 {
            let started = Instant::now();
            let listed = Repository::discover(&at).unwrap().refs().list("accepted").unwrap();
            ours.push(started.elapsed());
            assert_eq!(listed.len(), 5_000);
            theirs.push(wall(&mut git(&at, &["for-each-ref", "refs/foremerge/accepted"])));
        }
        let (ours, theirs) = (median(ours), median(theirs));
        println!(
            "list of 5,000 {kind} refs {}, git for-each-ref {}, ratio {}, peak {}",
            millis(ours),
            millis(theirs),
            ratio(ours, theirs),
            peak()
        );
        wall(&mut git(&at, &["pack-refs", "--all"]));
    }
}
