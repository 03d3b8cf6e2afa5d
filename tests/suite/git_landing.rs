//! Where a candidate landed and where it did not: a matrix of histories that stock git makes.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use foremerge::git::landing::{Contained, Earliest, Landing, Refusal, Verdict};
use foremerge::git::{Error, Repository};

use crate::git_landing_cases::{BEFORE, Case, EDIT, MATRIX, WORDS, case};
use crate::sandbox::{Sandbox, git, git_command, shell, try_git, write};

#[test]
fn every_case_of_the_matrix_has_its_verdict_and_its_commit() {
    let mut wrong = Vec::new();
    for format in ["sha1", "sha256"] {
        let sandbox = Sandbox::new();
        let template = template(&sandbox, format);
        for (number, case) in MATRIX.iter().enumerate() {
            // The format changes nothing about a case; a part of them is enough.
            if format == "sha1" || number % 5 == 0 {
                let root = build(&sandbox, case, &template, number);
                wrong.extend(check(case, &root));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn template(sandbox: &Sandbox, format: &str) -> PathBuf {
    let root = sandbox.mkdir("template");
    git(&root, &["init", "-q", "-b", "main", &format!("--object-format={format}")]);
    shell(&root, &[WORDS, BEFORE].concat());
    root
}

fn build(sandbox: &Sandbox, case: &Case, template: &Path, number: usize) -> PathBuf {
    let root = sandbox.path(&number.to_string());
    let copy = format!("cp -R {} {}", template.display(), root.display());
    shell(&sandbox.root, &copy);
    let parts = [WORDS, "git checkout -q work;", case.work, "\ngit checkout -q -f main\n", case.main];
    shell(&root, &format!("({}) >/dev/null", parts.concat()));
    root
}

/// What is not as the matrix says.
fn check(case: &Case, root: &Path) -> Option<String> {
    let repository = Repository::discover(root).unwrap();
    let id = |name: &str| git(root, &["rev-parse", name]);
    let (candidate, target, known) = (id("work"), id("main"), id("known"));
    let verdict = repository.landing(&candidate, &target).unwrap();
    agrees_with_git(&verdict, root, &candidate, &target);
    let earliest = match repository.earliest_landing(&candidate, &[known], &target).unwrap() {
        Earliest::NothingToLand => "nothing to land".to_owned(),
        Earliest::NotLanded => String::new(),
        Earliest::Landed { commit, .. } => git(root, &["log", "-1", "--format=%s", &commit]),
    };
    let found = (told(&verdict), earliest);
    let wanted = (case.tip.to_owned(), case.earliest.to_owned());
    (found != wanted).then(|| format!("{}: {found:?}, not {wanted:?}", case.name))
}

pub fn told(verdict: &Verdict) -> String {
    let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    match verdict {
        Verdict::Landed(Landing::Ancestor) => "ancestor".into(),
        Verdict::Landed(Landing::Content(proofs)) if proofs.len() > 1 => {
            format!("content {} bases", proofs.len())
        }
        Verdict::Landed(Landing::Content(proofs)) => {
            let path = |proof: &foremerge::git::landing::PathProof| {
                let how = match &proof.contained {
                    Contained::Identical => "identical".into(),
                    Contained::Deleted => "deleted".into(),
                    Contained::Merged => "merged".into(),
                    Contained::MergedWhereTargetRenamed(place) => format!("merged at {}", text(place)),
                    Contained::MergedWhereCandidateRenamed(origin) => format!("merged from {}", text(origin)),
                };
                format!(" {}={how}", text(&proof.path))
            };
            format!("content{}", proofs[0].paths.iter().map(path).collect::<Vec<_>>().concat())
        }
        Verdict::Refused(Refusal::Behind) => "behind".into(),
        Verdict::Refused(Refusal::Unrelated) => "unrelated".into(),
        Verdict::Refused(Refusal::Empty) => "empty".into(),
        Verdict::Refused(Refusal::Paths(paths)) => {
            let path = |refusal: &foremerge::git::landing::PathRefusal| {
                format!(" {}={:?}", text(&refusal.path), refusal.reason)
            };
            format!("refused{}", paths.iter().map(path).collect::<Vec<_>>().concat())
        }
    }
}

#[test]
fn a_shallow_clone_answers_only_what_its_history_decides() {
    let sandbox = Sandbox::new();
    let template = template(&sandbox, "sha1");
    let case = case("", EDIT, "squash; for n in 1 2 3 4 5 6; do put h 1 $n; save $n; done", "", "");
    let root = build(&sandbox, &case, &template, 0);
    let url = format!("file://{}", root.display());
    let clone = |depth: &str| {
        git(&sandbox.root, &["clone", "-q", "--depth", depth, "--no-single-branch", &url, depth]);
        Repository::discover(&sandbox.path(depth)).unwrap()
    };
    let id = |name: &str| git(&root, &["rev-parse", name]);
    let (candidate, target, known) = (id("work"), id("main"), vec![id("known")]);
    let deep = clone("12");
    assert_eq!(told(&deep.landing(&candidate, &target).unwrap()), "content f=identical g=identical");
    let shallow = clone("2");
    for refused in [
        shallow.landing(&candidate, &target).map(|verdict| told(&verdict)),
        shallow.earliest_landing(&candidate, &[], &target).map(|found| format!("{found:?}")),
        shallow.earliest_landing(&candidate, &known, &target).map(|found| format!("{found:?}")),
    ] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, Error::NeedsHistory { .. }), "{refused:?}");
        assert!(refused.remedy().unwrap().ends_with("fetch --unshallow"), "{refused:?}");
    }
    // What is there is there, however the history was cut.
    let near = git(&sandbox.path("2"), &["rev-parse", "HEAD~1"]);
    assert_eq!(told(&shallow.landing(&near, &target).unwrap()), "ancestor");
    shell(&sandbox.path("2"), shallow.landing(&candidate, &target).unwrap_err().remedy().unwrap());
    let whole = Repository::discover(&sandbox.path("2")).unwrap();
    assert_eq!(told(&whole.landing(&candidate, &target).unwrap()), "content f=identical g=identical");
}

#[test]
fn what_a_partial_clone_left_out_is_unknown_and_not_refused() {
    let sandbox = Sandbox::new();
    let template = template(&sandbox, "sha1");
    let case = case("", EDIT, "squash; git branch squashed; put f 15 x; save after", "", "");
    let root = build(&sandbox, &case, &template, 0);
    git(&root, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", root.display());
    git(&sandbox.root, &["clone", "-q", "--no-checkout", "--filter=blob:none", &url, "partial"]);
    let partial = Repository::discover(&sandbox.path("partial")).unwrap();
    let id = |name: &str| git(&root, &["rev-parse", name]);
    let landing = |target: &str| partial.landing(&id("work"), &id(target));
    assert_eq!(told(&landing("squashed").unwrap()), "content f=identical g=identical");
    assert!(matches!(landing("main").unwrap_err(), Error::Missing { .. }));
    let gone = "0123456789".repeat(4);
    let refused = partial.landing(&gone, &id("main")).unwrap_err();
    assert!(matches!(&refused, Error::Missing { object, .. } if *object == gone), "{refused:?}");
}

#[test]
fn neither_replacements_nor_grafts_make_a_candidate_land() {
    let sandbox = Sandbox::new();
    let template = template(&sandbox, "sha1");
    let root = build(&sandbox, &case("", EDIT, "put h 1 x; save other", "", ""), &template, 0);
    let id = |name: &str| git(&root, &["rev-parse", name]);
    let (candidate, target) = (id("work"), id("main"));
    let before = Repository::discover(&root).unwrap().landing(&candidate, &target).unwrap();
    write(&root.join(".git/info/grafts"), &format!("{target} {candidate}\n"));
    git(&root, &["replace", &format!("{target}^{{tree}}"), &format!("{candidate}^{{tree}}")]);
    git(&root, &["replace", &candidate, &target]);
    assert_eq!(Repository::discover(&root).unwrap().landing(&candidate, &target).unwrap(), before);
}

/// A branch, and the ids of its commit and of its tree.
pub fn branches(root: &Path) -> HashMap<String, (String, String)> {
    let format = "--format=%(refname:short) %(objectname) %(tree)";
    let branch = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let mut word = || words.next().unwrap();
        (word(), (word(), word()))
    };
    git(root, &["for-each-ref", format, "refs/heads"]).lines().map(branch).collect()
}

/// The tree that `git merge-tree` makes of each target and candidate, unless they conflict.
pub fn merged_trees(root: &Path, pairs: &[(String, String)]) -> Vec<Option<String>> {
    let flags = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "--stdin"];
    let mut command = git_command(root, &flags);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = pairs.iter().map(|(target, candidate)| format!("{target} {candidate}\n"));
    let lines = lines.collect::<Vec<_>>().concat();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    writer.join().unwrap();
    let merged = |record: &str| record.strip_prefix("1\0").map(str::to_owned);
    let trees: Vec<_> = output.strip_suffix("\0\0").unwrap().split("\0\0").map(merged).collect();
    assert_eq!(trees.len(), pairs.len());
    trees
}

