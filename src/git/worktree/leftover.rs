//! Whether what lies in a worktree that was never finished is all its maker's. Whoever worked there meanwhile lost
//! nothing then: what is not surely ours is somebody's.

use std::fs;
use std::path::Path;

use gix::bstr::{BString, ByteSlice};
use gix::error::ResultExt;
use gix::index::entry::{Mode, Stat};

use super::super::Repository;
use super::journal::Record;

/// Whether every file below the top of the worktree is one that the checkout of the commit puts there, whole or begun.
pub(super) fn is_all_ours(repository: &Repository, record: &Record, admin: &Path) -> gix::Result<bool> {
    let tree = repository.commit(record.commit).or_error()?.tree;
    let index = repository.inner().index_from_tree(&tree)?;
    let written = admin.join("index");
    let written = if written.is_file() {
        let hash = repository.inner().object_hash();
        Some(gix::index::File::at(written, hash, false, gix::index::decode::Options::default())?)
    } else {
        None
    };
    let made = Made { repository, index: &index, written: written.as_deref() };
    made.all_below(&record.root, &BString::default())
}

/// What a checkout makes.
struct Made<'r> {
    repository: &'r Repository,
    index: &'r gix::index::State,
    /// With the times of the files, once all of them were there.
    written: Option<&'r gix::index::State>,
}

impl Made<'_> {
    fn all_below(&self, directory: &Path, above: &BString) -> gix::Result<bool> {
        for entry in fs::read_dir(directory).or_error()? {
            let entry = entry.or_error()?;
            if above.is_empty() && entry.file_name() == ".git" {
                continue;
            }
            let mut path = above.clone();
            path.extend_from_slice(gix::path::os_str_into_bstr(&entry.file_name())?);
            let found = entry.metadata().or_error()?;
            let ours = if found.is_dir() {
                path.push(b'/');
                self.all_below(&entry.path(), &path)?
            } else {
                self.is_made(&entry.path(), &path, &found)?
            };
            if !ours {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_made(&self, place: &Path, path: &BString, found: &fs::Metadata) -> gix::Result<bool> {
        let Some(entry) = self.index.entry_by_path(path.as_bstr()) else { return Ok(false) };
        if entry.mode == Mode::COMMIT || !(found.is_file() || found.is_symlink()) {
            return Ok(false);
        }
        let stored = self.repository.blob(entry.id).or_error()?;
        if found.is_symlink() {
            let target = fs::read_link(place).or_error()?;
            return Ok(gix::path::into_bstr(target)?.as_ref() as &[u8] == stored.as_slice());
        }
        let is_as_written = || {
            let written = self.written?.entry_by_path(path.as_bstr())?;
            let now = gix::index::fs::Metadata::from_path_no_follow(place).ok()?;
            let now = Stat::from_fs(&now).ok()?;
            Some(now.mtime == written.stat.mtime && now.size == written.stat.size)
        };
        let text = fs::read(place).or_error()?;
        // A maker that died while it wrote left a beginning. Where lines end in another way, it is one all the same.
        let begun = stored.starts_with(&text) || lines(&stored).starts_with(&lines(&text));
        Ok(begun || is_as_written() == Some(true))
    }
}

fn lines(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| *byte != b'\r').collect()
}
