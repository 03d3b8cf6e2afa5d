//! The commit on a branch with which a candidate landed.

use std::collections::HashSet;

use gix::ObjectId;
use gix::bstr::BString;

use super::super::patch::between;
use super::super::{Error, Repository};
use super::ancestry::History;
use super::trees::Tree;
use super::{Landing, Refusal, Verdict, content};

/// Where on a branch a candidate landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Earliest {
    /// The candidate, or everything it changes, was already part of the branch before.
    NothingToLand,
    /// No commit of the range contains it.
    NotLanded,
    /// The first commit of the range that contains it.
    Landed {
        /// The full id of the commit.
        commit: String,
        /// How it contains the candidate.
        landing: Landing,
    },
}

impl Repository {
    /// The first commit that contains `candidate` on the branch that ends in `tip`: along first parents, oldest first,
    /// only after the commits in `known` and their ancestors. All are full commit ids. `known` says where the branch
    /// stood when the candidate was published; a candidate that is reachable from there has nothing to land.
    ///
    /// # Errors
    /// As [`landing`](Self::landing).
    pub fn earliest_landing(&self, candidate: &str, known: &[String], tip: &str) -> Result<Earliest, Error> {
        let (candidate, tip) = (self.parse_id(candidate)?, self.parse_id(tip)?);
        let known = known.iter().map(|id| self.parse_id(id)).collect::<Result<Vec<_>, _>>()?;
        let history = History::of(self)?;
        for known in &known {
            if history.is_ancestor(candidate, *known)? {
                return Ok(Earliest::NothingToLand);
            }
        }
        Search { repository: self, history, candidate }.along(&known, tip)
    }
}

struct Search<'r> {
    repository: &'r Repository,
    history: History<'r>,
    candidate: ObjectId,
}

