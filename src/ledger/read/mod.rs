//! Reading: typed answers from one consistent moment.

mod age;
mod agent;
mod assessment;
mod claim;
mod conflict;
mod counterpart;
mod detection;
pub(super) mod event;
pub mod graph;
pub(super) mod identity;
mod intent;
mod message;
mod near;
mod nearest;
mod overview;
pub mod page;
mod postings;
mod resolve;
mod status;
mod wording;
mod work;

use rusqlite::Connection;

use super::error::Error;

pub use agent::LastSeen;
pub use claim::LiveClaim;
pub use counterpart::Counterpart;
pub use identity::{Among, KnownConflict, Unsettled};
pub use intent::Standing;
pub use overview::{Unread, Wait};
pub use page::{Cursor, Page};
pub use postings::{NearClaim, Posting};
use resolve::Resolvable;
pub use status::{Grouped, StatusConflict, StatusIntent, StatusSide};
pub use work::{Which, Work};

/// One moment of the ledger.
pub struct Snapshot<'c> {
    connection: &'c Connection,
}

impl<'c> Snapshot<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection }
    }

    pub(super) fn connection(&self) -> &'c Connection {
        self.connection
    }

    /// The newest event's sequence number; 0 for an empty history.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn last_seq(&self) -> Result<u64, Error> {
        let mut newest = self.connection.prepare_cached("SELECT coalesce(max(seq), 0) FROM event")?;
        Ok(newest.query_row([], |row| row.get(0))?)
    }

    /// The identity of the repository the ledger is bound to.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn repository(&self) -> Result<String, Error> {
        Ok(self.connection.query_row("SELECT repository FROM identity", [], |row| row.get(0))?)
    }
}
