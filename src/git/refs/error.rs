//! Why a ref was not changed.

use super::super::Error;

/// Why a ref was not changed, or cannot be read. Nothing was changed, but for [`Unfinished`](Self::Unfinished).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefError {
    /// The name is not one Git allows, or not below `refs/foremerge/`.
    #[error("{name:?} cannot be the name of a ref: {why}")]
    Name {
        /// The name that was asked for.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// Somebody pinned something else under this name.
    #[error("{name} exists already and names {found}")]
    Taken {
        /// The full name.
        name: String,
        /// The full hexadecimal id it names.
        found: String,
    },
    /// It is not what the caller saw when they decided to change it.
    #[error("{name} was to name {expected} and {}", match found {
        Some(found) => format!("names {found} by now"),
        None => "is not there".to_owned(),
    })]
    Moved {
        /// The full name.
        name: String,
        /// What the caller expected.
        expected: String,
        /// What it names; `None` when it is not there.
        found: Option<String>,
    },
    /// One ref cannot be a directory of another.
    #[error("{name} cannot be there beside {with}: one of the two would be a directory of the other")]
    Clash {
        /// The full name that was asked for.
        name: String,
        /// The full name of the ref in the way.
        with: String,
    },
    /// The ref holds no object id.
    #[error("{name} does not hold the id of an object but {holds:?}")]
    Damaged {
        /// The full name.
        name: String,
        /// What it holds, as far as that is text; of a symbolic ref its target, as git writes it.
        holds: String,
    },
    /// What the ref is to name is malformed, of another hash, or an object the repository does not have.
    #[error("{name} cannot name {id:?}, which is not the full id of an object of this repository")]
    NoObject {
        /// The full name.
        name: String,
        /// The id that was asked for.
        id: String,
    },
    /// What the caller expects the ref to name is no id that it could.
    #[error("{name} cannot have named {id:?}, which is not a full id of this repository")]
    Expected {
        /// The full name.
        name: String,
        /// What the caller expected.
        id: String,
    },
    /// Another program is changing refs, or died doing so: `lock` was in the way for longer than anybody needs it.
    #[error(
        "{name} was not changed: {lock} is in the way; try again, and if no git command is running, one died and left \
         it behind: remove it"
    )]
    Busy {
        /// The full name.
        name: String,
        /// Path of the lock file.
        lock: String,
    },
    /// The ref was changed, but may not be on disk yet or lack permissions. The same call again completes a creation; a
    /// swap and a deletion are seen to be done.
    #[error("{name} {}, but not for good: {why}", match found {
        Some(found) => format!("names {found}"),
        None => "is gone".to_owned(),
    })]
    Unfinished {
        /// The full name.
        name: String,
        /// What it names now; `None` when it is not there.
        found: Option<String>,
        /// What went wrong, without a final full stop.
        why: String,
    },
    /// The repository itself failed.
    #[error(transparent)]
    Git(#[from] Error),
}
