//! Whose silence is long enough to count as absence.

use std::collections::HashMap;

use crate::domain::Timestamp;
use crate::failure::Failure;
use crate::ledger::Snapshot;
use crate::ledger::read::LastSeen;

/// Which agents have been silent for so long that they count as gone.
pub struct Silence {
    now: Timestamp,
    since: HashMap<i64, Option<Timestamp>>,
}

impl Silence {
    /// Nobody asked yet.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self { now, since: HashMap::new() }
    }

    /// Since when the agent with this number is gone; `None` for one that is there.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn since(&mut self, snapshot: &Snapshot<'_>, agent: i64) -> Result<Option<Timestamp>, Failure> {
        if let Some(known) = self.since.get(&agent) {
            return Ok(*known);
        }
        // Most are there, and their presence says so at once.
        let mut gone = None;
        if snapshot.presence(agent)?.is_none_or(|at| LastSeen { at, local: true }.is_stale(self.now)) {
            gone = snapshot.last_seen_row(agent)?.filter(|seen| seen.is_stale(self.now)).map(|seen| seen.at);
        }
        self.since.insert(agent, gone);
        Ok(gone)
    }

    /// Since when the work with this number, owned by this agent, stands still: its owner is gone and
    /// none of its claims is live.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn stopped(
        &mut self,
        snapshot: &Snapshot<'_>,
        intent: i64,
        owner: i64,
    ) -> Result<Option<Timestamp>, Failure> {
        match self.since(snapshot, owner)? {
            Some(since) if !snapshot.has_live_claim(intent, self.now)? => Ok(Some(since)),
            _ => Ok(None),
        }
    }
}
