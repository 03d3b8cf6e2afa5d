//! Reading our refs.

use gix::refs::file::find::ReferenceDecode;
use gix::refs::{Target, TargetRef};

use super::super::Error;
use super::super::error::sentence;
use super::name::ROOT;
use super::{RefError, RefName, Refs, store};

/// How much of a damaged ref is shown, in bytes.
const LONGEST: usize = 128;

/// A ref of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The full name. Not UTF-8: with replacement characters.
    pub name: String,
    /// The full hexadecimal id it names; `None` for one that holds no id.
    pub target: Option<String>,
}

impl Refs<'_> {
    /// The full hexadecimal id that `name` holds; `None` when there is no such ref.
    ///
    /// # Errors
    /// [`RefError::Damaged`] when it holds something else; [`RefError::Git`] when refs cannot be read.
    pub fn read(&self, name: &RefName) -> Result<Option<String>, RefError> {
        match store::target(self.inner, name.full()) {
            Ok(None) => Ok(None),
            Ok(Some(Target::Object(id))) => Ok(Some(id.to_string())),
            Ok(Some(Target::Symbolic(to))) => {
                Err(RefError::Damaged { name: name.to_string(), holds: format!("ref: {}", to.as_bstr()) })
            }
            // What is there and cannot be parsed, as opposed to what cannot be read.
            Err(_) if self.path(name).is_file() => {
                let text = std::fs::read(self.path(name)).unwrap_or_default();
                let text = &text[..text.len().min(LONGEST)];
                let holds = String::from_utf8_lossy(text).trim_end().to_owned();
                Err(RefError::Damaged { name: name.to_string(), holds })
            }
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    /// Every ref below `refs/foremerge/<directory>/`, loose and packed, in order of name. An empty `directory` lists
    /// all. A damaged ref does not hide the others.
    ///
    /// # Errors
    /// [`RefError::Name`] when no ref can have such a name; [`RefError::Git`] when refs cannot be read.
    pub fn list(&self, directory: &str) -> Result<Vec<Listed>, RefError> {
        let prefix = match directory {
            "" => ROOT.to_owned(),
            directory => format!("{}/", RefName::below(directory)?),
        };
        let unreadable = |error| self.unreadable(&error);
        let platform = self.inner.references().map_err(unreadable)?;
        let mut listed = Vec::new();
        for found in platform.prefixed(prefix.as_bytes()).map_err(unreadable)? {
            match found {
                Ok(found) => listed.push(Listed {
                    name: found.name().as_bstr().to_string(),
                    target: match found.target() {
                        TargetRef::Object(id) => Some(id.to_string()),
                        TargetRef::Symbolic(_) => None,
                    },
                }),
                // Deleted while we looked.
                Err(error) if error.is_not_found() => {}
                Err(error) => match error.downcast_any_ref::<ReferenceDecode>() {
                    Some(damaged) => listed.push(Listed {
                        name: damaged.relative_path.to_string_lossy().into_owned(),
                        target: None,
                    }),
                    None => return Err(self.unreadable(&error)),
                },
            }
        }
        Ok(listed)
    }

    pub(super) fn unreadable(&self, error: &gix::Error) -> RefError {
        Error::unreadable(&self.common_dir.join(ROOT), sentence(error)).into()
    }
}
