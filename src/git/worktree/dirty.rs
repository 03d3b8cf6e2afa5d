//! How much of a worktree is not committed.

use std::collections::BTreeSet;

use gix::bstr::BString;
use gix::progress::Discard;
use gix::status::tree_index::TrackRenames;
use gix::status::{Submodule, UntrackedFiles};

/// How many paths `git status --untracked-files=all --no-renames` names. Takes no lock and writes no index.
pub(super) fn count(worktree: &gix::Repository) -> gix::Result<u64> {
    let every_directory = worktree.dirwalk_options()?;
    let changes = worktree
        .status(Discard)?
        // status.showUntrackedFiles=no is for people who look.
        .index_worktree_options_mut(|options| options.dirwalk_options = Some(every_directory))
        .untracked_files(UntrackedFiles::Files)
        .index_worktree_rewrites(None)
        .index_worktree_submodules(Submodule::AsConfigured { check_dirty: true })
        .tree_index_track_renames(TrackRenames::Disabled)
        .into_iter(None)?;
    // A path may be changed against HEAD and again against the index, and a conflicted one is told as untracked too.
    let paths =
        changes.map(|change| Ok(change?.location().to_owned())).collect::<gix::Result<BTreeSet<BString>>>();
    Ok(paths?.len() as u64)
}
