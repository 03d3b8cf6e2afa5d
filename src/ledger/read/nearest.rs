//! What somebody may have meant by an id that nothing has, or by a name.

use super::super::error::Error;
use super::{Resolvable, Snapshot};
use crate::domain::nearest::nearest;
use crate::domain::{Agent, Id, IdRef};

/// How many candidates an answer names.
const SHOWN: usize = 3;
/// Digits two ids share at least if one is to be taken for the other, short of a slip of the pen.
const ALIKE: usize = 5;

impl Snapshot<'_> {
    /// Newer entities whose ids are like this one, the most alike first, each with its name.
    pub(super) fn ids_like<K: Resolvable>(&self, reference: &IdRef<K>) -> Result<Vec<String>, Error> {
        let written = reference.to_string();
        let written = &written[K::PREFIX.len() + 1..];
        let mut found = Vec::new();
        for (id, name) in K::newest(self.connection())? {
            let digits = id.to_string();
            let digits = &digits[K::PREFIX.len() + 1..][..written.len()];
            let shared = digits.bytes().zip(written.bytes()).take_while(|(one, other)| one == other).count();
            let slips = strsim::damerau_levenshtein(digits, written);
            if shared >= ALIKE || slips <= written.len() / 4 {
                found.push((slips, id, name));
            }
        }
        found.sort_by_key(|(slips, ..)| *slips);
        let named = |(_, id, name): (usize, Id<K>, String)| match name.as_str() {
            "" => id.short(),
            name => format!("{} ({})", id.short(), crate::domain::text::quoted(name)),
        };
        Ok(found.into_iter().take(SHOWN).map(named).collect())
    }

    /// Agents of this name, newest first; if there is none, those of the name most like it.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn agents_like(&self, written: &str) -> Result<Vec<(Id<Agent>, String)>, Error> {
        let newest = Agent::newest(self.connection())?;
        let Some(meant) = nearest(written, newest.iter().map(|(_, name)| name.as_str())).map(str::to_owned)
        else {
            return Ok(Vec::new());
        };
        Ok(newest.into_iter().filter(|(_, name)| *name == meant).collect())
    }
}
