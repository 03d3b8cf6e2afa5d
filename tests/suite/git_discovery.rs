//! Where a repository is and what is checked out: stock git's own answers are the measure.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use foremerge::git::{Head, Repository};

use crate::agreement::{agree, sorted_roots};
use crate::probe;
use crate::sandbox::{Sandbox, append, git, git_accepts, shell, write};

#[test]
fn every_directory_of_a_worktree_belongs_to_its_repository() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    for dir in [main.clone(), main.join("src"), main.join("src/deep")] {
        let found = agree(&dir);
        assert!(!found.is_linked_worktree());
        assert_eq!(sorted_roots(&found), std::slice::from_ref(&main));
    }
}

#[test]
fn inside_the_git_directory_there_is_no_worktree_root() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    for dir in [main.join(".git"), main.join(".git/hooks")] {
        let found = agree(&dir);
        assert_eq!(found.worktree_root(), None);
        assert_eq!(sorted_roots(&found), std::slice::from_ref(&main));
    }
}

#[test]
fn a_sha256_repository_answers_with_long_ids() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository_with("main", &["--object-format=sha256"]);
    assert_eq!(agree(&main).head().unwrap().commit.unwrap().len(), 64);
}

#[test]
fn unborn_and_detached_heads_are_told_apart() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let commit = git(&main, &["rev-parse", "HEAD"]);
    git(&main, &["checkout", "-q", "--orphan", "fresh/start"]);
    let unborn = Head { branch: Some("fresh/start".into()), commit: None };
    assert_eq!(agree(&main).head().unwrap(), unborn);
    git(&main, &["checkout", "-q", "-f", "--detach", "main"]);
    assert_eq!(agree(&main).head().unwrap(), Head { branch: None, commit: Some(commit) });
}

#[test]
fn a_packed_branch_and_a_symbolic_branch_are_read_as_git_reads_them() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &["pack-refs", "--all"]);
    assert_eq!(agree(&main).head().unwrap().branch.as_deref(), Some("main"));
    git(&main, &["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    git(&main, &["symbolic-ref", "HEAD", "refs/heads/alias"]);
    assert_eq!(agree(&main).head().unwrap().branch.as_deref(), Some("main"));
}

#[test]
fn a_switch_of_branch_is_seen_by_an_open_repository() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let found = agree(&main);
    git(&main, &["checkout", "-q", "-b", "next"]);
    git(&main, &["commit", "-q", "--allow-empty", "-m", "second"]);
    let head = found.head().unwrap();
    assert_eq!(head.branch.as_deref(), Some("next"));
    assert_eq!(head.commit, Some(git(&main, &["rev-parse", "HEAD"])));
}

#[test]
fn a_branch_name_that_is_not_utf8_is_read_with_replacement_characters() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &[b"checkout".as_slice(), b"-q", b"-b", b"caf\xe9"].map(std::ffi::OsStr::from_bytes));
    assert_eq!(agree(&main).head().unwrap().branch.as_deref(), Some("caf\u{fffd}"));
}

#[test]
fn a_path_that_is_not_utf8_is_found() {
    let sandbox = Sandbox::new();
    let main = sandbox.root.join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    std::fs::rename(sandbox.repository("main"), &main).unwrap();
    let found = Repository::discover(&main.join("src")).unwrap();
    assert_eq!(found.worktree_root(), Some(main.as_path()));
}

#[test]
fn symbolic_links_lead_to_real_paths() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    symlink(&main, sandbox.path("link")).unwrap();
    assert_eq!(agree(&sandbox.path("link/src")).worktree_root(), Some(main.as_path()));
    sandbox.mkdir("other");
    symlink(main.join(".git"), sandbox.path("other/.git")).unwrap();
    let found = Repository::discover(&sandbox.path("other")).unwrap();
    assert_eq!(
        git(&sandbox.path("other"), &["rev-parse", "--show-toplevel"]),
        sandbox.path("other").to_str().unwrap()
    );
    assert_eq!(found.worktree_root(), Some(sandbox.path("other").as_path()));
    assert_eq!(found.common_dir(), main.join(".git"));
}

#[test]
fn what_only_looks_like_a_git_directory_is_passed_by_as_git_does() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    std::fs::create_dir_all(main.join("empty/.git")).unwrap();
    std::fs::create_dir_all(main.join("half/.git/objects")).unwrap();
    write(&main.join("half/.git/HEAD"), "ref: refs/heads/main\n");
    std::fs::create_dir_all(main.join("bare/objects")).unwrap();
    std::fs::create_dir_all(main.join("bare/refs")).unwrap();
    for dir in ["empty", "half", "bare"] {
        assert_eq!(agree(&main.join(dir)).worktree_root(), Some(main.as_path()), "{dir}");
    }
}

