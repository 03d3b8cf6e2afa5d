//! Changing our refs: absent-only, compare-and-swap, delete-if-equal.

use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::refs::Target;
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog};

use super::super::Error;
use super::super::error::sentence;
use super::super::shared::Shared;
use super::super::turn::{Refused, Turn};
use super::name::ROOT;
use super::{RefError, RefName, Refs, durable, store};
use crate::world::{Point, World};

/// Whether a ref is there because of this call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// This call made it.
    Now,
    /// It was there already, with the same target.
    Before,
}

impl Refs<'_> {
    /// Make `name`, which must not be there, name the object `target`. Of many that try at once exactly one is told
    /// that it made it. It is on disk when this returns.
    ///
    /// # Errors
    /// [`RefError::Taken`] when it names another object; [`RefError::NoObject`] when the repository does not have
    /// `target`; [`RefError::Clash`], [`RefError::Damaged`], [`RefError::Busy`]; [`RefError::Git`] when nothing can be
    /// written; [`RefError::Unfinished`].
    pub fn create(&self, world: &dyn World, name: &RefName, target: &str) -> Result<Made, RefError> {
        let id = self.object(name, target)?;
        let turn = self.turn()?;
        match self.read(name)? {
            Some(found) if id.to_hex() == found => {
                // Whoever made it may have died before it was on disk.
                self.press(name).map_err(|why| unfinished(name, Some(id), &why))?;
                return Ok(Made::Before);
            }
            Some(found) => return Err(RefError::Taken { name: name.to_string(), found }),
            None => self.refuse_clash(name)?,
        }
        let before = self.edit(&turn, world, name, &update(id, PreviousValue::MustNotExist))?;
        Ok(if before.is_some() { Made::Before } else { Made::Now })
    }

    /// Make `name`, which must name `expected`, name `target`. It is on disk when this returns.
    ///
    /// # Errors
    /// [`RefError::Moved`] when it names something else or is not there, [`RefError::Expected`] when it never could have;
    /// otherwise as [`Self::create`].
    pub fn swap(
        &self,
        world: &dyn World,
        name: &RefName,
        expected: &str,
        target: &str,
    ) -> Result<(), RefError> {
        let (old, new) = (self.expected(name, expected)?, self.object(name, target)?);
        let turn = self.turn()?;
        self.expect(name, old)?;
        self.edit(&turn, world, name, &update(new, PreviousValue::MustExistAndMatch(Target::Object(old))))
            .map(drop)
    }

    /// Delete `name` if it names `expected`. Answers whether this call deleted it: it may be gone already.
    ///
    /// # Errors
    /// [`RefError::Moved`] when it names something else, [`RefError::Expected`] when it never could have;
    /// [`RefError::Damaged`], [`RefError::Busy`]; [`RefError::Git`] when nothing can be written;
    /// [`RefError::Unfinished`].
    pub fn delete(&self, world: &dyn World, name: &RefName, expected: &str) -> Result<bool, RefError> {
        let old = self.expected(name, expected)?;
        let turn = self.turn()?;
        if self.read(name)?.is_none() {
            return Ok(false);
        }
        self.expect(name, old)?;
        let expected = PreviousValue::MustExistAndMatch(Target::Object(old));
        self.edit(&turn, world, name, &Change::Delete { expected, log: RefLog::AndReference }).map(|_| true)
    }

    /// The file of `name`, there or not.
    pub(super) fn path(&self, name: &RefName) -> PathBuf {
        self.common_dir.join(name.as_str())
    }

    fn id(&self, hex: &str) -> Option<ObjectId> {
        let id = ObjectId::from_hex(hex.as_bytes()).ok();
        id.filter(|id| id.kind() == self.inner.object_hash() && !id.is_null())
    }

    fn object(&self, name: &RefName, hex: &str) -> Result<ObjectId, RefError> {
        let id = self.id(hex).filter(|id| self.inner.has_object(id));
        id.ok_or_else(|| RefError::NoObject { name: name.to_string(), id: hex.to_owned() })
    }

    /// An object that has gone since may be expected all the same.
    fn expected(&self, name: &RefName, hex: &str) -> Result<ObjectId, RefError> {
        self.id(hex).ok_or_else(|| RefError::Expected { name: name.to_string(), id: hex.to_owned() })
    }

    fn expect(&self, name: &RefName, old: ObjectId) -> Result<(), RefError> {
        let (found, expected) = (self.read(name)?, old.to_string());
        if found.as_ref() == Some(&expected) {
            return Ok(());
        }
        Err(RefError::Moved { name: name.to_string(), expected, found })
    }

    fn refuse_clash(&self, name: &RefName) -> Result<(), RefError> {
        match store::clash(self.inner, name.full()).map_err(|error| self.unreadable(&error))? {
            Some(with) => Err(RefError::Clash { name: name.to_string(), with }),
            None => Ok(()),
        }
    }

    fn turn(&self) -> Result<Turn, Error> {
        Turn::take(self.common_dir, Shared::of(self.inner))
    }

    /// The edit itself, pressed to disk. Answers what was there before, as seen under Git's own lock.
    fn edit(
        &self,
        turn: &Turn,
        world: &dyn World,
        name: &RefName,
        change: &Change,
    ) -> Result<Option<Target>, RefError> {
        let fresh = Shared::of(self.inner).before(self.common_dir, Path::new(name.as_str()));
        let attempt = || {
            let edit = RefEdit { change: change.clone(), name: name.full().clone(), deref: false };
            turn.edit(world, self.inner, edit)
        };
        let done = match attempt() {
            // Nobody but us and git changes these refs.
            Err(Refused::Locked(lock)) if self.is_ours(&lock) && turn.remove_ancient(&lock) => attempt(),
            done => done,
        };
        let edits = done.map_err(|refused| self.refused(name, change, refused))?;
        world.reached(Point::RefChanged);
        let shared = fresh.adjust().map_err(|error| Error::unwritable(&self.path(name), error.to_string()));
        let new = match change {
            Change::Update { new: Target::Object(id), .. } => Some(*id),
            _ => None,
        };
        shared.and_then(|()| self.press(name)).map_err(|why| unfinished(name, new, &why))?;
        Ok(edits.into_iter().find_map(|edit| match edit.change {
            Change::Update { expected, .. } | Change::Delete { expected, .. } => match expected {
                PreviousValue::MustExistAndMatch(target) => Some(target),
                _ => None,
            },
        }))
    }

    fn is_ours(&self, lock: &Path) -> bool {
        lock.starts_with(self.common_dir.join(ROOT))
    }

    /// Why gix refused: what is there now says it better than its error.
    fn refused(&self, name: &RefName, change: &Change, refused: Refused) -> RefError {
        let error = match refused {
            Refused::Locked(lock) => {
                return RefError::Busy { name: name.to_string(), lock: lock.display().to_string() };
            }
            Refused::Git(error) => error,
        };
        let now = match self.read(name) {
            Ok(now) => now,
            Err(error) => return error,
        };
        let (Change::Update { expected, .. } | Change::Delete { expected, .. }) = change;
        match (expected, now) {
            (PreviousValue::MustExistAndMatch(Target::Object(old)), found)
                if found != Some(old.to_string()) =>
            {
                RefError::Moved { name: name.to_string(), expected: old.to_string(), found }
            }
            (PreviousValue::MustNotExist, Some(found)) => RefError::Taken { name: name.to_string(), found },
            _ => Error::unwritable(&self.path(name), sentence(&error)).into(),
        }
    }

    fn press(&self, name: &RefName) -> Result<(), Error> {
        Shared::of(self.inner)
            .adjust(&self.common_dir.join("packed-refs"))
            .and_then(|()| durable::press(self.common_dir, &self.path(name)))
            .map_err(|error| Error::unwritable(&self.path(name), format!("it may not be on disk: {error}")))
    }
}

fn unfinished(name: &RefName, now: Option<ObjectId>, why: &Error) -> RefError {
    let (name, why) = (name.to_string(), why.to_string());
    RefError::Unfinished { name, found: now.map(|id| id.to_string()), why }
}

fn update(id: ObjectId, expected: PreviousValue) -> Change {
    let log = LogChange { message: "foremerge".into(), ..LogChange::default() };
    Change::Update { log, expected, new: Target::Object(id) }
}
