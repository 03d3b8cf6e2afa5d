//! Opening the file, and refusing what is not our ledger.
//!
//! Nobody here opens the path with `std::fs` while a connection may live: closing that handle
//! would drop `SQLite`'s POSIX locks. Looking at it with `stat` is harmless.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::error::Error;
use super::writer::CHECKPOINT_BYTES;
use super::{Durability, Place, schema};

/// Wait on locks of others than Foremerge, such as a `sqlite3` shell.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Prepared statements kept per connection.
const STATEMENTS: usize = 96;

/// Which file a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileIdentity {
    device: u64,
    pub inode: u64,
}

/// Looks at the file at `place` without opening it.
pub(super) fn identify(place: &Place) -> Result<FileIdentity, Error> {
    let refuse = |why: &str| Err(Error::Corrupt { path: place.file().to_owned(), why: why.to_owned() });
    let look = || std::fs::metadata(place.file());
    let absent =
        |error: &std::io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    let mut found = look();
    if found.as_ref().is_err_and(absent) {
        if !place.repository().exists() {
            return Err(Error::NotInitialized(place.file().to_owned()));
        }
        // It may have been made since the first look: it appears as a whole.
        found = look();
    }
    match found {
        Ok(found) if !found.is_file() => refuse("it is not a regular file"),
        Ok(found) if found.len() == 0 => refuse("the file is empty"),
        Ok(found) => Ok(FileIdentity { device: found.dev(), inode: found.ino() }),
        Err(error) if absent(&error) => {
            refuse("the file is missing, although the directory around it is there")
        }
        Err(error) => refuse(&error.to_string()),
    }
}

/// Refuses to go on when another file took the place of the one that was opened.
pub(super) fn still_the_same(place: &Place, opened: FileIdentity) -> Result<(), Error> {
    match std::fs::metadata(place.file()) {
        Ok(now) if (FileIdentity { device: now.dev(), inode: now.ino() }) == opened => Ok(()),
        _ => Err(Error::Replaced(place.file().to_owned())),
    }
}

/// A connection that cannot write.
pub(super) struct Reader {
    connection: Connection,
    /// Holds the copy when the ledger itself cannot be opened where it is.
    copy: Option<tempfile::TempDir>,
}

impl Reader {
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Whether this reads a copy, made because the original cannot be opened in place.
    pub(super) fn is_a_copy(&self) -> bool {
        self.copy.is_some()
    }
}

/// Opens for reading, on whatever the medium allows.
///
/// A WAL database wants to write even to be read. Where that is refused: with an empty WAL the
/// file alone is complete and `immutable`; with a live WAL only a copy of both tells the truth.
pub(super) fn reader(place: &Place, expected: FileIdentity) -> Result<Reader, Error> {
    let plain = connect(place.file(), OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|connection| {
        check(&connection, place)?;
        Ok(Reader { connection, copy: None })
    });
    let reader = match plain {
        Err(Error::ReadOnly { .. }) => {
            let wal = std::fs::metadata(place.wal()).map_or(0, |wal| wal.len());
            if wal == 0 { immutable(place)? } else { copied(place)? }
        }
        decided => decided?,
    };
    still_the_same(place, expected)?;
    reader.connection.pragma_update(None, "query_only", true).map_err(|e| Error::at(place.file(), &e))?;
    Ok(reader)
}

fn immutable(place: &Place) -> Result<Reader, Error> {
    let mut uri = String::from("file:");
    for byte in place.file().as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/.-_".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02x}");
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = connect(Path::new(&uri), flags)?;
    check(&connection, place)?;
    Ok(Reader { connection, copy: None })
}

fn copied(place: &Place) -> Result<Reader, Error> {
    let refused =
        |error: std::io::Error| Error::Internal(format!("the ledger cannot be copied to be read: {error}"));
    let directory = tempfile::tempdir().map_err(refused)?;
    let there = place.built_in(directory.path());
    std::fs::copy(place.file(), there.file()).map_err(refused)?;
    std::fs::copy(place.wal(), there.wal()).map_err(refused)?;
    let connection = connect(there.file(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    check(&connection, place)?;
    Ok(Reader { connection, copy: Some(directory) })
}

/// Opens for writing. The caller owns the only such connection of the process.
pub(super) fn writer(
    place: &Place,
    durability: Durability,
    expected: FileIdentity,
) -> Result<Connection, Error> {
    let connection = connect(place.file(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    check(&connection, place)?;
    still_the_same(place, expected)?;
    tune(&connection, durability).map_err(|error| Error::at(place.file(), &error))?;
    Ok(connection)
}

/// What a writing connection needs, whether it creates the file or finds it.
pub(super) fn tune(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::Off => "OFF",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // The writer thread checkpoints by size, after it has answered.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // After a checkpoint the log shrinks to the size at which the next one is due.
    connection.pragma_update(None, "journal_size_limit", CHECKPOINT_BYTES)
}

pub(super) fn connect(path: &Path, mode: OpenFlags) -> Result<Connection, Error> {
    let open = || {
        let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // The WAL must outlive its last user: without it the next reader would need to write.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    };
    open().map_err(|error| Error::at(path, &error))
}

/// Is it a ledger, of this schema, bound to the repository it lies in?
fn check(connection: &Connection, place: &Place) -> Result<(), Error> {
    let at = |error: rusqlite::Error| Error::at(place.file(), &error);
    let refuse = |why: String| Err(Error::Corrupt { path: place.file().to_owned(), why });
    let (application, version): (i32, i64) = connection
        .query_row(
            "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .map_err(at)?;
    if application != schema::APPLICATION_ID {
        return refuse("it is not a Foremerge ledger".to_owned());
    }
    if version > schema::VERSION {
        return Err(Error::UnsupportedSchema { found: version, known: schema::VERSION });
    }
    if version < schema::VERSION {
        return Err(Error::MigrationRequired { found: version, needed: schema::VERSION });
    }
    let bound: String = connection
        .query_row("SELECT repository FROM identity", [], |row| row.get(0))
        .map_err(|error| match error {
            rusqlite::Error::QueryReturnedNoRows => Error::Corrupt {
                path: place.file().to_owned(),
                why: "it does not say whose ledger it is".to_owned(),
            },
            error => at(error),
        })?;
    match std::fs::read_to_string(place.repository()) {
        Ok(here) if here.trim() == bound => Ok(()),
        Ok(_) => refuse("it belongs to another repository".to_owned()),
        Err(error) => refuse(format!(
            "the repository's identity cannot be read ({}: {error}); the ledger expects the line {bound} there",
            place.repository().display()
        )),
    }
}
