//! When agents were last heard of. Not history: kept outside the chain.

use std::time::Duration;

use super::{Cx, OpenLedger};
use crate::domain::{Agent, Id};
use crate::failure::Failure;
use crate::ledger::Patience;

/// A read notes its actor at most this often.
const AT_MOST_EVERY: Duration = Duration::from_secs(60);

/// Notes that `agent` looked at something. Best effort: it never waits for another writer and
/// never fails the read.
pub fn looked(cx: &Cx<'_, OpenLedger>, agent: Id<Agent>) {
    let last = cx.ledger().read(|snapshot| snapshot.last_seen(agent));
    if last.is_ok_and(|last| cx.now().since(last.at) >= AT_MOST_EVERY) {
        let _ = cx
            .ledger()
            .write::<_, Failure>(Patience::Skip, move |transaction| Ok(transaction.heard_from(agent)?));
    }
}
