//! What is printed, and the status the process ends with.

use std::io::{IsTerminal, Write, stderr};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::spelling::spelled;
use super::stream::write_or;
use super::terminal;
use crate::domain::text::beginning;
use crate::failure::{Code, Exit, Failure};
use crate::operations::accepted::Refused;
use crate::operations::answer::AnyAnswer;
use crate::operations::render::{Screen, Whereabouts, escaped_json, visible, visible_json};
use crate::surface::envelope;
use crate::world::World;

/// What a caller wants to see of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Face {
    /// All of it, for a person.
    Screen,
    /// All of it, for a program.
    Json,
    /// The ids of what it is about.
    Ids,
    /// Nothing, unless something is wrong.
    Quiet,
}

/// Where a call's answer goes.
pub(super) struct Output {
    face: Face,
    world: Arc<dyn World>,
    there: Whereabouts,
    writes: bool,
}

impl Output {
    pub(super) fn new(world: Arc<dyn World>, face: Face) -> Self {
        Self { face, world, there: Whereabouts::default(), writes: false }
    }

    /// The same, with commands that act `there`.
    pub(super) fn about(self, there: Whereabouts) -> Self {
        Self { there, ..self }
    }

    /// The same for answers of what may have `written` something, which must not be done again because its answer
    /// was lost.
    pub(super) fn of_a_write(self, written: bool) -> Self {
        Self { writes: written, ..self }
    }

    pub(super) fn answer(&self, answer: &dyn AnyAnswer) -> Exit {
        self.answer_after("", answer)
    }

    /// Prints an answer behind what a longer story needs `before` it.
    pub(super) fn answer_after(&self, before: &str, answer: &dyn AnyAnswer) -> Exit {
        let shown = || {
            let mut screen = self.screen();
            answer.render(&mut screen);
            screen.into_text()
        };
        if matches!(self.face, Face::Ids | Face::Quiet) {
            for warning in answer.warnings() {
                complain(&format!("foremerge: warning: {}\n", visible(warning)));
            }
        }
        match self.face {
            Face::Screen => self.print(&format!("{before}{}", shown()), answer.exit()),
            Face::Json => match envelope::success(answer) {
                Ok(envelope) => self.print(&format!("{}\n", escaped_json(&envelope)), answer.exit()),
                Err(failure) => self.failure(&failure),
            },
            Face::Ids => {
                if let Some(next) = answer.page().and_then(|page| page.next) {
                    complain(&format!("foremerge: the list is cut; its next page begins at {next}\n"));
                }
                let ids = answer.ids().unwrap_or_default();
                let lines = ids.iter().flat_map(|id| [id, "\n"]).collect::<String>();
                self.print(&lines, answer.exit())
            }
            Face::Quiet => {
                // What was asked for with --fail-on is found or not; the status says which.
                if !matches!(answer.exit(), Exit::Success | Exit::Found) {
                    complain(&shown());
                }
                answer.exit()
            }
        }
    }

    /// Prints the answer to what was done; `exit` is then how the process ends.
    fn print(&self, text: &str, exit: Exit) -> Exit {
        print_or(text, exit, if self.writes { "; what was asked for was done" } else { "" })
    }

    pub(super) fn screen(&self) -> Screen {
        let world = &*self.world;
        let screen = Screen::new(terminal::width(world), world.now()).coloured(terminal::has_colours(world));
        screen.about(self.there.clone())
    }

    pub(super) fn failure(&self, failure: &Failure) -> Exit {
        if self.is_json() {
            let envelope = envelope::failure(failure, |step| spelled(step, &self.there));
            print(&format!("{}\n", visible_json(&envelope)), failure.code.exit())
        } else {
            let steps = (failure.next.iter())
                .map(|step| format!("  {}: {}\n", step.audience.as_str(), spelled(step, &self.there)));
            let text = format!("foremerge: {}\n{}", visible(&failure.to_string()), steps.collect::<String>());
            complain(&text);
            failure.code.exit()
        }
    }

