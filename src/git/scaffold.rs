//! Throw-away repositories with real content, for the demonstration. They depend on no user's configuration.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use gix::error::ResultExt;
use gix::objs::tree::EntryKind;
use gix::open::Options;

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
    write_repository(at, files, message, seconds_since_epoch)
        .map_err(|error| Error::unwritable(at, sentence(&error)))
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

fn identity(time: &str) -> gix::actor::SignatureRef<'_> {
    gix::actor::SignatureRef { name: NAME.into(), email: EMAIL.into(), time }
}
