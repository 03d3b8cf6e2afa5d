//! Content that Git converts on its way between repository and worktree: line ends and encodings, beside stock git.

use std::path::Path;

use foremerge::git::{Error, Exclusions, Repository, Snapshot};

use crate::beside_git::{lines, look};
use crate::git_create::create;
use crate::sandbox::{Sandbox, append, git, write};

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

/// An encoding, a text in it, and another of the same length.
const ENCODED: &[(&str, &[u8], &[u8])] = &[
    ("UTF-16", b"\xff\xfeh\0\xe9\0\n\0", b"\xff\xfei\0\xe9\0\n\0"),
    ("UTF-16", b"\xfe\xff\0h\0\xe9\0\n", b"\xfe\xff\0i\0\xe9\0\n"),
    ("UTF-16LE", b"h\0\xe9\0\n\0", b"i\0\xe9\0\n\0"),
    ("utf16be", b"\0h\0\xe9\0\n", b"\0i\0\xe9\0\n"),
    ("UTF-16LE-BOM", b"\xff\xfeh\0\xe9\0\r\0\n\0", b"\xff\xfei\0\xe9\0\r\0\n\0"),
    ("UTF-16LE-BOM", b"\xfe\xff\0h\0\xe9\0\n", b"\xfe\xff\0i\0\xe9\0\n"),
    ("UTF-32", b"\0\0\xfe\xff\0\0\0h\0\0\0\n", b"\0\0\xfe\xff\0\0\0i\0\0\0\n"),
    ("UTF-32LE", b"h\0\0\0\n\0\0\0", b"i\0\0\0\n\0\0\0"),
    ("latin1", b"h\xe9\n", b"i\xe9\n"),
];

#[test]
fn files_in_an_encoding_of_their_own_are_compared_by_their_text_as_by_git() {
    for (encoding, first, second) in ENCODED {
        let sandbox = Sandbox::new();
        let root = sandbox.repository("r");
        write(&root.join(".gitattributes"), &format!("*.t text working-tree-encoding={encoding}\n"));
        let file = root.join("a.t");
        std::fs::write(&file, first).unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "encoded"]);
        let clean = as_git(&root);
        assert!(!clean.is_dirty(), "{encoding}");
        // Another time, and all is to be read.
        let touch = || {
            let file = std::fs::File::options().append(true).open(&file).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000)).unwrap();
        };
        touch();
        assert_eq!(as_git(&root), clean, "{encoding}");
        std::fs::write(&file, second).unwrap();
        let changed = as_git(&root);
        assert!(changed.is_dirty() && changed.fingerprint != clean.fingerprint, "{encoding}");
        // In disorder, git leaves it as it is.
        std::fs::write(&file, &second[1..]).unwrap();
        let broken = as_git(&root);
        assert!(broken.fingerprint != changed.fingerprint, "{encoding}");
        touch();
        assert_eq!(as_git(&root), broken, "{encoding}");
    }
}

#[test]
fn an_encoding_nobody_knows_here_stops_a_snapshot_only_where_the_file_changed() {
    for (encoding, content) in [("UTF-7", &b"h+AOk-\n"[..]), ("cp437", b"h\x82\n"), ("cp437", b"")] {
        let sandbox = Sandbox::new();
        let root = sandbox.repository("r");
        write(&root.join(".gitattributes"), &format!("*.t text working-tree-encoding={encoding}\n"));
        std::fs::write(root.join("a.t"), content).unwrap();
        // The clock of files ticks every few milliseconds, and the index has to be younger.
        std::thread::sleep(std::time::Duration::from_millis(30));
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "encoded"]);
        // As old as the index to the second, so that git reads it.
        assert!(!as_git(&root).is_dirty(), "{encoding}");
        std::fs::write(root.join("a.t"), [content, b"more\n"].concat()).unwrap();
        let listed = Repository::discover(&root).unwrap().worktrees().unwrap();
        assert_eq!(listed[0].dirty, Some(1));
        let refused = Repository::discover(&root).unwrap().snapshot(b"", &Exclusions::default()).unwrap_err();
        assert!(matches!(refused, Error::Unsupported { .. }), "{refused:?}");
        assert_eq!(refused.path(), root.join("a.t"));
        assert!(refused.to_string().contains(encoding), "{refused}");
    }
}

#[test]
fn an_encoding_that_git_does_not_know_either_changes_nothing() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    std::fs::write(root.join("a.t"), b"\xfe\xff\0h\0\n").unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "as it is"]);
    write(&root.join(".gitattributes"), "*.t text working-tree-encoding=UTF-16BE-BOM\n");
    git(&root, &["add", ".gitattributes"]);
    git(&root, &["commit", "-q", "-m", "attributes"]);
    git(&root, &["config", "core.checkRoundtripEncoding", "UTF-16BE-BOM, odd"]);
    write(&root.join("a.t"), "changed\n");
    assert_eq!(lines(&as_git(&root)), [" M a.t"]);
    std::fs::write(root.join("a.t"), b"\xfe\xff\0h\0\n").unwrap();
    assert!(!as_git(&root).is_dirty());
}
