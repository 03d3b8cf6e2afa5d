//! SHA-256 over length-prefixed fields, so that no two lists of fields share their bytes.

use sha2::{Digest as _, Sha256};

/// A SHA-256 value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest stored as these 32 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The digest of `bytes` as they stand, without a length.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a list of fields, each preceded by its length as eight big-endian bytes.
    #[must_use]
    pub fn of_fields(fields: &[&[u8]]) -> Self {
        let mut hasher = Self::hasher();
        for field in fields {
            hasher.field(field);
        }
        hasher.finish()
    }

    /// A digest that is fed piece by piece.
    #[must_use]
    pub fn hasher() -> Hasher {
        Hasher(Sha256::new())
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A digest in the making: what does not fit into memory, and lists of unknown length.
#[derive(Clone)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Take in `bytes` as they stand.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Take in one field as [`Digest::of_fields`] does.
    pub fn field(&mut self, field: &[u8]) {
        self.0.update((field.len() as u64).to_be_bytes());
        self.0.update(field);
    }

    /// The digest of all that was taken in.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl std::io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Display for Digest {
    /// `sha256:` and lower-case hexadecimal digits.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn fields_cannot_be_shifted_into_one_another() {
        assert_ne!(Digest::of_fields(&[b"ab", b"c"]), Digest::of_fields(&[b"a", b"bc"]));
        assert_ne!(Digest::of_fields(&[b""]), Digest::of_fields(&[]));
    }

    #[test]
    fn piece_by_piece_or_at_once_is_the_same_digest() {
        let mut hasher = Digest::hasher();
        hasher.field(b"ab");
        hasher.field(b"c");
        assert_eq!(hasher.finish(), Digest::of_fields(&[b"ab", b"c"]));
        let mut hasher = Digest::hasher();
        std::io::Write::write_all(&mut hasher, b"abc").unwrap();
        assert_eq!(hasher.finish(), Digest::of(b"abc"));
    }

    #[test]
    fn the_digest_of_bytes_is_plain_sha_256() {
        assert_eq!(
            Digest::of(b"abc").to_string(),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
