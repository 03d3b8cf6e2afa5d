//! From what the rooms below say to what a caller is told.

use super::{Audience, Code, Failure};
use crate::{git, ledger};

impl From<ledger::Error> for Failure {
    fn from(error: ledger::Error) -> Self {
        use ledger::Error;
        let message = error.to_string();
        match error {
            Error::NotInitialized(path) => {
                let why = format!("there is no ledger at {}; nothing was created", path.display());
                Self::new(Code::NotInitialized, why)
                    .with("database", path.to_string_lossy())
                    .then(Audience::Operator, "init")
            }
            Error::Corrupt { path, .. } => {
                let failure = Self::new(
                    Code::CorruptLedger,
                    format!(
                        "{message}. Nothing was changed. Restore the file from a backup, or move its directory away \
                         and initialize again, which starts an empty history"
                    ),
                );
                at("database", &path, failure)
            }
            Error::MigrationRequired { found, needed } => Self::new(
                Code::MigrationRequired,
                format!("{message}; use the version of Foremerge that wrote it, nothing was changed"),
            )
            .with("found", found)
            .with("needed", needed),
            Error::UnsupportedSchema { found, known } => Self::new(
                Code::UnsupportedSchema,
                format!("{message}; update Foremerge, nothing was changed"),
            )
            .with("found", found)
            .with("known", known),
            Error::Replaced(path) => Self::new(
                Code::LedgerReplaced,
                format!("{message}; nothing was changed; the next call uses the file that is there now"),
            )
            .with("database", path.to_string_lossy()),
            Error::ReadOnly { path, .. } => {
                let failure = Self::new(
                    Code::LedgerReadonly,
                    format!(
                        "{message}. To write, this user needs write access and free space there; reading needs neither"
                    ),
                );
                at("path", &path, failure)
            }
            Error::Occupied { .. } => {
                Self::invalid("database", message, "the path of a ledger, or of a file that is not there")
            }
            Error::Busy(_) | Error::Cancelled => Self::new(Code::NotReady, message),
            Error::NotFound { .. } => Self::new(Code::NotFound, message),
            Error::Ambiguous { noun, candidates, .. } => {
                Self::new(Code::InvalidInput, format!("{message}: {}", candidates.join(", ")))
                    .with("field", noun)
                    .with("accepted", "more digits, so that one is left")
                    .with("candidates", candidates)
            }
            Error::Refused { .. } | Error::Internal(_) => Self::new(Code::InternalError, message),
        }
    }
}

/// The path as a detail, where it is known.
fn at(key: &str, path: &std::path::Path, failure: Failure) -> Failure {
    if path.as_os_str().is_empty() { failure } else { failure.with(key, path.to_string_lossy()) }
}

impl From<git::Error> for Failure {
    fn from(error: git::Error) -> Self {
        use git::Error;
        let message = error.to_string();
        let (code, remedy) = match &error {
            Error::NotARepository { .. } => (Code::NotARepository, None),
            Error::Unreadable { remedy, .. } => (Code::RepositoryUnreadable, remedy.as_ref()),
            Error::Unsupported { remedy, .. } => (Code::UnsupportedRepository, remedy.as_ref()),
            Error::Unwritable { .. } => (Code::InternalError, None),
            Error::NeedsHistory { remedy, .. } => (Code::RepositoryUnreadable, Some(remedy)),
            Error::Missing { .. } => (Code::RepositoryUnreadable, None),
            Error::NoWorktree { .. } | Error::Unresolved { .. } => (Code::InvalidInput, None),
            Error::TooMuch { .. } => (Code::ResourceLimit, None),
        };
        match remedy {
            Some(remedy) => {
                Self::new(code, format!("{message}; run `{remedy}`")).with("remedy", remedy.as_str())
            }
            None => Self::new(code, message),
        }
    }
}

impl From<git::worktree::CreateError> for Failure {
    fn from(error: git::worktree::CreateError) -> Self {
        use git::worktree::CreateError;
        match (error.refused(), error) {
            (Some((field, accepted)), error) => Self::invalid(field, error, accepted),
            (None, CreateError::Git(error)) => error.into(),
            (None, error) => Self::new(Code::NotReady, error.to_string()),
        }
    }
}
