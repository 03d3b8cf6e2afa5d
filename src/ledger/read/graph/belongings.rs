//! What belongs to an intent in the graph: scopes, claims, dependencies and assessments.

use rusqlite::Row;

use super::{Counted, counted};
use crate::domain::assessment::{Reaction, Verdict};
use crate::domain::{
    Agent, Assessment, CanonicalScope, Claim, ClaimStatus, Id, Intent, ScopeOperation, Timestamp,
};
use crate::ledger::Error;
use crate::ledger::read::Snapshot;

/// A scope that an intent declares.
#[derive(Debug, Clone)]
pub struct DrawnScope {
    /// Its canonical forms.
    pub scope: CanonicalScope,
    /// What the intent does to it.
    pub operation: ScopeOperation,
    /// Whether that was read from prose.
    pub inferred: bool,
}

/// A claim that was ever held.
#[derive(Debug, Clone)]
pub struct DrawnClaim {
    /// Its id.
    pub id: Id<Claim>,
    /// Who made it.
    pub agent: Id<Agent>,
    /// What is claimed.
    pub scope: CanonicalScope,
    /// Its key as it was claimed.
    pub key: String,
    /// Whether it still says anything.
    pub status: ClaimStatus,
    /// When it runs out.
    pub lease_expires_at: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
}

/// An assessment.
#[derive(Debug, Clone)]
pub struct DrawnAssessment {
    /// Its id.
    pub id: Id<Assessment>,
    /// Who judged.
    pub agent: Id<Agent>,
    /// The other intent.
    pub related: Id<Intent>,
    /// How the two go together.
    pub verdict: Verdict,
    /// What follows.
    pub action: Reaction,
    /// When it was recorded.
    pub created_at: Timestamp,
}

fn canonical(row: &Row<'_>) -> rusqlite::Result<CanonicalScope> {
    let (full, alias): (String, Option<String>) = (row.get("full")?, row.get("alias")?);
    Ok(CanonicalScope { kind: row.get("kind")?, alias: alias.unwrap_or_else(|| full.clone()), full })
}

impl Snapshot<'_> {
    /// The first `limit` scopes of the intent with this number; their count is whole.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn drawn_scopes(&self, intent: i64, limit: u32) -> Result<Counted<DrawnScope>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT scope.kind, scope.full, intent_scope.alias, operation, inferred
             FROM intent_scope JOIN scope ON scope.id = scope WHERE intent = ?1 ORDER BY place LIMIT ?2",
        )?;
        let read = |row: &Row<'_>| {
            Ok(DrawnScope {
                scope: canonical(row)?,
                operation: row.get("operation")?,
                inferred: row.get("inferred")?,
            })
        };
        let found = find.query_map((intent, limit), read)?.collect::<Result<_, _>>()?;
        counted(found, limit, || self.count("SELECT count(*) FROM intent_scope WHERE intent = ?1", [intent]))
    }

    /// The first `limit` claims ever held for the intent with this number as they are at `now`, live
    /// ones first, then oldest first; their count is whole.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn drawn_claims(
        &self,
        intent: i64,
        now: Timestamp,
        limit: u32,
    ) -> Result<Counted<DrawnClaim>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT claim.uid, owner.uid, claim.kind, key, full, alias, status, lease_expires_at, created_at
             FROM claim JOIN aggregate owner ON owner.id = claim.agent WHERE claim.intent = ?1
             ORDER BY status = 1 AND lease_expires_at > ?3 DESC, created_at, claim.uid LIMIT ?2",
        )?;
        let read = |row: &Row<'_>| {
            let lease_expires_at = row.get("lease_expires_at")?;
            let status = match row.get("status")? {
                ClaimStatus::Active if lease_expires_at <= now => ClaimStatus::Expired,
                status => status,
            };
            let (id, agent) = (row.get(0)?, row.get(1)?);
            let (scope, key, created_at) = (canonical(row)?, row.get("key")?, row.get("created_at")?);
            Ok(DrawnClaim { id, agent, scope, key, status, lease_expires_at, created_at })
        };
        let found = find.query_map((intent, limit, now), read)?.collect::<Result<_, _>>()?;
        counted(found, limit, || self.count("SELECT count(*) FROM claim WHERE intent = ?1", [intent]))
    }

    /// The first `limit` intents that the one with this number builds on, known or not; their count
    /// is whole.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn drawn_dependencies(&self, intent: i64, limit: u32) -> Result<Counted<Id<Intent>>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT uid FROM intent_dependency JOIN aggregate ON aggregate.id = dependency
             WHERE intent = ?1 ORDER BY dependency LIMIT ?2",
        )?;
        let found = find.query_map((intent, limit), |row| row.get(0))?.collect::<Result<_, _>>()?;
        counted(found, limit, || {
            self.count("SELECT count(*) FROM intent_dependency WHERE intent = ?1", [intent])
        })
    }

    /// The first `limit` assessments of the intent with this number, oldest first; their count is
    /// whole.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn drawn_assessments(&self, intent: i64, limit: u32) -> Result<Counted<DrawnAssessment>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT assessment.uid, owner.uid, related, verdict, action, created_at
             FROM assessment JOIN aggregate owner ON owner.id = assessment.agent
             WHERE assessment.intent = ?1 ORDER BY created_at, assessment.uid LIMIT ?2",
        )?;
        let read = |row: &Row<'_>| {
            Ok(DrawnAssessment {
                id: row.get(0)?,
                agent: row.get(1)?,
                related: row.get(2)?,
                verdict: row.get(3)?,
                action: row.get(4)?,
                created_at: row.get(5)?,
            })
        };
        let found = find.query_map((intent, limit), read)?.collect::<Result<_, _>>()?;
        counted(found, limit, || self.count("SELECT count(*) FROM assessment WHERE intent = ?1", [intent]))
    }

    /// Whether any intent builds on the one with this number.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn is_built_on(&self, intent: i64) -> Result<bool, Error> {
        let mut find = self
            .connection()
            .prepare_cached("SELECT 1 FROM intent_dependency WHERE dependency = ?1 LIMIT 1")?;
        Ok(find.exists([intent])?)
    }
}
