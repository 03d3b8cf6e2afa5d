//! The `.gitignore` files of a worktree where one may not be read: to git it is not there, gix gives up.

use std::path::Path;

use gix::error::ResultExt;
use gix::ignore::Search;
use gix::ignore::search::Ignore;

/// The rules of every `.gitignore` below `root` that can be read, those of ignored directories as well: which are, nobody
/// knows yet.
pub(super) fn read(root: &Path) -> gix::Result<Search> {
    let mut rules = Search::default();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        // What is added later decides, so a directory comes after the one that holds it.
        let place = directory.join(".gitignore");
        // Git does not follow a link to such a file.
        let is_file = std::fs::symlink_metadata(&place).is_ok_and(|found| found.is_file());
        if let Some(text) = is_file.then(|| std::fs::read(&place).ok()).flatten() {
            rules.add_patterns_buffer(&text, place, Some(root), Ignore::default()).or_error()?;
        }
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && std::fs::symlink_metadata(entry.path().join(".git")).is_err() {
                pending.push(entry.path());
            }
        }
    }
    Ok(rules)
}
