//! What a person should see first: where it is busy, and what waits.

use super::super::error::Error;
use super::{Snapshot, StatusIntent};
use crate::domain::{Agent, Id, IntentStatus, Timestamp};

/// Messages that somebody has not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Whose inbox they are in.
    pub agent: Id<Agent>,
    /// The agent's name.
    pub agent_name: String,
    /// How many they are.
    pub count: u64,
    /// When the oldest of them was sent.
    pub since: Timestamp,
}

impl Snapshot<'_> {
    /// Active intents with their status, newest first, at most `limit`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn newest_work(&self, limit: u32) -> Result<Vec<(IntentStatus, StatusIntent)>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT intent.status, self.uid, owner.uid, coalesce(agent.name, ''), summary, created_at,
                    intent.id, intent.agent
             FROM intent JOIN aggregate self USING (id) JOIN aggregate owner ON owner.id = intent.agent
             LEFT JOIN agent ON agent.id = intent.agent
             WHERE intent.status NOT IN (7, 8) ORDER BY created_at DESC, self.uid LIMIT ?1",
        )?;
        let found = find.query_map([limit], |row| {
            let intent = StatusIntent {
                id: row.get(1)?,
                agent: row.get(2)?,
                agent_name: row.get(3)?,
                summary: row.get(4)?,
                created_at: row.get(5)?,
                row: row.get(6)?,
                agent_row: row.get(7)?,
            };
            Ok((row.get(0)?, intent))
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Agents with the most active intents, and how many those are, at most `limit`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn busiest_agents(&self, limit: u32) -> Result<Vec<(Id<Agent>, u64)>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT uid, work FROM (SELECT agent, count(*) AS work FROM intent
                 WHERE status IN (1, 2, 3, 4, 5, 6) GROUP BY agent ORDER BY work DESC, agent DESC LIMIT ?1)
             JOIN aggregate ON aggregate.id = agent",
        )?;
        let found = find.query_map([limit], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Agents that are not retired, newest first, at most `limit`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn newest_agents(&self, limit: u32) -> Result<Vec<Id<Agent>>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT uid FROM agent JOIN aggregate USING (id) WHERE status = 1
             ORDER BY registered_at DESC, uid LIMIT ?1",
        )?;
        let found = find.query_map([limit], |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Inboxes with unread messages, the fullest first, at most `limit`, and how many messages
    /// are unread in all inboxes. Retired agents read no more: theirs wait for nobody.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn unread_messages(&self, limit: u32) -> Result<(Vec<Unread>, u64), Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT uid, coalesce(agent.name, ''), waiting, since
             FROM (SELECT recipient, count(*) AS waiting, min(created_at) AS since FROM message
                 WHERE status = 1 GROUP BY recipient
                 HAVING (SELECT agent.status FROM agent WHERE agent.id = recipient) IS NOT 2 ORDER BY waiting DESC, since LIMIT ?1)
             JOIN aggregate ON aggregate.id = recipient LEFT JOIN agent ON agent.id = recipient",
        )?;
        let found = find.query_map([limit], |row| {
            Ok(Unread { agent: row.get(0)?, agent_name: row.get(1)?, count: row.get(2)?, since: row.get(3)? })
        })?;
        let found = found.collect::<Result<_, _>>()?;
        let count = self.count(
            "SELECT coalesce(sum(waiting), 0) FROM (SELECT recipient, count(*) AS waiting FROM message
                 WHERE status = 1 GROUP BY recipient
                 HAVING (SELECT agent.status FROM agent WHERE agent.id = recipient) IS NOT 2)",
            [],
        )?;
        Ok((found, count))
    }
}
