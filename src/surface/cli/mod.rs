//! The command line.

mod demo;
mod follow;
mod grammar;
mod guide;
mod help;
mod lifecycle;
mod number;
mod output;
mod redraw;
mod refusal;
mod spelling;
mod stream;
mod swallowed;
mod terminal;
mod tour;
mod watch;

use std::error::Error as _;
use std::ffi::OsString;
use std::sync::Arc;

use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue};

use crate::failure::{Exit, Failure};
use crate::ledger::Settings;
use crate::operations::Effect;
use crate::operations::answer::AnyAnswer;
use crate::operations::registry::Entry;
use crate::service::nearest::agent_meant;
use crate::service::{Call, Host, Surface};
use crate::world::World;
use output::{Face, Output};

pub use grammar::command;
pub use spelling::spelled;

/// Runs one command line and says how the process is to end.
pub fn run(arguments: impl IntoIterator<Item = OsString>, world: Arc<dyn World>) -> Exit {
    let arguments: Vec<_> = arguments.into_iter().collect();
    let face = if grammar::wants_json(&arguments) { Face::Json } else { Face::Screen };
    let output = Output::new(Arc::clone(&world), face);
    let arguments = help::without_options(arguments);
    let narrowed = grammar::narrowed(&*world, &arguments);
    let understood = narrowed.and_then(|command| command.try_get_matches_from(&arguments).ok());
    if let Some(matches) = understood.filter(|matches| !swallowed::may_be(matches)) {
        return dispatch(&matches, world).unwrap_or_else(|failure| output.failure(&failure));
    }
    let mut command = command(&*world);
    let parsed = command.try_get_matches_from_mut(&arguments);
    if parsed.as_ref().map_or(true, swallowed::may_be)
        && let Some(error) = swallowed::refused(grammar::command(&*world), &arguments)
    {
        let refused = output.is_json().then(|| refusal::of(&error, grammar::command(&*world), &arguments));
        return output.usage(error, None, refused);
    }
    match parsed {
        Ok(matches) => dispatch(&matches, world).unwrap_or_else(|failure| output.failure(&failure)),
        Err(mut error) => {
            command.build();
            let variable = grammar::variable_behind(&error, &command, &arguments);
            grammar::suggest_command(&mut error, &command, &arguments);
            grammar::suggest_variable(&mut error);
            suggest_agent(&mut error, &arguments, &world);
            let refused =
                output.is_json().then(|| refusal::of(&error, grammar::command(&*world), &arguments));
            output.usage(error, variable.as_deref(), refused)
        }
    }
}

/// Adds to a refusal which agent was meant by a name where an id belongs.
fn suggest_agent(error: &mut clap::Error, arguments: &[OsString], world: &Arc<dyn World>) {
    let Some(ContextValue::String(written)) = error.get(ContextKind::InvalidValue) else { return };
    // What could be read of the line says where the ledger is.
    let readable = command(&**world).ignore_errors(true).try_get_matches_from(arguments);
    let Some(host) = readable
        .ok()
        .and_then(|globals| host(grammar::innermost(&globals), &globals, Arc::clone(world)).ok())
    else {
        return;
    };
    let refusal = error.source().map(ToString::to_string).unwrap_or_default();
    if let Some(meant) = agent_meant(&host, written, &refusal) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![meant.into()]));
    }
}

/// Failures of the command itself are printed here.
///
/// # Errors
/// When what is asked for does not go together.
fn dispatch(matches: &ArgMatches, world: Arc<dyn World>) -> Result<Exit, Failure> {
    let chosen = grammar::chosen(matches);
    let arguments = match chosen {
        grammar::Chosen::Lifecycle => {
            return Ok(output::explain(lifecycle::command(terminal::width(&*world))));
        }
        grammar::Chosen::Operation(_, arguments)
        | grammar::Chosen::Demo(arguments)
        | grammar::Chosen::Watch(arguments) => arguments,
    };
    let face = grammar::face(arguments, matches)?;
    let output = Output::new(Arc::clone(&world), face);
    // The demonstration acts in places of its own.
    let output = match chosen {
        grammar::Chosen::Demo(_) => output,
        _ => output.about(grammar::whereabouts(arguments, matches, &*world)),
    };
    let output = match chosen {
        grammar::Chosen::Operation(entry, _) => output.of_a_write(entry.spec.effect == Effect::Write),
        _ => output,
    };
    let has_ids = matches!(chosen, grammar::Chosen::Operation(entry, _) if entry.has_ids);
    if face == Face::Ids && !has_ids {
        return Err(Failure::invalid(
            "id-only",
            "this command answers with no id; leave the option out",
            "a command that answers with ids",
        ));
    }
    if face == Face::Quiet && grammar::marks_read(arguments) {
        return Err(Failure::invalid(
            grammar::MARK_READ,
            "with --quiet nobody sees what would be marked; leave one of the two out",
            "any output but none",
        ));
    }
    let answered = match chosen {
        grammar::Chosen::Demo(demo) => demo::run(demo, matches, world, &output).map(|()| Exit::Success),
        grammar::Chosen::Watch(watch) => watch::run(watch, matches, world, &output),
        grammar::Chosen::Lifecycle => Ok(Exit::Success),
        grammar::Chosen::Operation(entry, arguments) if redraw::is_wanted(entry, arguments) => {
            redraw::run(entry, arguments, matches, &world, &output)
        }
        grammar::Chosen::Operation(entry, arguments) => {
            operate(entry, arguments, matches, world).map(|answer| output.answer(&*answer))
        }
    };
    Ok(answered.unwrap_or_else(|failure| output.failure(&failure)))
}

fn operate(
    entry: &Entry,
    arguments: &ArgMatches,
    globals: &ArgMatches,
    world: Arc<dyn World>,
) -> Result<Box<dyn AnyAnswer>, Failure> {
    call(entry, arguments, &host(arguments, globals, world)?)
}

/// The surroundings that global options ask for.
fn host(arguments: &ArgMatches, globals: &ArgMatches, world: Arc<dyn World>) -> Result<Host, Failure> {
    let directory = grammar::path(arguments, globals, grammar::CWD);
    let database = grammar::path(arguments, globals, grammar::DATABASE);
    let host = Host::new(world, directory.as_deref(), database.as_deref(), Settings::default())?;
    // Whoever reads the repository asks where it was started, though nothing is looked up there. A call from a shell
    // whose directory is gone goes where it was told to work; should that fail, the repository will not be readable.
    if host.world().current_dir().is_err() {
        let _ = host.world().enter(host.directory());
    }
    Ok(host)
}

fn call(entry: &Entry, arguments: &ArgMatches, host: &Host) -> Result<Box<dyn AnyAnswer>, Failure> {
    let call = Call { progress: &output::progress, ..Call::of(Surface::Cli) };
    let answer = (entry.run_arguments)(host, &call, arguments);
    output::progress_over();
    answer.map_err(|failure| grammar::blaming_variable(failure, arguments, host.world()))
}
