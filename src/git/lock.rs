//! One process at a time: a lock the kernel gives back when its holder dies, unlike Git's own lock files.
//!
//! The lock file stays where it is and its presence means nothing.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Error;

/// How often a lock that another holds is tried. The kernel would wake a waiter at once, but it knows no limit.
const STEP: Duration = Duration::from_millis(2);

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    /// Wait for the lock of the file at `path`, which is made if it is not there, but for no longer than `patience`: its
    /// holder may have been stopped.
    ///
    /// # Errors
    /// [`Error::Busy`] when it was not given back in time; [`Error::Unwritable`] where there can be no lock, or something
    /// else than a file is in its place.
    pub(super) fn acquire(path: &Path, patience: Duration) -> Result<Self, Error> {
        let mut left = patience;
        loop {
            let file = open(path).map_err(|error| Error::unwritable(path, error.to_string()))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => continue,
                Err(TryLockError::Error(error)) => return Err(no_locks(path, &error)),
                Err(TryLockError::WouldBlock) => {
                    left = left.checked_sub(STEP).ok_or_else(|| Error::Busy { path: path.to_owned() })?;
                    std::thread::sleep(STEP);
                    continue;
                }
            }
            // A file that was deleted while we waited locks nobody out any more.
            if still_there(&file, path) {
                return Ok(Self { file });
            }
        }
    }

    /// Lock the file at `path`, which must be there; `None` when somebody else holds it, or when it has gone.
    ///
    /// # Errors
    /// [`Error::Unwritable`] where there can be no lock, or it is no file.
    pub(super) fn try_existing(path: &Path) -> Result<Option<Self>, Error> {
        let file = match open_plain(path, File::options().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::unwritable(path, error.to_string())),
        };
        match file.try_lock() {
            Ok(()) => Ok(still_there(&file, path).then_some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(no_locks(path, &error)),
        }
    }

    /// Make a file with `prefix` and a number of its own in `directory` and lock it.
    ///
    /// # Errors
    /// [`Error::Unwritable`] where there can be no file or no lock.
    pub(super) fn create(directory: &Path, prefix: &str) -> Result<(Self, PathBuf), Error> {
        let mut number = 0_u64;
        loop {
            let path = directory.join(format!("{prefix}{number}"));
            match File::options().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    file.lock().map_err(|error| no_locks(&path, &error))?;
                    return Ok((Self { file }, path));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(Error::unwritable(&path, error.to_string())),
            }
        }
    }

    /// The locked file.
    pub(super) fn file(&self) -> &File {
        &self.file
    }
}

/// Open the file at `path`, or make it. Reading is enough to lock, so a file of another user of the repository will do.
fn open(path: &Path) -> io::Result<File> {
    loop {
        match std::fs::symlink_metadata(path) {
            Ok(_) => {
                let written = open_plain(path, File::options().read(true).write(true));
                match written.or_else(|error| open_plain(path, File::options().read(true)).map_err(|_| error))
                {
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    opened => return opened,
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // Only so is a link that leads nowhere not followed.
                match File::options().read(true).write(true).create_new(true).open(path) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                    opened => return opened,
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// Open what is at `path` if it is a plain file. To open a pipe is to wait for its other end, and a link may lead to what is
/// anybody's.
fn open_plain(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let plain = |found: Metadata| {
        let kind = ErrorKind::InvalidInput;
        if found.is_file() { Ok(()) } else { Err(io::Error::new(kind, "something that is no file is there")) }
    };
    plain(std::fs::symlink_metadata(path)?)?;
    let file = options.open(path)?;
    // It may have been put there since.
    plain(file.metadata()?)?;
    Ok(file)
}

fn no_locks(path: &Path, error: &io::Error) -> Error {
    Error::unwritable(path, format!("its file system refuses the lock that keeps processes apart: {error}"))
}

fn still_there(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::symlink_metadata(path)) {
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

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_lock_that_is_never_given_back_is_named_in_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = Lock::acquire(&path, LONG).unwrap();
        let refused = Lock::acquire(&path, Duration::from_millis(20)).unwrap_err();
        assert_eq!(refused, Error::Busy { path: path.clone() });
        drop(held);
        Lock::acquire(&path, Duration::ZERO).unwrap();
    }

    #[test]
    fn a_held_lock_keeps_others_out_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = Lock::acquire(&path, LONG).unwrap();
        assert!(Lock::try_existing(&path).unwrap().is_none());
        drop(held);
        assert!(Lock::try_existing(&path).unwrap().is_some());
        assert!(path.exists(), "the file stays");
    }

    #[test]
    fn a_waiter_whose_lock_file_was_deleted_locks_the_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = Lock::acquire(&path, LONG).unwrap();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| Lock::acquire(&path, LONG).unwrap());
            std::fs::remove_file(&path).unwrap();
            drop(held);
            let got = waiter.join().unwrap();
            assert!(Lock::try_existing(&path).unwrap().is_none(), "the new file is the one that is locked");
            drop(got);
        });
    }

    #[test]
    fn a_lock_file_that_is_gone_is_nobodys() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Lock::try_existing(&dir.path().join("lock")).unwrap().is_none());
        assert!(!dir.path().join("lock").exists());
    }

    #[test]
    fn made_locks_have_names_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let one = Lock::create(dir.path(), "x-").unwrap();
        let two = Lock::create(dir.path(), "x-").unwrap();
        assert_ne!(one.1, two.1);
        assert!(Lock::try_existing(&one.1).unwrap().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let [link, dangling, directory] = ["link", "dangling", "directory"].map(|name| dir.path().join(name));
        std::fs::write(dir.path().join("theirs"), "").unwrap();
        std::os::unix::fs::symlink("theirs", &link).unwrap();
        std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
        std::fs::create_dir(&directory).unwrap();
        for path in [link, dangling, directory] {
            for error in [Lock::acquire(&path, LONG).unwrap_err(), Lock::try_existing(&path).unwrap_err()] {
                assert!(matches!(error, Error::Unwritable { .. }), "{error}");
                assert!(error.to_string().ends_with("something that is no file is there"), "{error}");
            }
        }
        assert!(!dir.path().join("nowhere").exists());
    }

    #[test]
    fn where_nothing_can_be_written_the_path_is_named() {
        let error = Lock::acquire(Path::new("/nonexistent/lock"), LONG).unwrap_err();
        assert_eq!(error.path(), Path::new("/nonexistent/lock"));
    }
}
