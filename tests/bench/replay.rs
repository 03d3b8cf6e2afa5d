//! How the findings stand to what became of real parallel work: `docs/signal.md`.
//!
//! Takes local clones, treats the two sides of every merge commit as two agents that declared
//! what they changed, compares them, and sets the findings beside what the merge took.
//!
//! ```sh
//! cargo bench --bench replay -- [--limit N] [--show CLASS:SEVERITY N] CLONE…
//! ```
#![expect(clippy::disallowed_methods, reason = "a bench asks the clock and runs stock git")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on should say where")]

#[path = "replay/git.rs"]
mod git;
#[path = "replay/report.rs"]
mod report;
#[path = "replay/scopes.rs"]
mod scopes;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use foremerge::detect::findings::between;
use foremerge::detect::outline::{self, Language, Outline};
use foremerge::domain::ScopeKind;
use git::{Git, Merge};
use report::{Class, Met, Replayed, Skipped};
use scopes::{Declared, Edited};

/// Sides that change more files than this are not work that anybody would declare.
const MOST_FILES: usize = 1_000;

fn main() {
    let mut limit = 2_000;
    let mut show = None;
    let mut clones = Vec::new();
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        match word.as_str() {
            "--limit" => limit = words.next().and_then(|word| word.parse().ok()).expect("--limit N"),
            "--show" => {
                let what = words.next().expect("--show CLASS:SEVERITY N");
                let count = words.next().and_then(|word| word.parse().ok()).expect("--show CLASS:SEVERITY N");
                show = Some((what, count));
            }
            _ => clones.push(word),
        }
    }
    for clone in clones {
        let (head, replayed, skipped) = replay(Path::new(&clone), limit);
        report::print(&clone, &head, &replayed, &skipped);
        if let Some((what, count)) = &show {
            report::show(&replayed, what, *count);
        }
    }
}

