//! What differs between `HEAD`, index and worktree, as `git status --untracked-files=all --no-renames` sees it once
//! nothing is hidden from it. gix compares; here stands what it leaves out or sees otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gix::ObjectId;
use gix::bstr::{BStr, BString};
use gix::index::entry::{Flags, Mode, Stage};

use super::super::error::sentence;
use super::super::layout::absent;
use super::super::{Error, Repository};
use super::careful;
use super::closed::{Closed, is_closed};
use super::compare::Compared;
use super::content::Budget;
use super::entry::{Entry, Side, Worktree, staged};
use super::met::{Collected, compare_worktree};
use super::{hidden, nested};
use crate::domain::Digest;

/// Everything that differs, in order of path.
pub(super) struct Status {
    pub entries: Vec<Entry>,
    /// Paths that a sparse checkout leaves out, in order.
    pub not_checked_out: Vec<BString>,
    /// Directories of submodules without a repository, in order, with the names of what stands in them.
    pub unpopulated: Vec<(BString, Digest)>,
    /// What may not be looked at, in order.
    pub unreadable: Vec<Closed>,
}

impl Status {
    /// Compare `tree`, the index and the worktree of `repository`. Without a budget nothing is read that says only what
    /// the changes hold.
    pub(super) fn of(
        repository: &Repository,
        tree: Option<ObjectId>,
        budget: Option<&mut Budget>,
    ) -> Result<Self, Error> {
        let root = repository
            .worktree_root()
            .ok_or_else(|| Error::NoWorktree { path: repository.git_dir().to_owned() })?;
        let seen = hidden::see_through(repository, root)?;
        let failed = |error: gix::Error| Error::unreadable(root, sentence(&error));
        let (mut met, mut unreadable) = walk(repository, root, &seen.index, &seen.rules)?;
        for path in &seen.replaced {
            met.worktree.push((path.clone(), b'T', Worktree::Tracked(Mode::FILE_EXECUTABLE)));
        }
        special_files(root, &mut met);
        let sparse = is_sparse_checkout(repository);
        let mut not_checked_out = Vec::new();
        met.worktree.retain(|(path, letter, _)| {
            // Like Git, which forgets the bit where anything stands in the way.
            let left_out = sparse
                && *letter == b'D'
                && seen.skipped.binary_search(path).is_ok()
                && !hidden::is_there(root, path.as_ref());
            if left_out {
                not_checked_out.push(path.clone());
            }
            !left_out
        });
        not_checked_out.sort_unstable();
        replaced_by_repositories(root, &mut met);
        let unpopulated = submodules(repository, root, &seen.submodules, &mut met, &mut unreadable, budget)?;
        unreadable.sort_unstable();
        let staged = compare_index(repository, tree, &seen.index).map_err(failed)?;
        Ok(Self { entries: met.together(staged), not_checked_out, unpopulated, unreadable })
    }
}

/// How often a walk is begun, where directories vanish under it.
const ATTEMPTS: usize = 5;

/// Everything that is met in the worktree beside `index`, and what is closed; `rules` is the same index with its bits.
/// gix gives up where a directory vanishes between being listed and being read, and at much of what git only warns of.
fn walk(
    repository: &Repository,
    root: &Path,
    index: &gix::index::State,
    rules: &gix::index::State,
) -> Result<(Collected, Vec<Closed>), Error> {
    let compared = Compared::new(repository, root, index);
    let mut attempt = 1;
    loop {
        let mut met = Collected::default();
        match compare_worktree(repository, index, compared.fast(), Some(rules), &mut met) {
            Ok(()) => return Ok((met, Vec::new())),
            Err(error) if attempt < ATTEMPTS && has_vanished(&error) => attempt += 1,
            Err(_) => return careful::walk(repository, root, index, rules),
        }
    }
}

fn has_vanished(error: &gix::Error) -> bool {
    error.downcast_any_ref::<std::io::Error>().is_some_and(absent)
}

/// Whether paths may be missing from the worktree because they were never asked for.
fn is_sparse_checkout(repository: &Repository) -> bool {
    repository.inner().config_snapshot().boolean("core.sparseCheckout").unwrap_or(false)
}

