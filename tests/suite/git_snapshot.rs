//! What a snapshot sees, leaves out and refuses.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use foremerge::git::{Error, Exclusions, Repository, Snapshot};

use crate::beside_git::lines;
use crate::porcelain::porcelain;
use crate::sandbox::{Sandbox, append, git, shell, write};

fn look(root: &Path) -> Snapshot {
    look_without(root, &[])
}

fn look_without(root: &Path, rules: &[&str]) -> Snapshot {
    let exclusions = Exclusions::new(rules.iter().copied()).unwrap();
    Repository::discover(root).unwrap().snapshot(b"identity", &exclusions).unwrap()
}

#[test]
fn a_clean_worktree_has_its_commit_tree_and_branch_and_no_changes() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let snapshot = look(&root);
    assert_eq!(snapshot.head.commit.as_deref(), Some(git(&root, &["rev-parse", "HEAD"]).as_str()));
    assert_eq!(snapshot.tree.as_deref(), Some(git(&root, &["rev-parse", "HEAD^{tree}"]).as_str()));
    assert_eq!(snapshot.head.branch.as_deref(), Some("main"));
    assert!(!snapshot.is_dirty());
    assert!(snapshot.changed_paths().is_empty());
    assert_eq!(snapshot.worktree, "main");
}

#[test]
fn the_fingerprint_is_that_of_the_documented_fields() {
    use foremerge::domain::Digest;
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    write(&root.join("new"), "text");
    let snapshot = look(&root);
    let expected = Digest::of_fields(&[
        b"identity",
        b"main",
        git(&root, &["rev-parse", "HEAD"]).as_bytes(),
        git(&root, &["rev-parse", "HEAD^{tree}"]).as_bytes(),
        snapshot.content.as_bytes(),
        Digest::of_fields(&[b"new"]).as_bytes(),
        Digest::of_fields(&[]).as_bytes(),
    ]);
    assert_eq!(snapshot.fingerprint, expected);
}

#[test]
fn an_unborn_branch_has_a_fingerprint_without_commit_and_tree() {
    let sandbox = Sandbox::new();
    let root = sandbox.mkdir("r");
    git(&root, &["init", "-q", "-b", "main"]);
    let empty = look(&root);
    assert_eq!((&empty.head.commit, &empty.tree), (&None, &None));
    write(&root.join("a"), "a");
    git(&root, &["add", "a"]);
    assert_eq!(lines(&look(&root)), ["A  a"]);
    assert_ne!(look(&root).fingerprint, empty.fingerprint);
}

#[test]
fn the_place_of_the_caller_and_of_the_repository_and_every_setting_of_diff_and_colour_change_nothing() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    append(&root.join("src/deep/a.rs"), "// more\n");
    write(&root.join("src/new"), "new");
    let before = look(&root);
    assert_eq!(look(&root.join("src/deep")), before);
    for (name, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.renames", "copies"),
        ("diff.external", "false"),
        ("color.ui", "always"),
        ("core.abbrev", "4"),
        ("core.quotePath", "false"),
        ("status.showUntrackedFiles", "no"),
        ("status.relativePaths", "true"),
        ("core.fsmonitor", "false-does-not-exist"),
        ("core.untrackedCache", "true"),
        ("index.version", "4"),
    ] {
        git(&root, &["config", name, value]);
        assert_eq!(look(&root), before, "{name}");
    }
    let moved = sandbox.path("elsewhere");
    std::fs::rename(&root, &moved).unwrap();
    assert_eq!(look(&moved), before);
}

#[test]
fn repositories_worktrees_and_rulesets_have_fingerprints_of_their_own() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let main = look(&root);
    let other = Repository::discover(&root).unwrap().snapshot(b"other", &Exclusions::default()).unwrap();
    assert_ne!(other.fingerprint, main.fingerprint);
    assert_ne!(look_without(&root, &["out/"]).fingerprint, main.fingerprint);
    for name in ["side", "main"] {
        let place = sandbox.path(&format!("trees/{name}"));
        git(&root, &["worktree", "add", "-q", "--detach", place.to_str().unwrap()]);
        let linked = look(&place);
        assert_eq!((linked.worktree.as_str(), &linked.tree), (name, &main.tree));
        assert_ne!(linked.fingerprint, main.fingerprint);
    }
}

