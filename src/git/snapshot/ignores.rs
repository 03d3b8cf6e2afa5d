//! Rules about what to ignore that are given to gix: one against a fault of its own, and those of the `.gitignore` files
//! of a worktree where one may not be read: to git it is not there, gix gives up.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::BStr;
use gix::error::ResultExt;
use gix::ignore::Search;
use gix::ignore::search::Ignore;
use gix::index::State;
use gix::index::entry::{Flags, Mode};
use gix::objs::{Find, FindExt};

/// gix asks the rules about the top of the worktree itself, which has no name, and there `*`, `*/` or `/` would ignore
/// it with all that it holds. This matches nothing but the empty name, and is asked first.
const NOT_THE_TOP: &[u8] = b"!/";

/// What has to be asked before every other rule.
pub(super) fn overrides() -> gix::Result<Search> {
    let mut rules = Search::default();
    add(&mut rules, NOT_THE_TOP, PathBuf::new(), None)?;
    Ok(rules)
}

fn add(rules: &mut Search, text: &[u8], from: PathBuf, root: Option<&Path>) -> gix::Result<()> {
    rules.add_patterns_buffer(text, from, root, Ignore::default()).or_error()
}

/// The rules of every `.gitignore` below `root` that can be read, those of ignored directories as well: which are, nobody
/// knows yet. Where `index` says that one is not checked out, its rules come from there.
pub(super) fn read(root: &Path, index: &State, objects: &impl Find) -> gix::Result<Search> {
    let mut rules = Search::default();
    let mut pending = vec![PathBuf::new()];
    let mut buffer = Vec::new();
    while let Some(directory) = pending.pop() {
        // What is added later decides, so a directory comes after the one that holds it.
        let name = directory.join(".gitignore");
        let place = root.join(&name);
        let text = match std::fs::symlink_metadata(&place) {
            // Git does not follow a link to such a file.
            Ok(found) if found.is_file() => std::fs::read(&place).ok(),
            Ok(_) => None,
            // A partial clone may not have it: better too much is untracked than that nothing can be said.
            Err(_) => left_out(index, &name)
                .and_then(|id| Some(objects.find_blob(&id, &mut buffer).ok()?.data.to_vec())),
        };
        if let Some(text) = text {
            add(&mut rules, &text, place, Some(root))?;
        }
        for entry in std::fs::read_dir(root.join(&directory)).into_iter().flatten().flatten() {
            let below = directory.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir())
                && entry.file_name() != ".git"
                && !is_closed_off(index, &entry.path(), &below)
            {
                pending.push(below);
            }
        }
    }
    add(&mut rules, NOT_THE_TOP, PathBuf::new(), None)?;
    Ok(rules)
}

/// Whether the directory `name`, at `place`, is another repository, into which nobody looks for untracked files. A `.git`
/// makes none by itself, and what is tracked here keeps it open.
fn is_closed_off(index: &State, place: &Path, name: &Path) -> bool {
    let dot_git = place.join(".git");
    std::fs::symlink_metadata(&dot_git).is_ok()
        && gix::discover::is_git(&dot_git).is_ok()
        && in_index(&name.join(""))
            .is_some_and(|below| index.prefixed_entries_range(below.as_ref()).is_none())
}

fn in_index(name: &Path) -> Option<Cow<'_, BStr>> {
    Some(gix::path::to_unix_separators_on_windows(gix::path::into_bstr(name).ok()?))
}

/// The content of the file `name` if a sparse checkout left it out, or may have.
fn left_out(index: &State, name: &Path) -> Option<ObjectId> {
    let entry = index.entry_by_path(in_index(name)?.as_ref())?;
    (entry.mode == Mode::FILE && entry.flags.contains(Flags::SKIP_WORKTREE)).then_some(entry.id)
}
