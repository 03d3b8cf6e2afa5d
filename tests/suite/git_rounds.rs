//! Snapshots over random edits of repositories of several kinds, beside stock git: the same status, and a fingerprint
//! that tells apart what git tells apart, and nothing else.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use foremerge::domain::Digest;
use foremerge::git::{Exclusions, Repository, Snapshot};

use crate::porcelain::porcelain;
use crate::sandbox::{Sandbox, git, try_git};

#[test]
fn status_and_fingerprint_follow_git_through_random_edits() {
    for kind in KINDS {
        rounds(kind, 1, 6);
    }
}

#[test]
#[ignore = "500 rounds take minutes: .ci/deep"]
fn status_and_fingerprint_follow_git_through_five_hundred_rounds() {
    for seed in 0..9 {
        for kind in KINDS {
            rounds(kind, 100 + seed, 8);
        }
    }
}

type Kind = (&'static str, fn(&Sandbox) -> PathBuf);

const KINDS: &[Kind] = &[
    ("plain", |sandbox| sandbox.repository("plain")),
    ("SHA-256", |sandbox| sandbox.repository_with("sha256", &["--object-format=sha256"])),
    ("linked worktree", linked),
    ("submodules", with_submodules),
    ("attributes", with_attributes),
    ("sparse checkout", sparse),
    ("unborn", unborn),
    ("directories ignored", directories_ignored),
];

fn linked(sandbox: &Sandbox) -> PathBuf {
    let main = sandbox.repository("main");
    git(&main, &["worktree", "add", "-q", "-b", "side", "../side"]);
    sandbox.path("side")
}

fn with_submodules(sandbox: &Sandbox) -> PathBuf {
    let part = sandbox.repository("part");
    let whole = sandbox.repository("whole");
    for name in ["sub", "deep/sub"] {
        let url = part.to_str().unwrap();
        git(&whole, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, name]);
    }
    // Nothing of this may hide a change.
    git(&whole, &["config", "submodule.sub.ignore", "all"]);
    git(&whole, &["config", "diff.ignoreSubmodules", "all"]);
    git(&whole, &["commit", "-q", "-m", "parts"]);
    whole
}

fn with_attributes(sandbox: &Sandbox) -> PathBuf {
    let root = sandbox.repository("attributes");
    let rules = "*.rs text=auto\n*.txt text eol=crlf\nb* filter=upper\nname-0* ident\n";
    std::fs::write(root.join(".gitattributes"), rules).unwrap();
    git(&root, &["config", "filter.upper.clean", "tr a-z A-Z"]);
    git(&root, &["config", "core.safecrlf", "true"]);
    git(&root, &["config", "status.showUntrackedFiles", "no"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "rules"]);
    root
}

fn sparse(sandbox: &Sandbox) -> PathBuf {
    let root = sandbox.repository("sparse");
    for name in ["out/a", "out/b", "in/c"] {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), name).unwrap();
    }
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "more"]);
    git(&root, &["sparse-checkout", "set", "--no-sparse-index", "in", "src"]);
    root
}

fn unborn(sandbox: &Sandbox) -> PathBuf {
    let root = sandbox.mkdir("unborn");
    git(&root, &["init", "-q", "-b", "main"]);
    root
}

/// By a rule that matches the top, too, if it is asked about it.
fn directories_ignored(sandbox: &Sandbox) -> PathBuf {
    let root = sandbox.repository("ignoring");
    std::fs::write(root.join(".git/info/exclude"), "*/\n").unwrap();
    root
}

/// `SplitMix64`.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((word ^ (word >> 31)) % bound as u64).unwrap()
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

const NAMES: &[&[u8]] = &[
    b"a.rs",
    b"b.rs",
    b"c.txt",
    b"d",
    b"-dash",
    b"new\nline",
    b"quo\"te",
    b"tab\there",
    b"\xff\xfe",
    b"name-0",
    "\u{e4}".as_bytes(),
    b"src/deep/a.rs",
    b"src/b",
    b"d/inside",
    b"out/a",
    b"in/c",
    b"sub/inner",
    b"deep/sub/inner",
    b"nest/file",
    b" ",
    b"x~",
    b"ignored.log",
];

