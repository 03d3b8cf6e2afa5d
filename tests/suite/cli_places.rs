//! Which ledger and which repository a command is about.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::{self, Cli, publishing, string, text};
use crate::sandbox::{Sandbox, git, scrubbed, shell, write};

/// Where the ledger of the repository at `dir` is.
fn ledger(dir: &Path) -> PathBuf {
    let common = git(dir, &["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    Path::new(&common).join("foremerge/state.sqlite3")
}

fn names(cli: &Cli) -> Vec<String> {
    cli.data(["agent", "list"]).as_array().unwrap().iter().map(|agent| text(&agent["name"])).collect()
}

/// Registers an agent from `dir` and answers worktree, branch and head.
fn registered(dir: &Path) -> [Value; 3] {
    let agent = cli::at("/").data(["-C", string(dir), "agent", "register", "--name", "a"]);
    ["worktree", "git_branch", "git_head"].map(|field| agent.get(field).cloned().unwrap_or_default())
}

#[test]
fn all_worktrees_share_one_ledger_and_each_is_its_own_place() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let linked = sandbox.path("linked");
    git(&root, &["worktree", "add", "-q", "-b", "topic", string(&linked)]);
    let made = cli::at(&linked).data(["init"]);
    assert_eq!((&made["created"], &made["shared_across_worktrees"]), (&json!(true), &json!(true)));
    assert_eq!(made["database"], json!(ledger(&root)));
    assert_eq!(cli::at(&root).data(["init"])["created"], false);
    let head = json!(git(&root, &["rev-parse", "HEAD"]));
    assert_eq!(registered(&root.join("src/deep")), [json!(root), json!("main"), head.clone()]);
    assert_eq!(registered(&linked.join("src")), [json!(linked), json!("topic"), head]);
    assert_eq!(names(&cli::at(&root)), names(&cli::at(&linked)));
    assert_eq!(names(&cli::at(&root)).len(), 2);
    assert_eq!(git(&root, &["status", "--porcelain"]), "", "nothing of it shows in Git");
}

#[test]
fn init_answers_the_same_again_and_keeps_what_is_there() {
    let sandbox = Sandbox::new();
    let cli = cli::at(sandbox.repository("r"));
    let mut first = cli.data(["init"]);
    cli.agent("a");
    let second = cli.data(["init"]);
    first["created"] = json!(false);
    assert_eq!(second, first);
    assert_eq!(names(&cli), ["a"]);
    let token = std::fs::metadata(text(&second["token_file"])).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&token.permissions()) & 0o777, 0o600);
}

#[test]
fn git_variables_of_another_repository_redirect_nothing() {
    let sandbox = Sandbox::new();
    let (here, there) = (sandbox.repository("here"), sandbox.repository("there"));
    git(&here, &["switch", "-q", "-c", "ours"]);
    let foreign = there.join(".git");
    let cli = cli::at(&there)
        .with("GIT_DIR", &foreign)
        .with("GIT_COMMON_DIR", &foreign)
        .with("GIT_WORK_TREE", &there)
        .with("GIT_INDEX_FILE", foreign.join("index"))
        .with("GIT_OBJECT_DIRECTORY", foreign.join("objects"))
        .with("GIT_CEILING_DIRECTORIES", sandbox.path("here/src"))
        .with("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1")
        .with("GIT_PREFIX", "src/");
    let deep = here.join("src/deep");
    let at_here = |words: &[&str]| cli.data([&["--cwd", string(&deep)], words].concat());
    assert_eq!(at_here(&["init"])["database"], json!(ledger(&here)));
    let agent = at_here(&["agent", "register", "--name", "a"]);
    assert_eq!((&agent["worktree"], &agent["git_branch"]), (&json!(here), &json!("ours")));
    assert!(!foreign.join("foremerge").exists());
    cli.refusal("NOT_INITIALIZED", ["agent", "list"]);
}