/// What is said of history is what `git merge-base` says, and where content landed, a merge changes nothing.
pub fn agrees_with_git(verdict: &Verdict, root: &Path, candidate: &str, target: &str) {
    let is_ancestor =
        |one: &str, other: &str| try_git(root, &["merge-base", "--is-ancestor", one, other]).status.success();
    let ancestor = matches!(verdict, Verdict::Landed(Landing::Ancestor));
    assert_eq!(ancestor, is_ancestor(candidate, target));
    let behind = matches!(verdict, Verdict::Refused(Refusal::Behind));
    assert_eq!(behind, !ancestor && is_ancestor(target, candidate));
    let bases = try_git(root, &["merge-base", "--all", candidate, target]).stdout;
    let mut bases: Vec<_> = String::from_utf8(bases).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(matches!(verdict, Verdict::Refused(Refusal::Unrelated)), bases.is_empty());
    if let Verdict::Landed(Landing::Content(proofs)) = verdict {
        let mut ours: Vec<_> = proofs.iter().map(|proof| proof.merge_base.clone()).collect();
        ours.sort();
        bases.sort();
        assert_eq!(ours, bases);
        let merged = git(root, &["merge-tree", "--write-tree", target, candidate]);
        assert_eq!(
            merged.lines().next(),
            Some(git(root, &["rev-parse", &format!("{target}^{{tree}}")]).as_str())
        );
    }
}
