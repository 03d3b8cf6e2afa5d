//! Creating a ledger: the only way one comes into being.
//!
//! The whole directory is built under a temporary name and renamed into place, so that it is
//! there completely or not at all. Of many processes that do so at once one wins the rename;
//! the others throw theirs away and answer from the winner's.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::error::Error;
use super::mark::{Mark, MarkFile};
use super::turnstile::Turnstile;
use super::{Durability, Place, open, schema};
use crate::domain::Id;
use crate::domain::event::Replica;
use crate::world::{Point, World};

/// The result of [`create`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// Where the ledger is.
    pub place: Place,
    /// Whether this call made it.
    pub made_now: bool,
}

/// Makes a ledger at `place`, or finds the one that is there usable.
///
/// # Errors
/// [`Error::Corrupt`] and the schema errors for a ledger that is there and cannot be used,
/// [`Error::Occupied`] when the directory holds something else, [`Error::ReadOnly`] when it
/// cannot be written.
pub fn create(place: &Place, world: &dyn World) -> Result<Created, Error> {
    let parent = place.directory().parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
    sweep(&parent, place);
    if let Some(found) = existing(place)? {
        return Ok(found);
    }
    let site = Site::begin(place, &parent)?;
    build(&site, world).map_err(|error| match error {
        BuildError::Io(error) => Error::writing(place.directory(), &error),
        BuildError::Sqlite(error) => Error::at(place.file(), &error),
        BuildError::Ledger(error) => error,
    })?;
    world.reached(Point::InitBuilt);
    // The turn is held until the directory has its final name: whoever sweeps leaves it alone.
    match fs::rename(site.directory.path(), place.directory()) {
        Ok(()) => {
            site.keep();
            world.reached(Point::InitRenamed);
            fsync(&parent).map_err(|error| Error::writing(&parent, &error))?;
            Ok(Created { place: place.clone(), made_now: true })
        }
        Err(rename) => existing(place)?.ok_or_else(|| Error::writing(place.directory(), &rename)),
    }
}

/// The ledger that is there already, if any; a directory that is something else is refused.
fn existing(place: &Place) -> Result<Option<Created>, Error> {
    let directory = place.directory();
    let occupied = |why: &str| Err(Error::Occupied { path: directory.to_owned(), why: why.to_owned() });
    let usable = |identity| {
        open::reader(place, identity)?;
        Ok(Some(Created { place: place.clone(), made_now: false }))
    };
    match open::identify(place) {
        Ok(identity) => usable(identity),
        Err(Error::NotInitialized(_)) => {
            match fs::read_dir(directory).map(|mut entries| entries.next().is_none()) {
                Ok(true) => Ok(None),
                // It may have been made since the first look: it appears as a whole.
                Ok(false) => match open::identify(place) {
                    Ok(identity) => usable(identity),
                    Err(Error::NotInitialized(_)) => {
                        occupied("is in use for something else; name a ledger in a directory of its own")
                    }
                    Err(error) => Err(error),
                },
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => occupied("is not a directory"),
                Err(error) => Err(Error::writing(directory, &error)),
            }
        }
        Err(error) => Err(error),
    }
}

/// The directory while it has a temporary name, and the lock that says somebody is building in it.
struct Site {
    place: Place,
    directory: tempfile::TempDir,
    turnstile: Turnstile,
}

impl Site {
    /// Makes the directory and takes its turn. A sweep may come between the two and think it was left by
    /// a crash; then there is nothing in it yet, and another one is made.
    fn begin(place: &Place, parent: &Path) -> Result<Self, Error> {
        let prefix = temporary_prefix(place);
        loop {
            let directory = tempfile::Builder::new()
                .prefix(&prefix)
                .tempdir_in(parent)
                .map_err(|error| Error::writing(place.directory(), &error))?;
            let there = place.built_in(directory.path());
            let turnstile = match Turnstile::open(&there) {
                Err(_) if !directory.path().exists() => continue,
                opened => opened?,
            };
            turnstile.hold()?;
            if there.turnstile().exists() {
                return Ok(Self { place: there, directory, turnstile });
            }
        }
    }

    /// It has its final name: nothing is left to clean up, and others may write.
    fn keep(self) {
        let Self { directory, turnstile, .. } = self;
        let _ = directory.keep();
        drop(turnstile);
    }
}

enum BuildError {
    Io(io::Error),
    Sqlite(rusqlite::Error),
    Ledger(Error),
}

impl From<io::Error> for BuildError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for BuildError {
    fn from(error: Error) -> Self {
        Self::Ledger(error)
    }
}

impl From<rusqlite::Error> for BuildError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn build(site: &Site, world: &dyn World) -> Result<(), BuildError> {
    world.reached(Point::InitStarted);
    let there = &site.place;
    let mut chance = [0; 48];
    world.fill_random(&mut chance)?;
    let (repository, token) = (hex(&chance[..16]), hex(&chance[16..]));
    let replica: Id<Replica> = world.new_id()?;

    let inode = database(there, &repository, replica, world)?;
    write_durably(&there.repository(), 0o644, format!("{repository}\n").as_bytes())?;
    write_durably(&there.token(), 0o600, format!("{token}\n").as_bytes())?;
    let mark = MarkFile::open(there)?;
    mark.move_to(Mark { replica, number: 0, seq: 0, inode });
    mark.press()?;
    fsync(there.directory())?;
    Ok(())
}

/// Writes the finished, empty ledger and returns its inode.
fn database(
    place: &Place,
    repository: &str,
    replica: Id<Replica>,
    world: &dyn World,
) -> Result<u64, BuildError> {
    write_durably(place.file(), 0o644, b"")?;
    let connection = open::connect(place.file(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    open::tune(&connection, Durability::Full)?;
    fill(&connection, repository, replica, world)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(fs::metadata(place.file())?.ino())
}

fn fill(
    connection: &Connection,
    repository: &str,
    replica: Id<Replica>,
    world: &dyn World,
) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    transaction.execute_batch(schema::STATEMENTS)?;
    transaction.execute("INSERT INTO identity VALUES (?1, ?2)", (repository, world.now()))?;
    super::chain::introduce(&transaction, replica, true)?;
    transaction.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", schema::VERSION)?;
    transaction.commit()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn write_durably(path: &Path, mode: u32, content: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

fn fsync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

fn temporary_prefix(place: &Place) -> String {
    let name = place.directory().file_name().unwrap_or_default().to_string_lossy();
    format!("{name}.new-")
}

/// Removes what crashed creations left behind. Best effort: leftovers are harmless.
fn sweep(parent: &Path, place: &Place) {
    let prefix = temporary_prefix(place);
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)) {
        let there = place.built_in(&entry.path());
        match File::options().write(true).open(there.turnstile()) {
            // Its builder holds the lock until the directory has its final name.
            Ok(lock) if lock.try_lock().is_ok() => {
                let _ = fs::remove_dir_all(entry.path());
            }
            Ok(_) => {}
            // Left before it had a lock, or somebody else's: only an empty one goes.
            Err(_) => {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}
