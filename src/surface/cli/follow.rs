//! Looking at the history again and again: what `work watch` and `status --watch` share.

use std::ops::ControlFlow;
use std::time::Duration;

use clap::{Arg, ArgMatches, value_parser};

use super::stream::is_deserted_within;
use crate::domain::Event;
use crate::failure::{Exit, Failure};
use crate::ledger::Ledger;
use crate::ledger::feed::Feed;

const INTERVAL: &str = "interval-ms";
/// How often one looks unless told, in milliseconds.
const USUAL: u64 = 500;
/// Events read at once.
const PAGE: u32 = 500;

/// The option that says how often to look.
pub(super) fn interval() -> Arg {
    Arg::new(INTERVAL).long(INTERVAL).value_name("MS").value_parser(value_parser!(u64)).help(
        "How often to look, in milliseconds: 100 to 10,000 or as near as can be, 500 if nothing is said",
    )
}

/// Tells of every event behind `after` as it arrives, some at a time, and of none whenever there are
/// no more by now. Ends when it is told to, or when nobody reads what is printed.
///
/// # Errors
/// Whatever stops a read, and what `tell` fails with.
pub(super) fn follow(
    ledger: &Ledger,
    after: u64,
    arguments: &ArgMatches,
    mut tell: impl FnMut(&[Event]) -> Result<ControlFlow<Exit>, Failure>,
) -> Result<Exit, Failure> {
    let interval = arguments.get_one(INTERVAL).copied().unwrap_or(USUAL).clamp(100, 10_000);
    let interval = Duration::from_millis(interval);
    let mut feed = Feed::new(ledger, after)?;
    loop {
        let events = feed.poll(PAGE)?;
        if let ControlFlow::Break(exit) = tell(&events)? {
            return Ok(exit);
        }
        if events.is_empty() && is_deserted_within(interval) {
            return Ok(Exit::Success);
        }
    }
}
