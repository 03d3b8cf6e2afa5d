//! Operations on worktrees.

pub(super) mod create;
