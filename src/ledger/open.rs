//! Opening the file, and refusing what is not our ledger.
//!
//! Nobody here opens the path with `std::fs` while a connection may live: closing that handle
//! would drop `SQLite`'s POSIX locks. Looking at it with `stat` is harmless.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::error::Error;
use super::turnstile::Turnstile;
use super::{Durability, Place, schema};

/// Wait on locks of others than Foremerge, such as a `sqlite3` shell.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Size of the write-ahead log at which it is folded back into the file.
pub(super) const CHECKPOINT_BYTES: u64 = 4 << 20;
/// Pages kept in memory per connection, in KiB: the inner pages of a large ledger's indexes.
const CACHE_KIB: i64 = 8 * 1024;
/// Prepared statements kept per connection.
const STATEMENTS: usize = 96;

/// Which file a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileIdentity {
    device: u64,
    pub inode: u64,
}

/// Looks at the file at `place` without opening it.
pub(super) fn identify(place: &Place) -> Result<FileIdentity, Error> {
    let refuse = |why: &str| Err(Error::Corrupt { path: place.file().to_owned(), why: why.to_owned() });
    let look = || std::fs::metadata(place.file());
    let absent = |error: &std::io::Error| {
        error.kind() == ErrorKind::NotFound || (error.kind() == ErrorKind::NotADirectory && !place.is_usual())
    };
    let mut found = look();
    if found.as_ref().is_err_and(absent) {
        if !(place.repository().exists() || place.is_usual() && place.directory().exists()) {
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

/// Files that this process has connections with locks to. A second handle on such a file, once closed, takes
/// those locks away.
static IN_USE: Mutex<BTreeMap<FileIdentity, u64>> = Mutex::new(BTreeMap::new());

/// Says for as long as it lives that a connection with locks is there.
pub(super) struct InUse(FileIdentity);

impl InUse {
    fn new(file: FileIdentity) -> Self {
        *files_in_use().entry(file).or_default() += 1;
        Self(file)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut files = files_in_use();
        match files.get_mut(&self.0) {
            Some(connections) if *connections > 1 => *connections -= 1,
            _ => drop(files.remove(&self.0)),
        }
    }
}

fn files_in_use() -> MutexGuard<'static, BTreeMap<FileIdentity, u64>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection that cannot write.
pub(super) struct Reader {
    connection: Connection,
    /// Of one that reads the files themselves.
    _in_use: Option<InUse>,
    /// Holds the copy when the ledger itself cannot be opened where it is.
    copy: Option<tempfile::TempDir>,
    /// What the files were when they were frozen or copied; `None` for a connection that follows them.
    taken: Option<Signature>,
}

/// How a file that is written meanwhile shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Signature {
    file: Option<(u64, u64, Option<SystemTime>)>,
    wal: Option<(u64, u64, Option<SystemTime>)>,
}

impl Signature {
    fn of(place: &Place) -> Self {
        let look = |path: &Path| {
            let found = std::fs::metadata(path).ok()?;
            Some((found.ino(), found.len(), found.modified().ok()))
        };
        Self { file: look(place.file()), wal: look(&place.wal()) }
    }
}

impl Reader {
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Whether it shows the newest moment. One that follows its file always does.
    pub(super) fn is_current(&self, place: &Place) -> bool {
        self.taken.is_none_or(|taken| taken == Signature::of(place))
    }

    /// Refuses what was read from a file that was taken for unchanging and changed under the reader.
    pub(super) fn was_undisturbed(&self, place: &Place) -> Result<(), Error> {
        match self.taken {
            Some(taken) if self.copy.is_none() && taken.file != Signature::of(place).file => {
                Err(Error::Busy("it was written by others while it was read".to_owned()))
            }
            _ => Ok(()),
        }
    }
}

/// Opens for reading, on whatever the medium allows.
///
/// A WAL database wants to write even to be read. Where that is refused: with an empty WAL the
/// file alone is complete and `immutable`; with a live WAL only a copy of both tells the truth.
pub(super) fn reader(place: &Place, expected: FileIdentity) -> Result<Reader, Error> {
    // Before, so that a file that took the place of the opened one is not judged as if it were that one.
    still_the_same(place, expected)?;
    let in_use = InUse::new(expected);
    let plain = connect(place.file(), OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|connection| {
        check_with_log(&connection, place, place)?;
        Ok(connection)
    });
    let plain = plain.map(|connection| Reader { connection, _in_use: Some(in_use), copy: None, taken: None });
    let reader = match plain {
        Err(Error::ReadOnly { path, why }) => {
            let others = files_in_use();
            if others.contains_key(&expected) {
                return Err(Error::ReadOnly { path, why });
            }
            let taken = Signature::of(place);
            match taken.wal {
                None | Some((_, 0, _)) => immutable(place, taken)?,
                Some(_) => copied(place)?,
            }
        }
        decided => {
            // After, because it may have happened while it was opened.
            still_the_same(place, expected)?;
            decided?
        }
    };
    still_the_same(place, expected)?;
    let prepare = |connection: &Connection| {
        connection.pragma_update(None, "query_only", true)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)
    };
    prepare(&reader.connection).map_err(|error| Error::at(place.file(), &error))?;
    Ok(reader)
}

fn immutable(place: &Place, taken: Signature) -> Result<Reader, Error> {
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
    check(&connection, place, place)?;
    let reader = Reader { connection, _in_use: None, copy: None, taken: Some(taken) };
    reader.was_undisturbed(place)?;
    Ok(reader)
}

/// Others may be able to write what this process can only read, so the copy is made in their absence.
fn copied(place: &Place) -> Result<Reader, Error> {
    let refused =
        |error: std::io::Error| Error::Internal(format!("the ledger cannot be copied to be read: {error}"));
    let turnstile = Turnstile::open_to_look(place);
    let _turn = turnstile.as_ref().map(Turnstile::pass_soon).transpose()?.flatten();
    let directory = tempfile::tempdir().map_err(refused)?;
    let there = place.built_in(directory.path());
    let taken = Signature::of(place);
    std::fs::copy(place.file(), there.file()).map_err(refused)?;
    match std::fs::copy(place.wal(), there.wal()) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(refused(error)),
        _ => {}
    }
    make_writable(there.file()).and_then(|()| make_writable(&there.wal())).map_err(refused)?;
    let connection = connect(there.file(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    check_with_log(&connection, place, &there)?;
    Ok(Reader { connection, _in_use: None, copy: Some(directory), taken: Some(taken) })
}

/// A copy has the permissions of its original, which may be the reason it had to be made.
fn make_writable(path: &Path) -> std::io::Result<()> {
    match std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Opens for writing. The caller owns the only such connection of the process.
pub(super) fn writer(
    place: &Place,
    durability: Durability,
    expected: FileIdentity,
) -> Result<(Connection, InUse), Error> {
    still_the_same(place, expected)?;
    let in_use = InUse::new(expected);
    let opened = connect(place.file(), OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|connection| {
        check_with_log(&connection, place, place)?;
        Ok(connection)
    });
    still_the_same(place, expected)?;
    let connection = opened?;
    tune(&connection, durability).map_err(|error| Error::at(place.file(), &error))?;
    Ok((connection, in_use))
}

/// What a writing connection needs, whether it creates the file or finds it.
pub(super) fn tune(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::Off => "OFF",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
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
        // A statement keeps its plan whatever is bound: planning it for the values of each run took nearly half
        // of all time.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    };
    open().map_err(|error| Error::at(path, &error))
}

/// Is it a ledger, whole, of this schema, bound to the repository it lies in? `files` are the ones that
/// `connection` reads: those at `place`, or a copy.
fn check(connection: &Connection, place: &Place, files: &Place) -> Result<(), Error> {
    let refuse = |why: String| Err(Error::Corrupt { path: place.file().to_owned(), why });
    // These questions are the same for every ledger: if SQLite cannot answer one, it is because of the file.
    let at = |error: rusqlite::Error| match Error::at(place.file(), &error) {
        Error::Internal(why) => Error::Corrupt { path: place.file().to_owned(), why },
        error => error,
    };
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
    if !schema::is_whole(connection).map_err(at)? {
        return refuse(format!("its tables are not those of schema {version}"));
    }
    if is_cut(connection, files).map_err(at)? {
        return refuse("its end is cut off".to_owned());
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

/// The same of a connection that reads the log too: a damaged header can make SQLite pass it by.
fn check_with_log(connection: &Connection, place: &Place, files: &Place) -> Result<(), Error> {
    check(connection, place, files)?;
    let mode: String = connection
        .query_row("PRAGMA journal_mode", [], |row| row.get(0))
        .map_err(|error| Error::at(place.file(), &error))?;
    if mode == "wal" {
        return Ok(());
    }
    Err(Error::Corrupt { path: place.file().to_owned(), why: "it passes its write-ahead log by".to_owned() })
}

/// Whether pages are missing at the end. SQLite reads them as empty ones until it stumbles over that.
fn is_cut(connection: &Connection, files: &Place) -> rusqlite::Result<bool> {
    /// What the log writes before each page, and before all of them.
    const FRAME: u64 = 24;
    const HEADER: u64 = 32;
    let (pages, size): (u64, u64) = connection.query_row(
        "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    // The log first: what leaves it is in the file by then.
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    let logged = length(&files.wal()).saturating_sub(HEADER) / (size + FRAME);
    Ok(length(files.file()) / size + logged < pages)
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_statement_is_planned_once_whatever_values_it_is_run_with() {
        let directory = tempfile::tempdir().unwrap();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = connect(&directory.path().join("ledger"), flags).unwrap();
        connection.execute_batch(schema::STATEMENTS).unwrap();
        let mut find =
            connection.prepare("SELECT id FROM active_scope WHERE kind = ?1 AND alias = ?2").unwrap();
        for number in 0..5_u8 {
            assert!(find.query((number, [number; 16])).unwrap().next().unwrap().is_none());
        }
        assert_eq!(find.get_status(StatementStatus::RePrepare), 0);
    }
}
