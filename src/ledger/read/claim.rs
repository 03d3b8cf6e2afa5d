//! Claims. Whether a lease has run out is read off the clock.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row};

use super::super::error::Error;
use super::{NearClaim, Snapshot};
use crate::detect::tiers::Compared;
use crate::domain::conflict::Tier;
use crate::domain::{Agent, CanonicalScope, Claim, ClaimStatus, Id, Intent, Scope, ScopeKind, Timestamp};

/// A claim in the overview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveClaim {
    /// The claim.
    pub claim: Claim,
    /// Name of the agent that holds it.
    pub agent_name: String,
}

const SELECT: &str =
    "SELECT claim.uid, owner.uid, self.uid, claim.kind, claim.key, claim.status, claim.reason,
        claim.lease_expires_at, claim.created_at, coalesce(agent.name, '')
    FROM claim JOIN aggregate self ON self.id = claim.intent JOIN aggregate owner ON owner.id = claim.agent
    LEFT JOIN agent ON agent.id = claim.agent";

fn claim(row: &Row<'_>, now: Timestamp) -> rusqlite::Result<Claim> {
    let lease_expires_at = row.get(7)?;
    let status = match row.get(5)? {
        ClaimStatus::Active if lease_expires_at <= now => ClaimStatus::Expired,
        status => status,
    };
    Ok(Claim {
        id: row.get(0)?,
        agent_id: row.get(1)?,
        intent_id: row.get(2)?,
        scope: Scope { kind: row.get(3)?, key: row.get(4)? },
        status,
        reason: row.get(6)?,
        lease_expires_at,
        created_at: row.get(8)?,
    })
}

