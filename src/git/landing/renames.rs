//! Which file a file was renamed to, on the target and on the candidate, as git's merge would see it, and whether that
//! can be told at all.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::bstr::{BStr, BString};

use super::super::patch::{Changed, Side, between};
use super::super::{Error, Repository};
use super::resemblance::Resemblance;

/// No file is compared with more others than this.
const MOST: usize = 1_000;
/// So many gone files times new ones and git looks for none that are alike; then a rename found here is none there.
const MOST_OF_GIT: usize = 7_000 * 7_000;

type Files = BTreeMap<BString, Side>;

/// The renames from a base to a candidate and to a target.
pub(super) struct Renames<'r> {
    candidate: Moves,
    target: Moves,
    resemblance: Resemblance<'r>,
    was_contested: bool,
    /// What `contest` found; nothing where that is too much to look at.
    contested: Option<Files>,
}

/// What is new and what is gone since the base.
struct Moves {
    added: Files,
    deleted: Files,
}

/// Whose renames are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Candidate,
    Target,
}

/// What became of a file, or where it came from.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Renamed {
    One(BString, Side),
    Several,
    No,
    /// There is too much to look at.
    Unknown,
}

/// What became of a file that both deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    /// The same on both sides: it is gone, or has the same new name.
    Alike,
    /// The one may have moved it elsewhere than the other.
    Otherwise,
    /// There is too much to look at.
    Unknown,
}

/// Files that are equal or alike; `None` where that is not known.
type Found = Option<Vec<(BString, Side)>>;

impl Moves {
    fn between(repository: &Repository, old: ObjectId, new: ObjectId) -> Result<Self, Error> {
        let (mut added, mut deleted) = (Files::new(), Files::new());
        for Changed { path, old, new } in between(repository, Some(old), Some(new))? {
            match (old, new) {
                (None, Some(side)) => drop(added.insert(path, side)),
                (Some(side), None) => drop(deleted.insert(path, side)),
                _ => {}
            }
        }
        Ok(Self { added, deleted })
    }

    fn are_too_many(&self) -> bool {
        self.added.len().saturating_mul(self.deleted.len()) > MOST_OF_GIT
    }
}

impl<'r> Renames<'r> {
    pub fn between(
        repository: &'r Repository,
        base: ObjectId,
        candidate: ObjectId,
        target: ObjectId,
    ) -> Result<Self, Error> {
        Ok(Self {
            candidate: Moves::between(repository, base, candidate)?,
            target: Moves::between(repository, base, target)?,
            resemblance: Resemblance::new(repository),
            was_contested: false,
            contested: None,
        })
    }

    fn moves(&self, whose: Whose) -> &Moves {
        match whose {
            Whose::Candidate => &self.candidate,
            Whose::Target => &self.target,
        }
    }

    /// What the file at `path`, deleted by `whose`, was renamed to, if it is also the only one of which that was made.
    pub fn to(&mut self, whose: Whose, path: &BStr) -> Result<Renamed, Error> {
        let Some(side) = self.moves(whose).deleted.get(path).copied() else { return Ok(Renamed::No) };
        let found = self.best(whose, side, |moves| &moves.added)?;
        let Renamed::One(place, _) = &found else { return Ok(found) };
        Ok(match self.from(whose, place.as_ref())? {
            Renamed::One(..) => found,
            Renamed::Several | Renamed::No => Renamed::Several,
            Renamed::Unknown => Renamed::Unknown,
        })
    }

    /// What the new file at `path` was renamed from by `whose`.
    pub fn from(&mut self, whose: Whose, path: &BStr) -> Result<Renamed, Error> {
        let Some(side) = self.moves(whose).added.get(path).copied() else { return Ok(Renamed::No) };
        self.best(whose, side, |moves| &moves.deleted)
    }