#[test]
fn every_shape_of_repository_finds_its_ledger_branch_and_head() {
    let sandbox = Sandbox::new();
    let source = sandbox.repository("source");
    let at = |name: &str| sandbox.path(name);
    let head_of = |dir: &Path| json!(git(dir, &["rev-parse", "HEAD"]));

    git(&source, &["clone", "-q", "--bare", ".", string(&at("bare"))]);
    git(&at("bare"), &["worktree", "add", "-q", "-b", "side", string(&at("bare-side"))]);
    git(&source, &["clone", "-q", "--separate-git-dir", string(&at("store")), ".", string(&at("separate"))]);
    let outer = sandbox.repository("outer");
    let inner = at("separate");
    git(&outer, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", string(&inner), "sub"]);
    let unborn = at("unborn");
    git(&sandbox.root, &["init", "-q", "-b", "trunk", string(&unborn)]);
    let detached = sandbox.repository("detached");
    git(&detached, &["checkout", "-q", "--detach"]);
    let sha256 = sandbox.repository_with("sha256", &["--object-format=sha256"]);

    let cases = [
        (at("bare-side"), json!("side"), head_of(&at("bare-side"))),
        (at("separate"), json!("main"), head_of(&at("separate"))),
        (outer.join("sub"), json!("main"), head_of(&outer.join("sub"))),
        (unborn, json!("trunk"), Value::Null),
        (detached.clone(), Value::Null, head_of(&detached)),
        (sha256.clone(), json!("main"), head_of(&sha256)),
    ];
    for (dir, branch, head) in cases {
        let made = cli::at(&dir).data(["init"]);
        assert_eq!(made["database"], json!(ledger(&dir)), "{}", dir.display());
        assert_eq!(registered(&dir), [json!(dir), branch, head]);
    }
    // In a bare repository there is no worktree to work in, which is no failure.
    assert_eq!(registered(&at("bare")), [Value::Null, Value::Null, Value::Null]);
    assert_eq!(names(&cli::at(at("bare-side"))).len(), 2);
    // A submodule is a repository of its own.
    cli::at(&outer).refusal("NOT_INITIALIZED", ["status"]);
}

#[test]
fn a_moved_repository_keeps_its_ledger_and_a_lost_worktree_is_told_how_to_find_it() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let linked = sandbox.path("linked");
    git(&root, &["worktree", "add", "-q", string(&linked)]);
    cli::initialized(&root).agent("a");
    let moved = sandbox.path("moved");
    std::fs::rename(&root, &moved).unwrap();
    assert_eq!(names(&cli::at(&moved)), ["a"]);
    cli::at(&moved).agent("b");
    let error = cli::at(&linked).refused("REPOSITORY_UNREADABLE", ["status"]);
    let remedy = text(&error["details"]["remedy"]);
    assert!(remedy.starts_with("git worktree repair"), "{error}");
    shell(&moved, &remedy);
    assert_eq!(names(&cli::at(&linked)), ["a", "b"]);
    git(&moved, &["worktree", "remove", string(&linked)]);
    cli::at(&moved).data(["status"]);
}

#[test]
fn outside_a_repository_nothing_is_made() {
    let sandbox = Sandbox::new();
    let cli = cli::at(&sandbox.root);
    for words in [&["init"][..], &["status"], &["agent", "register", "--name", "a"], &["events", "audit"]] {
        let message = cli.refusal("NOT_A_REPOSITORY", words);
        assert!(["-C DIR", "git init", "--standalone"].iter().all(|way| message.contains(way)), "{message}");
    }
    assert!(std::fs::read_dir(&sandbox.root).unwrap().next().is_none());
    let broken = sandbox.mkdir("broken");
    write(&broken.join(".git"), "gitdir: /nowhere\n");
    cli::at(&broken).refusal("REPOSITORY_UNREADABLE", ["init"]);
}

#[test]
fn a_standalone_ledger_serves_everything_below_its_directory() {
    let sandbox = Sandbox::new();
    let project = sandbox.mkdir("project/deep/er");
    let cli = cli::at(&sandbox.root);
    let made = cli.data(["init", "--standalone", "project/deep/.."]);
    assert_eq!(made["database"], json!(sandbox.path("project/.foremerge/state.sqlite3")));
    assert_eq!(made["shared_across_worktrees"], false);
    assert_eq!(cli.data(["init", "--standalone", "project"])["created"], false);
    let below = cli::at(&project);
    assert_eq!(below.data(["init"])["created"], false);
    let agent = below.data(["agent", "register", "--name", "a"]);
    assert!(agent.get("worktree").is_none(), "{agent}");
    assert_eq!(names(&cli::at(sandbox.path("project"))), ["a"]);
    cli.refusal("NOT_A_REPOSITORY", ["status"]);
    let message = below.refusal("INVALID_INPUT", ["agent", "register", "--name", "b", "--worktree", "."]);
    assert!(message.starts_with("worktree: "), "{message}");
}

