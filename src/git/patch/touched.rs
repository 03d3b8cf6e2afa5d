//! What a candidate touches: its paths, and by the line rules of `detect::outline` the declarations around changed
//! lines. The declarations are a hint, not a promise.

use std::collections::BTreeSet;

use super::super::{Error, Repository};
use super::changes::{Changed, Side, between};
use super::hunks;
use crate::detect::outline::{Language, outline};

/// Files above this size are nobody's handwriting.
const LARGEST: u64 = 1 << 20;

/// What differs between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// Every path that differs, in order of its bytes; a renamed file is two of them.
    pub paths: Vec<Vec<u8>>,
    /// The declarations around the lines that differ, on either side, in order and in the spelling of a symbol scope.
    /// Only files in a language with line rules and of at most 1 MiB are looked at.
    pub symbols: Vec<String>,
    /// Those of the paths whose declarations are not among the symbols because their content is not here, as in a
    /// partial clone, or is damaged.
    pub unread: Vec<Vec<u8>>,
}

impl Repository {
    /// What `candidate` touches, compared with `base`: full hexadecimal ids of commits or trees.
    ///
    /// # Errors
    /// [`Error::Missing`] when a commit or a tree is not here, [`Error::Unreadable`] when one is damaged. The content of
    /// files never stands in the way of their names.
    pub fn touched(&self, base: &str, candidate: &str) -> Result<Touched, Error> {
        let (old, new) = (self.tree_named(base)?, self.tree_named(candidate)?);
        let (mut paths, mut symbols, mut unread) = (Vec::new(), BTreeSet::new(), Vec::new());
        for changed in between(self, Some(old), Some(new))? {
            let read = self.symbols_in(&changed, &mut symbols);
            let path = Vec::from(changed.path);
            if read.is_err() {
                unread.push(path.clone());
            }
            paths.push(path);
        }
        Ok(Touched { paths, symbols: symbols.into_iter().collect(), unread })
    }

    fn symbols_in(&self, changed: &Changed, symbols: &mut BTreeSet<String>) -> Result<(), Error> {
        let path = std::str::from_utf8(&changed.path).ok();
        let Some((path, language)) = path.and_then(|path| Some((path, Language::of(path)?))) else {
            return Ok(());
        };
        let (Some(before), Some(after)) = (self.source(changed.old)?, self.source(changed.new)?) else {
            return Ok(());
        };
        let outlines = (outline(language, &before), outline(language, &after));
        for (removed, added) in hunks::differences(before.as_bytes(), after.as_bytes()) {
            symbols.extend(outlines.0.touched(path, removed));
            symbols.extend(outlines.1.touched(path, added));
        }
        Ok(())
    }

    /// The text of one side; of an absent file the empty one, `None` when it is no source.
    fn source(&self, side: Option<Side>) -> Result<Option<String>, Error> {
        let Some(side) = side else { return Ok(Some(String::new())) };
        if !side.is_file() {
            return Ok(None);
        }
        let header = self.inner().try_find_header(side.id).map_err(|error| self.walk_failed(&error))?;
        if header.is_some_and(|header| header.size() > LARGEST) {
            return Ok(None);
        }
        Ok(String::from_utf8(self.blob(side.id)?).ok())
    }
}
