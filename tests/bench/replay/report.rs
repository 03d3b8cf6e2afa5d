//! What the replay prints: tables in Markdown, and samples.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use foremerge::domain::conflict::Tier;
use foremerge::domain::{Rule, ScopeKind, ScopeOperation, Severity};

use super::scopes::Declared;

/// What became of two sides that were merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Git's own merge conflicts.
    Conflict,
    /// It does not, but the merge commit holds something else.
    Edited,
    /// It does not and was kept; both sides touched some file.
    SameFile,
    /// No file was touched by both.
    Disjoint,
}

impl Class {
    const ALL: [Self; 4] = [Self::Conflict, Self::Edited, Self::SameFile, Self::Disjoint];

    fn name(self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::Edited => "edited",
            Self::SameFile => "same-file",
            Self::Disjoint => "disjoint",
        }
    }
}

/// Why a merge was not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skipped {
    /// One side brought nothing.
    OneSided,
    /// The two histories have no common commit.
    Unrelated,
    /// A side changes too many files.
    TooWide,
    /// Git could not try it, for want of an object.
    NotMerged,
}

/// A finding with what it is about.
#[derive(Debug, Clone)]
pub struct Met {
    pub rule: Rule,
    pub severity: Severity,
    pub at: Option<(Tier, Declared, Declared)>,
}

/// A merge, what became of it and what was found.
#[derive(Debug)]
pub struct Replayed {
    pub commit: String,
    pub subject: String,
    pub class: Class,
    /// The files that conflicted or were edited by hand.
    pub decided: Vec<String>,
    pub subjects: [String; 2],
    pub sizes: [usize; 2],
    /// Findings on everything declared.
    pub whole: Vec<Met>,
    /// Findings on symbols alone.
    pub symbols: Vec<Met>,
    /// Pairs of a type that one side takes away and a member of it that the other changes.
    pub members: usize,
    pub git_time: Duration,
    pub detect_time: Duration,
}

/// Scopes of a side that one agent might declare in one intent.
const AGENT_SIZED: usize = 50;

pub fn print(clone: &str, head: &str, replayed: &[Replayed], skipped: &HashMap<Skipped, usize>) {
    println!("\n## {clone} at {head}\n");
    let mut skipped: Vec<_> = skipped.iter().collect();
    skipped.sort();
    println!("{} merges compared; not compared: {skipped:?}", replayed.len());
    if replayed.is_empty() {
        return;
    }
    let all: Vec<_> = replayed.iter().collect();
    let small: Vec<_> =
        all.iter().copied().filter(|merge| merge.sizes.iter().all(|size| *size <= AGENT_SIZED)).collect();
    severities("files and symbols, all merges", &all, |merge| &merge.whole);
    severities("symbols alone, all merges", &all, |merge| &merge.symbols);
    let title = format!("files and symbols, both sides of at most {AGENT_SIZED} scopes");
    severities(&title, &small, |merge| &merge.whole);
    let title = format!("symbols alone, both sides of at most {AGENT_SIZED} scopes");
    severities(&title, &small, |merge| &merge.symbols);
    rules("all merges", &all);
    rules(&format!("both sides of at most {AGENT_SIZED} scopes"), &small);
    worth("all merges", &all);
    worth(&format!("both sides of at most {AGENT_SIZED} scopes"), &small);
    alone(&all);
    unseen(&all);
    for (title, merges) in [("all", &all), ("agent-sized", &small)] {
        let figures = |of: fn(&Replayed) -> usize| spread(merges.iter().map(|merge| of(merge)).collect());
        println!("\n{title}: median, p95, most");
        println!("- findings per merge: {}", figures(|merge| merge.whole.len()));
        let high = |merge: &Replayed| merge.whole.iter().filter(|met| met.severity == Severity::High).count();
        println!("- HIGH findings per merge: {}", figures(high));
        println!("- scopes per side: {}", figures(|merge| merge.sizes.iter().max().copied().unwrap_or(0)));
        let micros = |time: Duration| usize::try_from(time.as_micros()).unwrap_or(usize::MAX);
        println!(
            "- detection, µs: {}",
            spread(merges.iter().map(|merge| micros(merge.detect_time)).collect())
        );
        println!(
            "- git and outlines, µs: {}",
            spread(merges.iter().map(|merge| micros(merge.git_time)).collect())
        );
    }
}