#[test]
fn bits_that_hide_a_change_from_git_do_not_hide_it_here() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let clean = look(&root).fingerprint;
    for bit in ["--assume-unchanged", "--skip-worktree"] {
        git(&root, &["update-index", bit, "src/deep/a.rs"]);
        assert_eq!(look(&root).fingerprint, clean);
        write(&root.join("src/deep/a.rs"), "changed");
        assert_eq!(git(&root, &["status", "--porcelain"]), "");
        assert_eq!(lines(&look(&root)), [" M src/deep/a.rs"]);
        let changed = look(&root).fingerprint;
        std::fs::remove_file(root.join("src/deep/a.rs")).unwrap();
        assert_eq!(lines(&look(&root)), [" D src/deep/a.rs"]);
        assert_ne!(look(&root).fingerprint, changed);
        git(&root, &["update-index", &bit.replacen("--", "--no-", 1), "src/deep/a.rs"]);
        git(&root, &["checkout", "-q", "src"]);
    }
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_no_change_but_part_of_the_fingerprint() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    std::fs::create_dir(root.join("in")).unwrap();
    write(&root.join("in/a"), "a");
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "in"]);
    let full = look(&root);
    git(&root, &["sparse-checkout", "set", "--no-sparse-index", "in"]);
    let sparse = look(&root);
    assert!(!sparse.is_dirty() && !root.join("src").exists());
    assert_ne!(sparse.fingerprint, full.fingerprint);
    std::fs::create_dir_all(root.join("src/deep")).unwrap();
    write(&root.join("src/deep/a.rs"), "changed");
    assert_eq!(lines(&look(&root)), [" M src/deep/a.rs"]);
    git(&root, &["checkout", "-q", "--", "."]);
    git(&root, &["sparse-checkout", "disable"]);
    assert_eq!(look(&root), full);
}

#[test]
fn a_sparse_index_is_refused_with_the_command_that_helps() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    write(&root.join("top"), "top");
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "top"]);
    git(&root, &["sparse-checkout", "set", "--cone", "--sparse-index"]);
    let refused = Repository::discover(&root).unwrap().snapshot(b"", &Exclusions::default()).unwrap_err();
    assert!(matches!(refused, Error::Unsupported { .. }), "{refused}");
    shell(&root, refused.remedy().unwrap());
    assert!(!look(&root).is_dirty());
}

#[test]
fn whatever_happens_in_a_submodule_is_seen_in_the_fingerprint_whatever_is_configured() {
    let sandbox = Sandbox::new();
    let part = sandbox.repository("part");
    let root = sandbox.repository("r");
    let url = part.to_str().unwrap();
    git(&root, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "sub"]);
    git(&root, &["commit", "-q", "-m", "sub"]);
    for (name, value) in [("submodule.sub.ignore", "all"), ("diff.ignoreSubmodules", "all")] {
        git(&root, &["config", name, value]);
    }
    let sub = root.join("sub");
    git(&sub, &["config", "status.showUntrackedFiles", "no"]);
    let mut known = vec![look(&root)];
    assert!(!known[0].is_dirty());
    let steps: &[&dyn Fn()] = &[
        &|| write(&sub.join("untracked"), "one"),
        &|| write(&sub.join("untracked"), "two"),
        &|| write(&sub.join("src/deep/a.rs"), "one"),
        &|| {
            git(&sub, &["update-index", "--assume-unchanged", "src/deep/a.rs"]);
            write(&sub.join("src/deep/a.rs"), "two");
        },
        &|| drop(git(&sub, &["add", "untracked"])),
        &|| drop(git(&sub, &["commit", "-q", "-m", "in sub"])),
        &|| drop(git(&root, &["add", "sub"])),
    ];
    for (number, step) in steps.iter().enumerate() {
        step();
        let now = look(&root);
        assert!(now.is_dirty(), "step {number}");
        assert!(known.iter().all(|before| before.fingerprint != now.fingerprint), "step {number}");
        known.push(now);
    }
    assert_eq!(lines(known.last().unwrap()), ["MM sub"]);
}

