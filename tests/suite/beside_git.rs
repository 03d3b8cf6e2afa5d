//! Snapshots beside what stock git says of the same worktree.

use std::path::Path;

use foremerge::git::{Exclusions, Repository, Snapshot};

use crate::sandbox::git;

pub fn look(root: &Path) -> Snapshot {
    Repository::discover(root).unwrap().snapshot(b"identity", &Exclusions::default()).unwrap()
}

/// The letters and paths, as git prints them.
pub fn lines(snapshot: &Snapshot) -> Vec<String> {
    let line = |change: &foremerge::git::snapshot::Change| {
        format!("{} {}", change.status.escape_ascii(), change.path.escape_ascii())
    };
    snapshot.changes.iter().map(line).collect()
}

/// The letters must be git's.
#[track_caller]
pub fn agrees(root: &Path, why: &str) -> Snapshot {
    let snapshot = look(root);
    let mut ours = lines(&snapshot);
    let said = git(root, &["status", "--porcelain=v1", "--untracked-files=all", "--no-renames"]);
    let mut said: Vec<_> = said.lines().map(str::to_owned).collect();
    ours.sort();
    said.sort();
    assert_eq!(ours, said, "{why}");
    snapshot
}
