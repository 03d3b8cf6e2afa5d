//! The way up from a directory to its repository, as stock git walks it: at each level first `.git`, then the directory
//! itself as a bare repository, never across a mount point. Environment variables have no say.

use std::path::{Path, PathBuf};

use super::Error;
use super::error::shell_word;
use super::layout::{self, Layout};

/// A repository that was found but not yet opened.
#[derive(Debug)]
pub(super) enum Found {
    /// `root` holds `.git`: a directory, or a file that names `git_dir`.
    Worktree {
        root: PathBuf,
        dot_git: PathBuf,
        /// Where a `.git` file points.
        linked: Option<PathBuf>,
    },
    /// The search began in a bare repository or inside a Git directory.
    GitDir(PathBuf),
}

/// Walk up from `from` to the first repository.
pub(super) fn walk(from: &Path) -> Result<Found, Error> {
    let start = match std::fs::canonicalize(from) {
        Ok(start) if start.is_dir() => start,
        Ok(start) => return Err(Error::unreadable(&start, "it is not a directory")),
        Err(error) if layout::absent(&error) => {
            return Err(Error::unreadable(from, "there is no such directory"));
        }
        Err(error) => return Err(Error::unreadable(from, error.to_string())),
    };
    for dir in start.ancestors() {
        if !same_file_system(&start, dir) {
            break;
        }
        if let Some(found) = look_at(dir)? {
            return Ok(found);
        }
    }
    Err(Error::NotARepository { path: start })
}

fn look_at(dir: &Path) -> Result<Option<Found>, Error> {
    let dot_git = dir.join(".git");
    match std::fs::metadata(&dot_git) {
        Ok(metadata) if metadata.is_file() => return git_file(dir, dot_git, &metadata).map(Some),
        Ok(_) => match layout::inspect(&dot_git) {
            Layout::Repository => {
                return Ok(Some(Found::Worktree { root: dir.to_owned(), dot_git, linked: None }));
            }
            Layout::Damaged(detail) => return Err(Error::unreadable(&dot_git, detail)),
            Layout::Nothing => {}
        },
        // Git passes a dangling symbolic link by; the repository it stood for is missing, not another one meant.
        Err(error) if layout::absent(&error) => {
            if dot_git.is_symlink() {
                return Err(Error::unreadable(
                    dir,
                    "its .git is a symbolic link to something that is not there",
                ));
            }
        }
        Err(error) => return Err(Error::unreadable(&dot_git, error.to_string())),
    }
    match layout::inspect(dir) {
        Layout::Repository => Ok(Some(Found::GitDir(dir.to_owned()))),
        Layout::Damaged(detail) => Err(Error::unreadable(dir, detail)),
        Layout::Nothing => Ok(None),
    }
}

fn git_file(dir: &Path, dot_git: PathBuf, metadata: &std::fs::Metadata) -> Result<Found, Error> {
    let target =
        layout::git_file_target(&dot_git, metadata).map_err(|detail| Error::unreadable(dir, detail))?;
    match layout::inspect(&target) {
        Layout::Repository => Ok(Found::Worktree { root: dir.to_owned(), dot_git, linked: Some(target) }),
        Layout::Damaged(detail) => Err(Error::unreadable(&target, detail)),
        Layout::Nothing => Err(dangling(dir, &target)),
    }
}

/// The error for a `.git` file whose target is no Git directory.
fn dangling(dir: &Path, target: &Path) -> Error {
    let shown = target.display();
    let admin = target.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "worktrees"));
    match admin.and_then(Path::parent).map(layout::inspect) {
        None => Error::unreadable(dir, format!("its .git file points to {shown}, which is not a Git directory")),
        // `git worktree repair` cannot bring back an entry that was pruned, so it is not offered.
        Some(Layout::Repository) => Error::unreadable(
            dir,
            format!("its .git file points to {shown}, but the repository no longer has this worktree on its list"),
        ),
        Some(_) => Error::unreadable(
            dir,
            format!("it is a worktree of a repository that was moved: {shown} is not there; repair it from the repository's new place"),
        )
        .with_remedy(format!("git worktree repair {}", shell_word(dir))),
    }
}

#[cfg(unix)]
fn same_file_system(start: &Path, dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| std::fs::metadata(path).map(|found| found.dev()).ok();
    device(start) == device(dir)
}

#[cfg(not(unix))]
fn same_file_system(_start: &Path, _dir: &Path) -> bool {
    true
}
