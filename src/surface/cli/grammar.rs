//! The words of the command line, read off the registry.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Id, value_parser};

use super::lifecycle::{self, LIFECYCLE};
use super::output::Face;
use super::{guide, number, redraw, terminal, watch};
use crate::domain::nearest::nearest;
use crate::domain::{Agent, IdRef};
use crate::failure::{Audience, Code, Failure};
use crate::operations::registry::{self, Entry};
use crate::operations::render::Whereabouts;
use crate::service::host;
use crate::world::World;

pub(super) const CWD: &str = "cwd";
pub(super) const DATABASE: &str = "database";
/// Says who acts where nobody is named.
const AGENT: &str = "FOREMERGE_AGENT";
pub(super) const MARK_READ: &str = "mark_read";
const JSON: &str = "json";
const QUIET: &str = "quiet";
const ID_ONLY: &str = "id-only";
const DEMO: &str = "demo";

/// A family of commands: its name, what it is, and what help says of it.
type Noun = (&'static str, &'static str, &'static str);

const NOUNS: &[Noun] = &[
    (
        "agent",
        "Who takes part",
        "One agent is one session in one worktree. Register when you arrive: the id is what every later call acts \
         as.\n\nExample:\n  foremerge agent register --name payments-stripe",
    ),
    (
        "intent",
        "What agents are about to do",
        "Publish before you write code, and amend when the plan changes: everybody is compared with what stands \
         here.\n\nExample:\n  foremerge intent publish --task payments --summary \"Replace PaymentService\" \\\n    \
         --scope symbol:PaymentService=replace",
    ),
    (
        "work",
        "Claims, and the life of an intent once it is published",
        "Claim what you work on, then start. A claim is a lease, never a lock: who claims the same is told.\n\n\
         Example:\n  foremerge work claim --intent int_1f2e3d4c --scope symbol:PaymentService",
    ),
    (
        "conflicts",
        "Where their work collides",
        "A HIGH conflict blocks acceptance until it is settled. Ask before you publish, and look again before you \
         rely on an earlier answer.\n\nExample:\n  foremerge conflicts list --status open",
    ),
    (
        "assess",
        "What agents make of work that touches theirs",
        "Foremerge says what overlaps; whether that hurts is for those to say who know both. An assessment settles \
         nothing: for that, resolve the conflict.\n\n\
         Example:\n  foremerge assess record --intent int_1f2e3d4c --related-intent int_5a6b7c8d \\\n    \
         --verdict compatible --action proceeding \\\n    \
         --rationale \"They add, we only read\"",
    ),
    (
        "coordinate",
        "What agents write to each other",
        "A message is kept and interrupts nobody: look into your inbox before you start, and before you publish \
         code.\n\nExample:\n  foremerge coordinate inbox agt_1f2e3d4c --mark-read",
    ),
    (
        "worktree",
        "Where they work",
        "One worktree for each agent: made on a branch of its own, safe for many at once.\n\n\
         Example:\n  foremerge worktree create --branch agent/payments --path ../payments",
    ),
    (
        "events",
        "What happened, and proof of it",
        "Nothing in the history is ever changed or removed, and anybody can verify that.\n\n\
         Example:\n  foremerge events audit",
    ),
];

const PURPOSE: &str = "Tells parallel coding agents that their work collides before the code exists. Git stops them only where they edit \
     the same lines; here each says first what it is about to touch, and hears at once who is in the way.\n\n\
     The rule that matters: publish what you are about to do before you write code, and talk to whom you are told you \
     collide with.";

const BEGINNING: &str = "Example, in a repository of yours:\n  \
     foremerge init\n  \
     export FOREMERGE_AGENT=$(foremerge agent register --name payments --id-only)\n  \
     foremerge intent publish --task payments --summary \"Replace PaymentService\" \\\n    \
     --scope symbol:PaymentService=replace\n  \
     foremerge status\n\n\
     `foremerge demo` shows it in a minute, `foremerge help lifecycle` tells the whole story.\n\
     Exit status: 0 done, 2 refused input, 3 not found, 4 try again, 5 repository or ledger unusable, 6 done and \
     something is wrong, 7 found what --fail-on names, 8 refused by a rule, 1 anything else.";

/// What was asked for.
pub(super) enum Chosen<'m> {
    Operation(&'static Entry, &'m ArgMatches),
    Demo(&'m ArgMatches),
    Watch(&'m ArgMatches),
    Lifecycle,
}

/// The whole command line.
#[must_use]
pub fn command(world: &dyn World) -> Command {
    let root = with_operations(root(world), |_| true);
    let root = root.subcommand(demo()).subcommand(lifecycle::command(terminal::width(world)));
    finished(root, world)
}

/// The command line as far as the operation needs it that `typed` seems to name: most of a short call was spent on
/// describing the others. It reads nothing otherwise than the whole one, which is to be asked about what it refuses.
pub(super) fn narrowed(world: &dyn World, typed: &[OsString]) -> Option<Command> {
    let mut words =
        typed.iter().skip(1).filter_map(|word| word.to_str()).filter(|word| !word.starts_with('-'));
    let first = words.next()?;
    let named = called(None, first).or_else(|| called(Some(first), words.next()?))?;
    Some(finished(with_operations(root(world), |entry| std::ptr::eq(entry, named)), world))
}

fn finished(root: Command, world: &dyn World) -> Command {
    guide::laid_out(with_variables(root, world), terminal::width(world))
}

/// The command itself and its global options.
fn root(world: &dyn World) -> Command {
    let width = terminal::width(world);
    Command::new("foremerge")
        .term_width(usize::from(width))
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .about("Tells parallel coding agents that their work collides before the code exists")
        .long_about(PURPOSE)
        .after_help(BEGINNING)
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
            Arg::new(QUIET)
                .long(QUIET)
                .short('q')
                .global(true)
                .action(ArgAction::SetTrue)
                .help("Print nothing when it worked; the exit status tells, also what --fail-on found"),
            Arg::new(ID_ONLY)
                .long(ID_ONLY)
                .global(true)
                .action(ArgAction::SetTrue)
                .help("Print the whole id of what was made or is shown, one a line, and nothing else"),
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
        ])
}

