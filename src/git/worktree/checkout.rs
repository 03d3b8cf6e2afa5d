//! The files of a new worktree.

use std::sync::atomic::AtomicBool;

use gix::progress::Discard;

use super::super::error::sentence;
use super::super::{Error, Repository};
use super::{filters, settle, stored};

/// Check out the files of `linked`, which has none yet, `any_encoded` as its attributes say, and leave an index that a later
/// status believes.
pub(super) fn fill(linked: &gix::Repository, any_encoded: bool) -> gix::Result<()> {
    let (plain, left_out) = filters::without(linked, any_encoded)?;
    let worktree =
        plain.worktree().ok_or_else(|| gix::error::not_found("the new worktree has no directory"))?;
    let outcome = worktree.checkout(Discard, &AtomicBool::new(false))?;
    let mut undelivered = outcome.delayed_paths_unprocessed.iter().chain(&outcome.delayed_paths_unknown);
    if let Some(path) = undelivered.next() {
        return Err(gix::error::message!("a filter never delivered {path}").into());
    }
    filters::rewrite(linked, &left_out, any_encoded)?;
    settle::settle(linked)
}

/// Why the files of `commit` could not be checked out to `linked`, where gix says `error`: it names neither the object
/// that is missing nor the file at which a filter failed.
pub(super) fn diagnosed(
    repository: &Repository,
    linked: &gix::Repository,
    commit: gix::ObjectId,
    error: &gix::Error,
) -> Error {
    let root = linked.workdir().unwrap_or_else(|| linked.git_dir());
    let unknown = Error::unwritable(root, sentence(error));
    let Ok(tree) = repository.commit(commit).map(|commit| commit.tree) else { return unknown };
    let Ok(index) = linked.index_from_tree(&tree) else { return unknown };
    // It was here when that was looked at, and may have gone since.
    if let Err(missing @ Error::Missing { .. }) = stored::require_all(repository, commit) {
        return missing;
    }
    match filters::failing(linked, &index) {
        Ok(Some((path, filter, why))) => {
            let place = root.join(gix::path::from_bstr(&path).unwrap_or_default());
            Error::unreadable(
                &place,
                format!("the filter {filter}, which is required, failed: {}", sentence(&why)),
            )
        }
        _ => unknown,
    }
}
