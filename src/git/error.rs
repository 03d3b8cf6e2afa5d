//! Why a repository cannot be used.

use std::path::{Path, PathBuf};

use crate::domain::shell;

/// Why a repository cannot be used. Every variant carries the path it is about; `Display` is one sentence for a person,
/// and what to do about it is kept apart in [`remedy`](Error::remedy).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Neither the directory nor any above it is a Git repository.
    #[error("there is no Git repository at or above {}", path.display())]
    NotARepository {
        /// Where the search began.
        path: PathBuf,
    },
    /// There is a repository, or something meant to be one, that cannot be read: another user's, a broken `.git` file,
    /// a damaged `HEAD` or configuration, missing permissions, or a starting point that does not exist.
    #[error("cannot read the Git repository at {}: {detail}", path.display())]
    Unreadable {
        /// The repository, or the file of it that is at fault.
        path: PathBuf,
        /// What is wrong, without a final full stop.
        detail: String,
        /// A command that puts it right, where one is known.
        remedy: Option<String>,
    },
    /// A sound repository that uses something this program does not understand.
    #[error("the Git repository at {} is not supported: {what}", path.display())]
    Unsupported {
        /// The repository's Git directory.
        path: PathBuf,
        /// The feature in the way, without a final full stop.
        what: String,
        /// A command that makes the repository usable, where one exists.
        remedy: Option<String>,
    },
    /// Something in the repository, or a worktree of it, could not be written.
    #[error("cannot write {}: {detail}", path.display())]
    Unwritable {
        /// What was to be written.
        path: PathBuf,
        /// What went wrong, without a final full stop.
        detail: String,
    },
    /// Another process of ours does not end what it alone may do at a time.
    #[error(
        "another process has held the lock of {} for too long; try again, and if one was stopped, let it go on or end it",
        path.display()
    )]
    Busy {
        /// The file that it holds locked.
        path: PathBuf,
    },
    /// A bare repository, or a place inside a Git directory, where a worktree is needed.
    #[error("there is no worktree at {}", path.display())]
    NoWorktree {
        /// The Git directory.
        path: PathBuf,
    },
    /// More changed content than is read.
    #[error("the changed files hold more than {} MiB, up to {}", limit >> 20, path.display())]
    TooMuch {
        /// The file at which the limit was passed.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// An object is not in the repository: a partial clone left it out, or it was lost. Nothing is fetched.
    #[error("the Git repository at {} does not hold an object that is needed: {object}", path.display())]
    Missing {
        /// The Git directory.
        path: PathBuf,
        /// The id of the object, or a sentence with it.
        object: String,
    },
    /// A shallow clone does not reach back far enough for an answer.
    #[error("the Git repository at {} is a shallow clone without the history that decides this", path.display())]
    NeedsHistory {
        /// The Git directory.
        path: PathBuf,
        /// The command that fetches it.
        remedy: String,
    },
    /// A name that stands for no single commit, or for one that cannot be meant.
    #[error("in the Git repository at {}, {detail}", path.display())]
    Unresolved {
        /// The Git directory.
        path: PathBuf,
        /// The name as given.
        name: String,
        /// Why it cannot be used, naming it, without a final full stop.
        detail: String,
    },
}

impl Error {
    /// The path this is about.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::NotARepository { path }
            | Self::Unreadable { path, .. }
            | Self::Unsupported { path, .. }
            | Self::Unwritable { path, .. }
            | Self::Busy { path }
            | Self::NoWorktree { path }
            | Self::TooMuch { path, .. }
            | Self::Missing { path, .. }
            | Self::NeedsHistory { path, .. }
            | Self::Unresolved { path, .. } => path,
        }
    }

    /// The command that would put it right, where one is known.
    #[must_use]
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Unreadable { remedy, .. } | Self::Unsupported { remedy, .. } => remedy.as_deref(),
            Self::NeedsHistory { remedy, .. } => Some(remedy),
            _ => None,
        }
    }

    pub(super) fn unreadable(path: &Path, detail: impl Into<String>) -> Self {
        Self::Unreadable { path: path.to_owned(), detail: detail.into(), remedy: None }
    }

    pub(super) fn unsupported(path: &Path, what: impl Into<String>) -> Self {
        Self::Unsupported { path: path.to_owned(), what: what.into(), remedy: None }
    }

    pub(super) fn unwritable(path: &Path, detail: impl Into<String>) -> Self {
        Self::Unwritable { path: path.to_owned(), detail: detail.into() }
    }

    /// The same error with the command that puts it right.
    pub(super) fn with_remedy(mut self, command: String) -> Self {
        if let Self::Unreadable { remedy, .. } | Self::Unsupported { remedy, .. } = &mut self {
            *remedy = Some(command);
        }
        self
    }
}

/// All that gix says about a failure, on one line.
pub(super) fn sentence(error: &gix::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.iter_errors() {
        let text = cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() && !parts.iter().any(|known| known.contains(&text)) {
            parts.push(text);
        }
    }
    parts.join(": ")
}

/// `path` as one word of a POSIX shell command.
pub(super) fn shell_word(path: &Path) -> String {
    shell::word(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_is_kept_apart_from_the_sentence() {
        let error = Error::unreadable(Path::new("/r"), "it is broken").with_remedy("git fix".into());
        assert_eq!(error.to_string(), "cannot read the Git repository at /r: it is broken");
        assert_eq!(error.remedy(), Some("git fix"));
        assert_eq!(error.path(), Path::new("/r"));
    }
}
