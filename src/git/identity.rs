//! Which file it is that stands at a path, and not only where.

use std::fmt;
use std::fs::Metadata;
use std::path::Path;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file or directory, told from any other that stands in its place later. It keeps this when it is renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    inode: u64,
    /// Nanoseconds of the epoch: an inode alone is soon another file's.
    since: u128,
}

impl Identity {
    /// What is at `path`, by when it was created; `None` when nothing is there or its file system does not say.
    pub fn at(path: &Path) -> Option<Self> {
        let found = std::fs::symlink_metadata(path).ok()?;
        Self::new(&found, found.created().ok()?)
    }

    /// The same for a file that is written once: where it is not known when it was created, by when it was written.
    pub fn of_final(path: &Path) -> Option<Self> {
        let found = std::fs::symlink_metadata(path).ok()?;
        Self::new(&found, found.created().or_else(|_| found.modified()).ok()?)
    }

    /// The same for a directory. What is removed by this is empty, so that its inode has to do where nothing else is known.
    pub fn of_directory(path: &Path) -> Option<Self> {
        let found = std::fs::symlink_metadata(path).ok().filter(Metadata::is_dir)?;
        Self::new(&found, found.created().unwrap_or(UNIX_EPOCH))
    }

    fn new(found: &Metadata, since: SystemTime) -> Option<Self> {
        let since = since.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        Some(Self { inode: inode(found), since })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.inode, self.since)
    }
}

impl FromStr for Identity {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (inode, since) = text.split_once(':').ok_or(())?;
        Ok(Self { inode: inode.parse().map_err(drop)?, since: since.parse().map_err(drop)? })
    }
}

#[cfg(unix)]
fn inode(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

/// Elsewhere the time has to do.
#[cfg(not(unix))]
fn inode(_found: &Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_file_in_the_same_place_is_another_and_a_renamed_one_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let (path, kept) = (dir.path().join("a"), dir.path().join("kept"));
        assert_eq!(Identity::of_final(&path), None);
        std::fs::write(&path, "").unwrap();
        let first = Identity::of_final(&path);
        assert!(first.is_some());
        // Kept, so that its inode is not free for the next.
        std::fs::rename(&path, &kept).unwrap();
        std::fs::write(&path, "").unwrap();
        assert_ne!(Identity::of_final(&path), first);
        assert_eq!(Identity::of_final(&kept), first);
        assert_eq!(first.unwrap().to_string().parse(), Ok(first.unwrap()));
    }

    #[test]
    fn by_its_creation_it_stays_what_it_is_however_often_it_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "").unwrap();
        let first = Identity::at(&path);
        std::fs::write(&path, "more").unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(UNIX_EPOCH).unwrap();
        assert_eq!(Identity::at(&path), first);
    }
}
