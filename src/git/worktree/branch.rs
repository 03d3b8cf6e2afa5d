//! The branch of a new worktree.

use std::path::PathBuf;

use gix::ObjectId;
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};

use super::super::error::sentence;
use super::super::identity::Identity;
use super::super::refs::store;
use super::super::shared::Shared;
use super::super::turn::{Refused, Turn};
use super::super::{Error, Repository};
use super::CreateError;
use super::entries::{self, Entry};
use super::journal::{Journal, Record};
use crate::world::World;

/// Longest part of a name that still has room for `.lock` in a directory.
const LONGEST_PART: usize = 250;

/// The full name of `branch`, by the rules of `git branch`; a name is never an option or a shorthand.
pub(super) fn name(branch: &str) -> Result<FullName, CreateError> {
    let refuse = |why: &str| CreateError::BranchName { branch: branch.to_owned(), why: why.to_owned() };
    if branch.starts_with('-') {
        return Err(refuse("it must not begin with a dash"));
    }
    if branch.split('/').any(|part| part.len() > LONGEST_PART) {
        return Err(refuse("a part of it is longer than 250 bytes"));
    }
    let full = format!("refs/heads/{branch}");
    gix::validate::reference::branch_name(full.as_str().into())
        .map_err(|error| refuse(&error.to_string()))?;
    FullName::try_from(full).map_err(|error| refuse(&error.to_string()))
}

/// Refuse a branch that is there, would be a directory of another, or is awaited by another worktree.
pub(super) fn refuse_taken(
    repository: &Repository,
    name: &FullName,
    entries: &[Entry],
) -> Result<(), CreateError> {
    let unreadable =
        |error: gix::Error| Error::unreadable(&repository.common_dir().join("refs"), sentence(&error));
    let branch = || short(name);
    let at = checked_out(repository, name, entries)?;
    if store::target(repository.inner(), name).map_err(unreadable)?.is_some() {
        return Err(CreateError::BranchExists { branch: branch(), at });
    }
    if let Some(at) = at {
        return Err(CreateError::BranchAwaited { branch: branch(), at });
    }
    match store::clash(repository.inner(), name).map_err(unreadable)? {
        Some(with) => Err(CreateError::BranchClash { branch: branch(), with }),
        None => Ok(()),
    }
}

/// The worktree that has the branch checked out.
fn checked_out(
    repository: &Repository,
    name: &FullName,
    entries: &[Entry],
) -> Result<Option<PathBuf>, CreateError> {
    let main = repository.main_root()?;
    if let Some(main) = main.filter(|_| entries::uses(repository.common_dir(), name)) {
        return Ok(Some(main));
    }
    let holder = entries.iter().find(|entry| entries::uses(&entry.admin, name));
    Ok(holder.map(|entry| entry.root.clone().unwrap_or_else(|| entry.admin.clone())))
}

/// Whether the branch is at `commit` and in no worktree.
pub(super) fn stands_unused(
    repository: &Repository,
    name: &FullName,
    commit: ObjectId,
) -> Result<bool, CreateError> {
    let at = store::target(repository.inner(), name)
        .map_err(|error| Error::unreadable(&path(repository, name), sentence(&error)))?;
    let entries = entries::read(repository.common_dir())?;
    Ok(at == Some(Target::Object(commit)) && checked_out(repository, name, &entries)?.is_none())
}

/// Make the branch that `journal` speaks of. It must not be there, not even by now.
pub(super) fn create(
    turn: &Turn,
    world: &dyn World,
    repository: &Repository,
    journal: &mut Journal,
    base: &str,
) -> Result<(), CreateError> {
    let (name, commit) = (journal.record.branch.clone(), journal.record.commit);
    let change = Change::Update {
        log: LogChange { message: format!("branch: Created from {base}").into(), ..LogChange::default() },
        expected: PreviousValue::MustNotExist,
        new: Target::Object(commit),
    };
    let relative = gix::path::from_bstr(name.as_bstr()).unwrap_or_default();
    let fresh = Shared::of(repository.inner()).before(repository.common_dir(), &relative);
    let exists = || CreateError::BranchExists { branch: short(&name), at: None };
    let refuse = |error| {
        let there = store::target(repository.inner(), &name).is_ok_and(|found| found.is_some());
        if there { exists() } else { refused(repository, &name, error) }
    };
    let edit = RefEdit { change, name: name.clone(), deref: false };
    let prepared = turn.prepare(world, repository.inner(), edit).map_err(refuse)?;
    // Before it is there, so that there is no moment at which nobody knows whose it is.
    journal.note_branch(prepared.ref_file())?;
    let made = prepared.commit().map_err(refuse)?;
    // To gix an equal branch that somebody made meanwhile is as good as a new one.
    let ours = made
        .iter()
        .all(|edit| matches!(&edit.change, Change::Update { expected: PreviousValue::MustNotExist, .. }));
    if !ours {
        return Err(exists());
    }
    fresh.adjust().map_err(|error| Error::unwritable(&path(repository, &name), error.to_string()).into())
}

/// Delete the branch of `record` if it is still the one that was made and nobody uses it. One that was packed, or made
/// anew at the same commit, may be anybody's.
pub(super) fn delete(
    turn: &Turn,
    world: &dyn World,
    repository: &Repository,
    record: &Record,
) -> Result<(), CreateError> {
    let name = &record.branch;
    if record.branch_file.is_none() || !stands_unused(repository, name, record.commit)? {
        return Ok(());
    }
    let expected = PreviousValue::MustExistAndMatch(Target::Object(record.commit));
    let change = Change::Delete { expected, log: RefLog::AndReference };
    let edit = RefEdit { change, name: name.clone(), deref: false };
    let refuse = |error| refused(repository, name, error);
    let prepared = turn.prepare(world, repository.inner(), edit).map_err(refuse)?;
    // Under its lock, so that it stays the one that is looked at.
    if Identity::of_final(&path(repository, name)) != record.branch_file {
        return Ok(());
    }
    prepared.commit().map(drop).map_err(refuse)
}

fn refused(repository: &Repository, name: &FullName, refused: Refused) -> CreateError {
    match refused {
        Refused::Locked(lock) => CreateError::Busy { lock },
        Refused::Git(error) => Error::unwritable(&path(repository, name), sentence(&error)).into(),
    }
}

fn path(repository: &Repository, name: &FullName) -> PathBuf {
    repository.common_dir().join(gix::path::from_bstr(name.as_bstr()).unwrap_or_default())
}

/// The name without `refs/heads/`.
pub(super) fn short(name: &FullName) -> String {
    name.shorten().to_string()
}