fn spread(mut numbers: Vec<usize>) -> String {
    numbers.sort_unstable();
    let at = |share: usize| numbers.get((numbers.len() * share / 100).min(numbers.len().saturating_sub(1)));
    format!("{}, {}, {}", at(50).unwrap_or(&0), at(95).unwrap_or(&0), numbers.last().unwrap_or(&0))
}

fn strongest(found: &[Met]) -> Option<Severity> {
    found.iter().map(|met| met.severity).max()
}

fn severity_name(severity: Option<Severity>) -> String {
    severity.map_or("none".to_owned(), |severity| severity.to_string())
}

const COLUMNS: [Option<Severity>; 3] = [Some(Severity::High), Some(Severity::Medium), None];

fn severities(title: &str, merges: &[&Replayed], found: impl Fn(&Replayed) -> &Vec<Met>) {
    println!("\n### {title}\n\n| became | merges | HIGH | MEDIUM | none |\n|---|---|---|---|---|");
    for class in Class::ALL {
        let of_class: Vec<_> = merges.iter().filter(|merge| merge.class == class).collect();
        let cells = COLUMNS.map(|severity| {
            let count = of_class.iter().filter(|merge| strongest(found(merge)) == severity).count();
            with_share(count, of_class.len())
        });
        println!(
            "| {} | {} | {} |",
            class.name(),
            with_share(of_class.len(), merges.len()),
            cells.join(" | ")
        );
    }
    // What a severity says: the share of its merges that took more than git.
    let worth = COLUMNS.map(|severity| {
        let of_severity: Vec<_> = merges.iter().filter(|merge| strongest(found(merge)) == severity).collect();
        let hard = of_severity.iter().filter(|merge| merge.class <= Class::Edited).count();
        with_share(hard, of_severity.len())
    });
    let hard = merges.iter().filter(|merge| merge.class <= Class::Edited).count();
    println!(
        "| conflict or edited, of all in the column | {} | {} |",
        with_share(hard, merges.len()),
        worth.join(" | ")
    );
}

fn with_share(count: usize, of: usize) -> String {
    if of == 0 { "0".to_owned() } else { format!("{count} ({:.1} %)", share(count, of)) }
}

#[expect(clippy::cast_precision_loss, reason = "counts of merges")]
fn share(count: usize, of: usize) -> f64 {
    count as f64 * 100.0 / of as f64
}

