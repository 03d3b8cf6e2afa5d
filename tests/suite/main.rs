//! One binary for all integration tests.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod agreement;
mod child;
mod git_discovery;
mod git_ownership;
mod git_refusals;
mod git_scaffold;
mod git_worktrees;
mod ledger_chain;
mod ledger_crashes;
mod ledger_creation;
mod ledger_damage;
mod ledger_effects;
mod ledger_kills;
mod ledger_media;
mod ledger_plans;
mod ledger_replicas;
mod ledger_verifier;
mod ledger_writers;
mod mount;
mod probe;
mod reference;
mod sandbox;
mod simulator;
mod simulator_model;
mod simulator_properties;
mod simulator_steps;
mod workplace;
