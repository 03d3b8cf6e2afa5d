//! One binary for all integration tests.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod agreement;
mod child;
mod git_discovery;
mod git_ownership;
mod git_refusals;
mod git_scaffold;
mod git_worktrees;
mod ledger_crashes;
mod ledger_creation;
mod ledger_damage;
mod ledger_kills;
mod ledger_media;
mod ledger_replicas;
mod ledger_writers;
mod mount;
mod probe;
mod sandbox;
mod workplace;
