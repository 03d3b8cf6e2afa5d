//! Every worktree, and how it stands.

use std::path::{Path, PathBuf};

use gix::bstr::BString;
use gix::sec::Trust;

use super::super::error::sentence;
use super::super::{Error, Head, Repository, open};
use super::entries;

/// One worktree of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Its top, as a real path. When it is not there, where the list says it was.
    pub path: PathBuf,
    /// What is checked out; `None` when that cannot be read.
    pub head: Option<Head>,
    /// Whether its directory is there, and is the one that belongs to it.
    pub present: bool,
    /// How many paths a [snapshot](Repository::snapshot) without exclusions would name, untracked files among them;
    /// `None` when that cannot be told.
    pub dirty: Option<u64>,
    /// Why something cannot be told.
    pub problem: Option<String>,
}

impl Repository {
    /// The main worktree, if the repository has one, then the linked ones in order of path, those included that are
    /// not there any more. The main worktree of a repository with a separate Git directory is known only where it is
    /// asked for itself, or where `core.worktree` names it.
    ///
    /// # Errors
    /// [`Error::Unreadable`] when the main repository or the list of worktrees cannot be read. What is wrong with one
    /// worktree is said with it.
    pub fn worktrees(&self) -> Result<Vec<Worktree>, Error> {
        let mut all = Vec::new();
        if let Some(root) = self.main_root()? {
            let opened = if self.is_linked_worktree() {
                open::options(Trust::Full).open_path_as_is(true).open(self.common_dir()).map(Into::into)
            } else {
                Ok(self.inner().clone())
            };
            all.push(look(root, true, opened));
        }
        let mut linked = Vec::new();
        for entry in entries::read(self.common_dir())? {
            let opened = self.linked(&entry.admin);
            // One that was moved by hand is not where its entry says, but here we stand.
            let own = self.worktree_root().filter(|_| entry.admin == self.git_dir());
            let (path, present) = match (own, entry.root) {
                (Some(own), _) => (own.to_owned(), true),
                (None, Some(root)) => {
                    let present = entries::belongs(&root, &entry.admin);
                    (root, present)
                }
                (None, None) => (entry.admin, false),
            };
            linked.push(look(path, present, opened));
        }
        linked.sort_by(|a, b| a.path.cmp(&b.path));
        all.extend(linked);
        Ok(all)
    }

    fn linked(&self, admin: &Path) -> gix::Result<gix::Repository> {
        let name = gix::path::into_bstr(Path::new(admin.file_name().unwrap_or_default()))?.into_owned();
        let proxy = self.inner().worktree_proxy_by_id(name.as_ref() as &gix::bstr::BStr)?;
        let proxy = proxy.ok_or_else(|| gix::error::not_found("it is not on the list any more"))?;
        proxy.into_repo_with_possibly_inaccessible_worktree()
    }
}

fn look(path: PathBuf, present: bool, opened: gix::Result<gix::Repository>) -> Worktree {
    let mut worktree = Worktree { path, head: None, present, dirty: None, problem: None };
    let opened = opened
        .map_err(|error| Error::unreadable(&worktree.path, sentence(&error)))
        .and_then(|opened| Repository::of_worktree(opened, worktree.path.clone()));
    let looked = opened.and_then(|opened| {
        let head = opened.head().map(|head| worktree.head = Some(head));
        if !present {
            return head;
        }
        let (dirty, unreadable) = opened.count_changes()?;
        worktree.dirty = Some(dirty);
        worktree.problem = not_looked_at(&unreadable);
        head
    });
    if let Err(error) = looked {
        worktree.problem = Some(error.to_string());
    }
    worktree
}

/// That some paths may not be looked at, and so may have changed.
fn not_looked_at(paths: &[BString]) -> Option<String> {
    let (first, more) = (paths.first()?, paths.len() - 1);
    let others = if more == 0 { String::new() } else { format!(" and {more} more") };
    Some(format!("{first:?}{others} may not be looked at"))
}
