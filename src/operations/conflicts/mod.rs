//! Operations on conflicts.

pub(super) mod check;
pub(super) mod list;
pub(super) mod show;

use super::Screen;
use crate::domain::Conflict;

/// One conflict, for a person.
pub(super) fn details(conflict: &Conflict, screen: &mut Screen) {
    screen.line(format!("{} {} ({}, {})", conflict.severity, conflict.kind, conflict.id, conflict.status));
    screen.line(format!("  {}", conflict.explanation));
    screen.line(format!("  {}", conflict.suggestion));
}
