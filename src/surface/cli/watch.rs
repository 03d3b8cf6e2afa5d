//! `foremerge work watch`: events as they arrive. No operation: a loop over the one feed.

use std::ops::ControlFlow;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::json;

use super::follow::{self, follow};
use super::grammar;
use super::output::{Face, Output};
use super::stream::write;
use crate::domain::Event;
use crate::failure::{Code, Exit, Failure};
use crate::operations::events::phrase::{Names, told};
use crate::operations::render::{dim, visible_json};
use crate::world::World;

/// The family and the word it is called by.
pub(super) const COMMAND: (&str, &str) = ("work", "watch");

const AFTER: &str = "after-seq";
const ONCE: &str = "once";

pub(super) fn command() -> Command {
    Command::new(COMMAND.1)
        .about("Print events as they happen, until interrupted")
        .after_help(
            "Begins with what happens from now on, unless --after-seq says where. With --once it begins with the first \
             event, prints what there is and ends. Remember the last seq you saw and go on behind it. It ends with Ctrl-C, \
             with whoever reads it, and when the ledger is replaced.\n\n\
             Example:\n  foremerge work watch --json",
        )
        .arg(
            Arg::new(AFTER)
                .long(AFTER)
                .value_name("SEQ")
                .value_parser(value_parser!(u64))
                .help("Begin behind this event"),
        )
        .arg(follow::interval())
        .arg(
            Arg::new(ONCE)
                .long(ONCE)
                .action(ArgAction::SetTrue)
                .help("Print every event there is by now, and end"),
        )
}

/// Watches until there is nothing more to print for, or nobody to print to.
///
/// # Errors
/// Whatever stops a read, and what cannot be printed.
pub(super) fn run(
    arguments: &ArgMatches,
    globals: &ArgMatches,
    world: Arc<dyn World>,
    output: &Output,
) -> Result<Exit, Failure> {
    if grammar::face(arguments, globals)? == Face::Quiet {
        return Err(Failure::invalid(
            COMMAND.1,
            "there is nothing to watch with --quiet",
            "any output but none",
        ));
    }
    let ledger = super::host(arguments, globals, world)?.ledger()?;
    let once = arguments.get_flag(ONCE);
    let after = match arguments.get_one::<u64>(AFTER) {
        Some(after) => (*after).min(i64::MAX.cast_unsigned()),
        None if once => 0,
        None => ledger.read(|snapshot| snapshot.last_seq())?,
    };
    follow(&ledger, after, arguments, |events| {
        let names = if output.is_json() {
            Names::new()
        } else {
            ledger.read(|snapshot| Names::of(snapshot, events))?
        };
        for event in events {
            let printed = write(&line(event, &names, output)?);
            if printed.is_break() {
                return Ok(printed);
            }
        }
        Ok(if once && events.is_empty() {
            ControlFlow::Break(Exit::Success)
        } else {
            ControlFlow::Continue(())
        })
    })
}

fn line(event: &Event, names: &Names, output: &Output) -> Result<String, Failure> {
    if !output.is_json() {
        let mut screen = output.screen();
        screen.line(dim(format!("{} {} ", event.seq, event.created_at)).then(told(event, names)));
        return Ok(screen.into_text());
    }
    let event = serde_json::to_value(event).map_err(|error| {
        Failure::new(Code::InternalError, format!("the event cannot be written: {error}"))
    })?;
    Ok(format!("{}\n", visible_json(&json!({ "ok": true, "data": event }))))
}
