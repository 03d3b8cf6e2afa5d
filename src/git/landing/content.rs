//! Whether everything a candidate changed is in a target.

use gix::ObjectId;
use gix::bstr::BStr;

use super::super::patch::{Changed, Side, between};
use super::super::{Error, Repository};
use super::merge::{Outcome, merge};
use super::renames::{Renamed, Renames};
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
        let mut comparison =
            Comparison { repository, base: tree, candidate, target, renames: None, origins: None };
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
    /// What the target renamed, once somebody asks.
    renames: Option<Renames<'r>>,
    /// What the candidate renamed, once somebody asks.
    origins: Option<Renames<'r>>,
}

impl Comparison<'_> {
    fn path(&mut self, changed: &Changed, there: &mut Tree<'_>) -> Result<Result<Contained, Reason>, Error> {
        let path: &BStr = changed.path.as_ref();
        let found = there.find(path)?;
        let Some(new) = changed.new else {
            return Ok(match found {
                Some(_) => Err(Reason::StillThere),
                None if self.moved_on(path)? => Err(Reason::MovedOn),
                None => Ok(Contained::Deleted),
            });
        };
        match (changed.old, found) {
            (_, Some(found)) if found == new => Ok(Ok(Contained::Identical)),
            (Some(old), Some(found)) => self.merged(old, found, new, Contained::Merged),
            (None, Some(found)) => match self.renamed_from(path)? {
                Renamed::One(origin, old) => {
                    self.merged(old, found, new, Contained::MergedWhereCandidateRenamed(origin.into()))
                }
                Renamed::Several | Renamed::No if found.kind != new.kind => Ok(Err(Reason::OtherKind)),
                Renamed::Several | Renamed::No => Ok(Err(Reason::Differs)),
            },
            (Some(old), None) => match self.renamed_to(path)? {
                Renamed::One(place, found) => {
                    self.merged(old, found, new, Contained::MergedWhereTargetRenamed(place.into()))
                }
                Renamed::Several => Ok(Err(Reason::RenamedAmbiguously)),
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

    /// Whether the target has under another name, which is none of the candidate's, what the candidate deleted.
    fn moved_on(&mut self, path: &BStr) -> Result<bool, Error> {
        let Renamed::One(place, _) = self.renamed_to(path)? else { return Ok(false) };
        Ok(Tree::new(self.repository, self.candidate).find(place.as_ref())?.is_none())
    }

    fn renamed_to(&mut self, path: &BStr) -> Result<Renamed, Error> {
        if self.renames.is_none() {
            self.renames = Some(Renames::between(self.repository, self.base, self.target)?);
        }
        self.renames.as_mut().map_or(Ok(Renamed::No), |renames| renames.to(path))
    }

    fn renamed_from(&mut self, path: &BStr) -> Result<Renamed, Error> {
        if self.origins.is_none() {
            self.origins = Some(Renames::between(self.repository, self.base, self.candidate)?);
        }
        self.origins.as_mut().map_or(Ok(Renamed::No), |origins| origins.from(path))
    }
}
