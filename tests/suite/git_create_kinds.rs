//! New worktrees in every kind of repository and with every kind of content, beside those that git makes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use foremerge::git::worktree::CreateError;
use foremerge::git::{Error, Repository};

use crate::cli::{self, string};
use crate::git_create::{create, create_from, is_good, journals};
use crate::sandbox::{Sandbox, git, git_command, try_git, write};
use crate::workplace::listing;

/// Ours and git's are the same in files, kinds of files, index and configuration, and git finds both clean.
#[track_caller]
fn twins(sandbox: &Sandbox, from: &Path) -> PathBuf {
    let made = create(from, "ours", &sandbox.path("ours")).unwrap();
    is_good(from, &made);
    let theirs = sandbox.path("theirs");
    git(from, &["worktree", "add", "-q", "-b", "theirs", string(&theirs)]);
    assert_eq!(tree(&made.path), tree(&theirs));
    let index = |at: &Path| git_command(at, &["ls-files", "--stage", "-v", "-z"]).output().unwrap().stdout;
    assert_eq!(index(&made.path), index(&theirs));
    let configured = |at: &Path| git(at, &["config", "--list", "--show-scope"]);
    assert_eq!(configured(&made.path), configured(&theirs));
    made.path
}

/// Every path below `at` with what it is and holds.
fn tree(at: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut pending = vec![at.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path == at.join(".git") {
                continue;
            }
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let content = if metadata.is_symlink() {
                std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else if metadata.is_dir() {
                pending.push(path.clone());
                Vec::new()
            } else {
                std::fs::read(&path).unwrap()
            };
            let mode = metadata.permissions().mode();
            found.push((path.strip_prefix(at).unwrap().to_owned(), mode, content));
        }
    }
    found.sort();
    found
}

fn commit(at: &Path) {
    git(at, &["add", "--all"]);
    git(at, &["commit", "-q", "-m", "content"]);
}

#[test]
fn modes_links_line_ends_and_odd_names_come_out_as_from_git() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    write(&at.join("run.sh"), "#!/bin/sh\n");
    std::fs::set_permissions(at.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    for (target, link) in [("run.sh", "link"), ("nowhere", "dangling"), ("src", "directory")] {
        std::os::unix::fs::symlink(target, at.join(link)).unwrap();
    }
    for name in [b"latin-\xe9".as_slice(), b"new\nline", b" lead", b"-dash", b"\xc3\xa9", b"e\xcc\x81"] {
        write(&at.join(OsStr::from_bytes(name)), "x");
    }
    write(
        &at.join(".gitattributes"),
        "*.crlf text eol=crlf\n*.lf text eol=lf\n*.bin -text\n*.up filter=up\n",
    );
    for name in ["a.crlf", "a.lf", "a.txt"] {
        write(&at.join(name), "one\ntwo\n");
    }
    write(&at.join("a.bin"), "one\r\ntwo\n");
    write(&at.join("a.up"), "upper\n");
    write(&at.join("empty"), "");
    commit(&at);
    git(&at, &["config", "filter.up.smudge", "tr a-z A-Z"]);
    git(&at, &["config", "filter.up.clean", "tr A-Z a-z"]);
    let ours = twins(&sandbox, &at);
    assert_eq!(std::fs::read(ours.join("a.crlf")).unwrap(), b"one\r\ntwo\r\n");
    assert_eq!(std::fs::read(ours.join("a.up")).unwrap(), b"UPPER\n");
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["config", "core.autocrlf", "true"]);
    assert!(std::fs::read(twins(&sandbox, &at).join("src/deep/a.rs")).unwrap().ends_with(b"\r\n"));
}