#[test]
fn a_nested_repository_is_seen_into_and_a_nested_worktree_of_the_same_repository_is_not() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    git(&root, &["init", "-q", "nested"]);
    write(&root.join("nested/a"), "a");
    let before = look(&root);
    assert_eq!(lines(&before), ["?? nested/"]);
    write(&root.join("nested/a"), "b");
    assert_ne!(look(&root).fingerprint, before.fingerprint);
    std::fs::remove_dir_all(root.join("nested")).unwrap();
    git(&root, &["worktree", "add", "-q", "trees/side"]);
    let before = look(&root);
    assert_eq!(lines(&before), ["?? trees/side/"]);
    write(&root.join("trees/side/a"), "another agent's work");
    assert_eq!(look(&root), before);
    assert!(!look_without(&root, &["trees/"]).is_dirty());
}

#[test]
fn a_worktree_of_the_same_repository_that_is_tracked_is_a_submodule_like_any_other() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    git(&root, &["worktree", "add", "-q", "inner"]);
    git(&root, &["add", "inner"]);
    git(&root, &["commit", "-q", "-m", "a link to a worktree of its own"]);
    let clean = look(&root);
    assert_eq!(lines(&clean), Vec::<String>::new());
    append(&root.join("inner/src/deep/a.rs"), "// more\n");
    let dirty = look(&root);
    assert_eq!((lines(&dirty), porcelain(&root).status.len()), (vec![" M inner".to_owned()], 1));
    append(&root.join("inner/src/deep/a.rs"), "// and more\n");
    assert_ne!(look(&root).fingerprint, dirty.fingerprint);
    git(&root.join("inner"), &["commit", "-q", "-a", "-m", "more"]);
    assert_eq!(lines(&look(&root)), [" M inner"]);
}

#[test]
fn an_exclusion_leaves_out_untracked_paths_alone_and_names_them() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    std::fs::create_dir(root.join("out")).unwrap();
    let clean = look_without(&root, &["out/", "src/"]);
    write(&root.join("out/report"), "one");
    let excluded = look_without(&root, &["out/", "src/"]);
    assert!(!excluded.is_dirty());
    assert_eq!(excluded.leftovers, [b"out/report"]);
    assert_eq!(excluded.fingerprint, clean.fingerprint);
    write(&root.join("src/deep/a.rs"), "changed");
    write(&root.join("src/new"), "new");
    git(&root, &["add", "src/new"]);
    assert_eq!(lines(&look_without(&root, &["out/", "src/"])), [" M src/deep/a.rs", "A  src/new"]);
}

#[test]
fn what_only_a_filter_changes_back_is_no_change_and_the_filter_runs() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    write(&root.join(".gitattributes"), "*.up filter=upper\n*.crlf text eol=crlf\n");
    git(&root, &["config", "filter.upper.clean", "tr a-z A-Z"]);
    write(&root.join("x.up"), "text");
    write(&root.join("y.crlf"), "one\n");
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "filters"]);
    write(&root.join("x.up"), "TexT");
    assert!(!look(&root).is_dirty());
    for (name, one, other) in [("x.up", "more", "MORE"), ("y.crlf", "two\n", "two\r\n")] {
        write(&root.join(name), one);
        let changed = look(&root);
        assert_eq!(lines(&changed).last().unwrap(), &format!(" M {name}"));
        write(&root.join(name), other);
        assert_eq!(look(&root), changed);
    }
}

#[test]
fn too_much_changed_content_is_refused_before_it_is_read() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let file = std::fs::File::create(root.join("large")).unwrap();
    file.set_len((512 << 20) + 1).unwrap();
    let refused = Repository::discover(&root).unwrap().snapshot(b"", &Exclusions::default()).unwrap_err();
    let Error::TooMuch { path, limit } = refused else { panic!("{refused}") };
    assert_eq!((path, limit), (root.join("large"), 512 << 20));
    assert!(!look_without(&root, &["large"]).is_dirty());
}

