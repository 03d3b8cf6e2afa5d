//! Which worktrees a repository has.

use std::path::{Path, PathBuf};

use gix::sec::Trust;

use super::error::sentence;
use super::{Error, Repository, layout, open};

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
        let unreadable =
            |error: gix::Error| Error::unreadable(&self.common_dir().join("worktrees"), sentence(&error));
        for entry in self.inner().worktrees().map_err(unreadable)? {
            if let Some(root) = entry.base().ok().and_then(|base| linked_root(&base, entry.git_dir())) {
                add(root);
            }
        }
        // A worktree moved by hand is not where its entry says, but here we stand.
        if let Some(own) = self.worktree_root() {
            add(own.to_owned());
        }
        Ok(roots)
    }

    fn main_root(&self) -> Result<Option<PathBuf>, Error> {
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

/// The real path of `base` if it is still the worktree that the entry at `admin` describes.
fn linked_root(base: &Path, admin: &Path) -> Option<PathBuf> {
    let dot_git = base.join(".git");
    let metadata = std::fs::metadata(&dot_git).ok().filter(std::fs::Metadata::is_file)?;
    let target = layout::git_file_target(&dot_git, &metadata).ok()?;
    let same = std::fs::canonicalize(target).ok()? == std::fs::canonicalize(admin).ok()?;
    same.then(|| std::fs::canonicalize(base).ok()).flatten()
}
