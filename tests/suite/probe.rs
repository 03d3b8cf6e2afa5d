//! Discovery in a process of its own, for tests that need another environment or another user.
#![expect(clippy::disallowed_methods, reason = "a process of its own is the point")]

use std::path::{Path, PathBuf};
use std::process::Command;

use foremerge::git::refs::RefName;
use foremerge::git::worktree::Request;
use foremerge::git::{Error, Exclusions, Repository, scaffold};
use foremerge::world::{Fake, Real};

const FROM: &str = "PROBE_FROM";
/// Exclusions with blanks between them.
pub const EXCLUDED: &str = "PROBE_EXCLUDED";

#[test]
#[ignore = "other tests run this one in a process of its own"]
fn answer_for_another_process() {
    let from = PathBuf::from(std::env::var_os(FROM).unwrap());
    println!("\nPROBE {}", describe(Repository::discover(&from)));
}

#[test]
#[ignore = "other tests run this one in a process of its own"]
fn take_a_snapshot_for_another_process() {
    let from = PathBuf::from(std::env::var_os(FROM).unwrap());
    let snapshot = Repository::discover(&from).and_then(|found| found.snapshot(b"", &Exclusions::default()));
    println!("\nPROBE {snapshot:?}");
}

#[test]
#[ignore = "other tests run this one in a process of its own"]
fn tell_what_is_seen_to_another_process() {
    let from = PathBuf::from(std::env::var_os(FROM).unwrap());
    let repository = Repository::discover(&from).unwrap();
    let rules = std::env::var(EXCLUDED).unwrap_or_default();
    let exclusions = Exclusions::new(rules.split_terminator(' ')).unwrap();
    let listed = repository.worktrees().unwrap();
    let own = listed.iter().find(|worktree| worktree.path == from).unwrap();
    println!("\nPROBE dirty {:?} {:?}", own.dirty, own.problem);
    match repository.snapshot(b"", &exclusions) {
        Ok(snapshot) => {
            for change in &snapshot.changes {
                println!("PROBE {} {}", change.status.escape_ascii(), change.path.escape_ascii());
            }
            for path in &snapshot.unreadable {
                println!("PROBE unreadable {}", path.escape_ascii());
            }
            for path in &snapshot.leftovers {
                println!("PROBE leftover {}", path.escape_ascii());
            }
            println!("PROBE fingerprint {}", snapshot.fingerprint);
        }
        Err(error) => println!("PROBE error {error}"),
    }
}

#[test]
#[ignore = "other tests run this one in a process of its own"]
fn do_everything_for_another_process() {
    let from = PathBuf::from(std::env::var_os(FROM).unwrap());
    let answers = everything(&from).join(" | ");
    println!("\nPROBE {}", answers.replace(&from.display().to_string(), "HERE"));
}

