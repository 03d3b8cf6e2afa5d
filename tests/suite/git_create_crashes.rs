//! A maker that dies at any point leaves a worktree that the same call completes and any other call undoes, and
//! nothing that is not its own is touched.

use std::path::Path;

use foremerge::world::Point;

use crate::child::{self, Job, Order, Worker};
use crate::git_create::{create, is_good, journals};
use crate::sandbox::{Sandbox, git, git_worktrees, shell, write};

/// Points at which the worktree is still unfinished.
const HALF: [Point; 6] = [
    Point::WorktreePlanned,
    Point::RefChosen,
    Point::RefLocked,
    Point::BranchMade,
    Point::WorktreeListed,
    Point::WorktreeFilled,
];
/// Points at which it is whole, and nobody was told.
const WHOLE: [Point; 2] = [Point::WorktreeWhole, Point::HookDone];

pub fn dies(at: &Path, branch: &str, path: &Path, point: Point) {
    let name = format!("{branch}={}", path.display());
    let order = Order { job: Job::AddWorktree, at, name: &name, rounds: 1, crash: Some((point, 1)) };
    let ended = child::run(&order);
    assert!(!ended.status.success() && ended.acknowledged.is_empty(), "{point:?}: {}", ended.said);
    assert_eq!(journals(at).len(), 1);
}

#[test]
fn the_same_call_completes_what_a_dead_one_began() {
    for point in HALF.into_iter().chain(WHOLE) {
        for (made_before, format) in [(false, "sha1"), (true, "sha1"), (false, "sha256")] {
            let sandbox = Sandbox::new();
            let at = sandbox.repository_with("r", &[&format!("--object-format={format}")]);
            let tree = sandbox.path("deep/tree");
            if made_before {
                sandbox.mkdir("deep/tree");
            }
            dies(&at, "topic", &tree, point);
            let made = create(&at, "topic", &tree).unwrap_or_else(|error| panic!("{point:?}: {error}"));
            is_good(&at, &made);
            assert_eq!(git_worktrees(&at), [tree.clone(), at.clone()]);
            assert!(create(&at, "topic", &tree).is_err(), "once more is once too often");
        }
    }
}

#[test]
fn another_call_undoes_what_a_dead_one_left_half_made() {
    for point in HALF {
        for (made_before, format) in [(false, "sha1"), (true, "sha1"), (false, "sha256")] {
            let sandbox = Sandbox::new();
            let at = sandbox.repository_with("r", &[&format!("--object-format={format}")]);
            sandbox.mkdir("deep");
            if made_before {
                sandbox.mkdir("deep/er/tree");
            }
            dies(&at, "topic", &sandbox.path("deep/er/tree"), point);
            is_good(&at, &create(&at, "other", &sandbox.path("other")).unwrap());
            assert_eq!(git_worktrees(&at), [sandbox.path("other"), at.clone()], "{point:?}");
            assert_eq!(git(&at, &["branch", "--format=%(refname:short)"]), "main\nother", "{point:?}");
            assert_eq!(sandbox.path("deep/er/tree").exists(), made_before, "{point:?}");
            assert_eq!(sandbox.path("deep/er").exists(), made_before, "{point:?}");
            assert!(sandbox.path("deep").exists());
            assert!(!at.join(".git/logs/refs/heads/topic").exists());
        }
    }
}

#[test]
fn a_whole_worktree_of_a_dead_maker_is_left_to_whoever_works_in_it() {
    for point in WHOLE {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        let tree = sandbox.path("tree");
        dies(&at, "topic", &tree, point);
        create(&at, "other", &sandbox.path("other")).unwrap();
        write(&tree.join("mine"), "mine");
        git(&tree, &["add", "."]);
        git(&tree, &["commit", "-q", "-m", "mine"]);
        let refused = create(&at, "topic", &tree).unwrap_err();
        assert_eq!(refused.field(), Some("branch"));
        assert_eq!(git(&tree, &["log", "--format=%s", "-1"]), "mine");
        assert_eq!(journals(&at), [""; 0]);
    }
}

#[test]
fn the_journal_of_a_whole_worktree_that_was_removed_is_forgotten() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    dies(&at, "topic", &sandbox.path("tree"), Point::WorktreeWhole);
    git(&at, &["worktree", "remove", "../tree"]);
    assert!(create(&at, "topic", &sandbox.path("tree")).is_err(), "the branch is somebody's now");
    assert_eq!(git(&at, &["branch", "--format=%(refname:short)"]), "main\ntopic");
    assert_eq!(journals(&at), [""; 0]);
}

#[test]
fn a_branch_that_moved_or_was_checked_out_meanwhile_is_not_undone() {
    for moved in [false, true] {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        dies(&at, "topic", &sandbox.path("tree"), Point::BranchMade);
        if moved {
            git(&at, &["commit", "-q", "--allow-empty", "-m", "second"]);
            git(&at, &["update-ref", "refs/heads/topic", "HEAD"]);
        } else {
            git(&at, &["worktree", "add", "-q", "../theirs", "topic"]);
        }
        create(&at, "other", &sandbox.path("other")).unwrap();
        assert_eq!(
            git(&at, &["branch", "--format=%(refname:short)"]),
            "main\nother\ntopic",
            "moved: {moved}"
        );
    }
}

#[test]
fn what_others_put_beside_a_half_made_worktree_stays() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    dies(&at, "topic", &sandbox.path("deep/tree"), Point::WorktreeListed);
    write(&sandbox.path("deep/mine"), "mine");
    create(&at, "other", &sandbox.path("other")).unwrap();
    assert!(!sandbox.path("deep/tree").exists());
    assert_eq!(std::fs::read_to_string(sandbox.path("deep/mine")).unwrap(), "mine");
}

