//! Names and sentences as sets of words.

use std::collections::BTreeSet;

use heck::ToSnakeCase;

use super::canonical::{composed, folded, name};
use super::qualified::{parts, split_member};
use crate::domain::ScopeKind;

/// A set of words.
pub type Words = BTreeSet<String>;

/// Share of words, in thousandths, from which two names are similar.
pub const SIMILAR: u32 = 660;

/// Whether names of this kind are made up by people and vary. Files and routes say where and not
/// what; keys and tests are read exactly, and siblings differ by a word.
#[must_use]
pub const fn vary(kind: ScopeKind) -> bool {
    match kind {
        ScopeKind::Symbol
        | ScopeKind::Infra
        | ScopeKind::Migration
        | ScopeKind::Component
        | ScopeKind::Contract
        | ScopeKind::Domain
        | ScopeKind::Schema => true,
        ScopeKind::Api | ScopeKind::Config | ScopeKind::Test | ScopeKind::Env | ScopeKind::File => false,
    }
}

/// The words of a scope's name: of a symbol what is left without its namespace, of everything
/// else the whole key.
#[must_use]
pub fn words(kind: ScopeKind, key: &str) -> Words {
    let name = name(kind, key);
    // A file says where a function is and not what: `registry.rs::simple` is called `simple`.
    let called = match split_member(&name) {
        (Some(container), member) if kind == ScopeKind::Symbol && is_file_name(container) => member,
        _ => &name,
    };
    split(called).collect()
}

/// Whether the container in an alias is a file: only those keep a dot.
#[must_use]
pub fn is_file_name(container: &str) -> bool {
    container.contains('.') && parts(container, &["."]).len() > 1
}

/// The words of a text, `CamelCase` taken apart, in canonical case.
pub fn split(text: impl AsRef<str>) -> impl Iterator<Item = String> {
    // An accent that stands by itself would cut the word.
    let snake = composed(text.as_ref()).to_snake_case();
    snake.split('_').filter(|word| !word.is_empty()).map(folded).collect::<Vec<_>>().into_iter()
}

/// Whether two names share nearly all words, one having all of the other's.
#[must_use]
pub fn are_similar(one: &Words, other: &Words) -> bool {
    let contained = one.is_subset(other) || other.is_subset(one);
    contained && !one.is_empty() && !other.is_empty() && jaccard(one, other) >= SIMILAR
}

/// Shared words of all words, in thousandths, rounded to the nearest.
#[must_use]
pub fn jaccard(one: &Words, other: &Words) -> u32 {
    let shared = one.intersection(other).count();
    share(shared, one.len() + other.len() - shared)
}

/// So many shared words of so many in all, in thousandths, rounded to the nearest.
#[must_use]
pub fn share(shared: usize, all: usize) -> u32 {
    if all == 0 { 0 } else { u32::try_from((shared * 2_000 + all) / (all * 2)).unwrap_or(0) }
}

/// Whether so many shared words of so many in all are at least `least` thousandths.
#[must_use]
pub fn reaches(shared: usize, all: usize, least: u32) -> bool {
    share(shared, all) >= least
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(key: &str) -> Vec<String> {
        words(ScopeKind::Symbol, key).into_iter().collect()
    }

    #[test]
    fn a_name_is_taken_apart_at_its_capitals_without_its_namespace() {
        assert_eq!(
            symbol("crate::billing::StripePaymentService"),
            ["billing", "payment", "service", "stripe"]
        );
        assert_eq!(symbol("parseXMLHttpRequest"), ["http", "parse", "request", "xml"]);
        assert_eq!(words(ScopeKind::Env, "STRIPE_API_KEY").len(), 3);
    }

    #[test]
    fn names_are_similar_when_one_has_all_words_of_the_other_and_few_more() {
        let similar = |one, other| are_similar(&words(ScopeKind::Env, one), &words(ScopeKind::Env, other));
        assert!(similar("PAYMENT_SERVICE", "STRIPE_PAYMENT_SERVICE"));
        assert!(similar("STRIPE_API_KEY", "STRIPE_API_KEY_ID"));
        assert!(!similar("STRIPE_API_KEY", "STRIPE_API_URL"), "siblings");
        assert!(!similar("STRIPE", "STRIPE_API"), "half of the words");
        assert!(!similar("", ""));
    }

    #[test]
    fn shares_are_rounded_to_thousandths() {
        let set = |text: &str| split(text).collect::<Words>();
        assert_eq!(jaccard(&set("a b"), &set("a b c")), 667);
        assert_eq!(jaccard(&set("a"), &set("b")), 0);
        assert_eq!(jaccard(&set("a"), &set("a")), 1_000);
        assert_eq!(jaccard(&set(""), &set("")), 0);
    }
}
