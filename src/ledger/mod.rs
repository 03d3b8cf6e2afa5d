//! The ledger: an append-only, hash-chained history in SQLite, and what follows from it.
//!
//! Events are the truth. Every other table is derived by the folds, except the operational
//! ones (`presence`), and may be thrown away and replayed. The room knows nothing of Git,
//! operations or transports.
//!
//! The way of a write: [`Ledger::write`] hands work to the one writer thread ([`writer`]),
//! which takes its turn among processes ([`turnstile`]), begins a transaction and runs the work
//! on a [`Transaction`]. `record` appends an event ([`chain`]) and folds it ([`fold`]). After
//! the commit the high-water mark is moved ([`mark`]) and the caller is told.

pub mod audit;
mod blocks;
mod chain;
mod create;
mod error;
pub mod exchange;
pub mod feed;
mod fold;
mod mark;
mod open;
mod place;
pub mod read;
pub mod replay;
mod schema;
mod signature;
mod sql;
mod turnstile;
mod write;
mod writer;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use crate::world::World;

pub use create::{Created, create};
pub use error::Error;
pub use place::Place;
pub use read::Snapshot;
pub use write::{Draft, Transaction};
pub use writer::Patience;

/// How hard a commit presses the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// An acknowledged write survives a power cut.
    #[default]
    Full,
    /// Nothing is pressed; for benches that measure computing alone.
    Off,
}

/// What may be tuned by whoever opens a ledger.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How hard a commit presses the disk.
    pub durability: Durability,
    /// How long a write waits for its turn before it is refused as busy.
    pub patience: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { durability: Durability::Full, patience: Duration::from_secs(30) }
    }
}

/// Connections kept for reading.
const READERS: usize = 4;

/// An open ledger. Cheap to share; reads run in parallel, writes queue up.
pub struct Ledger {
    shared: Arc<Shared>,
    writer: writer::Writer,
    readers: Mutex<Readers>,
    reader_returned: Condvar,
}

/// What readers and the writer have in common.
struct Shared {
    place: Place,
    identity: open::FileIdentity,
    settings: Settings,
    world: Arc<dyn World>,
}

#[derive(Default)]
struct Readers {
    idle: Vec<open::Reader>,
    lent: usize,
}

impl Ledger {
    /// Opens the ledger at `place`, which [`create()`] made earlier.
    ///
    /// # Errors
    /// [`Error::NotInitialized`] when there is none, [`Error::Corrupt`] when the file is
    /// missing, empty, damaged or somebody else's, and the schema errors.
    pub fn open(place: Place, settings: Settings, world: Arc<dyn World>) -> Result<Self, Error> {
        let identity = open::identify(&place)?;
        let shared = Arc::new(Shared { place, identity, settings, world });
        let first = open::reader(&shared.place, identity)?;
        let readers = Readers { idle: vec![first], lent: 0 };
        let writer = writer::Writer::new(Arc::clone(&shared));
        Ok(Self { shared, writer, readers: Mutex::new(readers), reader_returned: Condvar::new() })
    }

    /// Where the ledger and the files beside it are.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.shared.place
    }

    /// Runs `work` on one consistent moment of the ledger.
    ///
    /// # Errors
    /// What `work` returns, and [`Error::Replaced`] when the file was exchanged meanwhile.
    pub fn read<T, E: From<Error>>(&self, work: impl FnOnce(&Snapshot<'_>) -> Result<T, E>) -> Result<T, E> {
        let place = &self.shared.place;
        open::still_the_same(place, self.shared.identity)?;
        let lent = self.lend()?;
        let at = |error| Error::at(place.file(), &error);
        let transaction = lent.reader().connection().unchecked_transaction().map_err(at)?;
        let answer = work(&Snapshot::new(&transaction));
        transaction.finish().map_err(at)?;
        lent.reader().was_undisturbed(place)?;
        answer
    }

    /// Queues `work` as one atomic write and waits until it is durable.
    ///
    /// # Errors
    /// What `work` returns (nothing is then kept), [`Error::Busy`] when its turn did not come,
    /// and whatever stops a commit.
    pub fn write<T, E>(
        &self,
        patience: Patience,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.writer.run(patience, work)
    }

    fn lend(&self) -> Result<Lent<'_>, Error> {
        let mut readers = self.readers();
        loop {
            // One that shows a moment of the past is closed; what it stood for is opened anew.
            let idle = readers.idle.pop().filter(|reader| reader.is_current(&self.shared.place));
            if let Some(reader) = idle {
                readers.lent += 1;
                return Ok(Lent { ledger: self, reader: Some(reader) });
            }
            if readers.lent < READERS {
                readers.lent += 1;
                drop(readers);
                let mut lent = Lent { ledger: self, reader: None };
                lent.reader = Some(open::reader(&self.shared.place, self.shared.identity)?);
                return Ok(lent);
            }
            readers = self.reader_returned.wait(readers).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn readers(&self) -> MutexGuard<'_, Readers> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reading connection on loan; goes back when dropped.
struct Lent<'l> {
    ledger: &'l Ledger,
    reader: Option<open::Reader>,
}

impl Lent<'_> {
    fn reader(&self) -> &open::Reader {
        self.reader.as_ref().expect("a loan holds its reader until it is dropped")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut readers = self.ledger.readers();
        readers.lent -= 1;
        readers.idle.extend(self.reader.take());
        self.ledger.reader_returned.notify_one();
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").field("place", &self.shared.place).finish_non_exhaustive()
    }
}

/// Runs a statement whose text is kept prepared.
fn execute(connection: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<usize, Error> {
    Ok(connection.prepare_cached(sql)?.execute(values)?)
}
