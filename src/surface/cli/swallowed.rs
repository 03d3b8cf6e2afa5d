//! Options that took another option for their value.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command};

use super::grammar::innermost;
use super::refusal::deepest;
use crate::domain::shell;

/// The refusal of a line in which an option that takes any text stands right before another option: its value was
/// forgotten, or replaced by nothing in a script. `root` is the whole command line, not used yet.
pub(super) fn refused(root: Command, typed: &[OsString]) -> Option<clap::Error> {
    let mut root = root.ignore_errors(true);
    let matches = root.try_get_matches_from_mut(typed).ok();
    root.build();
    let (_, command) = deepest(&root, matches.as_ref());
    let mut words = typed.iter().filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        if word == "--" {
            return None;
        }
        let takes_any = |argument: &&Arg| argument.is_allow_hyphen_values_set() && is_called(argument, word);
        let Some(argument) = command.get_arguments().find(takes_any) else { continue };
        let value = words.next()?;
        if command.get_arguments().any(|other| is_called(other, before_sign(value))) {
            return Some(missing(argument, word, value, command));
        }
    }
    None
}

/// Whether a value of the command looks like an option: seldom so, and to look closer takes the whole grammar.
pub(super) fn may_be(matches: &ArgMatches) -> bool {
    let arguments = innermost(matches);
    let values =
        arguments.ids().filter_map(|argument| arguments.try_get_raw(argument.as_str()).ok().flatten());
    values.flatten().any(|value| value.to_str().is_some_and(|value| value.starts_with('-')))
}

/// Without what an option may have behind an equals sign.
fn before_sign(word: &str) -> &str {
    word.split_once('=').filter(|_| word.starts_with("--")).map_or(word, |(name, _)| name)
}

fn is_called(argument: &Arg, word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(long) => argument.get_long_and_visible_aliases().is_some_and(|names| names.contains(&long)),
        None => argument.get_short().is_some_and(|short| word.strip_prefix('-') == Some(&short.to_string())),
    }
}

fn missing(argument: &Arg, option: &str, value: &str, command: &Command) -> clap::Error {
    let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
    error.insert(ContextKind::InvalidArg, ContextValue::String(argument.to_string()));
    error.insert(ContextKind::InvalidValue, ContextValue::String(String::new()));
    let literally = shell::word(&format!("{option}={value}"));
    let tip = format!("'{}' is an option itself; literally it is given as {literally}", before_sign(value));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    error
}
