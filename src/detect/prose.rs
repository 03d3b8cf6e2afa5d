//! The words of a summary that say which work it is.

use super::english::{FUNCTION_WORDS, GENERIC_VERBS, stem};
use super::names::{self, Words};

/// The words of a summary that say which work it is. Numbers and versions do not.
#[must_use]
pub fn words(summary: &str) -> Words {
    let is_number =
        |word: &&str| word.contains(|c: char| c.is_ascii_digit()) && !word.contains(char::is_alphabetic);
    let kept = |word: &String| {
        !FUNCTION_WORDS.contains(&word.as_str()) && !GENERIC_VERBS.contains(&stem(word).as_str())
    };
    summary.split_whitespace().filter(|word| !is_number(word)).flat_map(names::split).filter(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_known_by_its_words_without_filler_and_verbs() {
        let kept: Vec<_> = words("Replaces the PaymentService with a Stripe client").into_iter().collect();
        assert_eq!(kept, ["client", "payment", "service", "stripe"]);
    }
}
