//! Encodings that files of a new worktree have to be written in. gix writes some without a word as UTF-8, others by tables
//! that are not git's: such files are written anew, by the same tables as git's. Files in any other are refused.

use gix::bstr::{BStr, ByteSlice};
use gix::worktree::stack::state::attributes::Source;

use super::super::conversion::Attributes;
use super::super::encoding::{is_utf8, is_written};
use super::super::error::sentence;
use super::super::{Error, Repository};
use super::filters;

const ATTRIBUTE: &[u8] = b"working-tree-encoding";

/// Refuse `commit` if one of its files is in an encoding that cannot be written. Answers whether one is in any but UTF-8.
///
/// # Errors
/// [`Error::Unsupported`]; [`Error::Missing`] or [`Error::Unreadable`] when attributes cannot be read.
pub(super) fn refuse_unwritable(repository: &Repository, commit: gix::ObjectId) -> Result<bool, Error> {
    let tree = repository.commit(commit)?.tree;
    let failed = |error: gix::Error| Error::unreadable(repository.git_dir(), sentence(&error));
    let inner = repository.inner();
    let index = inner.index_from_tree(&tree).map_err(failed)?;
    let mut any_named = false;
    for entry in index.entries() {
        if is_attributes(entry.path(&index)) {
            any_named |= repository.blob(entry.id)?.contains_str(ATTRIBUTE);
        }
    }
    let of_all = inner.attribute_global_paths().map_err(failed)?;
    for place in of_all.into_iter().chain([repository.common_dir().join("info/attributes")]) {
        any_named |= std::fs::read(place).is_ok_and(|text| text.contains_str(ATTRIBUTE));
    }
    if !any_named {
        return Ok(false);
    }
    let stack = inner.attributes_only(&index, Source::IdMapping).map_err(failed)?.detach();
    let mut attributes = Attributes::new(inner, stack).map_err(failed)?;
    let mut any = false;
    for entry in index.entries().iter().filter(|entry| filters::is_written(entry)) {
        let path = entry.path(&index);
        let rules = attributes.rules(path, &inner.objects).map_err(failed)?;
        let Some(encoding) = rules.encoding else { continue };
        if !is_written(&encoding) {
            let what =
                format!("{path} is to be written in {encoding:?}, which is not done here as git does it");
            return Err(Error::unsupported(repository.git_dir(), what));
        }
        any |= !is_utf8(&encoding);
    }
    Ok(any)
}

fn is_attributes(path: &BStr) -> bool {
    path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name) == b".gitattributes"
}
