//! Whose lock it is that Git has on a ref: one of a process of ours that died goes at once, one of a git that lives
//! never, whatever it stands for in between.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use foremerge::git::refs::{Made, RefError};
use foremerge::world::Point;

use crate::child::{self, Job, Order};
use crate::git_refs::{Place, locks};
use crate::sandbox::{git, git_command, try_git, write};

fn lock_of(place: &Place, name: &str) -> PathBuf {
    place.at.join(".git/refs/foremerge").join(format!("{name}.lock"))
}

/// The ref `a` cannot be changed, because this is in the way.
fn busy(lock: &Path) -> RefError {
    RefError::Busy { name: "refs/foremerge/a".to_owned(), lock: lock.display().to_string() }
}

/// Date `file` back, by the clock of its file system.
fn age(file: &Path, seconds: u64) {
    let file = File::options().write(true).open(file).unwrap();
    let now = file.metadata().unwrap().modified().unwrap();
    file.set_modified(now - Duration::from_secs(seconds)).unwrap();
}

/// A git that has locked the ref `a` to make it name `target`, and waits for a word.
struct Git {
    process: Child,
}

impl Git {
    fn holding(place: &Place, target: &str) -> Self {
        let mut command = git_command(&place.at, &["update-ref", "--stdin"]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let order = format!("start\nupdate refs/foremerge/a {target}\nprepare\n");
        process.stdin.as_mut().unwrap().write_all(order.as_bytes()).unwrap();
        let mut said = BufReader::new(process.stdout.as_mut().unwrap()).lines();
        assert_eq!(said.next().unwrap().unwrap(), "start: ok");
        assert_eq!(said.next().unwrap().unwrap(), "prepare: ok");
        assert!(lock_of(place, "a").exists());
        Self { process }
    }

    fn goes_on(mut self) {
        self.process.stdin.take().unwrap().write_all(b"commit\n").unwrap();
        assert!(self.process.wait().unwrap().success());
    }
}

fn dies(place: &Place, job: Job, name: &str, point: Point) {
    let ended = child::run(&Order { job, at: &place.at, name, rounds: 1, crash: Some((point, 1)) });
    assert!(!ended.status.success() && ended.acknowledged.is_empty(), "{}", ended.said);
}

#[test]
fn a_lock_that_git_holds_is_waited_for_and_named_and_its_change_is_not_lost() {
    let place = Place::new();
    let name = "refs/foremerge/a".to_owned();
    let holder = Git::holding(&place, &place.second);
    assert_eq!(place.create("a", &place.first), Err(busy(&lock_of(&place, "a"))));
    holder.goes_on();
    assert_eq!(place.create("a", &place.first), Err(RefError::Taken { name, found: place.second.clone() }));
    let holder = Git::holding(&place, &place.first);
    assert_eq!(place.delete("a", &place.second), Err(busy(&lock_of(&place, "a"))));
    holder.goes_on();
    assert_eq!(place.git_says("a"), Some(place.first.clone()));
    assert_eq!(place.swap("a", &place.first, &place.second), Ok(()));
    assert_eq!(locks(&place.at), [""; 0]);
}

#[test]
fn while_git_packs_a_ref_and_is_about_to_remove_the_loose_one_nothing_is_written_there() {
    let place = Place::new();
    place.create("a", &place.first).unwrap();
    let hook = place.at.join(".git/hooks/reference-transaction");
    let [started, go] = ["started", "go"].map(|name| place.sandbox.path(name));
    let script = format!(
        "#!/bin/sh\ntest \"$1\" = prepared && test -e .git/refs/foremerge/a.lock || exit 0\n\
         touch '{started}'\nwhile test -e '{started}' && ! test -e '{go}'; do sleep 0.02; done\n",
        started = started.display(),
        go = go.display()
    );
    write(&hook, &script);
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut packing = git_command(&place.at, &["pack-refs", "--all", "--prune"]).spawn().unwrap();
    while !started.exists() {
        assert_eq!(packing.try_wait().unwrap(), None, "the hook never ran");
        std::thread::yield_now();
    }
    let lock = lock_of(&place, "a");
    assert_eq!(std::fs::read(&lock).unwrap(), b"", "it is one that says nothing");
    assert_eq!(place.swap("a", &place.first, &place.second), Err(busy(&lock)));
    write(&go, "");
    assert!(packing.wait().unwrap().success());
    assert_eq!(place.swap("a", &place.first, &place.second), Ok(()));
    assert_eq!(place.git_says("a"), Some(place.second.clone()));
}

#[test]
fn a_lock_of_a_ref_of_ours_is_removed_when_nobody_can_live_who_took_it() {
    let place = Place::new();
    std::fs::create_dir_all(place.at.join(".git/refs/foremerge")).unwrap();
    let lock = lock_of(&place, "a");
    write(&lock, "");
    age(&lock, 590);
    assert_eq!(place.create("a", &place.first), Err(busy(&lock)));
    let left = |text: &str| {
        write(&lock, text);
        age(&lock, 601);
    };
    left("");
    assert_eq!(place.create("a", &place.first), Ok(Made::Now));
    left(&place.second);
    assert_eq!(place.swap("a", &place.first, &place.second), Ok(()));
    left("whatever");
    assert_eq!(place.delete("a", &place.second), Ok(true));
    assert_eq!(locks(&place.at), [""; 0]);
}

#[test]
fn what_a_dead_one_of_ours_meant_to_lock_is_not_taken_from_a_git_that_came_after_it() {
    let place = Place::new();
    dies(&place, Job::Pin, "a", Point::RefChosen);
    let holder = Git::holding(&place, &place.first);
    assert_eq!(place.create("a", &place.second), Err(busy(&lock_of(&place, "a"))));
    holder.goes_on();
    assert_eq!(place.git_says("a"), Some(place.first.clone()));
}

#[test]
fn the_lock_that_a_dead_one_held_goes_with_the_next_change_of_any_ref() {
    let place = Place::new();
    dies(&place, Job::Pin, "a", Point::RefLocked);
    assert_eq!(locks(&place.at), ["a.lock"]);
    place.create("b", &place.first).unwrap();
    assert_eq!(locks(&place.at), [""; 0]);
    git(&place.at, &["update-ref", "refs/foremerge/a", "HEAD", ""]);
}

#[test]
fn a_lock_that_git_took_in_the_place_of_a_dead_ones_is_gits() {
    let place = Place::new();
    dies(&place, Job::Pin, "a", Point::RefLocked);
    let lock = lock_of(&place, "a");
    // By hand, as the error of git advises.
    std::fs::rename(&lock, place.sandbox.path("kept")).unwrap();
    let holder = Git::holding(&place, &place.second);
    assert_eq!(place.create("a", &place.first), Err(busy(&lock)));
    holder.goes_on();
    assert_eq!(place.git_says("a"), Some(place.second.clone()));
}

#[test]
fn the_lock_of_all_packed_refs_is_removed_only_where_a_dead_one_of_ours_held_it() {
    let place = Place::new();
    place.create("a", &place.second).unwrap();
    git(&place.at, &["pack-refs", "--all"]);
    dies(&place, Job::Unpin, "a", Point::RefLocked);
    assert_eq!(locks(&place.at), ["a.lock", "packed-refs.lock"]);
    let fails = try_git(&place.at, &["pack-refs", "--all"]);
    assert!(!fails.status.success(), "git itself gives up");
    assert_eq!(place.create("b", &place.first), Ok(Made::Now));
    git(&place.at, &["pack-refs", "--all"]);
    let lock = place.at.join(".git/packed-refs.lock");
    write(&lock, "");
    age(&lock, 100_000);
    assert_eq!(place.delete("a", &place.second), Err(busy(&lock)));
    assert!(lock.exists());
    std::fs::remove_file(&lock).unwrap();
    assert_eq!(place.delete("a", &place.second), Ok(true));
}
