//! What the Git room does with every kind of repository: a table of kinds and of what is asked of each. What works is
//! held to stock git; what does not is a typed error, before anything is written and without fetching anything.

use std::path::{Path, PathBuf};

use foremerge::git::landing::{Landing, Verdict};
use foremerge::git::refs::{Made, RefError, RefName};
use foremerge::git::worktree::{CreateError, Request};
use foremerge::git::{Error, Exclusions, Repository, RevisionError};
use foremerge::world::Fake;

use crate::git_create::is_good;
use crate::git_patch::stock;
use crate::porcelain::porcelain;
use crate::sandbox::{Sandbox, git, shell, try_git, write};
use crate::workplace::listing;

/// A kind of repository, and in one word each what becomes of a snapshot, the patch of its last commit, the landing of
/// a squashed branch, a ref, a new worktree and the list of worktrees.
struct Kind {
    name: &'static str,
    make: fn(&Sandbox) -> PathBuf,
    expected: [&'static str; 6],
}

const WORKS: [&str; 6] = ["snapshot", "patch", "landed", "pinned", "made", "listed"];

const SHA256: &[&str] = &["--object-format=sha256"];

const KINDS: &[Kind] = &[
    Kind { name: "plain", make: |sandbox| history(sandbox, "r", &[]), expected: WORKS },
    Kind { name: "SHA-256", make: |sandbox| history(sandbox, "r", SHA256), expected: WORKS },
    Kind {
        name: "bare",
        make: bare,
        expected: ["no worktree", "patch", "landed", "pinned", "made", "listed"],
    },
    Kind {
        name: "worktree of a bare one",
        make: |sandbox| {
            git(&bare(sandbox), &["worktree", "add", "-q", "../tree", "main"]);
            sandbox.path("tree")
        },
        expected: WORKS,
    },
    Kind {
        name: "linked worktree",
        make: |sandbox| {
            git(&history(sandbox, "r", &[]), &["worktree", "add", "-q", "-b", "side", "../tree"]);
            sandbox.path("tree")
        },
        expected: WORKS,
    },
    Kind {
        name: "separate Git directory",
        make: |sandbox| history(sandbox, "r", &["--separate-git-dir=apart"]),
        expected: WORKS,
    },
    Kind { name: "with keys of gix's own", make: keyed, expected: WORKS },
    Kind {
        name: "shallow",
        make: |sandbox| clone(sandbox, &[], &["--depth=2", "--no-single-branch"]),
        expected: ["snapshot", "patch", "needs history", "pinned", "made", "listed"],
    },
    Kind {
        name: "shallow, SHA-256",
        make: |sandbox| clone(sandbox, SHA256, &["--depth=2", "--no-single-branch"]),
        expected: ["snapshot", "patch", "needs history", "pinned", "made", "listed"],
    },
    Kind {
        name: "detached",
        make: |sandbox| {
            let at = history(sandbox, "r", &[]);
            git(&at, &["checkout", "-q", "--detach"]);
            at
        },
        expected: WORKS,
    },
    Kind {
        name: "unborn",
        make: |sandbox| {
            git(&sandbox.root, &["init", "-q", "-b", "main", "r"]);
            sandbox.path("r")
        },
        expected: ["snapshot", "unborn", "unborn", "no object", "unborn", "listed"],
    },
    Kind {
        name: "partial clone",
        make: |sandbox| clone(sandbox, &[], &["--filter=blob:none", "--no-checkout"]),
        expected: ["snapshot", "missing", "missing", "pinned", "missing", "listed"],
    },
    Kind {
        name: "partial clone, SHA-256",
        make: |sandbox| clone(sandbox, SHA256, &["--filter=blob:none", "--no-checkout"]),
        expected: ["snapshot", "missing", "missing", "pinned", "missing", "listed"],
    },
    Kind { name: "with a submodule", make: with_submodule, expected: WORKS },
    Kind { name: "submodule", make: |sandbox| with_submodule(sandbox).join("sub"), expected: WORKS },
    Kind {
        name: "sparse checkout, full index",
        make: |sandbox| sparse(sandbox, "--no-sparse-index"),
        expected: WORKS,
    },
    Kind {
        name: "sparse index",
        make: |sandbox| sparse(sandbox, "--sparse-index"),
        expected: ["unsupported", "patch", "landed", "pinned", "made", "unsupported"],
    },
];

/// A branch `work`, squashed onto a `main` that had changed the same file elsewhere.
fn history(sandbox: &Sandbox, name: &str, init: &[&str]) -> PathBuf {
    let at = sandbox.repository_with(name, init);
    let script = r"
        set -e
        seq 1 20 > f; git add f; git commit -q -m base; git checkout -q -b work
        sed -i 's/^3$/three/' f; git commit -q -a -m work; git commit -q --allow-empty -m again; git checkout -q main
        sed -i 's/^15$/fifteen/' f; git commit -q -a -m other
        git merge -q --squash work >/dev/null; git commit -q -m squash";
    shell(&at, script);
    at
}

/// One whose configuration says what means nothing to git.
fn keyed(sandbox: &Sandbox) -> PathBuf {
    let at = history(sandbox, "r", &[]);
    write(&at.join(".git/info/exclude"), "$new\n");
    write(&at.join("$new"), "ignored");
    for (key, value) in [
        ("parsePrecious", "true"),
        ("core.shallowFile", "x"),
        ("core.indexFile", "x"),
        ("core.refsNamespace", "x"),
        ("core.protectWindows", "true"),
        ("core.useNsec", "true"),
    ] {
        git(&at, &["config", &format!("gitoxide.{key}"), value]);
    }
    shell(&at, "git rev-parse HEAD >.git/x");
    at
}

fn bare(sandbox: &Sandbox) -> PathBuf {
    history(sandbox, "r", &[]);
    git(&sandbox.root, &["clone", "-q", "--bare", "r", "bare.git"]);
    sandbox.path("bare.git")
}

fn clone(sandbox: &Sandbox, init: &[&str], options: &[&str]) -> PathBuf {
    let origin = history(sandbox, "origin", init);
    git(&origin, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", origin.display());
    git(&sandbox.root, &[&["clone", "-q"], options, &[&url, "r"]].concat());
    let at = sandbox.path("r");
    git(&at, &["branch", "-q", "work", "origin/work"]);
    at
}

fn with_submodule(sandbox: &Sandbox) -> PathBuf {
    history(sandbox, "part", &[]);
    let at = history(sandbox, "r", &[]);
    shell(&at, "git -c protocol.file.allow=always submodule --quiet add ../part sub && git commit -q -m sub");
    git(&at.join("sub"), &["branch", "work", "origin/work"]);
    at
}

fn sparse(sandbox: &Sandbox, index: &str) -> PathBuf {
    let at = history(sandbox, "r", &[]);
    git(&at, &["sparse-checkout", "set", index, "nothing"]);
    at
}

#[test]
fn every_kind_of_repository_works_or_says_why_not_and_fetches_nothing() {
    let mut wrong = Vec::new();
    for kind in KINDS {
        let sandbox = Sandbox::new();
        let at = (kind.make)(&sandbox);
        let common = Repository::discover(&at).unwrap().common_dir().to_owned();
        let before = listing(&common);
        let found = [snapshot(&at), patch(&at), landing(&at)];
        assert!(listing(&common) == before, "{}: looking wrote something", kind.name);
        let found = [found.as_slice(), &[pin(&at), create(&at, &sandbox), list(&at)]].concat();
        assert!(
            listing(&common.join("objects")) == below(&before, &common.join("objects")),
            "{}: something was fetched",
            kind.name
        );
        if found != kind.expected {
            wrong.push((kind.name, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

type Listing = std::collections::BTreeMap<PathBuf, Vec<u8>>;

fn below(all: &Listing, directory: &Path) -> Listing {
    all.iter()
        .filter(|(path, _)| path.starts_with(directory))
        .map(|(path, text)| (path.clone(), text.clone()))
        .collect()
}

fn word(error: &Error) -> String {
    match error {
        Error::NoWorktree { .. } => "no worktree",
        Error::Unsupported { .. } => "unsupported",
        Error::Missing { .. } => "missing",
        Error::NeedsHistory { .. } => "needs history",
        _ => return error.to_string(),
    }
    .to_owned()
}

/// A changed and an untracked file: the letters are git's.
fn snapshot(at: &Path) -> String {
    let repository = Repository::discover(at).unwrap();
    let look = || repository.snapshot(b"kind", &Exclusions::default());
    let before = match look() {
        Ok(snapshot) => snapshot,
        Err(error) => return word(&error),
    };
    let file = ["src/deep/a.rs", "f"].map(|name| at.join(name)).into_iter().find(|path| path.exists());
    let old = file.as_ref().map(|file| std::fs::read(file).unwrap());
    if let Some(file) = &file {
        write(file, "changed");
    }
    write(&at.join("untracked"), "new");
    let after = look().unwrap();
    let ours: Vec<_> = after.changes.iter().map(|change| (change.path.clone(), change.status)).collect();
    assert_eq!(ours, porcelain(at).status);
    assert_ne!(before.fingerprint, after.fingerprint);
    std::fs::remove_file(at.join("untracked")).unwrap();
    if let (Some(file), Some(old)) = (&file, &old) {
        std::fs::write(file, old).unwrap();
    }
    assert_eq!(look().unwrap().fingerprint, before.fingerprint);
    "snapshot".to_owned()
}

/// The patch of the last commit is git's.
fn patch(at: &Path) -> String {
    let repository = Repository::discover(at).unwrap();
    let candidate = match repository.resolve_commit("HEAD") {
        Ok(candidate) => candidate,
        Err(RevisionError::Unborn { .. }) => {
            let base = repository.base_of(None, None).unwrap();
            assert_eq!((base.resolution.as_str(), base.compared_with), ("unborn_worktree", None));
            return "unborn".to_owned();
        }
        Err(error) => return error.to_string(),
    };
    let base = repository.base_of(Some(&candidate), None).unwrap().compared_with.unwrap();
    let mut bytes = Vec::new();
    match repository.write_patch(&base, &candidate, &mut bytes) {
        Ok(()) => {
            assert_eq!(
                bytes.escape_ascii().to_string(),
                stock(at, &base, &candidate).escape_ascii().to_string()
            );
            "patch".to_owned()
        }
        Err(error) => word(&error),
    }
}

/// The branch `work` landed on `main` by content, and its base by ancestry.
fn landing(at: &Path) -> String {
    let repository = Repository::discover(at).unwrap();
    let (Ok(candidate), Ok(target)) = (repository.resolve_commit("work"), repository.resolve_commit("HEAD"))
    else {
        return "unborn".to_owned();
    };
    assert_eq!(repository.landing(&target, &target), Ok(Verdict::Landed(Landing::Ancestor)));
    match repository.landing(&candidate, &target) {
        Ok(Verdict::Landed(Landing::Content(_))) => "landed".to_owned(),
        Ok(other) => format!("{other:?}"),
        Err(error) => word(&error),
    }
}

/// A ref is made, listed, moved and deleted, and git sees it.
fn pin(at: &Path) -> String {
    let repository = Repository::discover(at).unwrap();
    let (refs, name, world) = (repository.refs(), RefName::below("accepted/x").unwrap(), Fake::new(1));
    let Ok(head) = repository.resolve_commit("HEAD") else {
        let refused = refs.create(&world, &name, &"1".repeat(40)).unwrap_err();
        return if matches!(refused, RefError::NoObject { .. }) {
            "no object".into()
        } else {
            refused.to_string()
        };
    };
    let parent = repository.resolve_commit("HEAD~1").unwrap();
    assert_eq!(refs.create(&world, &name, &head), Ok(Made::Now));
    assert_eq!(git(at, &["rev-parse", name.as_str()]), head);
    assert_eq!(refs.list("accepted").unwrap().len(), 1);
    assert_eq!(refs.swap(&world, &name, &head, &parent), Ok(()));
    assert_eq!(git(at, &["rev-parse", name.as_str()]), parent);
    assert_eq!(refs.delete(&world, &name, &parent), Ok(true));
    assert!(!try_git(at, &["rev-parse", "-q", "--verify", name.as_str()]).status.success());
    "pinned".to_owned()
}

fn create(at: &Path, sandbox: &Sandbox) -> String {
    let path = sandbox.path("made");
    let request = Request { branch: "made", path: &path, base: "HEAD" };
    let repository = Repository::discover(at).unwrap();
    match repository.create_worktree(&Fake::new(1), &request) {
        Ok(made) => {
            is_good(at, &made);
            return "made".to_owned();
        }
        Err(CreateError::Git(Error::Missing { .. })) => "missing",
        Err(CreateError::Base(RevisionError::Unborn { .. })) => "unborn",
        Err(error) => return error.to_string(),
    }
    .to_owned()
}

fn list(at: &Path) -> String {
    let listed = Repository::discover(at).unwrap().worktrees().unwrap();
    let own = listed.iter().find(|worktree| worktree.path == at);
    match own.and_then(|worktree| worktree.problem.clone()) {
        Some(problem) if problem.contains("sparse") => "unsupported".to_owned(),
        Some(problem) => problem,
        None => "listed".to_owned(),
    }
}

#[test]
fn a_reftable_is_refused_before_anything_is_asked_of_it_and_left_as_it_was() {
    let sandbox = Sandbox::new();
    let made = try_git(&sandbox.root, &["init", "-q", "--ref-format=reftable", "r"]);
    if !made.status.success() {
        eprintln!("SKIPPED: this git knows no reftables");
        return;
    }
    let before = listing(&sandbox.root);
    let refused = Repository::discover(&sandbox.path("r")).unwrap_err();
    assert!(
        matches!(&refused, Error::Unsupported { remedy: Some(remedy), .. } if remedy.contains("migrate"))
    );
    assert!(listing(&sandbox.root) == before);
}
