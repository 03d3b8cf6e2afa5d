//! The commit on a branch with which a candidate landed.

use gix::ObjectId;

use super::super::objects::Commit;
use super::super::{Error, Repository};
use super::ancestry::History;
use super::watch::Watch;
use super::{Landing, Verdict, content};

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

/// A commit on the branch.
type Step = (ObjectId, Commit);

impl Search<'_> {
    fn along(&self, known: &[ObjectId], tip: ObjectId) -> Result<Earliest, Error> {
        let range = self.range(known, tip)?;
        if range.iter().any(|(commit, _)| *commit == self.candidate) {
            return Ok(landed(self.candidate, Landing::Ancestor));
        }
        // What the candidate itself is built on comes first and cannot contain it.
        let behind = partition_point(&range, |commit| self.history.is_ancestor(commit, self.candidate))?;
        let Some(first) = range.get(behind) else { return Ok(Earliest::NotLanded) };
        if behind == 0 && self.was_there_before(&first.1)? {
            return Ok(Earliest::NothingToLand);
        }
        let mut bases = Vec::new();
        let mut watch: Option<Watch<'_>> = None;
        let mut before = first.1.tree;
        for (commit, Commit { tree, parents }) in &range[behind..] {
            // Only a merge brings in more of the candidate's history.
            if *commit == first.0 || parents.len() > 1 {
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
            let parent = std::mem::replace(&mut before, *tree);
            let watch = match &mut watch {
                Some(watch) => {
                    if !watch.is_worth_a_look(parent, *tree)? {
                        continue;
                    }
                    watch
                }
                slot => slot.insert(Watch::new(self.repository, &bases, self.candidate, *tree)?),
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
    fn was_there_before(&self, first: &Commit) -> Result<bool, Error> {
        let Some(parent) = first.parents.first().copied() else { return Ok(false) };
        Ok(matches!(self.repository.landing_of(&self.history, self.candidate, parent)?, Verdict::Landed(_)))
    }

    /// First parents from `tip` back to what `known` reaches, oldest first.
    fn range(&self, known: &[ObjectId], tip: ObjectId) -> Result<Vec<Step>, Error> {
        let mut range = Vec::new();
        let mut next = Some(tip);
        while let Some(id) = next.filter(|id| !known.contains(id)) {
            let commit = self.history.commit(id)?;
            next = commit.parents.first().copied();
            range.push((id, commit));
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
}

fn landed(commit: ObjectId, landing: Landing) -> Earliest {
    Earliest::Landed { commit: commit.to_string(), landing }
}

/// The first place in `range` where `holds` no longer does; it holds for nothing after that. Looked for from the start
/// in growing steps: it is seldom far, and the history up to a far place is long.
fn partition_point(range: &[Step], holds: impl Fn(ObjectId) -> Result<bool, Error>) -> Result<usize, Error> {
    let (mut low, mut high) = (0, 1);
    while high < range.len() && holds(range[high - 1].0)? {
        (low, high) = (high, 2 * high);
    }
    high = high.min(range.len());
    while low < high {
        let middle = low.midpoint(high);
        if holds(range[middle].0)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}
