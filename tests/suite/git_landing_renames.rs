//! Landings of candidates that delete what a target has moved: `git merge-tree` is the measure of every one.

use foremerge::git::Repository;

use crate::git_landing::{branches, merged_trees, told};
use crate::sandbox::{Sandbox, shell};

/// What is there before, what the target does, and what is said of a candidate that only deletes `f` (or, where it is
/// given, does something else).
struct Case {
    name: &'static str,
    before: &'static str,
    work: &'static str,
    main: &'static str,
    told: &'static str,
}

const DELETE: &str = "git rm -q -r f";
const LONG: &str = "seq 900 | tr '\\n' ' ' > f";
const MOVED: &str = "refused f=MovedOn";

const fn case(name: &'static str, before: &'static str, main: &'static str, told: &'static str) -> Case {
    Case { name, before, work: DELETE, main, told }
}

const CASES: &[Case] = &[
    case("copied twice", "seq 20 > f", "cp f g; git mv f h", MOVED),
    case(
        "copied twice and edited",
        "seq 20 > f",
        "sed s/^7$/x/ f > g; sed s/^8$/y/ f > h; git rm -q f",
        MOVED,
    ),
    case(
        "among eleven hundred others",
        "mkdir d; for n in $(seq 1100); do seq $n $((n + 9)) > d/$n; done; seq 7000 7009 > f",
        "git mv d e; for n in $(seq 1100); do echo x >> e/$n; done; git mv f e/f; echo x >> e/f",
        "refused f=Unsearched",
    ),
    case("one long line", LONG, "sed 's/ 450 / abc /' f > g; git rm -q f", MOVED),
    case(
        "one long line, most of it shifted",
        LONG,
        "sed 's/ 50 / other /' f > g; git rm -q f",
        "content f=deleted",
    ),
    case("other ends of lines", "seq 20 > f", "sed 's/$/\\r/' f > g; git rm -q f", MOVED),
    case("of nine mebibytes", "seq 1300000 > f", "git mv f g; echo x >> g", "refused f=Unsearched"),
    case("a link", "ln -s there f", "git mv f g", MOVED),
    case("an executable file", "seq 20 > f; chmod +x f", "git mv f g; echo x >> g; chmod -x g", MOVED),
    case("nothing like it", "seq 20 > f", "git rm -q f; seq 50 70 > g", "content f=deleted"),
    case("an empty file", ": > f", "git mv f g", "content f=deleted"),
    case(
        "a file that became a link of the same bytes",
        "printf there > f",
        "git rm -q f; ln -s there g",
        "content f=deleted",
    ),
    Case {
        name: "moved by both, copied by the target",
        before: "seq 20 > f",
        work: "git mv f g",
        main: "cp f h; git mv f g",
        told: MOVED,
    },
    Case {
        name: "moved by both, and too much edited by the target",
        before: "seq 20 > f",
        work: "git mv f g",
        main: "git mv f g; seq 100 200 >> g",
        told: MOVED,
    },
    Case {
        name: "moved by both, and its twin deleted by the target",
        before: "seq 20 > f; seq 20 > a",
        work: "git mv f g",
        main: "git mv f g; git rm -q a",
        told: MOVED,
    },
    Case {
        name: "copied twice by both",
        before: "seq 20 > f",
        work: "cp f g; git mv f h",
        main: "cp f g; git mv f h; seq 30 40 > other",
        told: "content f=deleted g=identical h=identical",
    },
];

#[test]
fn a_deletion_has_landed_only_where_git_takes_nothing_for_the_deleted_file() {
    let mut wrong = Vec::new();
    for case in CASES {
        let sandbox = Sandbox::new();
        let root = sandbox.repository("r");
        let save = "git add -A; git commit -q -m x";
        let on = |branch: &str| format!("git checkout -q -B {branch} base");
        let script = ["set -e", case.before, save, "git branch -f base", &on("work"), case.work, save]
            .into_iter()
            .chain([on("main").as_str(), "echo x > unrelated", case.main, save])
            .collect::<Vec<_>>()
            .join("\n");
        shell(&root, &script);
        let branches = branches(&root);
        let (target, tree) = &branches["main"];
        let candidate = &branches["work"].0;
        let verdict = told(&Repository::discover(&root).unwrap().landing(candidate, target).unwrap());
        let merged = merged_trees(&root, &[(target.clone(), candidate.clone())]);
        let unchanged = merged[0].as_ref() == Some(tree);
        if verdict != case.told || (verdict.starts_with("content") && !unchanged) {
            wrong.push(format!("{}: {verdict}, not {}; git: {unchanged}", case.name, case.told));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
