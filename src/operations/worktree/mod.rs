//! Operations on worktrees.

pub(super) mod create;
pub(super) mod list;
