//! Discovery in a process of its own, for tests that need another environment or another user.
#![expect(clippy::disallowed_methods, reason = "a process of its own is the point")]

use std::path::{Path, PathBuf};
use std::process::Command;

use foremerge::git::{Error, Repository};

const FROM: &str = "PROBE_FROM";

#[test]
#[ignore = "other tests run this one in a process of its own"]
fn answer_for_another_process() {
    let from = PathBuf::from(std::env::var_os(FROM).unwrap());
    println!("\nPROBE {}", describe(Repository::discover(&from)));
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
    let mut command = Command::new(program);
    command
        .args(["--exact", "probe::answer_for_another_process", "--ignored", "--nocapture"])
        .env(FROM, from);
    prepare(&mut command);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let answer = text.lines().find_map(|line| line.strip_prefix("PROBE "));
    answer
        .unwrap_or_else(|| panic!("no answer: {text}{}", String::from_utf8_lossy(&output.stderr)))
        .to_owned()
}
