//! Sets of words in 64 bits.
//!
//! A word sets one bit. What two sets can have in common is read off the bits, without the words: a word whose bit is
//! not set is not there; one whose bit is set may be.

use crate::detect::names::Words;
use crate::domain::Digest;

/// The bits of a set of words, as they are stored.
pub(super) fn of(words: &Words) -> i64 {
    words.iter().fold(0, |bits, word| bits | bit(word))
}

/// How many of the words with these bits can stand in a set with that signature.
pub(super) fn at_most_shared(words: &[i64], signature: i64) -> usize {
    words.iter().filter(|bit| signature & **bit != 0).count()
}

/// The bit of a word: ledgers keep it, so it follows from the word alone.
pub(super) fn bit(word: &str) -> i64 {
    1 << (Digest::of(word.as_bytes()).as_bytes()[0] % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_can_share_all_its_words_with_itself_and_few_with_another() {
        let words: Words = ["rework", "retries", "tokens", "service"].map(str::to_owned).into();
        let bits: Vec<_> = words.iter().map(|word| bit(word)).collect();
        assert_eq!(at_most_shared(&bits, of(&words)), 4);
        let other: Words = ["harden", "tokens", "payments"].map(str::to_owned).into();
        assert_eq!(at_most_shared(&bits, of(&other)), 1);
        assert_eq!(at_most_shared(&bits, of(&Words::new())), 0);
    }
}
