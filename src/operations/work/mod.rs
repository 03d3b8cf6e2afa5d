//! Operations on work: claims, and the life of an intent after it was published.

pub(super) mod adopt;
pub(super) mod claim;
pub(super) mod discard;
pub(super) mod query;
pub(super) mod release;
pub(super) mod start;
