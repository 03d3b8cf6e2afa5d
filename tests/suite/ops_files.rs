//! `file:` scopes: one spelling for one path, and nothing of this machine on record.

use serde_json::{Value, json};

use crate::cli::{self, Cli, publishing, string, text};
use crate::sandbox::{Sandbox, git};

fn key(published: &Value) -> String {
    text(&published["intent"]["scopes"][0]["key"])
}

fn file(path: &str) -> String {
    format!("file:{path}=modify")
}

struct Two {
    sandbox: Sandbox,
    cli: Cli,
    agent: String,
}

impl Two {
    /// A repository with a linked worktree inside it and one beside it.
    fn worktrees() -> Self {
        let sandbox = Sandbox::new();
        let root = sandbox.repository("r");
        git(&root, &["worktree", "add", "-q", "trees/inner"]);
        git(&root, &["worktree", "add", "-q", "../outer"]);
        let cli = cli::initialized(&root);
        let agent = cli.agent("a");
        Self { sandbox, cli, agent }
    }

    fn key_of(&self, path: &str) -> String {
        key(&self.cli.publish(&self.agent, &[&file(path)]))
    }
}

#[test]
fn all_spellings_of_a_path_are_one_scope() {
    let two = Two::worktrees();
    let root = two.sandbox.path("r");
    let other = two.cli.agent("other");
    two.cli.publish(&other, &["file:src/deep/a.rs=replace"]);
    let (here, inner, outer) = (string(&root), root.join("trees/inner"), two.sandbox.path("outer"));
    let spellings = [
        "src/deep/a.rs".to_owned(),
        "./src/deep/a.rs".into(),
        "src//deep/./a.rs".into(),
        "src/x/../deep/a.rs".into(),
        "src/deep/a.rs/".into(),
        r"src\deep\a.rs".into(),
        " src/deep/a.rs ".into(),
        format!("{here}/src/deep/a.rs"),
        format!("{here}/src/../src/deep//a.rs"),
        format!("{}/src/deep/a.rs", string(&inner)),
        format!("{}/src/deep/a.rs", string(&outer)),
    ];
    for spelling in spellings {
        let published = two.cli.publish(&two.agent, &[&file(&spelling)]);
        assert_eq!(key(&published), "src/deep/a.rs", "{spelling}");
        assert_eq!(published["conflicts"][0]["severity"], "HIGH", "{spelling}");
    }
    let everything = two.cli.shown(["events", "list", "--limit", "1000", "--json"]);
    let declared = everything.matches(here).count();
    let worktrees = everything.matches(&format!("\"worktree\":\"{here}\"")).count();
    assert_eq!(declared, worktrees, "a path of this machine is on record");
}

#[test]
fn a_key_is_relative_to_the_root_and_never_to_where_the_shell_is() {
    let two = Two::worktrees();
    let deep = cli::at(two.sandbox.path("r/src/deep"));
    assert_eq!(key(&deep.publish(&two.agent, &[&file("a.rs")])), "a.rs");
    let inner = cli::at(two.sandbox.path("r/trees/inner/src"));
    let main = two.sandbox.path("r/src/deep/a.rs");
    assert_eq!(key(&inner.publish(&two.agent, &[&file(string(&main))])), "src/deep/a.rs");
}

#[test]
fn a_path_through_a_symbolic_link_is_the_path_it_leads_to() {
    let two = Two::worktrees();
    let root = two.sandbox.path("r");
    std::os::unix::fs::symlink(&root, two.sandbox.path("alias")).unwrap();
    std::os::unix::fs::symlink(root.join("src"), two.sandbox.path("source")).unwrap();
    for (link, expected) in [
        ("alias/src/new.rs", "src/new.rs"),
        ("alias/not/yet/there.rs", "not/yet/there.rs"),
        ("source/deep/a.rs", "src/deep/a.rs"),
        ("alias", "."),
    ] {
        assert_eq!(two.key_of(string(&two.sandbox.path(link))), expected, "{link}");
    }
}

#[test]
fn the_root_itself_is_the_whole_tree() {
    let two = Two::worktrees();
    let root = two.sandbox.path("r");
    for spelling in [".", "./", "src/..", string(&root), string(&root.join("trees/inner"))] {
        assert_eq!(two.key_of(spelling), ".", "{spelling}");
    }
}

#[test]
fn a_path_outside_the_worktrees_is_refused() {
    let two = Two::worktrees();
    let beside = two.sandbox.path("r-beside/a.rs");
    let above = format!("{}/../elsewhere", string(&two.sandbox.path("r")));
    for bad in ["..", "../a", "src/../../a", "/etc/passwd", "/", string(&beside), &above, r"..\a"] {
        let message = two.cli.refused_without_trace(&publishing(&two.agent, &[&file(bad)]));
        assert!(message.starts_with("scopes: "), "{bad}: {message}");
    }
}

#[test]
fn files_that_differ_by_case_alone_are_two_files_that_may_be_meant_to_be_one() {
    let two = Two::worktrees();
    let other = two.cli.agent("other");
    two.cli.publish(&other, &["file:README.md=replace"]);
    let published = two.cli.publish(&two.agent, &["file:readme.md=modify", "file:Readme.md=replace"]);
    for conflict in published["conflicts"].as_array().unwrap() {
        assert_eq!(
            (&conflict["severity"], &conflict["evidence"]["asserted"]),
            (&json!("MEDIUM"), &json!(false))
        );
    }
    assert_eq!(published["intent"]["scopes"].as_array().unwrap().len(), 2);
    let composed = two.cli.publish(&other, &["file:caf\u{e9}=replace"]);
    let found = two.cli.publish(&two.agent, &["file:cafe\u{301}=modify"]);
    assert_eq!(found["conflicts"].as_array().unwrap().len(), 1, "composition is no difference");
    assert_eq!(key(&composed), "caf\u{e9}");
}

#[test]
fn a_standalone_ledger_takes_absolute_paths_below_its_directory() {
    let sandbox = Sandbox::new();
    let project = sandbox.mkdir("project/sub");
    let cli = cli::at(&project);
    cli.data(["init", "--standalone", ".."]);
    let agent = cli.agent("a");
    let inside = sandbox.path("project/lib/a.rs");
    assert_eq!(key(&cli.publish(&agent, &[&file(string(&inside))])), "lib/a.rs");
    let outside = sandbox.path("other/a.rs");
    cli.refused_without_trace(&publishing(&agent, &[&file(string(&outside))]));
}