impl Search<'_> {
    fn along(&self, known: &[ObjectId], tip: ObjectId) -> Result<Earliest, Error> {
        let range = self.range(known, tip)?;
        if range.contains(&self.candidate) {
            return Ok(landed(self.candidate, Landing::Ancestor));
        }
        // What the candidate itself is built on comes first and cannot contain it.
        let behind = partition_point(&range, |commit| self.history.is_ancestor(commit, self.candidate))?;
        let Some(first) = range.get(behind) else { return Ok(Earliest::NotLanded) };
        if behind == 0 && self.was_there_before(*first)? {
            return Ok(Earliest::NothingToLand);
        }
        let mut bases = Vec::new();
        let mut watch = None;
        for commit in &range[behind..] {
            let parents = self.history.parents(*commit)?;
            // Only a merge brings in more of the candidate's history.
            if commit == first || parents.len() > 1 {
                let found = self.history.merge_bases(self.candidate, *commit)?;
                if found.commits.contains(&self.candidate) {
                    return Ok(landed(*commit, Landing::Ancestor));
                }
                self.history.require_complete(self.candidate, *commit, &found)?;
                if found.commits != bases {
                    bases = found.commits;
                    watch = None;
                }
            }
            let watch = match (&mut watch, parents.first()) {
                (Some(watch), Some(parent)) => {
                    if !self.changes_enough(watch, *parent, *commit)? {
                        continue;
                    }
                    watch
                }
                (slot, _) => slot.insert(self.watch(&bases, *commit)?),
            };
            match content::verdict(self.repository, &bases, self.candidate, *commit)? {
                Verdict::Landed(landing) => return Ok(landed(*commit, landing)),
                Verdict::Refused(refusal) => watch.wait_for(refusal),
            }
        }
        Ok(Earliest::NotLanded)
    }

    /// Whether the branch held all that the candidate changes before `first`, the first commit that counts: somebody
    /// else landed the same, and no commit after that is to be taken for the candidate's.
    fn was_there_before(&self, first: ObjectId) -> Result<bool, Error> {
        let Some(parent) = self.history.parents(first)?.first().copied() else { return Ok(false) };
        Ok(matches!(self.repository.landing_of(&self.history, self.candidate, parent)?, Verdict::Landed(_)))
    }

    /// First parents from `tip` back to what `known` reaches, oldest first.
    fn range(&self, known: &[ObjectId], tip: ObjectId) -> Result<Vec<ObjectId>, Error> {
        let mut range = Vec::new();
        let mut next = Some(tip);
        while let Some(commit) = next.filter(|commit| !known.contains(commit)) {
            range.push(commit);
            next = self.history.parents(commit)?.first().copied();
        }
        range.reverse();
        if next.is_some() || known.is_empty() {
            return Ok(range);
        }
        // The branch left what was known, or came round it: all but the newest may be known.
        let reached = partition_point(&range, |commit| {
            known
                .iter()
                .try_fold(false, |reached, known| Ok(reached || self.history.is_ancestor(commit, *known)?))
        })?;
        Ok(range.split_off(reached))
    }

    fn watch(&self, bases: &[ObjectId], commit: ObjectId) -> Result<Watch, Error> {
        let candidate = self.repository.commit(self.candidate)?.tree;
        let mut tree = Tree::new(self.repository, self.repository.commit(commit)?.tree);
        let mut watch =
            Watch { paths: HashSet::new(), elsewhere: HashSet::new(), lacking: HashSet::new(), never: false };
        for base in bases {
            let base = self.repository.commit(*base)?.tree;
            for changed in between(self.repository, Some(base), Some(candidate))? {
                if changed.new.is_some()
                    && changed.old.is_some()
                    && tree.find(changed.path.as_ref())?.is_none()
                {
                    watch.elsewhere.insert(changed.path.clone());
                }
                watch.paths.insert(changed.path);
            }
        }
        Ok(watch)
    }

    /// Whether `commit` may contain what its first parent lacked.
    fn changes_enough(&self, watch: &mut Watch, parent: ObjectId, commit: ObjectId) -> Result<bool, Error> {
        let trees = (self.repository.commit(parent)?.tree, self.repository.commit(commit)?.tree);
        let changes = between(self.repository, Some(trees.0), Some(trees.1))?;
        let mut touched = !watch.elsewhere.is_empty() && !changes.is_empty();
        for changed in changes.iter().filter(|changed| watch.paths.contains(&changed.path)) {
            touched = true;
            watch.lacking.remove(&changed.path);
            if changed.new.is_some() {
                watch.elsewhere.remove(&changed.path);
            } else {
                watch.elsewhere.insert(changed.path.clone());
            }
        }
        Ok(touched && watch.lacking.is_empty() && !watch.never)
    }
}

/// What has to change on the branch before it is worth looking at all of the candidate again.
struct Watch {
    /// The paths the candidate changed.
    paths: HashSet<BString>,
    /// Those that are not where they were, so that a change of any file may be theirs.
    elsewhere: HashSet<BString>,
    /// Those whose change was missing when last looked at, and that were not touched since.
    lacking: HashSet<BString>,
    /// Nothing of these histories can contain the candidate.
    never: bool,
}

impl Watch {
    fn wait_for(&mut self, refusal: Refusal) {
        match refusal {
            Refusal::Paths(refused) => {
                let paths = refused.into_iter().map(|refused| BString::from(refused.path));
                self.lacking = paths.filter(|path| !self.elsewhere.contains(path)).collect();
            }
            Refusal::Behind | Refusal::Unrelated | Refusal::Empty => self.never = true,
        }
    }
}

fn landed(commit: ObjectId, landing: Landing) -> Earliest {
    Earliest::Landed { commit: commit.to_string(), landing }
}

/// The first place in `range` where `holds` no longer does; it holds for nothing after that.
fn partition_point(
    range: &[ObjectId],
    holds: impl Fn(ObjectId) -> Result<bool, Error>,
) -> Result<usize, Error> {
    let (mut low, mut high) = (0, range.len());
    while low < high {
        let middle = low.midpoint(high);
        if holds(range[middle])? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}
