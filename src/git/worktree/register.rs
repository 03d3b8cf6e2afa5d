//! The entry on the list of worktrees, and the `.git` file that points to it: all of a worktree but its files.
//!
//! What gix has for this stops at any broken entry of another worktree and cannot say beforehand what it will make. And
//! any git that lists worktrees dies of an entry it finds half written, so ours is built elsewhere and appears at once.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gix::config::Source;
use gix::error::ResultExt;
use gix::refs::transaction::{LogChange, PreviousValue, RefEdit, RefLog};

use super::super::Error;
use super::super::identity::Identity;
use super::super::shared::Shared;
use super::super::spelling;
use super::journal::Journal;
use super::{entries, rename};

/// How many bytes a file system takes for one name.
const LONGEST: usize = 255;

/// A name for the entry of a worktree at `root` that no other entry has, as git makes it, but short enough to be one.
///
/// # Errors
/// [`Error::Unwritable`] where nobody can say whether an entry has it, and so none can be made.
pub(super) fn free_name(common_dir: &Path, root: &Path) -> Result<PathBuf, Error> {
    let base = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let clean = sanitized(&base);
    let all = entries::directory(common_dir);
    let mut name = sanitized(cut(&clean, LONGEST));
    let mut number = 0_u64;
    loop {
        let path = all.join(&name);
        match fs::symlink_metadata(&path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(name.into()),
            // It is the same with every other name: there would be no end to trying.
            Err(error) => return Err(Error::unwritable(&path, error.to_string())),
        }
        number += 1;
        let end = number.to_string();
        name = format!("{}{end}", cut(&clean, LONGEST - end.len()));
    }
}

fn sanitized(name: &str) -> String {
    gix::validate::reference::name_partial_or_sanitize(name.into()).to_string()
}

/// As much of `name` as fits `length` bytes.
fn cut(name: &str, length: usize) -> &str {
    let whole = |end: &usize| name.is_char_boundary(*end);
    &name[..(0..=length.min(name.len())).rev().find(whole).unwrap_or_default()]
}

/// Make what `journal` says, seen from `source`, and open it.
pub(super) fn register(
    source: &gix::Repository,
    common_dir: &Path,
    journal: &mut Journal,
) -> gix::Result<gix::Repository> {
    let built = journal.built();
    write_entry(source, &built, journal).or_error()?;
    copy_configuration(source, &built)?;
    let all = entries::directory(common_dir);
    loop {
        // Git takes an empty list away, so it may go again before the entry is in it.
        if !all.exists() {
            fs::create_dir_all(&all).and_then(|()| Shared::of(source).adjust(&all)).or_error()?;
        }
        match rename::without_replacing(&built, &all.join(&journal.record.entry)) {
            Ok(()) => break,
            // Stock git took the name: it knows nothing of our lock.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let name = free_name(common_dir, &journal.record.root).or_error()?;
                journal.rename(name).or_error()?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && built.exists() => {}
            Err(error) => return Err(error).or_error(),
        }
    }
    make_directories(journal)?;
    let record = &journal.record;
    let admin = all.join(&record.entry);
    let text = dot_git_text(&admin).or_error()?;
    File::create_new(record.root.join(".git")).and_then(|mut file| file.write_all(&text)).or_error()?;
    refuse_company(&record.root).or_error()?;
    let name = gix::path::into_bstr(record.entry.as_path())?.into_owned();
    let proxy = source.worktree_proxy_by_id(name.as_ref() as &gix::bstr::BStr)?;
    let proxy = proxy.ok_or_else(|| gix::error::not_found("the new entry is not on the list"))?;
    let mut linked = proxy.into_repo()?;
    spelling::spell_as_gix(&mut linked)?;
    linked.edit_reference(RefEdit::update_with_log(
        gix::refs::FullName::try_from("HEAD").or_error()?,
        record.commit,
        PreviousValue::Any,
        LogChange { mode: RefLog::Only, ..LogChange::default() },
    ))?;
    Ok(linked)
}

/// Make the directories of the worktree, and write down which of them are ours.
fn make_directories(journal: &mut Journal) -> gix::Result<()> {
    let mut made = Vec::new();
    let mut failed = None;
    for directory in journal.record.directories() {
        match fs::create_dir(directory) {
            Ok(()) => made.push(Identity::of_directory(directory)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => made.push(None),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    if !made.is_empty() {
        journal.note_directories(made).or_error()?;
    }
    failed.map_or(Ok(()), Err).or_error()
}

/// Give the entry at `admin` the permissions that git gives the parts of one.
pub(super) fn share(source: &gix::Repository, admin: &Path) -> io::Result<()> {
    let shared = Shared::of(source);
    ["HEAD", "index", "refs", "logs", "logs/HEAD"]
        .iter()
        .try_for_each(|part| shared.adjust(&admin.join(part)))
}

/// Refuse a directory that somebody else is filling, before undoing would empty it.
fn refuse_company(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_name() != ".git" {
            fs::remove_file(root.join(".git"))?;
            let why = format!("somebody put {} there meanwhile", entry.path().display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
    }
    Ok(())
}

fn write_entry(source: &gix::Repository, admin: &Path, journal: &Journal) -> io::Result<()> {
    let record = &journal.record;
    // The number of the journal is ours, so whatever has it is nobody's.
    if admin.exists() {
        fs::remove_dir_all(admin)?;
    }
    fs::create_dir(admin)?;
    fs::write(admin.join("locked"), journal.mark())?;
    fs::write(admin.join("gitdir"), line(b"", &record.root.join(".git"))?)?;
    fs::write(admin.join("commondir"), "../..\n")?;
    fs::write(admin.join("HEAD"), format!("ref: {}\n", record.branch.as_bstr()))?;
    // What is private to a worktree, refs/bisect and the like, goes here; git makes it with the entry.
    fs::create_dir(admin.join("refs"))?;
    let patterns = source.git_dir().join("info/sparse-checkout");
    let sparse = source.config_snapshot().boolean("core.sparseCheckout") == Some(true);
    if sparse && patterns.is_file() {
        fs::create_dir(admin.join("info"))?;
        fs::copy(patterns, admin.join("info/sparse-checkout"))?;
    }
    Ok(())
}

/// Give the new worktree the private configuration of the one it is made from, but for what says where and what that
/// one is.
fn copy_configuration(source: &gix::Repository, admin: &Path) -> gix::Result<()> {
    let own = source.git_dir().join("config.worktree");
    let apart = source.config_snapshot().boolean("extensions.worktreeConfig") == Some(true);
    if !apart || !own.is_file() {
        return Ok(());
    }
    let mut config = gix::config::File::from_path_no_includes(own, Source::Worktree)?;
    if config.boolean("core.bare")? == Some(true)
        && let Ok(mut values) = config.raw_values_mut("core.bare")
    {
        values.delete_all();
    }
    if let Ok(mut values) = config.raw_values_mut("core.worktree") {
        values.delete_all();
    }
    fs::write(admin.join("config.worktree"), config.to_bstring()).or_error()
}

/// What the `.git` file of the worktree whose entry is at `admin` says.
pub(super) fn dot_git_text(admin: &Path) -> io::Result<Vec<u8>> {
    line(b"gitdir: ", admin)
}

fn line(before: &[u8], path: &Path) -> io::Result<Vec<u8>> {
    let path = gix::path::into_bstr(path).map_err(io::Error::other)?;
    Ok([before, path.as_ref(), b"\n"].concat())
}
