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
            Error::NotFound { reference, .. } => {
                Self::new(Code::NotFound, message).with(Self::REFERENCE, reference)
            }
            Error::Unresolved { reference, nearest, .. } => {
                let failure = Self::new(Code::NotFound, message).with(Self::REFERENCE, reference);
                if nearest.is_empty() { failure } else { failure.with("nearest", nearest) }
            }
            Error::Ambiguous { noun, reference, candidates } => {
                Self::new(Code::InvalidInput, format!("{message}: {}", candidates.join(", ")))
                    .with("field", noun)
                    .with(Self::REFERENCE, reference)
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
            Error::Busy { path } => {
                return Self::new(Code::NotReady, message).with("lock", path.to_string_lossy());
            }
            Error::NotARepository { .. } => (Code::NotARepository, None),
            Error::Unreadable { remedy, .. } => (Code::RepositoryUnreadable, remedy.as_ref()),
            Error::Unsupported { remedy, .. } => (Code::UnsupportedRepository, remedy.as_ref()),
            Error::NeedsHistory { remedy, .. } => (Code::RepositoryUnreadable, Some(remedy)),
            Error::Unwritable { .. } | Error::Missing { .. } => (Code::RepositoryUnreadable, None),
            Error::NoWorktree { .. } | Error::Unresolved { .. } => (Code::InvalidInput, None),
            Error::TooMuch { .. } => (Code::ResourceLimit, None),
        };
        if code == Code::NotARepository {
            return Self::new(
                code,
                format!(
                    "{message}; work in one (-C DIR), make one (`git init`), or do without (`foremerge init \
                     --standalone DIR`)"
                ),
            );
        }
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
        let message = error.to_string();
        match (error.refused(), error) {
            (Some((field, accepted)), error) => Self::invalid(field, error, accepted),
            (None, CreateError::Git(error)) => error.into(),
            (None, CreateError::Busy { lock }) => {
                Self::new(Code::NotReady, message).with("lock", lock.to_string_lossy())
            }
            (None, _) => Self::new(Code::NotReady, message),
        }
    }
}

impl From<git::RevisionError> for Failure {
    fn from(error: git::RevisionError) -> Self {
        Self::invalid("revision", error, "a branch, a tag or an id that names one commit")
    }
}

impl From<git::refs::RefError> for Failure {
    fn from(error: git::refs::RefError) -> Self {
        use git::refs::RefError;
        let message = error.to_string();
        match error {
            RefError::Git(error) => error.into(),
            RefError::Name { .. } => {
                Self::invalid("ref", message, "a name that Git takes, below refs/foremerge/")
            }
            RefError::NoObject { .. } => {
                Self::invalid("target", message, "the full id of an object that is here")
            }
            RefError::Expected { .. } => {
                Self::invalid("expected", message, "the full id that the ref named when it was read")
            }
            RefError::Taken { name, found } => {
                Self::new(Code::CheckFailed, message).with("ref", name).with("found", found)
            }
            RefError::Clash { name, with } => {
                Self::new(Code::CheckFailed, message).with("ref", name).with("in_the_way", with)
            }
            RefError::Moved { name, expected, found } => Self::new(Code::StateRace, message)
                .with("ref", name)
                .with("expected", expected)
                .with("found", found),
            RefError::Damaged { name, .. } => {
                Self::new(Code::RepositoryUnreadable, message).with("ref", name)
            }
            RefError::Busy { name, lock } => {
                Self::new(Code::NotReady, message).with("ref", name).with("lock", lock)
            }
            RefError::Unfinished { name, found, .. } => {
                Self::new(Code::InternalError, message).with("ref", name).with("found", found)
            }
        }
    }
}

impl From<git::landing::Refusal> for Failure {
    fn from(refusal: git::landing::Refusal) -> Self {
        use git::landing::{PathRefusal, Refusal};
        let failure = Self::new(Code::TargetDiverged, refusal.to_string());
        let Refusal::Paths(paths) = refusal else { return failure };
        let detail = |PathRefusal { path, reason }: PathRefusal| {
            let path = String::from_utf8_lossy(&path).into_owned();
            serde_json::json!({ "path": path, "reason": reason.to_string() })
        };
        failure.with("paths", paths.into_iter().map(detail).collect::<Vec<_>>())
    }
}

