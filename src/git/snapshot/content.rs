//! What changed files hold, in one digest. Files are streamed; only one that Git itself converts between line ends or
//! encodings is held in memory, one at a time.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use gix::bstr::{BStr, ByteSlice};
use gix::index::entry::Mode;

use super::super::error::sentence;
use super::super::{Error, Repository};
use super::convert::{Converter, Stored};
use super::entry::{Entry, Worktree};
use super::status::Status;
use super::{hidden, nested};
use crate::domain::Digest;
use crate::domain::digest::Hasher;

/// How much changed content may still be read.
pub(super) struct Budget {
    left: u64,
    limit: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: Self::LIMIT, limit: Self::LIMIT }
    }
}

impl Budget {
    /// 512 MiB.
    const LIMIT: u64 = 512 << 20;

    fn spend(&mut self, path: &Path, bytes: u64) -> Result<(), Error> {
        self.check(path, bytes)?;
        self.left -= bytes;
        Ok(())
    }

    fn check(&self, path: &Path, bytes: u64) -> Result<(), Error> {
        if bytes > self.left {
            return Err(Error::TooMuch { path: path.to_owned(), limit: self.limit });
        }
        Ok(())
    }
}

/// The digest of everything that differs.
pub(super) fn digest(repository: &Repository, status: &Status, budget: &mut Budget) -> Result<Digest, Error> {
    let mut hasher = Digest::hasher();
    if let Some(root) = repository.worktree_root().filter(|_| !status.entries.is_empty()) {
        let mut reader = Reader::new(repository, root, budget)?;
        reader.refuse_too_much(&status.entries)?;
        for entry in &status.entries {
            hasher.field(&entry.path);
            hasher.field(&entry.status);
            hasher.field(entry.index.as_bytes());
            reader.read(entry, &mut hasher)?;
        }
    }
    // No path is empty, so this cannot be taken for a change.
    hasher.field(b"");
    for path in &status.not_checked_out {
        hasher.field(path);
    }
    if !status.unpopulated.is_empty() {
        hasher.field(b"");
    }
    for (path, names) in &status.unpopulated {
        hasher.field(path);
        hasher.field(names.as_bytes());
    }
    if !status.unreadable.is_empty() {
        // Twice, so that it cannot be taken for the beginning of those before.
        hasher.field(b"");
        hasher.field(b"");
    }
    for closed in &status.unreadable {
        hasher.field(&closed.path);
    }
    Ok(hasher.finish())
}

struct Reader<'r> {
    repository: &'r Repository,
    root: &'r Path,
    converter: Converter,
    index: gix::worktree::Index,
    keeps_executable_bit: bool,
    budget: &'r mut Budget,
}

impl<'r> Reader<'r> {
    fn new(repository: &'r Repository, root: &'r Path, budget: &'r mut Budget) -> Result<Self, Error> {
        let failed = |error: gix::Error| Error::unreadable(root, sentence(&error));
        let index = repository.inner().index_or_empty().map_err(failed)?;
        let converter = Converter::new(repository.inner(), root, &index).map_err(failed)?;
        let keeps_executable_bit = repository.inner().filesystem_options().map_err(failed)?.executable_bit;
        Ok(Self { repository, root, converter, index, keeps_executable_bit, budget })
    }

    /// Refuse before the first byte is read what would be refused in the end.
    fn refuse_too_much(&self, entries: &[Entry]) -> Result<(), Error> {
        let mut sum = 0_u64;
        for entry in entries
            .iter()
            .filter(|entry| matches!(entry.worktree, Worktree::Tracked(_) | Worktree::Untracked))
        {
            let Some(place) = hidden::inside(self.root, entry.path.as_ref()) else { continue };
            let size = std::fs::symlink_metadata(&place)
                .map_or(0, |found| if found.is_file() { found.len() } else { 0 });
            sum = sum.saturating_add(size);
            self.budget.check(&place, sum)?;
        }
        Ok(())
    }

