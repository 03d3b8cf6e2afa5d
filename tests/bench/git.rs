//! Figures of the Git room, each beside stock git on the same files in the same breath.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use foremerge::git::landing::Verdict;
use foremerge::git::{Exclusions, Repository, patch};

use super::{median, millis, ratio, wall};

fn git(root: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_ATTR_NOSYSTEM", "1");
    command
        .args(["--no-optional-locks", "-c", "user.name=A", "-c", "user.email=a@example.invalid", "-C"])
        .arg(root);
    command
}

fn run(root: &Path, arguments: &[&str]) {
    assert!(git(root).args(arguments).stdout(Stdio::null()).status().unwrap().success(), "{arguments:?}");
}

fn told(root: &Path, arguments: &[&str]) -> String {
    let output = git(root).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn import(root: &Path, stream: &[u8]) {
    let mut child = git(root).args(["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stream).unwrap();
    assert!(child.wait().unwrap().success());
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    std::hint::black_box(work());
    started.elapsed()
}

/// The most memory this process used since [`forget_the_peak`].
pub fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown");
    line.trim().to_owned()
}

/// Linux counts anew from here; elsewhere the peak is unknown anyway.
pub fn forget_the_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn compared(name: &str, rounds: usize, ours: impl Fn() -> Duration, theirs: impl Fn() -> Duration) {
    forget_the_peak();
    let pairs: Vec<_> = (0..=rounds).map(|_| (ours(), theirs())).skip(1).collect();
    let peak = peak();
    // Two that ran in one breath had the same load.
    let mut ratios: Vec<_> = pairs.iter().map(|pair| pair.0.as_secs_f64() / pair.1.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let (ours, theirs) = pairs.into_iter().unzip();
    let (ours, theirs) = (median(ours), median(theirs));
    println!(
        "{name}: {}, git {}, ratio {}, median of paired ratios {:.2}, peak {peak}",
        millis(ours),
        millis(theirs),
        ratio(ours, theirs),
        ratios[ratios.len() / 2],
    );
}

/// A worktree of so many files of 4 KiB, a hundred to a directory, that Git knows to be clean.
fn clean_tree(root: &Path, files: usize) {
    run(root, &["init", "-q", "-b", "main"]);
    let text = "a line of forty characters, more or less\n".repeat(100);
    for number in 0..files {
        let place = root.join(format!("d{}/f{number}", number / 100));
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, format!("{number}\n{text}")).unwrap();
    }
    run(root, &["add", "."]);
    run(root, &["commit", "-q", "-m", "files"]);
    // Younger files than the index would have to be read each time.
    std::thread::sleep(Duration::from_millis(1_100));
    run(root, &["update-index", "--refresh", "--force-write-index"]);
}

fn snapshot_of(root: &Path) -> Duration {
    timed(|| Repository::discover(root).unwrap().snapshot(b"bench", &Exclusions::default()).unwrap())
}

fn status_of(root: &Path) -> Duration {
    wall(git(root).args(["status", "--porcelain=v1", "--untracked-files=all", "--no-renames"]))
}

pub fn snapshot() {
    for files in [50, 5_000, 50_000] {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        clean_tree(root, files);
        let name = format!("snapshot, clean, {files} files");
        compared(&name, if files > 10_000 { 21 } else { 41 }, || snapshot_of(root), || status_of(root));
        if files != 5_000 {
            continue;
        }
        let mut paths = String::new();
        for number in 0..500 {
            let modified = format!("d{}/f{}", number / 10, number * 10);
            let untracked = format!("d{}/new{number}", number / 10);
            let text = std::fs::read_to_string(root.join(&modified)).unwrap();
            std::fs::write(root.join(&modified), text.replacen("line", "LINE", 1)).unwrap();
            std::fs::write(root.join(&untracked), text).unwrap();
            write!(paths, "{modified}\n{untracked}\n").unwrap();
        }
        let list = directory.path().join(".git/paths");
        std::fs::write(&list, paths).unwrap();
        let hash = || {
            let input = std::fs::File::open(&list).unwrap();
            wall(git(root).args(["hash-object", "--stdin-paths"]).stdin(input))
        };
        compared(
            "snapshot, 500 modified and 500 untracked",
            21,
            || snapshot_of(root),
            || status_of(root) + hash(),
        );
    }
}

/// Files are streamed: the peak is that of a small one.
pub fn large_file() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    clean_tree(root, 50);
    let large = root.join("large");
    std::fs::write(&large, vec![b'x'; 400 << 20]).unwrap();
    let hash = || wall(git(root).args(["hash-object", "large"]));
    compared("snapshot, one untracked file of 400 MiB", 3, || snapshot_of(root), || status_of(root) + hash());
}

/// The patch of a commit that changes 1,000 of 5,000 files, and that of a whole history of this project.
pub fn patch_digest() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    clean_tree(root, 5_000);
    for number in 0..1_000 {
        let place = root.join(format!("d{}/f{}", number / 20, number * 5));
        let text = std::fs::read_to_string(&place).unwrap();
        std::fs::write(&place, text.replacen("line", "LINE", 3)).unwrap();
    }
    run(root, &["commit", "-q", "-a", "-m", "thousand"]);
    digest_beside_git("patch digest, 1,000 of 5,000 files", root, "HEAD~1");
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    if project.join(".git").exists() {
        let root_commit = told(project, &["rev-list", "--max-parents=0", "HEAD"]);
        digest_beside_git("patch digest, this project from its first commit", project, &root_commit);
    }
}

