//! Filters that cannot be run, or fail: what nobody requires leaves content as it is, as with git.

use std::path::{Path, PathBuf};

use foremerge::git::worktree::CreateError;
use foremerge::git::{Error, Exclusions, Repository, Snapshot};

use crate::beside_git::lines;
use crate::git_create::{create, is_good};
use crate::sandbox::{Sandbox, git, try_git, write};

/// What a long-running filter says first.
const HELLO: &str =
    r"0016git-filter-server\n000eversion=2\n00000015capability=clean\n0016capability=smudge\n0000";

/// The setting and its value, and what becomes of the content.
struct Filter {
    key: &'static str,
    program: String,
    works: bool,
}

fn filters() -> Vec<Filter> {
    let fails = |key, program: &str| Filter { key, program: program.to_owned(), works: false };
    // Git may read a file several times.
    let says = |answer: &str| format!("printf '{HELLO}{}'; cat >/dev/null", answer.repeat(9));
    let process = |program| Filter { key: "process", program, works: false };
    let good = says(r"0013status=success\n0000000aHELLO\n00000000");
    vec![
        fails("clean", "no-such-program"),
        fails("clean", "/no/such/program --with %f"),
        fails("clean", "exit 3"),
        fails("clean", "head -c 2; exit 1"),
        fails("clean", "kill -9 $$"),
        Filter { key: "clean", program: "tr a-z A-Z".into(), works: true },
        process("no-such-program".into()),
        process(says(r"0011status=error\n0000")),
        process(says(r"0011status=abort\n0000")),
        process(says(r"0013status=success\n00000009HELLO00000011status=error\n0000")),
        process(format!(
            r"printf '{HELLO}0013status=success\n00000009HELLO'; head -c 120 >/dev/null; exit 1"
        )),
        Filter { key: "process", program: good, works: true },
    ]
}

/// A repository whose `a.f` and `b.f` are to pass the filter, with both committed before it was configured.
fn repository(sandbox: &Sandbox, filter: &Filter, required: bool) -> PathBuf {
    let root = sandbox.repository("r");
    write(&root.join(".gitattributes"), "*.f filter=odd\n");
    for name in ["a.f", "b.f"] {
        write(&root.join(name), "hello\n");
    }
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "before the filter"]);
    git(&root, &["config", &format!("filter.odd.{}", filter.key), &filter.program]);
    if filter.key == "clean" {
        git(&root, &["config", "filter.odd.smudge", &filter.program]);
    }
    git(&root, &["config", "filter.odd.required", if required { "true" } else { "false" }]);
    root
}

fn look(root: &Path) -> Result<Snapshot, Error> {
    Repository::discover(root).unwrap().snapshot(b"identity", &Exclusions::default())
}

#[test]
fn a_filter_that_fails_and_that_nobody_requires_leaves_a_file_as_it_is() {
    for filter in filters() {
        let sandbox = Sandbox::new();
        let root = repository(&sandbox, &filter, false);
        for text in ["hello\n", "jello\n", "longer\n"] {
            write(&root.join("a.f"), text);
            let said = git(&root, &["--no-optional-locks", "status", "--porcelain=v1"]);
            let snapshot = look(&root).unwrap();
            assert_eq!(lines(&snapshot), said.lines().collect::<Vec<_>>(), "{} {text}", filter.program);
            let listed = Repository::discover(&root).unwrap().worktrees().unwrap();
            assert_eq!(listed[0].dirty, Some(snapshot.changed_paths().len() as u64), "{listed:?}");
        }
        // The content is the file's own, as it would be without the filter.
        let with = look(&root).unwrap();
        git(&root, &["config", "--remove-section", "filter.odd"]);
        assert_eq!(look(&root).unwrap().content == with.content, !filter.works, "{}", filter.program);
    }
}

#[test]
fn a_filter_that_fails_and_that_nobody_requires_leaves_a_new_worktree_as_it_is_stored() {
    for filter in filters() {
        let sandbox = Sandbox::new();
        let root = repository(&sandbox, &filter, false);
        let made = create(&root, "ours", &sandbox.path("ours")).unwrap();
        let theirs = sandbox.path("theirs");
        git(&root, &["worktree", "add", "-q", "-b", "theirs", theirs.to_str().unwrap()]);
        for name in ["a.f", "b.f", "src/deep/a.rs"] {
            let text = |at: &Path| std::fs::read_to_string(at.join(name)).unwrap();
            assert_eq!(text(&made.path), text(&theirs), "{name} {}", filter.program);
        }
        if filter.works {
            continue;
        }
        let status = |at: &Path| git(at, &["--no-optional-locks", "status", "--porcelain=v1"]);
        assert_eq!(status(&made.path), status(&theirs), "{}", filter.program);
        assert_eq!(lines(&look(&made.path).unwrap()), lines(&look(&theirs).unwrap()), "{}", filter.program);
        git(&root, &["config", "--remove-section", "filter.odd"]);
        is_good(&root, &made);
    }
}

