//! Rules about what to ignore that are given to gix: one against a fault of its own, and those of the `.gitignore` files
//! of a worktree where one may not be read: to git it is not there, gix gives up.

use std::path::{Path, PathBuf};

use gix::error::ResultExt;
use gix::ignore::Search;
use gix::ignore::search::Ignore;

/// gix asks the rules about the top of the worktree itself, which has no name, and there `*`, `*/` or `/` would ignore
/// it with all that it holds. This matches nothing but the empty name, and is asked first.
const NOT_THE_TOP: &[u8] = b"!/";

/// What has to be asked before every other rule.
pub(super) fn overrides() -> gix::Result<Search> {
    let mut rules = Search::default();
    add(&mut rules, NOT_THE_TOP, PathBuf::new(), None)?;
    Ok(rules)
}

fn add(rules: &mut Search, text: &[u8], from: PathBuf, root: Option<&Path>) -> gix::Result<()> {
    rules.add_patterns_buffer(text, from, root, Ignore::default()).or_error()
}

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
            add(&mut rules, &text, place, Some(root))?;
        }
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && std::fs::symlink_metadata(entry.path().join(".git")).is_err() {
                pending.push(entry.path());
            }
        }
    }
    add(&mut rules, NOT_THE_TOP, PathBuf::new(), None)?;
    Ok(rules)
}
