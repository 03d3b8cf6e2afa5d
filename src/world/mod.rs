//! The only door to what a process cannot compute: the clock, chance, the environment, the
//! working directory, the user's hooks, and the named points at which a crash is survivable.
//!
//! Rooms below the surfaces receive a [`World`] and never ask the operating system themselves.
//! [`Real`] is what the binary runs in, [`Fake`] is what tests run in.

mod fake;
mod real;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::{Id, Timestamp};

pub use fake::Fake;
pub use real::Real;

/// What a process cannot compute.
pub trait World: Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;

    /// Fills `bytes` with chance.
    ///
    /// # Errors
    /// When the operating system has none to give.
    fn fill_random(&self, bytes: &mut [u8]) -> io::Result<()>;

    /// The environment variable `name`; an empty value counts as unset.
    fn variable(&self, name: &str) -> Option<OsString>;

    /// The directory the process was started in.
    ///
    /// # Errors
    /// When it no longer exists or cannot be read.
    fn current_dir(&self) -> io::Result<PathBuf>;

    /// Makes `directory` the one the process works in, for libraries that ask for it.
    ///
    /// # Errors
    /// When it cannot be entered.
    fn enter(&self, directory: &Path) -> io::Result<()>;

    /// Runs a hook of the user's to its end, with no input; whatever it prints goes to standard error. Answers its
    /// exit status, `None` when it was killed.
    ///
    /// # Errors
    /// When it cannot be started.
    fn run_hook(&self, hook: &Hook<'_>) -> io::Result<Option<i32>>;

    /// Says that `point` was reached. A crash there must lose nothing that was acknowledged.
    fn reached(&self, point: Point);
}

impl dyn World + '_ {
    /// A new random identifier.
    ///
    /// # Errors
    /// When the operating system has no chance to give.
    pub fn new_id<K>(&self) -> io::Result<Id<K>> {
        let mut bytes = [0; 16];
        self.fill_random(&mut bytes)?;
        Ok(Id::from_bytes(bytes))
    }
}

/// A program of the user's that Git would start at this moment.
#[derive(Debug, Clone, Copy)]
pub struct Hook<'h> {
    /// The program.
    pub program: &'h Path,
    /// Its arguments.
    pub arguments: &'h [String],
    /// Where it starts.
    pub directory: &'h Path,
    /// Environment variables it must not see; it sees all others.
    pub without: &'h [&'h str],
}

/// A moment between two steps that must be safe to crash at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Point {
    /// `init`: the new directory exists under its temporary name, half filled.
    InitStarted,
    /// `init`: the new directory is complete under its temporary name.
    InitBuilt,
    /// `init`: the directory has its final name.
    InitRenamed,
    /// A write transaction has begun and nothing is in it.
    WriteBegun,
    /// An event and what follows from it are in the transaction.
    EventRecorded,
    /// Everything is in the transaction, nothing is committed.
    CommitPending,
    /// The transaction is durable, the high-water mark is not written.
    Committed,
    /// The high-water mark is written, nobody was told.
    MarkWritten,
    /// A ref is about to change, and that is noted.
    RefChosen,
    /// Git's lock of a ref is taken, and that is noted.
    RefLocked,
    /// A ref of ours has changed, nothing is pressed to disk.
    RefChanged,
    /// A worktree: its plan is in the journal, nothing is made.
    WorktreePlanned,
    /// A worktree: its branch is made.
    BranchMade,
    /// A worktree: it is on Git's list, without files.
    WorktreeListed,
    /// A worktree: its files and index are there, it still counts as unfinished.
    WorktreeFilled,
    /// A worktree: it is whole, its hook has not run.
    WorktreeWhole,
    /// A worktree: its hook has run, nobody was told.
    HookDone,
}

impl Point {
    /// Every point.
    pub const ALL: &'static [Self] = &[
        Self::InitStarted,
        Self::InitBuilt,
        Self::InitRenamed,
        Self::WriteBegun,
        Self::EventRecorded,
        Self::CommitPending,
        Self::Committed,
        Self::MarkWritten,
        Self::RefChosen,
        Self::RefLocked,
        Self::RefChanged,
        Self::WorktreePlanned,
        Self::BranchMade,
        Self::WorktreeListed,
        Self::WorktreeFilled,
        Self::WorktreeWhole,
        Self::HookDone,
    ];
}
