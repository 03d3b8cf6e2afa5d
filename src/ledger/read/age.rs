//! The order of conflicts by age, and where a page of them ends.

use super::Cursor;

/// Where a conflict stands: the event that found it first, and its key, for one event finds many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub first_seq: i64,
    pub pair: i64,
    pub rule: u8,
    pub scopes: (u32, u32),
}

impl Place {
    /// After every conflict there can be.
    pub(super) const END: Self =
        Self { first_seq: i64::MAX, pair: i64::MAX, rule: u8::MAX, scopes: (u32::MAX, u32::MAX) };
}

impl From<Place> for Cursor {
    fn from(place: Place) -> Self {
        let mut tie = [0; 16];
        // A pair's number needs no eighth byte.
        tie[..7].copy_from_slice(&place.pair.to_be_bytes()[1..]);
        tie[7] = place.rule;
        tie[8..12].copy_from_slice(&place.scopes.0.to_be_bytes());
        tie[12..].copy_from_slice(&place.scopes.1.to_be_bytes());
        Self { position: place.first_seq, tie }
    }
}

impl From<Cursor> for Place {
    fn from(cursor: Cursor) -> Self {
        let number = |bytes: std::ops::Range<usize>| {
            cursor.tie[bytes].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
        };
        #[expect(clippy::cast_possible_truncation, reason = "four bytes")]
        let scope = |bytes| number(bytes) as u32;
        Self {
            first_seq: cursor.position,
            pair: number(0..7).cast_signed(),
            rule: cursor.tie[7],
            scopes: (scope(8..12), scope(12..16)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_survives_its_cursor() {
        let place = Place { first_seq: 7, pair: 1 << 40, rule: 3, scopes: (u32::MAX - 1, 5) };
        assert_eq!(Place::from(Cursor::from(place)), place);
    }
}
