//! Undoing a worktree in the making, from whatever point its maker got to: what it made and nothing else.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::error::ResultExt;
use gix::refs::FullName;

use super::super::turn::Turn;
use super::super::{Error, Repository};
use super::branch;
use super::entries;
use super::journal::{Journal, Record};
use super::leftover;
use super::register::dot_git_text;
use crate::world::World;

/// Undo what processes that died have begun. Answers the journal of one that had done all but the last step of making
/// just this: `branch` at `commit` in `root`.
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
) -> Result<Option<Journal>, Error> {
    let mut same = None;
    for journal in Journal::of_the_dead(repository.common_dir())? {
        let record = &journal.record;
        if !is_whole(repository, &journal) {
            if holds_work(repository, &journal) {
                give_away(repository, &journal);
                journal.forget();
                continue;
            }
            if undo(turn, world, repository, &journal).is_ok() {
                journal.forget();
            }
        } else if !is_untouched(repository, record) {
            journal.forget();
        } else if record.branch == *branch
            && record.commit == commit
            && fs::canonicalize(path).is_ok_and(|path| path == record.root)
        {
            same = Some(journal);
        }
    }
    Ok(same)
}

/// Remove what `journal` says was being made.
pub(super) fn undo(
    turn: &Turn,
    world: &dyn World,
    repository: &Repository,
    journal: &Journal,
) -> gix::Result<()> {
    let record = &journal.record;
    let admin = entries::directory(repository.common_dir()).join(&record.entry);
    if is_being_made(journal, &admin) {
        empty(&record.root).or_error()?;
    }
    if let Some(made_from) = &record.made_from {
        // Directories that others put something into meanwhile stay.
        for made in record.root.ancestors().take_while(|above| above.starts_with(made_from)) {
            let _ = fs::remove_dir(made);
        }
    }
    // Off the list at once, so that nobody finds half of it.
    let built = journal.built();
    if in_the_making(journal, &admin) {
        fs::rename(&admin, &built).or_error()?;
    }
    if built.exists() {
        fs::remove_dir_all(&built).or_error()?;
    }
    // Git, too, removes an empty list.
    let _ = fs::remove_dir(entries::directory(repository.common_dir()));
    let elsewhere = entries::read(repository.common_dir()).unwrap_or_default();
    if elsewhere.iter().any(|entry| entries::has_checked_out(&entry.admin, &record.branch)) {
        return Ok(());
    }
    branch::delete(turn, world, repository, &record.branch, record.commit).or_error()
}

/// Whether all was made and only the hook may not have run.
fn is_whole(repository: &Repository, journal: &Journal) -> bool {
    journal.record.whole && !in_the_making(journal, &entry(repository, journal))
}

fn entry(repository: &Repository, journal: &Journal) -> PathBuf {
    entries::directory(repository.common_dir()).join(&journal.record.entry)
}

/// Whether somebody works in what was never finished.
fn holds_work(repository: &Repository, journal: &Journal) -> bool {
    let admin = entry(repository, journal);
    is_being_made(journal, &admin)
        && !leftover::is_all_ours(repository, &journal.record, &admin).unwrap_or(false)
}

/// Leave a worktree to whoever works in it. It stays on the list, as one that anybody may remove.
fn give_away(repository: &Repository, journal: &Journal) {
    let _ = fs::remove_file(entry(repository, journal).join("locked"));
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

/// Whether it is, and the worktree is where it says: its `.git` file points to the entry, or was to when its writer
/// died.
fn is_being_made(journal: &Journal, admin: &Path) -> bool {
    let whole = dot_git_text(admin).unwrap_or_default();
    in_the_making(journal, admin)
        && fs::read(journal.record.root.join(".git")).is_ok_and(|text| whole.starts_with(&text))
}

/// Remove all that is in `root`, and last what says whose it is.
fn empty(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        if path.ends_with(".git") {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path)?;
        } else {
            fs::remove_file(&path)?;
        }
    }
    fs::remove_file(root.join(".git"))
}
