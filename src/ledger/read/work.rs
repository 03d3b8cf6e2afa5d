//! Work: intents with what belongs to them.

use rusqlite::{Row, named_params};

use super::super::error::Error;
use super::{Cursor, Page, Snapshot};
use crate::domain::{Agent, CanonicalScope, Claim, Id, Intent, IntentStatus, Timestamp};

/// An intent with what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// The intent.
    pub intent: Intent,
    /// Its owner; none where the agent is not known here.
    pub agent: Option<Agent>,
    /// The first claims ever held for it: live ones first, then oldest first.
    pub claims: Vec<Claim>,
    /// How many there are.
    pub claim_count: u64,
    /// How many of them are live.
    pub live_claims: u64,
    /// The first intents that build on it.
    pub dependents: Vec<Id<Intent>>,
    /// How many there are.
    pub dependent_count: u64,
    /// Its OPEN and COORDINATING conflicts.
    pub open_conflicts: u64,
}

/// Which work is meant; everything that is not named is.
#[derive(Debug, Clone, Default)]
pub struct Which {
    /// Owned by this agent.
    pub agent: Option<Id<Agent>>,
    /// In this state.
    pub status: Option<IntentStatus>,
    /// Declares, or ever held a claim on, a scope with the alias of this one.
    pub scope: Option<CanonicalScope>,
}

/// Claims and dependents read per intent.
const SHOWN: u32 = 100;

// All four values are bound to each of these; where one has no say, it is absent.
const TOUCHING: &str = "intent.id IN (
        SELECT intent FROM intent_scope JOIN scope ON scope.id = intent_scope.scope
        WHERE intent_scope.alias = :alias AND scope.kind = :kind
        UNION ALL SELECT intent FROM scope JOIN intent_scope ON intent_scope.scope = scope.id
        WHERE scope.kind = :kind AND scope.full = :alias AND intent_scope.alias IS NULL
        UNION ALL SELECT intent FROM claim WHERE claim.kind = :kind AND claim.alias = :alias
        UNION ALL SELECT intent FROM claim WHERE claim.kind = :kind AND claim.full = :alias AND claim.alias IS NULL)
    AND (:agent IS NULL OR agent = :agent) AND (:status IS NULL OR status = :status)";
const OWNED: &str = "agent = :agent AND (:status IS NULL OR status = :status) AND :kind IS :alias";
const STANDING: &str = "status = :status AND :agent IS NULL AND :kind IS :alias";
const ANY: &str = ":status IS NULL AND :agent IS NULL AND :kind IS :alias";

impl Snapshot<'_> {
    /// Work, newest first, as it is at `now`.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn work(
        &self,
        which: &Which,
        after: Option<Cursor>,
        limit: u32,
        now: Timestamp,
    ) -> Result<Page<Work>, Error> {
        let agent = which.agent.map(|agent| self.agent_row(agent)).transpose()?;
        let which_rows = match (&which.scope, agent, which.status) {
            (Some(_), ..) => TOUCHING,
            (None, Some(_), _) => OWNED,
            (None, None, Some(_)) => STANDING,
            (None, None, None) => ANY,
        };
        let kind = which.scope.as_ref().map(|scope| scope.kind);
        let alias = which.scope.as_ref().map(|scope| scope.alias.as_str());
        let values =
            named_params! { ":agent": agent, ":status": which.status, ":kind": kind, ":alias": alias };
        let total = self.count(&format!("SELECT count(*) FROM intent WHERE {which_rows}"), values)?;
        let after = after.unwrap_or(Cursor { position: i64::MAX, tie: [0; 16] });
        let mut find = self.connection().prepare_cached(&format!(
            "SELECT self.uid, created_at FROM intent CROSS JOIN aggregate self USING (id) WHERE {which_rows}
                 AND created_at <= :position AND (created_at < :position OR self.uid > :uid)
             ORDER BY created_at DESC, self.uid LIMIT :limit"
        ))?;
        let values = named_params! {
            ":agent": agent, ":status": which.status, ":kind": kind, ":alias": alias,
            ":position": after.position, ":uid": after.tie, ":limit": limit + 1,
        };
        let found = find.query_map(values, |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?)))?;
        let mut work = Vec::new();
        for row in found {
            let (id, created_at): (Id<Intent>, i64) = row?;
            work.push((Cursor { position: created_at, tie: *id.as_bytes() }, id));
        }
        let page = Page::cut(work, limit, total);
        let items = page.items.into_iter().map(|id| self.work_on(id, now)).collect::<Result<_, _>>()?;
        Ok(Page { items, next: page.next, total: page.total })
    }

    fn work_on(&self, id: Id<Intent>, now: Timestamp) -> Result<Work, Error> {
        let intent = self.intent(id)?;
        let row = self.row_of(id)?;
        let mut find = self.connection().prepare_cached(
            "SELECT uid FROM intent_dependency JOIN aggregate ON aggregate.id = intent
             WHERE dependency = ?1 ORDER BY uid LIMIT ?2",
        )?;
        let dependents = find.query_map((row, SHOWN), |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(Work {
            agent: self.agent(intent.agent_id).ok(),
            claims: self.claims_of(id, now, SHOWN)?,
            claim_count: self.count("SELECT count(*) FROM claim WHERE intent = ?1", [row])?,
            live_claims: self.live_claim_count(row, now)?,
            dependents,
            dependent_count: self
                .count("SELECT count(*) FROM intent_dependency WHERE dependency = ?1", [row])?,
            open_conflicts: self.open_conflicts(id)?.count,
            intent,
        })
    }
}
