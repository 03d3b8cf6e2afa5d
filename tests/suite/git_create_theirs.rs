//! What was made by hand where a maker of a worktree died, or fails, is not undone: a branch, directories, a commit,
//! what is staged. Only what is surely ours is.

use std::path::{Path, PathBuf};

use foremerge::git::Error;
use foremerge::git::worktree::CreateError;
use foremerge::world::Point;

use crate::git_create::{create, is_good, journals};
use crate::git_create_crashes::dies;
use crate::sandbox::{Sandbox, git, git_worktrees, shell, write};

fn branches(at: &Path) -> String {
    git(at, &["for-each-ref", "--format=%(refname:short)", "refs/heads"])
}

/// Repositories whose branches have a log and such whose have none.
fn places(sandbox: &Sandbox) -> [PathBuf; 3] {
    let [logged, unlogged] = ["logged", "unlogged"].map(|name| sandbox.repository(name));
    git(&unlogged, &["config", "core.logAllRefUpdates", "false"]);
    git(&sandbox.root, &["clone", "-q", "--bare", "logged", "bare"]);
    [logged, unlogged, sandbox.path("bare")]
}

/// A maker dies, `by_hand` makes or changes the branch, and the branch stays or serves the same call made again.
fn keeps_the_branch(point: Point, by_hand: &str) {
    for again in [false, true] {
        let sandbox = Sandbox::new();
        for at in places(&sandbox) {
            let what = format!("{point:?} {by_hand} {} {again}", at.display());
            let name = at.file_name().unwrap().to_string_lossy().into_owned();
            let (tree, other) =
                (sandbox.path(&format!("{name}-tree")), sandbox.path(&format!("{name}-other")));
            dies(&at, "topic", &tree, point);
            shell(&at, by_hand);
            if again {
                let made = create(&at, "topic", &tree).unwrap_or_else(|error| panic!("{what}: {error}"));
                is_good(&at, &made);
                assert_eq!(branches(&at), "main\ntopic", "{what}");
            } else {
                is_good(&at, &create(&at, "other", &other).unwrap());
                assert_eq!(branches(&at), "main\nother\ntopic", "{what}");
            }
            assert_eq!(journals(&at), [""; 0], "{what}");
        }
    }
}

#[test]
fn a_branch_made_by_hand_after_its_maker_died_stays_and_serves_the_same_call() {
    keeps_the_branch(Point::WorktreePlanned, "git branch topic");
    keeps_the_branch(Point::RefChosen, "git branch topic");
    keeps_the_branch(
        Point::RefLocked,
        "rm $(git rev-parse --git-common-dir)/refs/heads/topic.lock; git branch topic",
    );
}

#[test]
fn a_branch_that_was_deleted_and_made_again_by_hand_stays() {
    keeps_the_branch(Point::BranchMade, "git branch -q -D topic; git branch topic");
}

#[test]
fn a_branch_that_git_packed_may_be_anybodys_and_stays() {
    keeps_the_branch(Point::BranchMade, "git pack-refs --all");
}

#[test]
fn the_branch_of_a_dead_one_in_use_stays_and_is_refused() {
    for by_hand in [
        "git checkout -q topic",
        "git checkout -q topic; GIT_SEQUENCE_EDITOR='echo break >' git rebase -q -i HEAD",
        "git checkout -q topic; git bisect start; git checkout -q --detach",
    ] {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        dies(&at, "topic", &sandbox.path("tree"), Point::BranchMade);
        shell(&at, by_hand);
        let refused = create(&at, "topic", &sandbox.path("tree")).unwrap_err();
        assert_eq!(refused.field(), Some("branch"), "{by_hand}: {refused}");
        assert!(refused.to_string().ends_with(&at.display().to_string()), "{by_hand}: {refused}");
        create(&at, "other", &sandbox.path("other")).unwrap();
        assert_eq!(branches(&at), "main\nother\ntopic", "{by_hand}");
    }
}