#[test]
fn a_standalone_ledger_is_refused_where_it_could_not_be_found_again() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::at(&sandbox.root);
    for inside in ["r", "r/src"] {
        let message = cli.refusal("INVALID_INPUT", ["init", "--standalone", inside]);
        assert!(message.contains("Git repository"), "{message}");
    }
    for bad in ["nowhere", "r/src/deep/a.rs"] {
        assert!(cli.refusal("INVALID_INPUT", ["init", "--standalone", bad]).starts_with("standalone: "));
    }
    let plain = sandbox.mkdir("plain");
    cli.refusal("INVALID_INPUT", ["init", "--standalone", "plain", "--database", "x/l"]);
    cli.with("FOREMERGE_DB", "x/l").refusal("INVALID_INPUT", ["init", "--standalone", "plain"]);
    assert!(!root.join(".foremerge").exists() && !plain.join(".foremerge").exists());
    assert!(!sandbox.path("x").exists());
}

#[test]
fn a_directory_beside_a_standalone_one_is_not_below_it() {
    let sandbox = Sandbox::new();
    let (project, beside) = (sandbox.mkdir("project"), sandbox.mkdir("beside"));
    let cli = cli::at(&project);
    cli.data(["init", "--standalone", "."]);
    cli.refusal("NOT_A_REPOSITORY", ["-C", "../beside", "status"]);
    std::os::unix::fs::symlink(&beside, project.join("link")).unwrap();
    cli.refusal("NOT_A_REPOSITORY", ["-C", "link", "status"]);
    cli::at(&beside).data(["-C", "../project", "status"]);
}

#[test]
fn a_shell_whose_directory_is_gone_reaches_what_it_names() {
    let sandbox = Sandbox::new();
    let root = sandbox.mkdir("project");
    cli::at(&root).data(["init", "--standalone", "."]);
    let repository = sandbox.repository("r");
    let gone = sandbox.mkdir("gone");
    let script = "rmdir \"$PWD\" && exec \"$@\"";
    let from_gone = |words: &[&str]| {
        std::fs::create_dir_all(&gone).unwrap();
        let mut process = scrubbed("sh");
        process
            .current_dir(&gone)
            .args(["-c", script, "sh", env!("CARGO_BIN_EXE_foremerge"), "--json"])
            .args(words);
        let output = process.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, answer) = from_gone(&["-C", string(&root), "agent", "list"]);
    assert_eq!((status, answer.as_str()), (Some(0), "{\"ok\":true,\"data\":[]}\n"));
    let at = ["-C", string(&repository)];
    let worktree = sandbox.path("w");
    for words in [
        &["init"][..],
        &["agent", "register", "--name", "a"],
        &["worktree", "create", "--branch", "w", "--path", string(&worktree)],
        &["worktree", "list"],
        &["status"],
    ] {
        let (status, answer) = from_gone(&[&at, words].concat());
        assert_eq!(status, Some(0), "{words:?}: {answer}");
    }
    assert!(worktree.join("src/deep/a.rs").is_file());
    let database = sandbox.path("l/x");
    let (status, answer) = from_gone(&["-C", string(&root), "--database", string(&database), "init"]);
    assert_eq!(status, Some(0), "{answer}");
    let (status, answer) = from_gone(&["agent", "list"]);
    assert_eq!(status, Some(2), "{answer}");
    assert!(answer.contains("-C DIR"), "{answer}");
    assert!(answer.contains("cwd: the current directory cannot be read"), "{answer}");
}

