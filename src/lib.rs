//! Foremerge.
pub mod detect;
pub mod domain;
pub mod world;
