//! The list of linked worktrees as Git keeps it, read without giving up on a broken entry.

use std::path::{Path, PathBuf};

use gix::refs::FullName;

use super::super::Error;
use super::super::layout::{absent, trim_line_ends};

/// One linked worktree on the list.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Its private directory, below `worktrees` of the common directory.
    pub(super) admin: PathBuf,
    /// Where it says it is, resolved as far as that is there; `None` for an entry that does not say.
    pub(super) root: Option<PathBuf>,
}

/// Where the entries lie.
pub(super) fn directory(common_dir: &Path) -> PathBuf {
    common_dir.join("worktrees")
}

/// Every entry, in order of name.
///
/// # Errors
/// [`Error::Unreadable`] when the list itself cannot be read.
pub(super) fn read(common_dir: &Path) -> Result<Vec<Entry>, Error> {
    let directory = directory(common_dir);
    let unreadable = |error: std::io::Error| Error::unreadable(&directory, error.to_string());
    let listed = match std::fs::read_dir(&directory) {
        Ok(listed) => listed,
        Err(error) if absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut entries = Vec::new();
    for found in listed {
        let admin = found.map_err(unreadable)?.path();
        if admin.join("gitdir").is_file() {
            entries.push(Entry { root: root(&admin), admin });
        }
    }
    entries.sort_by(|a, b| a.admin.cmp(&b.admin));
    Ok(entries)
}

/// Where the entry at `admin` says that its worktree is.
pub(super) fn root(admin: &Path) -> Option<PathBuf> {
    let text = std::fs::read(admin.join("gitdir")).ok()?;
    let dot_git = gix::path::from_byte_slice(trim_line_ends(&text)).ok()?;
    if dot_git.as_os_str().is_empty() || text.contains(&0) {
        return None;
    }
    let dot_git = admin.join(dot_git);
    let root = if dot_git.ends_with(".git") { dot_git.parent()? } else { &dot_git };
    Some(gix::path::realpath(root).unwrap_or_else(|_| root.to_owned()))
}

/// Whether the worktree at `root` belongs to the entry at `admin`.
pub(super) fn belongs(root: &Path, admin: &Path) -> bool {
    let dot_git = root.join(".git");
    let Some(metadata) = std::fs::metadata(&dot_git).ok().filter(std::fs::Metadata::is_file) else {
        return false;
    };
    let Ok(target) = super::super::layout::git_file_target(&dot_git, &metadata) else { return false };
    match (std::fs::canonicalize(target), std::fs::canonicalize(admin)) {
        (Ok(target), Ok(admin)) => target == admin,
        _ => false,
    }
}

/// Whether the worktree of `git_dir` has the branch `name` checked out, born or not, or will have it again when a rebase
/// or a bisection there ends.
pub(super) fn uses(git_dir: &Path, name: &FullName) -> bool {
    let says = |file: &str, name: &[u8]| {
        let text = std::fs::read(git_dir.join(file)).unwrap_or_default();
        text.split(|byte| *byte == b'\n').any(|line| line == name)
    };
    has_checked_out(git_dir, name)
        || ["rebase-merge/head-name", "rebase-merge/update-refs", "rebase-apply/head-name"]
            .iter()
            .any(|file| says(file, name.as_bstr()))
        || says("BISECT_START", name.shorten())
}

/// Whether the `HEAD` in `git_dir` names the branch `name`, born or not.
pub(super) fn has_checked_out(git_dir: &Path, name: &FullName) -> bool {
    let head = std::fs::read(git_dir.join("HEAD")).unwrap_or_default();
    head.strip_prefix(b"ref:").is_some_and(|target| target.trim_ascii() == name.as_bstr().as_ref() as &[u8])
}