impl From<git::snapshot::InvalidExclusion> for Failure {
    fn from(error: git::snapshot::InvalidExclusion) -> Self {
        let accepted = "an exact path, or a directory with a slash at its end, below the top of the worktree";
        Self::invalid("path", error, accepted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use git::landing::{PathRefusal, Reason, Refusal};
    use git::refs::RefError;

    #[test]
    fn each_way_to_refuse_a_ref_has_the_code_of_what_to_do_next() {
        let name = || "refs/foremerge/a".to_owned();
        for (error, code) in [
            (RefError::Name { name: name(), why: "no".into() }, Code::InvalidInput),
            (RefError::NoObject { name: name(), id: "x".into() }, Code::InvalidInput),
            (RefError::Expected { name: name(), id: "x".into() }, Code::InvalidInput),
            (RefError::Taken { name: name(), found: "1".into() }, Code::CheckFailed),
            (RefError::Clash { name: name(), with: "refs/foremerge".into() }, Code::CheckFailed),
            (RefError::Moved { name: name(), expected: "1".into(), found: None }, Code::StateRace),
            (RefError::Damaged { name: name(), holds: "?".into() }, Code::RepositoryUnreadable),
            (RefError::Busy { name: name(), lock: "a.lock".into() }, Code::NotReady),
            (
                RefError::Unfinished { name: name(), found: Some("1".into()), why: "no space".into() },
                Code::InternalError,
            ),
            (RefError::Git(git::Error::Busy { path: "/r/foremerge.lock".into() }), Code::NotReady),
            (RefError::Git(git::Error::NoWorktree { path: "/r".into() }), Code::InvalidInput),
        ] {
            let said = error.to_string();
            let failure = Failure::from(error);
            assert_eq!(failure.code, code, "{failure}");
            assert!(failure.message.ends_with(&said), "{failure}");
        }
    }

    #[test]
    fn a_lock_in_the_way_is_named_apart_from_the_sentence() {
        let branch = Failure::from(git::worktree::CreateError::Busy { lock: "/r/a.lock".into() });
        let reference =
            Failure::from(RefError::Busy { name: "refs/foremerge/a".into(), lock: "/r/a.lock".into() });
        for failure in [branch, reference] {
            assert_eq!((failure.code, &failure.details["lock"]), (Code::NotReady, &"/r/a.lock".into()));
            assert!(failure.message.contains("remove it"), "{failure}");
        }
    }

    #[test]
    fn a_repository_on_read_only_media_is_as_unusable_as_one_that_cannot_be_read() {
        let (path, detail) = ("/r/.git/foremerge.lock".into(), "Read-only file system".into());
        let failure = Failure::from(git::Error::Unwritable { path, detail });
        assert_eq!(failure.code.exit(), crate::failure::Exit::Unusable, "{failure}");
    }

    #[test]
    fn a_landing_is_refused_path_by_path() {
        let paths = vec![PathRefusal { path: b"a/\xff".to_vec(), reason: Reason::Lacking }];
        let failure = Failure::from(Refusal::Paths(paths));
        assert_eq!(failure.code, Code::TargetDiverged);
        assert_eq!(failure.details["paths"][0]["path"], "a/\u{fffd}");
        assert_eq!(failure.details["paths"][0]["reason"], Reason::Lacking.to_string());
        assert_eq!(Failure::from(Refusal::Behind).details.len(), 0);
    }

    #[test]
    fn a_revision_that_is_no_commit_is_bad_input_that_names_it() {
        let error = git::RevisionError::Unborn { revision: "HEAD".into() };
        let failure = Failure::from(error);
        assert_eq!((failure.code, &failure.details["field"]), (Code::InvalidInput, &"revision".into()));
        assert!(failure.message.contains("HEAD"), "{failure}");
    }
}
