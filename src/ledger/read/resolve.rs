//! From what a caller wrote to the one entity it means.

use super::super::error::Error;
use super::Snapshot;
use crate::domain::id::IdKind;
use crate::domain::{Agent, Conflict, Id, IdRef, Intent};

/// An entity that is looked up by the beginning of its id.
pub trait Resolvable: IdKind + Sized {
    /// Ids between ?1 and ?2 in order, at most eleven.
    #[doc(hidden)]
    const IDS_BETWEEN: &'static str;
}

impl Resolvable for Agent {
    const IDS_BETWEEN: &'static str = "SELECT uid FROM aggregate JOIN agent USING (id)
         WHERE kind = 1 AND uid BETWEEN ?1 AND ?2 ORDER BY uid LIMIT 11";
}

impl Resolvable for Intent {
    const IDS_BETWEEN: &'static str = "SELECT uid FROM aggregate JOIN intent USING (id)
         WHERE kind = 2 AND uid BETWEEN ?1 AND ?2 ORDER BY uid LIMIT 11";
}

impl Resolvable for Conflict {
    const IDS_BETWEEN: &'static str =
        "SELECT uid FROM conflict WHERE uid BETWEEN ?1 AND ?2 ORDER BY uid LIMIT 11";
}

impl Snapshot<'_> {
    /// The one entity whose id begins with what the caller wrote.
    ///
    /// # Errors
    /// [`Error::NotFound`], or [`Error::Ambiguous`] with the candidates.
    pub fn resolve<K: Resolvable>(&self, reference: &IdRef<K>) -> Result<Id<K>, Error> {
        let mut find = self.connection().prepare_cached(K::IDS_BETWEEN)?;
        let mut found: Vec<Id<K>> =
            find.query_map(reference.range(), |row| row.get(0))?.collect::<Result<_, _>>()?;
        let reference = reference.to_string();
        match found.len() {
            0 => Err(Error::NotFound { noun: K::NOUN, reference }),
            1 => Ok(found.remove(0)),
            _ => {
                let candidates = found.iter().take(10).map(ToString::to_string).collect();
                Err(Error::Ambiguous { noun: K::NOUN, reference, candidates })
            }
        }
    }
}