#[test]
fn a_nested_repository_hides_the_outer_one() {
    let sandbox = Sandbox::new();
    sandbox.repository("outer");
    let inner = sandbox.repository("outer/vendor");
    assert_eq!(agree(&inner.join("src")).worktree_root(), Some(inner.as_path()));
}

#[test]
fn replacement_refs_and_shallow_history_change_nothing_here() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &["commit", "-q", "--allow-empty", "-m", "second"]);
    let commit = git(&main, &["rev-parse", "HEAD"]);
    git(&main, &["replace", "HEAD", "HEAD~1"]);
    assert_eq!(agree(&main).head().unwrap().commit, Some(commit));
    let url = format!("file://{}", main.display());
    git(&sandbox.root, &["clone", "-q", "--depth=1", &url, "shallow"]);
    agree(&sandbox.path("shallow"));
}

#[test]
fn no_environment_variable_redirects_the_search() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let other = sandbox.repository("other");
    let broken = sandbox.path("broken.config");
    write(&broken, "[core\n");
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let variables = [
        ("GIT_DIR", text(&other.join(".git"))),
        ("GIT_WORK_TREE", text(&other)),
        ("GIT_INDEX_FILE", ".git/other-index".into()),
        ("GIT_COMMON_DIR", text(&other.join(".git"))),
        ("GIT_OBJECT_DIRECTORY", text(&other.join(".git/objects"))),
        ("GIT_CEILING_DIRECTORIES", text(&main)),
        ("GIT_NAMESPACE", "elsewhere".into()),
        ("GIT_PREFIX", "src/".into()),
        ("GIT_CONFIG", text(&broken)),
        ("GIT_CONFIG_GLOBAL", text(&broken)),
        ("GIT_CONFIG_SYSTEM", text(&broken)),
        ("GIT_CONFIG_PARAMETERS", "'core.worktree'='/'".into()),
        ("GIT_CONFIG_COUNT", "1".into()),
        ("GIT_CONFIG_KEY_0", "core.worktree".into()),
        ("GIT_CONFIG_VALUE_0", text(&other)),
        ("GIT_DEFAULT_HASH", "sha256".into()),
        ("GIT_DEFAULT_REF_FORMAT", "reftable".into()),
    ];
    let program = std::env::current_exe().unwrap();
    let from = main.join("src/deep");
    let expected = probe::here(&from);
    assert!(expected.starts_with("ok "), "{expected}");
    for (name, value) in &variables {
        let answer = probe::elsewhere(&program, &from, |command| {
            command.env(name, value);
        });
        assert_eq!(answer, expected, "{name}");
    }
    let answer = probe::elsewhere(&program, &from, |command| {
        command.envs(variables);
    });
    assert_eq!(answer, expected);
}

#[test]
fn a_relative_starting_point_is_taken_from_the_current_directory() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let program = std::env::current_exe().unwrap();
    for from in [".", "deep", "..", "../.git"] {
        let answer = probe::elsewhere(&program, Path::new(from), |command| {
            command.current_dir(main.join("src"));
        });
        assert_eq!(answer, probe::here(&main.join("src").join(from)), "{from}");
    }
}

#[test]
fn a_sparse_index_is_refused_with_the_command_that_expands_it() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    std::fs::create_dir_all(main.join("other/deep")).unwrap();
    write(&main.join("other/deep/b"), "b\n");
    git(&main, &["add", "."]);
    git(&main, &["commit", "-q", "-m", "second"]);
    let check = || Repository::discover(&main).unwrap().require_full_index();
    check().unwrap();
    git(&main, &["sparse-checkout", "set", "--cone", "--no-sparse-index", "src"]);
    check().unwrap();
    git(&main, &["sparse-checkout", "reapply", "--sparse-index"]);
    let error = check().unwrap_err();
    assert!(matches!(error, foremerge::git::Error::Unsupported { .. }), "{error:?}");
    shell(&main, error.remedy().unwrap());
    check().unwrap();
}

#[test]
fn a_damaged_index_is_named() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    write(&main.join(".git/index"), "DIRCgarbage");
    let error = Repository::discover(&main).unwrap().require_full_index().unwrap_err();
    assert_eq!(error.path(), main.join(".git/index"));
}

#[test]
fn unknown_extensions_in_format_version_0_are_overlooked_as_git_overlooks_them() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    append(&main.join(".git/config"), "[extensions]\n\tinvented = true\n\tpartialClone = origin\n");
    assert!(git_accepts(&main));
    agree(&main);
}
