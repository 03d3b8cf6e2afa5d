//! Comparing two intents.

use std::collections::HashMap;

use super::rules;
use crate::domain::conflict::Tier;
use crate::domain::{Rule, ScopeKind, ScopeOperation, Severity};

/// One scope of a side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideScope {
    /// What kind of thing it is.
    pub kind: ScopeKind,
    /// The whole key in canonical form.
    pub full: String,
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
    /// Whether its agent is a namesake, in the same worktree, of the other side's: a session
    /// that was started again. Findings with it are never asserted.
    pub namesake: bool,
}

/// A collision between two sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// How the scopes overlap.
    pub tier: Tier,
    /// Index of the scope in my list and in theirs.
    pub scopes: (usize, usize),
    /// My operation and theirs.
    pub operations: (ScopeOperation, ScopeOperation),
    /// Whether mine or theirs was read from prose.
    pub inferred: (bool, bool),
    /// Whether the overlap is certain and both operations were declared.
    pub asserted: bool,
    /// How much it matters.
    pub severity: Severity,
    /// Thousandths.
    pub score: u16,
}

/// Every finding between two sides, in the order of my scopes.
#[must_use]
pub fn between(mine: &Side, theirs: &Side) -> Vec<Finding> {
    let namesakes = mine.namesake || theirs.namesake;
    let places: HashMap<_, _> = theirs
        .scopes
        .iter()
        .enumerate()
        .map(|(place, scope)| ((scope.kind, scope.full.as_str()), place))
        .collect();
    mine.scopes
        .iter()
        .enumerate()
        .filter_map(|(place, scope)| {
            let other = *places.get(&(scope.kind, scope.full.as_str()))?;
            Some(judge(Tier::Same, (place, other), (scope, &theirs.scopes[other]), namesakes))
        })
        .collect()
}

fn judge(
    tier: Tier,
    scopes: (usize, usize),
    (mine, theirs): (&SideScope, &SideScope),
    namesakes: bool,
) -> Finding {
    let rule = rules::interaction(mine.operation, theirs.operation);
    let asserted = rules::can_assert(tier) && !mine.inferred && !theirs.inferred && !namesakes;
    Finding {
        rule,
        tier,
        scopes,
        operations: (mine.operation, theirs.operation),
        inferred: (mine.inferred, theirs.inferred),
        asserted,
        severity: rules::severity(rule, asserted),
        score: rules::score(tier),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::canonical::forms;
    use super::*;

    fn side(scopes: &[(&str, ScopeOperation, bool)]) -> Side {
        let scopes = scopes
            .iter()
            .map(|(key, operation, inferred)| SideScope {
                kind: ScopeKind::Symbol,
                full: forms(ScopeKind::Symbol, key).full,
                operation: *operation,
                inferred: *inferred,
            })
            .collect();
        Side { scopes, namesake: false }
    }

    #[test]
    fn replacing_what_another_extends_is_high_and_asserted() {
        use ScopeOperation::{Extend, Replace};
        let found = between(
            &side(&[("PaymentService", Replace, false)]),
            &side(&[("paymentservice", Extend, false)]),
        );
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].rule, found[0].severity), (Rule::DestructiveVsAdditive, Severity::High));
        assert_eq!((found[0].asserted, found[0].score), (true, 970));
    }

    #[test]
    fn an_operation_read_from_prose_never_asserts() {
        use ScopeOperation::{Extend, Replace};
        for inferred in [(true, false), (false, true), (true, true)] {
            let found = between(&side(&[("a", Replace, inferred.0)]), &side(&[("a", Extend, inferred.1)]));
            assert_eq!((found[0].asserted, found[0].severity), (false, Severity::Medium));
            assert_eq!(found[0].inferred, inferred);
        }
    }

    #[test]
    fn a_restarted_session_is_surfaced_but_never_asserted_against_itself() {
        use ScopeOperation::{Extend, Replace};
        let mut restarted = side(&[("a", Replace, false)]);
        restarted.namesake = true;
        let found = between(&side(&[("a", Extend, false)]), &restarted);
        assert_eq!((found[0].asserted, found[0].severity), (false, Severity::Medium));
    }

    #[test]
    fn different_keys_and_different_kinds_do_not_collide_here() {
        use ScopeOperation::Replace;
        assert!(between(&side(&[("a", Replace, false)]), &side(&[("b", Replace, false)])).is_empty());
        assert!(between(&Side::default(), &side(&[("b", Replace, false)])).is_empty());
    }

    fn sides() -> impl Strategy<Value = Side> {
        let scope = ("[a-d]", prop::sample::select(ScopeOperation::ALL), any::<bool>());
        prop::collection::btree_map("[a-f]", (scope.1, scope.2), 0..6).prop_map(|scopes| {
            let listed: Vec<_> =
                scopes.iter().map(|(key, (op, inferred))| (key.as_str(), *op, *inferred)).collect();
            side(&listed)
        })
    }

    proptest! {
        #[test]
        fn findings_are_the_same_seen_from_either_side(one in sides(), other in sides()) {
            let mut seen = between(&one, &other);
            let mut mirrored: Vec<_> = between(&other, &one)
                .into_iter()
                .map(|mut finding| {
                    finding.scopes = (finding.scopes.1, finding.scopes.0);
                    finding.operations = (finding.operations.1, finding.operations.0);
                    finding.inferred = (finding.inferred.1, finding.inferred.0);
                    finding
                })
                .collect();
            seen.sort_by_key(|finding| finding.scopes);
            mirrored.sort_by_key(|finding| finding.scopes);
            prop_assert_eq!(seen, mirrored);
        }

        #[test]
        fn an_unrelated_scope_never_changes_a_finding(one in sides(), other in sides()) {
            let before = between(&one, &other);
            let mut wider = one.clone();
            wider.scopes.extend(side(&[("unrelated", ScopeOperation::Remove, false)]).scopes);
            prop_assert_eq!(before, between(&wider, &other));
        }
    }
}
