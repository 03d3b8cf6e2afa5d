//! A repository inside the worktree: a submodule, or one that is not tracked.

use std::io::Read;
use std::path::Path;

use gix::ObjectId;

use super::super::error::sentence;
use super::super::{Error, Repository, layout};
use super::content::{self, Budget};
use super::status::Status;
use crate::domain::Digest;

/// The state of a nested repository.
#[derive(Debug)]
pub(super) struct Nested {
    pub head: Option<ObjectId>,
    pub is_dirty: bool,
    /// Of what is checked out and, with a budget, of every change to it.
    pub digest: Digest,
}

/// Whether the repository in `dir` has a commit checked out. One that cannot be read has none, as for Git.
pub(super) fn has_commit(dir: &Path) -> bool {
    let real = std::fs::canonicalize(dir).ok();
    real.and_then(|real| {
        let repository =
            Repository::discover(&real).ok().filter(|found| found.worktree_root() == Some(&real))?;
        repository.head().ok()?.commit
    })
    .is_some()
}

/// Look at the repository in `dir`, which lies in the worktree of `outer` and may be tracked there. One that cannot be
/// looked into has changed, and stops nothing.
pub(super) fn look(
    outer: &Repository,
    dir: &Path,
    is_tracked: bool,
    budget: Option<&mut Budget>,
) -> Result<Nested, Error> {
    match look_into(outer, dir, is_tracked, budget) {
        Err(error) if !matches!(error, Error::TooMuch { .. }) => {
            Ok(Nested { head: None, is_dirty: true, digest: closed(dir, &error) })
        }
        looked => looked,
    }
}

/// What tells a repository that cannot be looked into from others: why, the bytes of its `.git` file and of its `HEAD`.
fn closed(dir: &Path, error: &Error) -> Digest {
    let why: &[u8] = match error {
        Error::Unsupported { .. } => b"unsupported",
        Error::Missing { .. } => b"missing",
        _ => b"unreadable",
    };
    let dot_git = dir.join(".git");
    let target = std::fs::metadata(&dot_git)
        .ok()
        .filter(std::fs::Metadata::is_file)
        .and_then(|found| layout::git_file_target(&dot_git, &found).ok());
    let head = target.as_deref().unwrap_or(&dot_git).join("HEAD");
    Digest::of_fields(&[b"closed", why, &beginning(&dot_git), &beginning(&head)])
}

/// The beginning of a small file; nothing of what is no file or cannot be read.
fn beginning(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
        let _ = std::fs::File::open(path).and_then(|file| file.take(4 << 10).read_to_end(&mut bytes));
    }
    bytes
}

/// Whether what lies at `real` is the worktree that its repository knows, the main or a linked one, and not a copy or a
/// directory that merely points there: nobody else takes a snapshot of those.
fn is_at_home(repository: &Repository, real: &Path) -> bool {
    if !repository.is_linked_worktree() {
        return repository.git_dir() == real.join(".git");
    }
    let known = std::fs::read(repository.git_dir().join("gitdir")).ok().and_then(|text| {
        let dot_git = gix::path::from_byte_slice(layout::trim_line_ends(&text)).ok()?;
        std::fs::canonicalize(repository.git_dir().join(dot_git).parent()?).ok()
    });
    known.is_some_and(|known| known == real)
}

/// Whether `.git` in `real` is the Git directory of `repository`.
fn is_own(repository: &Repository, real: &Path) -> bool {
    std::fs::canonicalize(real.join(".git")).is_ok_and(|own| own == repository.git_dir())
}

/// The repository, which its configuration says is bare, with the files that stand around its Git directory.
fn with_worktree(repository: &Repository, real: &Path) -> Result<Repository, Error> {
    let mut inner = repository.inner().clone();
    inner.set_workdir(real.to_owned()).map_err(|error| Error::unreadable(real, sentence(&error)))?;
    Repository::of_worktree(inner, real.to_owned())
}

fn look_into(
    outer: &Repository,
    dir: &Path,
    is_tracked: bool,
    mut budget: Option<&mut Budget>,
) -> Result<Nested, Error> {
    let real = std::fs::canonicalize(dir).map_err(|error| Error::unreadable(dir, error.to_string()))?;
    let mut repository = Repository::discover(&real)?;
    if repository.worktree_root().is_none() && is_own(&repository, &real) {
        repository = with_worktree(&repository, &real)?;
    }
    if !is_tracked || !outer.runs_filters() {
        // Git would not look into it, so no program that it names is started.
        repository = repository.without_filters()?;
    }
    if repository.worktree_root() != Some(&real) {
        return Err(Error::unreadable(dir, "its .git is no Git directory"));
    }
    let head = repository.head()?;
    let tree = repository.tree_of(&head)?;
    let id = head.commit.as_deref().and_then(|id| ObjectId::from_hex(id.as_bytes()).ok());
    if !is_tracked && repository.common_dir() == outer.common_dir() && is_at_home(&repository, &real) {
        // Another worktree of the same repository: its own snapshot tells what it holds. One that is tracked is a
        // submodule like any other.
        return Ok(Nested { head: id, is_dirty: false, digest: Digest::of(b"worktree") });
    }
    let status = Status::of(&repository, tree, budget.as_deref_mut())?;
    let content = match budget {
        Some(budget) => content::digest(&repository, &status, budget)?,
        None => Digest::of(b""),
    };
    let digest =
        Digest::of_fields(&[head.commit.as_deref().unwrap_or("UNBORN").as_bytes(), content.as_bytes()]);
    Ok(Nested { head: id, is_dirty: !status.entries.is_empty(), digest })
}
