//! What has to change on a branch before it is worth looking at all of a candidate again. Of each commit only the
//! directories that lead to the candidate's paths are read.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::objs::TreeRefIter;

use super::super::error::sentence;
use super::super::patch::{Side, between};
use super::super::{Error, Repository};
use super::Refusal;
use super::trees::Tree;

/// As many trees are kept: those of a commit and of the one before it, as a rule.
const KEPT: usize = 64;

/// What is waited for.
pub(super) struct Watch<'r> {
    repository: &'r Repository,
    /// The paths the candidate changed.
    paths: Node,
    /// Those that are not where they were, so that a change of any file may be theirs.
    elsewhere: HashSet<BString>,
    /// Those whose change was missing when last looked at, and that were not touched since.
    lacking: HashSet<BString>,
    /// Nothing of these histories can contain the candidate.
    never: bool,
    read: HashMap<ObjectId, Rc<Vec<u8>>>,
}

/// A name on the way to paths that are watched.
#[derive(Default)]
struct Node {
    is_watched: bool,
    below: HashMap<BString, Node>,
}

/// What a directory holds under a name that is watched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    Directory(ObjectId),
    Other(Side),
}

/// A path that was touched, and whether anything is there now.
type Touched = (BString, bool);

impl<'r> Watch<'r> {
    /// Watch what `candidate` changed since `bases`, on a branch that holds `tree` now.
    pub fn new(
        repository: &'r Repository,
        bases: &[ObjectId],
        candidate: ObjectId,
        tree: ObjectId,
    ) -> Result<Self, Error> {
        let candidate = repository.commit(candidate)?.tree;
        let mut there = Tree::new(repository, tree);
        let mut watch = Self {
            repository,
            paths: Node::default(),
            elsewhere: HashSet::new(),
            lacking: HashSet::new(),
            never: false,
            read: HashMap::new(),
        };
        for base in bases {
            let base = repository.commit(*base)?.tree;
            for changed in between(repository, Some(base), Some(candidate))? {
                watch.paths.insert(&changed.path);
                let was_there = changed.old.is_some();
                if was_there && there.find(changed.path.as_ref())?.is_none() {
                    watch.elsewhere.insert(changed.path);
                }
            }
        }
        Ok(watch)
    }

    /// Whether the commit that made `new` of `old` may contain what was missing before.
    pub fn is_worth_a_look(&mut self, old: ObjectId, new: ObjectId) -> Result<bool, Error> {
        let mut touched = Vec::new();
        let paths = std::mem::take(&mut self.paths);
        let compared = self.compare(&paths, &mut Vec::new(), (Some(old), Some(new)), &mut touched);
        self.paths = paths;
        compared?;
        let may_have_moved = !self.elsewhere.is_empty() && old != new;
        let any = !touched.is_empty() || may_have_moved;
        for (path, is_there) in touched {
            self.lacking.remove(&path);
            if is_there {
                self.elsewhere.remove(&path);
            } else {
                self.elsewhere.insert(path);
            }
        }
        Ok(any && self.lacking.is_empty() && !self.never)
    }

    /// Wait until what was refused may be otherwise.
    pub fn wait_for(&mut self, refusal: Refusal) {
        match refusal {
            Refusal::Paths(refused) => {
                let paths = refused.into_iter().map(|refused| BString::from(refused.path));
                self.lacking = paths.filter(|path| !self.elsewhere.contains(path)).collect();
            }
            Refusal::Behind | Refusal::Unrelated | Refusal::Empty => self.never = true,
        }
    }

    fn compare(
        &mut self,
        node: &Node,
        at: &mut Vec<u8>,
        (old, new): (Option<ObjectId>, Option<ObjectId>),
        touched: &mut Vec<Touched>,
    ) -> Result<(), Error> {
        if old == new {
            return Ok(());
        }
        let (old, new) = (self.entries(node, old)?, self.entries(node, new)?);
        for (name, child) in &node.below {
            let (old, new) = (old.get(name).copied(), new.get(name).copied());
            if old == new {
                continue;
            }
            let length = at.len();
            at.extend_from_slice(name);
            if child.is_watched && side(old) != side(new) {
                touched.push((BString::from(at.as_slice()), side(new).is_some()));
            }
            at.push(b'/');
            self.compare(child, at, (directory(old), directory(new)), touched)?;
            at.truncate(length);
        }
        Ok(())
    }

    /// What the directory `id` holds under the names below `node`.
    fn entries(&mut self, node: &Node, id: Option<ObjectId>) -> Result<HashMap<BString, Entry>, Error> {
        let Some(id) = id.filter(|_| !node.below.is_empty()) else { return Ok(HashMap::new()) };
        let data = if let Some(data) = self.read.get(&id) {
            Rc::clone(data)
        } else {
            if self.read.len() >= KEPT {
                self.read.clear();
            }
            let data = Rc::new(self.repository.tree_data(Some(id))?);
            self.read.insert(id, Rc::clone(&data));
            data
        };
        let mut found = HashMap::new();
        for entry in TreeRefIter::from_bytes(&data, self.repository.inner().object_hash()) {
            let entry =
                entry.map_err(|error| Error::unreadable(self.repository.git_dir(), sentence(&error)))?;
            if node.below.contains_key(entry.filename) {
                let id = entry.oid.to_owned();
                let what = if entry.mode.is_tree() {
                    Entry::Directory(id)
                } else {
                    Entry::Other(Side { kind: entry.mode.kind(), id })
                };
                found.insert(entry.filename.to_owned(), what);
            }
        }
        Ok(found)
    }
}

impl Node {
    fn insert(&mut self, path: &BString) {
        let mut node = self;
        for name in path.split_str("/") {
            node = node.below.entry(name.into()).or_default();
        }
        node.is_watched = true;
    }
}

fn side(entry: Option<Entry>) -> Option<Side> {
    match entry {
        Some(Entry::Other(side)) => Some(side),
        Some(Entry::Directory(_)) | None => None,
    }
}

fn directory(entry: Option<Entry>) -> Option<ObjectId> {
    match entry {
        Some(Entry::Directory(id)) => Some(id),
        Some(Entry::Other(_)) | None => None,
    }
}
