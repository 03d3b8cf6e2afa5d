//! The world tests run in: a clock that moves when told, chance from a seed, hooks that are
//! noted and never run, and a crash at a chosen point.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Hook, Point, World};
use crate::domain::Timestamp;

/// A deterministic world.
#[derive(Debug)]
pub struct Fake {
    millis: AtomicI64,
    chance: AtomicU64,
    variables: BTreeMap<String, OsString>,
    current_dir: PathBuf,
    crash: Option<(Point, u64)>,
    passed: AtomicU64,
    hook_status: Option<i32>,
    hooks: Mutex<Vec<PathBuf>>,
}

impl Fake {
    /// When the fake clock starts: 2026-08-15T12:00:00Z.
    pub const START: Timestamp = Timestamp::from_millis(1_786_795_200_000);

    /// A world whose chance follows from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            millis: AtomicI64::new(Self::START.as_millis()),
            chance: AtomicU64::new(seed),
            variables: BTreeMap::new(),
            current_dir: PathBuf::from("/"),
            crash: None,
            passed: AtomicU64::new(0),
            hook_status: Some(0),
            hooks: Mutex::new(Vec::new()),
        }
    }

    /// The same world, aborting the process when `point` is reached for the `nth` time (from 1).
    #[must_use]
    pub fn crashing_at(mut self, point: Point, nth: u64) -> Self {
        self.crash = Some((point, nth));
        self
    }

    /// The same world with an environment variable.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    /// The same world, started in `directory`.
    #[must_use]
    pub fn started_in(mut self, directory: impl Into<PathBuf>) -> Self {
        self.current_dir = directory.into();
        self
    }

    /// The same world, in which hooks end with `status`; `None` stands for being killed.
    #[must_use]
    pub fn whose_hooks_end_with(mut self, status: Option<i32>) -> Self {
        self.hook_status = status;
        self
    }

    /// The hooks that would have run, in order.
    #[must_use]
    pub fn hooks(&self) -> Vec<PathBuf> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Moves the clock by `millis`.
    pub fn pass(&self, millis: i64) {
        self.millis.fetch_add(millis, Ordering::SeqCst);
    }
}

impl World for Fake {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.millis.load(Ordering::SeqCst))
    }

    fn fill_random(&self, bytes: &mut [u8]) -> io::Result<()> {
        for chunk in bytes.chunks_mut(8) {
            // SplitMix64: a counter spread over all bits, so that short prefixes differ too.
            let mut word = self
                .chance
                .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::SeqCst)
                .wrapping_add(0x9e37_79b9_7f4a_7c15);
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^= word >> 31;
            chunk.copy_from_slice(&word.to_be_bytes()[..chunk.len()]);
        }
        Ok(())
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        self.variables.get(name).filter(|value| !value.is_empty()).cloned()
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.current_dir.clone())
    }

    /// Tests share a process and stay where they are.
    fn enter(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn run_hook(&self, hook: &Hook<'_>) -> io::Result<Option<i32>> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner).push(hook.program.to_owned());
        Ok(self.hook_status)
    }

    fn reached(&self, point: Point) {
        if let Some((crash, nth)) = self.crash
            && crash == point
            && self.passed.fetch_add(1, Ordering::SeqCst) + 1 == nth
        {
            std::process::abort();
        }
    }
}
