//! Throw-away repositories with real content, for the demonstration. They depend on no user's configuration.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use gix::error::ResultExt;
use gix::objs::tree::EntryKind;
use gix::open::Options;
use gix::refs::Target;
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit};

use super::Error;
use super::error::sentence;

const NAME: &str = "Foremerge";
const EMAIL: &str = "foremerge@example.invalid";

/// Make a repository with a worktree at `at`, on branch `main`, with one commit that holds `files` (path and content).
/// Stock git finds it clean. Equal arguments give equal ids.
///
/// # Errors
/// [`Error::Unwritable`] when `at` is not empty, a path is not one Git allows, or the disk refuses.
pub fn create(
    at: &Path,
    files: &[(&str, &str)],
    message: &str,
    seconds_since_epoch: i64,
) -> Result<(), Error> {
    write_repository(at, files, message, seconds_since_epoch).map_err(|error| unwritable(at, &error))
}

/// Add a worktree at `path` to the repository at `repository`, on the new branch `branch` that starts at its `HEAD`.
///
/// # Errors
/// [`Error::Unwritable`] when the branch exists or is misnamed, `path` is not free, or the disk refuses; the branch is
/// then gone again.
pub fn add_worktree(repository: &Path, branch: &str, path: &Path) -> Result<(), Error> {
    write_worktree(repository, branch, path).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &gix::Error) -> Error {
    Error::Unwritable { path: path.to_owned(), detail: sentence(error) }
}

fn write_repository(at: &Path, files: &[(&str, &str)], message: &str, seconds: i64) -> gix::Result<()> {
    std::fs::create_dir_all(at).or_error()?;
    let create = gix::create::Options { destination_must_be_empty: Some(true), ..Default::default() };
    let repository = gix::ThreadSafeRepository::init_opts(
        at,
        gix::create::Kind::WithWorktree,
        create,
        Options::isolated(),
    )?
    .to_thread_local();
    let mut editor = repository.empty_tree().edit()?;
    for (path, content) in files {
        editor.upsert(*path, EntryKind::Blob, repository.write_blob(content)?)?;
    }
    let tree = editor.write()?.detach();
    let time = format!("{seconds} +0000");
    let who = identity(&time);
    repository.commit_as(who, who, "HEAD", message, tree, None::<gix::ObjectId>)?;
    check_out(&repository, &tree)
}

fn check_out(repository: &gix::Repository, tree: &gix::oid) -> gix::Result<()> {
    let Some(root) = repository.workdir() else {
        return Ok(());
    };
    let mut index = repository.index_from_tree(tree)?;
    let mut options =
        repository.checkout_options(gix::worktree::stack::state::attributes::Source::IdMapping)?;
    options.destination_is_initially_empty = true;
    gix::worktree::state::checkout(
        &mut index,
        root,
        repository.objects.clone().into_arc().or_error()?,
        &gix::progress::Discard,
        &gix::progress::Discard,
        &AtomicBool::new(false),
        options,
    )?;
    index.write(gix::index::write::Options::default())
}

fn write_worktree(at: &Path, branch: &str, path: &Path) -> gix::Result<()> {
    let full = format!("refs/heads/{branch}");
    gix::validate::reference::branch_name(full.as_str().into()).or_error()?;
    let name = gix::refs::FullName::try_from(full).or_error()?;

    let repository = Options::isolated().open(at)?.to_thread_local();
    let commit = repository.head_commit()?;
    // The commit's own time keeps the new reflogs free of the clock.
    let time = commit.time()?.to_string();
    let repository = Options::isolated()
        .config_overrides([
            format!("committer.name={NAME}"),
            format!("committer.email={EMAIL}"),
            format!("gitoxide.commit.committerDate={time}"),
        ])
        .open(at)?
        .to_thread_local();
    if repository.try_find_reference(&name)?.is_some() {
        return Err(gix::error::conflict(format!("the branch {branch} exists already")).into());
    }
    let target = Target::Object(commit.id);
    edit(
        &repository,
        &name,
        Change::Update {
            log: LogChange { message: "branch: Created from HEAD".into(), ..Default::default() },
            expected: PreviousValue::MustNotExist,
            new: target.clone(),
        },
    )?;
    let head = gix::worktree::add::Head::Attached(name.clone());
    repository
        .add_worktree(path, head, gix::progress::Discard, &AtomicBool::new(false))
        .map(drop)
        .inspect_err(|_| {
            // Best effort: the error that matters is the one being returned.
            let _ = edit(
                &repository,
                &name,
                Change::Delete {
                    expected: PreviousValue::MustExistAndMatch(target),
                    log: gix::refs::transaction::RefLog::AndReference,
                },
            );
        })
}

fn edit(repository: &gix::Repository, name: &gix::refs::FullName, change: Change) -> gix::Result<()> {
    let edit = RefEdit { change, name: name.clone(), deref: false };
    repository.edit_reference(edit).map(drop)
}

fn identity(time: &str) -> gix::actor::SignatureRef<'_> {
    gix::actor::SignatureRef { name: NAME.into(), email: EMAIL.into(), time }
}
