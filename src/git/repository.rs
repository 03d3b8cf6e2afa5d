//! An open repository.

use std::path::{Path, PathBuf};

use super::discover::{self, Found};
use super::error::sentence;
use super::{Error, open, spelling};

/// An open repository, seen from one of its worktrees or from its Git directory.
///
/// It is cheap to open and caches its configuration, so it is opened for each operation and not kept.
#[derive(Debug)]
pub struct Repository {
    inner: gix::Repository,
    git_dir: PathBuf,
    common_dir: PathBuf,
    worktree_root: Option<PathBuf>,
    runs_filters: bool,
}

impl Repository {
    /// Find and open the repository that `from` lies in, as `git -C from` would with a clean environment: `GIT_DIR`,
    /// `GIT_WORK_TREE`, `GIT_CEILING_DIRECTORIES` and the like have no say. A relative `from` starts at the current
    /// directory.
    ///
    /// # Errors
    /// [`Error::NotARepository`] when there is none on the way up; [`Error::Unreadable`] when there is one that cannot
    /// be used, or `from` is no directory (never a silent step to an enclosing repository); [`Error::Unsupported`]
    /// when its format is not understood.
    pub fn discover(from: &Path) -> Result<Self, Error> {
        let found = discover::walk(from)?;
        let mut inner = open::open(&found)?;
        spell(&mut inner)?;
        let real = |path: &Path| {
            std::fs::canonicalize(path).map_err(|error| Error::unreadable(path, error.to_string()))
        };
        let worktree_root = match (&found, inner.workdir()) {
            (Found::GitDir(_), _) | (_, None) => None,
            (Found::Worktree { root, .. }, Some(configured)) => {
                Some(std::fs::canonicalize(configured).map_err(|_| {
                    Error::unreadable(
                        root,
                        format!("core.worktree names {}, which is not there", configured.display()),
                    )
                })?)
            }
        };
        Ok(Self {
            git_dir: real(inner.git_dir())?,
            common_dir: real(inner.common_dir())?,
            worktree_root,
            inner,
            runs_filters: true,
        })
    }

    /// The worktree at `root` of a repository that was opened already.
    pub(super) fn of_worktree(mut inner: gix::Repository, root: PathBuf) -> Result<Self, Error> {
        spell(&mut inner)?;
        let real = |path: &Path| {
            std::fs::canonicalize(path).map_err(|error| Error::unreadable(path, error.to_string()))
        };
        let (git_dir, common_dir) = (real(inner.git_dir())?, real(inner.common_dir())?);
        Ok(Self { inner, git_dir, common_dir, worktree_root: Some(root), runs_filters: true })
    }

    /// The directory all worktrees of this repository share, as a real path.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The Git directory of this worktree, as a real path: that of the repository, or a linked worktree's private one.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The top of the worktree, as a real path; `None` in a bare repository and inside a Git directory.
    #[must_use]
    pub fn worktree_root(&self) -> Option<&Path> {
        self.worktree_root.as_deref()
    }

    /// Whether this is a worktree made by `git worktree add`, as opposed to the main one.
    #[must_use]
    pub fn is_linked_worktree(&self) -> bool {
        self.git_dir != self.common_dir
    }

    /// Refuse a sparse index, which nothing that reads the index here understands. A sparse checkout with a full index
    /// passes.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a sparse index, [`Error::Unreadable`] for a damaged one.
    pub fn require_full_index(&self) -> Result<(), Error> {
        let index = self
            .inner
            .index_or_empty()
            .map_err(|error| Error::unreadable(&self.inner.index_path(), sentence(&error)))?;
        if index.is_sparse() {
            return Err(Error::unsupported(&self.git_dir, "its index is sparse")
                .with_remedy("git sparse-checkout reapply --no-sparse-index".into()));
        }
        Ok(())
    }

    /// Whether the filters that the configuration names are run.
    pub(super) fn runs_filters(&self) -> bool {
        self.runs_filters
    }

    /// The same repository, with content left as it is where a filter would have a say.
    pub(super) fn without_filters(mut self) -> Result<Self, Error> {
        let mut config = self.inner.config_snapshot_mut();
        let ids: Vec<_> =
            config.sections_and_ids_by_name("filter").into_iter().flatten().map(|(_, id)| id).collect();
        for id in ids {
            config.remove_section_by_id(id);
        }
        config.commit().map_err(|error| Error::unreadable(&self.git_dir, sentence(&error)))?;
        self.runs_filters = false;
        Ok(self)
    }

    pub(super) fn inner(&self) -> &gix::Repository {
        &self.inner
    }
}

fn spell(inner: &mut gix::Repository) -> Result<(), Error> {
    spelling::spell_as_gix(inner).map_err(|error| Error::unreadable(inner.git_dir(), sentence(&error)))
}