    /// Add what stands in the worktree: what it is, and the digest of what it holds.
    fn read(&mut self, entry: &Entry, hasher: &mut Hasher) -> Result<(), Error> {
        let mut add = |what: &[u8], content: &[u8]| {
            hasher.field(what);
            hasher.field(content);
        };
        let stored = match &entry.worktree {
            Worktree::Unread => {
                add(b"", b"");
                return Ok(());
            }
            Worktree::Submodule(digest) => {
                add(b"repository", digest.as_bytes());
                return Ok(());
            }
            Worktree::Tracked(mode) => Some(*mode),
            Worktree::Untracked | Worktree::Repository => None,
        };
        let path: &BStr = entry.path.strip_suffix(b"/").unwrap_or(&entry.path).as_bstr();
        let Some((place, found)) = self.find(path)? else {
            add(b"gone", b"");
            return Ok(());
        };
        if found.is_symlink() {
            match still_there(&place, std::fs::read_link(&place))? {
                Some(target) => add(b"link", target.as_os_str().as_encoded_bytes()),
                None => add(b"gone", b""),
            }
        } else if found.is_file() {
            let executable = self.is_executable(&found, stored);
            let Some(file) = still_there(&place, File::open(&place))? else {
                add(b"gone", b"");
                return Ok(());
            };
            let digest = match stored {
                Some(mode) if mode != Mode::SYMLINK => self.as_stored(&place, path, file)?,
                _ => stream(&place, file, self.budget)?,
            };
            add(if executable { b"executable" } else { b"file" }, digest.as_bytes());
        } else if found.is_dir() && std::fs::symlink_metadata(place.join(".git")).is_ok() {
            let nested = nested::look(self.repository, &place, stored.is_some(), Some(self.budget))?;
            add(b"repository", nested.digest.as_bytes());
        } else {
            add(if found.is_dir() { b"directory" } else { b"special" }, b"");
        }
        Ok(())
    }

    fn find(&self, path: &BStr) -> Result<Option<(std::path::PathBuf, Metadata)>, Error> {
        let Some(place) = hidden::inside(self.root, path) else { return Ok(None) };
        let found = still_there(&place, std::fs::symlink_metadata(&place))?;
        Ok(found.map(|found| (place, found)))
    }

    /// Where the file system does not keep the bit, the index does.
    fn is_executable(&self, found: &Metadata, stored: Option<Mode>) -> bool {
        if self.keeps_executable_bit {
            gix::fs::is_executable(found)
        } else {
            stored == Some(Mode::FILE_EXECUTABLE)
        }
    }

    fn as_stored(&mut self, place: &Path, path: &BStr, file: File) -> Result<Digest, Error> {
        match self.converter.stored(path, file, &self.index)? {
            Stored::Unchanged(file) => stream(place, file, self.budget),
            Stored::Converted(bytes) => stream(place, bytes.as_slice(), self.budget),
        }
    }
}

/// What was read of `place`, which may have vanished since it was met: then it is gone, as if it never had been.
fn still_there<T>(place: &Path, read: io::Result<T>) -> Result<Option<T>, Error> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(error) if super::super::layout::absent(&error) => Ok(None),
        Err(error) => Err(Error::unreadable(place, error.to_string())),
    }
}

fn stream(place: &Path, mut from: impl Read, budget: &mut Budget) -> Result<Digest, Error> {
    let mut hasher = Digest::hasher();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(count) => {
                budget.spend(place, count as u64)?;
                hasher.update(&buffer[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::unreadable(place, error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_vanished_is_gone_and_what_cannot_be_read_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let (file, gone) = (dir.path().join("file"), dir.path().join("gone"));
        std::fs::write(&file, "text").unwrap();
        assert!(still_there(&file, File::open(&file)).unwrap().is_some());
        assert!(still_there(&gone, File::open(&gone)).unwrap().is_none());
        assert!(still_there(&gone, File::open(file.join("below"))).unwrap().is_none());
        still_there(&file, std::fs::read_link(&file)).unwrap_err();
    }
}
