//! Pure findings: when two pieces of declared work collide, how badly, and what to do.
//!
//! Everything here is a function of its arguments, symmetric in the two sides and independent
//! of the order of scopes. It never reads a clock, a file, a ledger or a repository.

pub mod advice;
pub mod bounds;
pub mod canonical;
pub mod english;
pub mod findings;
pub mod names;
pub mod outline;
pub mod overlaps;
pub mod promise;
pub mod prose;
pub mod qualified;
pub mod rules;
pub mod thing;
pub mod tiers;
pub mod warnings;

pub use findings::{Finding, Side, between};