/// A pipe or a socket has the type of a file for Git, with other content.
fn special_files(root: &Path, met: &mut Collected) {
    for (path, letter, worktree) in met.worktree.iter_mut().filter(|(_, letter, _)| *letter == b'T') {
        let was_file = matches!(worktree, Worktree::Tracked(Mode::FILE | Mode::FILE_EXECUTABLE));
        let Some(place) = hidden::inside(root, path.as_ref()).filter(|_| was_file) else { continue };
        if std::fs::symlink_metadata(place).is_ok_and(|found| !found.is_symlink() && !found.is_dir()) {
            *letter = b'M';
        }
    }
}

/// A file that gave way to a repository changed its type; gix says that it is gone.
fn replaced_by_repositories(root: &Path, met: &mut Collected) {
    for (path, letter, worktree) in met.worktree.iter_mut().filter(|(_, letter, _)| *letter == b'D') {
        let Some(place) = hidden::inside(root, path.as_ref()) else { continue };
        if is_repository(&place) && nested::has_commit(&place) {
            *letter = b'T';
            *worktree = Worktree::Tracked(Mode::COMMIT);
        }
    }
}

fn is_repository(place: &Path) -> bool {
    std::fs::symlink_metadata(place).is_ok_and(|found| found.is_dir())
        && std::fs::symlink_metadata(place.join(".git")).is_ok()
}

/// Add the submodules that changed, and answer which have a directory without a repository: no change for Git, but
/// another tree for whoever works in it.
fn submodules(
    repository: &Repository,
    root: &Path,
    submodules: &[(BString, ObjectId)],
    met: &mut Collected,
    unreadable: &mut Vec<Closed>,
    mut budget: Option<&mut Budget>,
) -> Result<Vec<(BString, Digest)>, Error> {
    let mut unpopulated = Vec::new();
    for (path, recorded) in submodules {
        let Some(place) = hidden::inside(root, path.as_ref()) else { continue };
        if !is_repository(&place) {
            match names(&place) {
                Err(error) if is_closed(&error) => {
                    unreadable.push(Closed { path: path.clone(), is_tracked: true });
                }
                names => unpopulated.extend(names.ok().flatten().map(|names| (path.clone(), names))),
            }
            continue;
        }
        let found = nested::look(repository, &place, true, budget.as_deref_mut())?;
        if found.is_dirty || found.head.is_some_and(|head| head != *recorded) {
            met.worktree.push((path.clone(), b'M', Worktree::Submodule(found.digest)));
        }
    }
    Ok(unpopulated)
}

/// The names of what stands in a directory; nothing for what is none.
fn names(place: &Path) -> std::io::Result<Option<Digest>> {
    if !std::fs::symlink_metadata(place)?.is_dir() {
        return Ok(None);
    }
    let entries = std::fs::read_dir(place)?;
    let mut names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    names.sort_unstable();
    Ok(Some(Digest::of_fields(&names.iter().map(|name| name.as_encoded_bytes()).collect::<Vec<_>>())))
}

/// What differs between `tree` and the index, conflicts left out.
fn compare_index(
    repository: &Repository,
    tree: Option<ObjectId>,
    index: &gix::index::State,
) -> gix::Result<BTreeMap<BString, (u8, String)>> {
    let whole = index.tree().filter(|cached| cached.num_entries.is_some()).map(|cached| cached.id);
    if tree.is_some() && whole == tree {
        return Ok(BTreeMap::new());
    }
    let tree = tree.map(|tree| repository.inner().index_from_tree(&tree)).transpose()?;
    let mut sides: BTreeMap<&BStr, [Option<Side>; 2]> = BTreeMap::new();
    let mut conflicted = BTreeSet::new();
    for entry in tree.iter().flat_map(|tree| tree.entries().iter()) {
        let backing = tree.as_ref().map_or(index.path_backing(), |tree| tree.path_backing());
        sides.insert(entry.path_in(backing), [Some(Side { mode: entry.mode, id: entry.id }), None]);
    }
    for entry in index.entries() {
        let path = entry.path(index);
        if entry.stage() != Stage::Unconflicted {
            conflicted.insert(path);
        } else if !entry.flags.contains(Flags::INTENT_TO_ADD) {
            sides.entry(path).or_default()[1] = Some(Side { mode: entry.mode, id: entry.id });
        }
    }
    let differing = sides.into_iter().filter(|(path, _)| !conflicted.contains(path));
    Ok(differing.filter_map(|(path, [old, new])| Some((path.to_owned(), staged(old, new)?))).collect())
}
