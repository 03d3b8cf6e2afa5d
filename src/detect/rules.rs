//! The rule table: what two operations on overlapping scopes mean.

use crate::domain::conflict::Tier;
use crate::domain::{Rule, ScopeOperation, Severity};

/// Full weight of a declared-operation rule, in thousandths, before the tier's factor.
const WEIGHT: u32 = 970;

/// The rule that applies when overlapping scopes are treated in these two ways.
#[must_use]
pub const fn interaction(one: ScopeOperation, other: ScopeOperation) -> Rule {
    match (one.is_destructive(), other.is_destructive()) {
        (true, true) => Rule::DivergentRewrite,
        (false, false) => Rule::SharedContract,
        _ => Rule::DestructiveVsAdditive,
    }
}

/// Share of the rule's weight that an overlap of this tier earns, in thousandths.
#[must_use]
pub const fn factor(tier: Tier) -> u32 {
    match tier {
        Tier::Same => 1_000,
    }
}

/// Whether an overlap of this tier is certain enough to be asserted.
#[must_use]
pub const fn can_assert(tier: Tier) -> bool {
    match tier {
        Tier::Same => true,
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

/// Score of a finding in thousandths.
#[must_use]
pub fn score(tier: Tier) -> u16 {
    u16::try_from((factor(tier) * WEIGHT + 500) / 1_000).unwrap_or(1_000)
}

/// Order in which findings below HIGH compete for a place on record: smaller first.
#[must_use]
pub const fn rank(rule: Rule) -> u8 {
    match rule {
        Rule::DestructiveVsAdditive => 1,
        Rule::DivergentRewrite => 2,
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
        assert_eq!(score(Tier::Same), 970);
    }
}