#[test]
fn sha256_bare_separate_shallow_and_detached_repositories_work() {
    let sandbox = Sandbox::new();
    twins(&sandbox, &sandbox.repository_with("r", &["--object-format=sha256"]));
    let sandbox = Sandbox::new();
    sandbox.repository("origin");
    git(&sandbox.root, &["clone", "-q", "--bare", "origin", "store.git"]);
    twins(&sandbox, &sandbox.path("store.git"));
    let inside = create(&sandbox.path("store.git"), "inside", &sandbox.path("store.git/inside")).unwrap();
    is_good(&sandbox.path("ours"), &inside);
    let sandbox = Sandbox::new();
    twins(&sandbox, &sandbox.repository_with("r", &["--separate-git-dir=apart"]));
    let sandbox = Sandbox::new();
    let origin = sandbox.repository("origin");
    git(&origin, &["commit", "-q", "--allow-empty", "-m", "second"]);
    let url = format!("file://{}", origin.display());
    git(&sandbox.root, &["clone", "-q", "--depth", "1", &url, "shallow"]);
    twins(&sandbox, &sandbox.path("shallow"));
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["checkout", "-q", "--detach"]);
    twins(&sandbox, &at);
}

#[test]
fn a_linked_worktree_begets_another() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let first = create(&at, "first", &sandbox.path("first")).unwrap();
    git(&first.path, &["commit", "-q", "--allow-empty", "-m", "second"]);
    twins(&sandbox, &first.path);
}

#[test]
fn submodules_are_left_for_git_to_fill_and_have_worktrees_themselves() {
    let sandbox = Sandbox::new();
    sandbox.repository("library");
    let at = sandbox.repository("r");
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../library", "vendor/library"];
    git(&at, &add);
    commit(&at);
    let ours = twins(&sandbox, &at);
    assert_eq!(std::fs::read_dir(ours.join("vendor/library")).unwrap().count(), 0);
    git(&ours, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"]);
    assert_eq!(git(&ours, &["status", "--porcelain"]), "");
    let made = create(&at.join("vendor/library"), "topic", &sandbox.path("beside")).unwrap();
    is_good(&at.join("vendor/library"), &made);
    assert_eq!(git(&made.path, &["rev-parse", "--show-toplevel"]), string(&made.path));
}

#[test]
fn sparse_patterns_and_private_configuration_are_inherited_as_by_git() {
    for cone in ["--cone", "--no-cone"] {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        for name in ["kept/a", "kept/deep/b", "left/c", "top"] {
            std::fs::create_dir_all(at.join(name).parent().unwrap()).unwrap();
            write(&at.join(name), name);
        }
        commit(&at);
        git(&at, &["sparse-checkout", "set", cone, "kept"]);
        git(&at, &["config", "--worktree", "some.setting", "mine"]);
        let ours = twins(&sandbox, &at);
        assert!(ours.join("kept/deep/b").exists() && !ours.join("left").exists());
        assert_eq!(git(&ours, &["config", "--worktree", "some.setting"]), "mine");
    }
    let sandbox = Sandbox::new();
    sandbox.repository("origin");
    git(&sandbox.root, &["clone", "-q", "--bare", "origin", "store.git"]);
    let bare = sandbox.path("store.git");
    git(&bare, &["config", "extensions.worktreeConfig", "true"]);
    git(&bare, &["config", "--unset", "core.bare"]);
    git(&bare, &["config", "--worktree", "core.bare", "true"]);
    twins(&sandbox, &bare);
}

#[test]
fn a_source_with_a_sparse_index_gets_a_worktree_with_a_full_one() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    std::fs::create_dir_all(at.join("left/deep")).unwrap();
    write(&at.join("left/deep/c"), "c");
    commit(&at);
    git(&at, &["sparse-checkout", "set", "--sparse-index", "src"]);
    let made = create(&at, "ours", &sandbox.path("ours")).unwrap();
    assert!(!made.path.join("left").exists() && made.path.join("src").exists());
    // Before git looks: it writes a sparse one when it gets to it.
    Repository::discover(&made.path).unwrap().require_full_index().unwrap();
    is_good(&at, &made);
}

#[test]
fn relative_links_are_not_made_even_if_they_are_configured() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    git(&at, &["config", "worktree.useRelativePaths", "true"]);
    let made = create(&at, "topic", &sandbox.path("tree")).unwrap();
    is_good(&at, &made);
    assert!(!std::fs::read_to_string(at.join(".git/config")).unwrap().contains("extensions"));
}

