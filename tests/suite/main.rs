//! One binary for all integration tests.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod agreement;
mod git_discovery;
mod git_ownership;
mod git_refusals;
mod git_scaffold;
mod git_worktrees;
mod ledger_chain;
mod ledger_effects;
mod ledger_plans;
mod ledger_verifier;
mod probe;
mod reference;
mod sandbox;
mod simulator;
mod simulator_model;
mod simulator_properties;
mod simulator_steps;
