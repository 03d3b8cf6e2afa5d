//! Encodings that files of a new worktree have to be written in. gix writes UTF-16 and UTF-32 as UTF-8 without a word:
//! such files are written anew. A tree that asks for one that neither knows is refused.

use gix::bstr::ByteSlice;
use gix::index::State;
use gix::worktree::stack::state::attributes::Source;

use super::super::conversion::Attributes;
use super::super::encoding::is_wide;
use super::super::error::sentence;
use super::super::{Error, Repository};
use super::filters;

const ATTRIBUTE: &[u8] = b"working-tree-encoding=";
/// What the names of encodings begin with that are written as git writes them.
const WRITTEN: &[&str] = &[
    "utf-8",
    "utf8",
    "ascii",
    "us-ascii",
    "iso-8859-",
    "iso8859-",
    "latin",
    "windows-125",
    "cp125",
    "koi8-",
    "shift",
    "sjis",
    "euc-",
    "gbk",
    "gb18030",
    "gb2312",
    "big5",
];

/// Refuse `commit` if any of its attributes, or those of the repository itself, names an encoding that cannot be written.
/// Answers whether one of them is [wide](is_wide).
///
/// # Errors
/// [`Error::Unsupported`]; [`Error::Missing`] or [`Error::Unreadable`] when attributes cannot be read.
pub(super) fn refuse_unwritable(repository: &Repository, commit: gix::ObjectId) -> Result<bool, Error> {
    let tree = repository.commit(commit)?.tree;
    let failed = |error: gix::Error| Error::unreadable(repository.git_dir(), sentence(&error));
    let index = repository.inner().index_from_tree(&tree).map_err(failed)?;
    let mut any_wide = false;
    for entry in index.entries() {
        let path = entry.path(&index);
        if path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name) == b".gitattributes" {
            any_wide |= asks_for_wide(repository, &repository.blob(entry.id)?, &path.to_str_lossy())?;
        }
    }
    let own = repository.common_dir().join("info/attributes");
    let text = std::fs::read(&own).unwrap_or_default();
    any_wide |= asks_for_wide(repository, &text, &own.display().to_string())?;
    if any_wide {
        refuse_filtered(repository, &index)?;
    }
    Ok(any_wide)
}

fn asks_for_wide(repository: &Repository, attributes: &[u8], place: &str) -> Result<bool, Error> {
    let mut any_wide = false;
    for encoding in encodings(attributes) {
        any_wide |= is_wide(&encoding);
        if !is_written(&encoding) {
            let what =
                format!("{place} asks for files in {encoding:?}, which a new worktree cannot be given");
            return Err(Error::unsupported(repository.git_dir(), what));
        }
    }
    Ok(any_wide)
}

/// The encodings that are named.
fn encodings(attributes: &[u8]) -> impl Iterator<Item = String> {
    let lines = attributes.lines().filter(|line| !line.trim_start().starts_with(b"#"));
    let labels = lines.flat_map(|line| line.fields()).filter_map(|word| word.strip_prefix(ATTRIBUTE));
    labels.map(|label| label.to_str_lossy().into_owned())
}

fn is_written(encoding: &str) -> bool {
    let name = encoding.to_ascii_lowercase();
    is_wide(encoding) || WRITTEN.iter().any(|known| name.starts_with(known))
}

/// Refuse files in a wide encoding that are to pass a filter after that: gix passes them on as it encodes them.
fn refuse_filtered(repository: &Repository, index: &State) -> Result<(), Error> {
    let failed = |error: gix::Error| Error::unreadable(repository.git_dir(), sentence(&error));
    let inner = repository.inner();
    let stack = inner.attributes_only(index, Source::IdMapping).map_err(failed)?.detach();
    let mut attributes = Attributes::new(inner, stack).map_err(failed)?;
    for entry in index.entries().iter().filter(|entry| filters::is_written(entry)) {
        let path = entry.path(index);
        let rules = attributes.rules(path, &inner.objects).map_err(failed)?;
        if rules.encoding.as_deref().is_some_and(is_wide)
            && let Some(driver) = rules.driver
        {
            let what = format!(
                "{path} is to be encoded and then to pass the filter {driver}, which is not done here"
            );
            return Err(Error::unsupported(repository.git_dir(), what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_refused_unless_they_are_known_to_be_written_right() {
        let named = |text: &str| encodings(text.as_bytes()).collect::<Vec<_>>();
        assert!(
            ["", "*.rs text", "# *.t working-tree-encoding=UTF-7"].iter().all(|text| named(text).is_empty())
        );
        let text =
            "*.rs text\n*.t text working-tree-encoding=latin1 eol=crlf\n*.c working-tree-encoding=UTF-7";
        assert_eq!(named(text), ["latin1", "UTF-7"]);
        for (encoding, written) in [
            ("latin1", true),
            ("Shift-JIS", true),
            ("UTF-16", true),
            ("utf-16be-bom", false),
            ("cp437", false),
        ] {
            assert_eq!(is_written(encoding), written, "{encoding}");
        }
    }
}
