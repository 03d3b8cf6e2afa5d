//! From what a caller wrote to the one entity it means.

use rusqlite::Connection;

use super::super::error::Error;
use super::{Snapshot, identity};
use crate::domain::id::IdKind;
use crate::domain::{Agent, Conflict, Id, IdRef, Intent};

/// An entity that is looked up by the beginning of its id.
pub trait Resolvable: IdKind + Sized {
    /// Ids in `range`, in order, at most [`MOST`].
    #[doc(hidden)]
    fn between(connection: &Connection, range: (Id<Self>, Id<Self>)) -> Result<Vec<Id<Self>>, Error>;

    /// The newest of them, at most a thousand, each with a name that people know it by.
    #[doc(hidden)]
    fn newest(connection: &Connection) -> Result<Vec<(Id<Self>, String)>, Error>;
}

/// So many candidates are looked for: one more than are named.
const MOST: usize = 11;

impl Resolvable for Agent {
    fn between(connection: &Connection, range: (Id<Self>, Id<Self>)) -> Result<Vec<Id<Self>>, Error> {
        let mut find = connection.prepare_cached(
            "SELECT uid FROM aggregate JOIN agent USING (id)
             WHERE kind = 1 AND uid BETWEEN ?1 AND ?2 ORDER BY uid LIMIT 11",
        )?;
        Ok(find.query_map(range, |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    fn newest(connection: &Connection) -> Result<Vec<(Id<Self>, String)>, Error> {
        let mut find = connection.prepare_cached(
            "SELECT uid, name FROM agent JOIN aggregate USING (id) ORDER BY registered_at DESC, uid LIMIT 1000",
        )?;
        Ok(find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
    }
}

impl Resolvable for Intent {
    fn between(connection: &Connection, range: (Id<Self>, Id<Self>)) -> Result<Vec<Id<Self>>, Error> {
        let mut find = connection.prepare_cached(
            "SELECT uid FROM aggregate JOIN intent USING (id)
             WHERE kind = 2 AND uid BETWEEN ?1 AND ?2 ORDER BY uid LIMIT 11",
        )?;
        Ok(find.query_map(range, |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    fn newest(connection: &Connection) -> Result<Vec<(Id<Self>, String)>, Error> {
        let mut find = connection.prepare_cached(
            "SELECT uid, summary FROM intent JOIN aggregate USING (id) ORDER BY created_at DESC, uid LIMIT 1000",
        )?;
        Ok(find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
    }
}

impl Resolvable for Conflict {
    fn between(connection: &Connection, range: (Id<Self>, Id<Self>)) -> Result<Vec<Id<Self>>, Error> {
        identity::between(connection, range, MOST)
    }

    fn newest(connection: &Connection) -> Result<Vec<(Id<Self>, String)>, Error> {
        Ok(identity::newest(connection)?.into_iter().map(|id| (id, String::new())).collect())
    }
}

impl Snapshot<'_> {
    /// The one entity whose id begins with what the caller wrote.
    ///
    /// # Errors
    /// [`Error::Unresolved`] with what it may mean, or [`Error::Ambiguous`] with the candidates.
    pub fn resolve<K: Resolvable>(&self, reference: &IdRef<K>) -> Result<Id<K>, Error> {
        let mut found = K::between(self.connection(), reference.range())?;
        let (nearest, reference) = (reference, reference.to_string());
        match found.len() {
            0 => Err(Error::Unresolved { noun: K::NOUN, reference, nearest: self.ids_like(nearest)? }),
            1 => Ok(found.remove(0)),
            _ => {
                let candidates = found.iter().take(MOST - 1).map(ToString::to_string).collect();
                Err(Error::Ambiguous { noun: K::NOUN, reference, candidates })
            }
        }
    }
}
