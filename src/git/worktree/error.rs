//! Why a worktree was not made.

use std::path::PathBuf;

use super::super::{Error, RevisionError};

/// Why a worktree was not made. Nothing was left behind, unless undoing failed as well; the next call undoes it then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    /// Git allows no branch of this name.
    #[error("{branch:?} cannot be the name of a branch: {why}")]
    BranchName {
        /// The name that was asked for.
        branch: String,
        /// What is wrong with it.
        why: String,
    },
    /// The branch exists.
    #[error("the branch {branch} exists already{}", match at {
        Some(at) => format!(" and is checked out at {}", at.display()),
        None => String::new(),
    })]
    BranchExists {
        /// The branch, without `refs/heads/`.
        branch: String,
        /// The worktree it is checked out in.
        at: Option<PathBuf>,
    },
    /// The branch does not exist, and another worktree is about to make it with its first commit.
    #[error("the branch {branch} has no commit yet and is checked out at {}", at.display())]
    BranchAwaited {
        /// The branch, without `refs/heads/`.
        branch: String,
        /// The worktree it is checked out in.
        at: PathBuf,
    },
    /// One branch cannot be a directory of another.
    #[error(
        "the branch {branch} cannot be there beside {with}: one of the two would be a directory of the other"
    )]
    BranchClash {
        /// The branch, without `refs/heads/`.
        branch: String,
        /// The full name of the branch in the way.
        with: String,
    },
    /// There can be no worktree at this path.
    #[error("there can be no worktree at {}: {why}", path.display())]
    Path {
        /// The path that was asked for.
        path: PathBuf,
        /// Why not, and what can be.
        why: String,
    },
    /// The start is not one commit.
    #[error(transparent)]
    Base(#[from] RevisionError),
    /// Another program is changing refs, or died doing so: `lock` is in the way.
    #[error(
        "{} is in the way; try again, and if no git command is running, one died and left it behind: remove it",
        lock.display()
    )]
    Busy {
        /// The lock file.
        lock: PathBuf,
    },
    /// The repository itself failed, a filter among them.
    #[error(transparent)]
    Git(#[from] Error),
}

impl CreateError {
    /// The part of the request that was refused; `None` when nothing was wrong with it.
    #[must_use]
    pub fn field(&self) -> Option<&'static str> {
        self.refused().map(|(field, _)| field)
    }

    /// The same with what would have been taken there.
    #[must_use]
    pub fn refused(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::BranchName { .. }
            | Self::BranchExists { .. }
            | Self::BranchAwaited { .. }
            | Self::BranchClash { .. } => {
                Some(("branch", "the name of a branch that is new and that git allows"))
            }
            Self::Path { .. } => {
                Some(("path", "a path that is not there yet, or an empty directory, outside Git's own"))
            }
            Self::Base(_) => Some(("base", "a revision that names one commit")),
            Self::Busy { .. } | Self::Git(_) => None,
        }
    }
}