const TEXTS: &[&[u8]] =
    &[b"", b"a\n", b"b\n", b"a\r\nb\r\n", b"$Id: x$\n", b"no end", b"\0binary\xff", b"mixed\r\nends\n"];

fn rounds(kind: &Kind, seed: u64, count: usize) {
    let sandbox = Sandbox::new();
    let root = (kind.1)(&sandbox);
    let mut chance = Chance(seed);
    let mut trail = Vec::new();
    let (mut exactly, mut at_least) = (HashMap::new(), HashMap::<Digest, String>::new());
    for _ in 0..count {
        for _ in 0..=chance.below(5) {
            trail.push(edit(&root, &mut chance));
        }
        let words = porcelain(&root);
        let before = std::fs::read(index_of(&root)).ok();
        let snapshot = look(&root);
        let listed = Repository::discover(&root).unwrap().worktrees().unwrap();
        let own = listed.iter().find(|worktree| worktree.path == root).unwrap();
        assert_eq!(own.dirty, Some(snapshot.changed_paths().len() as u64), "{own:?}");
        assert_eq!(std::fs::read(index_of(&root)).ok(), before, "the index was written");
        let place = || format!("{} with seed {seed} after {trail:#?}", kind.0);
        let ours: Vec<_> =
            snapshot.changes.iter().map(|change| (change.path.clone(), change.status)).collect();
        assert_eq!(show(&ours), show(&words.status), "{}", place());
        let head = words.head.trim();
        assert_eq!(snapshot.head.commit.as_deref().unwrap_or(""), head, "{}", place());
        let known = *exactly.entry(words.exactly()).or_insert(snapshot.fingerprint);
        assert_eq!(known, snapshot.fingerprint, "equal states of {}", place());
        let known = at_least.entry(snapshot.fingerprint).or_insert_with(|| words.at_least());
        assert_eq!(*known, words.at_least(), "different states of {}", place());
    }
}

fn show(status: &[(Vec<u8>, [u8; 2])]) -> Vec<String> {
    status
        .iter()
        .map(|(path, letters)| format!("{} {}", letters.escape_ascii(), path.escape_ascii()))
        .collect()
}

fn look(root: &Path) -> Snapshot {
    Repository::discover(root).unwrap().snapshot(b"the repository", &Exclusions::default()).unwrap()
}

fn index_of(root: &Path) -> PathBuf {
    git(root, &["rev-parse", "--path-format=absolute", "--git-path", "index"]).into()
}

/// One random edit, told as text. What git refuses is no edit.
pub fn edit(root: &Path, chance: &mut Chance) -> String {
    let name = OsStr::from_bytes(chance.of(NAMES));
    let place = root.join(name);
    let what = chance.below(26);
    let run = |arguments: &[&OsStr]| drop(try_git(root, arguments));
    let on_name = |words: &[&str]| {
        let mut arguments: Vec<_> = words.iter().map(OsStr::new).collect();
        arguments.extend([OsStr::new("--"), name]);
        run(&arguments);
    };
    match what {
        0..=5 => write(&place, chance.of(TEXTS)),
        6 => remove(&place),
        7 => flip(&place),
        8 => replace(&place, |place| drop(symlink(OsStr::from_bytes(b"a.rs"), place))),
        9 => replace(&place, |place| write(&place.join("inside"), b"x")),
        10..=12 => on_name(&["add", "-f"]),
        13 => on_name(&["add", "-N"]),
        14 => on_name(&["rm", "-q", "-r", "--cached"]),
        15 => on_name(&["update-index", "--assume-unchanged"]),
        16 => on_name(&["update-index", "--skip-worktree"]),
        17 => run(&["commit", "-q", "-a", "-m", "edit"].map(OsStr::new)),
        18 => run(&["commit", "-q", "-m", "edit"].map(OsStr::new)),
        19 => conflict(root, name, chance),
        20 => replace(&place, |place| nested(place, true)),
        21 => nested(&root.join("nest"), false),
        22 => same_size(&place),
        23 => ignore(root, chance),
        24 => run(&["reset", "-q", "--hard"].map(OsStr::new)),
        _ => in_submodule(root, chance),
    }
    format!("{what} {}", name.as_bytes().escape_ascii())
}

fn write(place: &Path, text: &[u8]) {
    let _ = std::fs::create_dir_all(place.parent().unwrap());
    let _ = std::fs::write(place, text);
}

