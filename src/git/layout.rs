//! What makes a directory a Git directory, and what a `.git` file says: the same questions stock git asks, with one
//! more answer. Git treats a Git directory with a ruined `HEAD` as no repository at all and goes on to the enclosing
//! one; here it is `Damaged`, because acting on the enclosing repository would be acting on the wrong one.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Stock git's limit for a `.git` file.
const LARGEST_GIT_FILE: u64 = 1 << 20;

/// What a directory turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// A Git directory.
    Repository,
    /// A Git directory whose `HEAD` or `commondir` cannot be used, and why.
    Damaged(String),
    /// Anything else.
    Nothing,
}

/// Look at `dir` as a possible Git directory: the repository's own, a bare one, or a linked worktree's private one.
pub(super) fn inspect(dir: &Path) -> Layout {
    let head = match head_is_valid(&dir.join("HEAD")) {
        Ok(valid) => valid.then_some(()).ok_or_else(|| "its HEAD is damaged".to_owned()),
        Err(error) if absent(&error) => return Layout::Nothing,
        Err(error) => Err(format!("its HEAD cannot be read: {error}")),
    };
    let common = match common_dir(dir) {
        Ok(common) => common,
        Err(error) if absent(&error) => return Layout::Nothing,
        Err(error) => {
            return Layout::Damaged(format!("its commondir file cannot be read: {error}"));
        }
    };
    for part in ["objects", "refs"] {
        match std::fs::metadata(common.join(part)) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Layout::Nothing,
            Err(error) if absent(&error) => return Layout::Nothing,
            // Without search permission nothing below can be seen: HEAD has said so already.
            Err(error) => {
                return Layout::Damaged(
                    head.err().unwrap_or_else(|| format!("{part} cannot be read: {error}")),
                );
            }
        }
    }
    head.map_or_else(Layout::Damaged, |()| Layout::Repository)
}

/// Where the `.git` file at `path` points, made absolute but not resolved.
///
/// # Errors
/// A sentence that says what is wrong with the file.
pub(super) fn git_file_target(path: &Path, metadata: &Metadata) -> Result<PathBuf, String> {
    if metadata.len() > LARGEST_GIT_FILE {
        return Err("its .git file is too large to be one".into());
    }
    let text = std::fs::read(path).map_err(|error| format!("its .git file cannot be read: {error}"))?;
    let Some(target) = text.strip_prefix(b"gitdir: ") else {
        return Err("its .git file does not begin with \"gitdir: \"".into());
    };
    let target = trim_line_ends(target);
    if target.is_empty() {
        return Err("its .git file names no directory".into());
    }
    let target =
        gix::path::from_byte_slice(target).map_err(|_| "its .git file does not hold a path".to_owned())?;
    Ok(path.parent().unwrap_or(Path::new("/")).join(target))
}

/// The directory that `dir` shares with its other worktrees: what its `commondir` file names, or `dir` itself.
pub(super) fn common_dir(dir: &Path) -> io::Result<PathBuf> {
    match std::fs::read(dir.join("commondir")) {
        Ok(text) => {
            let target = gix::path::from_byte_slice(trim_line_ends(&text))
                .map_err(|error| io::Error::new(ErrorKind::InvalidData, error.to_string()))?;
            Ok(dir.join(target))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(dir.to_owned()),
        Err(error) => Err(error),
    }
}

/// Whether the file at `path` reads as a `HEAD`: a symbolic reference below `refs/`, or an object id.
fn head_is_valid(path: &Path) -> io::Result<bool> {
    let found = std::fs::symlink_metadata(path)?;
    if found.is_symlink() {
        return Ok(std::fs::read_link(path)?.starts_with("refs"));
    }
    if !found.is_file() {
        return Ok(false);
    }
    let mut text = Vec::with_capacity(256);
    File::open(path)?.take(256).read_to_end(&mut text)?;
    Ok(match text.strip_prefix(b"ref:") {
        Some(name) => name.trim_ascii_start().starts_with(b"refs/"),
        None => text.get(..40).is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit)),
    })
}

/// Whether there simply is no such file, as opposed to one that cannot be looked at.
pub(super) fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// `text` without the line ends that Git's own files end with.
pub(super) fn trim_line_ends(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b'\n' | b'\r'] = text {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git_dir(head: Option<&str>) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("objects")).unwrap();
        std::fs::create_dir(dir.path().join("refs")).unwrap();
        if let Some(head) = head {
            std::fs::write(dir.path().join("HEAD"), head).unwrap();
        }
        dir
    }

    fn git_file(text: &str) -> Result<PathBuf, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".git");
        std::fs::write(&path, text).unwrap();
        git_file_target(&path, &std::fs::metadata(&path).unwrap())
            .map(|target| target.strip_prefix(dir.path()).map_or(target.clone(), Path::to_owned))
    }

    #[test]
    fn a_symbolic_or_a_detached_head_makes_a_git_directory() {
        for head in ["ref: refs/heads/main\n", "ref:refs/heads/main", &"0a".repeat(20), &"0a".repeat(32)] {
            assert_eq!(inspect(git_dir(Some(head)).path()), Layout::Repository, "{head:?}");
        }
    }

    #[test]
    fn a_ruined_head_is_damage_and_a_missing_one_is_nothing() {
        for head in ["", "garbage", "ref: heads/main", "0123"] {
            assert!(matches!(inspect(git_dir(Some(head)).path()), Layout::Damaged(_)), "{head:?}");
        }
        assert_eq!(inspect(git_dir(None).path()), Layout::Nothing);
        assert_eq!(inspect(tempfile::tempdir().unwrap().path()), Layout::Nothing);
    }

    #[test]
    fn a_git_file_may_name_a_relative_path_and_keeps_its_spaces() {
        assert_eq!(git_file("gitdir: ../a b \r\n").unwrap(), Path::new("../a b "));
        assert_eq!(git_file("gitdir: /x/y").unwrap(), Path::new("/x/y"));
    }

    #[test]
    fn a_git_file_of_another_form_is_refused() {
        for text in ["", "gitdir:/x", "gitdir: \n", "worktree: /x"] {
            assert!(git_file(text).is_err(), "{text:?}");
        }
    }
}