#[test]
fn what_is_printed_to_be_pasted_acts_where_the_call_did() {
    let sandbox = Sandbox::new();
    sandbox.repository("here");
    sandbox.repository("there it's");
    let cli = cli::at(sandbox.path("here"));
    let named = ["-C", "../there it's", "--database", "../l/x"];
    let options = r"-C '../there it'\''s' --database ../l/x";
    let with = |words: &[&str]| named.iter().chain(words).map(ToString::to_string).collect::<Vec<_>>();
    let ran = cli.run(with(&["status"]));
    assert!(ran.stderr.contains(&format!("operator: foremerge {options} init\n")), "{}", ran.stderr);
    let error = cli.refused("NOT_INITIALIZED", ["-C", "../there it's", "status"]);
    assert_eq!(error["next"][0]["run"], r"foremerge -C '../there it'\''s' init");
    // Behind the command, too, and pasted it does what was meant.
    let shown = cli.shown(["init", "--cwd", "../there it's", "--database", "../l/x"]);
    assert!(shown.contains(&format!("  foremerge {options} agent register --name NAME\n")), "{shown}");
    assert!(shown.contains("  foremerge help lifecycle\n"), "{shown}");
    assert!(sandbox.path("l/x").is_file());
    let error = cli.refused("NOT_FOUND", with(&publishing("agt_00000000", &[])));
    assert_eq!(error["next"][0]["run"], format!("foremerge {options} agent register --name NAME"));
    let id = text(&cli.data(with(&["agent", "register", "--name", "a"]))["id"]);
    let shown = cli.shown(with(&publishing(&id, &[])));
    assert!(shown.contains(&format!("  foremerge {options} work claim --intent int_")), "{shown}");
    // A directory of its own is not named twice; what is relative would start there.
    let made = cli.shown(with(&["worktree", "create", "--branch", "b", "--path", "../made"]));
    assert!(!made.contains("-C '../there") && made.contains("  foremerge --database "), "{made}");
    assert!(made.contains("/../l/x' -C ") && made.contains("made agent register"), "{made}");
    // What the environment says holds for what is pasted, too.
    let shown = cli.with("FOREMERGE_DB", "../m/y").shown(["init"]);
    assert!(shown.contains("  foremerge agent register --name NAME\n"), "{shown}");
}

#[test]
fn a_named_database_lives_where_it_was_named() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::at(&root);
    let made = cli.data(["init", "--database", "../new/deep/ledger.db"]);
    assert!(sandbox.path("new/deep/ledger.db").is_file());
    assert_eq!(made["shared_across_worktrees"], false, "other worktrees must be told of it");
    assert_eq!(cli.data(["init", "--database", "../new/deep/ledger.db"])["created"], false);
    let named = cli.with("FOREMERGE_DB", "../../../new/deep/ledger.db");
    let agent = named.data(["-C", "src/deep", "agent", "register", "--name", "a"]);
    assert_eq!(agent["worktree"], json!(root), "a relative name starts at --cwd");
    assert!(!root.join(".git/foremerge").exists());
    let message = cli.refusal("NOT_INITIALIZED", ["status", "--database", "../other/ledger.db"]);
    assert!(message.contains("other/ledger.db"), "{message}");
    assert!(!sandbox.path("other").exists());
}

#[test]
fn a_database_is_not_made_among_foreign_files_or_in_place_of_a_directory() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::at(&root);
    for bad in ["ledger.db", "src/ledger.db", "src", ".", "..", "/", "src/deep/a.rs/ledger.db"] {
        for words in [["init", "--database", bad], ["status", "--database", bad]] {
            // A ledger that is not there is not refused for its name.
            if words[0] == "status" && bad.contains("ledger") {
                continue;
            }
            let message = cli.refusal("INVALID_INPUT", words);
            assert!(message.starts_with("database: "), "{bad}: {message}");
        }
    }
    write(&root.join("src/deep/empty.db"), "");
    cli.refusal("CORRUPT_LEDGER", ["status", "--database", "src/deep/empty.db"]);
    cli.refusal("CORRUPT_LEDGER", ["init", "--database", "src/deep/empty.db"]);
    cli.refusal("CORRUPT_LEDGER", ["status", "--database", "src/deep/a.rs"]);
    git(&root, &["clean", "-qfd"]);
    assert_eq!(git(&root, &["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn nothing_but_the_program_itself_is_needed_to_run() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    // No git, no shell: whoever starts a child finds none.
    let cli = cli::at(&root).with("PATH", "");
    cli.data(["init"]);
    let agent = cli.data(["agent", "register", "--name", "a"]);
    assert_eq!(agent["git_branch"], "main");
    cli.shown(["demo"]);
}
