//! Throw-away repositories: stock git must find nothing wrong with them.

use foremerge::git::{Error, Repository, scaffold};

use crate::sandbox::{Sandbox, git, write};

const FILES: &[(&str, &str)] = &[
    ("README.md", "# Demo\n"),
    ("src/billing/invoice.rs", "pub fn total() {}\n"),
    ("src/lib.rs", "pub mod billing;\r\n"),
    ("src-more", ""),
];

#[test]
fn a_scaffolded_repository_is_clean_and_complete_for_stock_git() {
    let sandbox = Sandbox::new();
    let at = sandbox.path("new/demo");
    scaffold::create(&at, FILES, "A demonstration\n", 1_700_000_000).unwrap();
    assert_eq!(git(&at, &["status", "--porcelain=v1", "--branch"]), "## main");
    assert_eq!(
        git(&at, &["log", "--format=%an <%ae> %at %ct %s"]),
        "Foremerge <foremerge@example.invalid> 1700000000 1700000000 A demonstration"
    );
    let mut paths: Vec<_> = FILES.iter().map(|(path, _)| *path).collect();
    paths.sort_unstable();
    assert_eq!(git(&at, &["ls-files"]).lines().collect::<Vec<_>>(), paths);
    for (path, content) in FILES {
        assert_eq!(std::fs::read_to_string(at.join(path)).unwrap(), *content);
    }
    git(&at, &["fsck", "--strict"]);
    write(&at.join("src-more"), "changed");
    assert_eq!(git(&at, &["status", "--porcelain"]), " M src-more");
    let found = Repository::discover(&at.join("src")).unwrap();
    assert_eq!(found.head().unwrap().commit, Some(git(&at, &["rev-parse", "HEAD"])));
}

#[test]
fn equal_content_and_time_give_equal_ids() {
    let sandbox = Sandbox::new();
    let commit = |name: &str, seconds| {
        scaffold::create(&sandbox.path(name), FILES, "m", seconds).unwrap();
        git(&sandbox.path(name), &["rev-parse", "HEAD"])
    };
    assert_eq!(commit("a", 7), commit("b", 7));
    assert_ne!(commit("c", 8), commit("d", 9));
}

#[test]
fn nothing_is_overwritten() {
    let sandbox = Sandbox::new();
    let at = sandbox.path("demo");
    let full = sandbox.mkdir("full");
    write(&full.join("mine"), "mine");
    let refused = |result: Result<(), Error>| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Unwritable { .. }), "{error:?}");
        assert!(!error.to_string().contains('\n'), "{error}");
    };
    refused(scaffold::create(&full, FILES, "m", 0));
    scaffold::create(&at, FILES, "m", 0).unwrap();
    refused(scaffold::create(&at, FILES, "m", 0));
    assert_eq!(std::fs::read_dir(&full).unwrap().count(), 1);
}

#[test]
fn a_path_that_git_forbids_is_refused() {
    let sandbox = Sandbox::new();
    for (number, path) in ["../escape", ".git/config", "a//b", ""].into_iter().enumerate() {
        let at = sandbox.path(&number.to_string());
        assert!(scaffold::create(&at, &[(path, "x")], "m", 0).is_err(), "{path:?}");
        assert!(!sandbox.path("escape").exists());
    }
}
