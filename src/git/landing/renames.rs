//! Which file a file was renamed to: the one new file that is equal to it, or the one that resembles it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use gix::ObjectId;
use gix::bstr::{BStr, BString};

use super::super::patch::{Changed, Side, between};
use super::super::{Error, Repository};

/// Above this number of new or of gone files git does not look for resemblance either.
const MOST: usize = 1_000;
/// A file above this size is not compared with others.
const LARGEST: usize = 8 << 20;

/// The renames between two trees.
pub(super) struct Renames<'r> {
    repository: &'r Repository,
    added: Vec<(BString, Side)>,
    deleted: Vec<(BString, Side)>,
    lines: HashMap<ObjectId, Option<Lines>>,
}

/// How many bytes the lines of a text have, by the hash of the line.
struct Lines {
    bytes: usize,
    by_hash: HashMap<u64, usize>,
}

/// What became of a file, or where it came from.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Renamed {
    One(BString, Side),
    Several,
    No,
}

impl<'r> Renames<'r> {
    pub fn between(repository: &'r Repository, old: ObjectId, new: ObjectId) -> Result<Self, Error> {
        let (mut added, mut deleted) = (Vec::new(), Vec::new());
        for Changed { path, old, new } in between(repository, Some(old), Some(new))? {
            match (old, new) {
                (None, Some(side)) if side.is_file() => added.push((path, side)),
                (Some(side), None) if side.is_file() => deleted.push((path, side)),
                _ => {}
            }
        }
        Ok(Self { repository, added, deleted, lines: HashMap::new() })
    }

    /// What the deleted file at `path` was renamed to.
    pub fn to(&mut self, path: &BStr) -> Result<Renamed, Error> {
        let Some(side) = self.deleted.iter().find(|(deleted, _)| deleted == path).map(|(_, side)| *side)
        else {
            return Ok(Renamed::No);
        };
        let among = std::mem::take(&mut self.added);
        let found = self.like(side, &among);
        self.added = among;
        found
    }

    /// What the new file at `path` was renamed from.
    pub fn from(&mut self, path: &BStr) -> Result<Renamed, Error> {
        let Some(side) = self.added.iter().find(|(added, _)| added == path).map(|(_, side)| *side) else {
            return Ok(Renamed::No);
        };
        let among = std::mem::take(&mut self.deleted);
        let found = self.like(side, &among);
        self.deleted = among;
        found
    }

    fn like(&mut self, side: Side, among: &[(BString, Side)]) -> Result<Renamed, Error> {
        let equal: Vec<_> = among.iter().filter(|(_, other)| other.id == side.id).collect();
        if !equal.is_empty() {
            return Ok(only(&equal));
        }
        if among.len() > MOST {
            return Ok(Renamed::No);
        }
        let mut alike = Vec::new();
        for other in among {
            if self.resemble(side.id, other.1.id)? {
                alike.push(other);
            }
        }
        Ok(only(&alike))
    }

    /// Whether at least half of the larger text is lines of the other: git's measure, by lines.
    fn resemble(&mut self, one: ObjectId, other: ObjectId) -> Result<bool, Error> {
        for id in [one, other] {
            if !self.lines.contains_key(&id) {
                let text = self.repository.blob(id)?;
                self.lines.insert(id, (text.len() <= LARGEST).then(|| Lines::of(&text)));
            }
        }
        let get = |id| self.lines.get(&id).and_then(Option::as_ref);
        Ok(match (get(one), get(other)) {
            (Some(one), Some(other)) => {
                let larger = one.bytes.max(other.bytes);
                larger > 0 && 2 * one.in_common(other) >= larger
            }
            _ => false,
        })
    }
}

fn only(found: &[&(BString, Side)]) -> Renamed {
    match found {
        [] => Renamed::No,
        [(path, side)] => Renamed::One(path.clone(), *side),
        _ => Renamed::Several,
    }
}

impl Lines {
    fn of(text: &[u8]) -> Self {
        let mut by_hash = HashMap::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let mut hasher = DefaultHasher::new();
            line.hash(&mut hasher);
            *by_hash.entry(hasher.finish()).or_default() += line.len();
        }
        Self { bytes: text.len(), by_hash }
    }

    fn in_common(&self, other: &Self) -> usize {
        let common =
            |(hash, bytes): (&u64, &usize)| other.by_hash.get(hash).map_or(0, |there| *bytes.min(there));
        self.by_hash.iter().map(common).sum()
    }
}
