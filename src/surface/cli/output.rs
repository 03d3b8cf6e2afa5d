//! What is printed, and the status the process ends with.

use std::io::{IsTerminal, Write, stderr, stdout};

use clap::error::ErrorKind;

use super::grammar::spelled;
use crate::domain::Timestamp;
use crate::failure::{Code, Exit, Failure};
use crate::operations::answer::AnyAnswer;
use crate::operations::render::{Screen, visible};
use crate::surface::envelope;
use crate::world::World;

/// Where a call's answer goes.
pub(super) struct Output {
    json: bool,
    width: u16,
    now: Timestamp,
}

/// Width of a screen that is no terminal.
const WIDTH: u16 = 100;

impl Output {
    pub(super) fn new(world: &dyn World, json: bool) -> Self {
        let columns = world.variable("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
        let width = columns.filter(|columns| *columns >= 20).unwrap_or(WIDTH);
        Self { json, width, now: world.now() }
    }

    pub(super) fn answer(&self, answer: &dyn AnyAnswer) -> Exit {
        if self.json {
            match envelope::success(answer) {
                Ok(envelope) => print(&format!("{envelope}\n")),
                Err(failure) => return self.failure(&failure),
            }
        } else {
            let mut screen = self.screen();
            answer.render(&mut screen);
            print(&screen.into_text());
        }
        answer.exit()
    }

    pub(super) fn screen(&self) -> Screen {
        Screen::new(self.width, self.now)
    }

    pub(super) fn failure(&self, failure: &Failure) -> Exit {
        if self.json {
            print(&format!("{}\n", envelope::failure(failure, spelled)));
        } else {
            let steps =
                failure.next.iter().map(|step| format!("  {}: {}\n", step.audience.as_str(), spelled(step)));
            let text = format!("foremerge: {}\n{}", visible(&failure.to_string()), steps.collect::<String>());
            complain(&text);
        }
        failure.code.exit()
    }

    /// What clap has to say: help and version on stdout, a refusal as any other failure.
    pub(super) fn usage(&self, error: &clap::Error) -> Exit {
        let text = error.render();
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                print(&text.to_string());
                Exit::Success
            }
            _ if self.json => {
                let text = text.to_string();
                let message = text.strip_prefix("error: ").unwrap_or(&text).trim();
                let message =
                    message.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
                self.failure(&Failure::new(Code::InvalidInput, message))
            }
            _ => {
                let shown: Vec<_> = text.to_string().lines().map(visible).collect();
                complain(&(shown.join("\n") + "\n"));
                Exit::Usage
            }
        }
    }

    /// Prints a part of a longer story at once.
    pub(super) fn tell(&self, screen: Screen) {
        if !self.json {
            print(&screen.into_text());
        }
    }

    pub(super) fn is_json(&self) -> bool {
        self.json
    }
}

fn print(text: &str) {
    // A reader that went away, as `| head` does, is no failure of ours.
    let _ = stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush());
}

fn complain(text: &str) {
    let _ = stderr().write_all(text.as_bytes());
}

const CLEAR_LINE: &str = "\r\x1b[2K";

/// Tells a person who watches how far a slow command is.
pub(super) fn progress(done: u64, of: Option<u64>) {
    if done > 0 && stderr().is_terminal() {
        let of = of.map(|all| format!(" of {all}")).unwrap_or_default();
        complain(&format!("{CLEAR_LINE}{done}{of}"));
    }
}

/// Takes away what [`progress`] left behind.
pub(super) fn progress_over() {
    if stderr().is_terminal() {
        complain(CLEAR_LINE);
    }
}
