//! Reading objects. One that is not here is an error of its own: nothing is fetched, and nothing is taken for empty.

use gix::ObjectId;
use gix::objs::{CommitRefIter, Kind};

use super::error::sentence;
use super::{Error, Repository};

/// A commit, as far as anybody here asks.
#[derive(Debug, Clone)]
pub(super) struct Commit {
    pub tree: ObjectId,
    /// As recorded, whether or not they are here.
    pub parents: Vec<ObjectId>,
}

impl Repository {
    /// The commit of that id.
    ///
    /// # Errors
    /// [`Error::Missing`], or [`Error::Unreadable`] when it is no commit.
    pub(super) fn commit(&self, id: ObjectId) -> Result<Commit, Error> {
        let data = self.object(id, Kind::Commit)?;
        let mut parts = CommitRefIter::from_bytes(&data, self.inner().object_hash());
        let tree = parts.tree_id().map_err(|error| self.damaged(id, &sentence(&error)))?;
        Ok(Commit { tree, parents: parts.parent_ids().collect() })
    }

    pub(super) fn blob(&self, id: ObjectId) -> Result<Vec<u8>, Error> {
        self.object(id, Kind::Blob)
    }

    /// The entries of a tree as they are stored; `None` is the empty tree.
    pub(super) fn tree_data(&self, id: Option<ObjectId>) -> Result<Vec<u8>, Error> {
        // Git itself knows the empty tree without having it.
        let id = id.filter(|id| *id != ObjectId::empty_tree(self.inner().object_hash()));
        id.map_or_else(|| Ok(Vec::new()), |id| self.object(id, Kind::Tree))
    }

    fn object(&self, id: ObjectId, kind: Kind) -> Result<Vec<u8>, Error> {
        match self.inner().try_find_object(id) {
            Ok(Some(mut object)) if object.kind == kind => Ok(std::mem::take(&mut object.data)),
            Ok(Some(object)) => Err(self.damaged(id, &format!("it is a {}, not a {kind}", object.kind))),
            Ok(None) => Err(self.missing(id)),
            Err(error) => Err(self.damaged(id, &sentence(&error))),
        }
    }

    pub(super) fn missing(&self, id: ObjectId) -> Error {
        Error::Missing { path: self.git_dir().to_owned(), object: id.to_string() }
    }

    fn damaged(&self, id: ObjectId, detail: &str) -> Error {
        Error::unreadable(self.git_dir(), format!("the object {id} cannot be used: {detail}"))
    }

    /// What gix says about a walk over objects, one of which may be missing.
    pub(super) fn walk_failed(&self, error: &gix::Error) -> Error {
        if error.is_not_found() {
            return Error::Missing { path: self.git_dir().to_owned(), object: sentence(error) };
        }
        Error::unreadable(self.git_dir(), sentence(error))
    }
}
