//! The words of the command line, read off the registry.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::watch;
use crate::operations::registry::{self, Entry};
use crate::world::World;

pub(super) const CWD: &str = "cwd";
pub(super) const DATABASE: &str = "database";
const JSON: &str = "json";
const DEMO: &str = "demo";

/// Families of commands, with the line that help shows for each.
const NOUNS: &[(&str, &str)] = &[
    ("agent", "Who takes part"),
    ("intent", "What agents are about to do"),
    ("work", "Claims, and the life of an intent once it is published"),
    ("conflicts", "Where their work collides"),
    ("assess", "What agents make of work that touches theirs"),
    ("coordinate", "What agents write to each other"),
    ("worktree", "Where they work"),
    ("events", "What happened, and proof of it"),
];

/// What was asked for.
pub(super) enum Chosen<'m> {
    Operation(&'static Entry, &'m ArgMatches),
    Demo(&'m ArgMatches),
    Watch(&'m ArgMatches),
}

/// The whole command line.
#[must_use]
pub fn command(world: &dyn World) -> Command {
    let mut root = Command::new("foremerge")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .about("Tells parallel coding agents that their work collides before the code exists")
        .after_help(
            "Start in a repository with `foremerge init`, then register an agent in each worktree and publish what it \
             is about to do. `foremerge demo` shows it in a minute.\n\
             Exit status: 0 done, 2 refused input, 3 not found, 4 try again, 5 repository or ledger unusable, 6 done \
             and something is wrong, 7 found what --fail-on names, 8 refused by a rule, 1 anything else.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(false)
        .next_help_heading("Global options")
        .args([
            Arg::new(JSON)
                .long(JSON)
                .global(true)
                .action(ArgAction::SetTrue)
                .help("Print one JSON envelope: \"ok\", and \"data\" or \"error\""),
            Arg::new(CWD)
                .long(CWD)
                .short('C')
                .global(true)
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Work as if started in DIR"),
            Arg::new(DATABASE)
                .long(DATABASE)
                .global(true)
                .value_name("PATH")
                .env("FOREMERGE_DB")
                // Unlike the parser for paths this one takes the empty text, which means: not given.
                .value_parser(OsStringValueParser::new().map(PathBuf::from))
                .help("Use this ledger file instead of the repository's"),
        ]);
    let operation = |entry: &Entry| {
        (entry.arguments)(Command::new(entry.spec.cli.verb))
            .about(entry.spec.summary)
            .after_help(entry.spec.guide)
    };
    for entry in registry::ALL.iter().filter(|entry| entry.spec.cli.noun.is_none()) {
        root = root.subcommand(operation(entry));
    }
    for (noun, about) in NOUNS {
        let family = registry::ALL.iter().filter(|entry| entry.spec.cli.noun == Some(*noun)).map(operation);
        let family = Command::new(*noun).about(*about).subcommands(family);
        let family = if *noun == watch::COMMAND.0 { family.subcommand(watch::command()) } else { family };
        root = root.subcommand(family.subcommand_required(true).arg_required_else_help(true));
    }
    with_variables(root.subcommand(demo()), world)
}

/// Help tells of environment variables; one that is set to nothing counts as unset.
fn with_variables(command: Command, world: &dyn World) -> Command {
    let command = command.mut_args(|argument| {
        let Some(name) = argument.get_env().map(|name| name.to_string_lossy().into_owned()) else {
            return argument;
        };
        // Said whether it is set or not, which clap does not.
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let argument = argument.help(format!("{help} [or set {name}]")).hide_env(true);
        if world.variable(&name).is_none() { argument.env(None::<&str>) } else { argument }
    });
    // `foremerge agent list --version` is about the program, too.
    command.display_name("foremerge").mut_subcommands(|inner| with_variables(inner, world))
}

/// The environment variable that a refused value came from, when nobody typed its option.
pub(super) fn variable_behind(error: &clap::Error, command: &Command, typed: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(refused)) = error.get(ContextKind::InvalidArg) else { return None };
    let argument = command.get_arguments().find(|argument| argument.to_string() == *refused);
    let Some(argument) = argument else {
        return command.get_subcommands().find_map(|inner| variable_behind(error, inner, typed));
    };
    let option = format!("--{}", argument.get_long()?);
    let typed = typed.iter().any(|word| word.to_string_lossy().starts_with(&option));
    argument.get_env().filter(|_| !typed).map(|name| name.to_string_lossy().into_owned())
}

pub(super) fn chosen(matches: &ArgMatches) -> Chosen<'_> {
    let (first, inner) = matches.subcommand().expect("a subcommand is required");
    if first == DEMO {
        return Chosen::Demo(inner);
    }
    let (noun, verb, arguments) = match inner.subcommand() {
        Some((verb, arguments)) => (Some(first), verb, arguments),
        None => (None, first, inner),
    };
    if (noun, verb) == (Some(watch::COMMAND.0), watch::COMMAND.1) {
        return Chosen::Watch(arguments);
    }
    let entry = called(noun, verb).expect("every other command is an operation");
    Chosen::Operation(entry, arguments)
}

/// The operation that is called by these words.
pub(super) fn called(noun: Option<&str>, verb: &str) -> Option<&'static Entry> {
    registry::ALL.iter().find(|entry| (entry.spec.cli.noun, entry.spec.cli.verb) == (noun, verb))
}

/// A global option, given before or after the command.
pub(super) fn path(arguments: &ArgMatches, globals: &ArgMatches, name: &str) -> Option<PathBuf> {
    let given = arguments.try_get_one::<PathBuf>(name).ok().flatten();
    given.or_else(|| globals.try_get_one::<PathBuf>(name).ok().flatten()).cloned()
}

/// Whether a command line that may not even parse asks for JSON.
pub(super) fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

fn demo() -> Command {
    Command::new(DEMO)
        .about("Show two agents colliding, in a throw-away repository")
        .after_help(
            "Makes a small repository with two worktrees, runs real commands in them as two agents, and removes it all \
             again. Nothing outside is touched.\n\nExample:\n  foremerge demo --keep /tmp/shop",
        )
        .arg(
            Arg::new("keep")
                .long("keep")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Make it in DIR, which must be new or empty, and keep it"),
        )
}
