//! What can go wrong in the ledger.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// A refusal of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no ledger here and there never was.
    #[error("no ledger at {0}")]
    NotInitialized(PathBuf),
    /// The file is missing, empty, damaged or somebody else's.
    #[error("the ledger{} cannot be used: {why}", at(path))]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// An earlier version of Foremerge wrote it.
    #[error("the ledger has schema {found}, this version needs {needed}")]
    MigrationRequired {
        /// Schema of the file.
        found: i64,
        /// Schema of this version.
        needed: i64,
    },
    /// A later version of Foremerge wrote it.
    #[error("the ledger has schema {found}, this version knows {known}")]
    UnsupportedSchema {
        /// Schema of the file.
        found: i64,
        /// Schema of this version.
        known: i64,
    },
    /// Another file took its place while it was open.
    #[error("the ledger at {0} was replaced or removed while it was in use")]
    Replaced(PathBuf),
    /// It can be read but not written.
    #[error("the ledger{} cannot be written: {why}", at(path))]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        why: String,
    },
    /// The directory it should be created in is taken by something else.
    #[error("{path} {why}")]
    Occupied {
        /// The directory.
        path: PathBuf,
        /// What stands in the way.
        why: String,
    },
    /// Its turn did not come in time.
    #[error("the ledger is busy: {0}")]
    Busy(String),
    /// No entity has this id.
    #[error("no {noun} has the id {reference}")]
    NotFound {
        /// What was looked for, such as `agent`.
        noun: &'static str,
        /// The id as given.
        reference: String,
    },
    /// No entity has an id that begins so.
    #[error("no {noun} has the id {reference}{}", meant(nearest))]
    Unresolved {
        /// What was looked for, such as `agent`.
        noun: &'static str,
        /// The id as given.
        reference: String,
        /// What it may mean, the most likely first, at most three.
        nearest: Vec<String>,
    },
    /// Several entities have an id that begins so.
    #[error("the id {reference} fits more than one {noun}")]
    Ambiguous {
        /// What was looked for.
        noun: &'static str,
        /// The id as given.
        reference: String,
        /// The first of them, at most ten.
        candidates: Vec<String>,
    },
    /// An event from another ledger was refused.
    #[error("event {number} of {replica} is refused: {why}")]
    Refused {
        /// The replica it claims to come from.
        replica: String,
        /// Its number there.
        number: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The work was cancelled by its caller.
    #[error("cancelled")]
    Cancelled,
    /// Anything else.
    #[error("{0}")]
    Internal(String),
}

/// The path in a message, where it is known.
fn at(path: &Path) -> String {
    if path.as_os_str().is_empty() { String::new() } else { format!(" at {}", path.display()) }
}

/// What somebody may have meant, as the end of a message.
fn meant(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", nearest.join(" or ")) }
}

impl Error {
    /// A file operation on `path` that failed although it had to succeed for a write.
    pub(super) fn writing(path: &Path, error: &io::Error) -> Self {
        Self::ReadOnly { path: path.to_owned(), why: error.to_string() }
    }

    /// SQLite's refusal, told about the ledger at `path`.
    pub(super) fn at(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let why = error.to_string();
        if contradicts_the_schema(error) {
            return Self::Corrupt { path, why: format!("a value is not of its kind: {why}") };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt { path, why },
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::ReadOnly { path, why }
            }
            Some(ErrorCode::DiskFull) => Self::ReadOnly { path, why: "the disk is full".to_owned() },
            Some(ErrorCode::SystemIoFailure) => {
                Self::ReadOnly { path, why: format!("the disk refused: {why}") }
            }
            Some(
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed,
            ) => Self::Busy(why),
            _ => Self::Internal(why),
        }
    }
}

/// Whether a value was read that no version of this schema ever writes.
fn contradicts_the_schema(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    matches!(
        error,
        E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::InvalidColumnType(..)
            | E::Utf8Error(..)
    )
}

impl From<rusqlite::Error> for Error {
    /// For errors inside a transaction, where the path is not at hand.
    fn from(error: rusqlite::Error) -> Self {
        Self::at(Path::new(""), &error)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Internal(format!("a payload cannot be written: {error}"))
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Internal(error.to_string())
    }
}
