//! State as the fold of events in the order (lamport, replica, number).
//!
//! That order is the same in every ledger, whatever the order of arrival. An event usually
//! arrives at the end of the aggregates it touches and is applied on top; one that arrives late
//! makes only those aggregates start over. An event whose precondition fails at its place is
//! kept without effect, and an event that follows from it shares its fate. A fold never fails
//! on what an event says. An event of a type, version or shape this version does not know is
//! skipped; whether it has an effect only a version that knows it can say, so nothing that
//! follows from it is held back.
//!
//! A handler reads and writes the rows of its aggregate alone. An event that touches several
//! aggregates has no precondition of its own but its cause, so that all of them agree.

mod active;
mod agent;
mod claim;
mod intent;
mod message;
mod order;
mod pair;
mod work;

use std::collections::VecDeque;

use rusqlite::{Connection, OptionalExtension};

use super::error::Error;
use super::execute;
use crate::domain::fact::{ClaimCreated, ClaimReleased, ClaimRenewed, Fact};
use crate::domain::{Agent, Event, Id, Intent, Message, ScopeKind, Timestamp};
use order::place;

/// An event as the folds see it.
pub(super) struct Folded {
    pub seq: u64,
    pub event_id: Id<Event>,
    pub entity_type: String,
    pub entity_id: String,
    pub agent_id: Option<String>,
    pub cause: Option<Id<Event>>,
    pub replica: i64,
    pub created_at: Timestamp,
    /// `None` for what this version does not know.
    pub fact: Option<Fact>,
}

/// Whether an event changed anything.
pub(super) enum Effect {
    Applied,
    Ignored(&'static str),
}

/// Numbers of aggregate kinds, as the dictionary stores them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Agent = 1,
    Intent = 2,
    Pair = 3,
    Message = 4,
}

/// Finds out what event `seq`, which was just appended, changes.
pub(super) fn settle(connection: &Connection, seq: u64) -> Result<(), Error> {
    let event = load(connection, seq)?;
    let mut behind = VecDeque::new();
    let aggregates = touched(connection, &event)?;
    if aggregates.is_empty() && event.fact.is_some() {
        note(connection, seq, &Effect::Ignored("it names nothing that it could have happened to"))?;
    }
    for aggregate in aggregates {
        execute(
            connection,
            "INSERT INTO event_aggregate (aggregate, seq) VALUES (?1, ?2)",
            (aggregate, seq),
        )?;
        let flipped = if arrives_last(connection, aggregate, seq)? {
            advance(connection, aggregate, &event)?
        } else {
            start_over(connection, aggregate)?
        };
        for changed in flipped {
            behind.extend(followers(connection, changed)?);
        }
    }
    // An exchange may bring an event after those that follow from it.
    behind.extend(followers(connection, event.event_id)?);
    while let Some(aggregate) = behind.pop_front() {
        for changed in start_over(connection, aggregate)? {
            behind.extend(followers(connection, changed)?);
        }
    }
    Ok(())
}

/// Throws every projection away and folds the whole history again.
pub(super) fn replay(connection: &Connection) -> Result<(), Error> {
    connection.execute_batch(
        "DELETE FROM ineffective; DELETE FROM event_aggregate; UPDATE aggregate SET last_seq = NULL;
         DELETE FROM agent; DELETE FROM intent; DELETE FROM intent_scope; DELETE FROM active_scope;
         DELETE FROM active_word; DELETE FROM active_summary;
         DELETE FROM intent_dependency; DELETE FROM assessment; DELETE FROM claim; DELETE FROM message;
         DELETE FROM conflict; DELETE FROM decision; DELETE FROM owed;",
    )?;
    let last: u64 = connection.query_row("SELECT coalesce(max(seq), 0) FROM event", [], |row| row.get(0))?;
    (1..=last).try_for_each(|seq| settle(connection, seq))
}