/// Adds those operations that are `wanted`, in their families.
fn with_operations(mut root: Command, wanted: impl Fn(&'static Entry) -> bool) -> Command {
    let operation = |entry: &Entry| {
        redraw::arguments(entry, (entry.arguments)(Command::new(entry.spec.cli.verb)))
            .about(entry.spec.summary)
            .after_help(entry.spec.guide)
    };
    let of = |noun: Option<&str>| {
        let family = registry::ALL.iter().filter(move |entry| entry.spec.cli.noun == noun);
        family.filter(|entry| wanted(entry)).map(operation).collect::<Vec<_>>()
    };
    root = root.subcommands(of(None));
    for (noun, about, guide) in NOUNS {
        let family = Command::new(*noun).about(*about).after_help(*guide).subcommands(of(Some(noun)));
        let family = if *noun == watch::COMMAND.0 { family.subcommand(watch::command()) } else { family };
        root = root.subcommand(family.subcommand_required(true).arg_required_else_help(true));
    }
    root
}

/// Help tells of environment variables; one that is set to nothing counts as unset.
fn with_variables(command: Command, world: &dyn World) -> Command {
    let command = command.mut_args(|argument| {
        let argument = number::explained(argument);
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

/// Adds to a refusal of the agent who acts that nobody typed it, and what to do about it.
pub(super) fn blaming_variable(failure: Failure, arguments: &ArgMatches, world: &dyn World) -> Failure {
    let refused = failure.details.get(Failure::REFERENCE).and_then(serde_json::Value::as_str);
    let set = world.variable(AGENT).and_then(|set| set.to_str().map(str::to_owned));
    let Some((refused, set)) = refused.zip(set) else { return failure };
    let is_it =
        |given: &str| given.parse::<IdRef<Agent>>().is_ok_and(|id| refused.starts_with(&id.to_string()));
    let typed = |argument: &Id| {
        let argument = argument.as_str();
        let values = arguments.try_get_raw(argument).ok().flatten().into_iter().flatten();
        arguments.value_source(argument) == Some(ValueSource::CommandLine)
            && values.filter_map(|value| value.to_str()).any(is_it)
    };
    if !is_it(&set) || arguments.ids().any(typed) {
        return failure;
    }
    let message = &failure.message;
    let message = format!(
        "{message}; that id is from {AGENT}, nobody typed it: unset the variable, or register and set it to your id"
    );
    let failure = Failure { message, ..failure }.with("variable", AGENT);
    // Where the variable is not read for an argument, none holds the id.
    let failure =
        if failure.details.contains_key("field") { failure } else { failure.with("field", "agent_id") };
    // One that fits several agents wants more digits.
    let is_nobody = failure.next.is_empty() && failure.code != Code::InvalidInput;
    if is_nobody { failure.then(Audience::Agent, "register_agent") } else { failure }
}

/// Adds to a refusal over the agent who acts, whom nobody named, how to say it.
pub(super) fn suggest_variable(error: &mut clap::Error) {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return };
    let commands = registry::ALL.iter().map(|entry| {
        let mut command = (entry.arguments)(Command::new("x"));
        command.build();
        command
    });
    let is_missing = |actor: &Arg| {
        actor.get_env().is_some_and(|name| name == AGENT) && missing.contains(&actor.to_string())
    };
    if error.kind() == ErrorKind::MissingRequiredArgument
        && commands.into_iter().any(|command| command.get_arguments().any(is_missing))
    {
        let tip = format!("{AGENT} can say who acts, too; `agent register` answers with an id");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Adds to a refused command which one was meant, by all the words that are missing for it.
pub(super) fn suggest_command(error: &mut clap::Error, root: &Command, typed: &[OsString]) {
    let Some(ContextValue::String(written)) = error.get(ContextKind::InvalidSubcommand) else { return };
    let families: Vec<_> = root.get_subcommands().filter(|family| family.get_name() != "help").collect();
    let verbs = |family: &Command| {
        let verbs = family.get_subcommands().map(Command::get_name);
        verbs.filter(|verb| *verb != "help").map(str::to_owned).collect::<Vec<_>>()
    };
    let family = families.iter().find(|family| is_behind(family, written, typed));
    // By its whole name, wherever it is.
    let called = |meant: &str| -> Vec<String> {
        let others =
            families.iter().filter(|other| family.is_none_or(|family| family.get_name() != other.get_name()));
        let called = others.filter(|other| verbs(other).iter().any(|verb| verb.eq_ignore_ascii_case(meant)));
        called.map(|other| format!("{} {}", other.get_name(), meant.to_lowercase())).collect()
    };
    let near: Vec<String> = match (error.get(ContextKind::SuggestedSubcommand), family) {
        // The likeliest is the last of these.
        (Some(ContextValue::Strings(near)), _) => near.iter().rev().cloned().collect(),
        (_, Some(family)) => {
            let verbs = verbs(family);
            nearest(written, verbs.iter().map(String::as_str)).map(str::to_owned).into_iter().collect()
        }
        (_, None) => nearest(written, root.get_subcommands().map(Command::get_name))
            .map(str::to_owned)
            .into_iter()
            .collect(),
    };
    let elsewhere = called(written);
    let meant = match (family, near.is_empty(), elsewhere.is_empty()) {
        (None, _, false) => elsewhere,
        (_, true, true) => {
            let verbs: Vec<_> = families.iter().flat_map(|family| verbs(family)).collect();
            nearest(written, verbs.iter().map(String::as_str)).map(called).unwrap_or_default()
        }
        _ => [near, elsewhere].concat(),
    };
    if !meant.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
    }
}

/// Whether a word was typed right behind the name of a family.
fn is_behind(family: &Command, written: &str, typed: &[OsString]) -> bool {
    let words: Vec<_> =
        typed.iter().skip(1).filter_map(|word| word.to_str()).filter(|word| !word.starts_with('-')).collect();
    family.has_subcommands() && words.windows(2).any(|pair| pair == [family.get_name(), written])
}

pub(super) fn chosen(matches: &ArgMatches) -> Chosen<'_> {
    let (first, inner) = matches.subcommand().expect("a subcommand is required");
    match first {
        DEMO => return Chosen::Demo(inner),
        LIFECYCLE => return Chosen::Lifecycle,
        _ => {}
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

/// What was given to the command itself.
pub(super) fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| innermost(inner))
}

/// A global option, given before or after the command.
pub(super) fn path(arguments: &ArgMatches, globals: &ArgMatches, name: &str) -> Option<PathBuf> {
    let given = arguments.try_get_one::<PathBuf>(name).ok().flatten();
    given.or_else(|| globals.try_get_one::<PathBuf>(name).ok().flatten()).cloned()
}

/// Where the call acts as far as it was typed: what the environment says need not be repeated.
pub(super) fn whereabouts(arguments: &ArgMatches, globals: &ArgMatches, world: &dyn World) -> Whereabouts {
    let typed = |name: &str| {
        let source = |matches: &ArgMatches| {
            matches.try_contains_id(name).is_ok_and(|given| given).then(|| matches.value_source(name))
        };
        let from = source(arguments).or_else(|| source(globals)).flatten();
        path(arguments, globals, name).filter(|_| from == Some(ValueSource::CommandLine))
    };
    let directory = typed(CWD);
    let database = typed(DATABASE).map(|database| {
        // The empty one stays so: it says that another than the environment's is meant.
        let started = host::started_at(world, directory.as_deref()).ok();
        let started = started.filter(|_| !database.as_os_str().is_empty());
        let absolute = started.map_or_else(|| database.clone(), |started| started.join(&database));
        (database, absolute)
    });
    let database = database.as_ref().map(|(given, absolute)| (given.as_path(), absolute.as_path()));
    Whereabouts::new(directory.as_deref(), database)
}

/// Which face of an answer was asked for, before or after the command.
///
/// # Errors
/// `INVALID_INPUT` when it was more than one.
pub(super) fn face(arguments: &ArgMatches, globals: &ArgMatches) -> Result<Face, Failure> {
    let given = |name: &&str| {
        let flag = |matches: &ArgMatches| matches.try_get_one::<bool>(name).ok().flatten().copied();
        flag(arguments).unwrap_or(false) || flag(globals).unwrap_or(false)
    };
    let asked: Vec<_> = [JSON, QUIET, ID_ONLY].into_iter().filter(given).collect();
    match *asked {
        [] => Ok(Face::Screen),
        [JSON] => Ok(Face::Json),
        [QUIET] => Ok(Face::Quiet),
        [ID_ONLY] => Ok(Face::Ids),
        [.., last] => Err(Failure::invalid(last, "give one of --json, --quiet and --id-only", "one of them")),
    }
}

/// Whether what is shown is to count as read.
pub(super) fn marks_read(arguments: &ArgMatches) -> bool {
    arguments.try_get_one::<bool>(MARK_READ).ok().flatten().copied().unwrap_or(false)
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
