//! What stock git says of a worktree once nothing is hidden from it: the oracle of the snapshot.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;

use crate::sandbox::{git, git_command, try_git};

/// A worktree in git's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Porcelain {
    pub head: String,
    /// Letters and path, in order of path.
    pub status: Vec<(Vec<u8>, [u8; 2])>,
    /// Paths a sparse checkout leaves out.
    pub left_out: Vec<Vec<u8>>,
    /// The stages of the index.
    pub index: Vec<u8>,
    /// What the changed files hold, as they stand.
    pub raw: String,
    /// What the changed files hold, as git would store them.
    pub stored: String,
}

/// Ask git about the worktree at `root`, with the bits cleared on a copy of its index.
pub fn porcelain(root: &Path) -> Porcelain {
    let scratch = tempfile::tempdir().unwrap();
    let copy = scratch.path().join("index");
    let index = git(root, &["rev-parse", "--path-format=absolute", "--git-path", "index"]);
    if let Ok(found) = std::fs::metadata(&index) {
        std::fs::copy(&index, &copy).unwrap();
        // Git tells by this time which entries it must not believe.
        let copied = std::fs::File::options().write(true).open(&copy).unwrap();
        copied.set_modified(found.modified().unwrap()).unwrap();
    }
    let marked = |marks: fn(&u8) -> bool| -> Vec<_> {
        let listed = records(root, &copy, &["ls-files", "-v", "-z"]);
        listed.iter().filter(|line| marks(&line[0])).map(|line| line[2..].to_vec()).collect()
    };
    let skipped = marked(|mark| mark.eq_ignore_ascii_case(&b'S'));
    clear_bits(root, &copy, &marked(|mark| *mark == b'S' || mark.is_ascii_lowercase()));
    let status = ["-c", "core.fsmonitor=false", "status", "--porcelain=v1", "-z", "--untracked-files=all"];
    let status = [&status[..], &["--no-renames", "--ignore-submodules=none"]].concat();
    let mut status: Vec<_> = records(root, &copy, &status)
        .into_iter()
        .map(|record| (record[3..].to_vec(), [record[0], record[1]]))
        .collect();
    let sparse = try_git(root, &["config", "--type=bool", "core.sparseCheckout"]).stdout == b"true\n";
    let mut left_out = Vec::new();
    status.retain(|(path, letters)| {
        let keep = !(sparse && letters == b" D" && skipped.contains(path));
        if !keep {
            left_out.push(path.clone());
        }
        keep
    });
    status.sort();
    let (mut raw, mut stored) = (String::new(), String::new());
    for (path, letters) in &status {
        contents(root, path, letters == b"??", &mut raw, &mut stored);
    }
    let head = try_git(root, &["rev-parse", "--verify", "-q", "HEAD"]).stdout;
    let index = records(root, &copy, &["ls-files", "-z", "--stage"]).concat();
    Porcelain { head: String::from_utf8(head).unwrap(), status, left_out, index, raw, stored }
}

impl Porcelain {
    /// States of one worktree with equal words here are the same state.
    pub fn exactly(&self) -> String {
        format!("{:?}{:?}{:?}{:?}{}", self.head, self.status, self.left_out, self.index, self.raw)
    }

    /// States of one worktree with different words here are different states.
    pub fn at_least(&self) -> String {
        format!("{:?}{:?}{:?}{:?}{}", self.head, self.status, self.left_out, self.index, self.stored)
    }
}

fn records(root: &Path, index: &Path, arguments: &[&str]) -> Vec<Vec<u8>> {
    let mut command = git_command(root, arguments);
    let output = command.env("GIT_INDEX_FILE", index).env("GIT_OPTIONAL_LOCKS", "0").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout.split(|byte| *byte == 0).filter(|record| !record.is_empty()).map(<[u8]>::to_vec).collect()
}

fn clear_bits(root: &Path, index: &Path, paths: &[Vec<u8>]) {
    if paths.is_empty() {
        return;
    }
    for bit in ["--no-assume-unchanged", "--no-skip-worktree"] {
        let mut command = git_command(root, &["update-index", bit, "-z", "--stdin"]);
        let mut child = command.env("GIT_INDEX_FILE", index).stdin(Stdio::piped()).spawn().unwrap();
        let mut text = paths.join(&0);
        text.push(0);
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &text).unwrap();
        assert!(child.wait().unwrap().success());
    }
}

fn contents(root: &Path, path: &[u8], untracked: bool, raw: &mut String, stored: &mut String) {
    use std::os::unix::fs::PermissionsExt;
    let relative = Path::new(OsStr::from_bytes(path));
    let place = root.join(relative);
    let Ok(found) = std::fs::symlink_metadata(&place) else { return };
    if found.is_symlink() {
        let target = std::fs::read_link(&place).unwrap().into_os_string();
        for text in [raw, stored] {
            writeln!(text, "{path:?} -> {:?}", target.as_bytes()).unwrap();
        }
    } else if found.is_file() {
        let executable = found.permissions().mode() & 0o100 != 0;
        let bytes = std::fs::read(&place).unwrap();
        writeln!(raw, "{path:?} {executable} {bytes:?}").unwrap();
        if untracked {
            writeln!(stored, "{path:?} {executable} {bytes:?}").unwrap();
            return;
        }
        let mut option = std::ffi::OsString::from("--path=");
        option.push(relative);
        let mut command = git_command(root, &[OsStr::new("hash-object"), &option, OsStr::new("--stdin")]);
        let output = command.stdin(std::fs::File::open(&place).unwrap()).output().unwrap();
        assert!(output.status.success());
        writeln!(stored, "{path:?} {executable} {}", String::from_utf8_lossy(&output.stdout)).unwrap();
    } else if place.join(".git").exists() {
        if shared(root) == shared(&place) {
            return;
        }
        let inner = porcelain(&place);
        writeln!(raw, "{path:?} {}", inner.exactly()).unwrap();
        writeln!(stored, "{path:?} {}", inner.at_least()).unwrap();
    }
}

fn shared(dir: &Path) -> String {
    git(dir, &["rev-parse", "--path-format=absolute", "--git-common-dir"])
}
