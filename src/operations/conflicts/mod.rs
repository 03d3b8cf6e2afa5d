//! Operations on conflicts.

pub(super) mod check;
pub(super) mod detections;
pub(super) mod list;
pub(super) mod resolve;
pub(super) mod show;
mod sides;

use super::Screen;
use crate::domain::conflict::{Decision, OpenConflicts};
use crate::domain::{Conflict, Id, Intent};
use crate::operations::render::{Style, Text, plain};

/// Lines of a row in which a finding is told: enough to get to what both sides do.
pub(super) const TOLD: usize = 6;
/// Conflicts that are named with a command each.
const SHOWN: usize = 5;

/// One conflict, for a person.
pub(super) fn details(conflict: &Conflict, screen: &mut Screen) {
    let head = Text::from(conflict.severity).and(format!(" {} (", conflict.kind)).id(conflict.id);
    screen.line(head.and(", ").then(conflict.status).and(")"));
    screen.line(format!("  {}", conflict.explanation));
}

/// The same with what to do about it.
pub(super) fn advice(conflict: &Conflict, screen: &mut Screen) {
    details(conflict, screen);
    screen.line(format!("  {}", conflict.suggestion));
}

/// Says how many findings an answer leaves out.
pub(super) fn hidden(count: u64, screen: &mut Screen) {
    match count {
        0 => {}
        1 => screen.line("One more finding is not shown."),
        _ => screen.line(format!("{count} more findings are not shown.")),
    }
}

/// What was agreed, for a person.
pub(super) fn decided(decision: &Decision, by: Text, screen: &mut Screen) {
    screen.fields([
        ("decided", plain(&decision.title)),
        ("why", plain(&decision.rationale)),
        ("by", by.and_dim(format!("  {}", screen.ago(decision.decided_at)))),
        ("decision", decision.id.into()),
    ]);
}

/// What is open against an intent, for a person.
pub(super) fn open(intent: Id<Intent>, open: &OpenConflicts, screen: &mut Screen) {
    if open.count == 0 {
        return screen.line(Text::default().styled(Style::Good, "No open conflicts."));
    }
    screen.heading(format!("OPEN CONFLICTS {}", open.count));
    for id in open.ids.iter().take(SHOWN) {
        screen.command(plain("foremerge conflicts show ").id(id));
    }
    let shown = open.ids.len().min(SHOWN);
    screen.more(shown, open.count);
    if open.count > shown as u64 {
        // Those that are talked about are open too, and a list of one status leaves them out.
        screen.line("All of them, the most severe first:");
        screen.command(plain("foremerge conflicts check --intent-id ").id(intent));
    }
}
