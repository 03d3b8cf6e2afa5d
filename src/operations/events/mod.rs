//! Operations on the history.

pub(super) mod audit;
pub(super) mod list;
pub mod phrase;
