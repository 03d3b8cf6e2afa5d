//! What a candidate is compared with.

use gix::ObjectId;

use super::super::{Error, Repository};

/// How a base was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseResolution {
    /// The caller named it.
    CallerSupplied,
    /// The first parent of the candidate.
    FirstParent,
    /// The candidate has no parent: the empty tree.
    RootCommit,
    /// The history ends at the candidate because the clone is shallow: what it changed cannot be known.
    ShallowBoundary,
    /// There is no commit yet.
    UnbornWorktree,
}

impl BaseResolution {
    /// The name in records and answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CallerSupplied => "caller_supplied",
            Self::FirstParent => "first_parent",
            Self::RootCommit => "root_commit",
            Self::ShallowBoundary => "shallow_boundary",
            Self::UnbornWorktree => "unborn_worktree",
        }
    }
}

/// What a candidate is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// How it was chosen.
    pub resolution: BaseResolution,
    /// The full id of the commit; `None` where there is none.
    pub commit: Option<String>,
    /// What [`Repository::patch_digest`] and its kin take: the commit, or the empty tree for a root commit. `None` where
    /// no patch can be made and the digest of the worktree's content stands in.
    pub compared_with: Option<String>,
}

impl Repository {
    /// The base of `candidate`, a full commit id or `None` on an unborn branch. `supplied` is the name a caller gave.
    ///
    /// # Errors
    /// [`Error::Unresolved`] when `supplied` means no commit or the candidate itself; [`Error::Missing`] when the
    /// candidate or its first parent is not here.
    pub fn base_of(&self, candidate: Option<&str>, supplied: Option<&str>) -> Result<Base, Error> {
        if let Some(name) = supplied {
            let commit =
                self.resolve_commit(name).map_err(|error| self.unresolved(name, error.to_string()))?;
            if candidate == Some(commit.as_str()) {
                let why = "is the candidate itself; name the commit that the work started from";
                return Err(self.unresolved(name, format!("{name:?} {why}")));
            }
            return Ok(Base::commit(BaseResolution::CallerSupplied, commit));
        }
        let Some(candidate) = candidate else {
            return Ok(Base {
                resolution: BaseResolution::UnbornWorktree,
                commit: None,
                compared_with: None,
            });
        };
        let id = self.parse_id(candidate)?;
        let parent = self.commit(id)?.parents.first().copied();
        if self.is_shallow_boundary(id)? {
            return Ok(Base {
                resolution: BaseResolution::ShallowBoundary,
                commit: None,
                compared_with: None,
            });
        }
        match parent {
            Some(parent) => {
                self.commit(parent)?;
                Ok(Base::commit(BaseResolution::FirstParent, parent.to_string()))
            }
            None => Ok(Base {
                resolution: BaseResolution::RootCommit,
                commit: None,
                compared_with: Some(self.empty_tree()),
            }),
        }
    }

    /// Whether the clone's history was cut off at `id`.
    pub(in super::super) fn is_shallow_boundary(&self, id: ObjectId) -> Result<bool, Error> {
        let commits = self.inner().shallow_commits().map_err(|error| self.walk_failed(&error))?;
        Ok(commits.is_some_and(|commits| commits.iter().any(|commit| *commit == id)))
    }

    pub(in super::super) fn parse_id(&self, id: &str) -> Result<ObjectId, Error> {
        ObjectId::from_hex(id.as_bytes())
            .ok()
            .filter(|parsed| parsed.kind() == self.inner().object_hash())
            .ok_or_else(|| self.unresolved(id, format!("{id:?} is not a full object id of this repository")))
    }

    fn unresolved(&self, name: &str, detail: String) -> Error {
        Error::Unresolved { path: self.git_dir().to_owned(), name: name.to_owned(), detail }
    }
}

impl Base {
    fn commit(resolution: BaseResolution, commit: String) -> Self {
        Self { resolution, compared_with: Some(commit.clone()), commit: Some(commit) }
    }
}