#[test]
fn missing_objects_are_said_and_never_fetched() {
    let sandbox = Sandbox::new();
    let origin = sandbox.repository("origin");
    git(&origin, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", origin.display());
    for filter in ["blob:none", "tree:0", "tree:1"] {
        let name = filter.replace(':', "-");
        let option = format!("--filter={filter}");
        git(&sandbox.root, &["clone", "-q", "--no-checkout", &option, &url, &name]);
        let at = sandbox.path(&name);
        let before = listing(&at);
        let error = create(&at, "topic", &sandbox.path("tree")).unwrap_err();
        assert!(matches!(error, CreateError::Git(Error::Missing { .. })), "{filter}: {error}");
        // Not even the turn was taken.
        assert!(listing(&at) == before, "{filter}: something was written or fetched");
        assert!(!sandbox.path("tree").exists());
        git(&at, &["checkout", "-q", "main"]);
        is_good(&at, &create(&at, "topic", &sandbox.path(&format!("{name}-tree"))).unwrap());
    }
}

#[test]
fn what_a_sparse_checkout_leaves_out_need_not_be_here() {
    let sandbox = Sandbox::new();
    let origin = sandbox.repository("origin");
    std::fs::create_dir(origin.join("left")).unwrap();
    write(&origin.join("left/b"), "left out");
    commit(&origin);
    git(&origin, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", origin.display());
    git(&sandbox.root, &["clone", "-q", "--sparse", "--filter=blob:none", &url, "partial"]);
    let at = sandbox.path("partial");
    git(&at, &["sparse-checkout", "set", "src"]);
    let made = create(&at, "topic", &sandbox.path("tree")).unwrap();
    assert!(made.path.join("src/deep/a.rs").exists() && !made.path.join("left").exists());
    is_good(&at, &made);

    // Nor is it taken for the reason of another failure.
    write(&at.join(".git/info/attributes"), "src/deep/a.rs filter=odd\n");
    for (key, value) in [("smudge", "exit 3"), ("required", "true")] {
        git(&at, &["config", &format!("filter.odd.{key}"), value]);
    }
    let refused = create(&at, "other", &sandbox.path("other")).unwrap_err();
    assert!(refused.to_string().contains("the filter odd"), "{refused}");
}

#[test]
fn no_git_is_started_and_nothing_that_configuration_names() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let shims = sandbox.mkdir("shims");
    let marker = sandbox.path("started");
    let trap = format!("#!/bin/sh\necho \"$0 $@\" >> {}\nexit 1\n", marker.display());
    for name in ["git", "sh", "less", "ssh", "trap"] {
        write(&shims.join(name), &trap);
        std::fs::set_permissions(shims.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let trap = shims.join("trap");
    let trap = string(&trap);
    write(&at.join(".gitattributes"), "*.rs diff=hostile merge=hostile\n");
    commit(&at);
    for (key, value) in [
        ("core.fsmonitor", trap),
        ("core.pager", trap),
        ("core.editor", trap),
        ("core.sshCommand", trap),
        ("core.askPass", trap),
        ("core.alternateRefsCommand", trap),
        ("alias.worktree", "!trap"),
        ("alias.status", "!trap"),
        ("diff.external", trap),
        ("diff.hostile.command", trap),
        ("diff.hostile.textconv", trap),
        ("merge.hostile.driver", trap),
        ("credential.helper", trap),
        ("gpg.program", trap),
        ("core.gitProxy", trap),
        ("uploadpack.packObjectsHook", trap),
    ] {
        git(&at, &["config", key, value]);
    }
    let cli = cli::at(&at).with("PATH", &shims).with("GIT_EXTERNAL_DIFF", trap).with("GIT_PAGER", trap);
    cli.data(["worktree", "create", "--branch", "topic", "--path", "../tree"]);
    write(&sandbox.path("tree/src/deep/a.rs"), "changed\n");
    assert_eq!(cli.data(["worktree", "list"])[1]["dirty"], 1);
    assert!(!marker.exists(), "started: {}", std::fs::read_to_string(&marker).unwrap());
}

#[test]
fn variables_of_the_environment_decide_nothing() {
    let sandbox = Sandbox::new();
    let (at, other) = (sandbox.repository("r"), sandbox.repository("other"));
    let before = listing(&other);
    let cli = cli::at(&at)
        .with("GIT_DIR", other.join(".git"))
        .with("GIT_WORK_TREE", &other)
        .with("GIT_INDEX_FILE", other.join(".git/index"))
        .with("GIT_OBJECT_DIRECTORY", other.join(".git/objects"))
        .with("GIT_COMMON_DIR", other.join(".git"))
        .with("GIT_NAMESPACE", "ns")
        .with("GIT_CONFIG_COUNT", "1")
        .with("GIT_CONFIG_KEY_0", "core.hooksPath")
        .with("GIT_CONFIG_VALUE_0", &other);
    cli.data(["worktree", "create", "--branch", "topic", "--path", "../tree"]);
    assert_eq!(cli.data(["worktree", "list"]).as_array().unwrap().len(), 2);
    assert_eq!(git(&sandbox.path("tree"), &["status", "--porcelain=v1", "--branch"]), "## topic");
    assert!(listing(&other) == before);
}

#[test]
fn a_replaced_commit_is_not_what_a_worktree_starts_from() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    write(&at.join("later"), "later");
    commit(&at);
    git(&at, &["replace", "HEAD", "HEAD~1"]);
    let made = create_from(&at, "topic", &sandbox.path("tree"), "HEAD").unwrap();
    assert!(made.path.join("later").exists());
    assert!(try_git(&made.path, &["--no-replace-objects", "diff", "--quiet", "HEAD"]).status.success());
}

#[test]
fn files_in_an_encoding_of_their_own_are_written_as_by_git() {
    for encoding in
        ["UTF-16", "utf16le-bom", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE", "UTF-32BE", "latin1"]
    {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        for (name, text) in
            [("a.t", "h\u{e9}\n\nx\n"), ("crlf.t", "one\ntwo\n"), ("empty.t", ""), ("plain", "x\n")]
        {
            write(&at.join(name), text);
        }
        git(&at, &["add", "."]);
        git(&at, &["commit", "-q", "-m", "text"]);
        write(
            &at.join(".gitattributes"),
            &format!("*.t text working-tree-encoding={encoding}\ncrlf.t eol=crlf\n"),
        );
        git(&at, &["add", ".gitattributes"]);
        git(&at, &["commit", "-q", "-m", "encoded"]);
        let made = twins(&sandbox, &at);
        assert_ne!(std::fs::read(made.join("a.t")).unwrap(), "h\u{e9}\n\nx\n".as_bytes(), "{encoding}");
    }
}

#[test]
fn what_an_encoding_cannot_hold_is_left_in_utf8_as_by_git() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let encodings =
        ["latin1", "latin9", "ISO-8859-15", "latin5", "ascii", "cp1252", "windows-1251", "KOI8-R", "UTF-8"];
    let texts = [
        "plain\n",
        "\u{e9}\n",
        "\u{20ac}\n",
        "\u{80}\u{9f}\n",
        "\u{81}\n",
        "\u{4e00}\n",
        "\u{434}\n",
        "\u{15f}\n",
    ];
    let mut attributes = String::new();
    for encoding in encodings {
        for (number, text) in texts.into_iter().enumerate() {
            write(&at.join(format!("{number}.{encoding}")), text);
        }
        attributes.extend(["*.", encoding, " text working-tree-encoding=", encoding, "\n"]);
    }
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "text"]);
    write(&at.join(".gitattributes"), &attributes);
    git(&at, &["add", ".gitattributes"]);
    git(&at, &["commit", "-q", "-m", "encoded"]);
    let made = twins(&sandbox, &at);
    assert_eq!(std::fs::read(made.join("1.latin1")).unwrap(), b"\xe9\n");
    assert_eq!(std::fs::read(made.join("2.latin1")).unwrap(), "\u{20ac}\n".as_bytes());
}

