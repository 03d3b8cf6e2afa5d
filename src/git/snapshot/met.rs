//! What stands in a worktree beside its index, as gix meets it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use gix::bstr::{BStr, BString};
use gix::diff::blob::pipeline::{self, WorktreeRoots};
use gix::dir::entry::Kind;
use gix::dir::walk::EmissionMode;
use gix::error::{ResultExt, message};
use gix::index::State;
use gix::index::entry::Mode;
use gix::status::plumbing;
use gix::status::plumbing::index_as_worktree::traits::{CompareBlobs, SubmoduleStatus};
use gix::status::plumbing::index_as_worktree::{self, Change, Conflict, EntryStatus};
use gix::status::plumbing::index_as_worktree_with_renames::{
    Context, DirwalkContext, Entry as Met, Options, VisitEntry,
};
use gix::worktree::stack::state::{attributes, ignore};

use super::super::Repository;
use super::entry::{Entry, Worktree};
use super::ignores;

/// What was met on the way, in no order.
#[derive(Default)]
pub(super) struct Collected {
    pub worktree: Vec<(BString, u8, Worktree)>,
    pub conflicts: Vec<(BString, [u8; 2], String, Mode)>,
    pub untracked: Vec<(BString, Worktree)>,
}

impl Collected {
    pub fn together(self, staged: BTreeMap<BString, (u8, String)>) -> Vec<Entry> {
        let mut tracked: BTreeMap<BString, Entry> = staged
            .into_iter()
            .map(|(path, (letter, index))| {
                let entry =
                    Entry { path: path.clone(), status: [letter, b' '], index, worktree: Worktree::Unread };
                (path, entry)
            })
            .collect();
        // What stands in the place of a conflicted path without a version of ours or of a submodule, gix takes for
        // untracked as well.
        let mut known = BTreeSet::new();
        for (path, letter, worktree) in self.worktree {
            if letter == b'T' {
                known.insert(path.clone());
            }
            match tracked.get_mut(&path) {
                Some(entry) => (entry.status[1], entry.worktree) = (letter, worktree),
                None => {
                    tracked.insert(path.clone(), Entry::unstaged(path, letter, worktree));
                }
            }
        }
        for (path, status, index, mode) in self.conflicts {
            known.insert(path.clone());
            tracked.insert(path.clone(), Entry { path, status, index, worktree: Worktree::Tracked(mode) });
        }
        let mut entries: Vec<Entry> = tracked.into_values().collect();
        // A repository ends in a slash.
        let name = |path: &BString| BString::from(path.strip_suffix(b"/").unwrap_or(path));
        let untracked = self.untracked.into_iter().filter(|(path, _)| !known.contains(&name(path)));
        entries.extend(untracked.map(|(path, worktree)| Entry::untracked(path, worktree)));
        entries.sort_by(|one, other| (&one.path, one.status).cmp(&(&other.path, other.status)));
        entries
    }
}

impl<'index> VisitEntry<'index> for Collected {
    type ContentChange = ();
    type SubmoduleStatus = ();

    fn visit_entry(&mut self, entry: Met<'index, (), ()>) {
        match entry {
            Met::Modification { entry, rela_path, status, .. } => self.tracked(entry, rela_path, status),
            Met::DirectoryContents { entry, .. } => self.untracked(entry),
            // Not asked for.
            Met::Rewrite { .. } => {}
        }
    }
}

impl Collected {
    fn tracked(&mut self, entry: &gix::index::Entry, path: &BStr, status: EntryStatus) {
        let (letter, worktree) = match status {
            EntryStatus::NeedsUpdate(_) | EntryStatus::Change(Change::SubmoduleModification(())) => return,
            EntryStatus::Conflict { summary, entries } => {
                let stages = entries.iter().map(|entry| {
                    entry
                        .as_ref()
                        .map_or_else(|| "-".into(), |entry| format!("{:o} {}", entry.mode.bits(), entry.id))
                });
                let index = stages.collect::<Vec<_>>().join(" ");
                let ours = entries[1].as_ref().map_or(entry.mode, |ours| ours.mode);
                self.conflicts.push((path.to_owned(), letters(summary), index, ours));
                return;
            }
            EntryStatus::Change(Change::Removed) => (b'D', Worktree::Unread),
            EntryStatus::Change(Change::Type { .. }) => (b'T', Worktree::Tracked(entry.mode)),
            EntryStatus::Change(Change::Modification { .. }) => (b'M', Worktree::Tracked(entry.mode)),
            EntryStatus::IntentToAdd => (b'A', Worktree::Tracked(entry.mode)),
        };
        self.worktree.push((path.to_owned(), letter, worktree));
    }