/// The aggregates an event touches, entered into the dictionary if they are new.
fn touched(connection: &Connection, event: &Folded) -> Result<Vec<i64>, Error> {
    let Some(fact) = event.fact.as_ref().filter(|fact| fact.heading().2 == event.entity_type) else {
        return Ok(vec![]);
    };
    let mut aggregates = Vec::new();
    match fact {
        Fact::AgentRegistered(_) | Fact::AgentRetired(_) => {
            if let Some(agent) = Id::<Agent>::exact(&event.entity_id) {
                aggregates.push(entity(connection, Kind::Agent, agent)?);
            }
        }
        Fact::ClaimCreated(ClaimCreated { intent_id, .. })
        | Fact::ClaimRenewed(ClaimRenewed { intent_id, .. })
        | Fact::ClaimReleased(ClaimReleased { intent_id }) => {
            aggregates.push(entity(connection, Kind::Intent, *intent_id)?);
        }
        Fact::CoordinationSent(fact) => {
            if let Some(message) = Id::<Message>::exact(&event.entity_id) {
                aggregates.push(entity(connection, Kind::Message, message)?);
            }
            if let Some(about) = fact.about {
                aggregates.push(pair(connection, about.between.0, about.between.1)?);
            }
        }
        Fact::CoordinationRead(fact) => {
            for message in &fact.messages {
                aggregates.push(entity(connection, Kind::Message, *message)?);
            }
        }
        Fact::ConflictResolved(fact) => {
            aggregates.push(pair(connection, fact.between.0, fact.between.1)?);
        }
        Fact::IntentPublished(_)
        | Fact::IntentAmended(_)
        | Fact::IntentAssessed(_)
        | Fact::IntentAdopted(_)
        | Fact::LifecycleTransitioned(_)
        | Fact::WorkDiscarded(_) => {
            if let Some(intent) = Id::<Intent>::exact(&event.entity_id) {
                aggregates.push(entity(connection, Kind::Intent, intent)?);
            }
        }
        Fact::ConflictDetected(_)
        | Fact::ConflictRedetected(_)
        | Fact::ConflictDismissed(_)
        | Fact::FindingsOwed(_)
        | Fact::FindingsSettled(_) => {
            if let Some(acting) = Id::exact(&event.entity_id) {
                for with in pair::counterparts(fact).into_iter().filter(|with| *with != acting) {
                    aggregates.push(pair(connection, acting, with)?);
                }
                aggregates.sort_unstable();
                aggregates.dedup();
            }
        }
    }
    Ok(aggregates)
}

/// The number of an entity in the dictionary of aggregates.
pub(super) fn entity<K>(connection: &Connection, kind: Kind, id: Id<K>) -> Result<i64, Error> {
    let mut find = connection.prepare_cached("SELECT id FROM aggregate WHERE kind = ?1 AND uid = ?2")?;
    if let Some(known) = find.query_row((kind as u8, id), |row| row.get(0)).optional()? {
        return Ok(known);
    }
    execute(connection, "INSERT INTO aggregate (kind, uid) VALUES (?1, ?2)", (kind as u8, id))?;
    Ok(connection.last_insert_rowid())
}

/// The number of the pair of two intents; the smaller id is `low`.
fn pair(connection: &Connection, one: Id<Intent>, other: Id<Intent>) -> Result<i64, Error> {
    let low = entity(connection, Kind::Intent, one.min(other))?;
    let high = entity(connection, Kind::Intent, one.max(other))?;
    let mut find = connection.prepare_cached("SELECT id FROM aggregate WHERE low = ?1 AND high = ?2")?;
    if let Some(known) = find.query_row((low, high), |row| row.get(0)).optional()? {
        return Ok(known);
    }
    execute(
        connection,
        "INSERT INTO aggregate (kind, low, high) VALUES (?1, ?2, ?3)",
        (Kind::Pair as u8, low, high),
    )?;
    Ok(connection.last_insert_rowid())
}

