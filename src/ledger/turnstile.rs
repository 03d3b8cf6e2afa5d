//! One process at a time, in the order of asking.
//!
//! `SQLite`'s own busy handler polls, so under load some writers starve. An operating system lock
//! queues them instead, and the kernel releases it when its holder dies.

use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::Place;
use super::error::Error;

/// The lock of one process.
#[derive(Debug)]
pub(super) struct Turnstile {
    file: File,
    path: PathBuf,
}

impl Turnstile {
    pub(super) fn open(place: &Place) -> Result<Self, Error> {
        let path = place.turnstile();
        match File::options().read(true).write(true).create(true).truncate(false).open(&path) {
            Ok(file) => Ok(Self { file, path }),
            Err(error) => Err(Error::writing(&path, &error)),
        }
    }

    /// The turnstile for one who cannot write and still must keep writers out; `None` where there is none.
    pub(super) fn open_to_look(place: &Place) -> Option<Self> {
        let path = place.turnstile();
        File::open(&path).ok().map(|file| Self { file, path })
    }

    /// Waits for this process's turn, which ends when the answer is dropped.
    pub(super) fn pass(&self) -> Result<Turn<'_>, Error> {
        loop {
            match self.file.lock() {
                Ok(()) => return Ok(Turn { file: &self.file }),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.refused(&error)),
            }
        }
    }

    /// Takes the turn and keeps it until the turnstile itself is dropped.
    pub(super) fn hold(&self) -> Result<(), Error> {
        self.pass().map(std::mem::forget)
    }

    /// Waits a while for a turn of one who only looks; `None` where there are no locks to be had.
    pub(super) fn pass_soon(&self) -> Result<Option<Turn<'_>>, Error> {
        const TRIES: u32 = 400;
        for _ in 0..TRIES {
            match self.pass_if_free() {
                Ok(turn) => return Ok(Some(turn)),
                Err(Error::Busy(_)) => std::thread::sleep(Duration::from_millis(25)),
                Err(_) => return Ok(None),
            }
        }
        Err(Error::Busy("others are writing all the time".to_owned()))
    }

    /// Takes the turn only if nobody else has it.
    pub(super) fn pass_if_free(&self) -> Result<Turn<'_>, Error> {
        match self.file.try_lock() {
            Ok(()) => Ok(Turn { file: &self.file }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy("another process is writing".to_owned())),
            Err(TryLockError::Error(error)) => Err(self.refused(&error)),
        }
    }

    /// A file system without locks will not have them later either: this is not "try again".
    fn refused(&self, error: &io::Error) -> Error {
        let why = format!("its file system refuses the lock that keeps writers apart: {error}");
        Error::ReadOnly { path: self.path.clone(), why }
    }
}

/// A turn to write.
pub(super) struct Turn<'t> {
    file: &'t File,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // An unlock that fails leaves the lock to the end of the process, which is safe.
        let _ = self.file.unlock();
    }
}
