//! Assessments of an intent.

use rusqlite::OptionalExtension;

use super::super::error::Error;
use super::{Cursor, Page, Snapshot};
use crate::domain::{Assessment, Id, Intent};

const SELECT: &str =
    "SELECT assessment.uid, owner.uid, self.uid, related, verdict, rationale, action, created_at
    FROM assessment JOIN aggregate self ON self.id = assessment.intent
    JOIN aggregate owner ON owner.id = assessment.agent";

fn assessment(row: &rusqlite::Row<'_>) -> rusqlite::Result<Assessment> {
    Ok(Assessment {
        id: row.get(0)?,
        agent_id: row.get(1)?,
        intent_id: row.get(2)?,
        related_intent_id: row.get(3)?,
        verdict: row.get(4)?,
        rationale: row.get(5)?,
        action: row.get(6)?,
        created_at: row.get(7)?,
    })
}

impl Snapshot<'_> {
    /// Assessments of an intent, oldest first.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn assessments(
        &self,
        intent: Id<Intent>,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Page<Assessment>, Error> {
        let Some((row, ..)) = self.intent_row(intent)? else {
            return Err(Error::NotFound { noun: "intent", reference: intent.to_string() });
        };
        let total = self.count("SELECT count(*) FROM assessment WHERE intent = ?1", [row])?;
        let after = after.unwrap_or(Cursor { position: i64::MIN, tie: [0; 16] });
        let mut find = self.connection().prepare_cached(&format!(
            "{SELECT} WHERE assessment.intent = ?1 AND created_at >= ?2
                 AND (created_at > ?2 OR assessment.uid > ?3)
             ORDER BY created_at, assessment.uid LIMIT ?4"
        ))?;
        let found = find.query_map((row, after.position, after.tie, limit + 1), |row| {
            let assessment = assessment(row)?;
            let cursor =
                Cursor { position: assessment.created_at.as_millis(), tie: *assessment.id.as_bytes() };
            Ok((cursor, assessment))
        })?;
        Ok(Page::cut(found.collect::<Result<_, _>>()?, limit, total))
    }

    /// An assessment that was just recorded for an intent.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn assessment(&self, intent: Id<Intent>, id: Id<Assessment>) -> Result<Assessment, Error> {
        let mut find = self.connection().prepare_cached(&format!(
            "{SELECT} WHERE assessment.intent = (SELECT id FROM aggregate WHERE kind = 2 AND uid = ?1)
                 AND assessment.uid = ?2"
        ))?;
        find.query_row((intent, id), assessment)
            .optional()?
            .ok_or_else(|| Error::NotFound { noun: "assessment", reference: id.to_string() })
    }
}
