//! Names of our own refs.

use std::fmt;

use gix::refs::FullName;

use super::RefError;

/// What every name begins with.
pub(super) const ROOT: &str = "refs/foremerge/";

/// The full name of a ref below `refs/foremerge/`, as Git allows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefName(FullName);

impl RefName {
    /// The ref `refs/foremerge/<path>`, such as `accepted/chg_…`.
    ///
    /// # Errors
    /// [`RefError::Name`] when Git allows no such name.
    pub fn below(path: &str) -> Result<Self, RefError> {
        let name = format!("{ROOT}{path}");
        FullName::try_from(name.as_str())
            .map(Self)
            .map_err(|error| RefError::Name { name: name.clone(), why: error.to_string() })
    }

    /// The full name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Made from a `str` and never changed.
        std::str::from_utf8(self.0.as_bstr()).unwrap_or_default()
    }

    pub(super) fn full(&self) -> &FullName {
        &self.0
    }
}

impl fmt::Display for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
