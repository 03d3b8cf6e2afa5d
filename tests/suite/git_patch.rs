//! Patches and their digests, byte for byte those of stock git, whatever the user configured.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use foremerge::domain::Digest;
use foremerge::git::{Error, Repository, patch};

use crate::git_rounds::{Chance, edit};
use crate::sandbox::{Sandbox, append, git, git_command, try_git, write};

/// What stock git prints for the documented command.
pub fn stock(root: &Path, base: &str, candidate: &str) -> Vec<u8> {
    let empty = Repository::discover(root).unwrap().empty_tree();
    let mut command = git_command(root, &patch::command(&empty, base, candidate));
    let output = command.env("GIT_ATTR_NOSYSTEM", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn ours(root: &Path, base: &str, candidate: &str) -> Vec<u8> {
    let mut patch = Vec::new();
    Repository::discover(root).unwrap().write_patch(base, candidate, &mut patch).unwrap();
    patch
}

/// Compare the patch of every commit from its base, and of some far-apart pairs; answers how many commits there were.
fn agree_over_all_of(root: &Path) -> usize {
    let repository = Repository::discover(root).unwrap();
    let listed = git(root, &["rev-list", "--first-parent", "HEAD"]);
    let commits: Vec<_> = listed.lines().collect();
    let mut pairs = Vec::new();
    for commit in &commits {
        let base = repository.base_of(Some(commit), None).unwrap();
        pairs.extend(base.compared_with.map(|base| (base, (*commit).to_owned())));
    }
    let last = commits.len() - 1;
    for at in [last / 4, last / 2, last] {
        pairs.push((commits[at].to_owned(), commits[0].to_owned()));
    }
    for (base, candidate) in &pairs {
        let (expected, patch) = (stock(root, base, candidate), ours(root, base, candidate));
        let differs = expected.iter().zip(&patch).position(|(one, other)| one != other);
        let near = |text: &[u8]| text[differs.unwrap_or(0).saturating_sub(300)..].escape_ascii().to_string();
        assert!(expected == patch, "{base} {candidate}\n{:.900}\n{:.900}", near(&expected), near(&patch));
        assert_eq!(repository.patch_digest(base, candidate).unwrap(), Digest::of(&expected));
    }
    commits.len()
}

fn commit(root: &Path) {
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "--allow-empty", "-m", "more"]);
}

#[test]
fn every_patch_of_a_history_with_all_that_can_change_is_that_of_git() {
    let sandbox = Sandbox::new();
    assert_eq!(agree_over_all_of(&varied(&sandbox, "sha1", &[])), 13);
    assert_eq!(agree_over_all_of(&varied(&sandbox, "sha256", &["--object-format=sha256"])), 13);
}

fn varied(sandbox: &Sandbox, name: &str, init: &[&str]) -> PathBuf {
    let root = sandbox.repository_with(name, init);
    let part = |line| format!("fn line_{line}() {{\n    body {}\n}}\n\n", line % 7);
    let long = (0..400).map(part).collect::<Vec<_>>().concat();
    write(&root.join("long.rs"), &long);
    std::fs::write(root.join("binary"), b"\0\x01binary").unwrap();
    write(&root.join("late-zero"), &format!("{}\0", "x".repeat(8_000)));
    commit(&root);
    git(&root, &["mv", "long.rs", "moved with space.rs"]);
    append(&root.join("moved with space.rs"), "// end without newline");
    std::fs::write(root.join("binary"), b"\0\x02binary").unwrap();
    write(&root.join("late-zero"), &format!("{}\0\nmore\n", "x".repeat(8_000)));
    commit(&root);
    let edited = long.replace("line_7()", "line_7(x)").replace("body 3", "\tbody three\r");
    write(&root.join("moved with space.rs"), &edited.replace("fn line_80", "fn line_\u{e4}80"));
    commit(&root);
    std::fs::set_permissions(root.join("binary"), std::fs::Permissions::from_mode(0o755)).unwrap();
    commit(&root);
    std::fs::remove_file(root.join("late-zero")).unwrap();
    symlink("src/deep/a.rs", root.join("late-zero")).unwrap();
    commit(&root);
    std::fs::remove_file(root.join("late-zero")).unwrap();
    std::fs::create_dir(root.join("late-zero")).unwrap();
    write(&root.join("late-zero/inside"), "");
    write(&root.join("late-zero-more"), "sorted before the directory\n");
    commit(&root);
    write(&root.join("tab\t\"quoted\" \u{e4}"), "x\n");
    std::fs::write(root.join("latin1"), b"caf\xe9(\n 1\n 2\n 3\n 4\n 5\n").unwrap();
    write(&root.join("no-end"), "one");
    commit(&root);
    std::fs::write(root.join("latin1"), b"caf\xe9(\n 1\n 2\n 3\n 4\n 6\n").unwrap();
    write(&root.join("no-end"), "one\n");
    write(&root.join("tab\t\"quoted\" \u{e4}"), "y\n");
    commit(&root);
    write(&root.join("no-end"), "two\r\nthree");
    git(
        &root,
        &[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("160000,{},sub", git(&root, &["rev-parse", "HEAD"])),
        ],
    );
    git(&root, &["add", "no-end"]);
    git(&root, &["commit", "-q", "-m", "submodule"]);
    let head = git(&root, &["rev-parse", "HEAD"]);
    git(&root, &["update-index", "--cacheinfo", &format!("160000,{head},sub")]);
    git(&root, &["commit", "-q", "-m", "submodule moved"]);
    git(&root, &["rm", "-q", "--cached", "sub"]);
    write(&root.join("sub"), "a file now\n");
    commit(&root);
    git(&root, &["rm", "-q", "-r", "."]);
    git(&root, &["commit", "-q", "-m", "nothing left"]);
    root
}

