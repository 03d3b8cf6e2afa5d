//! Which worktrees a repository has.

use std::path::PathBuf;

use gix::sec::Trust;

use super::super::error::sentence;
use super::super::{Error, Repository, open};
use super::entries;

impl Repository {
    /// The real roots of the main worktree (a bare repository has none) and of every linked one, those that are there.
    /// An entry whose directory is gone, or whose directory now belongs to something else, is left out.
    ///
    /// The main worktree of a repository with a separate Git directory is known only where it is asked for itself, or
    /// where `core.worktree` names it: Git records it nowhere else.
    ///
    /// # Errors
    /// [`Error::Unreadable`] when the main repository or the list of worktrees cannot be read.
    pub fn worktree_roots(&self) -> Result<Vec<PathBuf>, Error> {
        let mut roots = Vec::new();
        let mut add = |root: PathBuf| {
            if !roots.contains(&root) {
                roots.push(root);
            }
        };
        if let Some(main) = self.main_root()? {
            add(main);
        }
        for entry in entries::read(self.common_dir())? {
            if let Some(root) = entry.root.filter(|root| entries::belongs(root, &entry.admin)) {
                add(std::fs::canonicalize(&root).unwrap_or(root));
            }
        }
        // A worktree moved by hand is not where its entry says, but here we stand.
        if let Some(own) = self.worktree_root() {
            add(own.to_owned());
        }
        Ok(roots)
    }

    pub(super) fn main_root(&self) -> Result<Option<PathBuf>, Error> {
        if !self.is_linked_worktree() {
            let root = self.worktree_root().or_else(|| self.inner().workdir());
            return Ok(root.and_then(|root| std::fs::canonicalize(root).ok()));
        }
        // Only its paths are wanted, so it does not matter who owns its worktree.
        let main = open::options(Trust::Full)
            .open_path_as_is(true)
            .open(self.common_dir())
            .map_err(|error| Error::unreadable(self.common_dir(), sentence(&error)))?;
        Ok(main.work_dir().and_then(|root| std::fs::canonicalize(root).ok()))
    }
}