#[test]
fn directories_made_by_hand_stay_though_they_are_empty() {
    for (point, by_hand) in [
        (Point::WorktreePlanned, "mkdir -p deep/er/tree"),
        (Point::BranchMade, "mkdir -p deep/er/tree"),
        (Point::WorktreeListed, "mv deep kept; mkdir -p deep/er/tree"),
    ] {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        dies(&at, "topic", &sandbox.path("deep/er/tree"), point);
        shell(&sandbox.root, by_hand);
        create(&at, "other", &sandbox.path("other")).unwrap();
        assert!(sandbox.path("deep/er/tree").exists(), "{point:?}");
        // One whose `.git` file was moved away with its directory is on the list until git finds it gone.
        git(&at, &["worktree", "prune"]);
        assert_eq!(git_worktrees(&at), [sandbox.path("other"), at.clone()], "{point:?}");
    }
}

#[test]
fn whatever_was_done_in_a_half_made_worktree_keeps_it() {
    for (by_hand, evidence) in [
        (
            "git checkout -q --detach; git rm -q f; git commit -q -m mine",
            "git log -1 --format=%s | grep mine",
        ),
        ("git rm -q f; git commit -q -m mine; git checkout -q --detach HEAD~1", "git reflog | grep mine"),
        ("git checkout -q -b mine", "git symbolic-ref HEAD | grep mine"),
        ("git bisect start", "git bisect log"),
        ("echo mine >new; git add new; rm new", "git show :new | grep mine"),
        ("git update-ref refs/worktree/mine HEAD", "git rev-parse --verify refs/worktree/mine"),
        ("mkdir mine", "test -d mine"),
        ("sed -i 2d f", "test \"$(cat f)\" = f"),
        (": >f", "test ! -s f"),
        ("chmod +x f", "test -x f"),
        ("chmod -x x", "test ! -x x"),
        ("rm x; ln -s f x", "test -h x"),
    ] {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        write(&at.join("f"), "f\ng\n");
        write(&at.join("x"), "x\n");
        shell(&at, "chmod +x x; git add .; git commit -q -m f");
        let tree = sandbox.path("tree");
        dies(&at, "topic", &tree, Point::WorktreeFilled);
        shell(&tree, by_hand);
        create(&at, "other", &sandbox.path("other")).unwrap();
        shell(&tree, evidence);
        assert!(git_worktrees(&at).contains(&tree), "{by_hand}");
        assert!(branches(&at).contains("topic"), "{by_hand}");
        git(&at, &["worktree", "remove", "--force", "../tree"]);
    }
}

#[test]
fn a_half_made_worktree_that_was_moved_and_worked_in_keeps_its_entry() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let (tree, kept) = (sandbox.path("tree"), sandbox.path("kept"));
    dies(&at, "topic", &tree, Point::WorktreeFilled);
    shell(&tree, "git checkout -q --detach; git commit -q --allow-empty -m mine; mv ../tree ../kept");
    create(&at, "other", &sandbox.path("other")).unwrap();
    git(&at, &["worktree", "repair", "../kept"]);
    assert_eq!(git(&kept, &["log", "-1", "--format=%s"]), "mine");
}

#[test]
fn work_in_a_half_made_worktree_that_was_moved_is_not_lost() {
    for (moved, repaired) in [
        ("git worktree move -f -f ../tree ../kept", "true"),
        ("mv ../tree ../kept; git worktree repair ../kept", "true"),
        ("mv ../tree ../kept", "git worktree repair ../kept"),
        ("mv ../tree ../kept; mkdir ../tree", "git worktree repair ../kept"),
        ("mkdir ../kept; mv ../tree/* ../tree/.git ../kept", "git worktree repair ../kept"),
    ] {
        for made_before in [false, true] {
            let sandbox = Sandbox::new();
            let at = sandbox.repository("r");
            write(&at.join("f"), "f\n");
            git(&at, &["add", "."]);
            git(&at, &["commit", "-q", "-m", "f"]);
            if made_before {
                sandbox.mkdir("tree");
            }
            dies(&at, "topic", &sandbox.path("tree"), Point::WorktreeFilled);
            shell(&at, &format!("{moved}; cd ../kept; echo mine >f; echo mine >new"));
            create(&at, "other", &sandbox.path("other")).unwrap();
            shell(&at, repaired);
            let kept = sandbox.path("kept");
            assert_eq!(git(&kept, &["status", "--short", "--branch"]), "## topic\n M f\n?? new", "{moved}");
            assert_eq!(journals(&at), [""; 0], "{moved}");
        }
    }
}

