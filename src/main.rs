//! The `foremerge` program.

use std::process::ExitCode;
use std::sync::Arc;

use foremerge::surface::cli;
use foremerge::world::Real;

fn main() -> ExitCode {
    ExitCode::from(cli::run(std::env::args_os(), Arc::new(Real)).status())
}
