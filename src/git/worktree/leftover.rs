//! Whether what lies in a worktree that was never finished is all its maker's. Whoever worked there meanwhile lost
//! nothing then: what is not surely ours is somebody's.

use std::fs;
use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::error::ResultExt;
use gix::index::entry::{Mode, Stat};

use super::super::Repository;
use super::journal::Record;

/// What Git keeps of a worktree in which nothing was done yet.
const UNTOUCHED: [&str; 12] = [
    "HEAD",
    "HEAD.lock",
    "commondir",
    "config.worktree",
    super::undo::EMPTIED,
    "gitdir",
    "index",
    "index.lock",
    "info",
    "locked",
    "logs",
    "refs",
];

/// Whoever was making it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maker {
    /// It fails at this moment. What filters made of its files looks like work, so only what it does not put there is.
    Lives,
    /// It died, and anybody may have worked there since.
    Died,
}

/// Whether nothing was checked out, committed, staged or begun in the worktree whose entry is at `admin`.
pub(super) fn is_unused(repository: &Repository, record: &Record, admin: &Path) -> gix::Result<bool> {
    let (index, written) = indices(repository, record, admin)?;
    let staged = written.is_some_and(|written| content(&written) != content(&index));
    Ok(!staged && is_untouched(admin, record).or_error()?)
}

/// Remove all that a checkout of the commit puts below the top of the worktree, if nobody has worked there. Answers
/// whether nothing is left.
pub(super) fn remove(
    repository: &Repository,
    record: &Record,
    admin: &Path,
    maker: Maker,
) -> gix::Result<bool> {
    let (index, written) = indices(repository, record, admin)?;
    let made = Made { repository, index: &index, written: written.as_deref(), maker };
    let top = BString::default();
    // File by file and by name: what somebody puts there in this moment stays, too.
    Ok(made.all_below(&record.root, &top)? && made.remove_below(&record.root, &top)?)
}

/// What the index is to be, and the one that is written once all files are there.
fn indices(
    repository: &Repository,
    record: &Record,
    admin: &Path,
) -> gix::Result<(gix::index::File, Option<gix::index::File>)> {
    let tree = repository.commit(record.commit).or_error()?.tree;
    let index = repository.inner().index_from_tree(&tree)?;
    let path = admin.join("index");
    if !path.is_file() {
        return Ok((index, None));
    }
    let hash = repository.inner().object_hash();
    let written = gix::index::File::at(path, hash, false, gix::index::decode::Options::default())?;
    Ok((index, Some(written)))
}

fn content(index: &gix::index::State) -> Vec<(&BStr, gix::ObjectId, Mode)> {
    index.entries().iter().map(|entry| (entry.path(index), entry.id, entry.mode)).collect()
}

/// Whether the entry at `admin` says that nothing was checked out, committed or begun there.
fn is_untouched(admin: &Path, record: &Record) -> std::io::Result<bool> {
    for entry in fs::read_dir(admin)? {
        if !UNTOUCHED.iter().any(|name| entry.as_ref().is_ok_and(|entry| entry.file_name() == *name)) {
            return Ok(false);
        }
    }
    let log = fs::read(admin.join("logs/HEAD")).unwrap_or_default();
    Ok(super::entries::has_checked_out(admin, &record.branch)
        && log.lines().count() <= 1
        && fs::read_dir(admin.join("refs"))?.next().is_none())
}

/// What a checkout makes.
struct Made<'r> {
    repository: &'r Repository,
    index: &'r gix::index::State,
    /// With the times of the files, once all of them were there.
    written: Option<&'r gix::index::State>,
    maker: Maker,
}

impl Made<'_> {
    fn all_below(&self, directory: &Path, above: &BString) -> gix::Result<bool> {
        for entry in fs::read_dir(directory).or_error()? {
            let entry = entry.or_error()?;
            if above.is_empty() && entry.file_name() == ".git" {
                continue;
            }
            let path = below(above, &entry)?;
            let found = entry.metadata().or_error()?;
            let ours = if found.is_dir() {
                self.makes_directory(&path) && self.all_below(&entry.path(), &with_slash(&path))?
            } else {
                self.is_made(&entry.path(), &path, &found)?
            };
            if !ours {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn remove_below(&self, directory: &Path, above: &BString) -> gix::Result<bool> {
        let mut all = true;
        for entry in fs::read_dir(directory).or_error()? {
            let entry = entry.or_error()?;
            if above.is_empty() && entry.file_name() == ".git" {
                continue;
            }
            let path = below(above, &entry)?;
            if entry.file_type().or_error()?.is_dir() {
                // One that somebody has filled meanwhile is not empty.
                all &= self.makes_directory(&path)
                    && self.remove_below(&entry.path(), &with_slash(&path))?
                    && fs::remove_dir(entry.path()).is_ok();
            } else if self.makes_file(&path) {
                fs::remove_file(entry.path()).or_error()?;
            } else {
                all = false;
            }
        }
        Ok(all)
    }

    fn makes_directory(&self, path: &BString) -> bool {
        let submodule =
            self.index.entry_by_path(path.as_bstr()).is_some_and(|entry| entry.mode == Mode::COMMIT);
        submodule || self.index.prefixed_entries(with_slash(path).as_bstr()).is_some()
    }

    fn makes_file(&self, path: &BString) -> bool {
        self.index.entry_by_path(path.as_bstr()).is_some_and(|entry| entry.mode != Mode::COMMIT)
    }

    fn is_made(&self, place: &Path, path: &BString, found: &fs::Metadata) -> gix::Result<bool> {
        let Some(entry) = self.index.entry_by_path(path.as_bstr()) else { return Ok(false) };
        if entry.mode == Mode::COMMIT || !(found.is_file() || found.is_symlink()) {
            return Ok(false);
        }
        if self.maker == Maker::Lives {
            return Ok(true);
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
        let is_program = is_executable(found);
        let kind_may_differ = cfg!(not(unix))
            || self.repository.inner().config_snapshot().boolean("core.fileMode") == Some(false);
        if !kind_may_differ && is_program != (entry.mode == Mode::FILE_EXECUTABLE) {
            // One that is to be a program and is none yet may have been begun.
            if is_program || self.written.is_some() {
                return Ok(false);
            }
        }
        let text = fs::read(place).or_error()?;
        if self.written.is_some() {
            // By then every file was whole.
            return Ok(stored == text || is_as_written() == Some(true));
        }
        // A maker that died while it wrote left a beginning. Where lines end in another way, it is one all the same.
        Ok(stored.starts_with(&text) || lines(&stored).starts_with(&lines(&text)))
    }
}

#[cfg(unix)]
fn is_executable(found: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o100 != 0
}

/// Elsewhere files do not say.
#[cfg(not(unix))]
fn is_executable(_found: &fs::Metadata) -> bool {
    false
}

fn below(above: &BString, entry: &fs::DirEntry) -> gix::Result<BString> {
    let mut path = above.clone();
    path.extend_from_slice(gix::path::os_str_into_bstr(&entry.file_name())?);
    Ok(path)
}

fn with_slash(path: &BString) -> BString {
    let mut path = path.clone();
    path.push(b'/');
    path
}

fn lines(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| *byte != b'\r').collect()
}
