//! Which argument a command line was refused for, and what it takes, for programs.

use std::any::TypeId;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command};
use serde_json::Value;

use super::grammar;
use crate::domain::Severity;
use crate::domain::text::beginning;
use crate::operations::accepted::{self, Refused, Step};

/// What `error` refused of the words `typed`; `root` is the whole command line, not used yet.
pub(super) fn of(error: &clap::Error, root: Command, typed: &[OsString]) -> Refused {
    // Set before the commands below are built from it, or it does not hold for them.
    let mut root = root.ignore_errors(true);
    let matches = root.try_get_matches_from_mut(typed).ok();
    root.build();
    let (words, command) = deepest(&root, matches.as_ref());
    match error.kind() {
        ErrorKind::InvalidSubcommand
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Refused { field: "command".to_owned(), accepted: commands(command) }
        }
        _ => argument(error, &words, command),
    }
}

/// The last command that was understood, and the words for it.
pub(super) fn deepest<'c>(root: &'c Command, matches: Option<&ArgMatches>) -> (Vec<String>, &'c Command) {
    let (mut words, mut command, mut matches) = (Vec::new(), root, matches);
    while let Some((word, inner)) = matches.and_then(ArgMatches::subcommand) {
        let Some(next) = command.find_subcommand(word) else { break };
        words.push(word.to_owned());
        (command, matches) = (next, Some(inner));
    }
    (words, command)
}

fn argument(error: &clap::Error, words: &[String], command: &Command) -> Refused {
    let spelled = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(spelled)) => spelled.as_str(),
        Some(ContextValue::Strings(spelled)) => spelled.first().map_or("", String::as_str),
        _ => "",
    };
    let Some(argument) = command.get_arguments().find(|argument| argument.to_string() == spelled) else {
        let field = if spelled.is_empty() { "arguments" } else { spelled };
        return Refused { field: beginning(field, 200).into_owned(), accepted: options(command) };
    };
    let field = argument.get_id().as_str();
    let entry = match words {
        [verb] => grammar::called(None, verb),
        [noun, verb] => grammar::called(Some(noun), verb),
        _ => None,
    };
    let of_an_input = entry.and_then(|entry| {
        let schema = (entry.input_schema)().to_value();
        schema["properties"].get(field)?;
        Some(accepted::at(&schema, &[Step::Field(field)], &Value::Null))
    });
    of_an_input.unwrap_or_else(|| Refused { field: field.to_owned(), accepted: value(argument) })
}

/// What stands for the value of an argument that is of no operation's input.
fn value(argument: &Arg) -> Value {
    if argument.get_value_parser().type_id() == TypeId::of::<Severity>() {
        return Severity::ALL.iter().map(|word| Value::from(word.as_str())).collect();
    }
    let name = argument.get_value_names().and_then(<[_]>::first);
    name.map_or("nothing behind it", |name| name.as_str()).into()
}

fn commands(command: &Command) -> Value {
    command.get_subcommands().map(|inner| Value::from(inner.get_name())).collect()
}

fn options(command: &Command) -> Value {
    command.get_arguments().map(|argument| Value::from(argument.to_string())).collect()
}
