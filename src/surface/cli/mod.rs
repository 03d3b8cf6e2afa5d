//! The command line.

mod demo;
mod grammar;
mod output;
mod refusal;
mod spelling;
mod stream;
mod tour;
mod watch;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use clap::ArgMatches;

use crate::failure::{Exit, Failure};
use crate::ledger::Settings;
use crate::operations::answer::AnyAnswer;
use crate::operations::registry::Entry;
use crate::service::{Call, Host, Surface};
use crate::world::World;
use output::Output;

pub use grammar::command;
pub use spelling::spelled;

/// Runs one command line and says how the process is to end.
pub fn run(arguments: impl IntoIterator<Item = OsString>, world: Arc<dyn World>) -> Exit {
    let arguments: Vec<_> = arguments.into_iter().collect();
    let output = Output::new(&*world, grammar::wants_json(&arguments));
    let mut command = command(&*world);
    match command.try_get_matches_from_mut(&arguments) {
        Ok(matches) => dispatch(&matches, world, &output),
        Err(error) => {
            command.build();
            let variable = grammar::variable_behind(&error, &command, &arguments);
            let refused =
                output.is_json().then(|| refusal::of(&error, grammar::command(&*world), &arguments));
            output.usage(error, variable.as_deref(), refused)
        }
    }
}

fn dispatch(matches: &ArgMatches, world: Arc<dyn World>, output: &Output) -> Exit {
    match grammar::chosen(matches) {
        grammar::Chosen::Demo(demo) => match demo::run(demo, matches, world, output) {
            Ok(()) => Exit::Success,
            Err(failure) => output.failure(&failure),
        },
        grammar::Chosen::Watch(watch) => {
            watch::run(watch, matches, world, output).unwrap_or_else(|failure| output.failure(&failure))
        }
        grammar::Chosen::Operation(entry, arguments) => match operate(entry, arguments, matches, world) {
            Ok(answer) => output.answer(&*answer),
            Err(failure) => output.failure(&failure),
        },
    }
}

fn operate(
    entry: &Entry,
    arguments: &ArgMatches,
    globals: &ArgMatches,
    world: Arc<dyn World>,
) -> Result<Box<dyn AnyAnswer>, Failure> {
    let directory = grammar::path(arguments, globals, grammar::CWD);
    let database = grammar::path(arguments, globals, grammar::DATABASE);
    let host =
        Host::new(world, directory.as_deref(), database.as_deref().map(Path::new), Settings::default())?;
    let call = Call { progress: &output::progress, ..Call::of(Surface::Cli) };
    let answer = (entry.run_arguments)(&host, &call, arguments);
    output::progress_over();
    answer
}
