//! Merge bases, and whether enough history is here to believe them.

use std::cell::RefCell;
use std::collections::HashSet;

use gix::ObjectId;
use gix::objs::{Data, Find};
use gix::revision::plumbing::merge_base;
use gix::revwalk::Graph;
use gix::revwalk::graph::Commit;

use super::super::error::shell_word;
use super::super::{Error, Repository, objects};

/// A way to ask about the history of one repository.
pub(super) struct History<'r> {
    repository: &'r Repository,
    cache: Option<gix::commitgraph::Graph>,
    is_shallow: bool,
}

/// The best common ancestors of two commits.
pub(super) struct Bases {
    pub commits: Vec<ObjectId>,
    /// Whether a commit was looked for in vain, so that there may be others.
    missed: bool,
}

/// Objects, and which of them were asked for in vain. gix takes a commit that is not there for the end of history.
struct Noticing<'r> {
    repository: &'r Repository,
    missed: &'r RefCell<Vec<ObjectId>>,
}

impl Find for Noticing<'_> {
    fn try_find<'a>(&self, id: &gix::oid, buffer: &'a mut Vec<u8>) -> gix::Result<Option<Data<'a>>> {
        let found = self.repository.inner().objects.try_find(id, buffer)?;
        if found.is_none() {
            self.missed.borrow_mut().push(id.to_owned());
        }
        Ok(found)
    }
}

impl<'r> History<'r> {
    pub fn of(repository: &'r Repository) -> Result<Self, Error> {
        let failed = |error: gix::Error| repository.walk_failed(&error);
        let is_shallow = repository.inner().is_shallow().map_err(failed)?;
        // Made before the history was cut off, a commit-graph may know commits that are gone.
        let cache =
            if is_shallow { None } else { repository.inner().commit_graph_if_enabled().map_err(failed)? };
        Ok(Self { repository, cache, is_shallow })
    }

    /// The merge bases of two commits, as far as history is here.
    pub fn merge_bases(&self, one: ObjectId, other: ObjectId) -> Result<Bases, Error> {
        // A missing one is told apart here: gix says only that something was not found.
        self.repository.commit(one)?;
        self.repository.commit(other)?;
        let missed = RefCell::default();
        let objects = Noticing { repository: self.repository, missed: &missed };
        let mut graph: Graph<'_, '_, Commit<merge_base::Flags>> = Graph::new(objects, self.cache.as_ref());
        let bases =
            merge_base(one, &[other], &mut graph).map_err(|error| self.repository.walk_failed(&error))?;
        drop(graph);
        let commits = bases.map_or_else(Vec::new, |bases| bases.into_iter().collect());
        Ok(Bases { commits, missed: !missed.into_inner().is_empty() })
    }

    /// Whether `one` is `other` or one of its ancestors; no answer is given from a history that was cut off.
    pub fn is_ancestor(&self, one: ObjectId, other: ObjectId) -> Result<bool, Error> {
        let bases = self.merge_bases(one, other)?;
        if bases.commits.contains(&one) {
            return Ok(true);
        }
        self.require_complete(one, other, &bases)?;
        Ok(false)
    }

    /// Refuse to go on when a commit between the two and their merge bases is not here.
    pub fn require_complete(&self, one: ObjectId, other: ObjectId, bases: &Bases) -> Result<(), Error> {
        if !bases.missed {
            return Ok(());
        }
        let mut seen: HashSet<ObjectId> = bases.commits.iter().copied().collect();
        let mut open = vec![one, other];
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                open.extend(self.commit(id)?.parents);
            }
        }
        Ok(())
    }

    /// A commit whose parents are all here.
    pub fn commit(&self, id: ObjectId) -> Result<objects::Commit, Error> {
        let commit = self.repository.commit(id)?;
        let gone = commit.parents.iter().find(|parent| !self.repository.inner().has_object(parent));
        match gone {
            None => Ok(commit),
            Some(_) if self.is_shallow && self.repository.is_shallow_boundary(id)? => {
                Err(self.needs_history())
            }
            Some(parent) => Err(self.repository.missing(*parent)),
        }
    }

    fn needs_history(&self) -> Error {
        let place = self.repository.worktree_root().unwrap_or(self.repository.git_dir());
        Error::NeedsHistory {
            path: self.repository.git_dir().to_owned(),
            remedy: format!("git -C {} fetch --unshallow", shell_word(place)),
        }
    }
}
