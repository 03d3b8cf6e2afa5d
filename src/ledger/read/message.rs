//! Messages, as their recipient finds them.

use rusqlite::OptionalExtension;

use super::super::error::Error;
use super::{Cursor, Page, Snapshot};
use crate::domain::{Agent, Id, Message};

const SELECT: &str = "SELECT self.uid, sender.uid, recipient.uid, message, conflict_id, status, created_at
    FROM message JOIN aggregate self USING (id) JOIN aggregate sender ON sender.id = message.sender
    JOIN aggregate recipient ON recipient.id = message.recipient";

fn message(row: &rusqlite::Row<'_>) -> rusqlite::Result<Message> {
    Ok(Message {
        id: row.get(0)?,
        from_agent_id: row.get(1)?,
        to_agent_id: row.get(2)?,
        message: row.get(3)?,
        conflict_id: row.get(4)?,
        status: row.get(5)?,
        created_at: row.get(6)?,
    })
}

impl Snapshot<'_> {
    /// One message.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn message(&self, id: Id<Message>) -> Result<Message, Error> {
        let mut find =
            self.connection().prepare_cached(&format!("{SELECT} WHERE self.kind = 4 AND self.uid = ?1"))?;
        find.query_row([id], message)
            .optional()?
            .ok_or_else(|| Error::NotFound { noun: "message", reference: id.to_string() })
    }

    /// Messages for an agent, oldest first.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn inbox(&self, agent: Id<Agent>, after: Option<Cursor>, limit: u32) -> Result<Page<Message>, Error> {
        let agent = self.agent_row(agent)?;
        let total = self.count("SELECT count(*) FROM message WHERE recipient = ?1", [agent])?;
        let after = after.unwrap_or(Cursor { position: i64::MIN, tie: [0; 16] });
        let mut find = self.connection().prepare_cached(&format!(
            "{SELECT} WHERE message.recipient = ?1 AND message.created_at >= ?2
                 AND (message.created_at > ?2 OR self.uid > ?3)
             ORDER BY message.created_at, self.uid LIMIT ?4"
        ))?;
        let found = find.query_map((agent, after.position, after.tie, limit + 1), |row| {
            let message = message(row)?;
            let cursor = Cursor { position: message.created_at.as_millis(), tie: *message.id.as_bytes() };
            Ok((cursor, message))
        })?;
        Ok(Page::cut(found.collect::<Result<_, _>>()?, limit, total))
    }

    /// Where a page begins that starts with the oldest message an agent has not marked as read; none
    /// when there is no such message.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn first_unread(&self, agent: Id<Agent>) -> Result<Option<Cursor>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT created_at, self.uid FROM message JOIN aggregate self USING (id)
             WHERE message.recipient = ?1 AND message.status = 1 ORDER BY created_at, self.uid LIMIT 1",
        )?;
        let oldest = find.query_row([self.agent_row(agent)?], |row| {
            Ok(Cursor { position: row.get(0)?, tie: row.get(1)? }.just_before())
        });
        Ok(oldest.optional()?)
    }

    /// How many messages for an agent it has not marked as read.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn unread(&self, agent: Id<Agent>) -> Result<u64, Error> {
        let agent = self.agent_row(agent)?;
        self.count("SELECT count(*) FROM message WHERE recipient = ?1 AND status = 1", [agent])
    }
}
