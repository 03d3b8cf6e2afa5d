//! What the attributes of a file say about its conversion, between the worktree and what Git stores.

use std::path::PathBuf;

use gix::attrs::search::{MetadataCollection, Outcome};
use gix::attrs::{Search, StateRef};
use gix::bstr::{BString, ByteSlice};
use gix::error::ResultExt;

/// The attributes that decide it.
pub(super) struct Rules {
    /// A line of a `.gitattributes` with those about line ends and `$Id$`.
    line_ends: String,
    pub driver: Option<BString>,
    pub encoding: Option<String>,
}

/// Where [`Rules::read`] finds them.
pub(super) fn wanted() -> Outcome {
    let mut wanted = Outcome::default();
    let names = ["crlf", "ident", "eol", "text", "filter", "working-tree-encoding"];
    wanted.initialize_with_selection(&MetadataCollection::default(), names);
    wanted
}

impl Rules {
    pub fn read(found: &Outcome) -> gix::Result<Self> {
        let mut rules = Self { line_ends: "*".to_owned(), driver: None, encoding: None };
        for found in found.iter_selected() {
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
