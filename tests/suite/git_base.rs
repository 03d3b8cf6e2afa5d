//! What a candidate is compared with, and which commit a name means.

use foremerge::git::patch::{Base, BaseResolution};
use foremerge::git::{Error, Repository};

use crate::sandbox::{Sandbox, git, try_git, write};

fn two_commits(sandbox: &Sandbox) -> (std::path::PathBuf, String, String) {
    let root = sandbox.repository("r");
    write(&root.join("b"), "b");
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "second"]);
    let (first, second) = (git(&root, &["rev-parse", "HEAD~1"]), git(&root, &["rev-parse", "HEAD"]));
    (root, first, second)
}

#[test]
fn without_a_base_the_first_parent_is_taken_and_for_a_root_commit_the_empty_tree() {
    let sandbox = Sandbox::new();
    let (root, first, second) = two_commits(&sandbox);
    let repository = Repository::discover(&root).unwrap();
    let base = repository.base_of(Some(&second), None).unwrap();
    assert_eq!(
        (base.resolution, base.compared_with.as_deref()),
        (BaseResolution::FirstParent, Some(first.as_str()))
    );
    let base = repository.base_of(Some(&first), None).unwrap();
    let empty = git(&root, &["hash-object", "-t", "tree", "/dev/null"]);
    let expected = Base { resolution: BaseResolution::RootCommit, commit: None, compared_with: Some(empty) };
    assert_eq!(base, expected);
    assert_eq!(repository.touched(&base.compared_with.unwrap(), &first).unwrap().paths, [b"src/deep/a.rs"]);
}

#[test]
fn a_base_of_the_caller_may_be_any_name_of_one_commit_but_not_the_candidate() {
    let sandbox = Sandbox::new();
    let (root, first, second) = two_commits(&sandbox);
    git(&root, &["tag", "-a", "-m", "tag", "v1", &first]);
    git(&root, &["branch", "side", &first]);
    git(&root, &["update-ref", "refs/heads/-dash", &first]);
    let repository = Repository::discover(&root).unwrap();
    for name in ["v1", "side", "HEAD~1", "HEAD^", "refs/heads/-dash", "-dash", &first[..8], &first] {
        let base = repository.base_of(Some(&second), Some(name)).unwrap();
        assert_eq!(
            (base.resolution.as_str(), base.commit),
            ("caller_supplied", Some(first.clone())),
            "{name}"
        );
    }
    for name in ["HEAD", "main", &second] {
        let refused = repository.base_of(Some(&second), Some(name)).unwrap_err();
        assert!(matches!(&refused, Error::Unresolved { name: refused, .. } if refused == name), "{refused}");
        assert!(refused.to_string().contains("the candidate itself"), "{refused}");
    }
}

#[test]
fn a_name_of_nothing_of_several_things_or_of_no_commit_is_refused_by_name() {
    let sandbox = Sandbox::new();
    let (root, ..) = two_commits(&sandbox);
    let repository = Repository::discover(&root).unwrap();
    let tree = git(&root, &["rev-parse", "HEAD^{tree}"]);
    for name in
        ["", "nothing", "--all", "-", "HEAD~7", "HEAD~1..HEAD", "HEAD:src", &tree, &"0".repeat(40), "HEAD\n"]
    {
        let refused = repository.base_of(None, Some(name)).unwrap_err();
        assert!(
            matches!(&refused, Error::Unresolved { name: refused, .. } if refused == name),
            "{refused:?}"
        );
        assert!(refused.to_string().contains(&format!("{name:?} names no commit")), "{refused}");
    }
}

#[test]
fn where_a_shallow_clone_ends_there_is_no_base_until_one_is_named() {
    let sandbox = Sandbox::new();
    let (root, first, second) = two_commits(&sandbox);
    let url = format!("file://{}", root.display());
    git(&sandbox.root, &["clone", "-q", "--depth=1", &url, "shallow"]);
    let shallow = sandbox.path("shallow");
    let base = Repository::discover(&shallow).unwrap().base_of(Some(&second), None).unwrap();
    assert_eq!((base.resolution, base.compared_with), (BaseResolution::ShallowBoundary, None));
    git(&shallow, &["fetch", "-q", &url, &format!("{first}:refs/heads/base")]);
    let repository = Repository::discover(&shallow).unwrap();
    let base = repository.base_of(Some(&second), Some("base")).unwrap();
    assert_eq!(base.commit, Some(first));
    assert_eq!(repository.touched(&base.compared_with.unwrap(), &second).unwrap().paths, [b"b"]);
}

#[test]
fn an_unborn_branch_has_neither_candidate_nor_base() {
    let sandbox = Sandbox::new();
    let root = sandbox.mkdir("r");
    git(&root, &["init", "-q"]);
    let base = Repository::discover(&root).unwrap().base_of(None, None).unwrap();
    assert_eq!((base.resolution.as_str(), base.compared_with), ("unborn_worktree", None));
}

