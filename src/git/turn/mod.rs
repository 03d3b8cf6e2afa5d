//! The turn to change what the worktrees of a repository share: refs, and the list of worktrees. One process of ours
//! has it at a time.
//!
//! It is a lock of the kernel on a file in the common directory. It lies there and not in the directory of the ledger,
//! because that one may not be there yet, and two places would be two locks. What the file holds is the ref that its
//! holder is changing at this moment: whoever finds such a record had a predecessor who died over it, and knows which
//! of Git's locks it may have left. `docs/decisions/0009-whose-lock-it-is.md` has the reasons.

mod leftover;
mod record;

use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gix::lock::acquire::Fail;
use gix::refs::file::Transaction;
use gix::refs::transaction::{Change, RefEdit};
use gix::refs::{FullName, Target};

use super::Error;
use super::identity::Identity;
use super::lock::Lock;
use super::refs::store;
use super::shared::Shared;
use crate::world::{Point, World};
use record::{Held, Kind, Record};

/// The file whose lock is the turn.
const FILE: &str = "foremerge.lock";
/// How long Git's lock of somebody else is waited for. What git does under one takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long the turn is waited for: longer than many together need, one after the other. Whoever has it for that long was
/// stopped.
const TURN_PATIENCE: Duration = Duration::from_secs(60);
/// Nobody is that slow: a lock of this age was left by somebody who died.
const ANCIENT: Duration = Duration::from_secs(600);

/// Why a ref was not changed.
pub(super) enum Refused {
    /// Somebody else holds this lock of Git's, and did not give it back in time.
    Locked(PathBuf),
    /// Anything else.
    Git(gix::Error),
}

/// The turn, until this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    lock: Lock,
    common_dir: PathBuf,
}

impl Turn {
    /// Wait for the turn, for a minute, and clear away what whoever had it before may have died over.
    ///
    /// # Errors
    /// [`Error::Busy`] when it does not come; [`Error::Unwritable`] where there can be no lock.
    pub(super) fn take(common_dir: &Path, shared: Shared) -> Result<Self, Error> {
        let path = common_dir.join(FILE);
        let is_new = !path.exists();
        let lock = Lock::acquire(&path, TURN_PATIENCE)?;
        if is_new {
            shared.adjust(&path).map_err(|error| Error::unwritable(&path, error.to_string()))?;
        }
        let turn = Self { lock, common_dir: common_dir.to_owned() };
        if let Some((record, written)) = turn.read() {
            leftover::clear(&turn.common_dir, &record, written, PATIENCE);
            turn.write(b"");
        }
        Ok(turn)
    }

    /// Change one ref. Whoever dies meanwhile leaves a record of it.
    pub(super) fn edit(
        &self,
        world: &dyn World,
        inner: &gix::Repository,
        edit: RefEdit,
    ) -> Result<Vec<RefEdit>, Refused> {
        self.prepare(world, inner, edit)?.commit()
    }

