//! One process at a time, in the order of asking.
//!
//! `SQLite`'s own busy handler polls, so under load some writers starve. An operating system lock
//! queues them instead, and the kernel releases it when its holder dies.

use std::fs::{File, TryLockError};

use super::Place;
use super::error::Error;

/// The lock of one process.
#[derive(Debug)]
pub(super) struct Turnstile {
    file: File,
}

impl Turnstile {
    pub(super) fn open(place: &Place) -> Result<Self, Error> {
        let path = place.turnstile();
        let file = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        file.map(|file| Self { file }).map_err(|error| Error::writing(&path, &error))
    }

    /// Waits for this process's turn, which ends when the answer is dropped.
    pub(super) fn pass(&self) -> Result<Turn<'_>, Error> {
        self.file.lock().map_err(|error| Error::Busy(format!("its lock is refused: {error}")))?;
        Ok(Turn { file: &self.file })
    }

    /// Takes the turn only if nobody else has it.
    pub(super) fn pass_if_free(&self) -> Result<Turn<'_>, Error> {
        match self.file.try_lock() {
            Ok(()) => Ok(Turn { file: &self.file }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy("another process is writing".to_owned())),
            Err(TryLockError::Error(error)) => Err(Error::Busy(format!("its lock is refused: {error}"))),
        }
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
