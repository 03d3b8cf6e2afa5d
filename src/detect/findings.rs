//! Comparing two intents.

use super::names::{self, Words};
use super::overlaps::Lookup;
use super::rules;
use super::tiers::{Compared, contains};
use crate::domain::conflict::Tier;
use crate::domain::{Rule, ScopeOperation, Severity};

/// One scope of a side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideScope {
    /// The forms it is compared by.
    pub compared: Compared,
    /// What the side does to it.
    pub operation: ScopeOperation,
    /// Whether the operation was read from prose.
    pub inferred: bool,
}

/// What one intent brings to a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Side {
    /// Its scopes, no full form twice.
    pub scopes: Vec<SideScope>,
    /// The words of its summary that carry meaning, see [`super::prose::words`].
    pub summary: Words,
    /// Whether its agent is a namesake, in the same worktree, of the other side's: a session
    /// that was started again. Findings with it are never asserted.
    pub namesake: bool,
}

/// A collision between two sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// Where the two meet; `None` when they only promise the same work.
    pub at: Option<Meeting>,
    /// Share of words that both summaries have, in thousandths; for duplicate work.
    pub similarity: Option<u16>,
    /// Whether the overlap is certain and both operations were declared.
    pub asserted: bool,
    /// How much it matters.
    pub severity: Severity,
    /// Thousandths.
    pub score: u16,
}

/// A scope of mine and one of theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    /// How the scopes overlap.
    pub tier: Tier,
    /// Index of the scope in my list and in theirs.
    pub scopes: (usize, usize),
    /// My operation and theirs; claims have none.
    pub operations: Option<(ScopeOperation, ScopeOperation)>,
    /// Whether mine or theirs was read from prose.
    pub inferred: (bool, bool),
}

/// Fewest words with meaning a summary needs to be compared by them.
pub const FEWEST_WORDS: usize = 3;

/// Every finding between two sides, in the order of my scopes; duplicate work last.
#[must_use]
pub fn between(mine: &Side, theirs: &Side) -> Vec<Finding> {
    let lookup = Lookup::new(theirs.scopes.iter().map(|scope| &scope.compared));
    let namesakes = mine.namesake || theirs.namesake;
    let mut found = Vec::new();
    for (place, scope) in mine.scopes.iter().enumerate() {
        for (other, tier) in lookup.overlaps(&scope.compared) {
            let theirs = &theirs.scopes[other];
            found.push(meeting(&Overlap {
                tier,
                scopes: (place, other),
                operations: (scope.operation, theirs.operation),
                inferred: (scope.inferred, theirs.inferred),
                mine_contains: contains(&scope.compared.full, &theirs.compared.full),
                words: names::jaccard(&scope.compared.words, &theirs.compared.words),
                namesakes,
            }));
        }
    }
    let share = similarity(&mine.summary, &theirs.summary);
    found.extend(duplicate(share, same_operation(&found)));
    found
}

/// Two scopes that overlap, and what decides what it means.
#[derive(Debug, Clone, Copy)]
pub struct Overlap {
    /// How the scopes overlap.
    pub tier: Tier,
    /// What [`Meeting::scopes`] is to say.
    pub scopes: (usize, usize),
    /// My operation and theirs.
    pub operations: (ScopeOperation, ScopeOperation),
    /// Whether mine or theirs was read from prose.
    pub inferred: (bool, bool),
    /// For a directory and what lies below it: whether mine is the directory.
    pub mine_contains: bool,
    /// For similar names: the share of words, in thousandths.
    pub words: u32,
    /// Whether the sides are two sessions of one agent.
    pub namesakes: bool,
}

/// What an overlap means.
#[must_use]
pub fn meeting(overlap: &Overlap) -> Finding {
    let &Overlap { tier, scopes, operations, inferred, mine_contains, words, namesakes } = overlap;
    let rule = rules::interaction(operations.0, operations.1);
    let container = if mine_contains { operations.0 } else { operations.1 };
    let declared = !inferred.0 && !inferred.1;
    let asserted = rules::can_assert(tier, container) && declared && !namesakes;
    Finding {
        rule,
        at: Some(Meeting { tier, scopes, operations: Some(operations), inferred }),
        similarity: None,
        asserted,
        severity: rules::severity(rule, asserted),
        score: rules::score(tier, words),
    }
}

/// A claim of mine on what another agent claims.
#[must_use]
pub fn claimed(tier: Tier, scopes: (usize, usize)) -> Finding {
    let rule = Rule::OverlappingClaim;
    Finding {
        rule,
        at: Some(Meeting { tier, scopes, operations: None, inferred: (false, false) }),
        similarity: None,
        asserted: false,
        severity: rules::severity(rule, false),
        score: rules::CLAIM_SCORE,
    }
}

/// Whether two intents do the same to some scope they share.
#[must_use]
pub fn same_operation(found: &[Finding]) -> bool {
    found.iter().filter_map(|finding| finding.at?.operations).any(|(mine, theirs)| mine == theirs)
}

