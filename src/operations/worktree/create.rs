//! `create_worktree`: a place of its own for an agent to work in.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::failure::{Code, Exit, Failure};
use crate::git::worktree::{HookRun, Request};
use crate::operations::render::{dim, plain, shell_word};
use crate::operations::{Answer, Cli, Effect, Operation, Render, Screen, Spec};
use crate::service::{Cx, OpenRepository};

pub struct Create;

/// What to make.
#[derive(Debug, Deserialize, schemars::JsonSchema, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The new branch, such as `agent/payments`.
    #[arg(long, allow_hyphen_values = true)]
    branch: String,
    /// Where the worktree is to be, from --cwd: a path that is not there, or an empty directory.
    #[arg(long, value_name = "DIR", allow_hyphen_values = true)]
    path: PathBuf,
    /// The commit the branch starts at: an id, a branch, a tag (default HEAD).
    #[arg(long, value_name = "COMMIT", allow_hyphen_values = true)]
    #[serde(default)]
    base: Option<String>,
}

/// A new worktree.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The new branch.
    branch: String,
    /// Real path of the root of the worktree.
    path: String,
    /// Full id of the commit the branch starts at.
    base: String,
    /// Always true: a worktree that is there already is refused.
    created: bool,
    /// What may go wrong, if anything: a post-checkout hook that failed or was ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    warnings: Vec<String>,
    /// Whether the hook failed.
    #[serde(skip)]
    #[schemars(skip)]
    failed: bool,
}

impl Operation for Create {
    const SPEC: Spec = Spec {
        id: "create_worktree",
        cli: Cli { noun: Some("worktree"), verb: "create" },
        http: None,
        mcp: false,
        effect: Effect::Write,
        summary: "Make a worktree on a new branch",
        guide: "Does what `git worktree add -b` does, its post-checkout hook included, and is safe for many at \
                once. No upstream is set. When the hook fails the worktree stays, as with git, and the command \
                ends with status 6. Needs a repository and no ledger.\n\n\
                Example:\n  foremerge worktree create --branch agent/payments --path ../payments",
        codes: &[Code::InvalidInput, Code::NotReady],
    };
    type Needs = OpenRepository;
    type Input = Input;
    type Output = Output;

    fn run(cx: &Cx<'_, OpenRepository>, input: Input) -> Result<Output, Failure> {
        if input.path.as_os_str().is_empty() {
            return Err(Failure::invalid("path", "must not be empty", "a path that is not there yet"));
        }
        let request = Request {
            branch: &input.branch,
            path: &cx.host().directory().join(&input.path),
            base: input.base.as_deref().unwrap_or("HEAD"),
        };
        let made = cx.repository().create_worktree(cx.host().world(), &request)?;
        let warning = match &made.hook {
            HookRun::Absent | HookRun::Succeeded => None,
            HookRun::Ignored { hook } => {
                Some(format!("the hook {} was ignored because it is not executable", hook.display()))
            }
            HookRun::Failed { hook, how } => {
                Some(format!("the worktree is there, but its hook {} failed: {how}", hook.display()))
            }
        };
        Ok(Output {
            branch: made.branch,
            path: made.path.to_string_lossy().into_owned(),
            base: made.base,
            created: true,
            warnings: warning.into_iter().collect(),
            failed: matches!(made.hook, HookRun::Failed { .. }),
        })
    }
}

impl Answer for Output {
    fn exit(&self) -> Exit {
        if self.failed { Exit::Negative } else { Exit::Success }
    }
}

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        screen.line(plain("Made a worktree at ").and(&self.path));
        screen.fields([("branch", plain(&self.branch)), ("base", dim(&self.base))]);
        for warning in &self.warnings {
            screen.warning(warning);
        }
        screen.gap();
        screen.line("Register the agent that works there:");
        let register = plain("foremerge -C ").and(shell_word(&self.path)).and(" agent register --name NAME");
        screen.command(register);
    }
}