    /// Take Git's lock of a ref and look whether `edit` can be made. It is not until this is committed.
    pub(super) fn prepare<'t>(
        &'t self,
        world: &dyn World,
        inner: &'t gix::Repository,
        edit: RefEdit,
    ) -> Result<Prepared<'t>, Refused> {
        let record = Record { name: edit.name.clone(), new: new_value(&edit), held: None };
        let change = edit.change.clone();
        let (transaction, packed_too) = self.lock(world, inner, &record, &edit)?;
        let mut prepared =
            Prepared { turn: self, inner, name: edit.name, transaction: Some(transaction), ref_file: None };
        // Of a ref that is what it is to be already it has given the lock back.
        let holds = |kind| match kind {
            Kind::Ref => !stands(inner, &record.name, &change),
            Kind::Packed => packed_too,
        };
        let kinds = [Kind::Ref, Kind::Packed].into_iter().filter(|kind| holds(*kind));
        let held = kinds.filter_map(|kind| Held::at(&kind.path(&self.common_dir, &record.name), kind));
        let held: Vec<_> = held.collect();
        self.append(&Record::locked(&held));
        prepared.ref_file = held.iter().find(|held| held.kind == Kind::Ref).map(|held| held.file);
        world.reached(Point::RefLocked);
        Ok(prepared)
    }

    /// Write `record` and take Git's locks. Answers whether that of packed refs is among them.
    fn lock<'t>(
        &self,
        world: &dyn World,
        inner: &'t gix::Repository,
        record: &Record,
        edit: &RefEdit,
    ) -> Result<(Transaction<'t, 't>, bool), Refused> {
        let packed = self.common_dir.join("packed-refs");
        let mut waits = waits();
        loop {
            // Anew each time, and nobody waits with it: so little time passes from the record to the lock that one
            // which is much younger than the record is somebody else's. Where it cannot be written, in a file of
            // another user's, whatever is left counts as git's.
            self.write(&record.begun());
            world.reached(Point::RefChosen);
            // Where there are packed refs gix holds their lock throughout, whether or not they change.
            let were_packed = packed.is_file();
            let at_once = Fail::Immediately;
            let refused = match inner.refs.transaction().prepare([edit.clone()], at_once, at_once) {
                Ok(transaction) => return Ok((transaction, were_packed && packed.is_file())),
                Err(error) => self.refused(&record.name, error),
            };
            self.write(b"");
            match (&refused, waits.next()) {
                (Refused::Locked(_), Some(wait)) => std::thread::sleep(wait),
                _ => return Err(refused),
            }
        }
    }

    /// Remove Git's lock at `path` if it has been there for so long that whoever took it must be dead. Answers whether
    /// it was.
    pub(super) fn remove_ancient(&self, path: &Path) -> bool {
        // The file system's own clock: whatever is written there now has its time.
        let now = self.write(b"\n").and_then(|()| self.lock.file().metadata().ok()?.modified().ok());
        self.write(b"");
        let taken = std::fs::symlink_metadata(path).ok().filter(|found| found.is_file());
        let taken = taken.and_then(|found| found.modified().ok());
        let age = now.zip(taken).and_then(|(now, taken)| now.duration_since(taken).ok());
        age.is_some_and(|age| age >= ANCIENT) && std::fs::remove_file(path).is_ok()
    }

    fn refused(&self, name: &FullName, error: gix::Error) -> Refused {
        if !error.is_retryable() {
            return Refused::Git(error);
        }
        let [own, packed] = [Kind::Ref, Kind::Packed].map(|kind| kind.path(&self.common_dir, name));
        Refused::Locked(if packed.exists() && !own.exists() { packed } else { own })
    }

    /// What a dead predecessor wrote last, and when.
    fn read(&self) -> Option<(Record, SystemTime)> {
        let mut file = self.lock.file();
        let mut text = Vec::new();
        file.read_to_end(&mut text).ok()?;
        let written = file.metadata().ok()?.modified().ok()?;
        Some((Record::decode(&text)?, written))
    }

    /// Put `text` in place of what the file holds. In the page cache it outlives this process; and after a loss of power
    /// nobody lives whose lock it could be confused with.
    fn write(&self, text: &[u8]) -> Option<()> {
        let mut file = self.lock.file();
        file.set_len(0).ok()?;
        file.rewind().ok()?;
        file.write_all(text).ok()
    }

    fn append(&self, text: &[u8]) -> Option<()> {
        self.lock.file().write_all(text).ok()
    }
}

/// A change of a ref that is about to be made, under Git's lock of it. Dropped, it is not made.
pub(super) struct Prepared<'t> {
    turn: &'t Turn,
    inner: &'t gix::Repository,
    name: FullName,
    transaction: Option<Transaction<'t, 't>>,
    ref_file: Option<Identity>,
}

impl Prepared<'_> {
    /// Which file the ref will be once this is committed, as long as nobody changes it after that. `None` where it
    /// stays as it is or one file cannot be told from the next.
    pub(super) fn ref_file(&self) -> Option<Identity> {
        self.ref_file
    }

    /// Make the change. Answers what was there before with it.
    pub(super) fn commit(mut self) -> Result<Vec<RefEdit>, Refused> {
        let transaction = self.transaction.take();
        let committer = self.inner.committer().transpose();
        let done = committer.and_then(|by| transaction.map_or_else(|| Ok(Vec::new()), |all| all.commit(by)));
        done.map_err(|error| self.turn.refused(&self.name, error))
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        // The locks first: as long as there is one there is a record of it.
        drop(self.transaction.take());
        self.turn.write(b"");
    }
}

fn stands(inner: &gix::Repository, name: &FullName, change: &Change) -> bool {
    match change {
        Change::Update { new, .. } => {
            store::target(inner, name).is_ok_and(|found| found.as_ref() == Some(new))
        }
        Change::Delete { .. } => false,
    }
}

/// Longer and longer, up to [`PATIENCE`] together.
fn waits() -> impl Iterator<Item = Duration> {
    (1..).map(|number| Duration::from_millis(number * number)).scan(PATIENCE, |left, wait| {
        *left = left.checked_sub(wait)?;
        Some(wait)
    })
}

fn new_value(edit: &RefEdit) -> Option<String> {
    match &edit.change {
        Change::Update { new: Target::Object(id), .. } => Some(id.to_string()),
        _ => None,
    }
}
