//! The matrix of histories that landings are tried on.

/// One history: what the candidate does on the branch `work`, what happens on `main` afterwards, and the verdict.
pub struct Case {
    pub name: &'static str,
    pub work: &'static str,
    pub main: &'static str,
    pub tip: &'static str,
    /// The subject of the commit on `main` that is found to have landed it.
    pub earliest: &'static str,
}

pub const fn case(
    name: &'static str,
    work: &'static str,
    main: &'static str,
    tip: &'static str,
    earliest: &'static str,
) -> Case {
    Case { name, work, main, tip, earliest }
}

/// `put FILE LINE TEXT` replaces a line, `save SUBJECT` commits everything, `squash` is what hosting sites do.
pub const WORDS: &str = r#"
set -e
put() { sed -i "$2s/.*/$3/" "$1"; }
save() { git add -A; git commit -q --allow-empty -m "$1"; }
squash() { git merge -q --squash work; save squash; }
"#;

pub const BEFORE: &str = r"
seq 1 20 > f; seq 1 20 > g; seq 1 9 > h; printf '\0one' > binary; ln -s f link; save base
git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -q -m sub; mkdir sub
git branch work; git branch known
";

pub const EDIT: &str = "put f 3 three; put g 5 five; save one";
const TWO: &str = "put f 3 three; save one; put g 5 five; put f 4 four; save two";

pub const MATRIX: &[Case] = &[
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
