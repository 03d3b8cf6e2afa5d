//! The attributes of files where a `.gitattributes` of the worktree may not be read. Git takes those of the index in its
//! place; gix gives up, and what it knew of other directories is lost with it.

use std::collections::BTreeSet;
use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::State;
use gix::index::entry::{Flags, Mode, Stat};
use gix::worktree::stack::state::attributes::Source;

use super::hidden::inside;

/// The attributes of all files of `index`. `repository` must keep new objects in memory.
pub(super) fn read(
    repository: &gix::Repository,
    root: &Path,
    index: &State,
) -> gix::Result<gix::worktree::Stack> {
    let mut directories = BTreeSet::from([BString::default()]);
    for entry in index.entries() {
        let mut path = entry.path(index);
        while let Some((above, _)) = path.rsplit_once_str("/") {
            path = above.as_bstr();
            if !directories.insert(path.to_owned()) {
                break;
            }
        }
    }
    let mut all = State::new(repository.object_hash());
    for directory in directories {
        let separator: &[u8] = if directory.is_empty() { b"" } else { b"/" };
        let path = BString::from([&directory, separator, b".gitattributes"].concat());
        let id = match text(root, path.as_bstr()) {
            Some(text) => Some(repository.write_blob(text)?.detach()),
            None => index.entry_by_path(path.as_bstr()).map(|entry| entry.id),
        };
        if let Some(id) = id {
            all.dangerously_push_entry(Stat::default(), id, Flags::empty(), Mode::FILE, path.as_bstr());
        }
    }
    all.sort_entries();
    Ok(repository.attributes_only(&all, Source::IdMapping)?.detach())
}

/// The text of the file at `path`, if it can be read. Git does not follow a link to such a file.
fn text(root: &Path, path: &BStr) -> Option<Vec<u8>> {
    let place = inside(root, path)?;
    let found = std::fs::symlink_metadata(&place).ok()?;
    if found.is_file() { std::fs::read(place).ok() } else { None }
}
