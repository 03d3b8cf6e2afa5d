//! Foremerge tells parallel coding agents that their work collides before the code exists.
//!
//! The rooms, from the ground up; each knows only those above it in this list:
//!
//! - [`domain`]: what the words mean
//! - [`detect`]: pure findings; [`world`]: the door to clock, chance and environment
//! - [`git`]: Git through gix; [`ledger`]: the history in SQLite. Neither knows the other.
//! - [`failure`]: refusals with codes, exits and next steps
//! - [`service`]: what operations share
//! - [`operations`]: everything Foremerge can do, and the registry of it
//! - [`surface`]: the faces, read off the registry
//!
//! `docs/architecture.md` is the guided tour.

pub mod detect;
pub mod domain;
pub mod failure;
pub mod git;
pub mod ledger;
pub mod operations;
pub mod service;
pub mod surface;
pub mod world;