#[test]
fn a_bare_repository_has_no_worktree_to_look_at() {
    let sandbox = Sandbox::new();
    sandbox.repository("r");
    git(&sandbox.root, &["clone", "-q", "--bare", "r", "bare.git"]);
    let bare = sandbox.path("bare.git");
    let refused = Repository::discover(&bare).unwrap().snapshot(b"", &Exclusions::default()).unwrap_err();
    assert_eq!(refused, Error::NoWorktree { path: bare.clone() });
    git(&bare, &["worktree", "add", "-q", "../tree"]);
    assert_eq!(lines(&look(&sandbox.path("tree"))), Vec::<String>::new());
}

#[test]
fn a_replacement_or_a_graft_changes_nothing() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let first = git(&root, &["rev-parse", "HEAD"]);
    write(&root.join("src/deep/a.rs"), "second");
    git(&root, &["commit", "-q", "-a", "-m", "second"]);
    let before = look(&root);
    git(&root, &["replace", "HEAD", &first]);
    write(&root.join(".git/info/grafts"), &format!("{}\n", before.head.commit.as_deref().unwrap()));
    assert_eq!(look(&root), before);
}

#[test]
fn pipes_and_links_that_stand_in_for_files_are_told_apart_and_never_followed() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let tool = root.join("tool");
    write(&tool, "");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "tool"]);
    let mut seen = vec![look(&root)];
    let steps: &[&dyn Fn()] = &[
        &|| shell(&root, "rm tool && mkfifo tool"),
        &|| symlink("tool-is-not-there", &tool).unwrap(),
        &|| symlink("/dev/zero", &tool).unwrap(),
        &|| symlink("src/deep/a.rs", &tool).unwrap(),
    ];
    for step in steps {
        if seen.len() > 1 {
            std::fs::remove_file(&tool).unwrap();
        }
        step();
        let now = look(&root);
        let letters = if seen.len() == 1 { " M" } else { " T" };
        assert_eq!(lines(&now), [format!("{letters} tool")]);
        assert_eq!(git(&root, &["status", "--porcelain"]), format!("{letters} tool"));
        assert!(seen.iter().all(|before| before.fingerprint != now.fingerprint));
        seen.push(now);
    }
    shell(&root, "mkfifo untracked-pipe");
    assert_eq!(lines(&look(&root)), [" T tool"]);
}

#[test]
fn directories_that_come_and_go_do_not_stop_a_snapshot() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in (0_u64..).take_while(|_| !done.load(Ordering::Relaxed)) {
                let dir = root.join(format!("build-{}", number % 4));
                std::fs::create_dir(&dir).unwrap();
                write(&dir.join("object"), "text");
                std::thread::sleep(std::time::Duration::from_micros(300));
                std::fs::remove_dir_all(&dir).unwrap();
            }
        });
        let repository = Repository::discover(&root).unwrap();
        let looks: Vec<_> =
            (0..400).map(|_| repository.snapshot(b"identity", &Exclusions::default()).map(|_| ())).collect();
        done.store(true, Ordering::Relaxed);
        assert!(looks.iter().all(Result::is_ok), "{:?}", looks.iter().find(|look| look.is_err()));
    });
    assert!(!look(&root).is_dirty());
}

