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

use std::cell::OnceCell;
use std::collections::{BTreeSet, VecDeque};

use rusqlite::{Connection, OptionalExtension};

use super::chain::Entry;
use super::error::Error;
use super::{blocks, execute};
use crate::domain::fact::{ClaimCreated, ClaimReleased, ClaimRenewed, Fact};
use crate::domain::{Agent, Conflict, Event, Id, Intent, Message, ScopeKind, Timestamp};

/// An event as the folds see it.
pub(super) struct Folded {
    pub seq: u64,
    pub event_id: Id<Event>,
    pub entity_type: String,
    pub entity_id: String,
    /// The intent that `entity_id` spells exactly, if it does.
    pub intent: Option<Id<Intent>>,
    pub agent_id: Option<String>,
    pub cause: Option<Id<Event>>,
    pub replica: i64,
    pub lamport: u64,
    pub created_at: Timestamp,
    /// `None` for what this version does not know.
    pub fact: Option<Fact>,
    /// Numbers of the scopes that a finding's fact lists, once they are asked for.
    scopes: OnceCell<Vec<i64>>,
    /// [`blocks::listed_through`], once it is asked for and the pairs of the event are entered.
    listed_through: OnceCell<i64>,
}

impl Folded {
    /// Whether the conflicts of a pair are to be listed by identifier.
    fn is_listed(&self, connection: &Connection, pair: i64) -> Result<bool, Error> {
        if let Some(through) = self.listed_through.get() {
            return Ok(pair <= *through);
        }
        let through = blocks::listed_through(connection)?;
        Ok(pair <= *self.listed_through.get_or_init(|| through))
    }

    /// The number of each of `listed`, the scopes its fact lists.
    fn scopes(&self, connection: &Connection, listed: &[(ScopeKind, String)]) -> Result<&[i64], Error> {
        if let Some(known) = self.scopes.get() {
            return Ok(known);
        }
        let numbers = listed.iter().map(|(kind, full)| scope(connection, *kind, full));
        let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
        Ok(self.scopes.get_or_init(|| numbers))
    }
}

/// Whether an event changed anything.
#[derive(Debug, Clone, Copy)]
pub(super) enum Effect {
    Applied,
    Ignored(&'static str),
}

/// Kinds of aggregates; the numbers are those of the dictionary, which lists pairs apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Agent = 1,
    Intent = 2,
    Pair = 3,
    Message = 4,
}

/// What an event happens to.
#[derive(Debug, Clone, Copy)]
struct Aggregate {
    kind: Kind,
    /// Its number in the dictionary.
    id: i64,
    /// The intents of a pair, the smaller id first.
    sides: Option<(Id<Intent>, Id<Intent>)>,
}

/// Finds out what event `seq`, which was just appended, changes.
pub(super) fn settle(connection: &Connection, seq: u64) -> Result<(), Error> {
    settle_event(connection, &load(connection, seq)?)
}

/// The same for an event of this ledger, whose `fact` need not be read back. Its places are its `seq`,
/// its Lamport time and the row of its replica.
pub(super) fn settle_new(
    connection: &Connection,
    (seq, lamport, replica): (u64, u64, i64),
    entry: &Entry,
    fact: Fact,
) -> Result<(), Error> {
    let event = Folded {
        seq,
        event_id: entry.event_id,
        entity_type: entry.entity_type.clone(),
        entity_id: entry.entity_id.clone(),
        intent: Id::exact(&entry.entity_id),
        agent_id: entry.agent_id.clone(),
        cause: entry.cause,
        replica,
        lamport,
        created_at: entry.created_at,
        fact: Some(fact),
        scopes: OnceCell::new(),
        listed_through: OnceCell::new(),
    };
    settle_event(connection, &event)
}

fn settle_event(connection: &Connection, event: &Folded) -> Result<(), Error> {
    let seq = event.seq;
    let mut behind = VecDeque::new();
    let aggregates = touched(connection, event)?;
    if aggregates.is_empty() && event.fact.is_some() {
        note(connection, seq, &Effect::Ignored("it names nothing that it could have happened to"))?;
    }
    let newest = order::is_newest(connection, event)?;
    let fate = order::fate_of_cause(connection, event)?;
    let mut effect = None;
    for aggregate in aggregates {
        order::enter(connection, &aggregate, seq)?;
        if newest || order::is_last(connection, &aggregate, seq)? {
            effect = Some(apply(connection, &aggregate, event, fate)?);
        } else {
            for changed in start_over(connection, &aggregate)? {
                behind.extend(followers(connection, changed)?);
            }
        }
    }
    if let Some(effect) = effect {
        note(connection, seq, &effect)?;
    }
    // An exchange may bring an event after those that follow from it.
    behind.extend(followers(connection, event.event_id)?);
    while let Some(aggregate) = behind.pop_front() {
        for changed in start_over(connection, &aggregate)? {
            behind.extend(followers(connection, changed)?);
        }
    }
    Ok(())
}

