//! Whether all that a new worktree is to hold is here: a partial clone may have left it out, and nothing is fetched.

use gix::ObjectId;
use gix::glob::pattern::Case;
use gix::index::entry::{Flags, Mode};
use gix::objs::TreeRefIter;
use gix::objs::tree::EntryKind;

use super::super::error::sentence;
use super::super::{Error, Repository};

/// Refuse `commit` if one of its trees is not here, or a file that is to be checked out. Files are only looked up.
///
/// # Errors
/// [`Error::Missing`]; [`Error::Unreadable`] when a tree cannot be read.
pub(super) fn require_all(repository: &Repository, commit: ObjectId) -> Result<(), Error> {
    let hash = repository.inner().object_hash();
    let root = repository.commit(commit)?.tree;
    let patterns = sparse_patterns(repository);
    let mut trees = vec![root];
    while let Some(tree) = trees.pop() {
        let data = repository.tree_data(Some(tree))?;
        for entry in TreeRefIter::from_bytes(&data, hash) {
            let entry = entry.map_err(|error| {
                let detail = format!("the tree {tree} cannot be read: {}", sentence(&error));
                Error::unreadable(repository.git_dir(), detail)
            })?;
            let id = entry.oid.to_owned();
            match entry.mode.kind() {
                EntryKind::Tree => trees.push(id),
                // It is a commit of another repository.
                EntryKind::Commit => {}
                // Of a sparse checkout it is not known yet which there will be.
                _ if patterns.is_some() || repository.inner().has_object(id) => {}
                _ => return Err(repository.missing(id)),
            }
        }
    }
    match patterns {
        Some(patterns) => require_sparse(repository, root, &patterns),
        None => Ok(()),
    }
}

/// What the new worktree will inherit, if it is to be a sparse one.
fn sparse_patterns(repository: &Repository) -> Option<Vec<u8>> {
    let sparse = repository.inner().config_snapshot().boolean("core.sparseCheckout") == Some(true);
    sparse.then(|| std::fs::read(repository.git_dir().join("info/sparse-checkout")).ok()).flatten()
}

/// The same for the files of `tree` that `patterns` let in.
fn require_sparse(repository: &Repository, tree: ObjectId, patterns: &[u8]) -> Result<(), Error> {
    let failed = |error: gix::Error| Error::unreadable(repository.git_dir(), sentence(&error));
    let inner = repository.inner();
    let mut index = inner.index_from_tree(&tree).map_err(failed)?;
    let cone = inner.config_snapshot().boolean("core.sparseCheckoutCone") == Some(true);
    let folds = inner.filesystem_options().map_err(failed)?.ignore_case;
    let case = if folds { Case::Fold } else { Case::Sensitive };
    // As gix does when it checks out.
    let source = repository.git_dir().join("info/sparse-checkout");
    gix::worktree::sparse::apply_patterns(&mut index, patterns, &source, cone, case).map_err(failed)?;
    let mut wanted = index
        .entries()
        .iter()
        .filter(|entry| entry.mode != Mode::COMMIT && !entry.flags.contains(Flags::SKIP_WORKTREE));
    match wanted.find(|entry| !inner.has_object(entry.id)) {
        Some(missing) => Err(repository.missing(missing.id)),
        None => Ok(()),
    }
}
