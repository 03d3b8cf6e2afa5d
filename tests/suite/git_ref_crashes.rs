//! Whoever dies while changing a ref of ours leaves it as it was or as it was to be, and the same call again completes
//! it.

use std::time::Duration;

use foremerge::git::Repository;
use foremerge::git::refs::{Made, RefName};
use foremerge::world::{Fake, Point};

use crate::child::{self, Job, Order, Worker};
use crate::git_refs::locks;
use crate::ledger_kills::Chance;
use crate::sandbox::{Sandbox, git, try_git};

struct Place {
    at: std::path::PathBuf,
    old: String,
    new: String,
    _sandbox: Sandbox,
}

fn place(format: &str) -> Place {
    let sandbox = Sandbox::new();
    let at = sandbox.repository_with("r", &[&format!("--object-format={format}")]);
    git(&at, &["commit", "-q", "--allow-empty", "-m", "second"]);
    let (old, new) = (git(&at, &["rev-parse", "HEAD~1"]), git(&at, &["rev-parse", "HEAD"]));
    Place { at, old, new, _sandbox: sandbox }
}

#[test]
fn at_every_point_of_every_change_of_a_loose_or_packed_ref_the_same_call_completes_it() {
    completes_what_a_dead_one_began("sha1");
}

#[test]
fn with_sha256_the_same_call_completes_what_a_dead_one_began() {
    completes_what_a_dead_one_began("sha256");
}

fn completes_what_a_dead_one_began(format: &str) {
    for job in [Job::Pin, Job::Move, Job::Unpin] {
        for point in [Point::RefChosen, Point::RefLocked, Point::RefChanged] {
            for packed in [false, true] {
                let Place { at, old, new, _sandbox } = place(format);
                let there = |name: &str| {
                    let found = try_git(&at, &["rev-parse", "-q", "--verify", name]).stdout;
                    Some(String::from_utf8(found).unwrap().trim().to_owned()).filter(|id| !id.is_empty())
                };
                let (name, other) = ("refs/foremerge/a/b", "refs/foremerge/a/other");
                git(&at, &["update-ref", other, &old]);
                let (before, after) = match job {
                    Job::Pin => (None, Some(&new)),
                    Job::Move => (Some(&old), Some(&new)),
                    _ => (Some(&new), None),
                };
                if let Some(before) = before {
                    git(&at, &["update-ref", name, before]);
                }
                if packed {
                    git(&at, &["pack-refs", "--all"]);
                }
                let order = Order { job, at: &at, name: "a/b", rounds: 1, crash: Some((point, 1)) };
                let ended = child::run(&order);
                let what = format!("{job:?} {point:?} {packed}");
                assert!(!ended.status.success() && ended.acknowledged.is_empty(), "{what}: {}", ended.said);
                let done = point == Point::RefChanged;
                let left: &[&str] = match (point, packed) {
                    (Point::RefLocked, true) => &["b.lock", "packed-refs.lock"],
                    (Point::RefLocked, false) => &["b.lock"],
                    _ => &[],
                };
                assert_eq!(locks(&at), left, "{what}");
                assert_eq!(there(name).as_ref(), if done { after } else { before }, "{what}");
                let repository = Repository::discover(&at).unwrap();
                let (refs, named, world) = (repository.refs(), RefName::below("a/b").unwrap(), Fake::new(1));
                match job {
                    Job::Pin => {
                        let made = if done { Made::Before } else { Made::Now };
                        assert_eq!(refs.create(&world, &named, &new), Ok(made), "{what}");
                    }
                    // A caller whose swap was done already sees that it moved, and to what it wanted.
                    Job::Move if done => assert_eq!(refs.read(&named).unwrap(), Some(new.clone())),
                    Job::Move => assert_eq!(refs.swap(&world, &named, &old, &new), Ok(()), "{what}"),
                    _ => assert_eq!(refs.delete(&world, &named, &new), Ok(!done), "{what}"),
                }
                assert_eq!(there(name).as_ref(), after, "{what}");
                assert_eq!(there(other).as_ref(), Some(&old), "{what}");
                assert_eq!(locks(&at), [""; 0], "{what}");
            }
        }
    }
}

fn kills(rounds: u64, seed: u64) {
    let Place { at, old, new, _sandbox } = place("sha1");
    let mut chance = Chance(seed);
    let mut left = 0;
    git(&at, &["update-ref", "refs/foremerge/other", &old]);
    for round in 0..rounds {
        // Where there are packed refs, their lock is held as well.
        if round % 3 == 1 {
            git(&at, &["pack-refs", "--all"]);
        }
        let below = format!("churn/{round}");
        let mut worker =
            Worker::start(&Order { job: Job::Churn, at: &at, name: &below, rounds: 1, crash: None });
        worker.go();
        std::thread::sleep(Duration::from_micros(chance.below(20_000)));
        worker.kill();
        left += locks(&at).len();
        let repository = Repository::discover(&at).unwrap();
        let (refs, world) = (repository.refs(), Fake::new(1));
        let listed = refs.list(&below).unwrap();
        // Where it was killed first, then one that nobody began.
        let last = listed.last().map_or_else(|| format!("{below}/0"), |last| last.name[15..].to_owned());
        for name in [last, format!("{below}/new")] {
            let name = RefName::below(&name).unwrap();
            let id = refs.read(&name).unwrap();
            match &id {
                None => assert_eq!(refs.create(&world, &name, &old), Ok(Made::Now)),
                Some(id) if *id == old => {}
                Some(id) => assert_eq!(*id, new),
            }
            if id.is_none_or(|id| id == old) {
                assert_eq!(refs.swap(&world, &name, &old, &new), Ok(()));
            }
            assert_eq!(refs.delete(&world, &name, &new), Ok(true));
        }
        assert_eq!(refs.list(&below).unwrap(), [], "{round}");
        git(&at, &["for-each-ref"]);
    }
    git(&at, &["fsck", "--strict", "--no-dangling"]);
    eprintln!("{left} locks were left by {rounds} processes");
}

#[test]
fn ten_kills_leave_refs_that_the_next_one_can_change() {
    kills(10, 1);
}

#[test]
#[ignore = "deep: 200 kills"]
fn two_hundred_kills_leave_refs_that_the_next_one_can_change() {
    kills(200, 2);
}
