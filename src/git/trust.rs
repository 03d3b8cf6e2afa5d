//! Whether a repository may be used at all, by stock git's rules: whose it is, and what the user's and the system's
//! configuration say. What the repository says of itself does not count.

use std::io;
use std::path::Path;

use gix::bstr::BString;
use gix::config::file::Metadata;
use gix::config::source::Kind;
use gix::sec::Trust;

/// Whether the running user owns all of `paths`. Like git, and unlike gix, the caller leaves out the common directory
/// of a linked worktree and whatever core.worktree names.
pub(super) fn owned_by_us(paths: &[&Path]) -> io::Result<bool> {
    for path in paths {
        if !is_ours(path)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(unix)]
fn is_ours(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid();
    // gix lets `SUDO_UID` speak for everyone, git only for root.
    if user.is_root() {
        return Ok(Trust::from_path_ownership(path)? == Trust::Full);
    }
    Ok(std::fs::symlink_metadata(path)?.uid() == user.as_raw())
}

#[cfg(not(unix))]
fn is_ours(path: &Path) -> io::Result<bool> {
    Ok(Trust::from_path_ownership(path)? == Trust::Full)
}

/// Whether `safe.directory` names `dir`. Asked here and not of gix, which below `.git` looks for the worktree where git
/// looks for the Git directory, and so would not be satisfied by the remedy.
pub(super) fn declared_safe(repository: &gix::Repository, dir: &Path) -> bool {
    let home = gix::path::env::home_dir();
    let snapshot = repository.config_snapshot();
    let mut safe = false;
    for value in snapshot.plumbing().strings_filter("safe.directory", is_protected).unwrap_or_default() {
        safe = match value.as_slice() {
            b"" => false,
            b"*" => true,
            _ => safe || names(value, dir, home.as_deref()),
        };
    }
    safe
}

fn names(value: BString, dir: &Path, home: Option<&Path>) -> bool {
    let context = gix::config::path::interpolate::Context { home_dir: home, ..Default::default() };
    let Ok(path) = gix::config::Path::from(value).interpolate(context) else {
        return false;
    };
    if !path.is_absolute() {
        return false;
    }
    match path.parent().filter(|_| path.ends_with("*")).map(std::fs::canonicalize) {
        Some(above) => above.is_ok_and(|above| dir != above && dir.starts_with(above)),
        None => std::fs::canonicalize(path).is_ok_and(|path| path == dir),
    }
}

/// Whether `safe.bareRepository` forbids using `dir`, a bare repository found on the way up. What lies inside a `.git`
/// directory is not meant by it.
pub(super) fn bare_is_forbidden(repository: &gix::Repository, dir: &Path) -> bool {
    let snapshot = repository.config_snapshot();
    let setting = snapshot.plumbing().string_filter("safe.bareRepository", is_protected);
    setting.is_some_and(|value| value.eq_ignore_ascii_case(b"explicit"))
        && !dir.components().any(|part| part.as_os_str() == ".git")
}

fn is_protected(section: &Metadata) -> bool {
    matches!(section.source.kind(), Kind::System | Kind::Global)
}
