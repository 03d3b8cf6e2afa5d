//! What `.git/info/attributes` says of files below the top of the worktree, where a `.gitattributes` says otherwise.

use std::path::Path;

use foremerge::git::{Exclusions, Repository, Snapshot};

use crate::git_create::create;
use crate::sandbox::{Sandbox, git, write};

fn look(root: &Path) -> Snapshot {
    Repository::discover(root).unwrap().snapshot(b"identity", &Exclusions::default()).unwrap()
}

#[track_caller]
fn as_git(root: &Path, case: &str) {
    let said = git(root, &["--no-optional-locks", "status", "--porcelain=v1", "--untracked-files=all"]);
    let changes = look(root).changes;
    let lines: Vec<_> = changes
        .iter()
        .map(|change| format!("{} {}", change.status.escape_ascii(), change.path.escape_ascii()))
        .collect();
    assert_eq!(lines, said.lines().collect::<Vec<_>>(), "{case}");
}

/// The attributes of `d`, of the repository itself, and what `d/a` may come to hold: as long as what was committed.
const CASES: &[(&str, &str, &[&str])] = &[
    ("a filter=evil", "a -filter", &["hELLO\n", "HELLO\n"]),
    ("a filter=evil", "a !filter", &["hELLO\n"]),
    ("a filter=evil", "d/a filter=good", &["hELLO\n", "HELLO\n"]),
    ("a -filter", "[attr]caps filter=good\n/d/* caps", &["hELLO\n", "HELLO\n"]),
    ("a filter=need", "# none\n\nother -filter\na -filter", &["hELLO\n"]),
    ("a filter=need", "other -filter", &["HELLO\n"]),
    ("a text -text", "a text=auto eol=crlf", &["hello\r\n", "hello\n\n"]),
    ("a text eol=crlf", "a -text", &["hello\r\n"]),
    ("a text=auto eol=crlf", "a binary", &["hello\r\n"]),
    ("a working-tree-encoding=UTF-16", "a !working-tree-encoding", &["hellO\n"]),
    ("a !working-tree-encoding", "d/a working-tree-encoding=UTF-16LE", &["h\0e\0l\0l\0o\0\n\0"]),
    ("a working-tree-encoding=UTF-16", "a working-tree-encoding=latin1", &["hellO\n"]),
    ("a ident", "a -ident", &["hellO\n"]),
];

#[test]
fn the_attributes_of_the_repository_itself_have_the_last_word_as_with_git() {
    for (directory, own, texts) in CASES {
        let sandbox = Sandbox::new();
        let root = sandbox.repository("r");
        let case = format!("{directory}, {own}");
        std::fs::create_dir(root.join("d")).unwrap();
        for name in ["d/a", "d/other", "a"] {
            write(&root.join(name), "hello\n");
        }
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "text"]);
        write(&root.join("d/.gitattributes"), &format!("{directory}\n"));
        write(&root.join(".git/info/attributes"), &format!("{own}\n"));
        git(&root, &["add", "d/.gitattributes"]);
        git(&root, &["commit", "-q", "-m", "attributes"]);
        for (filter, clean, smudge) in [
            ("evil", "tr A-Z a-z", "touch ../ran-evil; tr a-z A-Z"),
            ("good", "tr A-Z a-z", "tr a-z A-Z"),
            ("need", "tr A-Z a-z", "tr a-z A-Z"),
        ] {
            git(&root, &["config", &format!("filter.{filter}.clean"), clean]);
            git(&root, &["config", &format!("filter.{filter}.smudge"), smudge]);
        }
        git(&root, &["config", "filter.need.required", "true"]);
        let made = create(&root, "ours", &sandbox.path("ours")).unwrap();
        let theirs = sandbox.path("theirs");
        assert!(!sandbox.path("ran-evil").exists(), "{case}");
        git(&root, &["worktree", "add", "-q", "-b", "theirs", theirs.to_str().unwrap()]);
        for name in ["d/a", "d/other", "a"] {
            let text = |at: &Path| std::fs::read(at.join(name)).unwrap();
            assert_eq!(text(&made.path), text(&theirs), "{name} {case}");
        }
        as_git(&made.path, &case);
        for text in *texts {
            for at in [&root, &made.path] {
                write(&at.join("d/a"), text);
                as_git(at, &case);
            }
        }
    }
}
