//! Nothing that a repository or an environment names is started by the Git room, and nothing of either decides an
//! answer: every program that could be named leaves a mark if it runs, `git` itself among them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::probe;
use crate::sandbox::{Sandbox, git, git_command, shell, write};

/// Two equal repositories with a branch to land, a remote that promises objects, and one that is not here.
fn pair(sandbox: &Sandbox) -> [PathBuf; 2] {
    let at = sandbox.repository("plain");
    write(&at.join(".gitattributes"), "* diff=evil merge=evil\n*.up filter=up\n");
    write(&at.join("x.up"), "text\n");
    let script = r"
        set -e
        seq 1 20 > f; git add .; git commit -q -m base; git branch known; git checkout -q -b work
        sed -i 's/^3$/three/' f; git commit -q -a -m work; git checkout -q main
        sed -i 's/^15$/fifteen/' f; git commit -q -a -m other
        git merge -q --squash work >/dev/null; git commit -q -m squash
        git config core.repositoryFormatVersion 1; git config extensions.partialClone origin
        git config remote.origin.promisor true; git config remote.origin.partialCloneFilter blob:none
        git config remote.origin.url ext::nowhere; git config protocol.ext.allow always";
    shell(&at, script);
    write(&at.join("src/deep/a.rs"), "changed");
    write(&at.join("untracked"), "new");
    let hostile = sandbox.path("hostile");
    shell(&sandbox.root, "cp -R plain hostile");
    [at, hostile]
}

/// A program that leaves a mark.
fn trap(tools: &Path, name: &str, mark: &Path) -> String {
    let place = tools.join(name);
    write(&place, &format!("#!/bin/sh\necho {name} \"$@\" >> '{}'\nexit 1\n", mark.display()));
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
    place.display().to_string()
}

/// Everything a repository can name that git runs sooner or later.
const NAMED: &[&str] = &[
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshCommand",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.helper",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "merge.evil.driver",
    "filter.unused.clean",
    "filter.unused.smudge",
    "filter.unused.process",
    "gpg.program",
    "interactive.diffFilter",
    "remote.origin.uploadpack",
    "remote.origin.vcs",
    "sequence.editor",
    "trailer.x.command",
    "uploadpack.packObjectsHook",
];

const HOOKS: &[&str] = &[
    "fsmonitor-watchman",
    "post-commit",
    "post-index-change",
    "post-rewrite",
    "pre-auto-gc",
    "pre-commit",
    "reference-transaction",
];

/// Variables that lead git elsewhere or make it start something.
const PLACES: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CEILING_DIRECTORIES",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_TEMPLATE_DIR",
    "GIT_NAMESPACE",
    "GIT_ATTR_SOURCE",
    "GIT_PREFIX",
];
const PROGRAMS: &[&str] = &[
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "SSH_ASKPASS",
    "PAGER",
    "EDITOR",
];

#[test]
fn no_git_and_nothing_that_is_configured_starts_and_no_variable_decides_an_answer() {
    let sandbox = Sandbox::new();
    let [plain, hostile] = pair(&sandbox);
    let expected = probe::all_elsewhere(&plain, |_| {});
    let (mark, tools) = (sandbox.path("ran"), sandbox.mkdir("tools"));
    for name in ["git", "git-lfs", "git-upload-pack", "git-remote-ext", "less", "ssh", "nowhere"] {
        trap(&tools, name, &mark);
    }
    let evil = trap(&tools, "evil", &mark);
    for name in NAMED {
        git(&hostile, &["config", name, &evil]);
    }
    for name in ["status", "diff", "worktree", "update-ref", "fetch", "rev-parse"] {
        git(&hostile, &["config", &format!("alias.{name}"), &format!("!{evil}")]);
    }
    for name in HOOKS {
        trap(&hostile.join(".git/hooks"), name, &mark);
    }
    let settings = sandbox.path("settings");
    write(&settings, "[core]\n\tfileMode = false\n\tautocrlf = true\n[user]\n\tname = Evil\n");
    let answer = probe::all_elsewhere(&hostile, |command| {
        command.env("PATH", format!("{}:/usr/bin:/bin", tools.display()));
        command
            .envs(PROGRAMS.iter().map(|name| (name, &evil)))
            .envs(PLACES.iter().map(|name| (name, "/nowhere")))
            .env("GIT_DIFF_OPTS", "-u9")
            .env("GIT_REPLACE_REF_BASE", "refs/heads/")
            .env("GIT_DEFAULT_HASH", "sha256")
            .env("GIT_DEFAULT_REF_FORMAT", "reftable")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("GIT_EXEC_PATH", &tools)
            .env("GIT_CONFIG", &settings)
            .env("GIT_CONFIG_GLOBAL", &settings)
            .env("GIT_CONFIG_SYSTEM", &settings)
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "core.fileMode")
            .env("GIT_CONFIG_VALUE_0", "false")
            .env("GIT_CONFIG_PARAMETERS", "'core.bare=true'");
    });
    assert!(!mark.exists(), "{}", std::fs::read_to_string(mark).unwrap());
    assert_eq!(answer, expected);
    // The marks are left where something does run.
    let mut command = git_command(&hostile, &["diff"]);
    drop(command.output().unwrap());
    assert!(mark.exists(), "the traps trap nothing");
}

#[test]
fn the_hook_of_a_new_worktree_and_the_filter_of_its_files_are_all_that_runs() {
    let sandbox = Sandbox::new();
    let [plain, at] = pair(&sandbox);
    let expected = probe::all_elsewhere(&plain, |_| {});
    let (hook, filter) = (sandbox.path("hook"), sandbox.path("filter"));
    trap(&at.join(".git/hooks"), "post-checkout", &hook);
    git(&at, &["config", "filter.up.smudge", &format!("echo %f >> '{}'; cat", filter.display())]);
    let answer = probe::all_elsewhere(&at, |_| {});
    let lines = |path: &Path| std::fs::read_to_string(path).unwrap().lines().count();
    assert_eq!((lines(&hook), lines(&filter)), (1, 1));
    assert_eq!(answer.replace("Failed", "Absent").len(), answer.len());
    assert_ne!(answer, expected, "the hook fails, and that is said");
}
