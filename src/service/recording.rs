//! Putting findings on record: one event of each kind per acting call.

use std::collections::BTreeSet;

use super::findings::{Findings, Recordable};
use super::matching::Matches;
use super::silence::Silence;
use crate::domain::fact::{ConflictDetected, ConflictDismissed, Counterparts, Dismissal, Fact, PairFindings};
use crate::domain::{Agent, Conflict, ConflictStatus, Event, Id, Intent, Timestamp};
use crate::failure::Failure;
use crate::ledger::read::Among;
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
    /// An event about the intent that follows from the call.
    #[must_use]
    pub fn draft(&self, fact: Fact) -> Draft {
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
    found: &Findings,
    silence: &mut Silence,
) -> Result<ConflictDetected, Failure> {
    let Recordable { findings, owed } = found.recordable(transaction, silence)?;
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
                    // What only went away is open again when it is seen again.
                    let gone = known.status == ConflictStatus::Dismissed && known.settled.is_none();
                    if !same || gone {
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

/// Conflicts that no longer hold.
#[derive(Debug)]
pub struct NoLonger {
    /// Dismissed now.
    pub dismissed: Vec<Id<Conflict>>,
    /// To be dismissed once the silent owner of the other side is back.
    pub left_open: Vec<Id<Conflict>>,
}

/// Dismisses unsettled conflicts of the acting intent that no longer hold, with all others or with those `among`.
/// Those with closed counterparts stay, and those with silent ones until their owner is back.
///
/// # Errors
/// Whatever stops a write.
pub fn dismiss(
    transaction: &mut Transaction<'_>,
    acting: Acting,
    found: &Findings,
    among: Option<&[Id<Intent>]>,
) -> Result<NoLonger, Failure> {
    let holding = found.identities(transaction, acting.intent)?;
    let mut silence = Silence::new(transaction.now());
    let (mut gone, mut owed, mut left_open) = (Vec::new(), Vec::new(), Vec::new());
    for (conflict, with) in transaction.unsettled_of(acting.intent, Among::Intents)? {
        if holding.contains(&conflict) || among.is_some_and(|among| !among.contains(&with)) {
            continue;
        }
        let Some((row, owner, true)) = transaction.intent_row(with)? else { continue };
        if silence.stopped(transaction, row, owner)?.is_none() {
            gone.push((conflict, with));
            continue;
        }
        left_open.push(conflict);
        if !owed.contains(&with) {
            owed.push(with);
        }
    }
    let dismissed = gone.iter().map(|(conflict, _)| *conflict).collect();
    let pairs = by_counterpart(gone);
    if !pairs.is_empty() {
        let reason = Dismissal::OverlapGone;
        transaction.record(acting.draft(Fact::ConflictDismissed(ConflictDismissed { pairs, reason })))?;
    }
    if !owed.is_empty() {
        transaction.record(acting.draft(Fact::FindingsOwed(Counterparts { with: owed })))?;
    }
    Ok(NoLonger { dismissed, left_open })
}

/// Dismisses every unsettled conflict of an intent that was given up.
///
/// # Errors
/// Whatever stops a write.
pub fn dismiss_discarded(transaction: &mut Transaction<'_>, acting: Acting) -> Result<(), Failure> {
    let pairs = by_counterpart(transaction.unsettled_of(acting.intent, Among::All)?);
    if !pairs.is_empty() {
        let fact = ConflictDismissed { pairs, reason: Dismissal::Discarded };
        transaction.record(acting.draft(Fact::ConflictDismissed(fact)))?;
    }
    Ok(())
}

/// Conflicts in the order of the other intent, gathered by that.
#[must_use]
pub fn by_counterpart(
    conflicts: impl IntoIterator<Item = (Id<Conflict>, Id<Intent>)>,
) -> Vec<(Id<Intent>, Vec<Id<Conflict>>)> {
    let mut pairs: Vec<(Id<Intent>, Vec<Id<Conflict>>)> = Vec::new();
    for (conflict, with) in conflicts {
        match pairs.last_mut() {
            Some((last, conflicts)) if *last == with => conflicts.push(conflict),
            _ => pairs.push((with, vec![conflict])),
        }
    }
    pairs
}

/// What an agent is owed: comparisons that waited for its return.
pub struct Debt {
    intent: Id<Intent>,
    /// Those whose owners are there, and the intent compared with them.
    with: Vec<Id<Intent>>,
    rows: BTreeSet<i64>,
    matches: Option<Matches>,
    /// Those whose owners are silent by now and do not wait for it yet: whoever is back last settles it.
    passed_on: Vec<Id<Intent>>,
}

/// Looks each owed intent of a returning agent up again, on a read.
///
/// # Errors
/// Whatever stops a read.
pub fn debts(snapshot: &Snapshot<'_>, agent: &Agent, now: Timestamp) -> Result<Vec<Debt>, Failure> {
    let mut silence = Silence::new(now);
    let mut debts = Vec::new();
    for (row, counterparts) in snapshot.debts(snapshot.agent_row(agent.id)?)? {
        let (mut with, mut rows, mut passed_on) = (Vec::new(), BTreeSet::new(), Vec::new());
        for other in counterparts {
            if silence.stopped(snapshot, other.intent, other.owner)?.is_none() {
                with.push(snapshot.intent_id(other.intent)?);
                rows.insert(other.intent);
            } else if !other.waits {
                passed_on.push(snapshot.intent_id(other.intent)?);
            }
        }
        if with.is_empty() && passed_on.is_empty() {
            continue;
        }
        let intent = snapshot.counterpart(row)?;
        let mut matches = None;
        if !with.is_empty() {
            let scopes = snapshot.published_scopes(row)?;
            let mut found = Matches::find(snapshot, agent, &intent.summary, scopes)?;
            found.found_mut().keep(&rows);
            matches = Some(found);
        }
        debts.push(Debt { intent: intent.intent, with, rows, matches, passed_on });
    }
    Ok(debts)
}

/// Intents that a comparison with `intent` waits for, those of silent owners left out.
///
/// # Errors
/// Whatever stops a read.
pub fn owed_to(snapshot: &Snapshot<'_>, intent: &Intent, now: Timestamp) -> Result<Vec<Id<Intent>>, Failure> {
    let (row, owner) = (snapshot.row_of(intent.id)?, snapshot.agent_row(intent.agent_id)?);
    let mut silence = Silence::new(now);
    let mut with = Vec::new();
    for (debtor, counterparts) in snapshot.debts(owner)? {
        for other in counterparts.into_iter().filter(|_| debtor == row) {
            if silence.stopped(snapshot, other.intent, other.owner)?.is_none() {
                with.push(snapshot.intent_id(other.intent)?);
            }
        }
    }
    Ok(with)
}

/// Records what a returning agent was owed, as an acting call of its own for each intent. What was
/// owed to `compared`, which the agent's call compared anew, is settled by that: its scopes may
/// have changed since the debt was looked up. Work that the call itself ended meets nobody.
///
/// # Errors
/// Whatever stops a write.
pub fn settle(
    transaction: &mut Transaction<'_>,
    agent: Id<Agent>,
    cause: Id<Event>,
    compared: Option<Id<Intent>>,
    debts: Vec<Debt>,
) -> Result<(), Failure> {
    let mut silence = Silence::new(transaction.now());
    for mut debt in debts {
        let acting = Acting { intent: debt.intent, agent, cause };
        let active = transaction.intent_row(debt.intent)?.is_some_and(|(.., active)| active);
        if let Some(matches) = debt.matches.as_mut().filter(|_| Some(debt.intent) != compared && active) {
            matches.refresh(transaction)?;
            matches.found_mut().keep(&debt.rows);
            dismiss(transaction, acting, matches.found(), Some(&debt.with))?;
            record(transaction, acting, matches.found(), &mut silence)?;
        }
        if active && !debt.passed_on.is_empty() {
            transaction.record(acting.draft(Fact::FindingsOwed(Counterparts { with: debt.passed_on })))?;
        }
        if !debt.with.is_empty() {
            transaction.record(acting.draft(Fact::FindingsSettled(Counterparts { with: debt.with })))?;
        }
    }
    Ok(())
}