#[test]
fn every_patch_of_a_random_history_is_that_of_git() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("random");
    let mut chance = Chance(7);
    for _ in 0..40 {
        for _ in 0..4 {
            edit(&root, &mut chance);
        }
        drop(try_git(&root, &["add", "-A"]));
        drop(try_git(&root, &["commit", "-q", "-m", "more"]));
        lines(&root, &mut chance);
        drop(try_git(&root, &["commit", "-q", "-m", "lines", "lines"]));
    }
    assert!(agree_over_all_of(&root) > 40);
}

/// Change some of many lines that often repeat, where one patch is as short as another.
fn lines(root: &Path, chance: &mut Chance) {
    let place = root.join("lines");
    let mut text: Vec<String> =
        std::fs::read_to_string(&place).unwrap_or_default().lines().map(str::to_owned).collect();
    for _ in 0..=chance.below(12) {
        let at = chance.below(text.len() + 1);
        let line = ["{", "}", "", "\tif x {", "    return;", "fn a() {", "Bb"][chance.below(7)];
        match chance.below(3) {
            0 if at < text.len() => drop(text.remove(at)),
            1 if at < text.len() => line.clone_into(&mut text[at]),
            _ => (0..=chance.below(20)).for_each(|_| text.insert(at, line.to_owned())),
        }
    }
    write(&place, &text.join("\n"));
    git(root, &["add", "-f", "lines"]);
}

#[test]
fn every_patch_of_this_project_is_that_of_git() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // A package unpacked from an archive has no history.
    if root.join(".git").exists() {
        agree_over_all_of(root);
    }
}

#[test]
fn no_configuration_of_the_user_changes_the_digest_or_the_answer_of_the_documented_command() {
    let sandbox = Sandbox::new();
    let root = varied(&sandbox, "r", &[]);
    write(&root.join(".gitattributes"), "* -diff\n*.rs diff=rust\n");
    commit(&root);
    let (base, candidate) = (git(&root, &["rev-parse", "HEAD~5"]), git(&root, &["rev-parse", "HEAD"]));
    let before = Repository::discover(&root).unwrap().patch_digest(&base, &candidate).unwrap();
    for (name, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.context", "7"),
        ("diff.algorithm", "patience"),
        ("diff.renames", "copies"),
        ("diff.external", "false"),
        ("diff.submodule", "log"),
        ("diff.orderFile", "/dev/null"),
        ("diff.rust.textconv", "rev"),
        ("diff.suppressBlankEmpty", "true"),
        ("color.ui", "always"),
        ("core.abbrev", "4"),
        ("core.quotePath", "false"),
        ("core.bigFileThreshold", "1"),
        ("core.attributesFile", ".gitattributes"),
    ] {
        git(&root, &["config", name, value]);
        let repository = Repository::discover(&root).unwrap();
        assert_eq!(repository.patch_digest(&base, &candidate).unwrap(), before, "{name}");
        assert_eq!(Digest::of(&stock(&root, &base, &candidate)), before, "{name}");
    }
    git(&root, &["replace", &candidate, &base]);
    assert_eq!(Repository::discover(&root).unwrap().patch_digest(&base, &candidate).unwrap(), before);
    assert_eq!(Digest::of(&stock(&root, &base, &candidate)), before);
}