#[test]
fn encodings_that_only_the_users_own_attributes_ask_for_are_written_as_by_git_or_refused() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    write(&at.join("a.t"), "h\u{e9}\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "text"]);
    let own = sandbox.path("attributes");
    git(&at, &["config", "core.attributesFile", own.to_str().unwrap()]);
    write(&own, "*.t working-tree-encoding=UTF-7\n");
    let refused = create(&at, "topic", &sandbox.path("tree")).unwrap_err();
    assert!(matches!(refused, CreateError::Git(Error::Unsupported { .. })), "{refused:?}");
    write(&own, "*.t working-tree-encoding=UTF-16LE-BOM\n");
    let made = twins(&sandbox, &at);
    assert_eq!(std::fs::read(made.join("a.t")).unwrap(), b"\xff\xfeh\0\xe9\0\n\0");
}

#[test]
fn files_in_an_encoding_of_their_own_pass_their_filter_after_that_as_by_git() {
    for required in ["true", "false"] {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        write(&at.join("a.t"), "h\u{e9}\n");
        git(&at, &["add", "."]);
        git(&at, &["commit", "-q", "-m", "text"]);
        write(&at.join(".gitattributes"), "*.t working-tree-encoding=UTF-16 filter=odd\n");
        git(&at, &["add", ".gitattributes"]);
        git(&at, &["commit", "-q", "-m", "encoded"]);
        git(&at, &["config", "filter.odd.smudge", "od -An -tx1"]);
        git(&at, &["config", "filter.odd.required", required]);
        let made = twins(&sandbox, &at);
        assert_eq!(std::fs::read(made.join("a.t")).unwrap(), b" ff fe 68 00 e9 00 0a 00\n");
    }
}

