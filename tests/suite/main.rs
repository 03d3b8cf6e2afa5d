//! One binary for all integration tests.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod agreement;
mod cli;
mod cli_demo;
mod cli_hostile;
mod cli_ids;
mod cli_places;
mod cli_shapes;
mod cli_usage;
mod git_discovery;
mod git_ownership;
mod git_refusals;
mod git_scaffold;
mod git_worktrees;
mod library;
mod ops_bounds;
mod ops_files;
mod ops_json;
mod ops_publish;
mod ops_reads;
mod ops_register;
mod ops_schema;
mod ops_screens;
mod ops_together;
mod probe;
mod sandbox;
