//! The state of a worktree in one value: what is checked out, what differs from it, and a fingerprint that is equal for
//! equal states and different for different ones. Takes no lock, writes no index, starts no program but the filters
//! that Git itself would run.

mod attributes;
mod careful;
mod closed;
mod compare;
mod content;
mod convert;
mod entry;
mod exclusions;
mod hidden;
mod ignores;
mod met;
mod nested;
mod status;

pub use exclusions::{Exclusions, InvalidExclusion};

use content::Budget;
use gix::bstr::BString;
use status::Status;

use super::error::sentence;
use super::{Error, Head, Repository};
use crate::domain::Digest;

/// A path that differs between `HEAD`, the index and the worktree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// Relative to the top of the worktree, separated by `/`, as the bytes Git keeps. A nested repository ends in `/`.
    pub path: Vec<u8>,
    /// The two letters of `git status --porcelain=v1 --untracked-files=all --no-renames`.
    pub status: [u8; 2],
}

/// The state of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// What is checked out.
    pub head: Head,
    /// The full hexadecimal id of the commit's tree; `None` on an unborn branch.
    pub tree: Option<String>,
    /// `main`, or the administrative name of a linked worktree. Not UTF-8: with replacement characters.
    pub worktree: String,
    /// Everything that differs, in order of path; the same path may stand as deleted and as untracked.
    pub changes: Vec<Change>,
    /// Untracked paths that were left out because an exclusion names them, in order.
    pub leftovers: Vec<Vec<u8>>,
    /// What may not be looked at, in order: directories, which end in `/`, and tracked paths in them. As to git, none of
    /// it is a change.
    pub unreadable: Vec<Vec<u8>>,
    /// What the changes contain: tracked content as Git would store it, untracked content as it is.
    pub content: Digest,
    /// Equal for equal states of one worktree, different for different ones.
    pub fingerprint: Digest,
}

impl Snapshot {
    /// Whether anything differs from what is checked out. Excluded leftovers do not count.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Every changed path once, in order.
    #[must_use]
    pub fn changed_paths(&self) -> Vec<&[u8]> {
        let mut paths: Vec<_> = self.changes.iter().map(|change| change.path.as_slice()).collect();
        paths.dedup();
        paths
    }
}

impl Repository {
    /// Look at the worktree. `identity` stands for the repository wherever it lies: equal states of one worktree have
    /// equal fingerprints only under equal identities and exclusions.
    ///
    /// Bits that hide changes are seen through (assume-unchanged, skip-worktree, `status.showUntrackedFiles`,
    /// `submodule.*.ignore`). In a sparse checkout a path that is not checked out is part of the fingerprint, not a
    /// change. A nested worktree of the same repository is untracked, but what it holds is left to its own snapshot.
    ///
    /// # Errors
    /// [`Error::NoWorktree`] in a bare repository; [`Error::TooMuch`] over 512 MiB of changed content;
    /// [`Error::Unsupported`] for a sparse index; [`Error::Unreadable`] when the index, an object or a changed file cannot
    /// be read, or a filter that is required fails. A nested repository that cannot be looked into is a change.
    pub fn snapshot(&self, identity: &[u8], exclusions: &Exclusions) -> Result<Snapshot, Error> {
        self.snapshot_within(identity, exclusions, Budget::default())
    }

    /// How many paths a snapshot would name, without reading what they hold, and what it would name as unreadable.
    pub(super) fn count_changes(&self) -> Result<(u64, Vec<BString>), Error> {
        let tree = self.tree_of(&self.head()?)?;
        let Status { mut entries, unreadable, .. } = Status::of(self, tree, None)?;
        entries.dedup_by(|one, other| one.path == other.path);
        Ok((entries.len() as u64, unreadable.into_iter().map(|closed| closed.path).collect()))
    }

    fn snapshot_within(
        &self,
        identity: &[u8],
        exclusions: &Exclusions,
        mut budget: Budget,
    ) -> Result<Snapshot, Error> {
        let head = self.head()?;
        let tree = self.tree_of(&head)?;
        let mut status = Status::of(self, tree, Some(&mut budget))?;
        let mut leftovers = Vec::new();
        status.entries.retain(|entry| {
            let excluded = entry.is_untracked() && exclusions.matches(&entry.path);
            if excluded {
                leftovers.push(entry.path.to_vec());
            }
            !excluded
        });
        status.unreadable.retain(|closed| {
            let excluded = !closed.is_tracked && exclusions.matches(&closed.path);
            if excluded {
                leftovers.push(closed.path.to_vec());
            }
            !excluded
        });
        leftovers.sort_unstable();
        let content = content::digest(self, &status, &mut budget)?;
        let unreadable = status.unreadable.into_iter().map(|closed| closed.path.into()).collect();
        let changes: Vec<_> = status
            .entries
            .into_iter()
            .map(|entry| Change { path: entry.path.into(), status: entry.status })
            .collect();
        let (worktree, tree) = (self.administrative_name(), tree.map(|tree| tree.to_string()));
        let mut snapshot = Snapshot {
            head,
            tree,
            worktree: worktree.as_ref().map_or_else(|| "main".to_owned(), ToString::to_string),
            changes,
            leftovers,
            unreadable,
            content,
            fingerprint: content,
        };
        // A linked worktree may be called `main`, too.
        let worktree = worktree.map_or_else(|| "main".to_owned(), |name| format!("worktrees/{name}"));
        snapshot.fingerprint = fingerprint(&snapshot, identity, worktree.as_bytes(), exclusions);
        Ok(snapshot)
    }

    fn tree_of(&self, head: &Head) -> Result<Option<gix::ObjectId>, Error> {
        let Some(commit) = &head.commit else { return Ok(None) };
        let read = || -> gix::Result<gix::ObjectId> {
            let id = gix::ObjectId::from_hex(commit.as_bytes())?;
            Ok(self.inner().find_commit(id)?.tree_id()?.detach())
        };
        read().map(Some).map_err(|error| Error::unreadable(self.git_dir(), sentence(&error)))
    }

    /// The name of a linked worktree among the others; `None` for the main one.
    fn administrative_name(&self) -> Option<BString> {
        let name = self.is_linked_worktree().then(|| self.git_dir().file_name()).flatten()?;
        Some(
            gix::path::os_str_into_bstr(name)
                .map_or_else(|_| name.to_string_lossy().as_ref().into(), Into::into),
        )
    }
}

fn fingerprint(snapshot: &Snapshot, identity: &[u8], worktree: &[u8], exclusions: &Exclusions) -> Digest {
    let paths = Digest::of_fields(&snapshot.changed_paths());
    Digest::of_fields(&[
        identity,
        worktree,
        snapshot.head.commit.as_deref().unwrap_or("UNBORN").as_bytes(),
        snapshot.tree.as_deref().unwrap_or("NO_TREE").as_bytes(),
        snapshot.content.as_bytes(),
        paths.as_bytes(),
        exclusions.digest().as_bytes(),
    ])
}
