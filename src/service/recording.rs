//! Putting findings on record: one event of each kind per acting call.

use std::collections::BTreeSet;

use super::matching::{Matches, Recordable, Silence};
use crate::domain::fact::{ConflictDetected, ConflictDismissed, Counterparts, Fact, PairFindings};
use crate::domain::{Agent, Conflict, ConflictStatus, Event, Id, Intent, Timestamp};
use crate::failure::Failure;
use crate::ledger::{Draft, Snapshot, Transaction};

/// Whose call it is, for which intent, and the event that findings follow from.
#[derive(Debug, Clone, Copy)]
pub struct Acting {
    /// The intent that was compared.
    pub intent: Id<Intent>,
    /// Its owner.
    pub agent: Id<Agent>,
    /// The event of the call.
    pub cause: Id<Event>,
}

impl Acting {
    fn draft(&self, fact: Fact) -> Draft {
        Draft { entity: self.intent.to_string(), agent: self.agent, cause: Some(self.cause), fact }
    }
}

/// Records what a comparison found. What is on record already is recorded again only where its
/// severity or an operation changed. Returns all of it, new and known.
///
/// # Errors
/// Whatever stops a write.
pub fn record(
    transaction: &mut Transaction<'_>,
    acting: Acting,
    matches: &Matches,
) -> Result<ConflictDetected, Failure> {
    let Recordable { findings, owed } = matches.recordable(transaction, transaction.now())?;
    let on_record = transaction.known_conflicts(acting.intent)?;
    let (mut new, mut changed) = (empty(&findings), empty(&findings));
    for pair in &findings.pairs {
        let (mut first, mut again) = (Vec::new(), Vec::new());
        for found in &pair.found {
            // Of an intent that is published just now nothing is on record.
            let known = (!on_record.is_empty()).then(|| findings.identity(acting.intent, pair.with, found));
            match known.flatten().and_then(|identity| on_record.get(&identity)) {
                None => first.push(found.clone()),
                Some(known) => {
                    let operations = found.at.and_then(|at| at.operations).map(|(mine, theirs)| {
                        if acting.intent < pair.with { (mine, theirs) } else { (theirs, mine) }
                    });
                    let same = known.severity == found.severity && known.operations == operations;
                    if !same || known.status == ConflictStatus::Dismissed {
                        again.push(found.clone());
                    }
                }
            }
        }
        for (event, found) in [(&mut new, first), (&mut changed, again)] {
            if !found.is_empty() {
                event.pairs.push(PairFindings { with: pair.with, found });
            }
        }
    }
    new.omitted = findings.omitted;
    if !new.pairs.is_empty() {
        transaction.record(acting.draft(Fact::ConflictDetected(new)))?;
    }
    if !changed.pairs.is_empty() {
        transaction.record(acting.draft(Fact::ConflictRedetected(changed)))?;
    }
    if !owed.is_empty() {
        transaction.record(acting.draft(Fact::FindingsOwed(Counterparts { with: owed })))?;
    }
    Ok(findings)
}

fn empty(findings: &ConflictDetected) -> ConflictDetected {
    ConflictDetected { scopes: findings.scopes.clone(), pairs: Vec::new(), omitted: 0 }
}

/// Dismisses unsettled conflicts of the acting intent that no longer hold, except with silent or
/// closed counterparts. Returns them.
///
/// # Errors
/// Whatever stops a write.
pub fn dismiss(
    transaction: &mut Transaction<'_>,
    acting: Acting,
    matches: &Matches,
) -> Result<Vec<Id<Conflict>>, Failure> {
    let holding = matches.identities(transaction, acting.intent)?;
    let mut silence = Silence::new(transaction.now());
    let mut pairs: Vec<(Id<Intent>, Vec<Id<Conflict>>)> = Vec::new();
    for (conflict, with) in transaction.unsettled_of(acting.intent)? {
        let Some((_, owner, true)) = transaction.intent_row(with)? else { continue };
        if holding.contains(&conflict) || silence.since(transaction, owner)?.is_some() {
            continue;
        }
        match pairs.last_mut() {
            Some((last, conflicts)) if *last == with => conflicts.push(conflict),
            _ => pairs.push((with, vec![conflict])),
        }
    }
    let dismissed = pairs.iter().flat_map(|(_, conflicts)| conflicts.clone()).collect();
    if !pairs.is_empty() {
        let reason = "the overlap is gone".to_owned();
        transaction.record(acting.draft(Fact::ConflictDismissed(ConflictDismissed { pairs, reason })))?;
    }
    Ok(dismissed)
}

/// What an agent is owed: comparisons that waited for its return.
pub struct Debt {
    intent: Id<Intent>,
    with: Vec<Id<Intent>>,
    rows: BTreeSet<i64>,
    matches: Matches,
}

/// Looks each owed intent of a returning agent up again, on a read. A counterpart whose owner is
/// silent too stays owed.
///
/// # Errors
/// Whatever stops a read.
pub fn debts(snapshot: &Snapshot<'_>, agent: &Agent, now: Timestamp) -> Result<Vec<Debt>, Failure> {
    let mut silence = Silence::new(now);
    let mut debts = Vec::new();
    for (row, counterparts) in snapshot.debts(snapshot.agent_row(agent.id)?)? {
        let (mut with, mut rows) = (Vec::new(), BTreeSet::new());
        for (counterpart, owner) in counterparts {
            if silence.since(snapshot, owner)?.is_none() {
                with.push(snapshot.intent_id(counterpart)?);
                rows.insert(counterpart);
            }
        }
        if with.is_empty() {
            continue;
        }
        let intent = snapshot.counterpart(row)?;
        let mut matches = Matches::find(snapshot, agent, &intent.summary, snapshot.published_scopes(row)?)?;
        matches.keep(&rows);
        debts.push(Debt { intent: intent.intent, with, rows, matches });
    }
    Ok(debts)
}

/// Records what a returning agent was owed, as an acting call of its own for each intent. What was
/// owed to `compared`, which the agent's call compared anew, is settled by that: its scopes may
/// have changed since the debt was looked up.
///
/// # Errors
/// Whatever stops a write.
pub fn settle(
    transaction: &mut Transaction<'_>,
    agent: Id<Agent>,
    cause: Id<Event>,
    compared: Id<Intent>,
    debts: Vec<Debt>,
) -> Result<(), Failure> {
    for mut debt in debts {
        let acting = Acting { intent: debt.intent, agent, cause };
        if debt.intent != compared {
            debt.matches.refresh(transaction)?;
            debt.matches.keep(&debt.rows);
            record(transaction, acting, &debt.matches)?;
        }
        transaction.record(acting.draft(Fact::FindingsSettled(Counterparts { with: debt.with })))?;
    }
    Ok(())
}
