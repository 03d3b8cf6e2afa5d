//! Where a candidate landed and where it did not: a matrix of histories that stock git makes.

use std::path::{Path, PathBuf};

use foremerge::git::landing::{Contained, Earliest, Landing, Refusal, Verdict};
use foremerge::git::{Error, Repository};

use crate::sandbox::{Sandbox, git, shell, try_git, write};

/// One history: what the candidate does on the branch `work`, what happens on `main` afterwards, and the verdict.
struct Case {
    name: &'static str,
    work: &'static str,
    main: &'static str,
    tip: &'static str,
    /// The subject of the commit on `main` that is found to have landed it.
    earliest: &'static str,
}

const fn case(
    name: &'static str,
    work: &'static str,
    main: &'static str,
    tip: &'static str,
    earliest: &'static str,
) -> Case {
    Case { name, work, main, tip, earliest }
}

/// `put FILE LINE TEXT` replaces a line, `save SUBJECT` commits everything, `squash` is what hosting sites do.
const WORDS: &str = r#"
set -e
put() { sed -i "$2s/.*/$3/" "$1"; }
save() { git add -A; git commit -q --allow-empty -m "$1"; }
squash() { git merge -q --squash work; save squash; }
"#;

const BEFORE: &str = r"
seq 1 20 > f; seq 1 20 > g; seq 1 9 > h; printf '\0one' > binary; ln -s f link; save base
git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -q -m sub; mkdir sub
git branch work; git branch known
";

const EDIT: &str = "put f 3 three; put g 5 five; save one";
const TWO: &str = "put f 3 three; save one; put g 5 five; put f 4 four; save two";

