//! What is checked out.

use gix::head::Kind;
use gix::refs::TargetRef;

use super::error::sentence;
use super::{Error, Repository};

/// How far a chain of symbolic references is followed; stock git's own limit.
const LONGEST_CHAIN: usize = 5;

/// What is checked out. Unborn: a branch and no commit. Detached: a commit and no branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The branch without `refs/heads/`, or the full name of a reference that is no branch. Not UTF-8: with
    /// replacement characters.
    pub branch: Option<String>,
    /// The full hexadecimal id of the commit.
    pub commit: Option<String>,
}

impl Repository {
    /// What is checked out here, read anew from disk.
    ///
    /// # Errors
    /// [`Error::Unreadable`] when `HEAD` or the branch it names holds something that is no reference.
    pub fn head(&self) -> Result<Head, Error> {
        read(self.inner()).map_err(|error| Error::unreadable(self.git_dir(), sentence(&error)))
    }
}

/// What is checked out in `repository`.
fn read(repository: &gix::Repository) -> gix::Result<Head> {
    let (mut name, mut target) = match repository.head()?.kind {
        Kind::Detached { target, .. } => {
            return Ok(Head { branch: None, commit: Some(target.to_string()) });
        }
        Kind::Unborn(name) => (name, None),
        Kind::Symbolic(reference) => (reference.name, Some(reference.target)),
    };
    // A branch may itself be symbolic; git names the one at the end, which is the one that commits move.
    for _ in 0..LONGEST_CHAIN {
        let Some(next) = target.as_ref().and_then(|target| target.try_name()) else {
            break;
        };
        name = next.to_owned();
        target = repository.try_find_reference(&name)?.map(|found| match found.target() {
            TargetRef::Object(id) => gix::refs::Target::Object(id.to_owned()),
            TargetRef::Symbolic(next) => gix::refs::Target::Symbolic(next.to_owned()),
        });
    }
    let full = name.as_bstr();
    let short = full.strip_prefix(b"refs/heads/").unwrap_or(full);
    Ok(Head {
        branch: Some(String::from_utf8_lossy(short).into_owned()),
        commit: target.as_ref().and_then(|target| target.try_id()).map(|id| id.to_hex().to_string()),
    })
}