    pub fn untracked(&mut self, entry: gix::dir::Entry) {
        if entry.status != gix::dir::entry::Status::Untracked {
            return;
        }
        let mut path = entry.rela_path;
        match entry.disk_kind {
            Some(Kind::File | Kind::Symlink) => self.untracked.push((path, Worktree::Untracked)),
            Some(Kind::Repository) => {
                path.push(b'/');
                self.untracked.push((path, Worktree::Repository));
            }
            // Git does not see sockets, pipes and empty directories.
            Some(Kind::Untrackable | Kind::Directory) | None => {}
        }
    }
}

fn letters(conflict: Conflict) -> [u8; 2] {
    *match conflict {
        Conflict::BothDeleted => b"DD",
        Conflict::AddedByUs => b"AU",
        Conflict::DeletedByThem => b"UD",
        Conflict::AddedByThem => b"UA",
        Conflict::DeletedByUs => b"DU",
        Conflict::BothAdded => b"AA",
        Conflict::BothModified => b"UU",
    }
}

/// Submodules are looked at afterwards: gix would believe their configuration.
#[derive(Clone)]
struct Later;

impl SubmoduleStatus for Later {
    type Output = ();

    fn status(&mut self, _entry: &gix::index::Entry, _path: &BStr) -> gix::Result<Option<()>> {
        Ok(None)
    }
}

/// Compare `index` with the worktree, and look for untracked files if `rules` says whose `.gitignore` files count where
/// they are not checked out.
pub(super) fn compare_worktree(
    repository: &Repository,
    index: &State,
    compare: impl CompareBlobs<Output = ()> + Send + Clone,
    rules: Option<&State>,
    met: &mut Collected,
) -> gix::Result<()> {
    let inner = repository.inner();
    let root = inner.workdir().ok_or_else(|| message("there is no worktree"))?;
    let stack = inner.attributes(
        rules.unwrap_or(index),
        attributes::Source::WorktreeThenIdMapping,
        ignore::Source::WorktreeThenIdMappingIfNotSkipped,
        rules.map(|_| ignores::overrides()).transpose()?,
    )?;
    let roots = WorktreeRoots { old_root: None, new_root: Some(root.to_owned()) };
    let resource_cache = gix::diff::resource_cache(inner, pipeline::Mode::ToGit, stack.detach(), roots)?;
    let patterns = inner.pathspec(false, None::<&BStr>, true, index, attributes::Source::IdMapping)?;
    let git_dir = gix::path::realpath(repository.git_dir())?;
    let fs = inner.filesystem_options()?;
    let any_case = fs.ignore_case.then(|| index.prepare_icase_backing());
    let dirwalk = rules
        .map(|_| inner.dirwalk_options())
        .transpose()?
        .map(|options| options.emit_untracked(EmissionMode::Matching).into());
    plumbing::index_as_worktree_with_renames(
        index,
        root,
        met,
        compare,
        Later,
        inner.objects.clone().into_arc().or_error()?,
        &mut gix::progress::Discard,
        Context {
            pathspec: patterns.into_parts().0,
            resource_cache,
            should_interrupt: &AtomicBool::new(false),
            dirwalk: DirwalkContext {
                git_dir_realpath: &git_dir,
                current_dir: inner.current_dir(),
                ignore_case_index_lookup: any_case.as_ref(),
            },
        },
        Options {
            sorting: None,
            tracked_file_modifications: index_as_worktree::Options {
                fs,
                // A filter that aborts is asked for no file after that: the second look takes them in git's order.
                thread_limit: rules.is_none().then_some(1),
                stat: inner.stat_options()?,
                fscache: false,
            },
            fscache: false,
            dirwalk,
            rewrites: None,
        },
    )?;
    Ok(())
}
