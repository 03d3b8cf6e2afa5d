//! Whether everything a candidate changed is in a target.

use gix::ObjectId;
use gix::bstr::BStr;

use super::super::patch::{Changed, Side, between};
use super::super::{Error, Repository};
use super::merge::{Outcome, merge};
use super::renames::{Gone, Renamed, Renames, Whose};
use super::trees::Tree;
use super::{Contained, Landing, PathProof, PathRefusal, Proof, Reason, Refusal, Verdict};

/// Compare what `candidate` changed since each of `bases` with `target`.
pub(super) fn verdict(
    repository: &Repository,
    bases: &[ObjectId],
    candidate: ObjectId,
    target: ObjectId,
) -> Result<Verdict, Error> {
    if bases.is_empty() {
        return Ok(Verdict::Refused(Refusal::Unrelated));
    }
    let (candidate, target) = (repository.commit(candidate)?.tree, repository.commit(target)?.tree);
    let mut there = Tree::new(repository, target);
    let (mut proofs, mut refusals) = (Vec::new(), Vec::new());
    for base in bases {
        let tree = repository.commit(*base)?.tree;
        let mut comparison = Comparison { repository, base: tree, candidate, target, renames: None };
        let mut paths = Vec::new();
        for changed in between(repository, Some(tree), Some(candidate))? {
            match comparison.path(&changed, &mut there)? {
                Ok(contained) => paths.push(PathProof { path: changed.path.into(), contained }),
                Err(reason) => refusals.push(PathRefusal { path: changed.path.into(), reason }),
            }
        }
        proofs.push(Proof { merge_base: base.to_string(), paths });
    }
    // The same path may be refused from several bases.
    refusals.sort_by(|one: &PathRefusal, other| one.path.cmp(&other.path));
    refusals.dedup();
    Ok(if !refusals.is_empty() {
        Verdict::Refused(Refusal::Paths(refusals))
    } else if proofs.iter().all(|proof| proof.paths.is_empty()) {
        Verdict::Refused(Refusal::Empty)
    } else {
        Verdict::Landed(Landing::Content(proofs))
    })
}

struct Comparison<'r> {
    repository: &'r Repository,
    base: ObjectId,
    candidate: ObjectId,
    target: ObjectId,
    /// What was renamed, once somebody asks.
    renames: Option<Renames<'r>>,
}

impl<'r> Comparison<'r> {
    fn path(&mut self, changed: &Changed, there: &mut Tree<'_>) -> Result<Result<Contained, Reason>, Error> {
        let path: &BStr = changed.path.as_ref();
        let found = there.find(path)?;
        let Some(new) = changed.new else {
            return Ok(match found {
                Some(_) => Err(Reason::StillThere),
                None => match self.renames()?.gone(path)? {
                    Gone::Alike => Ok(Contained::Deleted),
                    Gone::Otherwise => Err(Reason::MovedOn),
                    Gone::Unknown => Err(Reason::Unsearched),
                },
            });
        };
        match (changed.old, found) {
            (_, Some(found)) if found == new => Ok(Ok(Contained::Identical)),
            (Some(old), Some(found)) => self.merged(old, found, new, Contained::Merged),
            (None, Some(found)) => match self.renames()?.from(Whose::Candidate, path)? {
                Renamed::One(origin, old) => {
                    self.merged(old, found, new, Contained::MergedWhereCandidateRenamed(origin.into()))
                }
                _ if found.kind != new.kind => Ok(Err(Reason::OtherKind)),
                Renamed::Several | Renamed::No | Renamed::Unknown => Ok(Err(Reason::Differs)),
            },
            (Some(old), None) => match self.renames()?.to(Whose::Target, path)? {
                Renamed::One(place, found) => {
                    self.merged(old, found, new, Contained::MergedWhereTargetRenamed(place.into()))
                }
                Renamed::Several => Ok(Err(Reason::RenamedAmbiguously)),
                Renamed::Unknown => Ok(Err(Reason::Unsearched)),
                Renamed::No => Ok(Err(Reason::Absent)),
            },
            (None, None) => Ok(Err(Reason::Absent)),
        }
    }

    fn merged(
        &self,
        old: Side,
        found: Side,
        new: Side,
        contained: Contained,
    ) -> Result<Result<Contained, Reason>, Error> {
        if found.kind != new.kind {
            return Ok(Err(Reason::OtherKind));
        }
        if found.id == new.id {
            return Ok(Ok(contained));
        }
        if ![old, found, new].into_iter().all(Side::is_file) {
            return Ok(Err(Reason::Differs));
        }
        let read = |side: Side| self.repository.blob(side.id);
        Ok(match merge(&read(old)?, &read(found)?, &read(new)?) {
            Outcome::Contained => Ok(contained),
            Outcome::Lacking => Err(Reason::Lacking),
            Outcome::Conflict => Err(Reason::Conflict),
            Outcome::NoText => Err(Reason::Differs),
        })
    }

    fn renames(&mut self) -> Result<&mut Renames<'r>, Error> {
        let renames = match self.renames.take() {
            Some(renames) => renames,
            None => Renames::between(self.repository, self.base, self.candidate, self.target)?,
        };
        Ok(self.renames.insert(renames))
    }
}
