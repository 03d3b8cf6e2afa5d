//! The aggregate of one message.

use rusqlite::Connection;

use super::super::error::Error;
use super::super::execute;
use super::{Effect, Folded, Kind, entity};
use crate::domain::fact::CoordinationSent;
use crate::domain::{Agent, Id, MessageStatus};

pub(super) fn clear(connection: &Connection, message: i64) -> Result<(), Error> {
    execute(connection, "DELETE FROM message WHERE id = ?1", [message]).map(drop)
}

pub(super) fn sent(
    connection: &Connection,
    message: i64,
    event: &Folded,
    fact: &CoordinationSent,
) -> Result<Effect, Error> {
    let Some(sender) = event.agent_id.as_deref().and_then(Id::<Agent>::exact) else {
        return Ok(Effect::Ignored("it names no agent"));
    };
    execute(
        connection,
        "INSERT INTO message (id, sender, recipient, message, conflict_id, status, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO NOTHING",
        rusqlite::params![
            message,
            entity(connection, Kind::Agent, sender)?,
            entity(connection, Kind::Agent, fact.to_agent_id)?,
            fact.message,
            fact.about.map(|about| about.conflict_id),
            MessageStatus::Unread,
            event.created_at,
        ],
    )?;
    Ok(Effect::Applied)
}

pub(super) fn read(connection: &Connection, message: i64, event: &Folded) -> Result<Effect, Error> {
    let Some(reader) = Id::<Agent>::exact(&event.entity_id) else {
        return Ok(Effect::Ignored("it names no agent"));
    };
    execute(
        connection,
        "UPDATE message SET status = ?3 WHERE id = ?1 AND recipient = ?2",
        (message, entity(connection, Kind::Agent, reader)?, MessageStatus::Read),
    )?;
    Ok(Effect::Applied)
}