/// The number of a scope in the dictionary.
pub(super) fn scope(connection: &Connection, kind: ScopeKind, full: &str) -> Result<i64, Error> {
    let mut find = connection.prepare_cached("SELECT id FROM scope WHERE kind = ?1 AND full = ?2")?;
    if let Some(known) = find.query_row((kind, full), |row| row.get(0)).optional()? {
        return Ok(known);
    }
    execute(connection, "INSERT INTO scope (kind, full) VALUES (?1, ?2)", (kind, full))?;
    Ok(connection.last_insert_rowid())
}

/// Whether the event comes after everything its aggregate has seen.
fn arrives_last(connection: &Connection, aggregate: i64, seq: u64) -> Result<bool, Error> {
    let mut last = connection.prepare_cached("SELECT last_seq FROM aggregate WHERE id = ?1")?;
    match last.query_row([aggregate], |row| row.get::<_, Option<u64>>(0))? {
        None => Ok(true),
        Some(last) if last == seq => Ok(false),
        Some(last) => Ok(place(connection, last)? < place(connection, seq)?),
    }
}

fn kind(connection: &Connection, aggregate: i64) -> Result<Kind, Error> {
    let mut find = connection.prepare_cached("SELECT kind FROM aggregate WHERE id = ?1")?;
    let number: u8 = find.query_row([aggregate], |row| row.get(0))?;
    [Kind::Agent, Kind::Intent, Kind::Pair, Kind::Message]
        .into_iter()
        .find(|kind| *kind as u8 == number)
        .ok_or_else(|| Error::Internal(format!("aggregate {aggregate} is of the unknown kind {number}")))
}

/// Applies one event on top of its aggregate. Returns it if its effectiveness changed.
fn advance(connection: &Connection, aggregate: i64, event: &Folded) -> Result<Vec<Id<Event>>, Error> {
    execute(connection, "UPDATE aggregate SET last_seq = ?2 WHERE id = ?1", (aggregate, event.seq))?;
    let flipped = apply(connection, aggregate, event)?;
    Ok(flipped.then_some(event.event_id).into_iter().collect())
}

/// Folds all events of an aggregate from nothing. Returns those whose effectiveness changed.
fn start_over(connection: &Connection, aggregate: i64) -> Result<Vec<Id<Event>>, Error> {
    match kind(connection, aggregate)? {
        Kind::Agent => agent::clear(connection, aggregate)?,
        Kind::Intent => intent::clear(connection, aggregate)?,
        Kind::Pair => pair::clear(connection, aggregate)?,
        Kind::Message => message::clear(connection, aggregate)?,
    }
    let mut flipped = Vec::new();
    for seq in order::events(connection, aggregate)? {
        let event = load(connection, seq)?;
        flipped.extend(advance(connection, aggregate, &event)?);
    }
    Ok(flipped)
}

