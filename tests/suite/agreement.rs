//! Our answers held against stock git's.

use std::path::{Path, PathBuf};

use foremerge::git::Repository;

use crate::sandbox::{git, try_git};

/// Discover from `dir` and hold every answer against stock git's.
pub fn agree(dir: &Path) -> Repository {
    let found = Repository::discover(dir).unwrap();
    let common = git(dir, &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    assert_eq!(found.common_dir(), std::fs::canonicalize(common).unwrap());
    assert_eq!(found.git_dir(), Path::new(&git(dir, &["rev-parse", "--absolute-git-dir"])));
    let inside = git(dir, &["rev-parse", "--is-inside-work-tree"]) == "true";
    let top = inside.then(|| PathBuf::from(git(dir, &["rev-parse", "--show-toplevel"])));
    assert_eq!(found.worktree_root(), top.as_deref());

    let head = found.head().unwrap();
    let commit = try_git(dir, &["rev-parse", "-q", "--verify", "HEAD"]);
    let commit = String::from_utf8(commit.stdout).unwrap();
    assert_eq!(head.commit.as_deref().unwrap_or(""), commit.trim_end());
    let branch = try_git(dir, &["symbolic-ref", "-q", "HEAD"]).stdout;
    let branch = String::from_utf8_lossy(branch.trim_ascii_end()).replace("refs/heads/", "");
    assert_eq!(head.branch.unwrap_or_default(), branch);
    found
}

/// The worktree roots in order of path.
pub fn sorted_roots(repository: &Repository) -> Vec<PathBuf> {
    let mut roots = repository.worktree_roots().unwrap();
    roots.sort();
    roots
}
