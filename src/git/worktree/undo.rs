//! Undoing a worktree in the making, from whatever point its maker got to: what it made and nothing else.

use std::fs;
use std::io;
use std::path::Path;

use gix::error::ResultExt;
use gix::refs::FullName;

use super::super::{Error, Repository};
use super::branch;
use super::entries;
use super::journal::{Journal, Record};
use super::register::{IN_THE_MAKING, dot_git_text};

/// Undo what processes that died have begun. Answers the journal of one that had done all but the last step of making
/// just this: `branch` at `commit` in `root`.
///
/// # Errors
/// [`Error::Unreadable`] when journals cannot be read. What cannot be undone is met again next time.
pub(super) fn the_dead(
    repository: &Repository,
    branch: &FullName,
    commit: gix::ObjectId,
    path: &Path,
) -> Result<Option<Journal>, Error> {
    let mut same = None;
    for journal in Journal::of_the_dead(repository.common_dir())? {
        let record = &journal.record;
        if !is_whole(repository, record) {
            branch::remove_leftover_lock(repository, &record.branch, record.commit);
            if undo(repository, &journal).is_ok() {
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
pub(super) fn undo(repository: &Repository, journal: &Journal) -> gix::Result<()> {
    let record = &journal.record;
    let admin = entries::directory(repository.common_dir()).join(&record.entry);
    if points_to(&record.root, &admin) {
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
    if in_the_making(&admin) {
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
    branch::delete(repository, &record.branch, record.commit)
}

/// Whether all was made and only the hook may not have run.
fn is_whole(repository: &Repository, record: &Record) -> bool {
    record.whole && !in_the_making(&entries::directory(repository.common_dir()).join(&record.entry))
}

/// Whether nobody has worked on it or taken it away since.
fn is_untouched(repository: &Repository, record: &Record) -> bool {
    let admin = entries::directory(repository.common_dir()).join(&record.entry);
    let at = super::super::refs::store::target(repository.inner(), &record.branch);
    entries::belongs(&record.root, &admin)
        && entries::has_checked_out(&admin, &record.branch)
        && at.is_ok_and(|at| at == Some(gix::refs::Target::Object(record.commit)))
}

fn in_the_making(admin: &Path) -> bool {
    fs::read(admin.join("locked")).is_ok_and(|text| text == IN_THE_MAKING.as_bytes())
}

/// Whether the `.git` file in `root` points to `admin`, or was to when its writer died.
fn points_to(root: &Path, admin: &Path) -> bool {
    let whole = dot_git_text(admin).unwrap_or_default();
    fs::read(root.join(".git")).is_ok_and(|text| whole.starts_with(&text))
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