/// Applies `event` to `aggregate`, notes its effect, and says whether that is another than before.
fn apply(connection: &Connection, aggregate: i64, event: &Folded) -> Result<bool, Error> {
    let effect = match (order::fate_of_cause(connection, event)?, &event.fact) {
        (Effect::Ignored(why), _) => Effect::Ignored(why),
        (Effect::Applied, Some(Fact::AgentRegistered(fact))) => {
            agent::registered(connection, aggregate, event, fact)?
        }
        (Effect::Applied, Some(Fact::IntentPublished(fact))) => {
            intent::published(connection, aggregate, event, fact)?
        }
        (Effect::Applied, Some(Fact::IntentAmended(fact))) => {
            intent::amended(connection, aggregate, event, fact)?
        }
        (Effect::Applied, Some(Fact::AgentRetired(_))) => agent::retired(connection, aggregate)?,
        (Effect::Applied, Some(Fact::IntentAssessed(fact))) => {
            work::assessed(connection, aggregate, event, fact)?
        }
        (Effect::Applied, Some(Fact::IntentAdopted(fact))) => {
            work::adopted(connection, aggregate, event, fact)?
        }
        (Effect::Applied, Some(Fact::LifecycleTransitioned(fact))) => {
            work::transitioned(connection, aggregate, event, fact)?
        }
        (Effect::Applied, Some(Fact::WorkDiscarded(_))) => work::discarded(connection, aggregate, event)?,
        (Effect::Applied, Some(Fact::ClaimCreated(fact))) => {
            claim::created(connection, aggregate, event, fact)?
        }
        (Effect::Applied, Some(Fact::ClaimRenewed(fact))) => {
            claim::renewed(connection, aggregate, event, fact)?
        }
        (Effect::Applied, Some(Fact::ClaimReleased(_))) => claim::released(connection, aggregate, event)?,
        (Effect::Applied, Some(Fact::CoordinationSent(fact))) => match kind(connection, aggregate)? {
            Kind::Message => message::sent(connection, aggregate, event, fact)?,
            _ => pair::talked_about(connection, aggregate, fact)?,
        },
        (Effect::Applied, Some(Fact::CoordinationRead(_))) => message::read(connection, aggregate, event)?,
        (Effect::Applied, Some(Fact::ConflictResolved(fact))) => {
            pair::resolved(connection, aggregate, event, fact)?
        }
        (Effect::Applied, Some(Fact::ConflictDismissed(fact))) => {
            pair::dismissed(connection, aggregate, event, fact)?
        }
        (Effect::Applied, Some(Fact::FindingsOwed(fact))) => pair::owed(connection, aggregate, event, fact)?,
        (Effect::Applied, Some(Fact::FindingsSettled(_))) => pair::settled(connection, aggregate, event)?,
        (Effect::Applied, Some(Fact::ConflictDetected(fact) | Fact::ConflictRedetected(fact))) => {
            pair::detected(connection, aggregate, event, fact)?
        }
        (Effect::Applied, None) => Effect::Applied,
    };
    note(connection, event.seq, &effect)
}

/// Notes whether event `seq` has an effect, and says whether that is another than before. The
/// reason may change while the answer stays: of two reasons the present one is kept.
fn note(connection: &Connection, seq: u64, effect: &Effect) -> Result<bool, Error> {
    match effect {
        Effect::Applied => Ok(execute(connection, "DELETE FROM ineffective WHERE seq = ?1", [seq])? > 0),
        Effect::Ignored(why) => {
            let known = execute(connection, "UPDATE ineffective SET why = ?2 WHERE seq = ?1", (seq, why))?;
            if known == 0 {
                execute(connection, "INSERT INTO ineffective (seq, why) VALUES (?1, ?2)", (seq, why))?;
            }
            Ok(known == 0)
        }
    }
}

/// Aggregates touched by the events that follow from `cause`.
fn followers(connection: &Connection, cause: Id<Event>) -> Result<Vec<i64>, Error> {
    let mut find = connection.prepare_cached("SELECT seq FROM event WHERE cause = ?1")?;
    let events: Vec<u64> = find.query_map([cause], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut aggregates = Vec::new();
    for seq in events {
        aggregates.extend(touched(connection, &load(connection, seq)?)?);
    }
    Ok(aggregates)
}

fn load(connection: &Connection, seq: u64) -> Result<Folded, Error> {
    let mut find = connection.prepare_cached(
        "SELECT event_id, entity_id, agent_id, cause, replica, created_at, event_type, version, shared,
                event_local.payload, entity_type
         FROM event LEFT JOIN event_local USING (seq) WHERE seq = ?1",
    )?;
    Ok(find.query_row([seq], |row| {
        let (event_type, shared): (String, String) = (row.get(6)?, row.get(8)?);
        let local: Option<String> = row.get(9)?;
        Ok(Folded {
            seq,
            event_id: row.get(0)?,
            entity_type: row.get(10)?,
            entity_id: row.get(1)?,
            agent_id: row.get(2)?,
            cause: row.get(3)?,
            replica: row.get(4)?,
            created_at: row.get(5)?,
            fact: Fact::read(&event_type, row.get(7)?, &shared, local.as_deref()),
        })
    })?)
}
