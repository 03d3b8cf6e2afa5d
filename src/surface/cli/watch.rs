//! `foremerge work watch`: events as they arrive. No operation: a loop over the one feed.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::json;

use super::grammar;
use super::output::Output;
use super::stream::{is_deserted_within, write};
use crate::domain::Event;
use crate::failure::{Code, Exit, Failure};
use crate::ledger::feed::Feed;
use crate::ledger::{Ledger, Settings};
use crate::operations::render::visible_json;
use crate::service::Host;
use crate::world::World;

/// The family and the word it is called by.
pub(super) const COMMAND: (&str, &str) = ("work", "watch");

const AFTER: &str = "after-seq";
const INTERVAL: &str = "interval-ms";
const ONCE: &str = "once";
/// Events read at once.
const PAGE: u32 = 500;

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
        .arg(
            Arg::new(INTERVAL)
                .long(INTERVAL)
                .value_name("MS")
                .value_parser(value_parser!(u64))
                .default_value("500")
                .help("How often to look, in milliseconds: 100 to 10,000, or as near to that as can be"),
        )
        .arg(
            Arg::new(ONCE)
                .long(ONCE)
                .action(ArgAction::SetTrue)
                .help("Print every event there is by now, and end"),
        )
}

/// Watches until there is nothing more to print for, or nobody to print to.
pub(super) fn run(
    arguments: &ArgMatches,
    globals: &ArgMatches,
    world: Arc<dyn World>,
    output: &Output,
) -> Result<Exit, Failure> {
    let directory = grammar::path(arguments, globals, grammar::CWD);
    let database = grammar::path(arguments, globals, grammar::DATABASE);
    let host =
        Host::new(world, directory.as_deref(), database.as_deref().map(Path::new), Settings::default())?;
    let ledger = host.ledger()?;
    let once = arguments.get_flag(ONCE);
    let after = match arguments.get_one::<u64>(AFTER) {
        Some(after) => (*after).min(i64::MAX.cast_unsigned()),
        None if once => 0,
        None => newest(&ledger)?,
    };
    let interval = arguments.get_one::<u64>(INTERVAL).copied().unwrap_or(500).clamp(100, 10_000);
    let pause = Duration::from_millis(interval);
    let mut feed = Feed::new(&ledger, after)?;
    loop {
        let events = feed.poll(PAGE)?;
        for event in &events {
            if let ControlFlow::Break(exit) = write(&line(event, output)?) {
                return Ok(exit);
            }
        }
        if events.is_empty() && (once || is_deserted_within(pause)) {
            return Ok(Exit::Success);
        }
    }
}

fn newest(ledger: &Ledger) -> Result<u64, Failure> {
    Ok(ledger.read(|snapshot| snapshot.last_seq())?)
}

fn line(event: &Event, output: &Output) -> Result<String, Failure> {
    if !output.is_json() {
        let mut screen = output.screen();
        let short = |id: &str| id.chars().take(12).collect::<String>();
        let agent = event.agent_id.as_deref().map(|agent| format!(" by {}", short(agent)));
        let why = event.why_not_effective.as_ref().map(|why| format!(" (no effect: {why})"));
        screen.line(format!(
            "{} {} {} {}{}{}",
            event.seq,
            event.created_at,
            event.event_type,
            short(&event.entity_id),
            agent.unwrap_or_default(),
            why.unwrap_or_default()
        ));
        return Ok(screen.into_text());
    }
    let event = serde_json::to_value(event).map_err(|error| {
        Failure::new(Code::InternalError, format!("the event cannot be written: {error}"))
    })?;
    Ok(format!("{}\n", visible_json(&json!({ "ok": true, "data": event }))))
}
