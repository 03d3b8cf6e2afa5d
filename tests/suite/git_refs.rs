//! Our own refs beside stock git's view of them: nothing is overwritten, nothing is lost, one of many makes it.

use std::path::{Path, PathBuf};

use foremerge::git::Repository;
use foremerge::git::refs::{Listed, Made, RefError, RefName};
use foremerge::world::Fake;

use crate::child::{self, Job, Order, Worker};
use crate::sandbox::{Sandbox, git, try_git, write};

/// SHA-1 and SHA-256.
const FORMATS: [&[&str]; 2] = [&[], &["--object-format=sha256"]];

pub struct Place {
    pub sandbox: Sandbox,
    pub at: PathBuf,
    pub first: String,
    pub second: String,
}

impl Place {
    pub fn new() -> Self {
        Self::with(&[])
    }

    pub fn with(init: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        let at = sandbox.repository_with("r", init);
        git(&at, &["commit", "-q", "--allow-empty", "-m", "second"]);
        let (first, second) = (git(&at, &["rev-parse", "HEAD~1"]), git(&at, &["rev-parse", "HEAD"]));
        Self { sandbox, at, first, second }
    }

    pub fn repository(&self) -> Repository {
        Repository::discover(&self.at).unwrap()
    }

    pub fn create(&self, path: &str, target: &str) -> Result<Made, RefError> {
        self.repository().refs().create(&Fake::new(1), &named(path), target)
    }

    pub fn delete(&self, path: &str, target: &str) -> Result<bool, RefError> {
        self.repository().refs().delete(&Fake::new(1), &named(path), target)
    }

    pub fn swap(&self, path: &str, from: &str, to: &str) -> Result<(), RefError> {
        self.repository().refs().swap(&Fake::new(1), &named(path), from, to)
    }

    pub fn read(&self, path: &str) -> Option<String> {
        self.repository().refs().read(&named(path)).unwrap()
    }

    /// What stock git says of a ref of ours.
    pub fn git_says(&self, path: &str) -> Option<String> {
        let name = format!("refs/foremerge/{path}");
        let found = try_git(&self.at, &["rev-parse", "--verify", "--quiet", &name]);
        found.status.success().then(|| String::from_utf8(found.stdout).unwrap().trim().to_owned())
    }
}

pub fn named(path: &str) -> RefName {
    RefName::below(path).unwrap()
}

pub fn locks(at: &Path) -> Vec<String> {
    let all = git(at, &["rev-parse", "--git-common-dir"]);
    let mut open = vec![at.join(all)];
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "lock") {
                found.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.retain(|name| name != "foremerge.lock");
    found.sort();
    found
}

#[test]
fn a_ref_is_made_once_and_the_second_maker_is_told_that_it_was_there() {
    let place = Place::new();
    assert_eq!(place.create("accepted/x", &place.first), Ok(Made::Now));
    assert_eq!(place.create("accepted/x", &place.first), Ok(Made::Before));
    let refused = place.create("accepted/x", &place.second).unwrap_err();
    let name = "refs/foremerge/accepted/x".to_owned();
    assert_eq!(refused, RefError::Taken { name, found: place.first.clone() });
    assert_eq!(place.read("accepted/x"), Some(place.first.clone()));
    assert_eq!(place.git_says("accepted/x"), Some(place.first.clone()));
    git(&place.at, &["fsck", "--strict"]);
}

#[test]
fn a_ref_is_swapped_only_from_what_the_caller_saw() {
    for init in FORMATS {
        swapped_only_from_what_was_seen(&Place::with(init));
    }
}

fn swapped_only_from_what_was_seen(place: &Place) {
    let name = "refs/foremerge/a".to_owned();
    let moved = |found: Option<&String>| {
        Err(RefError::Moved { name: name.clone(), expected: place.first.clone(), found: found.cloned() })
    };
    assert_eq!(place.swap("a", &place.first, &place.second), moved(None));
    assert_eq!(place.git_says("a"), None);
    place.create("a", &place.first).unwrap();
    assert_eq!(place.swap("a", &place.first, &place.second), Ok(()));
    assert_eq!(place.git_says("a"), Some(place.second.clone()));
    assert_eq!(place.swap("a", &place.first, &place.second), moved(Some(&place.second)));
    assert_eq!(place.git_says("a"), Some(place.second.clone()));
}

#[test]
fn a_ref_is_deleted_only_while_it_names_what_the_caller_says() {
    let place = Place::new();
    assert_eq!(place.delete("a/b", &place.first), Ok(false));
    place.create("a/b", &place.first).unwrap();
    assert!(matches!(place.delete("a/b", &place.second), Err(RefError::Moved { .. })));
    assert_eq!(place.git_says("a/b"), Some(place.first.clone()));
    assert_eq!(place.delete("a/b", &place.first), Ok(true));
    assert_eq!(place.git_says("a/b"), None);
    assert_eq!(place.delete("a/b", &place.first), Ok(false));
    assert_eq!(place.create("a", &place.first), Ok(Made::Now), "no empty directory is in the way");
}

