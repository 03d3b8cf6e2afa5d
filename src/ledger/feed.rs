//! New events as they arrive, for whoever watches.
//!
//! One feed per process serves all its watchers. It asks SQLite whether the file changed, which
//! costs microseconds, and reads only when it did.

use std::sync::Arc;

use super::error::Error;
use super::{Ledger, Shared, Snapshot, open};
use crate::domain::Event;

/// A place in the history that moves forward.
pub struct Feed {
    shared: Arc<Shared>,
    reader: open::Reader,
    after_seq: u64,
    seen_version: Option<i64>,
}

impl Feed {
    /// A feed of the events after `after_seq`, on a connection of its own.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    pub fn new(ledger: &Ledger, after_seq: u64) -> Result<Self, Error> {
        let shared = Arc::clone(&ledger.shared);
        let reader = open::reader(&shared.place, shared.identity)?;
        Ok(Self { shared, reader, after_seq, seen_version: None })
    }

    /// The next events, at most `limit`; none when nothing happened since the last call.
    ///
    /// # Errors
    /// [`Error::Replaced`], and whatever stops a read; the place in the history does not move then.
    pub fn poll(&mut self, limit: u32) -> Result<Vec<Event>, Error> {
        let Shared { place, identity, .. } = &*self.shared;
        open::still_the_same(place, *identity)?;
        if !self.reader.is_current(place) {
            self.reader = open::reader(place, *identity)?;
            self.seen_version = None;
        }
        let connection = self.reader.connection();
        // Read before the events: a change in between is then seen by the next call.
        let version = connection.query_row("PRAGMA data_version", [], |row| row.get(0))?;
        if self.seen_version == Some(version) {
            return Ok(Vec::new());
        }
        let events = Snapshot::new(connection).events(self.after_seq, limit)?;
        self.reader.was_undisturbed(place)?;
        if events.len() < limit as usize {
            self.seen_version = Some(version);
        }
        self.after_seq = events.last().map_or(self.after_seq, |event| event.seq);
        Ok(events)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rusqlite::StatementStatus;

    use super::*;
    use crate::domain::fact::{AgentRegistered, Fact};
    use crate::domain::{Agent, Id};
    use crate::ledger::read::event::EVENTS;
    use crate::ledger::{Draft, Patience, Place, Settings, create};
    use crate::world::Fake;

    fn record(ledger: &Ledger) {
        let fact = Fact::AgentRegistered(AgentRegistered {
            name: "a".to_owned(),
            model: None,
            capabilities: Vec::new(),
            git_branch: None,
            git_head: None,
            worktree: None,
        });
        let written = ledger.write(Patience::Wait, |write| {
            let agent: Id<Agent> = write.new_id()?;
            write.record(Draft { entity: agent.to_string(), agent, cause: None, fact })
        });
        written.unwrap();
    }

    #[test]
    fn an_idle_poll_reads_no_events() {
        let directory = tempfile::tempdir().unwrap();
        let world = Arc::new(Fake::new(1));
        let place = Place::in_directory(directory.path().join("ledger"));
        create(&place, &*world).unwrap();
        let ledger = Ledger::open(place, Settings::default(), world).unwrap();
        let mut feed = Feed::new(&ledger, 0).unwrap();
        let runs = |feed: &Feed| {
            let events = feed.reader.connection().prepare_cached(EVENTS).unwrap();
            events.get_status(StatementStatus::Run)
        };
        record(&ledger);
        assert_eq!(feed.poll(10).unwrap().len(), 1);
        let before = runs(&feed);
        for _ in 0..5 {
            assert_eq!(feed.poll(10).unwrap(), []);
        }
        assert_eq!(runs(&feed), before, "nothing happened and events were read");
        record(&ledger);
        assert_eq!(feed.poll(10).unwrap().len(), 1);
        assert!(runs(&feed) > before);
    }
}
