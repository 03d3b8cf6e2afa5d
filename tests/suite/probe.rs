//! Discovery in a process of its own, for tests that need another environment or another user.
#![expect(clippy::disallowed_methods, reason = "a process of its own is the point")]

use std::path::{Path, PathBuf};
use std::process::Command;

use foremerge::git::{Error, Exclusions, Repository};

const FROM: &str = "PROBE_FROM";

#[test]
#[ignore = "other tests run this one in a process of its own"]
fn answer_for_another_process() {
    let from = PathBuf::from(std::env::var_os(FROM).unwrap());
    println!("\nPROBE {}", describe(Repository::discover(&from)));
}

#[test]
#[ignore = "other tests run this one in a process of its own"]
fn look_for_another_process() {
    let from = PathBuf::from(std::env::var_os(FROM).unwrap());
    let repository = Repository::discover(&from).unwrap();
    let snapshot = repository.snapshot(b"probe", &Exclusions::default()).unwrap();
    let candidate = snapshot.head.commit.unwrap();
    let base = repository.base_of(Some(&candidate), None).unwrap().compared_with.unwrap();
    let patch = repository.patch_digest(&base, &candidate).unwrap();
    let symbols = repository.touched_symbols(&base, &candidate).unwrap();
    let landing = repository.landing(&base, &candidate).unwrap();
    println!("\nPROBE {} {patch} {symbols:?} {landing:?}", snapshot.fingerprint);
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

/// What a snapshot, a patch and a landing are in the repository at `from` for a process that `prepare` sets up.
pub fn look_elsewhere(from: &Path, prepare: impl FnOnce(&mut Command)) -> String {
    run("look_for_another_process", &std::env::current_exe().unwrap(), from, prepare)
}

fn run(job: &str, program: &Path, from: &Path, prepare: impl FnOnce(&mut Command)) -> String {
    let mut command = Command::new(program);
    command.args(["--exact", &format!("probe::{job}"), "--ignored", "--nocapture"]).env(FROM, from);
    prepare(&mut command);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let answer = text.lines().find_map(|line| line.strip_prefix("PROBE "));
    answer
        .unwrap_or_else(|| panic!("no answer: {text}{}", String::from_utf8_lossy(&output.stderr)))
        .to_owned()
}