const MATRIX: &[Case] = &[
    case("merge", EDIT, "put h 1 x; save other; git merge -q --no-ff -m merged work", "ancestor", "merged"),
    case("fast-forward", TWO, "git merge -q work; put h 1 x; save after", "ancestor", "two"),
    case("squash", EDIT, "squash", "content f=identical g=identical", "squash"),
    case("squash of several", TWO, "squash", "content f=identical g=identical", "squash"),
    case(
        "rebase",
        TWO,
        "put h 1 x; save other; git checkout -q -b re work; git rebase -q main; git checkout -q main; git merge -q re",
        "content f=identical g=identical",
        "two",
    ),
    case(
        "cherry-pick",
        EDIT,
        "put f 15 x; save other; git cherry-pick work >/dev/null",
        "content f=merged g=identical",
        "one",
    ),
    case(
        "squash, edits before",
        EDIT,
        "put f 15 x; save before; squash",
        "content f=merged g=identical",
        "squash",
    ),
    case(
        "squash, edits after",
        EDIT,
        "squash; put f 15 x; save after",
        "content f=merged g=identical",
        "squash",
    ),
    case(
        "squash, overwritten after",
        EDIT,
        "squash; put f 3 drei; save after",
        "refused f=Conflict",
        "squash",
    ),
    case(
        "squash with extra edits",
        EDIT,
        "git merge -q --squash work; put f 15 x; echo new > n; save squash",
        "content f=merged g=identical",
        "squash",
    ),
    case(
        "partial squash",
        EDIT,
        "git merge -q --squash work; git checkout -q HEAD g; save squash",
        "refused g=Lacking",
        "",
    ),
    case(
        "partial squash, completed later",
        EDIT,
        "git merge -q --squash work; git checkout -q HEAD g; save squash; put h 1 x; save other; put g 5 five; save rest",
        "content f=identical g=identical",
        "rest",
    ),
    case(
        "outer merge of a squash",
        EDIT,
        "put h 1 x; save other; git checkout -q -b s; squash; git checkout -q main; git merge -q --no-ff -m outer s",
        "content f=identical g=identical",
        "outer",
    ),
    case(
        "conflict resolved on the branch, squashed",
        EDIT,
        "put f 3 drei; save other; git checkout -q work; git merge main >/dev/null || true; git checkout -q --ours f; save resolved; git checkout -q main; squash",
        "content f=identical g=identical",
        "squash",
    ),
    case(
        "branch that merged main, squashed",
        EDIT,
        "put h 1 x; save other; git checkout -q work; git merge -q --no-edit main; git checkout -q main; put g 15 y; save more; squash",
        "content f=identical g=merged",
        "squash",
    ),
    case("deletion", "git rm -q g; save one", "squash", "content g=deleted", "squash"),
    case(
        "deletion, still there",
        "git rm -q g; put f 3 three; save one",
        "put f 3 three; save other",
        "refused g=StillThere",
        "",
    ),
    case(
        "deletion, renamed on the target",
        "git rm -q g; put f 3 three; save one",
        "put f 3 three; git mv g lib; save moved",
        "refused g=MovedOn",
        "",
    ),
    case(
        "deletion, renamed and edited on the target",
        "git rm -q g; save one",
        "git mv g lib; put lib 5 five; save moved",
        "refused g=MovedOn",
        "",
    ),
    case(
        "deletion, renamed on the target and deleted there later",
        "git rm -q g; save one",
        "git mv g lib; save moved; put h 1 x; save other; git rm -q lib; save gone; put h 2 y; save after",
        "content g=deleted",
        "gone",
    ),
    case("mode", "chmod +x f; save one", "squash", "content f=identical", "squash"),
    case(
        "mode lost",
        "chmod +x f; put f 3 three; save one",
        "put f 3 three; save other",
        "refused f=OtherKind",
        "",
    ),
    case("symlink", "ln -sf g link; save one", "squash", "content link=identical", "squash"),
    case(
        "symlink changed again",
        "ln -sf g link; save one",
        "squash; ln -sf h link; save after",
        "refused link=Differs",
        "squash",
    ),
    case("type change", "rm g; ln -s f g; save one", "squash", "content g=identical", "squash"),
    case("binary", "printf '\\0two' > binary; save one", "squash", "content binary=identical", "squash"),
    case(
        "binary, also changed",
        "printf '\\0two' > binary; save one",
        "printf '\\0three' > binary; save other",
        "refused binary=Differs",
        "",
    ),
    case(
        "submodule",
        "git update-index --cacheinfo 160000,$(git rev-parse work),sub; git commit -q -m one",
        "git merge -q --squash work; git commit -q -m squash",
        "content sub=identical",
        "squash",
    ),
    case(
        "submodule elsewhere",
        "git update-index --cacheinfo 160000,$(git rev-parse work),sub; git commit -q -m one",
        "git update-index --cacheinfo 160000,$(git rev-parse work),sub; git commit -q -m other",
        "refused sub=Differs",
        "",
    ),
    case(
        "renamed on the target",
        EDIT,
        "git mv f moved; save renamed; git cherry-pick work >/dev/null",
        "content f=merged at moved g=identical",
        "one",
    ),
    case(
        "renamed on the target afterwards",
        EDIT,
        "squash; git mv f moved; save renamed",
        "content f=merged at moved g=identical",
        "squash",
    ),
    case(
        "renamed and edited on the target",
        EDIT,
        "git mv f moved; put moved 15 x; save renamed; git cherry-pick work >/dev/null",
        "content f=merged at moved g=identical",
        "one",
    ),
    case(
        "renamed on the target, not landed",
        EDIT,
        "git mv f moved; put g 5 five; save renamed",
        "refused f=Lacking",
        "",
    ),
    case(
        "copied away on the target",
        EDIT,
        "cp f copy; git mv f moved; put g 5 five; save renamed",
        "refused f=RenamedAmbiguously",
        "",
    ),
    case(
        "renamed on the branch",
        "git mv f moved; put moved 3 three; save one",
        "squash",
        "content f=deleted moved=identical",
        "squash",
    ),
    case(
        "renamed on the branch, edited on the target",
        "git mv f moved; put moved 3 three; save one",
        "put f 15 x; save other; squash",
        "content f=deleted moved=merged from f",
        "squash",
    ),
    case(
        "renamed on the branch, not landed",
        "git mv f moved; put moved 3 three; save one",
        "put f 15 x; save other",
        "refused f=StillThere moved=Absent",
        "",
    ),
    case(
        "added and edited afterwards",
        "seq 30 50 > n; save one",
        "squash; put n 3 x; save after",
        "refused n=Differs",
        "squash",
    ),
    case("not landed", EDIT, "put h 1 x; save other", "refused f=Lacking g=Lacking", ""),
    case("file gone on the target", EDIT, "git rm -q f; put g 5 five; save other", "refused f=Absent", ""),
    case("nothing yet", EDIT, "true", "behind", ""),
    case("empty candidate", "save one", "put h 1 x; save other", "empty", ""),
    case(
        "candidate undone by itself",
        "put f 3 three; save one; put f 3 3; save two",
        "put h 1 x; save other",
        "empty",
        "",
    ),
    case(
        "own history",
        "git checkout -q main; git branch -f work known~1; git checkout -q work",
        "put h 1 x; save other",
        "ancestor",
        "nothing to land",
    ),
    case("fresh branch at the tip", "true", "put h 1 x; save other", "ancestor", "nothing to land"),
    case(
        "unrelated",
        "git checkout -q --orphan alone; git branch -D -q work; save one; git branch work; git checkout -q -f work",
        "true",
        "unrelated",
        "",
    ),
    case(
        "squash, reverted afterwards",
        EDIT,
        "squash; git revert --no-edit HEAD >/dev/null",
        "refused f=Lacking g=Lacking",
        "squash",
    ),
    case(
        "merge, reverted afterwards",
        EDIT,
        "git merge -q --no-ff -m merged work; git revert --no-edit -m 1 HEAD >/dev/null",
        "ancestor",
        "merged",
    ),
    case(
        "squash, reverted and landed again",
        EDIT,
        "squash; git revert --no-edit HEAD >/dev/null; git cherry-pick work >/dev/null",
        "content f=identical g=identical",
        "squash",
    ),
    case(
        "identical second candidate",
        EDIT,
        "git checkout -q -b twin main; put f 3 three; put g 5 five; save twin; git checkout -q main; git merge -q --squash twin; save squash; put h 1 x; save after",
        "content f=identical g=identical",
        "squash",
    ),
    case(
        "identical second candidate, landed before",
        EDIT,
        "squash; git branch -f known main; put h 1 x; save after",
        "content f=identical g=identical",
        "nothing to land",
    ),
    case(
        "the branch was rewritten since",
        EDIT,
        "put h 1 x; save old; git branch -f known main; git reset -q --hard HEAD~1; put h 2 y; save new; squash",
        "content f=identical g=identical",
        "squash",
    ),
    case(
        "criss-cross",
        EDIT,
        "put h 1 x; save other; git branch a; git branch b work; git merge -q --no-edit work; git checkout -q work; git merge -q --no-edit a; put f 7 seven; save last; git checkout -q main; git merge -q --squash work >/dev/null; save squash",
        "content 2 bases",
        "squash",
    ),
];

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

fn told(verdict: &Verdict) -> String {
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