    /// What clap has to say: help and version on stdout, a refusal as any other failure, for programs with
    /// what was `refused`. That may have come from an environment `variable`.
    pub(super) fn usage(
        &self,
        mut error: clap::Error,
        variable: Option<&str>,
        refused: Option<Refused>,
    ) -> Exit {
        if let (Some(variable), Some(ContextValue::String(option))) =
            (variable, error.get(ContextKind::InvalidArg))
        {
            let named = ContextValue::String(format!("{option} (from {variable})"));
            error.insert(ContextKind::InvalidArg, named);
        }
        // In the text around what the caller typed, a line end of theirs would look like ours.
        let repeated = |text: &str| {
            let short = beginning(text, 200);
            if self.is_json() { short.into_owned() } else { visible(&short) }
        };
        quote(&mut error, repeated);
        let text = error.render().to_string();
        let shown = || text.lines().map(visible).collect::<Vec<_>>().join("\n") + "\n";
        match (error.kind(), refused) {
            (ErrorKind::DisplayHelp | ErrorKind::DisplayVersion, _) => print(&shown(), Exit::Success),
            (_, Some(Refused { field, accepted })) => {
                let failure = Failure::new(Code::InvalidInput, in_a_sentence(&error, &text));
                self.failure(&failure.with("field", field).with("accepted", accepted))
            }
            (_, None) => {
                complain(&shown());
                Exit::Usage
            }
        }
    }

    /// Prints a part of a longer story at once.
    pub(super) fn tell(&self, screen: Screen) {
        if self.face == Face::Screen {
            print(&screen.into_text(), Exit::Success);
        }
    }

    pub(super) fn is_json(&self) -> bool {
        self.face == Face::Json
    }
}

/// Prints what there is to know of a command.
pub(super) fn explain(mut command: clap::Command) -> Exit {
    print(&command.render_long_help().to_string(), Exit::Success)
}

/// Repeats what the caller typed as `repeated` has it.
fn quote(error: &mut clap::Error, repeated: impl Fn(&str) -> String) {
    let typed = [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::InvalidSubcommand];
    for kind in typed {
        let quoted = match error.get(kind) {
            Some(ContextValue::String(text)) => ContextValue::String(repeated(text)),
            Some(ContextValue::Strings(texts)) => {
                ContextValue::Strings(texts.iter().map(|text| repeated(text)).collect())
            }
            _ => continue,
        };
        error.insert(kind, quoted);
    }
}

/// What clap says on several lines, without its hints on where to read on.
fn in_a_sentence(error: &clap::Error, text: &str) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let usage =
            text.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or("foremerge <COMMAND>");
        return format!("a command is missing: {usage}; --help lists them");
    }
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let parts =
        text.split("\n\n").filter(|part| !part.starts_with("Usage: ") && !part.starts_with("For more "));
    let words = parts.map(|part| part.lines().map(str::trim).collect::<Vec<_>>().join(" ").trim().to_owned());
    words.collect::<Vec<_>>().join("; ")
}

/// Prints an answer; `exit` is then how the process ends.
fn print(text: &str, exit: Exit) -> Exit {
    print_or(text, exit, "")
}

fn print_or(text: &str, exit: Exit, but: &str) -> Exit {
    match write_or(text, but) {
        ControlFlow::Break(failed) if failed != Exit::Success => failed,
        _ => exit,
    }
}

pub(super) fn complain(text: &str) {
    let _ = stderr().write_all(text.as_bytes());
}

const CLEAR_LINE: &str = "\r\x1b[2K";
/// Whether a line of progress stands on the terminal.
static IN_PROGRESS: AtomicBool = AtomicBool::new(false);

/// Tells a person who watches how far a slow command is.
pub(super) fn progress(done: u64, of: Option<u64>) {
    if done > 0 && stderr().is_terminal() {
        let of = of.map(|all| format!(" of {all}")).unwrap_or_default();
        complain(&format!("{CLEAR_LINE}{done}{of}"));
        IN_PROGRESS.store(true, Ordering::Relaxed);
    }
}

/// Takes away what [`progress`] left behind, if anything.
pub(super) fn progress_over() {
    if IN_PROGRESS.swap(false, Ordering::Relaxed) {
        complain(CLEAR_LINE);
    }
}