fn rules(title: &str, merges: &[&Replayed]) {
    println!("\n### findings by rule, tier, kind and operations, {title}\n");
    println!(
        "| severity | rule | tier | kind | operations | findings | merges | conflict | edited | same-file | disjoint |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut rows: BTreeMap<_, (usize, [usize; 4])> = BTreeMap::new();
    for merge in merges {
        let mut seen = BTreeMap::new();
        for met in &merge.whole {
            *seen.entry(row(met)).or_insert(0) += 1;
        }
        for (row, count) in seen {
            let entry = rows.entry(row).or_default();
            entry.0 += count;
            entry.1[merge.class as usize] += 1;
        }
    }
    for ((severity, rule, place), (findings, classes)) in rows {
        let merges: usize = classes.iter().sum();
        let classes = classes.map(|count| count.to_string()).join(" | ");
        println!("| {} | {rule} | {place} | {findings} | {merges} | {classes} |", severity.0);
    }
}

/// Each merge by the best evidence about it.
fn worth(title: &str, merges: &[&Replayed]) {
    println!("\n### merges by their best evidence, {title}\n");
    println!("| evidence | merges | conflict | edited | same-file | disjoint | conflict or edited |");
    println!("|---|---|---|---|---|---|---|");
    let mut rows: BTreeMap<(u8, String), [usize; 4]> = BTreeMap::new();
    for merge in merges {
        let best = merge.whole.iter().map(evidence).min().unwrap_or((9, "none".to_owned()));
        rows.entry(best).or_default()[merge.class as usize] += 1;
    }
    for ((_, evidence), classes) in rows {
        let all: usize = classes.iter().sum();
        let hard = share(classes[0] + classes[1], all);
        let classes = classes.map(|count| count.to_string()).join(" | ");
        println!("| {evidence} | {all} | {classes} | {hard:.0} % |");
    }
}

fn evidence(met: &Met) -> (u8, String) {
    use ScopeOperation::{Add, Remove, Rename};
    let Some((tier, one, other)) = &met.at else { return (7, "duplicate work".to_owned()) };
    let operations = (one.operation, other.operation);
    let file = one.kind == ScopeKind::File;
    let (rank, what) = match (met.severity, tier, operations) {
        (Severity::High, _, (Remove, Remove) | (Rename, Rename)) => (2, "HIGH, both remove or both rename"),
        (Severity::High, ..) if file => (1, "HIGH, file"),
        (Severity::High, ..) => (0, "HIGH, symbol"),
        (_, Tier::Same, (Add, Add)) => (3, "both add the same"),
        (_, Tier::Same, _) if !file => (4, "both keep the same symbol"),
        (_, Tier::Same, _) => (8, "both change the same file and nothing more"),
        (_, Tier::SimilarName, _) => (6, "similar names"),
        _ => (5, "same name elsewhere, or inside"),
    };
    (rank, what.to_owned())
}

fn place(met: &Met) -> String {
    let place = met.at.as_ref().map(|(tier, one, _)| format!("{tier}, {}", one.kind));
    place.unwrap_or_else(|| met.rule.to_string())
}

/// Merges about which one tier alone says something.
fn alone(merges: &[&Replayed]) {
    println!("\n### merges with findings of one tier and kind alone\n");
    println!("| tier, kind | conflict | edited | same-file | disjoint |\n|---|---|---|---|---|");
    let mut rows: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    for merge in merges {
        let places: BTreeSet<String> = merge.whole.iter().map(place).collect();
        if places.len() == 1 {
            rows.entry(places.into_iter().next().unwrap()).or_default()[merge.class as usize] += 1;
        }
    }
    for (place, classes) in rows {
        println!("| {place} | {} |", classes.map(|count| count.to_string()).join(" | "));
    }
}

/// What no tier sees: a type that one side takes away and a member that the other changes.
fn unseen(merges: &[&Replayed]) {
    println!("\n### a type taken away and its member changed, by the merge's strongest finding\n");
    println!("| became | HIGH | MEDIUM | none |\n|---|---|---|---|");
    for class in Class::ALL {
        let cells = COLUMNS.map(|severity| {
            let of_class = merges.iter().filter(|merge| merge.class == class && merge.members > 0);
            of_class.filter(|merge| strongest(&merge.whole) == severity).count().to_string()
        });
        println!("| {} | {} |", class.name(), cells.join(" | "));
    }
}

fn row(met: &Met) -> (std::cmp::Reverse<Severity>, Rule, String) {
    let place = met.at.as_ref().map_or("– | – | –".to_owned(), |(tier, one, other)| {
        let mut operations = [one.operation.to_string(), other.operation.to_string()];
        operations.sort();
        format!("{tier} | {} | {}", one.kind, operations.join(", "))
    });
    (std::cmp::Reverse(met.severity), met.rule, place)
}

/// Prints merges of one class and strongest severity, such as `disjoint:HIGH`.
pub fn show(replayed: &[Replayed], what: &str, count: usize) {
    let (class, severity) = what.split_once(':').expect("CLASS:SEVERITY");
    let (severity, symbols) =
        severity.strip_suffix("@symbols").map_or((severity, false), |rest| (rest, true));
    let found =
        |merge: &Replayed| -> Vec<Met> { if symbols { merge.symbols.clone() } else { merge.whole.clone() } };
    let chosen = replayed.iter().filter(|merge| {
        merge.class.name() == class && severity_name(strongest(&found(merge))).eq_ignore_ascii_case(severity)
    });
    for merge in chosen.take(count) {
        println!("\n{} {} ({} and {} scopes)", merge.commit, merge.subject, merge.sizes[0], merge.sizes[1]);
        println!("    sides: {:?}", merge.subjects);
        println!("    conflicting or edited: {:?}", &merge.decided[..merge.decided.len().min(6)]);
        let mut found = found(merge);
        found.sort_by_key(|met| std::cmp::Reverse(met.severity));
        for met in found.iter().take(8) {
            let place = met.at.as_ref().map(|(tier, one, other)| {
                format!(
                    "{tier} {}:{}={} / {}:{}={}",
                    one.kind, one.key, one.operation, other.kind, other.key, other.operation
                )
            });
            println!("    {} {} {}", met.severity, met.rule, place.unwrap_or_default());
        }
    }
}