/// Replays the newest merges of a clone until `limit` of them have been compared.
fn replay(clone: &Path, limit: usize) -> (String, Vec<Replayed>, HashMap<Skipped, usize>) {
    let git = Git::open(clone);
    let (head, merges) = (git.head(), git.merges());
    let (next, compared) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut replayer = Replayer { git: Git::open(clone), outlines: HashMap::new() };
                while compared.load(Ordering::Relaxed) < limit {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(merge) = merges.get(place) else { break };
                    let result = replayer.replay(merge);
                    compared.fetch_add(usize::from(result.is_ok()), Ordering::Relaxed);
                    results.lock().unwrap().push((place, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(place, _)| *place);
    let mut skipped = HashMap::new();
    let mut replayed = Vec::new();
    for (_, result) in results {
        // What other threads looked at beyond the last one counts for nothing.
        if replayed.len() == limit {
            break;
        }
        match result {
            Ok(merge) => replayed.push(merge),
            Err(why) => *skipped.entry(why).or_default() += 1,
        }
    }
    (head, replayed, skipped)
}

struct Replayer {
    git: Git,
    outlines: HashMap<(Language, String), Outline>,
}

impl Replayer {
    fn replay(&mut self, merge: &Merge) -> Result<Replayed, Skipped> {
        let started = Instant::now();
        let base = self.git.base(&merge.parents).ok_or(Skipped::Unrelated)?;
        if merge.parents.contains(&base) {
            return Err(Skipped::OneSided);
        }
        let [one, other] = &merge.parents;
        let sides = [self.edits(&base, one)?, self.edits(&base, other)?];
        let automatic = self.git.merge(&merge.parents).ok_or(Skipped::NotMerged)?;
        let by_hand = if automatic.conflicts.is_empty() && automatic.tree != merge.tree {
            self.git.differing(&automatic.tree, &merge.tree)
        } else {
            Vec::new()
        };
        let class = if !automatic.conflicts.is_empty() {
            Class::Conflict
        } else if !by_hand.is_empty() {
            Class::Edited
        } else if share_a_file(&sides) {
            Class::SameFile
        } else {
            Class::Disjoint
        };
        let subjects = [self.git.subject(&base, one), self.git.subject(&base, other)];
        let scopes = [scopes::declared(&sides[0]), scopes::declared(&sides[1])];
        let git_time = started.elapsed();
        let started = Instant::now();
        let whole = met(&scopes, &subjects, |_| true);
        let detect_time = started.elapsed();
        Ok(Replayed {
            commit: merge.commit.clone(),
            subject: merge.subject.clone(),
            class,
            decided: if automatic.conflicts.is_empty() { by_hand } else { automatic.conflicts },
            subjects,
            sizes: [scopes[0].len(), scopes[1].len()],
            symbols: met(&scopes, &[String::new(), String::new()], |scope| scope.kind == ScopeKind::Symbol),
            whole,
            members: members(&scopes[0], &scopes[1]) + members(&scopes[1], &scopes[0]),
            git_time,
            detect_time,
        })
    }

    fn edits(&mut self, base: &str, tip: &str) -> Result<Vec<Edited>, Skipped> {
        let changes = self.git.changes(base, tip).ok_or(Skipped::NotMerged)?;
        if changes.len() > MOST_FILES {
            return Err(Skipped::TooWide);
        }
        if changes.is_empty() {
            return Err(Skipped::OneSided);
        }
        let mut edits = Vec::with_capacity(changes.len());
        for change in changes {
            let outlines = Language::of(&change.new.0).filter(|_| change.regular).map(|language| {
                let (old, new) =
                    (self.outline(language, &change.old.1), self.outline(language, &change.new.1));
                (language, old, new)
            });
            let (status, hunks) = (change.status, change.hunks);
            edits.push(Edited { status, old: change.old.0, new: change.new.0, hunks, outlines });
        }
        Ok(edits)
    }

    fn outline(&mut self, language: Language, object: &str) -> Outline {
        if self.outlines.len() > 2_000 {
            self.outlines.clear();
        }
        let git = &mut self.git;
        let known = self.outlines.entry((language, object.to_owned()));
        let read = || match git.text(object) {
            Some(text) => outline::outline(language, &text),
            None => Outline::default(),
        };
        known.or_insert_with(read).clone()
    }
}

/// How many members `theirs` names of types that `mine` takes away.
fn members(mine: &[Declared], theirs: &[Declared]) -> usize {
    let symbol = |scope: &&Declared| scope.kind == ScopeKind::Symbol;
    let taken: std::collections::HashSet<_> = mine
        .iter()
        .filter(symbol)
        .filter(|scope| scope.operation.is_destructive())
        .map(|scope| scope.key.as_str())
        .collect();
    let containers = theirs.iter().filter(symbol).filter_map(|scope| scope.key.split_once("::"));
    containers.filter(|(container, _)| taken.contains(container)).count()
}

fn share_a_file(sides: &[Vec<Edited>; 2]) -> bool {
    let touched = |edit: &Edited| [edit.old.clone(), edit.new.clone()];
    let one: std::collections::HashSet<_> = sides[0].iter().flat_map(touched).collect();
    sides[1].iter().flat_map(touched).any(|path| one.contains(&path))
}

/// The findings between two sides, of the scopes that `count`.
fn met(scopes: &[Vec<Declared>; 2], subjects: &[String; 2], count: impl Fn(&Declared) -> bool) -> Vec<Met> {
    let kept = [0, 1].map(|at: usize| scopes[at].iter().filter(|scope| count(scope)).collect::<Vec<_>>());
    let sides = [0, 1].map(|at: usize| scopes::side(kept[at].iter().copied(), &subjects[at]));
    let found = between(&sides[0], &sides[1]);
    let met = |finding: foremerge::detect::Finding| Met {
        rule: finding.rule,
        severity: finding.severity,
        at: finding.at.map(|at| (at.tier, kept[0][at.scopes.0].clone(), kept[1][at.scopes.1].clone())),
    };
    found.into_iter().map(met).collect()
}
