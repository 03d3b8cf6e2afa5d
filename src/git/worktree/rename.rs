//! Giving a directory its name unless another has it. Plain renaming replaces an empty directory.

use std::io::{self, ErrorKind};
use std::path::Path;

/// Rename the directory `from` to `to`, which must not be there.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] when something is there; whatever stops the renaming.
pub(super) fn without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match at_once(from, to) {
        // Some file systems cannot do both in one step; what is left to chance there is an empty directory.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            look_first(from, to)
        }
        done => done,
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn at_once(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn at_once(_from: &Path, _to: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

fn look_first(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(to) {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(from, to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_even_an_empty_directory_is_replaced() {
        for rename in [without_replacing, look_first] {
            let dir = tempfile::tempdir().unwrap();
            let (from, to) = (dir.path().join("from"), dir.path().join("to"));
            std::fs::create_dir(&from).unwrap();
            std::fs::create_dir(&to).unwrap();
            assert_eq!(rename(&from, &to).unwrap_err().kind(), ErrorKind::AlreadyExists);
            assert!(from.exists());
            std::fs::remove_dir(&to).unwrap();
            rename(&from, &to).unwrap();
            assert!(to.exists() && !from.exists());
        }
    }
}
