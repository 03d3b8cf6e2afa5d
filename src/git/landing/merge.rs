//! Three-way merges of one file.

use gix::diff::blob::{Algorithm, InternedInput};
use gix::merge::blob::Resolution;
use gix::merge::blob::builtin_driver::text;

use super::histogram::{Hunk, Lines, hunks};

/// How far git looks for a byte that text does not have.
const LOOKED_AT: usize = 8_000;

/// What merging a candidate's change into a target does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing: the target has it.
    Contained,
    /// It changes the target.
    Lacking,
    /// Both changed the same lines.
    Conflict,
    /// One of the three is no text, or of too few different lines.
    NoText,
}

/// Merge the change from `base` to `candidate` into `target`, line by line as `git merge-tree` does.
pub(super) fn merge(base: &[u8], target: &[u8], candidate: &[u8]) -> Outcome {
    if [base, target, candidate].into_iter().any(|text| text[..text.len().min(LOOKED_AT)].contains(&0)) {
        return Outcome::NoText;
    }
    match is_contained(base, target, candidate) {
        Some(true) => return Outcome::Contained,
        Some(false) => {}
        None => return Outcome::NoText,
    }
    // Only why it is not contained is left to be said.
    let options = text::Options { diff_algorithm: Algorithm::Histogram, ..text::Options::default() };
    let mut merged = Vec::new();
    let mut input = InternedInput::default();
    let labels = text::Labels::default();
    let resolution = text(&mut merged, &mut input, labels, target, base, candidate, options);
    match resolution {
        Resolution::Complete if merged != target => Outcome::Lacking,
        // Complete, and the target as it is: git pairs equal lines differently.
        Resolution::Complete | Resolution::Conflict | Resolution::CompleteWithAutoResolvedConflict => {
            Outcome::Conflict
        }
    }
}

/// Whether git's merge would keep the target: every change of the candidate meets one of the target, and where they
/// meet both made the same lines. `None` where that cannot be told.
fn is_contained(base: &[u8], target: &[u8], candidate: &[u8]) -> Option<bool> {
    let mut lines = Lines::new();
    let [base, ours, theirs] = [base, target, candidate].map(|text| lines.of(text));
    let (our_hunks, their_hunks) = (hunks(&base, &ours)?, hunks(&base, &theirs)?);
    let mut open = our_hunks.iter().peekable();
    let mut left = their_hunks.iter().peekable();
    while let Some(first) = left.next() {
        while open.next_if(|hunk| hunk.before.end < first.before.start).is_some() {}
        let Some(met) = open.next_if(|hunk| hunk.before.start <= first.before.end) else {
            return Some(false);
        };
        // Hunks that touch are taken together, as git does, as long as the one reaches into the other.
        let (mut mine, mut other) = ((met, met), (first, first));
        loop {
            let (here, there) = (mine.1.before.end, other.1.before.end);
            if let Some(more) = left.next_if(|hunk| there <= here && hunk.before.start <= here) {
                other.1 = more;
            } else if let Some(more) = open.next_if(|hunk| here <= there && hunk.before.start <= there) {
                mine.1 = more;
            } else {
                break;
            }
        }
        let from = met.before.start.min(first.before.start);
        let to = mine.1.before.end.max(other.1.before.end);
        if made(&ours, mine, from, to) != made(&theirs, other, from, to) {
            return Some(false);
        }
    }
    Some(true)
}

/// The lines into which a side made those of the base `from` and up to `to`, by its first and last hunk there.
fn made<'l>(lines: &'l [u32], (first, last): (&Hunk, &Hunk), from: usize, to: usize) -> Option<&'l [u32]> {
    let start = first.after.start.checked_sub(first.before.start - from)?;
    lines.get(start..last.after.end + (to - last.before.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_is_there_is_contained_whatever_else_the_target_changed() {
        let base = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let candidate = b"1\nTWO\n3\n4\n5\n6\n7\n8\n9\n";
        for (target, outcome) in [
            (candidate.as_slice(), Outcome::Contained),
            (b"1\nTWO\n3\n4\n5\n6\n7\nEIGHT\n9\n", Outcome::Contained),
            (b"1\n2\n3\n4\n5\n6\n7\nEIGHT\n9\n", Outcome::Lacking),
            (b"1\nzwei\n3\n4\n5\n6\n7\n8\n9\n", Outcome::Conflict),
            (b"1\nTWO\n3\n4\n5\n6\n7\n\0\n9\n", Outcome::NoText),
        ] {
            assert_eq!(merge(base, target, candidate), outcome, "{}", target.escape_ascii());
        }
    }

    #[test]
    fn where_lines_repeat_they_are_paired_as_git_pairs_them() {
        let base = b"e3\ne1\n},\n\"{ \",\nc\ne2\n";
        let candidate = b"e3\n},\n\"\",\na\n\"{ \",\nc\ne2\n";
        let target = b"},\ne3\n},\n\"\",\na\n\"{ \",\nc\ne2";
        assert_eq!(merge(base, target, candidate), Outcome::Conflict);
        assert_eq!(merge(b"d\n\n\n", b"\nd\n\nb\n", b"d\n\nb\n"), Outcome::Contained);
    }

    #[test]
    fn where_every_line_is_repeated_too_often_nothing_is_proved() {
        let (base, candidate) = ("x\n".repeat(70), "x\n".repeat(71));
        let target = "y\n".to_owned() + &candidate;
        assert_eq!(merge(base.as_bytes(), target.as_bytes(), candidate.as_bytes()), Outcome::NoText);
    }
}