#[test]
fn a_half_made_worktree_that_was_removed_may_have_been_moved_and_stays_on_the_list() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let tree = sandbox.path("tree");
    dies(&at, "topic", &tree, Point::WorktreeFilled);
    std::fs::remove_dir_all(&tree).unwrap();
    let refused = create(&at, "topic", &tree).unwrap_err();
    assert!(refused.to_string().ends_with(&tree.display().to_string()), "{refused}");
    git(&at, &["worktree", "prune"]);
    git(&at, &["branch", "-q", "-D", "topic"]);
    is_good(&at, &create(&at, "topic", &tree).unwrap());
}

#[test]
fn one_whose_undoing_was_cut_short_is_undone() {
    for by_hand in ["true", "rm ../tree/.git", "rm ../tree/.git; rmdir ../tree"] {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        dies(&at, "topic", &sandbox.path("tree"), Point::WorktreeFilled);
        shell(&at, &format!("rm -rf ../tree/*; touch .git/worktrees/tree/foremerge-emptied; {by_hand}"));
        is_good(&at, &create(&at, "topic", &sandbox.path("tree")).unwrap());
        assert_eq!(git_worktrees(&at).len(), 2, "{by_hand}");
    }
}

#[test]
fn what_somebody_puts_into_a_worktree_that_then_fails_is_left_there() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    write(&at.join(".gitattributes"), "*.rs filter=broken\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "filtered"]);
    let (good, bad) = (sandbox.path("good"), sandbox.path("bad"));
    git(&at, &["config", "filter.broken.required", "true"]);
    git(&at, &["config", "filter.broken.smudge", "false"]);
    assert!(create(&at, "good", &good).is_err());
    assert!(!good.exists());
    assert_eq!(branches(&at), "main");
    let script = format!("echo mine >'{}'; false", bad.join("precious").display());
    git(&at, &["config", "filter.broken.smudge", &script]);
    assert!(create(&at, "bad", &bad).is_err());
    assert_eq!(std::fs::read_to_string(bad.join("precious")).unwrap(), "mine\n");
    assert_eq!(git_worktrees(&at), [bad.clone(), at.clone()]);
    assert_eq!(branches(&at), "bad\nmain");
    assert_eq!(journals(&at), [""; 0]);
    git(&at, &["worktree", "remove", "--force", "../bad"]);
}

#[test]
fn an_empty_git_file_is_removed_only_from_a_directory_that_was_made_for_it() {
    for (made_before, stays) in [(false, false), (true, true)] {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        let tree = sandbox.path("tree");
        if made_before {
            sandbox.mkdir("tree");
        }
        dies(&at, "topic", &tree, Point::WorktreeListed);
        write(&tree.join(".git"), "");
        create(&at, "other", &sandbox.path("other")).unwrap();
        assert_eq!(tree.join(".git").exists(), stays);
    }
}

#[test]
fn what_lies_where_a_journal_would_and_is_none_is_neither_opened_nor_removed() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let there = "foremerge-adding-0 foremerge-adding-1 foremerge-adding-2 foremerge-adding-notes.txt";
    shell(&at, "cd .git; mkfifo foremerge-adding-0; ln -s nowhere foremerge-adding-1");
    shell(&at, "cd .git; echo mine >foremerge-adding-2; echo mine >foremerge-adding-notes.txt");
    create(&at, "topic", &sandbox.path("tree")).unwrap();
    let mut names = journals(&at);
    names.sort();
    assert_eq!(names.join(" "), there);
    assert_eq!(git(&sandbox.path("tree"), &["status", "--short", "--branch"]), "## topic");
}

#[test]
fn a_pipe_or_a_link_in_place_of_the_lock_is_refused_at_once() {
    for by_hand in ["mkfifo .git/foremerge.lock", "ln -s ../theirs .git/foremerge.lock"] {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        shell(&at, by_hand);
        let error = create(&at, "topic", &sandbox.path("tree")).unwrap_err();
        let CreateError::Git(Error::Unwritable { path, .. }) = &error else { panic!("{error}") };
        assert_eq!(*path, at.join(".git/foremerge.lock"));
        assert!(!at.join("theirs").exists());
        assert_eq!(branches(&at), "main");
    }
}
