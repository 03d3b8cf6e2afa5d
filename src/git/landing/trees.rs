//! Looking paths up in a tree, reading each directory once.

use std::collections::HashMap;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::objs::TreeRefIter;

use super::super::error::sentence;
use super::super::patch::Side;
use super::super::{Error, Repository};

/// A tree of which only the directories asked for are read.
pub(super) struct Tree<'r> {
    repository: &'r Repository,
    root: ObjectId,
    /// Entries of the directories read so far; of a path that is no directory `None`.
    directories: HashMap<BString, Option<HashMap<BString, Entry>>>,
}

#[derive(Clone, Copy)]
enum Entry {
    Directory(ObjectId),
    Other(Side),
}

impl<'r> Tree<'r> {
    pub fn new(repository: &'r Repository, root: ObjectId) -> Self {
        Self { repository, root, directories: HashMap::new() }
    }

    /// What stands at `path`; nothing, if that is a directory.
    pub fn find(&mut self, path: &BStr) -> Result<Option<Side>, Error> {
        Ok(match self.entry(path)? {
            Some(Entry::Other(side)) => Some(side),
            Some(Entry::Directory(_)) | None => None,
        })
    }

    fn entry(&mut self, path: &BStr) -> Result<Option<Entry>, Error> {
        let (directory, name) = match path.rfind_byte(b'/') {
            Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bstr()),
            None => (b"".as_bstr(), path),
        };
        if !self.directories.contains_key(directory) {
            let id = if directory.is_empty() {
                Some(self.root)
            } else {
                match self.entry(directory)? {
                    Some(Entry::Directory(id)) => Some(id),
                    Some(Entry::Other(_)) | None => None,
                }
            };
            let entries = id.map(|id| self.read(id)).transpose()?;
            self.directories.insert(directory.to_owned(), entries);
        }
        let entries = self.directories.get(directory).and_then(Option::as_ref);
        Ok(entries.and_then(|entries| entries.get(name)).copied())
    }

    fn read(&self, id: ObjectId) -> Result<HashMap<BString, Entry>, Error> {
        let data = self.repository.tree_data(Some(id))?;
        let entries = TreeRefIter::from_bytes(&data, self.repository.inner().object_hash());
        entries
            .map(|entry| {
                let entry =
                    entry.map_err(|error| Error::unreadable(self.repository.git_dir(), sentence(&error)))?;
                let id = entry.oid.to_owned();
                let found = if entry.mode.is_tree() {
                    Entry::Directory(id)
                } else {
                    Entry::Other(Side { kind: entry.mode.kind(), id })
                };
                Ok((entry.filename.to_owned(), found))
            })
            .collect()
    }
}
