//! The index without what hides changes from a look at the worktree.

use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString};
use gix::index::entry::{Flags, Mode, Stage};

use super::super::error::sentence;
use super::super::{Error, Repository};

/// The index with the bits cleared that make Git believe a file is unchanged, and what has to be looked at by hand.
pub(super) struct Seen {
    pub index: gix::worktree::IndexPersistedOrInMemory,
    /// The index as it is: Git takes the rules of a `.gitignore` that is not checked out from there.
    pub rules: gix::worktree::Index,
    /// Executable files that something other than a file stands in for. gix would follow a link and read it.
    pub replaced: Vec<BString>,
    /// Paths with the skip-worktree bit.
    pub skipped: Vec<BString>,
    /// Submodules.
    pub submodules: Vec<(BString, gix::ObjectId)>,
}

const HIDING: Flags = Flags::ASSUME_VALID.union(Flags::SKIP_WORKTREE).union(Flags::FSMONITOR_VALID);

/// Read the index of `repository`, whose worktree is at `root`.
pub(super) fn see_through(repository: &Repository, root: &Path) -> Result<Seen, Error> {
    repository.require_full_index()?;
    let index = repository
        .inner()
        .index_or_empty()
        .map_err(|error| Error::unreadable(&repository.inner().index_path(), sentence(&error)))?;
    let mut seen = Seen {
        index: index.clone().into(),
        rules: index.clone(),
        replaced: vec![],
        skipped: vec![],
        submodules: vec![],
    };
    let mut hides = false;
    for entry in index.entries() {
        let path = entry.path(&index);
        hides |= entry.flags.intersects(HIDING);
        if entry.flags.contains(Flags::SKIP_WORKTREE) {
            seen.skipped.push(path.to_owned());
        }
        match entry.mode {
            _ if entry.stage() != Stage::Unconflicted => {}
            Mode::COMMIT => seen.submodules.push((path.to_owned(), entry.id)),
            Mode::FILE_EXECUTABLE if is_replaced(root, path) => seen.replaced.push(path.to_owned()),
            _ => {}
        }
    }
    if hides || !seen.replaced.is_empty() {
        let mut copy = gix::index::File::clone(&index);
        for (entry, path) in copy.entries_mut_with_paths() {
            entry.flags.remove(HIDING);
            if seen.replaced.binary_search_by(|known| known.as_slice().cmp(path)).is_ok() {
                entry.flags.insert(Flags::ASSUME_VALID);
            }
        }
        seen.index = copy.into();
    }
    Ok(seen)
}

fn is_replaced(root: &Path, path: &BStr) -> bool {
    let Ok(relative) = gix::path::from_bstr(path) else { return false };
    std::fs::symlink_metadata(root.join(relative)).is_ok_and(|found| !found.is_file() && !found.is_dir())
        && inside(root, path).is_some()
}

/// Whether anything at all stands at `path`.
pub(super) fn is_there(root: &Path, path: &BStr) -> bool {
    gix::path::from_bstr(path).is_ok_and(|relative| std::fs::symlink_metadata(root.join(relative)).is_ok())
}

/// Where `path` lies below `root`, unless a symbolic link stands in for one of its directories: Git does not look
/// beyond links.
pub(super) fn inside(root: &Path, path: &BStr) -> Option<PathBuf> {
    let path = gix::path::from_bstr(path).ok()?;
    let mut place = root.to_owned();
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        if parts.peek().is_some() && std::fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink()) {
            return None;
        }
    }
    Some(place)
}
