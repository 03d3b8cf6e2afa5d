//! The files of a new worktree.

use std::sync::atomic::AtomicBool;

use gix::progress::Discard;

use super::{optional, settle};

/// Check out the files of `linked`, which has none yet, and leave an index that a later status believes.
pub(super) fn fill(linked: &gix::Repository) -> gix::Result<()> {
    let (plain, optional) = optional::without(linked)?;
    let worktree =
        plain.worktree().ok_or_else(|| gix::error::not_found("the new worktree has no directory"))?;
    let outcome = worktree.checkout(Discard, &AtomicBool::new(false))?;
    let mut undelivered = outcome.delayed_paths_unprocessed.iter().chain(&outcome.delayed_paths_unknown);
    if let Some(path) = undelivered.next() {
        return Err(gix::error::message!("a filter never delivered {path}").into());
    }
    optional::smudge(linked, &optional)?;
    settle::settle(linked)
}
