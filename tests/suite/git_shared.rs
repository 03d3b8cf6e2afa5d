//! Repositories that several users share, or that may only be read: what we make has the permissions git would give it,
//! and where nothing may be made nothing is left.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use foremerge::git::refs::{RefError, RefName};
use foremerge::git::worktree::{CreateError, Request};
use foremerge::git::{Error, Exclusions, Repository};
use foremerge::world::{Fake, Point};

use crate::child::{Job, Order, Worker};
use crate::mount::Mount;
use crate::sandbox::{Sandbox, git, shell};
use crate::workplace::{listing, unchanged};

/// The permissions of everything below `git_dir` that both of two make, by name without their `own`.
fn modes(git_dir: &Path, own: &str) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    for path in listing(git_dir).into_keys() {
        let name = path.strip_prefix(git_dir).unwrap().to_string_lossy().replace(own, "NAME");
        let mode = std::fs::symlink_metadata(&path).unwrap().permissions().mode();
        // Git says there where a worktree started, we do not; the lock is ours alone.
        if !name.starts_with("objects/") && !name.ends_with("ORIG_HEAD") && name != "foremerge.lock" {
            found.insert(name, mode);
        }
    }
    found
}

#[test]
fn what_is_made_in_a_shared_repository_has_the_permissions_git_would_give_it() {
    for shared in ["group", "all", "0640", "umask"] {
        for umask in ["022", "077"] {
            let sandbox = Sandbox::new();
            let [ours, theirs] = ["ours", "theirs"].map(|own| {
                let at = sandbox.repository_with(own, &[&format!("--shared={shared}")]);
                git(&at, &["config", "core.logAllRefUpdates", "always"]);
                let masked = |job, name: &str| {
                    let order = Order { job, at: &at, name, rounds: 1, crash: None };
                    let mut worker = Worker::start_masked(umask, &order);
                    worker.go();
                    let ended = worker.end();
                    assert!(ended.status.success(), "{}", ended.said);
                };
                let tree = sandbox.path(&format!("tree-{own}"));
                if own == "ours" {
                    masked(Job::AddWorktree, &format!("deep/ours={}", tree.display()));
                    masked(Job::Pin, "accepted/x");
                } else {
                    let command = "git worktree add -q -b deep/theirs ../tree-theirs; \
                                   git update-ref refs/foremerge/accepted/x HEAD";
                    shell(&at, &format!("umask {umask}; {command}"));
                }
                modes(&at.join(".git"), own)
            });
            assert!(ours.contains_key("refs/foremerge/accepted/x"), "{ours:?}");
            assert!(ours.contains_key("logs/refs/heads/deep/NAME"), "{ours:?}");
            assert_eq!(ours, theirs, "{shared} {umask}");
        }
    }
}

#[test]
fn the_lock_and_the_journal_of_one_user_are_open_to_the_others() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["config", "core.sharedRepository", "group"]);
    let name = format!("topic={}", sandbox.path("tree").display());
    let crash = Some((Point::BranchMade, 1));
    let order = Order { job: Job::AddWorktree, at: &at, name: &name, rounds: 1, crash };
    let mut worker = Worker::start_masked("077", &order);
    worker.go();
    assert!(!worker.end().status.success());
    for name in ["foremerge.lock", "foremerge-adding-0"] {
        let mode = std::fs::metadata(at.join(".git").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o660, "{name}");
    }
}

#[test]
fn where_nothing_may_be_written_all_is_read_and_a_change_is_refused_by_the_path() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["commit", "-q", "--allow-empty", "-m", "second"]);
    let head = git(&at, &["rev-parse", "HEAD"]);
    git(&at, &["update-ref", "refs/foremerge/a", &head]);
    let view = sandbox.path("view");
    let skipped = "a repository on read-only media";
    let Some(_mount) = Mount::read_only_view(&at, &view, skipped) else { return };
    let before = listing(&sandbox.root);
    let repository = Repository::discover(&view).unwrap();
    let (refs, world) = (repository.refs(), Fake::new(1));
    let [there, new] = ["a", "b"].map(|name| RefName::below(name).unwrap());
    assert!(!repository.snapshot(b"", &Exclusions::default()).unwrap().is_dirty());
    assert_eq!(repository.worktrees().unwrap()[0].dirty, Some(0));
    let base = repository.base_of(Some(&head), None).unwrap().compared_with.unwrap();
    assert_eq!(repository.touched(&base, &head).unwrap().paths, Vec::<Vec<u8>>::new());
    assert!(repository.landing(&base, &head).is_ok());
    assert_eq!(refs.list("").unwrap().len(), 1);
    assert_eq!(refs.read(&there).unwrap(), Some(head.clone()));
    for refused in [
        refs.create(&world, &new, &head).map(drop),
        refs.swap(&world, &there, &head, &base),
        refs.delete(&world, &there, &head).map(drop),
    ] {
        let Err(RefError::Git(Error::Unwritable { path, .. })) = refused else { panic!("{refused:?}") };
        assert!(path.starts_with(&view), "{}", path.display());
    }
    let request = Request { branch: "topic", path: &sandbox.path("tree"), base: "HEAD" };
    let refused = repository.create_worktree(&world, &request).unwrap_err();
    assert!(matches!(refused, CreateError::Git(Error::Unwritable { .. })), "{refused}");
    unchanged(&before, &listing(&sandbox.root));
}
