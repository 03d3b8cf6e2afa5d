//! Operations by which agents talk to each other.

pub(super) mod inbox;
pub(super) mod send;
