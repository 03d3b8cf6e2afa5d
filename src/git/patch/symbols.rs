//! Which declarations a candidate touches, by the line rules of `detect::outline`: a hint, not a promise.

use std::collections::BTreeSet;

use super::super::{Error, Repository};
use super::changes::{Changed, Side, between};
use super::hunks;
use crate::detect::outline::{Language, outline};

/// Files above this size are nobody's handwriting.
const LARGEST: usize = 1 << 20;

impl Repository {
    /// The declarations around the lines that differ between `base` and `candidate`, on either side, in order and in
    /// the spelling of a symbol scope. Only files in a language with line rules and of at most 1 MiB are looked at.
    ///
    /// # Errors
    /// As [`write_patch`](Self::write_patch).
    pub fn touched_symbols(&self, base: &str, candidate: &str) -> Result<Vec<String>, Error> {
        let (old, new) = (self.tree_named(base)?, self.tree_named(candidate)?);
        let mut touched = BTreeSet::new();
        for changed in between(self, Some(old), Some(new))? {
            self.touched_in(&changed, &mut touched)?;
        }
        Ok(touched.into_iter().collect())
    }

    fn touched_in(&self, changed: &Changed, touched: &mut BTreeSet<String>) -> Result<(), Error> {
        let path = std::str::from_utf8(&changed.path).ok();
        let Some((path, language)) = path.and_then(|path| Some((path, Language::of(path)?))) else {
            return Ok(());
        };
        let (Some(before), Some(after)) = (self.source(changed.old)?, self.source(changed.new)?) else {
            return Ok(());
        };
        let outlines = (outline(language, &before), outline(language, &after));
        for (removed, added) in hunks::differences(before.as_bytes(), after.as_bytes()) {
            touched.extend(outlines.0.touched(path, removed));
            touched.extend(outlines.1.touched(path, added));
        }
        Ok(())
    }

    /// The text of one side; of an absent file the empty one, `None` when it is no source.
    fn source(&self, side: Option<Side>) -> Result<Option<String>, Error> {
        let Some(side) = side else { return Ok(Some(String::new())) };
        if !side.is_file() {
            return Ok(None);
        }
        let text = self.blob(side.id)?;
        Ok(if text.len() > LARGEST { None } else { String::from_utf8(text).ok() })
    }
}
