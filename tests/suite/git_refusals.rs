//! What stands in the way is said, with its path and, where there is one, the command that helps.

use std::os::unix::fs::symlink;
use std::path::Path;

use foremerge::git::{Error, Repository};

use crate::sandbox::{Sandbox, append, git, git_accepts, shell, write};

fn refusal(dir: &Path) -> Error {
    Repository::discover(dir).expect_err("a refusal")
}

fn unreadable(dir: &Path) -> Error {
    let error = refusal(dir);
    assert!(matches!(error, Error::Unreadable { .. }), "{error:?}");
    one_sentence(&error);
    error
}

fn unsupported(dir: &Path) -> Error {
    let error = refusal(dir);
    assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
    one_sentence(&error);
    error
}

fn one_sentence(error: &Error) {
    let text = error.to_string();
    assert!(!text.contains('\n') && text.contains(error.path().to_str().unwrap()), "{text}");
}

#[test]
fn a_directory_outside_any_repository_is_not_a_repository() {
    let sandbox = Sandbox::new();
    let dir = sandbox.mkdir("plain/deep");
    assert!(!git_accepts(&dir));
    assert_eq!(refusal(&dir), Error::NotARepository { path: dir });
}

#[test]
fn a_starting_point_that_is_no_directory_is_named() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    assert_eq!(unreadable(&main.join("gone/deeper")).path(), main.join("gone/deeper"));
    assert_eq!(unreadable(&main.join("src/deep/a.rs")).path(), main.join("src/deep/a.rs"));
}

#[test]
fn a_broken_git_file_never_leads_to_the_enclosing_repository() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let inner = sandbox.mkdir("main/inner");
    let huge = format!("gitdir: {}", "x".repeat(2 << 20));
    for text in ["", "garbage", "gitdir: ", "gitdir: /nowhere", "gitdir: ../src", &huge] {
        write(&inner.join(".git"), text);
        assert!(!git_accepts(&inner));
        let error = unreadable(&inner.join("."));
        assert_eq!((error.path(), error.remedy()), (inner.as_path(), None));
    }
    write(&inner.join(".git"), "gitdir: ../.git\n");
    assert_eq!(Repository::discover(&inner).unwrap().common_dir(), main.join(".git"));
}

#[test]
fn a_dangling_symbolic_link_in_place_of_the_git_directory_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.repository("main");
    let inner = sandbox.mkdir("main/inner");
    symlink("/nowhere", inner.join(".git")).unwrap();
    assert_eq!(unreadable(&inner).path(), inner);
}

#[test]
fn a_damaged_head_never_leads_to_the_enclosing_repository() {
    let sandbox = Sandbox::new();
    sandbox.repository("main");
    let inner = sandbox.repository("main/inner");
    for text in ["", "garbage\n", "ref: heads/main\n"] {
        write(&inner.join(".git/HEAD"), text);
        for dir in [inner.join("src"), inner.join(".git/refs")] {
            assert_eq!(unreadable(&dir).path(), inner.join(".git"), "{text:?}");
        }
    }
}

#[test]
fn a_branch_file_that_holds_no_id_makes_the_head_unreadable() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    write(&main.join(".git/refs/heads/main"), "");
    let error = Repository::discover(&main).unwrap().head().unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error:?}");
}

#[test]
fn a_moved_repository_says_how_its_worktrees_are_repaired() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &["worktree", "add", "-q", "-b", "topic", "../it's here"]);
    let linked = sandbox.path("it's here");
    std::fs::rename(&main, sandbox.path("moved")).unwrap();
    let error = unreadable(&linked.join("src"));
    let remedy = error.remedy().unwrap();
    assert!(remedy.starts_with("git worktree repair "), "{remedy}");
    shell(&sandbox.path("moved"), remedy);
    assert_eq!(Repository::discover(&linked).unwrap().common_dir(), sandbox.path("moved/.git"));
}

#[test]
fn a_pruned_worktree_is_told_from_a_moved_repository() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &["worktree", "add", "-q", "-b", "topic", "../linked"]);
    std::fs::remove_dir_all(main.join(".git/worktrees")).unwrap();
    let error = unreadable(&sandbox.path("linked"));
    assert_eq!(error.remedy(), None);
    assert!(error.to_string().contains("no longer"), "{error}");
}

#[test]
fn a_configured_worktree_that_is_gone_is_an_error() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &["config", "core.worktree", "/nowhere"]);
    assert_eq!(unreadable(&main).path(), main);
}

