//! Content that Git converts on its way between repository and worktree: line ends and encodings, beside stock git.

use std::path::Path;

use foremerge::git::{Exclusions, Repository, Snapshot};

use crate::git_create::create;
use crate::sandbox::{Sandbox, append, git, write};

fn look(root: &Path) -> Snapshot {
    Repository::discover(root).unwrap().snapshot(b"identity", &Exclusions::default()).unwrap()
}

fn lines(snapshot: &Snapshot) -> Vec<String> {
    let line = |change: &foremerge::git::snapshot::Change| {
        format!("{} {}", change.status.escape_ascii(), change.path.escape_ascii())
    };
    snapshot.changes.iter().map(line).collect()
}

/// The letters, which must be git's, and the number of changed paths in the list of worktrees.
#[track_caller]
fn as_git(root: &Path) -> Snapshot {
    let said = git(root, &["--no-optional-locks", "status", "--porcelain=v1", "--untracked-files=all"]);
    let snapshot = look(root);
    assert_eq!(lines(&snapshot), said.lines().collect::<Vec<_>>());
    let listed = Repository::discover(root).unwrap().worktrees().unwrap();
    let own = listed.iter().find(|worktree| worktree.path == root).unwrap();
    assert_eq!(own.dirty, Some(snapshot.changed_paths().len() as u64), "{own:?}");
    snapshot
}

#[test]
fn the_values_of_line_end_settings_count_in_any_case_of_letters() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    write(&root.join(".gitattributes"), "*.t text\n");
    write(&root.join("a.t"), "one\ntwo\n");
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "text"]);
    let settings = [("core.eol", "CRLF"), ("core.eol", "Lf"), ("core.eol", "NATIVE"), ("core.eol", "odd")];
    for (number, (key, value)) in settings.into_iter().chain([("core.autocrlf", "INPUT")]).enumerate() {
        git(&root, &["config", key, value]);
        write(&root.join("a.t"), "one\r\ntwo\n");
        as_git(&root);
        append(&root.join("a.t"), "more\r\n");
        let mixed = as_git(&root);
        write(&root.join("a.t"), "one\ntwo\nmore\n");
        assert_eq!(as_git(&root), mixed, "{value}");
        git(&root, &["checkout", "-q", "."]);
        let made = create(&root, &format!("b{number}"), &sandbox.path(&format!("ours-{number}"))).unwrap();
        let theirs = sandbox.path(&format!("theirs-{number}"));
        git(&root, &["worktree", "add", "-q", "--detach", theirs.to_str().unwrap()]);
        let text = |at: &Path| std::fs::read(at.join("a.t")).unwrap();
        assert_eq!(text(&made.path), text(&theirs), "{value}");
        git(&root, &["config", "--unset", key]);
    }
}
