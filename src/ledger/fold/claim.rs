//! The claims of an intent; part of its aggregate.

use rusqlite::Connection;

use super::super::error::Error;
use super::super::execute;
use super::{Effect, Folded, intent, scope};
use crate::detect::qualified::dotted;
use crate::detect::tiers::has_tails;
use crate::domain::fact::{ClaimCreated, ClaimRenewed};
use crate::domain::transition::Act;
use crate::domain::{Claim, ClaimStatus, Id};

pub(super) fn clear(connection: &Connection, intent: i64) -> Result<(), Error> {
    execute(connection, "DELETE FROM claim WHERE intent = ?1", [intent]).map(drop)
}

pub(super) fn created(
    connection: &Connection,
    intent: i64,
    event: &Folded,
    fact: &ClaimCreated,
) -> Result<Effect, Error> {
    let state = match intent::may(connection, intent, event, Act::Claim)? {
        Ok(state) => state,
        Err(why) => return Ok(Effect::Ignored(why)),
    };
    let Some(claim) = Id::<Claim>::exact(&event.entity_id) else {
        return Ok(Effect::Ignored("it names no claim"));
    };
    let scope = scope(connection, fact.kind, &fact.full)?;
    let reversed: Option<String> = has_tails(fact.kind).then(|| dotted(&fact.full).chars().rev().collect());
    let added = execute(
        connection,
        "INSERT INTO claim (uid, intent, agent, scope, kind, key, full, alias, reversed, status, reason,
                            lease_expires_at, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT (uid, intent) DO NOTHING",
        rusqlite::params![
            claim,
            intent,
            state.agent,
            scope,
            fact.kind,
            fact.key,
            fact.full,
            fact.alias,
            reversed,
            ClaimStatus::Active,
            fact.reason,
            fact.lease_expires_at,
            event.created_at,
        ],
    )?;
    if added == 0 {
        return Ok(Effect::Ignored("the claim is there already"));
    }
    intent::changed(connection, intent, event)?;
    Ok(Effect::Applied)
}

pub(super) fn renewed(
    connection: &Connection,
    intent: i64,
    event: &Folded,
    fact: &ClaimRenewed,
) -> Result<Effect, Error> {
    if let Err(why) = intent::may(connection, intent, event, Act::Claim)? {
        return Ok(Effect::Ignored(why));
    }
    let renewed = execute(
        connection,
        "UPDATE claim SET lease_expires_at = max(lease_expires_at, ?4), reason = coalesce(?5, reason)
         WHERE uid = ?1 AND intent = ?2 AND status = ?3",
        (
            Id::<Claim>::exact(&event.entity_id),
            intent,
            ClaimStatus::Active,
            fact.lease_expires_at,
            &fact.reason,
        ),
    )?;
    Ok(held(renewed))
}

pub(super) fn released(connection: &Connection, intent: i64, event: &Folded) -> Result<Effect, Error> {
    if let Err(why) = intent::may(connection, intent, event, Act::Release)? {
        return Ok(Effect::Ignored(why));
    }
    let released = execute(
        connection,
        "UPDATE claim SET status = ?4 WHERE uid = ?1 AND intent = ?2 AND status = ?3",
        (Id::<Claim>::exact(&event.entity_id), intent, ClaimStatus::Active, ClaimStatus::Released),
    )?;
    Ok(held(released))
}

/// Ends every claim of an intent whose work ended or went to another agent.
pub(super) fn release_all(connection: &Connection, intent: i64) -> Result<(), Error> {
    execute(
        connection,
        "UPDATE claim SET status = ?3 WHERE intent = ?1 AND status = ?2",
        (intent, ClaimStatus::Active, ClaimStatus::Released),
    )
    .map(drop)
}

fn held(changed: usize) -> Effect {
    if changed == 1 { Effect::Applied } else { Effect::Ignored("no such claim is held") }
}
