//! The faces of Foremerge: loops over the registry, plus what is truly local to each.

pub mod cli;
pub mod envelope;
