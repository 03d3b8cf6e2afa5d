//! What happens to an intent after it was published; part of its aggregate.

use rusqlite::Connection;

use super::super::error::Error;
use super::super::execute;
use super::{Effect, Folded, Kind, active, claim, entity, intent};
use crate::domain::fact::{IntentAdopted, IntentAssessed, LifecycleTransitioned};
use crate::domain::transition::Act;
use crate::domain::{Agent, Id, IntentStatus};

/// Which act an event of this transition stands for.
fn act_to(state: IntentStatus) -> Option<Act> {
    match state {
        IntentStatus::Claimed => Some(Act::Claim),
        IntentStatus::InProgress => Some(Act::Start),
        _ => None,
    }
}

pub(super) fn transitioned(
    connection: &Connection,
    intent: i64,
    event: &Folded,
    fact: &LifecycleTransitioned,
) -> Result<Effect, Error> {
    let Some(act) = act_to(fact.to) else {
        return Ok(Effect::Ignored("no act of its own leads to this state"));
    };
    match intent::may(connection, intent, event, act)? {
        Err(why) => Ok(Effect::Ignored(why)),
        Ok(state) if state.after != fact.to => Ok(Effect::Ignored("the intent is further on already")),
        Ok(state) => {
            enter(connection, intent, event, state.after)?;
            Ok(Effect::Applied)
        }
    }
}

pub(super) fn discarded(connection: &Connection, intent: i64, event: &Folded) -> Result<Effect, Error> {
    match intent::may(connection, intent, event, Act::Discard)? {
        Err(why) => Ok(Effect::Ignored(why)),
        Ok(state) => {
            enter(connection, intent, event, state.after)?;
            active::leave(connection, intent)?;
            claim::release_all(connection, intent)?;
            Ok(Effect::Applied)
        }
    }
}

pub(super) fn adopted(
    connection: &Connection,
    intent: i64,
    event: &Folded,
    fact: &IntentAdopted,
) -> Result<Effect, Error> {
    let state = match intent::may(connection, intent, event, Act::Adopt)? {
        Ok(state) => state,
        Err(why) => return Ok(Effect::Ignored(why)),
    };
    if state.owner != fact.from_agent_id {
        return Ok(Effect::Ignored("the intent had another owner by then"));
    }
    let Some(adopter) = event.agent_id.as_deref().and_then(Id::<Agent>::exact) else {
        return Ok(Effect::Ignored("it names no agent"));
    };
    let agent = entity(connection, Kind::Agent, adopter)?;
    execute(connection, "UPDATE intent SET agent = ?2 WHERE id = ?1", (intent, agent))?;
    execute(connection, "UPDATE active_scope SET agent = ?2 WHERE intent = ?1", (intent, agent))?;
    intent::changed(connection, intent, event)?;
    claim::release_all(connection, intent)?;
    Ok(Effect::Applied)
}

pub(super) fn assessed(
    connection: &Connection,
    intent: i64,
    event: &Folded,
    fact: &IntentAssessed,
) -> Result<Effect, Error> {
    let state = match intent::may(connection, intent, event, Act::Assess)? {
        Ok(state) => state,
        Err(why) => return Ok(Effect::Ignored(why)),
    };
    execute(
        connection,
        "INSERT INTO assessment (uid, intent, agent, related, verdict, action, rationale, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        rusqlite::params![
            fact.assessment_id,
            intent,
            state.agent,
            fact.related_intent_id,
            fact.verdict,
            fact.action,
            fact.rationale,
            event.created_at,
        ],
    )?;
    Ok(Effect::Applied)
}

fn enter(connection: &Connection, intent: i64, event: &Folded, status: IntentStatus) -> Result<(), Error> {
    execute(connection, "UPDATE intent SET status = ?2 WHERE id = ?1", (intent, status))?;
    intent::changed(connection, intent, event)
}
