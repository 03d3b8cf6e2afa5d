//! What the attributes of a file say about its conversion, between the worktree and what Git stores.

use std::path::PathBuf;

use gix::attrs::search::{Match, MetadataCollection, Outcome};
use gix::attrs::{Search, StateRef};
use gix::bstr::{BStr, BString, ByteSlice};
use gix::error::ResultExt;
use gix::glob::pattern::Case;
use gix::index::entry::Mode;
use gix::worktree::Stack;

/// The attributes that decide it.
pub(super) struct Rules {
    /// A line of a `.gitattributes` with those about line ends and `$Id$`.
    line_ends: String,
    pub driver: Option<BString>,
    pub encoding: Option<String>,
}

const NAMES: [&str; 6] = ["crlf", "ident", "eol", "text", "filter", "working-tree-encoding"];

/// The attributes of a worktree's files. Git gives `info/attributes` the last word; gix, only at the top of the worktree.
pub(super) struct Attributes {
    stack: Stack,
    found: Outcome,
    own: Option<Own>,
}

/// What `info/attributes` says.
struct Own {
    text: Vec<u8>,
    case: Case,
    /// Made when the macros of the worktree are known.
    search: Option<(Search, MetadataCollection, Outcome)>,
}

/// The text of `info/attributes`, if it says anything.
pub(super) fn own(repository: &gix::Repository) -> Option<Vec<u8>> {
    let text = std::fs::read(repository.common_dir().join("info/attributes")).ok()?;
    let says = |line: &[u8]| !line.trim_ascii().is_empty() && !line.trim_ascii_start().starts_with(b"#");
    text.lines().any(says).then_some(text)
}

impl Attributes {
    /// As `stack` has them, but for `info/attributes` of `repository`.
    pub fn new(repository: &gix::Repository, stack: Stack) -> gix::Result<Self> {
        let mut attributes = Self { stack, found: wanted(&MetadataCollection::default()), own: None };
        if let Some(text) = own(repository) {
            let any_case = repository.filesystem_options()?.ignore_case;
            let case = if any_case { Case::Fold } else { Case::Sensitive };
            attributes.own = Some(Own { text, case, search: None });
        }
        Ok(attributes)
    }

    /// Whether gix may see others than these.
    pub fn are_own(&self) -> bool {
        self.own.is_some()
    }

    /// Those of the file at `path`.
    pub fn rules(&mut self, path: &BStr, objects: &impl gix::objs::Find) -> gix::Result<Rules> {
        let found = self.stack.at_entry(path, Some(Mode::FILE), objects).or_error()?;
        found.matching_attributes(&mut self.found);
        let Some(own) = &mut self.own else { return Rules::read(self.found.iter_selected()) };
        let (search, known, said) = match &mut own.search {
            Some(search) => search,
            none => {
                let (mut search, mut known) = (Search::default(), self.stack.attributes_collection().clone());
                search
                    .add_patterns_buffer(&own.text, "info/attributes".into(), None, &mut known, true)
                    .or_error()?;
                let said = wanted(&known);
                none.insert((search, known, said))
            }
        };
        said.initialize(known);
        search.pattern_matching_relative_path(path, own.case, Some(false), said);
        // No line has the number 0: that is what nothing was said of.
        let both = said.iter_selected().zip(self.found.iter_selected());
        Rules::read(both.map(|(said, found)| if said.location.sequence_number > 0 { said } else { found }))
    }
}

fn wanted(known: &MetadataCollection) -> Outcome {
    let mut wanted = Outcome::default();
    wanted.initialize_with_selection(known, NAMES);
    wanted
}

impl Rules {
    fn read<'a>(all: impl Iterator<Item = Match<'a>>) -> gix::Result<Self> {
        let mut rules = Self { line_ends: "*".to_owned(), driver: None, encoding: None };
        for found in all {
            let name = found.assignment.name.as_str();
            match (name, found.assignment.state) {
                ("filter", StateRef::Value(value)) => rules.driver = Some(value.as_bstr().to_owned()),
                ("working-tree-encoding", StateRef::Value(value)) => {
                    rules.encoding = Some(value.as_bstr().to_str_lossy().into_owned());
                }
                ("working-tree-encoding", StateRef::Set | StateRef::Unset) => {
                    return Err(gix::error::validation("true and false are no working-tree-encoding").into());
                }
                ("filter" | "working-tree-encoding", _) => {}
                (name, state) => {
                    let word = match state {
                        StateRef::Set => name.to_owned(),
                        StateRef::Unset => format!("-{name}"),
                        StateRef::Unspecified => format!("!{name}"),
                        StateRef::Value(value) => format!("{name}={}", value.as_bstr().to_str_lossy()),
                    };
                    rules.line_ends.extend([" ", &word]);
                }
            }
        }
        Ok(rules)
    }

    /// Those about line ends and `$Id$`, for every path.
    pub fn of_line_ends(&self, known: &mut MetadataCollection) -> gix::Result<Search> {
        let mut search = Search::default();
        search
            .add_patterns_buffer(self.line_ends.as_bytes(), PathBuf::new(), None, known, false)
            .or_error()?;
        Ok(search)
    }
}