#[test]
fn packed_refs_are_read_guarded_and_deleted_as_loose_ones() {
    for init in FORMATS {
        packed_as_loose(&Place::with(init));
    }
}

fn packed_as_loose(place: &Place) {
    for name in ["p/one", "p/two"] {
        place.create(name, &place.first).unwrap();
    }
    git(&place.at, &["pack-refs", "--all"]);
    assert!(!place.at.join(".git/refs/foremerge/p/one").exists());
    assert_eq!(place.read("p/one"), Some(place.first.clone()));
    assert_eq!(place.create("p/one", &place.first), Ok(Made::Before));
    assert!(matches!(place.create("p/one", &place.second), Err(RefError::Taken { .. })));
    let with = "refs/foremerge/p/one".to_owned();
    let clash = place.create("p/one/deeper", &place.first).unwrap_err();
    assert_eq!(clash, RefError::Clash { name: "refs/foremerge/p/one/deeper".to_owned(), with: with.clone() });
    let clash = place.create("p", &place.first).unwrap_err();
    assert_eq!(clash, RefError::Clash { name: "refs/foremerge/p".to_owned(), with });
    assert_eq!(place.swap("p/one", &place.first, &place.second), Ok(()));
    assert_eq!(place.git_says("p/one"), Some(place.second.clone()));
    assert_eq!(place.delete("p/one", &place.second), Ok(true));
    assert_eq!(place.git_says("p/one"), None, "the packed one does not come back");
    assert_eq!(place.git_says("p/two"), Some(place.first.clone()));
    git(&place.at, &["fsck", "--strict"]);
}

#[test]
fn a_ref_that_would_have_to_be_a_directory_is_named() {
    let place = Place::new();
    git(&place.at, &["update-ref", "refs/foremerge/accepted", &place.first]);
    let refused = place.create("accepted/x", &place.first).unwrap_err();
    assert!(refused.to_string().contains("beside refs/foremerge/accepted:"), "{refused}");
    assert_eq!(place.git_says("accepted"), Some(place.first.clone()));
    git(&place.at, &["update-ref", "-d", "refs/foremerge/accepted"]);
    git(&place.at, &["update-ref", "refs/foremerge", &place.first]);
    assert!(matches!(place.create("accepted/x", &place.first), Err(RefError::Clash { .. })));
    assert_eq!(locks(&place.at), [""; 0]);
}

#[test]
fn names_that_git_forbids_are_refused_and_none_leaves_our_directory() {
    let place = Place::new();
    for path in
        ["", "a b", "../heads/main", "a/../b", "a//b", "a.lock", "/a", "a/", "a..b", "@{1}", ".a", "a\n"]
    {
        let refused = RefName::below(path).unwrap_err();
        assert!(matches!(&refused, RefError::Name { name, .. } if name.ends_with(path)), "{refused:?}");
    }
    assert_eq!(named("-x").as_str(), "refs/foremerge/-x", "a dash is data");
    assert_eq!(place.create("-x", &place.first), Ok(Made::Now));
    assert_eq!(place.git_says("-x"), Some(place.first.clone()));
}

#[test]
fn only_objects_that_are_there_can_be_named() {
    let place = Place::new();
    let absent = "0123456789012345678901234567890123456789";
    let (name, no_object) = ("refs/foremerge/a".to_owned(), |id: &str| {
        Err(RefError::NoObject { name: "refs/foremerge/a".to_owned(), id: id.to_owned() })
    });
    let malformed = ["", "HEAD", &place.first[..10], &"0".repeat(40), &"0".repeat(64), "-"];
    for id in malformed.into_iter().chain([absent]) {
        assert_eq!(place.create("a", id), no_object(id));
    }
    assert_eq!(place.git_says("a"), None);
    place.create("a", &place.first).unwrap();
    for id in malformed {
        let expected = RefError::Expected { name: name.clone(), id: id.to_owned() };
        assert_eq!(place.swap("a", id, &place.second), Err(expected.clone()));
        assert_eq!(place.delete("a", id), Err(expected));
    }
    assert_eq!(place.swap("a", &place.first, absent), no_object(absent).map(drop));
    let moved = RefError::Moved { name, expected: absent.to_owned(), found: Some(place.first.clone()) };
    assert_eq!(place.delete("a", absent), Err(moved), "it may have been there when the caller looked");
    assert_eq!(place.git_says("a"), Some(place.first.clone()));
    let place = Place::with(&["--object-format=sha256"]);
    assert_eq!(place.create("a", &"0".repeat(40)), no_object(&"0".repeat(40)));
    assert_eq!(place.create("a", &place.first), Ok(Made::Now));
    assert_eq!(place.git_says("a"), Some(place.first.clone()));
}

#[test]
fn an_id_is_the_same_in_capitals() {
    let place = Place::new();
    let [first, second] = [&place.first, &place.second].map(|id| id.to_uppercase());
    assert_eq!(place.create("a", &first), Ok(Made::Now));
    assert_eq!(place.create("a", &first), Ok(Made::Before));
    assert_eq!(place.swap("a", &first, &second), Ok(()));
    assert_eq!(place.swap("a", &second, &second), Ok(()), "it names what it is to name");
    assert_eq!(place.git_says("a"), Some(place.second.clone()));
    assert_eq!(place.delete("a", &second), Ok(true));
}

