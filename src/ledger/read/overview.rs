//! What a person should see first: where it is busy, and what waits.

use super::super::error::Error;
use super::{Snapshot, StatusIntent};
use crate::domain::{Agent, Id, Intent, IntentStatus, Timestamp};

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

/// An active intent that waits for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// Which waits.
    pub intent: Id<Intent>,
    /// The name of its owner.
    pub agent_name: String,
    /// What it waits for.
    pub on: Id<Intent>,
    /// Since when.
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

    /// Active intents that were published as building on others, the newest first, at most `limit`;
    /// their count is whole.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn builders(&self, limit: u32) -> Result<(Vec<Wait>, u64), Error> {
        self.waits(
            "SELECT self.uid, coalesce(agent.name, ''), other.uid, since, whole
             FROM (SELECT intent.id AS waits, intent.agent AS owner, created_at AS since, dependency,
                     count(*) OVER () AS whole
                 FROM intent JOIN intent_dependency ON intent_dependency.intent = intent.id
                 WHERE status IN (1, 2, 3, 4, 5, 6) ORDER BY created_at DESC, intent.id, dependency LIMIT ?1)
             JOIN aggregate self ON self.id = waits JOIN aggregate other ON other.id = dependency
             LEFT JOIN agent ON agent.id = owner ORDER BY since DESC, self.uid, other.uid",
            limit,
        )
    }

    /// Active intents whose last assessment of another says that they wait for it, unless they were
    /// published as building on it, the newest first, at most `limit`; their count is whole.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn waiting(&self, limit: u32) -> Result<(Vec<Wait>, u64), Error> {
        self.waits(
            "SELECT self.uid, coalesce(agent.name, ''), related, since, whole
             FROM (SELECT intent.id AS waits, intent.agent AS owner, assessment.created_at AS since, related,
                     count(*) OVER () AS whole
                 FROM intent JOIN assessment ON assessment.intent = intent.id
                 WHERE status IN (1, 2, 3, 4, 5, 6) AND action = 3
                     AND NOT EXISTS (SELECT 1 FROM assessment later WHERE later.intent = intent.id
                         AND later.related = assessment.related
                         AND (later.created_at, later.uid) > (assessment.created_at, assessment.uid))
                     AND NOT EXISTS (SELECT 1 FROM aggregate other JOIN intent_dependency ON dependency = other.id
                         WHERE other.kind = 2 AND other.uid = related AND intent_dependency.intent = intent.id)
                 ORDER BY assessment.created_at DESC, assessment.id LIMIT ?1)
             JOIN aggregate self ON self.id = waits
             LEFT JOIN agent ON agent.id = owner ORDER BY since DESC, self.uid, related",
            limit,
        )
    }

    fn waits(&self, which: &str, limit: u32) -> Result<(Vec<Wait>, u64), Error> {
        let mut find = self.connection().prepare_cached(which)?;
        let mut whole = 0;
        let found = find.query_map([limit], |row| {
            whole = row.get(4)?;
            Ok(Wait { intent: row.get(0)?, agent_name: row.get(1)?, on: row.get(2)?, since: row.get(3)? })
        })?;
        let found = found.collect::<Result<_, _>>()?;
        Ok((found, whole))
    }
}
