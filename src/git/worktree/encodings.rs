//! Encodings that files of a new worktree have to be written in. gix writes UTF-16 and UTF-32 as UTF-8 without a word:
//! such files are written here. A tree that asks for one that neither knows is refused.

use gix::attrs::search::{MetadataCollection, Outcome};
use gix::bstr::{BStr, ByteSlice};
use gix::error::ResultExt;
use gix::filter::plumbing::pipeline::convert::{ToWorktreeOutcome, to_worktree};
use gix::index::entry::{Flags, Mode, Stat};
use gix::index::{Entry, State};
use gix::worktree::stack::state::attributes::Source;

use super::super::conversion::{Rules, wanted};
use super::super::encoding::{encode, is_wide};
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
    let mut wide = Wide::new(repository.inner(), index).map_err(failed)?;
    for entry in index.entries() {
        let path = entry.path(index);
        let rules = wide.rules(entry, path).map_err(failed)?;
        if let Some(driver) = rules.and_then(|(_, rules)| rules.driver) {
            let what = format!(
                "{path} is to be encoded and then to pass the filter {driver}, which is not done here"
            );
            return Err(Error::unsupported(repository.git_dir(), what));
        }
    }
    Ok(())
}

/// Write the files of `linked` that are in UTF-16 or UTF-32, and keep their new times in the index.
pub(super) fn write_wide(linked: &gix::Repository) -> gix::Result<()> {
    let Some(root) = linked.workdir() else { return Ok(()) };
    let mut index = linked.open_index()?;
    let mut wide = Wide::new(linked, &index)?;
    let (mut pipeline, mut known) =
        (linked.filter_pipeline(None)?.0.into_parts().0, MetadataCollection::default());
    let mut any = false;
    let (entries, paths) = index.entries_mut_and_pathbacking();
    for entry in entries {
        let path = entry.path_in(paths);
        let Some((encoding, rules)) = wide.rules(entry, path)? else { continue };
        let stored = linked.find_blob(entry.id)?;
        let search = rules.of_line_ends(&mut known)?;
        let attributes = &mut |path: &BStr, out: &mut Outcome| {
            out.initialize(&known);
            search.pattern_matching_relative_path(path, gix::glob::pattern::Case::Sensitive, None, out);
        };
        let text = match pipeline.convert_to_worktree(
            &stored.data,
            path,
            attributes,
            to_worktree::Options::default(),
        )? {
            ToWorktreeOutcome::Unchanged(text) | ToWorktreeOutcome::Buffer(text) => text.to_vec(),
            ToWorktreeOutcome::Process(_) => continue,
        };
        // What is no text stays as it is stored, as with git.
        let written = encode(&encoding, &text).unwrap_or(text);
        let place = root.join(gix::path::from_bstr(path)?);
        std::fs::write(&place, written).or_error()?;
        entry.stat =
            Stat::from_fs(&gix::index::fs::Metadata::from_path_no_follow(&place).or_error()?).or_error()?;
        any = true;
    }
    if any { index.write(gix::index::write::Options::default()) } else { Ok(()) }
}

/// The attributes of files that are in UTF-16 or UTF-32.
struct Wide<'r> {
    repository: &'r gix::Repository,
    attributes: gix::worktree::Stack,
    wanted: Outcome,
}

impl<'r> Wide<'r> {
    fn new(repository: &'r gix::Repository, index: &State) -> gix::Result<Self> {
        let attributes = repository.attributes_only(index, Source::IdMapping)?.detach();
        Ok(Self { repository, attributes, wanted: wanted() })
    }

    /// The encoding of a file and how else it is converted; nothing for a file in no such encoding.
    fn rules(&mut self, entry: &Entry, path: &BStr) -> gix::Result<Option<(String, Rules)>> {
        let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
        if !is_file || entry.flags.contains(Flags::SKIP_WORKTREE) {
            return Ok(None);
        }
        let found = self.attributes.at_entry(path, Some(entry.mode), &self.repository.objects).or_error()?;
        found.matching_attributes(&mut self.wanted);
        let rules = Rules::read(&self.wanted)?;
        let encoding = rules.encoding.clone().filter(|encoding| is_wide(encoding));
        Ok(encoding.map(|encoding| (encoding, rules)))
    }
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