/// What every function of the Git room answers in the repository at `from`, which has branches `work` and `known` and
/// lacks an object. A worktree, a ref and a new repository are made beside it.
fn everything(from: &Path) -> Vec<String> {
    let repository = Repository::discover(from).unwrap();
    let world = Fake::new(1);
    let id = |name: &str| repository.resolve_commit(name).unwrap();
    let (head, work, known) = (id("HEAD"), id("work"), vec![id("known")]);
    let absent = "0123456789".repeat(4);
    let exclusions = Exclusions::new(["out/"]).unwrap();
    let base = repository.base_of(Some(&head), None).unwrap().compared_with.unwrap();
    let mut patch = Vec::new();
    repository.write_patch(&base, &head, &mut patch).unwrap();
    let (refs, name) = (repository.refs(), RefName::below("accepted/x").unwrap());
    let tree = from.with_extension("tree");
    let request = Request { branch: "made", path: &tree, base: "HEAD" };
    let fresh = from.with_extension("fresh");
    scaffold::create(&fresh, &[("a", "a")], "first", 1_786_795_200).unwrap();
    let fresh = Repository::discover(&fresh).unwrap();
    vec![
        describe(Repository::discover(from)),
        format!("{:?}", repository.worktree_roots()),
        format!("{:?}", repository.is_linked_worktree()),
        format!("{:?}", repository.require_full_index()),
        format!("{:?}", repository.resolve_commit(&absent)),
        format!("{:?}", repository.snapshot(b"probe", &exclusions)),
        format!("{:?}", repository.base_of(Some(&head), Some("work"))),
        format!("{} {}", patch.len(), repository.patch_digest(&base, &head).unwrap()),
        format!("{:?}", repository.patch_digest(&absent, &head)),
        format!("{:?}", repository.touched(&base, &head)),
        format!("{:?}", repository.landing(&work, &head)),
        format!("{:?}", repository.landing(&absent, &head)),
        format!("{:?}", repository.earliest_landing(&work, &known, &head)),
        format!("{:?}", refs.create(&world, &name, &base)),
        format!("{:?}", refs.swap(&world, &name, &base, &head)),
        format!("{:?}", (refs.read(&name), refs.list("accepted"))),
        format!("{:?}", refs.delete(&world, &name, &head)),
        format!("{:?}", repository.create_worktree(&Real, &request)),
        format!("{:?}", repository.worktrees()),
        format!("{:?} {:?}", fresh.head(), fresh.snapshot(b"probe", &exclusions).unwrap().fingerprint),
    ]
}

/// One line that says everything about a discovery.
fn describe(found: Result<Repository, Error>) -> String {
    match found {
        Ok(repository) => format!(
            "ok common={} git={} root={:?} head={:?}",
            repository.common_dir().display(),
            repository.git_dir().display(),
            repository.worktree_root(),
            repository.head(),
        ),
        Err(error) => format!("error {error:?}"),
    }
}

pub fn here(from: &Path) -> String {
    describe(Repository::discover(from))
}

/// What a process with the environment and user that `prepare` gives it finds from `from`. `program` is this test
/// binary, or a copy of it that another user can reach.
pub fn elsewhere(program: &Path, from: &Path, prepare: impl FnOnce(&mut Command)) -> String {
    run("answer_for_another_process", program, from, prepare)
}

/// The snapshot of the worktree at `from`, or why there is none.
pub fn snapshot_elsewhere(program: &Path, from: &Path, prepare: impl FnOnce(&mut Command)) -> String {
    run("take_a_snapshot_for_another_process", program, from, prepare)
}

/// The number of uncommitted paths at `from`, then the lines of its snapshot: changes, what is unreadable, leftovers and
/// the fingerprint, or the error.
pub fn seen_elsewhere(program: &Path, from: &Path, prepare: impl FnOnce(&mut Command)) -> Vec<String> {
    all_lines("tell_what_is_seen_to_another_process", program, from, prepare)
}

/// What all functions of the Git room answer in the repository at `from` for a process that `prepare` sets up.
pub fn all_elsewhere(from: &Path, prepare: impl FnOnce(&mut Command)) -> String {
    run("do_everything_for_another_process", &std::env::current_exe().unwrap(), from, prepare)
}

fn run(job: &str, program: &Path, from: &Path, prepare: impl FnOnce(&mut Command)) -> String {
    all_lines(job, program, from, prepare).swap_remove(0)
}

fn all_lines(job: &str, program: &Path, from: &Path, prepare: impl FnOnce(&mut Command)) -> Vec<String> {
    let mut command = Command::new(program);
    command.args(["--exact", &format!("probe::{job}"), "--ignored", "--nocapture"]).env(FROM, from);
    prepare(&mut command);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let answer: Vec<_> =
        text.lines().filter_map(|line| line.strip_prefix("PROBE ")).map(str::to_owned).collect();
    assert!(!answer.is_empty(), "no answer: {text}{}", String::from_utf8_lossy(&output.stderr));
    answer
}
