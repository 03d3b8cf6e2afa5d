//! What a candidate changes: its base, its paths and symbols, its patch. The patch is byte for byte what stock git prints for
//! [`command`], so that anybody can check a digest without this program.

mod base;
mod changes;
mod emit;
mod hunks;
mod quote;
mod touched;

pub use base::{Base, BaseResolution};
pub use touched::Touched;

pub(super) use changes::{Changed, Side, between};

use std::io;

use gix::ObjectId;

use super::{Error, Repository};
use crate::domain::Digest;

/// The options of `git diff` under which the configuration of a user changes nothing.
const DIFF: &[&str] = &[
    "diff",
    "-O/dev/null",
    "--full-index",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "-U3",
    "--inter-hunk-context=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "--ignore-submodules=none",
];

/// The arguments of the `git` command that prints the patch from `base` to `candidate` (ids of commits or trees), to be
/// run with `GIT_ATTR_NOSYSTEM=1` and without `GIT_DIFF_OPTS` and `GIT_EXTERNAL_DIFF`. `empty_tree` is
/// [`Repository::empty_tree`]. What `.git/info/attributes` says of a path still changes the answer of git.
#[must_use]
pub fn command(empty_tree: &str, base: &str, candidate: &str) -> Vec<String> {
    let mut words = vec!["--no-replace-objects".to_owned(), format!("--attr-source={empty_tree}")];
    for setting in [
        "core.attributesFile=/dev/null",
        "core.quotePath=true",
        "core.bigFileThreshold=512m",
        "diff.suppressBlankEmpty=false",
    ] {
        words.extend(["-c".to_owned(), setting.to_owned()]);
    }
    words.extend(DIFF.iter().map(|word| (*word).to_owned()));
    words.extend([base.to_owned(), candidate.to_owned()]);
    words
}

impl Repository {
    /// The id of the empty tree, which stands for the base of a root commit.
    #[must_use]
    pub fn empty_tree(&self) -> String {
        ObjectId::empty_tree(self.inner().object_hash()).to_string()
    }

    /// Write the patch from `base` to `candidate`, full hexadecimal ids of commits or trees, as stock git prints it.
    ///
    /// Of very repetitive files with thousands of lines git may choose another, equally long patch:
    /// `docs/git-snapshots.md`.
    ///
    /// # Errors
    /// [`Error::Missing`] when an object is not here, [`Error::Unreadable`] when one is damaged or `to` refuses.
    pub fn write_patch(&self, base: &str, candidate: &str, to: &mut dyn io::Write) -> Result<(), Error> {
        let (old, new) = (self.tree_named(base)?, self.tree_named(candidate)?);
        for changed in between(self, Some(old), Some(new))? {
            emit::file(self, &changed, to)?;
        }
        Ok(())
    }

    /// SHA-256 of the patch from `base` to `candidate`.
    ///
    /// # Errors
    /// As [`write_patch`](Self::write_patch).
    pub fn patch_digest(&self, base: &str, candidate: &str) -> Result<Digest, Error> {
        let mut hasher = Digest::hasher();
        self.write_patch(base, candidate, &mut hasher)?;
        Ok(hasher.finish())
    }

    /// The tree of a commit or the tree itself, by its full id.
    fn tree_named(&self, id: &str) -> Result<ObjectId, Error> {
        let id = self.parse_id(id)?;
        if id == ObjectId::empty_tree(self.inner().object_hash()) {
            return Ok(id);
        }
        let header = self.inner().try_find_header(id).map_err(|error| self.walk_failed(&error))?;
        match header.ok_or_else(|| self.missing(id))?.kind() {
            gix::objs::Kind::Tree => Ok(id),
            _ => Ok(self.commit(id)?.tree),
        }
    }
}
