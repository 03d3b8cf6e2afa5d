//! Claims of other agents on the same things: told when claiming, dismissed when one has ended.

use super::recording::{Acting, by_counterpart};
use crate::domain::fact::{ConflictDismissed, Dismissal, Fact};
use crate::failure::Failure;
use crate::ledger::Transaction;

/// Dismisses conflicts over claims of the acting intent of which one has run out or was released.
///
/// # Errors
/// Whatever stops a write.
pub fn dismiss_ended(transaction: &mut Transaction<'_>, acting: Acting) -> Result<(), Failure> {
    let ended = transaction.ended_claim_conflicts(acting.intent, transaction.now())?;
    let pairs = by_counterpart(ended);
    if !pairs.is_empty() {
        let fact = ConflictDismissed { pairs, reason: Dismissal::ClaimEnded };
        transaction.record(acting.draft(Fact::ConflictDismissed(fact)))?;
    }
    Ok(())
}
