//! Undoing a worktree in the making, from whatever point its maker got to: what it made and nothing else.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::refs::FullName;

use super::super::identity::Identity;
use super::super::turn::Turn;
use super::super::{Error, Repository};
use super::journal::{Journal, Record};
use super::leftover::{self, Maker};
use super::register::dot_git_text;
use super::{CreateError, branch, entries};
use crate::world::World;

/// In the entry of a worktree of which nothing is left but its `.git` file, if that.
pub(super) const EMPTIED: &str = "foremerge-emptied";

/// What processes that died had begun.
#[derive(Default)]
pub(super) struct Dead {
    /// The journal of one that had done all but the last step of making what is asked for.
    pub(super) whole: Option<Journal>,
    /// Whether one that is undone by now was to make the branch that is asked for, where it is asked for.
    pub(super) wanted_branch: bool,
}

/// Undo what processes that died have begun, unless it is all made. Asked for is `branch` at `commit` in a worktree at
/// `path`.
///
/// # Errors
/// [`Error::Unreadable`] when journals cannot be read. What cannot be undone is met again next time.
pub(super) fn the_dead(
    turn: &Turn,
    world: &dyn World,
    repository: &Repository,
    branch: &FullName,
    commit: gix::ObjectId,
    path: &Path,
) -> Result<Dead, Error> {
    let mut found = Dead::default();
    for journal in Journal::of_the_dead(repository.common_dir())? {
        let record = &journal.record;
        let wanted = record.branch == *branch && record.commit == commit;
        if !is_whole(repository, &journal) {
            if undo(turn, world, repository, &journal, Maker::Died).is_ok() {
                found.wanted_branch |= wanted;
                journal.forget();
            }
        } else if !is_untouched(repository, record) {
            journal.forget();
        } else if wanted && fs::canonicalize(path).is_ok_and(|path| path == record.root) {
            found.whole = Some(journal);
        }
    }
    Ok(found)
}

/// Remove what `journal` says was being made: what is surely ours and holds nobody's work. A worktree that holds some
/// is given away as it is.
pub(super) fn undo(
    turn: &Turn,
    world: &dyn World,
    repository: &Repository,
    journal: &Journal,
    maker: Maker,
) -> Result<(), CreateError> {
    let record = &journal.record;
    let admin = entry(repository, journal);
    let failed = |error: io::Error| Error::unwritable(&record.root, error.to_string());
    // What cannot be compared is somebody's, wherever they moved it.
    if in_the_making(journal, &admin)
        && (was_moved(journal, &admin) || !leftover::is_unused(repository, record, &admin).unwrap_or(false))
    {
        give_away(&admin);
        return Ok(());
    }
    if is_being_made(journal, &admin) {
        let emptied = leftover::remove(repository, record, &admin, maker).unwrap_or(false);
        if !emptied {
            give_away(&admin);
            return Ok(());
        }
        // Whoever undoes the rest, if this process dies, must not take it for one that was moved away.
        fs::write(admin.join(EMPTIED), "").map_err(failed)?;
        fs::remove_file(record.root.join(".git")).map_err(failed)?;
    }
    for (directory, made) in record.directories().into_iter().zip(&record.made).rev() {
        // One that others put something into meanwhile stays.
        if made.is_some() && Identity::of_directory(directory) == *made {
            let _ = fs::remove_dir(directory);
        }
    }
    // Off the list at once, so that nobody finds half of it.
    let built = journal.built();
    if in_the_making(journal, &admin) {
        fs::rename(&admin, &built).map_err(failed)?;
    }
    if built.exists() {
        fs::remove_dir_all(&built).map_err(failed)?;
    }
    // Git, too, removes an empty list.
    let _ = fs::remove_dir(entries::directory(repository.common_dir()));
    branch::delete(turn, world, repository, record)
}

/// Whether all was made and only the hook may not have run.
fn is_whole(repository: &Repository, journal: &Journal) -> bool {
    journal.record.whole && !in_the_making(journal, &entry(repository, journal))
}

fn entry(repository: &Repository, journal: &Journal) -> PathBuf {
    entries::directory(repository.common_dir()).join(&journal.record.entry)
}

/// Leave a worktree to whoever works in it. It stays on the list, as one that anybody may remove.
fn give_away(admin: &Path) {
    let _ = fs::remove_file(admin.join("locked"));
}

/// Whether nobody has worked on it or taken it away since.
fn is_untouched(repository: &Repository, record: &Record) -> bool {
    let admin = entries::directory(repository.common_dir()).join(&record.entry);
    let at = super::super::refs::store::target(repository.inner(), &record.branch);
    entries::belongs(&record.root, &admin)
        && entries::has_checked_out(&admin, &record.branch)
        && at.is_ok_and(|at| at == Some(gix::refs::Target::Object(record.commit)))
}

/// Whether the entry at `admin` is the one that `journal` speaks of, and unfinished. One of the same name may be
/// anybody's.
fn in_the_making(journal: &Journal, admin: &Path) -> bool {
    fs::read(admin.join("locked")).is_ok_and(|text| text == journal.mark().as_bytes())
}

/// Whether somebody moved the worktree, or what is in it, since its directories were made: with git, which writes to the
/// entry where it is now, or by hand, and then nobody knows where the work in it is. One that was removed by hand
/// looks the same.
fn was_moved(journal: &Journal, admin: &Path) -> bool {
    let record = &journal.record;
    if entries::root(admin).as_deref() != Some(&record.root) {
        return true;
    }
    if is_being_made(journal, admin) || admin.join(EMPTIED).exists() {
        return false;
    }
    // Its `.git` file is not there. Was it ever?
    let begun = ["index", "logs/HEAD"].iter().any(|part| admin.join(part).exists());
    begun || made_root(record).is_some_and(|made| Identity::of_directory(&record.root) != Some(made))
}

/// Whether it is, and the worktree is where it says: its `.git` file points to the entry, or was to when its writer
/// died. An empty one may be anybody's, but in a directory that was made for it.
fn is_being_made(journal: &Journal, admin: &Path) -> bool {
    let whole = dot_git_text(admin).unwrap_or_default();
    let dot_git = journal.record.root.join(".git");
    let is_ours =
        |text: &[u8]| whole.starts_with(text) && (!text.is_empty() || root_is_ours(&journal.record));
    in_the_making(journal, admin)
        && fs::symlink_metadata(&dot_git).is_ok_and(|found| found.is_file())
        && fs::read(dot_git).is_ok_and(|text| is_ours(&text))
}

/// Whether the top of the worktree is the very directory that was made.
fn root_is_ours(record: &Record) -> bool {
    made_root(record).is_some_and(|made| Identity::of_directory(&record.root) == Some(made))
}

/// Which directory was made for the top of the worktree, if one was and got that far.
fn made_root(record: &Record) -> Option<Identity> {
    let all_made = record.made.len() == record.directories().len();
    record.made.last().copied().flatten().filter(|_| all_made)
}
