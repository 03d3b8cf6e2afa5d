//! Encodings that files of a new worktree would have to be written in. gix writes some of those that git knows as UTF-8
//! without a word, so a tree that asks for one of them is refused.

use gix::bstr::ByteSlice;

use super::super::error::sentence;
use super::super::{Error, Repository};

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

/// Refuse `commit` if any of its attributes, or those of the repository itself, names another encoding.
///
/// # Errors
/// [`Error::Unsupported`]; [`Error::Missing`] or [`Error::Unreadable`] when attributes cannot be read.
pub(super) fn refuse_unwritable(repository: &Repository, commit: gix::ObjectId) -> Result<(), Error> {
    let tree = repository.commit(commit)?.tree;
    let failed = |error: gix::Error| Error::unreadable(repository.git_dir(), sentence(&error));
    let index = repository.inner().index_from_tree(&tree).map_err(failed)?;
    for entry in index.entries() {
        let path = entry.path(&index);
        if path.rsplit_once_str("/").map_or(path.as_bytes(), |(_, name)| name) == b".gitattributes" {
            refuse(repository, &repository.blob(entry.id)?, &path.to_str_lossy())?;
        }
    }
    let own = repository.common_dir().join("info/attributes");
    let text = std::fs::read(&own).unwrap_or_default();
    refuse(repository, &text, &own.display().to_string())
}

fn refuse(repository: &Repository, attributes: &[u8], place: &str) -> Result<(), Error> {
    let Some(encoding) = unwritable(attributes) else { return Ok(()) };
    let what = format!("{place} asks for files in {encoding:?}, which a new worktree cannot be given");
    Err(Error::unsupported(repository.git_dir(), what))
}

/// The first encoding that is named and cannot be written.
fn unwritable(attributes: &[u8]) -> Option<String> {
    let lines = attributes.lines().filter(|line| !line.trim_start().starts_with(b"#"));
    let labels = lines.flat_map(|line| line.fields()).filter_map(|word| word.strip_prefix(ATTRIBUTE));
    let mut labels = labels.map(|label| label.to_str_lossy().into_owned());
    labels.find(|name| !WRITTEN.iter().any(|known| name.to_ascii_lowercase().starts_with(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_refused_unless_they_are_known_to_be_written_right() {
        let named = |text: &str| unwritable(text.as_bytes());
        for fine in
            ["", "*.rs text", "*.txt working-tree-encoding=latin1", "*.c working-tree-encoding=Shift-JIS"]
        {
            assert_eq!(named(fine), None, "{fine}");
        }
        assert_eq!(named("# *.t working-tree-encoding=UTF-16"), None, "a comment");
        for refused in ["UTF-16", "utf-16le-bom", "UTF-32", "UTF-7", "cp437"] {
            let text = format!("*.rs text\n*.t text working-tree-encoding={refused} eol=crlf");
            assert_eq!(named(&text).as_deref(), Some(refused));
        }
    }
}
