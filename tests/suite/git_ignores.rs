//! Rules about what to ignore, wherever they stand, beside stock git: what they leave is untracked and in the
//! fingerprint.

use crate::beside_git::{agrees, look};
use crate::sandbox::{Sandbox, git, shell, write};

#[test]
fn rules_that_match_whatever_stands_at_the_top_do_not_hide_the_top() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    shell(&root, "mkdir d e; touch a d/t; git add .; git commit -q -m t; touch e/new");
    for exclude in ["*/", "**/", "/*/", "/**/", "/", "//", "*", "/*", "/**", "**", "?", "[a-z]*/", "!/"] {
        for rules in
            ["", "!new\n!d/\n", "!*\n", "/\n", "*/\n", "*\n!new\n!*/\n", "/**\n!/new\n!/d/\n!**/new\n"]
        {
            write(&root.join(".git/info/exclude"), &format!("{exclude}\n"));
            write(&root.join(".gitignore"), rules);
            let why = format!("{exclude:?} and {rules:?}");
            for name in ["new", "d/new"] {
                write(&root.join(name), "one");
            }
            let before = agrees(&root, &why);
            write(&root.join("new"), "other");
            let is_seen = before.changes.iter().any(|change| change.path == b"new");
            assert_eq!(look(&root).fingerprint != before.fingerprint, is_seen, "{why}");
        }
    }
    shell(
        &root,
        "rm .gitignore .git/info/exclude; echo '*/' > ../rules; git config core.excludesFile $PWD/../rules",
    );
    agrees(&root, "core.excludesFile");
}

#[test]
fn the_rules_of_a_directory_that_is_not_checked_out_count() {
    let sandbox = Sandbox::new();
    for options in ["--cone", "--no-cone"] {
        let root = sandbox.repository(&format!("r{options}"));
        shell(
            &root,
            "mkdir -p in out/deep; touch in/a out/a out/deep/a; echo '*.o' > out/.gitignore; \
             echo '!keep.o' > out/deep/.gitignore; git add .; git commit -q -m t",
        );
        let in_place = look(&root).fingerprint;
        let set = format!("git sparse-checkout set {options} --no-sparse-index in src");
        shell(&root, &format!("{set}; mkdir -p out/deep; touch out/k.o out/deep/k.o"));
        let quiet = agrees(&root, options);
        assert!(!quiet.is_dirty() && quiet.fingerprint != in_place);
        shell(&root, "touch out/deep/keep.o out/n");
        assert_eq!(agrees(&root, options).changes.len(), 2);
        // What is there decides.
        shell(&root, "echo '*.p' > out/.gitignore; touch out/k.p");
        agrees(&root, options);
    }
}

#[test]
fn rules_that_are_neither_checked_out_nor_here_stop_nothing() {
    let sandbox = Sandbox::new();
    let origin = sandbox.repository("origin");
    shell(&origin, "mkdir out; touch out/a; echo '*.o' > out/.gitignore; git add .; git commit -q -m t");
    git(&origin, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", origin.display());
    git(&sandbox.root, &["clone", "-q", "--filter=blob:none", "--no-checkout", &url, "r"]);
    let root = sandbox.path("r");
    shell(
        &root,
        "git sparse-checkout set --no-sparse-index src; git checkout -q main; mkdir out; touch out/k.o",
    );
    let paths: Vec<_> = look(&root).changes.into_iter().map(|change| change.path).collect();
    assert_eq!(paths, [b"out/k.o"]);
    // git fetches them.
    git(&root, &["status"]);
    assert!(!agrees(&root, "git has fetched the rules").is_dirty());
}