#[test]
fn a_damaged_configuration_is_an_error_wherever_git_finds_one() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &["worktree", "add", "-q", "-b", "topic", "../linked"]);
    let sound = std::fs::read_to_string(main.join(".git/config")).unwrap();
    for text in ["[core", "[core]\n\tbare = maybe\n", "[extensions]\n\tworktreeConfig = maybe\n"] {
        write(&main.join(".git/config"), &format!("{sound}{text}"));
        for dir in [&main, &sandbox.path("linked")] {
            assert!(!git_accepts(dir), "{text}");
            assert_eq!(unreadable(dir).path(), main.join(".git/config"));
        }
    }
    write(&main.join(".git/config"), &format!("{sound}[extensions]\n\tworktreeConfig = true\n"));
    write(&main.join(".git/worktrees/linked/config.worktree"), "[core");
    assert_eq!(
        unreadable(&sandbox.path("linked")).path(),
        main.join(".git/worktrees/linked/config.worktree")
    );
    Repository::discover(&main).unwrap();
    std::fs::remove_file(main.join(".git/config")).unwrap();
    std::fs::create_dir(main.join(".git/config")).unwrap();
    assert!(!git_accepts(&main));
    unreadable(&main);
}

/// Every form of the section that says how a repository is stored: what git refuses is refused.
#[test]
fn repository_formats_are_accepted_and_refused_as_git_does() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let (mut accepted, mut refused) = (0, 0);
    let versions = [
        "",
        "repositoryformatversion = 0",
        "repositoryformatversion = 1",
        "repositoryformatversion = 2",
        "repositoryformatversion",
        "repositoryformatversion = x",
        "repositoryformatversion = 7\n repositoryformatversion = 0",
    ];
    let extensions = [
        "",
        "noop = 1",
        "noop-v1 = 1",
        "preciousObjects = true",
        "partialClone = origin",
        "worktreeConfig",
        "worktreeConfig = no",
        "objectFormat = sha1",
        "objectFormat = md5",
        "refStorage = files",
        "refStorage",
        "objectFormat",
        "partialClone",
        "preciousObjects = maybe",
        "refStorage = tables",
        "invented",
        "INVENTED = true",
    ];
    let reftable = git_knows_reftable();
    for version in versions {
        for extension in extensions.iter().filter(|name| reftable || !name.starts_with("refStorage")) {
            let text = format!("[core]\n bare = false\n {version}\n[extensions]\n {extension}\n");
            write(&main.join(".git/config"), &text);
            let found = Repository::discover(&main);
            assert_eq!(
                found.is_ok(),
                git_accepts_or_is_too_lax(&main, version, extension),
                "{text}{found:?}"
            );
            if found.is_ok() { accepted += 1 } else { refused += 1 }
        }
    }
    assert!(accepted > 10 && refused > 10, "{accepted} {refused}");
}

/// Git overlooks all extensions where no version is stated; the object format cannot be overlooked here.
fn git_accepts_or_is_too_lax(dir: &Path, version: &str, extension: &str) -> bool {
    git_accepts(dir) && !(version.is_empty() && extension.starts_with("objectFormat"))
}

fn git_knows_reftable() -> bool {
    let help = crate::sandbox::try_git(Path::new("/"), &["refs", "-h"]);
    String::from_utf8_lossy(&help.stdout).contains("migrate")
}

#[test]
fn an_unknown_extension_is_named() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &["config", "core.repositoryFormatVersion", "1"]);
    append(&main.join(".git/config"), "[extensions \"sub\"]\n\tInvented = true\n");
    assert!(!git_accepts(&main));
    assert!(unsupported(&main).to_string().contains("sub.invented"));
}

#[test]
fn a_reftable_is_refused_with_the_command_that_migrates_it() {
    let sandbox = Sandbox::new();
    if !git_knows_reftable() {
        eprintln!("git is older than 2.46: nothing to test");
        return;
    }
    // Git before 2.48 migrates no reflogs; a bare repository has none.
    git(&sandbox.root, &["init", "-q", "--bare", "-b", "main", "--ref-format=reftable", "main"]);
    let main = sandbox.path("main");
    let error = unsupported(&main);
    shell(&main, error.remedy().unwrap());
    assert_eq!(Repository::discover(&main).unwrap().head().unwrap().branch.as_deref(), Some("main"));
}

#[test]
fn an_experimental_second_object_format_is_refused() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &["config", "core.repositoryFormatVersion", "1"]);
    git(&main, &["config", "extensions.compatObjectFormat", "sha256"]);
    assert!(unsupported(&main).to_string().contains("compatobjectformat"));
}

#[test]
fn a_head_that_is_a_symbolic_link_is_refused_with_the_command_that_rewrites_it() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    std::fs::remove_file(main.join(".git/HEAD")).unwrap();
    symlink("refs/heads/main", main.join(".git/HEAD")).unwrap();
    assert!(git_accepts(&main));
    let error = unsupported(&main);
    shell(&main, error.remedy().unwrap());
    assert_eq!(Repository::discover(&main).unwrap().head().unwrap().branch.as_deref(), Some("main"));
}