#[test]
fn a_filter_that_is_required_and_fails_is_an_error_that_names_it_and_the_path() {
    for filter in filters().into_iter().filter(|filter| !filter.works) {
        let sandbox = Sandbox::new();
        let root = repository(&sandbox, &filter, true);
        write(&root.join("a.f"), "jello\n");
        let hashed = try_git(&root, &["hash-object", "a.f"]);
        assert!(!hashed.status.success(), "{}", filter.program);
        let refused = look(&root).unwrap_err();
        assert!(refused.path().starts_with(&root) && refused.path().extension().unwrap() == "f", "{refused}");
        assert!(refused.to_string().contains("the filter odd, which is required"), "{refused}");
        let added = try_git(&root, &["worktree", "add", "-q", "--detach", "../theirs"]);
        assert!(!added.status.success(), "{}", filter.program);
        let refused = create(&root, "ours", &sandbox.path("ours")).unwrap_err();
        let CreateError::Git(Error::Unreadable { path, detail, .. }) = &refused else {
            panic!("{refused:?}")
        };
        assert_eq!(*path, sandbox.path("ours/a.f"), "{refused}");
        assert!(detail.starts_with("the filter odd, which is required, failed: "), "{refused}");
        assert!(!sandbox.path("ours").exists());
        assert_eq!(git(&root, &["branch", "--format=%(refname:short)"]), "main");
    }
}

#[test]
fn a_filter_that_is_required_and_has_no_program_is_an_error_where_a_file_is_read() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    write(&root.join(".gitattributes"), "*.f filter=odd\n");
    write(&root.join("a.f"), "hello\n");
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "filter"]);
    git(&root, &["config", "filter.odd.required", "true"]);
    write(&root.join("a.f"), "hello, more\n");
    assert!(!try_git(&root, &["hash-object", "a.f"]).status.success());
    let refused = look(&root).unwrap_err();
    assert_eq!(refused.path(), root.join("a.f"), "{refused}");
}

/// Git ends with an error there, and says different things from one time to the next.
#[test]
fn a_long_running_filter_that_breaks_off_before_the_first_file_leaves_it_as_it_is() {
    for program in ["exit 3", "printf garbage; cat >/dev/null", "printf '0016git-filter-server'", "sleep 0.1"]
    {
        let sandbox = Sandbox::new();
        let filter = Filter { key: "process", program: program.to_owned(), works: false };
        let root = repository(&sandbox, &filter, false);
        assert!(!look(&root).unwrap().is_dirty(), "{program}");
        let made = create(&root, "ours", &sandbox.path("ours")).unwrap();
        assert_eq!(std::fs::read_to_string(made.path.join("a.f")).unwrap(), "hello\n", "{program}");
        write(&root.join("a.f"), "jello\n");
        let with = look(&root).unwrap();
        git(&root, &["config", "--remove-section", "filter.odd"]);
        assert_eq!(look(&root).unwrap(), with, "{program}");
    }
}

/// A long-running filter that makes capitals and answers `f2.f` as the first argument says, at once or
/// after the content.
const SECOND: &str = r"
import sys
source, sink = sys.stdin.buffer, sys.stdout.buffer
def lines():
    read = []
    while True:
        size = source.read(4)
        if not size: sys.exit(0)
        if int(size, 16) == 0: return read
        read.append(source.read(int(size, 16) - 4))
def say(*lines):
    for line in lines: sink.write(b'%04x' % (len(line) + 4) + line)
    sink.write(b'0000'); sink.flush()
lines(); say(b'git-filter-server\n', b'version=2\n'); lines()
say(b'capability=clean\n', b'capability=smudge\n')
answer, late = sys.argv[1].encode(), sys.argv[2] == 'late'
while True:
    second = b'pathname=f2.f' in [line.strip() for line in lines()]; content = b''.join(lines())
    if second and answer == b'die': sys.exit(1)
    if second and not late: say(b'status=' + answer + b'\n'); continue
    say(b'status=success\n'); say(content.swapcase())
    if second: say(b'status=' + answer + b'\n')
    else: say()
";

/// Of a filter that answers `error`, `abort`, something else, or dies, and when: which of the files after are still
/// converted.
#[test]
fn a_long_running_filter_goes_on_after_an_error_and_not_after_it_aborts_as_with_git() {
    for (answer, when) in [
        ("error", "soon"),
        ("error", "late"),
        ("abort", "soon"),
        ("abort", "late"),
        ("odd", "soon"),
        ("odd", "late"),
        ("die", "soon"),
    ] {
        let sandbox = Sandbox::new();
        let root = sandbox.repository("r");
        let names = ["f1.f", "f2.f", "f3.f", "f4.f", "f5.f"];
        write(&root.join(".gitattributes"), "*.f filter=odd\n");
        for name in names {
            write(&root.join(name), "hello\n");
        }
        git(&root, &["add", "."]);
        git(&root, &["commit", "-q", "-m", "before the filter"]);
        let program = sandbox.path("second.py");
        write(&program, SECOND);
        let command = format!("python3 {} {answer} {when}", program.display());
        git(&root, &["config", "filter.odd.process", &command]);
        let made = create(&root, "ours", &sandbox.path("ours")).unwrap();
        let theirs = sandbox.path("theirs");
        git(&root, &["worktree", "add", "-q", "-b", "theirs", theirs.to_str().unwrap()]);
        let texts = |at: &Path| names.map(|name| std::fs::read_to_string(at.join(name)).unwrap());
        assert_eq!(texts(&made.path), texts(&theirs), "{answer} {when}");
        for name in names {
            write(&root.join(name), "HELLO\n");
        }
        let said = git(&root, &["--no-optional-locks", "status", "--porcelain=v1"]);
        assert_eq!(lines(&look(&root).unwrap()), said.lines().collect::<Vec<_>>(), "{answer} {when}");
    }
}
