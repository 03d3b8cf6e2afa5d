//! The history as clients read it.

use serde_json::{Map, Value};

use super::super::error::Error;
use super::Snapshot;
use crate::domain::event::GENESIS;
use crate::domain::fact::Fact;
use crate::domain::{Digest, Event, Id, Timestamp};

/// Events after ?1 in order of arrival, at most ?2.
pub(in crate::ledger) const EVENTS: &str =
    "SELECT event.seq, event_id, event_type, version, entity_type, entity_id, agent_id, shared, payload,
            created_at, event_hash, replica.uid, number, lamport, replica_hash, cause, why,
            (SELECT before.event_hash FROM event before WHERE before.seq = event.seq - 1)
     FROM event JOIN replica ON replica.id = event.replica LEFT JOIN event_local USING (seq)
     LEFT JOIN ineffective USING (seq) WHERE event.seq > ?1 ORDER BY event.seq LIMIT ?2";

impl Snapshot<'_> {
    /// Events after `after_seq` in order of arrival, at most `limit`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn events(&self, after_seq: u64, limit: u32) -> Result<Vec<Event>, Error> {
        let mut find = self.connection().prepare_cached(EVENTS)?;
        let found = find.query_map((after_seq, limit), |row| {
            let why: Option<String> = row.get(16)?;
            let previous: Option<Digest> = row.get(17)?;
            let mut event = Event {
                seq: row.get(0)?,
                event_id: row.get(1)?,
                event_type: row.get(2)?,
                entity_type: row.get(4)?,
                entity_id: row.get(5)?,
                agent_id: row.get(6)?,
                payload: Value::Null,
                created_at: row.get(9)?,
                prev_hash: previous.map_or_else(|| GENESIS.to_owned(), |hash| hash.to_string()),
                event_hash: row.get::<_, Digest>(10)?.to_string(),
                replica: row.get(11)?,
                number: row.get(12)?,
                lamport: row.get(13)?,
                replica_hash: row.get::<_, Digest>(14)?.to_string(),
                cause: row.get(15)?,
                effective: why.is_none(),
                why_not_effective: why,
            };
            let (version, shared): (u32, String) = (row.get(3)?, row.get(7)?);
            let local: Option<String> = row.get(8)?;
            event.payload = payload(&event, version, &shared, local.as_deref());
            Ok(event)
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

/// What an event says, and what it says it of.
pub(super) struct Said {
    pub event_id: Id<Event>,
    pub entity_id: String,
    pub created_at: Timestamp,
    pub fact: Fact,
}

impl Snapshot<'_> {
    /// What the event with this place says; `None` for one that has no effect or that this version
    /// does not know.
    pub(super) fn said(&self, seq: u64) -> Result<Option<Said>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT event_type, version, shared, event_id, entity_id, created_at FROM event
             WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM ineffective WHERE ineffective.seq = event.seq)",
        )?;
        let mut rows = find.query([seq])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (event_type, version, shared): (String, u32, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let Some(fact) = Fact::read(&event_type, version, &shared, None) else { return Ok(None) };
        let (event_id, entity_id, created_at) = (row.get(3)?, row.get(4)?, row.get(5)?);
        Ok(Some(Said { event_id, entity_id, created_at, fact }))
    }
}

/// The payload as clients read it: findings spelled out, everything else as recorded, what this
/// version does not know included.
fn payload(event: &Event, version: u32, shared: &str, local: Option<&str>) -> Value {
    if let Some(Fact::ConflictDetected(found) | Fact::ConflictRedetected(found)) =
        Fact::read(&event.event_type, version, shared, None)
        && let Some(acting) = Id::exact(&event.entity_id)
    {
        return found.describe(event.event_id, acting);
    }
    let object = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default();
    let mut payload = object(shared);
    payload.extend(local.map(object).unwrap_or_default());
    Value::Object(payload)
}