/// The share of words of two summaries, in thousandths; none where one says too little.
fn similarity(mine: &Words, theirs: &Words) -> u32 {
    let enough = says_enough(mine) && says_enough(theirs);
    if enough { names::jaccard(mine, theirs) } else { 0 }
}

/// Whether a summary has enough words with meaning to be compared by them.
#[must_use]
pub fn says_enough(summary: &Words) -> bool {
    summary.len() >= FEWEST_WORDS
}

/// The finding that two summaries promise the same work, if their share of words makes it one.
#[must_use]
pub fn duplicate(share: u32, same_operation: bool) -> Option<Finding> {
    let duplicate = share >= rules::DUPLICATE || (same_operation && share > rules::DUPLICATE_ON_SHARED_SCOPE);
    duplicate.then(|| Finding {
        rule: Rule::DuplicateWork,
        at: None,
        similarity: u16::try_from(share).ok(),
        asserted: false,
        severity: rules::severity(Rule::DuplicateWork, false),
        score: rules::duplicate_score(share),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::canonical::forms;
    use super::super::prose;
    use super::*;
    use crate::domain::ScopeKind;

    type Declared<'d> = (ScopeKind, &'d str, ScopeOperation, bool);

    fn side(summary: &str, scopes: &[Declared<'_>]) -> Side {
        let scopes = scopes.iter().map(|(kind, key, operation, inferred)| SideScope {
            compared: Compared::new(key, forms(*kind, key)),
            operation: *operation,
            inferred: *inferred,
        });
        Side { scopes: scopes.collect(), summary: prose::words(summary), namesake: false }
    }

    fn symbol(key: &str, operation: ScopeOperation) -> Side {
        side("", &[(ScopeKind::Symbol, key, operation, false)])
    }

    fn file(key: &str, operation: ScopeOperation) -> Side {
        side("", &[(ScopeKind::File, key, operation, false)])
    }

    #[test]
    fn replacing_what_another_extends_is_high_and_asserted() {
        let found = between(
            &symbol("PaymentService", ScopeOperation::Replace),
            &symbol("paymentservice", ScopeOperation::Extend),
        );
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].rule, found[0].severity), (Rule::DestructiveVsAdditive, Severity::High));
        assert_eq!((found[0].asserted, found[0].score), (true, 970));
    }

    #[test]
    fn the_same_name_in_another_namespace_is_surfaced_and_never_high() {
        let found = between(
            &symbol("PaymentService", ScopeOperation::Remove),
            &symbol("crate::billing::PaymentService", ScopeOperation::Extend),
        );
        assert_eq!((found[0].asserted, found[0].severity, found[0].score), (false, Severity::Medium, 873));
    }

    #[test]
    fn taking_a_directory_away_is_asserted_against_work_inside_it_and_changing_it_is_not() {
        let inside = file("src/billing/mod.rs", ScopeOperation::Modify);
        let found = between(&file("src/billing", ScopeOperation::Remove), &inside);
        assert_eq!((found[0].rule, found[0].severity), (Rule::DestructiveVsAdditive, Severity::High));
        let found = between(&inside, &file("src/billing", ScopeOperation::Remove));
        assert_eq!(found[0].severity, Severity::High, "whichever side looks");
        let gone = file("src/billing/mod.rs", ScopeOperation::Remove);
        let found = between(&file("src/billing", ScopeOperation::Modify), &gone);
        assert_eq!((found[0].asserted, found[0].severity), (false, Severity::Medium));
    }

    #[test]
    fn an_operation_read_from_prose_never_asserts() {
        use ScopeOperation::{Extend, Replace};
        for inferred in [(true, false), (false, true), (true, true)] {
            let one = side("", &[(ScopeKind::Symbol, "a", Replace, inferred.0)]);
            let found = between(&one, &side("", &[(ScopeKind::Symbol, "a", Extend, inferred.1)]));
            assert_eq!((found[0].asserted, found[0].severity), (false, Severity::Medium));
            assert_eq!(found[0].at.unwrap().inferred, inferred);
        }
    }

    #[test]
    fn a_restarted_session_is_surfaced_but_never_asserted_against_itself() {
        let mut restarted = symbol("a", ScopeOperation::Replace);
        restarted.namesake = true;
        let found = between(&symbol("a", ScopeOperation::Extend), &restarted);
        assert_eq!((found[0].asserted, found[0].severity), (false, Severity::Medium));
    }

    #[test]
    fn nearly_the_same_summary_is_duplicate_work_and_a_few_words_are_not() {
        let same = between(
            &side("Add rate limiting to the public login endpoint", &[]),
            &side("Introduce rate limiting for public login endpoints", &[]),
        );
        assert!(same.iter().all(|found| found.rule == Rule::DuplicateWork && !found.asserted));
        let short = between(&side("Fix typo", &[]), &side("Fix typo", &[]));
        assert!(short.is_empty(), "two words say too little: {short:?}");
    }

    #[test]
    fn half_the_words_are_enough_only_with_the_same_operation_on_a_shared_scope() {
        let one = "Add retry budget to payment webhook delivery";
        let other = "Add retry jitter to payment webhook sender";
        let share = names::jaccard(&prose::words(one), &prose::words(other));
        assert!(rules::DUPLICATE_ON_SHARED_SCOPE < share && share < rules::DUPLICATE, "{share}");
        assert!(between(&side(one, &[]), &side(other, &[])).is_empty());
        let scope = |operation| [(ScopeKind::Symbol, "Webhook", operation, false)];
        let rules_found = |mine, theirs| -> Vec<Rule> {
            let found = between(&side(one, &scope(mine)), &side(other, &scope(theirs)));
            found.iter().map(|found| found.rule).collect()
        };
        assert_eq!(
            rules_found(ScopeOperation::Extend, ScopeOperation::Extend),
            [Rule::SharedContract, Rule::DuplicateWork]
        );
        assert_eq!(rules_found(ScopeOperation::Extend, ScopeOperation::Modify), [Rule::SharedContract]);
    }

    fn sides() -> impl Strategy<Value = Side> {
        let kind = prop::sample::select(&[ScopeKind::Symbol, ScopeKind::File, ScopeKind::Domain]);
        let key = prop::sample::select(&[
            "a",
            "a/b",
            "x.a",
            "PayService",
            "payService",
            "NewPayService",
            "c::PayService",
        ]);
        let scope = (kind, key, prop::sample::select(ScopeOperation::ALL), any::<bool>());
        let words = prop::sample::subsequence(vec!["retry", "budget", "webhook", "login", "ledger"], 0..=5);
        (prop::collection::vec(scope, 0..6), words).prop_map(|(scopes, words)| {
            let mut seen = std::collections::HashSet::new();
            let scopes: Vec<_> = scopes
                .into_iter()
                .filter(|(kind, key, ..)| seen.insert((*kind, forms(*kind, key).full)))
                .collect();
            side(&words.join(" "), &scopes)
        })
    }

    fn sorted(mut found: Vec<Finding>) -> Vec<Finding> {
        found.sort_by_key(|finding| (finding.rule, finding.at.map(|at| at.scopes)));
        found
    }

    proptest! {
        #[test]
        fn findings_are_the_same_seen_from_either_side(one in sides(), other in sides()) {
            let mirrored = between(&other, &one).into_iter().map(|mut finding| {
                if let Some(at) = &mut finding.at {
                    at.scopes = (at.scopes.1, at.scopes.0);
                    at.operations = at.operations.map(|(mine, theirs)| (theirs, mine));
                    at.inferred = (at.inferred.1, at.inferred.0);
                }
                finding
            });
            prop_assert_eq!(sorted(between(&one, &other)), sorted(mirrored.collect()));
        }

        #[test]
        fn unrelated_scopes_and_the_order_of_scopes_never_change_a_finding(one in sides(), other in sides()) {
            let named = |side: &Side, found: Vec<Finding>| -> std::collections::BTreeSet<String> {
                found.iter().map(|finding| format!("{:?}", (
                    finding.rule, finding.severity, finding.score, finding.asserted, finding.similarity,
                    finding.at.map(|at| (side.scopes[at.scopes.0].compared.full.clone(), other.scopes[at.scopes.1].compared.full.clone())),
                ))).collect()
            };
            let before = named(&one, between(&one, &other));
            let mut wider = one.clone();
            wider.scopes.reverse();
            wider.scopes.extend(side("", &[(ScopeKind::Env, "UNRELATED_TOTALLY", ScopeOperation::Remove, false)]).scopes);
            prop_assert_eq!(before, named(&wider, between(&wider, &other)));
        }

        #[test]
        fn a_scope_that_is_declared_again_changes_no_finding(one in sides(), other in sides(), again in 0..6_usize) {
            use super::super::canonical::publishable;
            use crate::domain::ScopeClaim;
            let publish = |side: &Side, repeated: Option<usize>| {
                let claim = |scope: &SideScope| ScopeClaim {
                    kind: scope.compared.kind,
                    key: scope.compared.full.clone(),
                    operation: scope.operation,
                    inferred: scope.inferred,
                };
                let repeated = repeated.and_then(|at| side.scopes.get(at));
                let published = publishable(side.scopes.iter().chain(repeated).map(claim).collect()).unwrap();
                let scopes = published.iter().map(|scope| SideScope {
                    compared: Compared::new(&scope.key, scope.canonical()),
                    operation: scope.operation,
                    inferred: scope.inferred,
                });
                Side { scopes: scopes.collect(), summary: side.summary.clone(), namesake: false }
            };
            prop_assert_eq!(
                between(&publish(&one, None), &publish(&other, None)),
                between(&publish(&one, Some(again)), &publish(&other, None))
            );
        }
    }
}