impl Snapshot<'_> {
    /// A claim of an intent as it is at `now`.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn claim(&self, intent: Id<Intent>, id: Id<Claim>, now: Timestamp) -> Result<Claim, Error> {
        let mut find = self.connection().prepare_cached(&format!(
            "{SELECT} WHERE claim.uid = ?1 AND claim.intent = (SELECT id FROM aggregate WHERE kind = 2 AND uid = ?2)"
        ))?;
        find.query_row((id, intent), |row| claim(row, now))
            .optional()?
            .ok_or_else(|| Error::NotFound { noun: "claim", reference: id.to_string() })
    }

    /// The first `limit` claims ever held for an intent as they are at `now`: live ones first, then
    /// oldest first.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn claims_of(&self, intent: Id<Intent>, now: Timestamp, limit: u32) -> Result<Vec<Claim>, Error> {
        let mut find = self.connection().prepare_cached(&format!(
            "{SELECT} WHERE claim.intent = (SELECT id FROM aggregate WHERE kind = 2 AND uid = ?1)
             ORDER BY claim.status = 1 AND claim.lease_expires_at > ?3 DESC, claim.created_at, claim.uid LIMIT ?2"
        ))?;
        let found = find.query_map((intent, limit, now), |row| claim(row, now))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// The claim an intent holds on a scope, its lease running or not.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn held_claim(
        &self,
        intent: Id<Intent>,
        kind: ScopeKind,
        full: &str,
    ) -> Result<Option<Id<Claim>>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT claim.uid FROM claim JOIN aggregate self ON self.id = claim.intent
             WHERE self.kind = 2 AND self.uid = ?1 AND claim.kind = ?2 AND full = ?3 AND status = ?4
             ORDER BY claim.id LIMIT 1",
        )?;
        Ok(find.query_row((intent, kind, full, ClaimStatus::Active), |row| row.get(0)).optional()?)
    }

    /// Whether the lease of the claim with this number runs at `now`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn is_live_claim(&self, claim: i64, now: Timestamp) -> Result<bool, Error> {
        let mut find =
            self.connection().prepare_cached("SELECT status, lease_expires_at FROM claim WHERE id = ?1")?;
        let found: Option<(ClaimStatus, Timestamp)> =
            find.query_row([claim], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        Ok(found.is_some_and(|(status, ends)| status == ClaimStatus::Active && ends > now))
    }

    /// Claims of agents other than `agent` whose leases run at `now` and that were made or renewed after
    /// event `seq`, each with what it is compared by.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn claims_since(
        &self,
        agent: i64,
        seq: u64,
        now: Timestamp,
    ) -> Result<Vec<(NearClaim, Compared)>, Error> {
        let mut events = self.connection().prepare_cached(
            "SELECT DISTINCT entity_id FROM event WHERE seq > ?1 AND entity_type = 'Claim'",
        )?;
        let mut find = self.connection().prepare_cached(
            "SELECT id, intent, scope, lease_expires_at, created_at, kind, key, full, alias FROM claim
             WHERE uid = ?1 AND agent <> ?2 AND status = 1 AND lease_expires_at > ?3",
        )?;
        let mut found = Vec::new();
        for entity in events.query_map([seq], |row| row.get::<_, String>(0))? {
            let claim = Id::<Claim>::exact(&entity?);
            let read = find.query_row((claim, agent, now), |row| {
                let full: String = row.get(7)?;
                let alias = row.get::<_, Option<String>>(8)?.unwrap_or_else(|| full.clone());
                let canonical = CanonicalScope { kind: row.get(5)?, full, alias };
                let claim = NearClaim {
                    claim: row.get(0)?,
                    intent: row.get(1)?,
                    scope: row.get(2)?,
                    tier: Tier::Same,
                    lease_expires_at: row.get(3)?,
                    claimed_at: row.get(4)?,
                };
                Ok((claim, Compared::new(&row.get::<_, String>(6)?, canonical)))
            });
            found.extend(read.optional()?);
        }
        Ok(found)
    }

    /// Every claim an intent holds, its lease running or not, oldest first.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn held_claims(&self, intent: Id<Intent>) -> Result<Vec<Id<Claim>>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT claim.uid FROM claim JOIN aggregate self ON self.id = claim.intent
             WHERE self.kind = 2 AND self.uid = ?1 AND status = ?2 ORDER BY claim.created_at, claim.uid",
        )?;
        let found = find.query_map((intent, ClaimStatus::Active), |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Whether anything was ever claimed for an intent.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn ever_claimed(&self, intent: Id<Intent>) -> Result<bool, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT 1 FROM aggregate self JOIN claim ON claim.intent = self.id
             WHERE self.kind = 2 AND self.uid = ?1 LIMIT 1",
        )?;
        Ok(find.exists([intent])?)
    }

    /// Whether the intent with this number holds a claim whose lease runs at `now`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn has_live_claim(&self, intent: i64, now: Timestamp) -> Result<bool, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM claim WHERE intent = ?1 AND status = ?2 AND lease_expires_at > ?3)",
        )?;
        Ok(find.query_row((intent, ClaimStatus::Active, now), |row| row.get(0))?)
    }

    /// How many claims the intent with this number holds whose leases run at `now`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn live_claim_count(&self, intent: i64, now: Timestamp) -> Result<u64, Error> {
        self.count(
            "SELECT count(*) FROM claim WHERE intent = ?1 AND status = 1 AND lease_expires_at > ?2",
            (intent, now),
        )
    }

    /// How many claims each agent holds whose leases run at `now`; none for one that is not named.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn live_claims_by_agent(&self, now: Timestamp) -> Result<HashMap<Id<Agent>, u64>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT owner.uid, count(*) FROM claim JOIN aggregate owner ON owner.id = claim.agent
             WHERE claim.status = 1 AND claim.lease_expires_at > ?1 GROUP BY claim.agent",
        )?;
        let found = find.query_map([now], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Claims whose leases run at `now`, those that run out first first, at most `limit`; their
    /// count is whole.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn live_claims(&self, now: Timestamp, limit: u32) -> Result<(Vec<LiveClaim>, u64), Error> {
        const LIVE: &str = "claim.status = 1 AND claim.lease_expires_at > ?1";
        let mut find = self.connection().prepare_cached(&format!(
            "{SELECT} WHERE {LIVE} ORDER BY claim.lease_expires_at, claim.uid LIMIT ?2"
        ))?;
        let found = find.query_map((now, limit), |row| {
            Ok(LiveClaim { claim: claim(row, now)?, agent_name: row.get(9)? })
        })?;
        let found = found.collect::<Result<_, _>>()?;
        Ok((found, self.count(&format!("SELECT count(*) FROM claim WHERE {LIVE}"), [now])?))
    }
}