    /// What became of the file at `path` that both deleted. Most of what a squash moved is the same in both, so that
    /// only the rest can make a difference.
    pub fn gone(&mut self, path: &BStr) -> Result<Gone, Error> {
        let Some(side) = self.target.deleted.get(path).copied() else { return Ok(Gone::Unknown) };
        let added = [&self.candidate.added, &self.target.added];
        let Some(apart) = alike(&mut self.resemblance, side, differing(added))? else {
            return Ok(Gone::Unknown);
        };
        self.contest()?;
        let Some(contested) = &self.contested else { return Ok(Gone::Unknown) };
        if apart.is_empty() {
            return Ok(match alike(&mut self.resemblance, side, contested)? {
                Some(contested) if contested.is_empty() => Gone::Alike,
                Some(_) => Gone::Otherwise,
                None => Gone::Unknown,
            });
        }
        // Both moved it and at least one edited it there: the same move, if neither can have made another.
        Ok(match (self.to(Whose::Candidate, path)?, self.to(Whose::Target, path)?) {
            (Renamed::One(one, _), Renamed::One(other, _)) if one == other => Gone::Alike,
            (Renamed::Unknown, _) | (_, Renamed::Unknown) => Gone::Unknown,
            _ => Gone::Otherwise,
        })
    }

    /// Look once for new files, the same in both, that may be made of what only one of the two deleted.
    fn contest(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.was_contested, true) {
            return Ok(());
        }
        let common = || {
            let theirs = &self.target.added;
            self.candidate.added.iter().filter(|(path, side)| theirs.get(*path) == Some(*side))
        };
        let apart = || differing([&self.candidate.deleted, &self.target.deleted]);
        if apart().count().saturating_mul(common().count()) > MOST * MOST {
            return Ok(());
        }
        let mut contested = Files::new();
        for (_, side) in apart() {
            let Some(more) = alike(&mut self.resemblance, *side, common())? else { return Ok(()) };
            contested.extend(more);
        }
        self.contested = Some(contested);
        Ok(())
    }

    /// The one of the files to choose from that is equal, or else the one that is alike.
    fn best(&mut self, whose: Whose, side: Side, among: fn(&Moves) -> &Files) -> Result<Renamed, Error> {
        let moves = self.moves(whose);
        let equal = among(moves).iter().filter(|(_, other)| self.resemblance.equal(side, **other));
        let equal: Vec<_> = equal.map(|(path, side)| (path.clone(), *side)).collect();
        if !equal.is_empty() {
            return Ok(only(equal));
        }
        if moves.are_too_many() {
            return Ok(Renamed::Unknown);
        }
        // The fields one by one: files are chosen from while others are read.
        let moves = match whose {
            Whose::Candidate => &self.candidate,
            Whose::Target => &self.target,
        };
        Ok(alike(&mut self.resemblance, side, among(moves))?.map_or(Renamed::Unknown, only))
    }
}

/// Those of `among` that are equal or alike.
fn alike<'a>(
    resemblance: &mut Resemblance<'_>,
    side: Side,
    among: impl IntoIterator<Item = (&'a BString, &'a Side)>,
) -> Result<Found, Error> {
    let mut found = Vec::new();
    let mut compared = 0;
    for (path, other) in among {
        if !resemblance.equal(side, *other) {
            if !resemblance.possible(side, *other)? {
                continue;
            }
            compared += 1;
            if compared > MOST {
                return Ok(None);
            }
        }
        match resemblance.alike(side, *other)? {
            Some(true) => found.push((path.clone(), *other)),
            Some(false) => {}
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// What one of the two has and the other has not, or not the same.
fn differing<'a>([one, other]: [&'a Files; 2]) -> impl Iterator<Item = (&'a BString, &'a Side)> {
    let apart = |one: &'a Files, other: &'a Files| {
        one.iter().filter(move |(path, side)| other.get(*path) != Some(*side))
    };
    apart(one, other).chain(apart(other, one))
}

fn only(mut found: Vec<(BString, Side)>) -> Renamed {
    match (found.pop(), found.is_empty()) {
        (None, _) => Renamed::No,
        (Some((path, side)), true) => Renamed::One(path, side),
        (Some(_), false) => Renamed::Several,
    }
}
