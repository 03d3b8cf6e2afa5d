//! One process at a time: a lock the kernel gives back when its holder dies, unlike Git's own lock files.
//!
//! The lock file stays where it is and its presence means nothing. It lies in the common directory itself, not in the
//! directory of the ledger: that one may not be there yet, and two places would be two locks.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;

use super::Error;

/// The file in the common directory whose lock is the turn to change refs and the list of worktrees.
const REGISTRY: &str = "foremerge.lock";

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Wait for the turn to change what the worktrees of a repository share.
    ///
    /// # Errors
    /// [`Error::Unwritable`] where there can be no lock.
    pub(super) fn registry(common_dir: &Path) -> Result<Self, Error> {
        Self::acquire(&common_dir.join(REGISTRY))
    }

    /// Wait for the lock of the file at `path`, which is made if it is not there.
    ///
    /// # Errors
    /// [`Error::Unwritable`] where there can be no lock.
    pub(super) fn acquire(path: &Path) -> Result<Self, Error> {
        loop {
            let file = open(path).map_err(|error| Error::unwritable(path, error.to_string()))?;
            match file.lock() {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(no_locks(path, &error)),
            }
            // A file that was deleted while we waited locks nobody out any more.
            if still_there(&file, path) {
                return Ok(Self { _file: file });
            }
        }
    }
}

/// Reading is enough to lock, so a file of another user of the repository will do.
fn open(path: &Path) -> io::Result<File> {
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            File::options().read(true).write(true).create(true).truncate(false).open(path)
        }
        opened => opened,
    }
}

fn no_locks(path: &Path, error: &io::Error) -> Error {
    Error::unwritable(path, format!("its file system refuses the lock that keeps processes apart: {error}"))
}

fn still_there(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(held), Ok(there)) => same(&held, &there),
        _ => false,
    }
}

#[cfg(unix)]
fn same(held: &Metadata, there: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (held.dev(), held.ino()) == (there.dev(), there.ino())
}

/// Elsewhere an open file cannot be deleted.
#[cfg(not(unix))]
fn same(_held: &Metadata, _there: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_keeps_others_out_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = Lock::acquire(&path).unwrap();
        let other = File::open(&path).unwrap();
        assert!(other.try_lock().is_err());
        drop(held);
        assert!(other.try_lock().is_ok());
        assert!(path.exists(), "the file stays");
    }

    #[test]
    fn a_waiter_whose_lock_file_was_deleted_locks_the_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = Lock::acquire(&path).unwrap();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| Lock::acquire(&path).unwrap());
            std::fs::remove_file(&path).unwrap();
            drop(held);
            let got = waiter.join().unwrap();
            let another = File::open(&path).unwrap();
            assert!(another.try_lock().is_err(), "the new file is the one that is locked");
            drop(got);
        });
    }

    #[test]
    fn where_nothing_can_be_written_the_path_is_named() {
        let error = Lock::acquire(Path::new("/nonexistent/lock")).unwrap_err();
        assert_eq!(error.path(), Path::new("/nonexistent/lock"));
    }
}