#[test]
fn the_half_made_worktree_of_a_living_maker_is_left_alone() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    // The filter waits for a file, so the maker lives until the test says so.
    write(&at.join(".gitattributes"), "*.rs filter=slow\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "filtered"]);
    let go = sandbox.path("go");
    let wait = format!("while test ! -e '{}'; do sleep 0.02; done; cat", go.display());
    let (started, tree) = (sandbox.path("started"), sandbox.path("tree"));
    let smudge = format!("touch '{}'; {wait}", started.display());
    git(&at, &["config", "filter.slow.smudge", &smudge]);
    let name = format!("topic={}", tree.display());
    let order = Order { job: Job::AddWorktree, at: &at, name: &name, rounds: 1, crash: None };
    let mut maker = Worker::start(&order);
    maker.go();
    while !started.exists() {
        std::thread::yield_now();
    }
    let base = git(&at, &["rev-parse", "HEAD~1"]);
    let other = crate::git_create::create_from(&at, "other", &sandbox.path("other"), &base).unwrap();
    assert_eq!(git(&other.path, &["status", "--porcelain"]), "");
    assert!(create(&at, "topic", &sandbox.path("third")).is_err());
    write(&go, "");
    assert_eq!(maker.end().acknowledged, ["made topic"]);
    assert_eq!(git(&tree, &["status", "--porcelain=v1", "--branch"]), "## topic");
    assert_eq!(journals(&at), [""; 0]);
}

/// Whoever comes next undoes what is half made, and nothing that `work` left there.
fn keeps_what_was_put_there(points: &[Point], made_before: bool, work: impl Fn(&Path, &Path)) {
    for point in points {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        let tree = sandbox.path("tree");
        if made_before {
            sandbox.mkdir("tree");
        }
        dies(&at, "topic", &tree, *point);
        work(&at, &tree);
        let there = contents(&tree);
        assert!(there.iter().any(|(name, _)| name == "precious"), "{point:?}: {there:?}");
        is_good(&at, &create(&at, "other", &sandbox.path("other")).unwrap());
        assert_eq!(contents(&tree), there, "{point:?}");
        assert_eq!(journals(&at).len(), 0, "{point:?}");
    }
}

/// The files at the top of a worktree, and what they hold.
fn contents(tree: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(tree).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            found.push((name, std::fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn a_worktree_that_git_made_in_the_same_place_meanwhile_is_left_alone() {
    let before_the_list = [Point::WorktreePlanned, Point::BranchMade];
    keeps_what_was_put_there(&before_the_list, false, |at, tree| {
        git(at, &["worktree", "add", "-q", &tree.to_string_lossy(), "-b", "mine"]);
        write(&tree.join("precious"), "staged");
        git(tree, &["add", "."]);
    });
}

#[test]
fn a_worktree_that_replaced_one_on_the_list_is_left_alone() {
    keeps_what_was_put_there(&[Point::WorktreeListed, Point::WorktreeFilled], false, |at, tree| {
        let place = tree.to_string_lossy();
        git(at, &["worktree", "remove", "--force", "--force", &place]);
        git(at, &["worktree", "add", "-q", &place, "-b", "mine"]);
        write(&tree.join("precious"), "mine");
    });
}

#[test]
fn whoever_works_in_a_half_made_worktree_keeps_it() {
    let listed = [Point::WorktreeListed, Point::WorktreeFilled];
    keeps_what_was_put_there(&listed, false, |_, tree| write(&tree.join("precious"), "mine"));
    keeps_what_was_put_there(&[Point::WorktreeFilled], false, |at, tree| {
        git(at, &["worktree", "unlock", &tree.to_string_lossy()]);
        write(&tree.join("precious"), "mine");
        git(tree, &["add", "."]);
        git(tree, &["commit", "-q", "-m", "mine"]);
        write(&tree.join("untracked"), "mine");
    });
}

#[test]
fn an_edit_of_a_file_that_was_checked_out_is_work() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let tree = sandbox.path("tree");
    write(&at.join("a"), "first\nsecond\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "a"]);
    dies(&at, "topic", &tree, Point::WorktreeFilled);
    write(&tree.join("a"), "first, and mine\nsecond\n");
    create(&at, "other", &sandbox.path("other")).unwrap();
    assert_eq!(std::fs::read_to_string(tree.join("a")).unwrap(), "first, and mine\nsecond\n");
    assert_eq!(git(&tree, &["status", "--porcelain"]), " M a");
    git(&at, &["worktree", "remove", "--force", &tree.to_string_lossy()]);
}

#[test]
fn programs_and_links_and_what_was_converted_are_undone_with_the_rest() {
    for mode in ["true", "false"] {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        write(&at.join("program"), "first\nsecond\n");
        write(&at.join("dos.txt"), "first\nsecond\n");
        write(&at.join(".gitattributes"), "dos.txt text eol=crlf\n");
        shell(&at, "chmod +x program; ln -s program link; git add .; git commit -q -m all");
        git(&at, &["config", "core.fileMode", mode]);
        dies(&at, "topic", &sandbox.path("tree"), Point::WorktreeFilled);
        create(&at, "other", &sandbox.path("other")).unwrap();
        assert_eq!(git_worktrees(&at), [sandbox.path("other"), at.clone()], "{mode}");
        assert!(!sandbox.path("tree").exists());
    }
}

#[test]
fn a_directory_that_somebody_filled_before_it_was_listed_is_theirs() {
    keeps_what_was_put_there(&[Point::WorktreePlanned, Point::BranchMade], true, |_, tree| {
        write(&tree.join(".git"), "");
        write(&tree.join("precious"), "mine");
    });
}
