//! Whether git would take one file for another that was moved: equal, or alike by at least half, measured in the chunks
//! git counts. A measure of our own would find renames git does not, and the other way round.

use std::collections::HashMap;

use gix::ObjectId;

use super::super::patch::Side;
use super::super::{Error, Repository};

/// A file above this size is not compared with others.
const LARGEST: u64 = 8 << 20;
/// How far git looks for a byte that text does not have.
const LOOKED_AT: usize = 8_000;
/// A chunk ends with a line, or after so many bytes.
const LONGEST_CHUNK: u32 = 64;
/// So many kinds of chunks git tells apart.
const HASHES: u32 = 107_927;

/// Files that were compared, so that each is read once.
pub(super) struct Resemblance<'r> {
    repository: &'r Repository,
    sizes: HashMap<ObjectId, u64>,
    chunks: HashMap<ObjectId, Chunks>,
}

/// How many bytes of a file are in chunks of which hash, in order of hash.
struct Chunks(Vec<(u32, u64)>);

impl<'r> Resemblance<'r> {
    pub fn new(repository: &'r Repository) -> Self {
        Self { repository, sizes: HashMap::new(), chunks: HashMap::new() }
    }

    /// Whether the two are the same thing that has content; git takes no empty file for another.
    pub fn equal(&self, one: Side, other: Side) -> bool {
        let empty = ObjectId::empty_blob(self.repository.inner().object_hash());
        let same_kind = one.kind == other.kind || (one.is_file() && other.is_file());
        one.id == other.id && same_kind && one.id != empty
    }

    /// Whether the sizes allow that the two are alike, which needs none of them to be read.
    pub fn possible(&mut self, one: Side, other: Side) -> Result<bool, Error> {
        if !one.is_file() || !other.is_file() {
            return Ok(false);
        }
        let (one, other) = (self.size(one.id)?, self.size(other.id)?);
        Ok(one.max(other) <= 2 * one.min(other) && one.min(other) > 0)
    }

    /// Whether at least half of the larger is in the other, too; `None` where they are too large to be read for it.
    pub fn alike(&mut self, one: Side, other: Side) -> Result<Option<bool>, Error> {
        if self.equal(one, other) {
            return Ok(Some(true));
        }
        if !self.possible(one, other)? {
            return Ok(Some(false));
        }
        let larger = self.size(one.id)?.max(self.size(other.id)?);
        if larger > LARGEST {
            return Ok(None);
        }
        for id in [one.id, other.id] {
            if !self.chunks.contains_key(&id) {
                let chunks = Chunks::of(&self.repository.blob(id)?);
                self.chunks.insert(id, chunks);
            }
        }
        let common = match (self.chunks.get(&one.id), self.chunks.get(&other.id)) {
            (Some(one), Some(other)) => one.in_common(other),
            _ => 0,
        };
        Ok(Some(2 * common >= larger))
    }

    fn size(&mut self, id: ObjectId) -> Result<u64, Error> {
        if let Some(size) = self.sizes.get(&id) {
            return Ok(*size);
        }
        let header = self.repository.inner().try_find_header(id);
        let header = header.map_err(|error| self.repository.walk_failed(&error))?;
        let size = header.ok_or_else(|| self.repository.missing(id))?.size();
        self.sizes.insert(id, size);
        Ok(size)
    }
}

impl Chunks {
    /// The chunks of git's `diffcore-delta`, and its hash: where two chunks fall together there, they must here.
    fn of(content: &[u8]) -> Self {
        let is_text = !content[..content.len().min(LOOKED_AT)].contains(&0);
        let mut by_hash: HashMap<u32, u64> = HashMap::new();
        let (mut one, mut two, mut length) = (0_u32, 0_u32, 0_u32);
        let mut bytes = content.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            if is_text && byte == b'\r' && bytes.peek() == Some(&b'\n') {
                continue;
            }
            let before = one;
            one = (one << 7) ^ (two >> 25);
            two = (two << 7) ^ (before >> 25);
            one = one.wrapping_add(u32::from(byte));
            length += 1;
            if length == LONGEST_CHUNK || byte == b'\n' || bytes.peek().is_none() {
                let hash = one.wrapping_add(two.wrapping_mul(0x61)) % HASHES;
                *by_hash.entry(hash).or_default() += u64::from(length);
                (one, two, length) = (0, 0, 0);
            }
        }
        let mut chunks: Vec<_> = by_hash.into_iter().collect();
        chunks.sort_unstable();
        Self(chunks)
    }

    fn in_common(&self, other: &Self) -> u64 {
        let mut others = other.0.iter().peekable();
        let mut common = 0;
        for (hash, bytes) in &self.0 {
            while others.next_if(|(there, _)| there < hash).is_some() {}
            if let Some((_, there)) = others.next_if(|(there, _)| there == hash) {
                common += bytes.min(there);
            }
        }
        common
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_common(one: &[u8], other: &[u8]) -> u64 {
        Chunks::of(one).in_common(&Chunks::of(other))
    }

    #[test]
    fn what_two_files_share_is_counted_in_lines_and_in_64_bytes_of_a_long_line() {
        assert_eq!(in_common(b"a\nb\nc", b"c\nb\nd"), 2);
        assert_eq!(in_common(b"a\r\nb\r\n", b"a\nb\nc\n"), 4, "the end of a line counts for nothing");
        assert_eq!(in_common(b"\0\r\n", b"\0\n"), 0, "but in what is no text it does");
        let mut long: Vec<u8> = (0..640_u32).map(|at| b'a' + u8::try_from(at * at % 23).unwrap()).collect();
        let before = long.clone();
        long[100] = b'!';
        assert_eq!(in_common(&before, &long), 640 - 64);
    }
}
