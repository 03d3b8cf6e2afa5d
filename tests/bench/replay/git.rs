//! What the replay asks stock git, without the configuration of the user or the machine.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::scopes::Hunk;

/// A merge commit with two parents.
#[derive(Debug, Clone)]
pub struct Merge {
    pub commit: String,
    pub tree: String,
    pub parents: [String; 2],
    pub subject: String,
}

/// A file one side changed: path and object on either side.
#[derive(Debug, Clone)]
pub struct Change {
    /// `A`, `D`, `M`, `R` or `T`.
    pub status: char,
    pub old: (String, String),
    pub new: (String, String),
    /// Whether both ends are regular files, or absent.
    pub regular: bool,
    /// Changed lines: first and count, before and after.
    pub hunks: Vec<Hunk>,
}

/// What git makes of merging two commits by itself.
#[derive(Debug)]
pub struct Automatic {
    pub tree: String,
    pub conflicts: Vec<String>,
}

/// One process that hands out objects, and a place of its own for those that a merge makes.
#[derive(Debug)]
pub struct Git {
    directory: PathBuf,
    objects: PathBuf,
    scratch: tempfile::TempDir,
    batch: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Git {
    pub fn open(clone: &Path) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let mut find = scrubbed(clone);
        let found =
            find.args(["rev-parse", "--path-format=absolute", "--git-path", "objects"]).output().unwrap();
        assert!(found.status.success(), "{}: {}", clone.display(), String::from_utf8_lossy(&found.stderr));
        let objects = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim());
        let mut batch = scrubbed(clone)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (asks, answers) = (batch.stdin.take().unwrap(), BufReader::new(batch.stdout.take().unwrap()));
        Self { directory: clone.to_owned(), objects, scratch, batch, asks, answers }
    }

    fn ask(&self, arguments: &[&str]) -> Option<String> {
        let output = self.command(arguments).output().unwrap();
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = scrubbed(&self.directory);
        command
            .args(arguments)
            .env("GIT_OBJECT_DIRECTORY", self.scratch.path())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.objects);
        command
    }

    /// The commit that is checked out, or that a bare clone points at.
    pub fn head(&self) -> String {
        self.ask(&["rev-parse", "HEAD"]).unwrap().trim().to_owned()
    }

    /// Every merge commit with two parents, newest first.
    pub fn merges(&self) -> Vec<Merge> {
        let listed = self.ask(&["log", "--min-parents=2", "--max-parents=2", "--format=%H %T %P %s", "HEAD"]);
        let merge = |line: &str| {
            let mut words = line.splitn(5, ' ').map(str::to_owned);
            let (commit, tree) = (words.next()?, words.next()?);
            let parents = [words.next()?, words.next()?];
            Some(Merge { commit, tree, parents, subject: words.next().unwrap_or_default() })
        };
        listed.unwrap().lines().filter_map(merge).collect()
    }

    /// The first merge base; none for unrelated histories.
    pub fn base(&self, parents: &[String; 2]) -> Option<String> {
        Some(self.ask(&["merge-base", &parents[0], &parents[1]])?.trim().to_owned())
    }

    /// The subject of the newest commit of a side that is no merge.
    pub fn subject(&self, base: &str, tip: &str) -> String {
        let range = format!("{base}..{tip}");
        self.ask(&["log", "-1", "--no-merges", "--format=%s", &range]).unwrap_or_default().trim().to_owned()
    }

    /// Merges two commits as `git merge` would. None when it cannot be tried.
    pub fn merge(&self, parents: &[String; 2]) -> Option<Automatic> {
        let mut command =
            self.command(&["-c", "merge.renames=true", "-c", "merge.directoryRenames=conflict"]);
        command.args(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"]).args(parents);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut parts = text.split('\0').filter(|part| !part.is_empty()).map(str::to_owned);
        matches!(output.status.code(), Some(0 | 1))
            .then(|| Some(Automatic { tree: parts.next()?, conflicts: parts.collect() }))?
    }

    /// The paths in which two trees differ.
    pub fn differing(&self, one: &str, other: &str) -> Vec<String> {
        let listed = self.ask(&["diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other]);
        listed.unwrap_or_default().split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()
    }

    /// What a side changed, with the changed lines of each file.
    pub fn changes(&self, base: &str, tip: &str) -> Option<Vec<Change>> {
        let options = ["diff-tree", "-r", "-M", "--raw", "-p", "-U0", "--full-index", "--no-color", "-z"];
        let mut arguments = options.to_vec();
        arguments.extend(["--no-ext-diff", "--no-textconv", "--diff-algorithm=histogram", base, tip]);
        let text = self.ask(&arguments)?;
        let mut records = text.as_str();
        let mut changes = Vec::new();
        while let Some(record) = records.strip_prefix(':') {
            let (fields, rest) = record.split_once('\0')?;
            let fields: Vec<&str> = fields.split(' ').collect();
            let status = fields[4].chars().next()?;
            let (old, rest) = rest.split_once('\0')?;
            let (new, rest) = if matches!(status, 'R' | 'C') { rest.split_once('\0')? } else { (old, rest) };
            records = rest;
            let regular = fields[..2].iter().all(|mode| mode.starts_with("100") || *mode == "000000");
            let (old, new) = ((old.to_owned(), fields[2].to_owned()), (new.to_owned(), fields[3].to_owned()));
            changes.push(Change { status, old, new, regular, hunks: Vec::new() });
        }
        let mut by_objects = hunks(records);
        for change in &mut changes {
            let key = (change.old.1.clone(), change.new.1.clone());
            change.hunks = by_objects.get_mut(&key).cloned().unwrap_or_default();
        }
        Some(changes)
    }

    /// The text of a file; none when it is absent or no text.
    pub fn text(&mut self, object: &str) -> Option<String> {
        writeln!(self.asks, "{object}").unwrap();
        let mut header = String::new();
        self.answers.read_line(&mut header).unwrap();
        let length: usize = header.trim().rsplit(' ').next()?.parse().ok()?;
        let mut bytes = vec![0; length + 1];
        self.answers.read_exact(&mut bytes).unwrap();
        bytes.pop();
        String::from_utf8(bytes).ok()
    }
}

impl Drop for Git {
    fn drop(&mut self) {
        let _ = self.batch.kill();
        let _ = self.batch.wait();
    }
}

/// The changed lines of every pair of objects in a patch.
fn hunks(patch: &str) -> HashMap<(String, String), Vec<Hunk>> {
    let mut found: HashMap<_, Vec<Hunk>> = HashMap::new();
    let mut at = None;
    for line in patch.lines() {
        if let Some(objects) = line.strip_prefix("index ") {
            let objects = objects.split(' ').next().unwrap_or_default();
            at = objects.split_once("..").map(|(old, new)| (old.to_owned(), new.to_owned()));
        } else if let Some(ranges) = line.strip_prefix("@@ ") {
            let mut ranges = ranges.split(' ').map(range);
            if let (Some(at), Some(Some(old)), Some(Some(new))) = (&at, ranges.next(), ranges.next()) {
                found.entry(at.clone()).or_default().push(Hunk { old, new });
            }
        }
    }
    found
}

fn range(text: &str) -> Option<(usize, usize)> {
    let text = text.strip_prefix(['-', '+'])?;
    let (first, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((first.parse().ok()?, count.parse().ok()?))
}

fn scrubbed(clone: &Path) -> Command {
    let mut command = Command::new("git");
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("LC_ALL", "C").env("HOME", "/nonexistent");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0");
    command.args(["-c", "core.attributesFile=/dev/null", "-c", "core.hooksPath=/dev/null"]);
    command.args(["-c", "safe.directory=*", "-C"]).arg(clone).stdin(Stdio::null()).stderr(Stdio::null());
    command
}
