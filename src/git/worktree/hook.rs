//! The post-checkout hook, as git runs it after adding a worktree.

use std::path::{Path, PathBuf};

use gix::sec::Trust;

use super::super::Repository;
use crate::world::{Hook, World};

const NAME: &str = "post-checkout";

/// What git calls local to a repository (`git rev-parse --local-env-vars`), and the two it adds: the hook is to find
/// its repository from where it stands, whatever this process was started from.
const LOCAL: [&str; 17] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// How it went with the post-checkout hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookRun {
    /// There is none.
    Absent,
    /// It ended well.
    Succeeded,
    /// There is one that is not executable, so git ignores it.
    Ignored {
        /// The hook.
        hook: PathBuf,
    },
    /// It ended badly. The worktree is there all the same, as it is with git.
    Failed {
        /// The hook.
        hook: PathBuf,
        /// How it ended, for a person.
        how: String,
    },
}

/// Run the hook in the new worktree at `root`, whose branch starts at `commit`, if `source` has one.
pub(super) fn post_checkout(
    world: &dyn World,
    source: &Repository,
    root: &Path,
    commit: gix::ObjectId,
) -> HookRun {
    if source.inner().git_dir_trust() != Trust::Full {
        return HookRun::Absent;
    }
    let Some(hook) = find(source) else { return HookRun::Absent };
    if !is_executable(&hook) {
        return HookRun::Ignored { hook };
    }
    let null = gix::ObjectId::null(commit.kind());
    let arguments = [null.to_string(), commit.to_string(), "1".to_owned()];
    let run = Hook { program: &hook, arguments: &arguments, directory: root, without: &LOCAL };
    let how = match world.run_hook(&run) {
        Ok(Some(0)) => return HookRun::Succeeded,
        Ok(Some(code)) => format!("it ended with exit status {code}"),
        Ok(None) => "it was killed".to_owned(),
        Err(error) => format!("it cannot be started: {error}"),
    };
    HookRun::Failed { hook, how }
}

/// Where git looks: core.hooksPath, a relative one from the top of the worktree that git works in, or the hooks of the
/// common directory.
fn find(source: &Repository) -> Option<PathBuf> {
    let config = source.inner().config_snapshot();
    let is_empty = config.string("core.hooksPath").is_some_and(|path| path.is_empty());
    let directory = match config.trusted_path("core.hooksPath") {
        // Git puts a slash and the name behind it.
        _ if is_empty => PathBuf::from("/"),
        Ok(Some(path)) => source.worktree_root().unwrap_or(source.git_dir()).join(path),
        _ => source.common_dir().join("hooks"),
    };
    let hook = directory.join(NAME);
    hook.is_file().then_some(hook)
}

#[cfg(unix)]
fn is_executable(hook: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(hook).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_hook: &Path) -> bool {
    true
}
