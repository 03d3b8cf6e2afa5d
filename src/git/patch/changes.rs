//! Which entries differ between two trees.

use gix::ObjectId;
use gix::bstr::BString;
use gix::diff::tree::recorder::Change;
use gix::objs::TreeRefIter;
use gix::objs::tree::{EntryKind, EntryMode};

use super::super::{Error, Repository};

/// One end of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Side {
    pub kind: EntryKind,
    pub id: ObjectId,
}

/// A path that differs; at least one side is there, and none is a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Changed {
    pub path: BString,
    pub old: Option<Side>,
    pub new: Option<Side>,
}

impl Side {
    /// The mode as git writes it. Trees of old hold others, such as `100664`.
    pub fn mode(self) -> &'static str {
        match self.kind {
            EntryKind::Tree => "040000",
            EntryKind::Blob => "100644",
            EntryKind::BlobExecutable => "100755",
            EntryKind::Link => "120000",
            EntryKind::Commit => "160000",
        }
    }

    /// Whether the two are of one type: an executable file is a file.
    pub fn is_like(self, other: Self) -> bool {
        self.is_file() && other.is_file() || self.kind == other.kind
    }

    pub fn is_file(self) -> bool {
        matches!(self.kind, EntryKind::Blob | EntryKind::BlobExecutable)
    }
}

/// What differs between two trees, in order of path. `None` is the empty tree.
pub(in super::super) fn between(
    repository: &Repository,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
) -> Result<Vec<Changed>, Error> {
    if old == new {
        return Ok(Vec::new());
    }
    let hash = repository.inner().object_hash();
    let (old, new) = (repository.tree_data(old)?, repository.tree_data(new)?);
    let mut recorder = gix::diff::tree::Recorder::default();
    gix::diff::tree(
        TreeRefIter::from_bytes(&old, hash),
        TreeRefIter::from_bytes(&new, hash),
        gix::diff::tree::State::default(),
        &repository.inner().objects,
        &mut recorder,
    )
    .map_err(|error| match error {
        gix::diff::tree::Error::Failure(error) => repository.walk_failed(&error),
        gix::diff::tree::Error::Cancelled => Error::unreadable(repository.git_dir(), error.to_string()),
    })?;
    let mut changes: Vec<_> = recorder.records.into_iter().filter_map(changed).collect();
    // A directory that gave way to a file, or the other way round, comes in two parts.
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(changes)
}

fn changed(change: Change) -> Option<Changed> {
    let side = |mode: EntryMode, id| (!mode.is_tree()).then(|| Side { kind: mode.kind(), id });
    let (path, old, new) = match change {
        Change::Addition { entry_mode, oid, path, .. } => (path, None, side(entry_mode, oid)),
        Change::Deletion { entry_mode, oid, path, .. } => (path, side(entry_mode, oid), None),
        Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid, path } => {
            (path, side(previous_entry_mode, previous_oid), side(entry_mode, oid))
        }
    };
    (old != new).then_some(Changed { path, old, new })
}