#[test]
fn a_nested_repository_that_cannot_be_looked_into_stops_nothing() {
    let sandbox = Sandbox::new();
    let part = sandbox.repository("part");
    let root = sandbox.repository("r");
    let url = part.to_str().unwrap();
    git(&root, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "sub"]);
    git(&root, &["commit", "-q", "-m", "sub"]);
    let nested = "git init -q n; git -C n commit -q --allow-empty -m n; git -C n config";
    let cases = [
        ("cp -r sub copy", "rm -rf copy"),
        ("mv sub moved", "mv moved sub"),
        (&format!("{nested} core.worktree /nowhere"), "rm -rf n"),
        (&format!("{nested} core.worktree ../../part"), "rm -rf n"),
        (&format!("{nested} core.bare true"), "rm -rf n"),
        (&format!("{nested} core.repositoryFormatVersion 7"), "rm -rf n"),
        ("git init -q --ref-format=reftable n; git -C n commit -q --allow-empty -m n", "rm -rf n"),
        (
            "git clone -q ../part n; git -C n commit -q --allow-empty -m n; touch n/top; git -C n add top; \
             git -C n commit -q -m top; git -C n sparse-checkout set --cone --sparse-index",
            "rm -rf n",
        ),
    ];
    let clean = look(&root);
    for (step, back) in cases {
        shell(&root, step);
        let changed = look(&root);
        let said = git(&root, &["status", "--porcelain=v1", "--untracked-files=all"]);
        let (mut ours, mut letters) = (lines(&changed), said.lines().map(str::to_owned).collect::<Vec<_>>());
        ours.sort();
        letters.sort();
        assert_eq!(ours, letters, "{step}");
        assert!(changed.is_dirty(), "{step}");
        shell(&root, back);
        assert_eq!(look(&root), clean, "{step}");
    }
    git(&root.join("sub"), &["config", "core.repositoryFormatVersion", "7"]);
    assert_eq!(lines(&look(&root)), [" M sub"]);
}

#[test]
fn a_submodule_without_its_repository_is_no_change_but_part_of_the_fingerprint() {
    let sandbox = Sandbox::new();
    let part = sandbox.repository("part");
    let root = sandbox.repository("r");
    let url = part.to_str().unwrap();
    git(&root, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "sub"]);
    git(&root, &["commit", "-q", "-m", "sub"]);
    let populated = look(&root);
    git(&root, &["submodule", "deinit", "-q", "-f", "sub"]);
    let empty = look(&root);
    write(&root.join("sub/notes"), "text");
    let filled = look(&root);
    for state in [&populated, &empty, &filled] {
        assert!(!state.is_dirty());
    }
    assert_eq!(porcelain(&root).status, []);
    assert_ne!(empty.fingerprint, populated.fingerprint);
    assert_ne!(filled.fingerprint, empty.fingerprint);
    std::fs::remove_file(root.join("sub/notes")).unwrap();
    git(&root, &["-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init"]);
    assert_eq!(look(&root), populated);
}

#[test]
fn a_pipe_in_the_place_of_a_plain_file_is_a_modification_and_of_a_link_a_change_of_type() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    symlink("src", root.join("link")).unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "link"]);
    shell(&root, "rm link src/deep/a.rs && mkfifo link src/deep/a.rs");
    let said = git(&root, &["status", "--porcelain=v1"]);
    assert_eq!(lines(&look(&root)), said.lines().collect::<Vec<_>>());
}

#[test]
fn a_conflicted_submodule_is_no_untracked_repository_as_well() {
    let sandbox = Sandbox::new();
    for stage in 1..=3 {
        let root = sandbox.repository(&format!("r{stage}"));
        let head = git(&root, &["rev-parse", "HEAD"]);
        let line = format!("160000 {head} {stage}\tsub");
        shell(&root, &format!("echo '{line}' | git update-index --index-info; git clone -q . sub"));
        let said = git(&root, &["status", "--porcelain=v1"]);
        assert_eq!(lines(&look(&root)), said.lines().collect::<Vec<_>>());
    }
}

#[test]
fn no_filter_of_an_untracked_repository_is_run() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let ran = sandbox.path("ran");
    shell(
        &root,
        &format!(
            "git init -q n; cd n; echo '* filter=f' > .gitattributes; echo one > a; git add .; git commit -q -m n; \
             git config filter.f.clean 'touch {0}; cat'; git config filter.f.required true; echo two > a",
            ran.display()
        ),
    );
    let before = look(&root);
    assert_eq!(lines(&before), ["?? n/"]);
    write(&root.join("n/a"), "three");
    assert_ne!(look(&root).fingerprint, before.fingerprint);
    assert!(!ran.exists());
    git(&root, &["add", "n"]);
    assert_eq!(lines(&look(&root)), ["AM n"]);
    assert!(ran.exists(), "of a submodule it is, as by git");
}