#[test]
fn changed_paths_are_those_of_git_without_renames() {
    let sandbox = Sandbox::new();
    let root = varied(&sandbox, "r", &[]);
    let repository = Repository::discover(&root).unwrap();
    let (base, candidate) = (git(&root, &["rev-parse", "HEAD~11"]), git(&root, &["rev-parse", "HEAD~4"]));
    let listed = try_git(&root, &["diff", "--name-only", "-z", "--no-renames", &base, &candidate]).stdout;
    let expected: Vec<_> = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).collect();
    assert_eq!(repository.touched(&base, &candidate).unwrap().paths, expected);
}

#[test]
fn the_declarations_around_changed_lines_are_named_as_scopes() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let before = "struct Kept {\n    field: u8,\n}\n\nimpl Kept {\n    fn get(&self) -> u8 {\n        1\n    }\n\n    fn same() {}\n}\n\nfn free() {\n    1;\n}\n";
    write(&root.join("src/lib.rs"), before);
    write(&root.join("gone.py"), "class Gone:\n    def method(self):\n        pass\n");
    commit(&root);
    write(
        &root.join("src/lib.rs"),
        &before.replace("        1\n", "        2\n").replace("    1;", "    2;"),
    );
    std::fs::remove_file(root.join("gone.py")).unwrap();
    write(&root.join("new.ts"), "export class Added {\n  run() {\n    return 1\n  }\n}\n");
    write(&root.join("notes.txt"), "fn not_source() {}\n");
    std::fs::write(root.join("latin.rs"), b"fn caf\xe9() {}\n").unwrap();
    commit(&root);
    let repository = Repository::discover(&root).unwrap();
    let (base, candidate) = (git(&root, &["rev-parse", "HEAD~1"]), git(&root, &["rev-parse", "HEAD"]));
    let touched = repository.touched(&base, &candidate).unwrap();
    let symbols = ["Added", "Added::run", "Gone", "Gone::method", "Kept::get", "src/lib.rs::free"];
    assert_eq!(touched.symbols, symbols);
    let paths: [&[u8]; 5] = [b"gone.py", b"latin.rs", b"new.ts", b"notes.txt", b"src/lib.rs"];
    assert_eq!(touched.paths, paths);
    assert_eq!(touched.unread, [b""; 0]);
}

#[test]
fn content_that_is_not_here_or_damaged_hides_symbols_but_no_path() {
    let sandbox = Sandbox::new();
    for damaged in [false, true] {
        let root = sandbox.repository(if damaged { "damaged" } else { "absent" });
        for name in ["a.rs", "b.rs", "c.txt"] {
            write(&root.join(name), &format!("fn in_{name}() {{}}\n").replace('.', "_"));
        }
        commit(&root);
        let [base, candidate] = ["HEAD~1", "HEAD"].map(|name| git(&root, &["rev-parse", name]));
        for name in ["b.rs", "c.txt"] {
            let id = git(&root, &["rev-parse", &format!("HEAD:{name}")]);
            let object = root.join(".git/objects").join(&id[..2]).join(&id[2..]);
            std::fs::remove_file(&object).unwrap();
            if damaged {
                write(&object, "damaged");
            }
        }
        let repository = Repository::discover(&root).unwrap();
        let touched = repository.touched(&base, &candidate).unwrap();
        let paths: [&[u8]; 3] = [b"a.rs", b"b.rs", b"c.txt"];
        assert_eq!(touched.paths, paths);
        assert_eq!(touched.symbols, ["a.rs::in_a_rs"]);
        assert_eq!(touched.unread, [b"b.rs"], "of the other no symbol was wanted");
        assert!(repository.patch_digest(&base, &candidate).is_err());
        let tree = git(&root, &["rev-parse", "HEAD^{tree}"]);
        std::fs::remove_file(root.join(".git/objects").join(&tree[..2]).join(&tree[2..])).unwrap();
        let missing = Repository::discover(&root).unwrap().touched(&base, &candidate).unwrap_err();
        assert!(matches!(&missing, Error::Missing { object, .. } if object.contains(&tree)), "{missing}");
    }
}
