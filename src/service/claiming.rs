//! Claims of other agents on the same things: told when claiming, dismissed when one has ended.

use super::findings::{Findings, Met};
use super::recording::{Acting, by_counterpart};
use super::scopes::Named;
use crate::detect::findings::claimed;
use crate::detect::tiers::{Compared, claims_overlap};
use crate::domain::fact::{ConflictDismissed, Dismissal, Fact};
use crate::domain::{Agent, Id, Timestamp};
use crate::failure::Failure;
use crate::ledger::read::NearClaim;
use crate::ledger::{Snapshot, Transaction};

/// Live claims of others that overlap with the scopes an agent wants to claim. Like any comparison
/// it is made on a read, and brought up to date inside the write.
pub struct OtherClaims {
    agent: i64,
    wanted: Vec<Compared>,
    as_of: u64,
    /// Each with the place of the wanted scope it overlaps with.
    near: Vec<(usize, NearClaim)>,
}

impl OtherClaims {
    /// Looks for them.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn find(
        snapshot: &Snapshot<'_>,
        agent: Id<Agent>,
        wanted: &[Named],
        now: Timestamp,
    ) -> Result<Self, Failure> {
        let agent = snapshot.agent_row(agent)?;
        let compared = wanted.iter().map(|scope| Compared::new(&scope.key, scope.canonical.clone()));
        let wanted: Vec<_> = compared.collect();
        let mut near = Vec::new();
        for (place, scope) in wanted.iter().enumerate() {
            near.extend(snapshot.claims_near(agent, scope, now)?.into_iter().map(|claim| (place, claim)));
        }
        Ok(Self { agent, wanted, as_of: snapshot.last_seq()?, near })
    }

    /// What of them holds now, as findings.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn now(mut self, snapshot: &Snapshot<'_>, now: Timestamp) -> Result<Findings, Failure> {
        if snapshot.last_seq()? > self.as_of {
            let mut live = Vec::with_capacity(self.near.len());
            for (place, claim) in self.near {
                if snapshot.is_live_claim(claim.claim, now)? {
                    live.push((place, claim));
                }
            }
            self.near = live;
            for (claim, theirs) in snapshot.claims_since(self.agent, self.as_of, now)? {
                for (place, mine) in self.wanted.iter().enumerate() {
                    let Some(tier) = claims_overlap(mine, &theirs) else { continue };
                    let known = |(at, near): &(usize, NearClaim)| (*at, near.claim) == (place, claim.claim);
                    if !self.near.iter().any(known) {
                        self.near.push((place, NearClaim { tier, ..claim }));
                    }
                }
            }
        }
        let mut findings = Findings {
            mine: self.wanted.iter().map(|scope| (scope.kind, scope.full.clone())).collect(),
            ..Findings::default()
        };
        for (place, claim) in self.near {
            let Ok(theirs) = usize::try_from(claim.scope) else { continue };
            let Some((_, owner, _)) = snapshot.intent_row(snapshot.intent_id(claim.intent)?)? else {
                continue;
            };
            let met = findings.met.entry(claim.intent).or_insert_with(|| Met {
                agent: owner,
                published_at: claim.claimed_at,
                findings: Vec::new(),
            });
            let finding = claimed(claim.tier, (place, theirs));
            if !met.findings.contains(&finding) {
                met.findings.push(finding);
            }
        }
        Ok(findings)
    }
}

/// Dismisses conflicts over claims of the acting intent of which one has run out or was released.
///
/// # Errors
/// Whatever stops a write.
pub fn dismiss_ended(transaction: &mut Transaction<'_>, acting: Acting) -> Result<(), Failure> {
    if !transaction.ever_claimed(acting.intent)? {
        return Ok(());
    }
    let ended = transaction.ended_claim_conflicts(acting.intent, transaction.now())?;
    let pairs = by_counterpart(ended);
    if !pairs.is_empty() {
        let fact = ConflictDismissed { pairs, reason: Dismissal::ClaimEnded };
        transaction.record(acting.draft(Fact::ConflictDismissed(fact)))?;
    }
    Ok(())
}