/// Throws every projection away and folds the whole history again.
pub(super) fn replay(connection: &Connection) -> Result<(), Error> {
    connection.execute_batch(
        "DELETE FROM ineffective; DELETE FROM event_aggregate; DELETE FROM event_pair;
         DELETE FROM agent; DELETE FROM intent; DELETE FROM intent_scope; DELETE FROM active_scope;
         DELETE FROM active_word; DELETE FROM active_summary;
         DELETE FROM intent_dependency; DELETE FROM assessment; DELETE FROM claim; DELETE FROM message;
         DELETE FROM conflict; DELETE FROM decision; DELETE FROM owed;",
    )?;
    let last: u64 = connection.query_row("SELECT coalesce(max(seq), 0) FROM event", [], |row| row.get(0))?;
    (1..=last).try_for_each(|seq| settle(connection, seq))
}

/// The aggregates an event touches, entered into the dictionary if they are new.
fn touched(connection: &Connection, event: &Folded) -> Result<Vec<Aggregate>, Error> {
    let Some(fact) = event.fact.as_ref().filter(|fact| fact.heading().2 == event.entity_type) else {
        return Ok(vec![]);
    };
    let one = |kind, id| Aggregate { kind, id, sides: None };
    let mut aggregates = Vec::new();
    match fact {
        Fact::AgentRegistered(_) | Fact::AgentRetired(_) => {
            if let Some(agent) = Id::<Agent>::exact(&event.entity_id) {
                aggregates.push(one(Kind::Agent, entity(connection, Kind::Agent, agent)?));
            }
        }
        Fact::ClaimCreated(ClaimCreated { intent_id, .. })
        | Fact::ClaimRenewed(ClaimRenewed { intent_id, .. })
        | Fact::ClaimReleased(ClaimReleased { intent_id }) => {
            aggregates.push(one(Kind::Intent, entity(connection, Kind::Intent, *intent_id)?));
        }
        Fact::CoordinationSent(fact) => {
            // What nobody sent is no message, and nothing is talked about in it.
            let sender = event.agent_id.as_deref().and_then(Id::<Agent>::exact);
            if let (Some(message), Some(_)) = (Id::<Message>::exact(&event.entity_id), sender) {
                aggregates.push(one(Kind::Message, entity(connection, Kind::Message, message)?));
                if let Some(about) = fact.about {
                    aggregates.extend(pairs(connection, about.between.0, &[about.between.1])?);
                }
            }
        }
        Fact::CoordinationRead(fact) => {
            for message in fact.messages.iter().collect::<BTreeSet<_>>() {
                aggregates.push(one(Kind::Message, entity(connection, Kind::Message, *message)?));
            }
        }
        Fact::ConflictResolved(fact) => {
            if Id::<Conflict>::exact(&event.entity_id).is_some() {
                aggregates = pairs(connection, fact.between.0, &[fact.between.1])?;
            }
        }
        Fact::IntentPublished(_)
        | Fact::IntentAmended(_)
        | Fact::IntentAssessed(_)
        | Fact::IntentAdopted(_)
        | Fact::LifecycleTransitioned(_)
        | Fact::WorkDiscarded(_) => {
            if let Some(intent) = event.intent {
                aggregates.push(one(Kind::Intent, entity(connection, Kind::Intent, intent)?));
            }
        }
        Fact::ConflictDetected(_)
        | Fact::ConflictRedetected(_)
        | Fact::ConflictDismissed(_)
        | Fact::FindingsOwed(_)
        | Fact::FindingsSettled(_) => {
            if let Some(acting) = event.intent {
                let mut others = pair::counterparts(fact);
                others.retain(|with| *with != acting);
                aggregates = pairs(connection, acting, &others)?;
                aggregates.sort_unstable_by_key(|pair| pair.id);
                aggregates.dedup_by_key(|pair| pair.id);
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

/// The pairs of an intent with each of `others`.
fn pairs(
    connection: &Connection,
    acting: Id<Intent>,
    others: &[Id<Intent>],
) -> Result<Vec<Aggregate>, Error> {
    if others.is_empty() {
        return Ok(vec![]);
    }
    let mine = entity(connection, Kind::Intent, acting)?;
    let mut find = connection
        .prepare_cached("SELECT id FROM pair WHERE later = max(?1, ?2) AND earlier = min(?1, ?2)")?;
    let mut enter = connection.prepare_cached(
        "INSERT INTO pair (low, high) VALUES (?1, ?2) ON CONFLICT (later, earlier) DO NOTHING",
    )?;
    let mut pairs = Vec::with_capacity(others.len());
    for with in others {
        let theirs = entity(connection, Kind::Intent, *with)?;
        let (low, high) = if acting < *with { (mine, theirs) } else { (theirs, mine) };
        // Most pairs are new.
        let id = if enter.execute((low, high))? == 0 {
            find.query_row((low, high), |row| row.get(0))?
        } else {
            let new = connection.last_insert_rowid();
            blocks::enter(connection, new, low.min(high))?;
            new
        };
        let sides = Some((acting.min(*with), acting.max(*with)));
        pairs.push(Aggregate { kind: Kind::Pair, id, sides });
    }
    Ok(pairs)
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

/// Folds all events of an aggregate from nothing. Returns those whose effectiveness changed.
fn start_over(connection: &Connection, aggregate: &Aggregate) -> Result<Vec<Id<Event>>, Error> {
    match aggregate.kind {
        Kind::Agent => agent::clear(connection, aggregate.id)?,
        Kind::Intent => intent::clear(connection, aggregate.id)?,
        Kind::Pair => pair::clear(connection, aggregate.id)?,
        Kind::Message => message::clear(connection, aggregate.id)?,
    }
    let mut flipped = Vec::new();
    for seq in order::events(connection, aggregate)? {
        let event = load(connection, seq)?;
        let fate = order::fate_of_cause(connection, &event)?;
        let effect = apply(connection, aggregate, &event, fate)?;
        if note(connection, seq, &effect)? {
            flipped.push(event.event_id);
        }
    }
    Ok(flipped)
}

/// Applies `event` on top of `aggregate`, unless its cause already says that it has no effect.
fn apply(
    connection: &Connection,
    aggregate: &Aggregate,
    event: &Folded,
    fate: Effect,
) -> Result<Effect, Error> {
    let (Effect::Applied, Some(fact)) = (fate, &event.fact) else { return Ok(fate) };
    match fact {
        Fact::AgentRegistered(fact) => agent::registered(connection, aggregate.id, event, fact),
        Fact::AgentRetired(_) => agent::retired(connection, aggregate.id),
        Fact::IntentAssessed(fact) => work::assessed(connection, aggregate.id, event, fact),
        Fact::IntentAdopted(fact) => work::adopted(connection, aggregate.id, event, fact),
        Fact::LifecycleTransitioned(fact) => work::transitioned(connection, aggregate.id, event, fact),
        Fact::WorkDiscarded(_) => work::discarded(connection, aggregate.id, event),
        Fact::ClaimCreated(fact) => claim::created(connection, aggregate.id, event, fact),
        Fact::ClaimRenewed(fact) => claim::renewed(connection, aggregate.id, event, fact),
        Fact::ClaimReleased(_) => claim::released(connection, aggregate.id, event),
        Fact::CoordinationSent(fact) if aggregate.kind == Kind::Pair => {
            pair::talked_about(connection, aggregate.id, fact)
        }
        Fact::CoordinationSent(fact) => message::sent(connection, aggregate.id, event, fact),
        Fact::CoordinationRead(_) => message::read(connection, aggregate.id, event),
        Fact::ConflictResolved(fact) => pair::resolved(connection, aggregate.id, event, fact),
        Fact::IntentPublished(fact) => intent::published(connection, aggregate.id, event, fact),
        Fact::IntentAmended(fact) => intent::amended(connection, aggregate.id, event, fact),
        Fact::ConflictDetected(fact) | Fact::ConflictRedetected(fact) => {
            pair::detected(connection, aggregate, event, fact)
        }
        Fact::ConflictDismissed(fact) => pair::dismissed(connection, aggregate, event, fact),
        Fact::FindingsOwed(_) => pair::owed(connection, aggregate, event),
        Fact::FindingsSettled(_) => pair::settled(connection, aggregate, event),
    }
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
fn followers(connection: &Connection, cause: Id<Event>) -> Result<Vec<Aggregate>, Error> {
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
                event_local.payload, entity_type, lamport
         FROM event LEFT JOIN event_local USING (seq) WHERE seq = ?1",
    )?;
    Ok(find.query_row([seq], |row| {
        let (event_type, shared): (String, String) = (row.get(6)?, row.get(8)?);
        let entity_id: String = row.get(1)?;
        let local: Option<String> = row.get(9)?;
        Ok(Folded {
            seq,
            event_id: row.get(0)?,
            entity_type: row.get(10)?,
            intent: Id::exact(&entity_id),
            entity_id,
            agent_id: row.get(2)?,
            cause: row.get(3)?,
            replica: row.get(4)?,
            created_at: row.get(5)?,
            fact: Fact::read(&event_type, row.get(7)?, &shared, local.as_deref()),
            lamport: row.get(11)?,
            scopes: OnceCell::new(),
            listed_through: OnceCell::new(),
        })
    })?)
}
