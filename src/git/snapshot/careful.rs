//! A slower look at a worktree where something stops the fast one: a directory or a `.gitignore` that may not be read, a
//! filter that cannot be run, an encoding. Git warns of such things and goes on.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::dir::walk::{Action, Delegate, EmissionMode, ForDeletionMode};
use gix::dir::{EntryRef, entry};
use gix::index::State;
use gix::index::entry::{Flags, Stage};
use gix::worktree::stack::state::{attributes, ignore};

use super::super::error::sentence;
use super::super::layout::absent;
use super::super::{Error, Repository};
use super::closed::{Closed, is_closed};
use super::compare::Compared;
use super::ignores;
use super::met::{Collected, compare_worktree};

/// Everything that is met in the worktree at `root` beside `index`, and what is closed, in order; `rules` is the same
/// index with its bits.
pub(super) fn walk(
    repository: &Repository,
    root: &Path,
    index: &State,
    rules: &State,
) -> Result<(Collected, Vec<Closed>), Error> {
    let (mut met, mut closed) = (Collected::default(), BTreeSet::new());
    let index = without_closed(root, index, &mut closed);
    let compared = Compared::new(repository, root, &index);
    compare_worktree(repository, &index, compared.carefully(), None, &mut met)
        .and_then(|()| untracked(repository, root, &index, rules, &mut met, &mut closed))
        .map_err(|error| compared.why().unwrap_or_else(|| Error::unreadable(root, sentence(&error))))?;
    Ok((met, closed.into_iter().collect()))
}

/// The index without the tracked paths that cannot be looked at. Git says so and takes them for unchanged.
fn without_closed(root: &Path, index: &State, closed: &mut BTreeSet<Closed>) -> State {
    let mut open = index.clone();
    for (entry, path) in open.entries_mut_with_paths() {
        let Ok(relative) = gix::path::from_bstr(path) else { continue };
        if std::fs::symlink_metadata(root.join(relative)).is_err_and(|error| is_closed(&error)) {
            closed.insert(Closed { path: path.to_owned(), is_tracked: true });
            if entry.stage() == Stage::Unconflicted {
                entry.flags.insert(Flags::ASSUME_VALID);
            }
        }
    }
    open
}

/// Walk for untracked files around what is closed.
fn untracked(
    repository: &Repository,
    root: &Path,
    index: &State,
    rules: &State,
    met: &mut Collected,
    closed: &mut BTreeSet<Closed>,
) -> gix::Result<()> {
    let inner = repository.inner();
    // All rules are given, so that none is looked for: there is no such file in an index of nothing.
    let nothing = State::new(inner.object_hash());
    let rules = ignores::read(root, rules, &inner.objects)?;
    let mut excludes = inner.excludes(&nothing, Some(rules), ignore::Source::IdMapping)?.detach();
    let patterns = inner.pathspec(false, None::<&BStr>, true, index, attributes::Source::IdMapping)?;
    let any_case = inner.filesystem_options()?.ignore_case.then(|| index.prepare_icase_backing());
    let context = gix::dir::walk::Context {
        should_interrupt: None,
        git_dir_realpath: repository.git_dir(),
        current_dir: root,
        index,
        ignore_case_index_lookup: any_case.as_ref(),
        pathspec: &mut patterns.into_parts().0,
        pathspec_attributes: &mut |_, _, _, _| false,
        excludes: Some(&mut excludes),
        objects: &inner.objects,
        explicit_traversal_root: Some(root),
    };
    let options = inner.dirwalk_options()?.emit_untracked(EmissionMode::Matching);
    let mut around = Around { root, met, closed };
    gix::dir::walk(root, context, options.into(), &mut around)?;
    Ok(())
}

/// Takes what is met and goes around what is closed.
struct Around<'w> {
    root: &'w Path,
    met: &'w mut Collected,
    closed: &'w mut BTreeSet<Closed>,
}

impl Delegate for Around<'_> {
    fn emit(&mut self, entry: EntryRef<'_>, _: Option<entry::Status>) -> Action {
        self.met.untracked(entry.to_owned());
        ControlFlow::Continue(())
    }

    fn can_recurse(&mut self, entry: EntryRef<'_>, deletion: Option<ForDeletionMode>, is_root: bool) -> bool {
        entry.status.can_recurse(entry.disk_kind, entry.pathspec_match, deletion, is_root)
            && self.enters(entry.rela_path.as_bstr())
    }
}

impl Around<'_> {
    fn enters(&mut self, directory: &BStr) -> bool {
        let place =
            gix::path::from_bstr(directory).map_or_else(|_| self.root.into(), |path| self.root.join(path));
        match std::fs::read_dir(place) {
            Ok(_) => true,
            Err(error) if is_closed(&error) => {
                let path = BString::from([directory as &[u8], b"/"].concat());
                self.closed.insert(Closed { path, is_tracked: false });
                false
            }
            // Gone since it was listed, or it is for the walk to say what is wrong.
            Err(error) => !absent(&error),
        }
    }
}