fn digest_beside_git(name: &str, root: &Path, base: &str) {
    let (base, candidate) = (told(root, &["rev-parse", base]), told(root, &["rev-parse", "HEAD"]));
    let ours = || timed(|| Repository::discover(root).unwrap().patch_digest(&base, &candidate).unwrap());
    let empty = Repository::discover(root).unwrap().empty_tree();
    let theirs = || {
        timed(|| {
            let arguments = patch::command(&empty, &base, &candidate);
            let mut diff = git(root).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
            let sum =
                Command::new("sha256sum").stdin(diff.stdout.take().unwrap()).stdout(Stdio::null()).status();
            assert!(sum.unwrap().success() && diff.wait().unwrap().success());
        })
    };
    compared(name, 11, ours, theirs);
}

/// A candidate of 1,000 files, squashed onto a branch that went on for 10,000 of 20,000 commits and changed half of
/// them, too.
pub fn landing() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    run(root, &["init", "-q", "-b", "main"]);
    import(root, &long_history());
    let repository = Repository::discover(root).unwrap();
    let id = |name: &str| told(root, &["rev-parse", name]);
    let (candidate, target, known) = (id("work"), id("main"), vec![id("known")]);
    assert!(matches!(repository.landing(&candidate, &target).unwrap(), Verdict::Landed(_)));
    let merge = || wall(git(root).args(["merge-tree", "--write-tree", &target, &candidate]));
    let prove = || timed(|| Repository::discover(root).unwrap().landing(&candidate, &target).unwrap());
    compared("landing by content, 20,000 commits, 1,000 files", 11, prove, merge);
    let search = || {
        let repository = Repository::discover(root).unwrap();
        timed(|| repository.earliest_landing(&candidate, &known, &target).unwrap())
    };
    let walk = || wall(git(root).args(["rev-list", "--first-parent", &format!("{}..{target}", known[0])]));
    compared("earliest landing among 10,000 commits", 3, search, walk);
    run(root, &["commit-graph", "write", "--reachable"]);
    compared("landing by content, with a commit-graph", 11, prove, merge);
}

fn long_history() -> Vec<u8> {
    let lines = |number: usize, work: bool, main: bool| {
        let line = |at: usize| match at {
            5 if work => "changed by the candidate".to_owned(),
            25 if main => "changed on the branch".to_owned(),
            _ => format!("line {at} of file {number}"),
        };
        (0..40).map(|at| line(at) + "\n").collect::<Vec<_>>().concat()
    };
    let mut stream = String::new();
    let mut commits = 0;
    let mut commit = |stream: &mut String, branch: &str, from: Option<&str>| {
        commits += 1;
        write!(
            stream,
            "commit refs/heads/{branch}\ncommitter A <a@example.invalid> {} +0000\n",
            1_600_000_000 + commits
        )
        .unwrap();
        stream.push_str("data 1\nx\n");
        if let Some(from) = from {
            writeln!(stream, "from {from}").unwrap();
        }
    };
    let file = |stream: &mut String, number: usize, text: &str| {
        write!(stream, "M 100644 inline d{}/f{number}\ndata {}\n{text}\n", number / 50, text.len()).unwrap();
    };
    commit(&mut stream, "main", None);
    (0..2_000).for_each(|number| file(&mut stream, number, &lines(number, false, false)));
    for number in 0..10_000 {
        commit(&mut stream, "main", None);
        file(&mut stream, 1_500 + number % 500, &format!("before {number}\n"));
    }
    stream.push_str("reset refs/heads/known\nfrom refs/heads/main\n\n");
    commit(&mut stream, "work", Some("refs/heads/known"));
    (0..1_000).for_each(|number| file(&mut stream, number, &lines(number, true, false)));
    for number in 0..9_999 {
        commit(&mut stream, "main", None);
        if number % 20 == 0 {
            file(&mut stream, number / 20, &lines(number / 20, false, true));
        } else {
            file(&mut stream, 1_000 + number % 1_000, &format!("after {number}\n"));
        }
    }
    commit(&mut stream, "main", None);
    (0..1_000).for_each(|number| file(&mut stream, number, &lines(number, true, number < 500)));
    stream.into_bytes()
}
