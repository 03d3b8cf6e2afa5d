//! The rule table: what an overlap and two operations mean.

use crate::domain::conflict::Tier;
use crate::domain::{Rule, ScopeOperation, Severity};

/// Full weight of a rule about scopes, in thousandths, before the tier's factor.
const WEIGHT: u32 = 970;

/// Share of words, in thousandths, from which two summaries promise the same work.
pub const DUPLICATE: u32 = 620;
/// The same where the two also do the same to an overlapping scope; this much is not enough.
pub const DUPLICATE_ON_SHARED_SCOPE: u32 = 420;

/// The rule that applies when overlapping scopes are treated in these two ways.
#[must_use]
pub const fn interaction(one: ScopeOperation, other: ScopeOperation) -> Rule {
    match (one.is_destructive(), other.is_destructive()) {
        (true, true) => Rule::DivergentRewrite,
        (false, false) => Rule::SharedContract,
        _ => Rule::DestructiveVsAdditive,
    }
}

/// Whether an overlap is certain enough to be asserted; `container` is what is done to the side
/// that contains the other. Of a directory and what lies below it,
/// that is so when the directory is what is taken away.
#[must_use]
pub const fn can_assert(tier: Tier, container: ScopeOperation) -> bool {
    match tier {
        Tier::Same => true,
        Tier::Inside => container.is_destructive(),
        _ => false,
    }
}

/// Severity of a finding: what is not asserted stays below HIGH.
#[must_use]
pub const fn severity(rule: Rule, asserted: bool) -> Severity {
    match rule {
        Rule::DestructiveVsAdditive | Rule::DivergentRewrite if asserted => Severity::High,
        _ => Severity::Medium,
    }
}

/// Score of an overlap in thousandths; `words` is the share of words of similar names.
#[must_use]
pub fn score(tier: Tier, words: u32) -> u16 {
    let ten_thousandths = match tier {
        Tier::Same => 10_000,
        Tier::SameName | Tier::OtherKind | Tier::Inside => 9_000,
        Tier::SimilarName => 6_500 + 2 * words,
    };
    u16::try_from((ten_thousandths * WEIGHT + 5_000) / 10_000).unwrap_or(1_000)
}

/// Score of overlapping claims in thousandths.
pub const CLAIM_SCORE: u16 = 880;

/// Score of duplicate work in thousandths, from the share of words of the summaries.
#[must_use]
pub fn duplicate_score(words: u32) -> u16 {
    u16::try_from((550 + words * 2 / 5).min(960)).unwrap_or(960)
}

/// Order in which findings below HIGH compete for a place on record: smaller first.
#[must_use]
pub const fn rank(rule: Rule) -> u8 {
    match rule {
        Rule::DestructiveVsAdditive => 1,
        Rule::DivergentRewrite => 2,
        Rule::OverlappingClaim => 3,
        Rule::DuplicateWork => 4,
        Rule::SharedContract => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_of_two_operations_is_symmetric_and_covers_every_pair() {
        for one in ScopeOperation::ALL {
            for other in ScopeOperation::ALL {
                let rule = interaction(*one, *other);
                assert_eq!(rule, interaction(*other, *one));
                let destructive = u8::from(one.is_destructive()) + u8::from(other.is_destructive());
                assert_eq!(rule == Rule::SharedContract, destructive == 0);
                assert_eq!(rule == Rule::DestructiveVsAdditive, destructive == 1);
            }
        }
    }

    #[test]
    fn only_an_asserted_destructive_finding_is_high() {
        for rule in Rule::ALL {
            assert_eq!(severity(*rule, false), Severity::Medium);
        }
        assert_eq!(severity(Rule::DestructiveVsAdditive, true), Severity::High);
        assert_eq!(severity(Rule::DivergentRewrite, true), Severity::High);
        assert_eq!(severity(Rule::SharedContract, true), Severity::Medium);
    }

    #[test]
    fn only_equality_and_a_directory_that_goes_away_can_be_asserted() {
        for tier in Tier::ALL.iter().filter(|tier| ![Tier::Same, Tier::Inside].contains(tier)) {
            assert!(!can_assert(*tier, ScopeOperation::Remove), "{tier}");
        }
        assert!(can_assert(Tier::Same, ScopeOperation::Add));
        assert!(can_assert(Tier::Inside, ScopeOperation::Remove));
        assert!(!can_assert(Tier::Inside, ScopeOperation::Modify));
    }

    #[test]
    fn scores_follow_the_table_to_three_places() {
        assert_eq!(score(Tier::Same, 0), 970);
        assert_eq!(score(Tier::Inside, 0), 873);
        assert_eq!(score(Tier::SimilarName, 667), 760);
        assert_eq!(duplicate_score(620), 798);
        assert_eq!(duplicate_score(1_000), 950);
    }
}
