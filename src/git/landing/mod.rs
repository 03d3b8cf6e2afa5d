//! Whether a commit contains a candidate: because the candidate is in its history, or because everything the candidate
//! changed is there after a squash or a rebase. A proof or a reason, never a guess: what cannot be known is an error.

mod ancestry;
mod content;
mod earliest;
mod histogram;
mod merge;
mod renames;
mod resemblance;
mod trees;
mod watch;

use gix::ObjectId;

use super::{Error, Repository};
use ancestry::History;

pub use earliest::Earliest;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The target contains the candidate.
    Landed(Landing),
    /// It does not.
    Refused(Refusal),
}

/// How a target contains a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landing {
    /// The candidate is the target or one of its ancestors.
    Ancestor,
    /// Everything the candidate changed is there, seen from every merge base.
    Content(Vec<Proof>),
}

impl Landing {
    /// The name in records and answers.
    #[must_use]
    pub const fn method(&self) -> &'static str {
        match self {
            Self::Ancestor => "ancestor",
            Self::Content(_) => "content",
        }
    }
}

/// What a candidate changed since one merge base, and where it is in the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The full id of the merge base.
    pub merge_base: String,
    /// One entry for each path the candidate changed, in order of path.
    pub paths: Vec<PathProof>,
}

/// Where the change of one path is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathProof {
    /// The path as the bytes Git keeps.
    pub path: Vec<u8>,
    /// How the target contains the change.
    pub contained: Contained,
}

/// How a target contains the change of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contained {
    /// Candidate and target hold the same.
    Identical,
    /// The candidate deleted it, and it is not in the target, under another name neither unless the candidate has that.
    Deleted,
    /// Merging the candidate's change into the target changes nothing.
    Merged,
    /// The same, in the file that the target renamed it to.
    MergedWhereTargetRenamed(Vec<u8>),
    /// The same, compared with the file that the candidate renamed.
    MergedWhereCandidateRenamed(Vec<u8>),
}

/// Why a target does not contain a candidate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The target is an ancestor of the candidate.
    #[error("the target is behind the candidate: it is one of its ancestors")]
    Behind,
    /// No commit is in the history of both.
    #[error("the candidate and the target have no history in common")]
    Unrelated,
    /// The candidate differs from no merge base.
    #[error("the candidate changes nothing, so no content can show that it landed")]
    Empty,
    /// Some of what the candidate changed is not there.
    #[error("the target lacks what the candidate changed in {} paths", .0.len())]
    Paths(Vec<PathRefusal>),
}

/// A path whose change is not in the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRefusal {
    /// The path as the bytes Git keeps.
    pub path: Vec<u8>,
    /// Why.
    pub reason: Reason,
}

/// Why the change of a path is not in the target. `Display` completes the sentence that begins with the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The candidate has the path, the target has not.
    #[error("is not in the target")]
    Absent,
    /// The target has several files that may have been made from it.
    #[error("is not in the target, and more than one file there resembles it")]
    RenamedAmbiguously,
    /// The candidate deleted it.
    #[error("was deleted by the candidate and is still in the target")]
    StillThere,
    /// More or larger files than are compared may be what it was moved to.
    #[error(
        "is not in the target, and there are too many files or too large ones to say whether under another name"
    )]
    Unsearched,
    /// The candidate deleted it, and the target may have moved it.
    #[error("was deleted by the candidate and is in the target under another name")]
    MovedOn,
    /// It is a file, an executable file, a link or a submodule in one and something else in the other.
    #[error("has another type or mode in the target")]
    OtherKind,
    /// A link, a submodule, a binary file or one without a version to compare with, and the two differ.
    #[error("differs in the target and is nothing that can be merged line by line")]
    Differs,
    /// Both changed the same lines.
    #[error("was changed in the same lines by candidate and target")]
    Conflict,
    /// Merging would still change the target.
    #[error("has changes in the candidate that are not in the target")]
    Lacking,
}

impl Repository {
    /// Whether `target` contains `candidate`, both full commit ids.
    ///
    /// # Errors
    /// [`Error::NeedsHistory`] when a shallow clone does not reach back far enough; [`Error::Missing`] when an object
    /// that decides is not here.
    pub fn landing(&self, candidate: &str, target: &str) -> Result<Verdict, Error> {
        let (candidate, target) = (self.parse_id(candidate)?, self.parse_id(target)?);
        self.landing_of(&History::of(self)?, candidate, target)
    }

    fn landing_of(
        &self,
        history: &History<'_>,
        candidate: ObjectId,
        target: ObjectId,
    ) -> Result<Verdict, Error> {
        let bases = history.merge_bases(candidate, target)?;
        if bases.commits.contains(&candidate) {
            return Ok(Verdict::Landed(Landing::Ancestor));
        }
        if bases.commits.contains(&target) {
            return Ok(Verdict::Refused(Refusal::Behind));
        }
        // From here on it matters that there are no others.
        history.require_complete(candidate, target, &bases)?;
        content::verdict(self, &bases.commits, candidate, target)
    }
}