#[test]
fn what_a_partial_clone_left_out_is_missing_and_never_empty_or_fetched() {
    let sandbox = Sandbox::new();
    let (root, first, second) = two_commits(&sandbox);
    git(&root, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", root.display());
    git(&sandbox.root, &["clone", "-q", "--no-checkout", "--filter=blob:none", &url, "partial"]);
    let partial = sandbox.path("partial");
    let objects = || git(&partial, &["count-objects", "-v"]);
    let before = objects();
    let repository = Repository::discover(&partial).unwrap();
    assert_eq!(repository.touched(&first, &second).unwrap().paths, [b"b"]);
    let refused = repository.patch_digest(&first, &second).unwrap_err();
    let blob = git(&root, &["rev-parse", "HEAD:b"]);
    assert!(matches!(&refused, Error::Missing { object, .. } if *object == blob), "{refused}");
    assert_eq!(objects(), before);
}

#[test]
fn what_git_verifies_as_one_commit_is_one_and_nothing_else() {
    let sandbox = Sandbox::new();
    let (root, ..) = two_commits(&sandbox);
    let repository = Repository::discover(&root).unwrap();
    for name in ["main", "main~1", "main^0", "main^{}", "main^!", "^main", "main^@", "main^-", "main~1..main"]
    {
        let output = try_git(&root, &["rev-parse", "--verify", "-q", name]);
        // Git verifies `^main`, too, as one commit that is left out.
        let git_says = Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
            .filter(|said| output.status.success() && !said.starts_with('^'));
        assert_eq!(repository.resolve_commit(name).ok(), git_says, "{name}");
    }
}

#[test]
fn the_upstream_of_a_branch_may_be_another_branch_of_the_repository() {
    let sandbox = Sandbox::new();
    let (root, ..) = two_commits(&sandbox);
    git(&root, &["branch", "-q", "--track", "a.b/c", "main"]);
    git(&root, &["branch", "-q", "base", "HEAD~1"]);
    git(&root, &["branch", "-q", "--set-upstream-to=base", "main"]);
    git(&root, &["branch", "-q", "--track", "gone", "a.b/c"]);
    git(&root, &["config", "branch.gone.merge", "refs/heads/nowhere"]);
    let repository = Repository::discover(&root).unwrap();
    for name in [
        "a.b/c@{upstream}",
        "a.b/c@{u}~1",
        "@{u}",
        "@{U}",
        "HEAD@{u}",
        "@@{u}",
        "HEAD@{upstream}~0",
        "head@{u}",
        "main@{UPSTREAM}^0",
        "base@{u}",
        "gone@{u}",
        "nobody@{u}",
        "a.b/c@{u}@{u}",
        "a.b/c@{u",
    ] {
        let output = try_git(&root, &["rev-parse", "--verify", "-q", name]);
        let git_says =
            output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().to_owned());
        let ours = repository.resolve_commit(name);
        assert_eq!(ours.clone().ok(), git_says, "{name}");
        assert!(git_says.is_some() || ours.unwrap_err().to_string().contains(&format!("{name:?}")));
    }
    git(&root, &["checkout", "-q", "--detach"]);
    assert!(Repository::discover(&root).unwrap().resolve_commit("@{u}").is_err());
}

#[test]
fn plain_words_are_found_in_messages_as_git_finds_them_and_anything_else_is_refused() {
    let sandbox = Sandbox::new();
    let (root, ..) = two_commits(&sandbox);
    git(&root, &["commit", "-q", "--allow-empty", "-m", "third a.b\n\nbody (x) line"]);
    git(&root, &["commit", "-q", "--allow-empty", "-m", "fourth axb"]);
    let repository = Repository::discover(&root).unwrap();
    for search in ["first", "th", "a b", "body", "FIRST", "!-fourth", "!!x", "!-nothing", "", "c-d"] {
        for name in [format!("HEAD^{{/{search}}}"), format!("main^{{/{search}}}^0")] {
            let output = try_git(&root, &["rev-parse", "--verify", "-q", &name]);
            let git_says =
                output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().to_owned());
            assert_eq!(repository.resolve_commit(&name).ok(), git_says, "{name}");
        }
    }
    for name in ["HEAD^{/a.b}", "HEAD^{/(x)}", "HEAD^{/^f}", "HEAD^{/a{2}}", "HEAD~1^{/th}^{/x*}"] {
        let refused = repository.resolve_commit(name).unwrap_err().to_string();
        assert!(refused.contains(&format!("{name:?}")) && refused.contains("only plain words"), "{refused}");
    }
    let refused = repository.resolve_commit(":/first").unwrap_err().to_string();
    assert!(refused.ends_with("as in main^{/words}"), "{refused}");
}