#[test]
fn all_worktrees_see_the_same_refs() {
    let place = Place::new();
    git(&place.at, &["worktree", "add", "-q", "--detach", "../linked"]);
    let linked = Repository::discover(&place.sandbox.path("linked")).unwrap();
    let made = linked.refs().create(&Fake::new(1), &named("a/b"), &place.first);
    assert_eq!(made, Ok(Made::Now));
    assert_eq!(place.read("a/b"), Some(place.first.clone()));
    assert!(place.at.join(".git/refs/foremerge/a/b").is_file());
    assert!(!place.at.join(".git/worktrees/linked/refs/foremerge").exists());
}

#[test]
fn reflogs_are_written_where_they_are_wanted_even_if_nobody_is_configured() {
    let place = Place::new();
    git(&place.at, &["config", "core.logAllRefUpdates", "always"]);
    // A child has no home, so nobody is configured for it.
    let order = Order { job: Job::Pin, at: &place.at, name: "a", rounds: 1, crash: None };
    assert_eq!(child::run(&order).acknowledged, ["Now"]);
    let log = git(&place.at, &["log", "-g", "--format=%gn <%ge> %gs", "refs/foremerge/a"]);
    assert_eq!(log, "Foremerge <foremerge@localhost> foremerge");
    git(&place.at, &["config", "user.name", "Ada"]);
    git(&place.at, &["config", "user.email", "ada@example.invalid"]);
    place.create("b", &place.first).unwrap();
    place.swap("b", &place.first, &place.second).unwrap();
    let log = git(&place.at, &["log", "-g", "--format=%gn <%ge>", "refs/foremerge/b"]);
    assert_eq!(log, "Ada <ada@example.invalid>\nAda <ada@example.invalid>");
}

#[test]
fn a_listing_is_whole_in_order_and_not_stopped_by_a_damaged_ref() {
    for init in FORMATS {
        lists_all_whatever_is_damaged(&Place::with(init));
    }
}

fn lists_all_whatever_is_damaged(place: &Place) {
    for number in [3, 1, 2] {
        place.create(&format!("accepted/{number}"), &place.first).unwrap();
    }
    git(&place.at, &["pack-refs", "--all"]);
    place.create("accepted/0", &place.second).unwrap();
    place.create("accepted/4/deep", &place.second).unwrap();
    place.create("acceptedly", &place.second).unwrap();
    write(&place.at.join(".git/refs/foremerge/accepted/9"), "");
    git(&place.at, &["symbolic-ref", "refs/foremerge/accepted/8", "refs/heads/main"]);
    let name = |path: &str| format!("refs/foremerge/accepted/{path}");
    let good = |path: &str, target: &String| Listed { name: name(path), target: Some(target.clone()) };
    let bad = |path: &str| Listed { name: name(path), target: None };
    let refs = place.repository();
    assert_eq!(
        refs.refs().list("accepted").unwrap(),
        [
            good("0", &place.second),
            good("1", &place.first),
            good("2", &place.first),
            good("3", &place.first),
            good("4/deep", &place.second),
            bad("8"),
            bad("9"),
        ]
    );
    assert_eq!(refs.refs().list("").unwrap().len(), 8);
    assert_eq!(refs.refs().list("nothing").unwrap(), []);
    for damaged in ["accepted/8", "accepted/9"] {
        let error = refs.refs().read(&named(damaged)).unwrap_err();
        let holds = if damaged.ends_with('8') { "ref: refs/heads/main" } else { "" };
        assert_eq!(error, RefError::Damaged { name: name(&damaged[9..]), holds: holds.to_owned() });
        assert!(matches!(place.create(damaged, &place.first), Err(RefError::Damaged { .. })));
        assert!(matches!(place.delete(damaged, &place.first), Err(RefError::Damaged { .. })));
    }
}

#[test]
fn of_twenty_processes_that_race_for_a_ref_exactly_one_makes_it() {
    let place = Place::new();
    for round in 0..3 {
        let name = format!("race/{round}");
        let order = Order { job: Job::Pin, at: &place.at, name: &name, rounds: 1, crash: None };
        let mut racers: Vec<_> = (0..20).map(|_| Worker::start(&order)).collect();
        for racer in &mut racers {
            racer.go();
        }
        let mut said: Vec<_> = racers
            .into_iter()
            .map(Worker::end)
            .inspect(|ended| assert!(ended.status.success(), "{}", ended.said))
            .flat_map(|ended| ended.acknowledged)
            .collect();
        said.sort();
        let mut expected = vec!["Before"; 19];
        expected.push("Now");
        assert_eq!(said, expected);
        assert_eq!(place.git_says(&name), Some(place.second.clone()));
    }
    assert_eq!(locks(&place.at), [""; 0]);
}
