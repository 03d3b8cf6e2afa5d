//! Operations on conflicts.

pub(super) mod check;
pub(super) mod detections;
pub(super) mod list;
pub(super) mod resolve;
pub(super) mod show;

use super::Screen;
use crate::domain::Conflict;
use crate::domain::conflict::OpenConflicts;

/// One conflict, for a person.
pub(super) fn details(conflict: &Conflict, screen: &mut Screen) {
    screen.line(format!("{} {} ({}, {})", conflict.severity, conflict.kind, conflict.id, conflict.status));
    screen.line(format!("  {}", conflict.explanation));
    screen.line(format!("  {}", conflict.suggestion));
}

/// What is open against an intent, for a person.
pub(super) fn open(open: &OpenConflicts, screen: &mut Screen) {
    if open.count == 0 {
        return screen.line("No open conflicts.");
    }
    screen.line(format!("Open conflicts: {}", open.count));
    for id in &open.ids {
        screen.line(format!("  foremerge conflicts show {}", id.short()));
    }
}
