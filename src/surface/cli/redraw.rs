//! `status --watch`: the overview again whenever something happened.

use std::io::{IsTerminal, stdout};
use std::ops::ControlFlow;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::follow::{self, follow};
use super::grammar;
use super::output::{Face, Output};
use crate::domain::Timestamp;
use crate::failure::{Exit, Failure};
use crate::operations::registry::Entry;
use crate::world::World;

const WATCH: &str = "watch";
/// The operation that can be watched.
const WATCHED: &str = "status";

/// Clears the screen and goes to its first line. What was scrolled off it before is the person's and stays.
const ANEW: &str = "\x1b[H\x1b[2J";
/// On a terminal times are told anew this often, though nothing happened.
const TIMES_AGE: std::time::Duration = std::time::Duration::from_secs(60);

/// Adds what the watched operation takes besides its input.
pub(super) fn arguments(entry: &Entry, command: Command) -> Command {
    if entry.spec.id != WATCHED {
        return command;
    }
    command.args([
        Arg::new(WATCH)
            .long(WATCH)
            .action(ArgAction::SetTrue)
            .help("Show it again whenever something happened, until interrupted"),
        follow::interval().requires(WATCH),
    ])
}

/// Whether to go on instead of answering once.
pub(super) fn is_wanted(entry: &Entry, arguments: &ArgMatches) -> bool {
    entry.spec.id == WATCHED && arguments.get_flag(WATCH)
}

/// Answers until nobody reads on.
///
/// # Errors
/// Whatever stops the operation.
pub(super) fn run(
    entry: &Entry,
    arguments: &ArgMatches,
    globals: &ArgMatches,
    world: &Arc<dyn World>,
    output: &Output,
) -> Result<Exit, Failure> {
    if grammar::face(arguments, globals)? == Face::Quiet {
        return Err(Failure::invalid(WATCH, "there is nothing to watch with --quiet", "any output but none"));
    }
    let terminal = stdout().is_terminal() && !output.is_json();
    let host = super::host(arguments, globals, Arc::clone(world))?;
    let ledger = host.ledger()?;
    let newest = ledger.read(|snapshot| snapshot.last_seq())?;
    let (mut happened, mut drawn): (_, Option<Timestamp>) = (false, None);
    follow(&ledger, newest, arguments, |events| {
        happened |= !events.is_empty();
        let aged = terminal && drawn.is_some_and(|drawn| world.now().since(drawn) >= TIMES_AGE);
        if !events.is_empty() || drawn.is_some() && !happened && !aged {
            return Ok(ControlFlow::Continue(()));
        }
        let answer = super::call(entry, arguments, &host)?;
        let before = match (terminal, drawn) {
            (true, _) => ANEW.to_owned(),
            (false, Some(_)) if !output.is_json() => format!("\n--- {}\n\n", world.now()),
            (false, _) => String::new(),
        };
        let exit = output.answer_after(&before, &*answer);
        (happened, drawn) = (false, Some(world.now()));
        Ok(if exit == Exit::Success { ControlFlow::Continue(()) } else { ControlFlow::Break(exit) })
    })
}
