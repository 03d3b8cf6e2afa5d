//! A directory of its own for each test, and stock git run in it without anybody's configuration.
#![expect(clippy::disallowed_methods, reason = "a test runs stock git")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub struct Sandbox {
    dir: tempfile::TempDir,
    pub root: PathBuf,
}

impl Sandbox {
    pub fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap())
    }

    /// In memory where the system has such a place.
    pub fn in_memory() -> Self {
        Self::of(crate::simulator::directory())
    }

    fn of(dir: tempfile::TempDir) -> Self {
        let root = std::fs::canonicalize(dir.path()).unwrap();
        Self { dir, root }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn mkdir(&self, name: &str) -> PathBuf {
        std::fs::create_dir_all(self.path(name)).unwrap();
        self.path(name)
    }

    /// A repository with one commit on `main`.
    pub fn repository(&self, name: &str) -> PathBuf {
        self.repository_with(name, &[])
    }

    pub fn repository_with(&self, name: &str, init: &[&str]) -> PathBuf {
        let path = self.path(name);
        let mut arguments = vec!["init", "-q", "-b", "main"];
        arguments.extend(init);
        arguments.push(name);
        git(&self.root, &arguments);
        std::fs::create_dir_all(path.join("src/deep")).unwrap();
        std::fs::write(path.join("src/deep/a.rs"), "fn a() {}\n").unwrap();
        git(&path, &["add", "."]);
        git(&path, &["commit", "-q", "-m", "first"]);
        path
    }

    /// Let another user in: a temporary directory is private otherwise.
    pub fn open_to_everyone(&self) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(self.dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

pub fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

pub fn append(path: &Path, text: &str) {
    let old = std::fs::read_to_string(path).unwrap();
    write(path, &format!("{old}{text}"));
}

pub fn git_command(dir: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = scrubbed("git");
    command.arg("-C").arg(dir).args(arguments);
    command
}

/// Run a command line, as a person would who was told to; it must succeed.
pub fn shell(dir: &Path, command: &str) {
    let output = scrubbed("sh").args(["-c", command]).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

/// `program` without anybody's Git configuration or environment.
pub fn scrubbed(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command
        .env_remove("SUDO_UID")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "A")
        .env("GIT_AUTHOR_EMAIL", "a@example.invalid")
        .env("GIT_AUTHOR_DATE", "1700000000 +0000")
        .env("GIT_COMMITTER_NAME", "A")
        .env("GIT_COMMITTER_EMAIL", "a@example.invalid")
        .env("GIT_COMMITTER_DATE", "1700000000 +0000")
        .env("LC_ALL", "C");
    command
}

pub fn try_git(dir: &Path, arguments: &[impl AsRef<OsStr>]) -> Output {
    git_command(dir, arguments).output().unwrap()
}

/// Run git, which must succeed, and answer what it printed without the last line end.
pub fn git(dir: &Path, arguments: &[impl AsRef<OsStr>]) -> String {
    let output = try_git(dir, arguments);
    assert!(output.status.success(), "git failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
}

/// Whether stock git accepts `dir` as part of a repository.
pub fn git_accepts(dir: &Path) -> bool {
    try_git(dir, &["rev-parse", "--git-dir"]).status.success()
}

/// Every worktree that stock git lists and that is not bare, in order of path.
pub fn git_worktrees(dir: &Path) -> Vec<PathBuf> {
    let text = git(dir, &["worktree", "list", "--porcelain"]);
    let mut roots: Vec<_> = text
        .split("\n\n")
        .filter(|entry| !entry.lines().any(|line| line == "bare"))
        .filter_map(|entry| entry.lines().next()?.strip_prefix("worktree ").map(PathBuf::from))
        .collect();
    roots.sort();
    roots
}
