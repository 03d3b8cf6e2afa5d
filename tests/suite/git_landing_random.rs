//! Landing over random histories: what `git merge-base`, `git merge-file` and `git merge-tree` say is the measure.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use foremerge::git::Repository;
use foremerge::git::landing::{Earliest, Landing, Refusal, Verdict};

use crate::git_landing::{agrees_with_git, branches, merged_trees};
use crate::git_rounds::Chance;
use crate::sandbox::{Sandbox, git, git_command};

const ROUNDS: usize = 60;
const COMMITS: usize = 40;
const REPEATED_ROUNDS: usize = 300;
const MOVED_ROUNDS: usize = 120;

/// Give `stream` to `git fast-import`.
fn import(root: &Path, stream: &str) {
    let mut command = git_command(root, &["fast-import", "--quiet", "--force"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

fn text(lines: &[usize]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat()
}

/// Change some lines, close together or far apart.
fn edited(lines: &[usize], chance: &mut Chance) -> Vec<usize> {
    let mut lines = lines.to_vec();
    for _ in 0..=chance.below(3) {
        let at = chance.below(lines.len());
        match chance.below(3) {
            0 if lines.len() > 5 => drop(lines.remove(at)),
            1 => lines.insert(at, 100 + chance.below(4)),
            _ => lines[at] = 100 + chance.below(4),
        }
    }
    lines
}

fn commit(stream: &mut String, branch: &str, from: Option<&str>, files: &[(&str, &[usize])]) {
    write!(
        stream,
        "commit refs/heads/{branch}\ncommitter A <a@example.invalid> 1700000000 +0000\ndata 1\nx\n"
    )
    .unwrap();
    if let Some(from) = from {
        writeln!(stream, "from {from}").unwrap();
    }
    for (name, lines) in files {
        let text = text(lines);
        write!(stream, "M 100644 inline {name}\ndata {}\n{text}\n", text.len()).unwrap();
    }
}

#[test]
fn content_has_landed_exactly_where_a_merge_by_git_would_change_nothing() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let mut chance = Chance(11);
    let base: [Vec<usize>; 2] = [(0..20).collect(), (20..40).collect()];
    let mut stream = String::new();
    for round in 0..ROUNDS {
        let (root, work, main) = (format!("base{round}"), format!("work{round}"), format!("main{round}"));
        commit(&mut stream, &root, None, &[("f", &base[0]), ("g", &base[1])]);
        let work_f = edited(&base[0], &mut chance);
        let work_g = if chance.below(2) == 0 { edited(&base[1], &mut chance) } else { base[1].clone() };
        commit(&mut stream, &work, Some(&format!("refs/heads/{root}")), &[("f", &work_f), ("g", &work_g)]);
        // The target squashes, or not, and goes on.
        let mut sides = if chance.below(4) == 0 { [base[0].clone(), work_g] } else { [work_f, work_g] };
        for side in &mut sides {
            if chance.below(2) == 0 {
                *side = edited(side, &mut chance);
            }
        }
        commit(
            &mut stream,
            &main,
            Some(&format!("refs/heads/{root}")),
            &[("f", &sides[0]), ("g", &sides[1])],
        );
    }
    import(&root, &stream);
    let repository = Repository::discover(&root).unwrap();
    let mut landed = 0;
    for round in 0..ROUNDS {
        let id = |name: &str| git(&root, &["rev-parse", &format!("{name}{round}")]);
        let (candidate, target) = (id("work"), id("main"));
        let verdict = repository.landing(&candidate, &target).unwrap();
        agrees_with_git(&verdict, &root, &candidate, &target);
        let merge =
            git_command(&root, &["merge-tree", "--write-tree", &target, &candidate]).output().unwrap();
        let tree = git(&root, &["rev-parse", &format!("{target}^{{tree}}")]);
        let changes_nothing =
            merge.status.success() && String::from_utf8(merge.stdout).unwrap().trim() == tree;
        let content = matches!(verdict, Verdict::Landed(Landing::Content(_)));
        let empty = matches!(verdict, Verdict::Refused(Refusal::Empty) | Verdict::Landed(Landing::Ancestor));
        assert!(empty || content == changes_nothing, "round {round}: {verdict:?}");
        landed += usize::from(content);
    }
    assert!((ROUNDS / 5..ROUNDS).contains(&landed), "{landed}");
}

/// What repeats in every text: where lines are equal, there is more than one way to say what changed.
const REPEATED: [&str; 8] = ["", "", "}", "}", "{", "e", "a", "b"];

fn repeated(chance: &mut Chance) -> &'static str {
    REPEATED[chance.below(REPEATED.len())]
}

fn edited_among_repeated(lines: &[&'static str], chance: &mut Chance) -> Vec<&'static str> {
    let mut lines = lines.to_vec();
    for _ in 0..=chance.below(3) {
        let at = chance.below(lines.len() + 1);
        match chance.below(3) {
            0 if at < lines.len() => drop(lines.remove(at)),
            1 if at < lines.len() => lines[at] = repeated(chance),
            _ => lines.insert(at, repeated(chance)),
        }
    }
    lines
}

/// Commit lines as a file, the last one sometimes without its end.
fn commit_repeated(stream: &mut String, branch: &str, from: Option<&str>, lines: &[&str], end: &str) {
    commit(stream, branch, from, &[]);
    let text = format!("{}{end}", lines.join("\n"));
    write!(stream, "M 100644 inline f\ndata {}\n{text}\n", text.len()).unwrap();
}

#[test]
fn where_lines_repeat_nothing_has_landed_that_a_merge_by_git_would_change() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let mut chance = Chance(41);
    let mut stream = String::new();
    let end = |chance: &mut Chance| if chance.below(8) == 0 { "" } else { "\n" };
    for round in 0..REPEATED_ROUNDS {
        let from = format!("refs/heads/base{round}");
        let base: Vec<_> = (0..2 + chance.below(8)).map(|_| repeated(&mut chance)).collect();
        commit_repeated(&mut stream, &format!("base{round}"), None, &base, end(&mut chance));
        let candidate = edited_among_repeated(&base, &mut chance);
        commit_repeated(&mut stream, &format!("work{round}"), Some(&from), &candidate, end(&mut chance));
        let target = edited_among_repeated(&candidate, &mut chance);
        commit_repeated(&mut stream, &format!("main{round}"), Some(&from), &target, end(&mut chance));
    }
    import(&root, &stream);
    let (landed, refused) = disagreements(&root, REPEATED_ROUNDS);
    assert!(landed > REPEATED_ROUNDS / 8, "{landed}");
    assert!(refused <= landed / 50, "{refused} were refused though a merge changes nothing, {landed} landed");
}

/// How many candidates landed as git says, and how many were refused though git says that merging changes nothing.
/// There must be none that landed and whose merge conflicts or changes something.
fn disagreements(root: &Path, rounds: usize) -> (usize, usize) {
    let branches = branches(root);
    let of = |name: &str, round: usize| &branches[&format!("{name}{round}")];
    let pairs: Vec<_> =
        (0..rounds).map(|round| (of("main", round).0.clone(), of("work", round).0.clone())).collect();
    let merged = merged_trees(root, &pairs);
    let repository = Repository::discover(root).unwrap();
    let (mut landed, mut refused, mut wrong) = (0, 0, Vec::new());
    for (round, ((target, candidate), merged)) in pairs.iter().zip(merged).enumerate() {
        let verdict = repository.landing(candidate, target).unwrap();
        let unchanged = merged.as_ref() == Some(&of("main", round).1);
        match verdict {
            Verdict::Landed(Landing::Content(_)) if !unchanged => {
                let text = |name: &str| git(root, &["grep", "", &of(name, round).1]);
                wrong.push(format!(
                    "{round}: {verdict:?}, git: {merged:?}\n{}",
                    ["base", "work", "main"].map(text).join("\n")
                ));
            }
            Verdict::Landed(Landing::Content(_)) => landed += 1,
            Verdict::Refused(Refusal::Paths(_)) if unchanged => refused += 1,
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
    (landed, refused)
}

#[test]
fn ancestors_and_merge_bases_of_a_random_history_are_those_of_git() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let mut chance = Chance(5);
    let mut stream = String::new();
    for number in 0..COMMITS {
        writeln!(stream, "commit refs/heads/c{number}\nmark :{}", number + 1).unwrap();
        write!(
            stream,
            "committer A <a@example.invalid> {} +0000\ndata 1\nx\n",
            1_700_000_000 + chance.below(50)
        )
        .unwrap();
        if number > 2 {
            writeln!(stream, "from :{}", 1 + chance.below(number)).unwrap();
            for _ in 0..chance.below(3) {
                writeln!(stream, "merge :{}", 1 + chance.below(number)).unwrap();
            }
        }
        write!(stream, "M 100644 inline f{number}\ndata 2\n{}\n\n", number % 10).unwrap();
    }
    import(&root, &stream);
    let id = |number: usize| git(&root, &["rev-parse", &format!("c{number}")]);
    let ids: Vec<_> = (0..COMMITS).map(id).collect();
    for with_graph in [false, true] {
        if with_graph {
            git(&root, &["commit-graph", "write", "--reachable"]);
        }
        let repository = Repository::discover(&root).unwrap();
        for _ in 0..100 {
            let (candidate, target) = (&ids[chance.below(COMMITS)], &ids[chance.below(COMMITS)]);
            let verdict = repository.landing(candidate, target).unwrap();
            agrees_with_git(&verdict, &root, candidate, target);
        }
    }
}

/// Moves of files that resemble each other, and what the target has of them.
#[test]
fn where_files_moved_nothing_has_landed_that_a_merge_by_git_would_change() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let mut chance = Chance(43);
    let mut stream = String::new();
    for round in 0..MOVED_ROUNDS {
        // Half of the lines are common to the files of a pair.
        let file = |at: usize| (at / 2 * 20..at / 2 * 20 + 6).chain(at * 50..at * 50 + 6).collect();
        let base: Files = PATHS[..4].iter().enumerate().map(|(at, path)| (*path, file(at))).collect();
        let mut candidate = base.clone();
        (0..=chance.below(3)).for_each(|_| candidate = changed(&candidate, &mut chance));
        let mut target = landed(&base, &base, &candidate, &mut chance);
        if chance.below(3) > 0 {
            target = candidate.clone();
        }
        (0..chance.below(4)).for_each(|_| target = changed(&target, &mut chance));
        let from = format!("refs/heads/base{round}");
        whole_commit(&mut stream, &format!("base{round}"), None, &base);
        whole_commit(&mut stream, &format!("work{round}"), Some(&from), &candidate);
        whole_commit(&mut stream, &format!("main{round}"), Some(&from), &target);
    }
    import(&root, &stream);
    let (landed, refused) = disagreements(&root, MOVED_ROUNDS);
    assert!(landed > MOVED_ROUNDS / 6, "{landed}");
    assert!(refused <= landed / 20, "{refused} were refused though a merge changes nothing, {landed} landed");
}

type Files = BTreeMap<&'static str, Vec<usize>>;

const PATHS: [&str; 7] = ["a/f", "a/g", "b/deep/h", "b/deep/i", "c", "d/new", "d"];

/// Edit, delete, move or add a file.
fn changed(files: &Files, chance: &mut Chance) -> Files {
    let mut files = files.clone();
    let (path, other) = (PATHS[chance.below(5)], PATHS[chance.below(PATHS.len())]);
    match (chance.below(8), files.get(path).cloned()) {
        (0, _) => drop(files.remove(path)),
        (1, Some(lines)) => {
            files.remove(path);
            put(&mut files, other, lines);
        }
        (_, Some(lines)) => drop(files.insert(path, edited(&lines, chance))),
        (_, None) => put(&mut files, path, vec![7; 12]),
    }
    files
}

/// Where a file stands there is no directory, and the other way round.
fn put(files: &mut Files, path: &'static str, lines: Vec<usize>) {
    files.retain(|there, _| {
        !there.starts_with(&format!("{path}/")) && !path.starts_with(&format!("{there}/"))
    });
    files.insert(path, lines);
}

/// Take over some of what `candidate` changed since `base`.
fn landed(files: &Files, base: &Files, candidate: &Files, chance: &mut Chance) -> Files {
    let mut files = files.clone();
    let every = chance.below(2) == 0;
    for path in PATHS {
        if base.get(path) != candidate.get(path) && (every || chance.below(2) == 0) {
            match candidate.get(path) {
                Some(lines) => put(&mut files, path, lines.clone()),
                None => drop(files.remove(path)),
            }
        }
    }
    files
}

fn whole_commit(stream: &mut String, branch: &str, from: Option<&str>, files: &Files) {
    commit(stream, branch, from, &[]);
    stream.push_str("deleteall\n");
    for (path, lines) in files {
        let text = text(lines);
        write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len()).unwrap();
    }
}

#[test]
fn the_earliest_landing_is_the_first_commit_whose_landing_is_proved() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let mut chance = Chance(23);
    let mut stream = String::new();
    for round in 0..ROUNDS {
        let name = |branch: &str| format!("{branch}{round}");
        let base: Files = PATHS[..5]
            .iter()
            .enumerate()
            .map(|(at, path)| (*path, (at * 20..at * 20 + 12).collect()))
            .collect();
        let mut candidate = base.clone();
        (0..=chance.below(3)).for_each(|_| candidate = changed(&candidate, &mut chance));
        whole_commit(&mut stream, &name("known"), None, &base);
        let from = format!("refs/heads/{}", name("known"));
        whole_commit(&mut stream, &name("work"), Some(&from), &candidate);
        writeln!(stream, "reset refs/heads/{}\nfrom {from}\n", name("main")).unwrap();
        let mut files = base.clone();
        for _ in 0..12 {
            files = match chance.below(14) {
                0 => landed(&files, &base, &candidate, &mut chance),
                _ => changed(&files, &mut chance),
            };
            whole_commit(&mut stream, &name("main"), None, &files);
        }
    }
    import(&root, &stream);
    let repository = Repository::discover(&root).unwrap();
    let proves = |candidate: &str, target: &str| {
        matches!(repository.landing(candidate, target).unwrap(), Verdict::Landed(_))
    };
    let (mut found, mut in_vain) = (0, 0);
    for round in 0..ROUNDS {
        let id = |name: &str| git(&root, &["rev-parse", &format!("{name}{round}")]);
        let (candidate, target, known) = (id("work"), id("main"), id("known"));
        let range = git(&root, &["rev-list", "--first-parent", "--reverse", &format!("{known}..{target}")]);
        let expected = range.lines().find(|commit| proves(&candidate, commit));
        let earliest = repository.earliest_landing(&candidate, &[known], &target).unwrap();
        match (earliest, expected) {
            (Earliest::Landed { commit, .. }, Some(expected)) => {
                assert_eq!(commit, expected, "round {round}");
                found += 1;
            }
            (Earliest::NotLanded, None) => in_vain += 1,
            (earliest, expected) => panic!("round {round}: {earliest:?}, not {expected:?}"),
        }
    }
    assert!(found > ROUNDS / 4 && in_vain > ROUNDS / 4, "{found} {in_vain}");
}
