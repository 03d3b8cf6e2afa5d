//! `init`: makes the ledger.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Answer, Cli, Effect, Operation, Render, Screen, Spec};
use crate::failure::{Code, Failure};
use crate::ledger::{self, Place};
use crate::service::{Cx, Nothing, Site};

pub struct Init;

/// Where the ledger is made.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub struct Input {
    /// Make a ledger without a Git repository, in DIR/.foremerge.
    #[arg(long, value_name = "DIR")]
    standalone: Option<PathBuf>,
}

/// A ledger that is ready to use.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The ledger file.
    database: String,
    /// The directory it lies in.
    runtime_dir: String,
    /// The file with the bearer token of the local HTTP interface.
    token_file: String,
    /// Whether all worktrees of the repository share it without being told where it is.
    shared_across_worktrees: bool,
    /// Whether this call made it.
    created: bool,
    /// What to do next.
    next_step: String,
}

impl Operation for Init {
    const SPEC: Spec = Spec {
        id: "init",
        cli: Cli { noun: None, verb: "init" },
        http: None,
        mcp: false,
        effect: Effect::Write,
        summary: "Make the ledger of this repository",
        guide: "The ledger lies in Git's common directory, so that all worktrees share it and nothing of it is ever \
                committed. Repeating the command changes nothing.\n\nExample:\n  foremerge init",
        codes: &[Code::InvalidInput],
    };
    type Needs = Nothing;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, Nothing>, input: Input) -> Result<Output, Failure> {
        let named = cx.host().database();
        let site = match (input.standalone, named) {
            (Some(_), Some(_)) => {
                let why = "a ledger is named already, by --database or FOREMERGE_DB; give one of the two";
                return Err(Failure::invalid("standalone", why, "one of --standalone and --database"));
            }
            (Some(directory), None) => standalone(cx, &directory)?,
            (None, Some(_)) => {
                let site = cx.host().site()?;
                around(&site.place)?;
                site
            }
            (None, None) => cx.host().site()?,
        };
        let shared_across_worktrees = site.repository.is_some() && named.is_none();
        let made = ledger::create(&site.place, cx.host().world())?;
        let shown = |path: &std::path::Path| path.to_string_lossy().into_owned();
        Ok(Output {
            database: shown(made.place.file()),
            runtime_dir: shown(made.place.directory()),
            token_file: shown(&made.place.token()),
            shared_across_worktrees,
            created: made.made_now,
            next_step: "Register each agent in its own worktree: foremerge agent register --name NAME"
                .to_owned(),
        })
    }
}

/// Makes the directories above a ledger that was given a place by name.
fn around(place: &Place) -> Result<(), Failure> {
    let Some(above) = place.directory().parent() else { return Ok(()) };
    std::fs::create_dir_all(above).map_err(|error| {
        let why = format!("{} cannot be made: {error}", above.display());
        Failure::invalid("database", why, "a path whose directory exists or can be made")
    })
}

/// Where a ledger without a repository may be.
const OUTSIDE: &str = "a directory that is in no Git repository";

fn standalone(cx: &Cx<'_, Nothing>, directory: &std::path::Path) -> Result<Site, Failure> {
    let directory = cx.host().directory().join(directory);
    if !directory.is_dir() {
        let why = format!("{} is not a directory", directory.display());
        return Err(Failure::invalid("standalone", why, OUTSIDE));
    }
    let directory = directory.canonicalize().map_err(|error| {
        Failure::invalid("standalone", format!("{}: {error}", directory.display()), OUTSIDE)
    })?;
    match crate::git::Repository::discover(&directory) {
        Err(crate::git::Error::NotARepository { .. }) => {
            Ok(Site { place: Place::in_directory(directory.join(Place::STANDALONE)), repository: None })
        }
        Ok(_) => Err(Failure::invalid(
            "standalone",
            format!("{} lies in a Git repository; run init there without --standalone", directory.display()),
            OUTSIDE,
        )),
        Err(error) => Err(error.into()),
    }
}

impl Answer for Output {}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        let done = if self.created { "Made the ledger" } else { "The ledger is there already:" };
        screen.line(format!("{done} {}", self.database));
        screen.gap();
        screen.line("Register each agent in its own worktree:");
        screen.command("foremerge agent register --name NAME");
        screen.line("The whole story on one screen:");
        screen.command("foremerge help lifecycle");
    }
}
