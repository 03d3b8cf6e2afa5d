//! Three-way merges of one file.

use gix::diff::blob::{Algorithm, InternedInput};
use gix::merge::blob::Resolution;
use gix::merge::blob::builtin_driver::text;

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
    /// One of the three is no text.
    NoText,
}

/// Merge the change from `base` to `candidate` into `target`, line by line as `git merge-file` does.
pub(super) fn merge(base: &[u8], target: &[u8], candidate: &[u8]) -> Outcome {
    if [base, target, candidate].into_iter().any(|text| text[..text.len().min(LOOKED_AT)].contains(&0)) {
        return Outcome::NoText;
    }
    let options = text::Options { diff_algorithm: Algorithm::Myers, ..text::Options::default() };
    let mut merged = Vec::new();
    let mut input = InternedInput::default();
    let labels = text::Labels::default();
    let resolution = text(&mut merged, &mut input, labels, target, base, candidate, options);
    match resolution {
        Resolution::Complete if merged == target => Outcome::Contained,
        Resolution::Complete => Outcome::Lacking,
        Resolution::Conflict | Resolution::CompleteWithAutoResolvedConflict => Outcome::Conflict,
    }
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
}