/// Rules that name files, and rules that match whatever stands at the top.
fn ignore(root: &Path, chance: &mut Chance) {
    const RULES: &[&[u8]] =
        &[b"*.log\nx~\n", b"*.log\nx~\n", b"", b"*/\n", b"/*\n", b"*\n!*.rs\n!*/\n", b"/\n", b"!d\n!src/\n"];
    write(&root.join(".gitignore"), chance.of(RULES));
    let exclude = git(root, &["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"]);
    write(Path::new(&exclude), chance.of(RULES));
}

fn remove(place: &Path) {
    let _ = std::fs::remove_file(place);
}

fn flip(place: &Path) {
    let Ok(found) = std::fs::symlink_metadata(place) else { return };
    if found.is_file() {
        let mode = found.permissions().mode() ^ 0o111;
        std::fs::set_permissions(place, std::fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn replace(place: &Path, by: impl FnOnce(&Path)) {
    if place.join(".git").exists() {
        return;
    }
    if std::fs::symlink_metadata(place).is_ok_and(|found| found.is_dir()) {
        std::fs::remove_dir_all(place).unwrap();
    }
    remove(place);
    let _ = std::fs::create_dir_all(place.parent().unwrap());
    if place.parent().unwrap().is_dir() {
        by(place);
    }
}

/// Another text of the same size at the same time.
fn same_size(place: &Path) {
    let Ok(found) = std::fs::symlink_metadata(place) else { return };
    if found.is_file() {
        let mut text = std::fs::read(place).unwrap();
        for byte in &mut text {
            *byte ^= 1;
        }
        std::fs::write(place, text).unwrap();
        let file = std::fs::File::options().append(true).open(place).unwrap();
        file.set_modified(found.modified().unwrap()).unwrap();
    }
}

fn nested(place: &Path, with_commit: bool) {
    if place.exists() {
        return;
    }
    std::fs::create_dir_all(place).unwrap();
    let format = git(place.parent().unwrap(), &["rev-parse", "--show-object-format"]);
    git(place, &["init", "-q", "-b", "main", &format!("--object-format={format}")]);
    std::fs::write(place.join("file"), "nested\n").unwrap();
    if with_commit {
        git(place, &["add", "."]);
        git(place, &["commit", "-q", "-m", "nested"]);
    }
}

/// Merge a branch that changed the same file, or deleted it.
fn conflict(root: &Path, name: &OsStr, chance: &mut Chance) {
    let refuses = |arguments: &[&str]| !try_git(root, arguments).status.success();
    if refuses(&["rev-parse", "-q", "--verify", "HEAD"]) || refuses(&["reset", "-q", "--hard"]) {
        return;
    }
    let sides: [Option<&[u8]>; 3] = [Some(b"base\n"), Some(b"ours\n"), Some(b"theirs\n")];
    let sides = sides.map(|text| text.filter(|_| chance.below(4) > 0));
    let commit = |text: Option<&[u8]>| {
        match text {
            Some(text) => write(&root.join(name), text),
            None => remove(&root.join(name)),
        }
        drop(try_git(root, &[OsStr::new("add"), OsStr::new("-Af"), OsStr::new("--"), name]));
        drop(try_git(root, &["commit", "-q", "--allow-empty", "-m", "side"]));
        git(root, &["rev-parse", "HEAD"])
    };
    let base = commit(sides[0]);
    let theirs = commit(sides[2]);
    if refuses(&["reset", "-q", "--hard", &base]) {
        return;
    }
    commit(sides[1]);
    drop(try_git(root, &["merge", "-q", "--no-edit", &theirs]));
}

fn in_submodule(root: &Path, chance: &mut Chance) {
    let place = root.join(chance.of::<str>(&["sub", "deep/sub", "nest"]));
    if !place.join(".git").exists() {
        return;
    }
    match chance.below(4) {
        0 => write(&place.join("src/deep/a.rs"), chance.of(TEXTS)),
        1 => write(&place.join("untracked"), chance.of(TEXTS)),
        2 => drop(try_git(&place, &["add", "-A"])),
        _ => drop(try_git(&place, &["commit", "-q", "-a", "-m", "inside"])),
    }
}
