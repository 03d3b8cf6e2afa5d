//! Every operation, with its types erased: what the surfaces loop over.

use clap::{Args, FromArgMatches};
use serde_json::Value;

use super::answer::AnyAnswer;
use super::{Operation, Spec, agent, conflicts, events, init, intent, status};
use crate::domain::text::beginning;
use crate::failure::{Code, Failure};
use crate::ledger;
use crate::service::{Call, Cx, Host};

/// What an operation without its types answers.
pub type Answered = Result<Box<dyn AnyAnswer>, Failure>;

/// An operation without its types.
pub struct Entry {
    /// Names and properties.
    pub spec: &'static Spec,
    /// JSON Schema of the input.
    pub input_schema: fn() -> schemars::Schema,
    /// JSON Schema of the data it answers.
    pub output_schema: fn() -> schemars::Schema,
    /// Adds the input's arguments to a command.
    pub arguments: fn(clap::Command) -> clap::Command,
    /// Runs it with parsed arguments.
    pub run_arguments: fn(&Host, &Call<'_>, &clap::ArgMatches) -> Answered,
    /// Runs it with a JSON object.
    pub run_json: fn(&Host, &Call<'_>, Value) -> Answered,
}

/// Every operation, in the order help lists them.
pub const ALL: &[Entry] = &[
    entry::<init::Init>(),
    entry::<agent::register::Register>(),
    entry::<agent::list::List>(),
    entry::<intent::publish::Publish>(),
    entry::<intent::show::Show>(),
    entry::<conflicts::list::List>(),
    entry::<conflicts::show::Show>(),
    entry::<events::list::List>(),
    entry::<events::audit::Audit>(),
    entry::<status::Status>(),
];

/// The operation with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.spec.id == id)
}

const fn entry<O: Operation>() -> Entry {
    Entry {
        spec: &O::SPEC,
        input_schema: || schemars::schema_for!(O::Input),
        output_schema: || schemars::schema_for!(O::Output),
        arguments: <O::Input as Args>::augment_args,
        run_arguments: run_arguments::<O>,
        run_json: run_json::<O>,
    }
}

fn run_arguments<O: Operation>(host: &Host, call: &Call<'_>, matches: &clap::ArgMatches) -> Answered {
    let input = O::Input::from_arg_matches(matches)
        .map_err(|error| Failure::new(Code::InvalidInput, error.to_string()))?;
    run::<O>(host, call, input)
}

fn run_json<O: Operation>(host: &Host, call: &Call<'_>, input: Value) -> Answered {
    // Serde would take a list for a struct, field by field.
    if !input.is_object() {
        return Err(Failure::invalid("input", "must be a JSON object"));
    }
    let input = serde_path_to_error::deserialize(input).map_err(|error| {
        let path = error.path().to_string();
        let path = beginning(&path, 200);
        let why = error.into_inner().to_string();
        Failure::invalid(if path == "." { "input" } else { &path }, beginning(&why, 2_000))
    })?;
    run::<O>(host, call, input)
}

fn run<O: Operation>(host: &Host, call: &Call<'_>, input: O::Input) -> Answered {
    // A call may wait its turn; one that nobody waits for any more must not act.
    if (call.cancelled)() {
        return Err(ledger::Error::Cancelled.into());
    }
    let outcome = Cx::open(host, call).and_then(|cx| O::run(&cx, input));
    if outcome.as_ref().is_err_and(|failure| failure.code == Code::LedgerReplaced) {
        // This call is refused; the next one opens what is there now.
        host.forget_ledger();
    }
    Ok(Box::new(outcome?))
}
