//! The indexes by which other work finds an active intent; part of the intent's aggregate.

use rusqlite::Connection;

use super::super::error::Error;
use super::super::{execute, signature};
use crate::detect::qualified::dotted;
use crate::detect::tiers::has_tails;
use crate::detect::{names, prose};
use crate::domain::Timestamp;
use crate::domain::fact::PublishedScope;

/// Enters one scope of an active intent.
pub(super) fn scope(
    connection: &Connection,
    (intent, agent, scope): (i64, i64, i64),
    declared: &PublishedScope,
    published_at: Timestamp,
) -> Result<(), Error> {
    // What a name ends in is found as what its reverse begins with.
    let reversed: Option<String> =
        has_tails(declared.kind).then(|| dotted(&declared.full).chars().rev().collect());
    execute(
        connection,
        "INSERT INTO active_scope (intent, agent, scope, kind, full, alias, reversed, operation, inferred, published_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        rusqlite::params![
            intent,
            agent,
            scope,
            declared.kind,
            declared.full,
            declared.alias,
            reversed,
            declared.operation,
            declared.inferred,
            published_at,
        ],
    )?;
    let row = connection.last_insert_rowid();
    if !names::vary(declared.kind) {
        return Ok(());
    }
    let words = names::words(declared.kind, &declared.key);
    for word in &words {
        execute(
            connection,
            "INSERT INTO active_word (kind, word, size, scope) VALUES (?1, ?2, ?3, ?4)",
            (declared.kind, word, words.len(), row),
        )?;
    }
    Ok(())
}

/// Enters the words of an active intent's summary.
pub(super) fn summary(connection: &Connection, intent: i64, summary: &str) -> Result<(), Error> {
    let words = prose::words(summary);
    let signature = signature::of(&words);
    for word in &words {
        execute(
            connection,
            "INSERT INTO active_summary (word, size, intent, signature) VALUES (?1, ?2, ?3, ?4)",
            (word, words.len(), intent, signature),
        )?;
    }
    Ok(())
}

/// Takes the intent out of the indexes by which other work finds it.
pub(super) fn leave(connection: &Connection, intent: i64) -> Result<(), Error> {
    execute(
        connection,
        "DELETE FROM active_word WHERE scope IN (SELECT id FROM active_scope WHERE intent = ?1)",
        [intent],
    )?;
    execute(connection, "DELETE FROM active_scope WHERE intent = ?1", [intent])?;
    execute(connection, "DELETE FROM active_summary WHERE intent = ?1", [intent]).map(drop)
}