#[test]
fn files_in_an_encoding_that_cannot_be_written_are_refused_before_anything_is_made() {
    for encoding in ["UTF-7", "SHIFT_JISX0213", "big5-hkscs"] {
        let sandbox = Sandbox::new();
        let at = sandbox.repository("r");
        write(&at.join(".gitattributes"), &format!("*.t text working-tree-encoding={encoding}\n"));
        std::fs::write(at.join("a.t"), b"\xff\xfeh\0i\0").unwrap();
        let blob = git(&at, &["hash-object", "-w", "--no-filters", "a.t"]);
        git(&at, &["update-index", "--add", "--cacheinfo", &format!("100644,{},a.t", blob.trim())]);
        git(&at, &["add", ".gitattributes"]);
        git(&at, &["commit", "-q", "-m", "encoded"]);
        let refused = create(&at, "topic", &sandbox.path("tree")).unwrap_err();
        assert!(matches!(refused, CreateError::Git(Error::Unsupported { .. })), "{refused:?}");
        assert!(refused.to_string().contains(encoding), "{refused}");
        assert!(!sandbox.path("tree").exists());
        assert_eq!(git(&at, &["branch", "--format=%(refname:short)"]), "main");
    }
}

#[test]
fn a_worktree_whose_name_is_as_long_as_names_can_be_gets_an_entry_of_its_own() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    let names = [vec![b'x'; 255], vec![b'\xff'; 100], "ü".repeat(127).into_bytes()];
    for (kind, name) in names.iter().enumerate() {
        for number in 0..12 {
            let branch = format!("b{kind}-{number}");
            let path = sandbox.path(&branch).join(OsStr::from_bytes(name));
            let made = create(&at, &branch, &path).unwrap();
            assert_eq!(git(&path, &["branch", "--show-current"]), branch);
            assert_eq!(made.path, path);
        }
    }
    git(&at, &["worktree", "prune"]);
    assert_eq!(std::fs::read_dir(at.join(".git/worktrees")).unwrap().count(), 36);
}

#[test]
fn where_there_can_be_no_list_of_worktrees_nothing_is_made() {
    let sandbox = Sandbox::new();
    let at = sandbox.repository("r");
    write(&at.join(".git/worktrees"), "a file");
    let error = create(&at, "topic", &sandbox.path("tree")).unwrap_err();
    let CreateError::Git(Error::Unwritable { path, .. }) = &error else { panic!("{error}") };
    assert_eq!(*path, at.join(".git/worktrees/tree"));
    assert_eq!(git(&at, &["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(journals(&at), [""; 0]);
    assert!(!sandbox.path("tree").exists());
}
