//! What people read about a finding: the explanation and the suggestion.
//!
//! Rendered on every read from the codes on record, so better words reach old findings too.

use crate::domain::{Agent, Id, Rule, ScopeKind, ScopeOperation};

/// One side of a finding as it is talked about.
#[derive(Debug, Clone, Copy)]
pub struct Party<'a> {
    /// Name of the agent.
    pub agent: &'a str,
    /// Kind of its scope.
    pub kind: ScopeKind,
    /// Key of its scope as declared.
    pub key: &'a str,
    /// What it does there; a claim says only that it is at work.
    pub operation: Option<ScopeOperation>,
}

impl Party<'_> {
    fn scope(&self) -> String {
        format!("{}:{}", self.kind, self.key)
    }

    fn is_destructive(&self) -> bool {
        self.operation.is_some_and(ScopeOperation::is_destructive)
    }

    fn does(&self, what: &str) -> String {
        match self.operation {
            Some(operation) => format!("{} will {operation} {what}", self.agent),
            None => format!("{} claims {what}", self.agent),
        }
    }
}

/// What two agents are called in one sentence. Namesakes go by the beginnings of their ids too.
#[must_use]
pub fn called(one: (&str, Id<Agent>), other: (&str, Id<Agent>)) -> (String, String) {
    let name = |(name, id): (&str, Id<Agent>)| {
        if one.0 == other.0 && one.1 != other.1 {
            format!("{name} ({})", id.short())
        } else {
            name.to_owned()
        }
    };
    (name(one), name(other))
}

/// Why two summaries look like the same work.
#[must_use]
pub fn duplicate_explanation(source_agent: &str, target_agent: &str, similarity: u16) -> String {
    format!(
        "{source_agent} and {target_agent} describe nearly the same work: their summaries share {} % of their words. This \
         is a hint, not a certainty.",
        (similarity + 5) / 10
    )
}

/// What to do about the same work planned twice.
pub const DUPLICATE_SUGGESTION: &str =
    "Split the work between you, or agree on one owner and discard the other intent.";

/// What collides, in a sentence.
#[must_use]
pub fn explanation(rule: Rule, source: Party<'_>, target: Party<'_>, asserted: bool) -> String {
    let (first, second) =
        if target.is_destructive() && !source.is_destructive() { (target, source) } else { (source, target) };
    let same = first.kind == second.kind && first.key == second.key;
    let theirs = if same { "it".to_owned() } else { second.scope() };
    let what = format!("{} while {}", first.does(&first.scope()), second.does(&theirs));
    let consequence = match rule {
        Rule::DestructiveVsAdditive => format!("what {} builds on may no longer be there", second.agent),
        Rule::DivergentRewrite => "at most one of the two results can stand".to_owned(),
        Rule::SharedContract | Rule::DuplicateWork => "each may change what the other relies on".to_owned(),
        Rule::OverlappingClaim => "both are at work in the same place".to_owned(),
    };
    let certainty = if asserted { "" } else { " This is a hint, not a certainty." };
    format!("{what}: {consequence}.{certainty}")
}

/// What to do about it.
#[must_use]
pub fn suggestion(rule: Rule, source: Party<'_>, target: Party<'_>) -> String {
    let ordered = |kind| matches!(kind, ScopeKind::Schema | ScopeKind::Migration | ScopeKind::Config);
    if ordered(source.kind) || ordered(target.kind) {
        return "Agree on the order of the migrations, and who writes which, before either side starts."
            .to_owned();
    }
    match rule {
        Rule::DivergentRewrite => {
            format!(
                "Choose one target for {} and record who builds it; the other side builds on that.",
                source.scope()
            )
        }
        Rule::DestructiveVsAdditive => {
            let destructive = if source.is_destructive() { source } else { target };
            format!(
                "Introduce {} first and let both sides build on it (a heuristic: the name is only a proposal).",
                abstraction(destructive.kind, destructive.key)
            )
        }
        Rule::SharedContract | Rule::DuplicateWork => {
            format!("Agree on what {} promises before either side changes it.", source.scope())
        }
        Rule::OverlappingClaim => {
            format!(
                "Agree who works on {} first; a claim that is not needed can be released.",
                source.scope()
            )
        }
    }
}

/// A shared abstraction named after what is being taken away.
fn abstraction(kind: ScopeKind, key: &str) -> String {
    let boundaries: &[char] = if kind == ScopeKind::File { &['/'] } else { &['.', ':', '/', '\\'] };
    let subject = key.rsplit(boundaries).find(|part| !part.is_empty()).unwrap_or(key);
    match subject.strip_suffix("Service").filter(|stem| !stem.is_empty()) {
        Some(stem) => format!("a shared abstraction such as `{stem}Provider`"),
        None => format!("a shared abstraction over `{subject}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(agent: &'static str, kind: ScopeKind, operation: ScopeOperation) -> Party<'static> {
        Party { agent, kind, key: "PaymentService", operation: Some(operation) }
    }

    #[test]
    fn the_destructive_side_is_named_first_whichever_side_it_is() {
        let (replace, extend) = (
            party("stripe", ScopeKind::Symbol, ScopeOperation::Replace),
            party("paypal", ScopeKind::Symbol, ScopeOperation::Extend),
        );
        let expected = "stripe will replace symbol:PaymentService while paypal will extend it: \
                        what paypal builds on may no longer be there.";
        assert_eq!(explanation(Rule::DestructiveVsAdditive, replace, extend, true), expected);
        assert_eq!(explanation(Rule::DestructiveVsAdditive, extend, replace, true), expected);
    }

    #[test]
    fn every_suggestion_reads_as_it_was_approved() {
        use ScopeOperation::{Extend, Modify, Replace};
        let advise =
            |rule, kind, one, other| suggestion(rule, party("a", kind, one), party("b", kind, other));
        assert_eq!(
            advise(Rule::DestructiveVsAdditive, ScopeKind::Symbol, Extend, Replace),
            "Introduce a shared abstraction such as `PaymentProvider` first and let both sides build on it (a heuristic: \
             the name is only a proposal)."
        );
        assert_eq!(
            advise(Rule::DivergentRewrite, ScopeKind::Symbol, Replace, Replace),
            "Choose one target for symbol:PaymentService and record who builds it; the other side builds on that."
        );
        assert_eq!(
            advise(Rule::SharedContract, ScopeKind::Symbol, Modify, Extend),
            "Agree on what symbol:PaymentService promises before either side changes it."
        );
        assert_eq!(
            advise(Rule::OverlappingClaim, ScopeKind::Symbol, Modify, Modify),
            "Agree who works on symbol:PaymentService first; a claim that is not needed can be released."
        );
        assert_eq!(
            DUPLICATE_SUGGESTION,
            "Split the work between you, or agree on one owner and discard the other intent."
        );
        for kind in [ScopeKind::Schema, ScopeKind::Migration, ScopeKind::Config] {
            for rule in [
                Rule::DestructiveVsAdditive,
                Rule::DivergentRewrite,
                Rule::SharedContract,
                Rule::OverlappingClaim,
            ] {
                assert_eq!(
                    advise(rule, kind, Replace, Modify),
                    "Agree on the order of the migrations, and who writes which, before either side starts."
                );
            }
        }
    }

    #[test]
    fn every_explanation_reads_as_it_was_approved() {
        use ScopeOperation::{Extend, Modify, Replace};
        let explain = |rule, one, other, asserted| {
            explanation(
                rule,
                party("a", ScopeKind::Symbol, one),
                party("b", ScopeKind::Symbol, other),
                asserted,
            )
        };
        assert_eq!(
            explain(Rule::DivergentRewrite, Replace, Replace, true),
            "a will replace symbol:PaymentService while b will replace it: at most one of the two results can stand."
        );
        assert_eq!(
            explain(Rule::SharedContract, Modify, Extend, true),
            "a will modify symbol:PaymentService while b will extend it: each may change what the other relies on."
        );
        assert_eq!(
            explain(Rule::DestructiveVsAdditive, Replace, Extend, false),
            "a will replace symbol:PaymentService while b will extend it: what b builds on may no longer be there. This is \
             a hint, not a certainty."
        );
        let claims = |agent| Party { operation: None, ..party(agent, ScopeKind::Symbol, Modify) };
        assert_eq!(
            explanation(Rule::OverlappingClaim, claims("a"), claims("b"), true),
            "a claims symbol:PaymentService while b claims it: both are at work in the same place."
        );
        assert_eq!(
            duplicate_explanation("a", "b", 667),
            "a and b describe nearly the same work: their summaries share 67 % of their words. This is a hint, not a \
             certainty."
        );
    }

    #[test]
    fn a_subject_without_the_suffix_keeps_its_name() {
        assert_eq!(
            abstraction(ScopeKind::Symbol, "crate::billing::Ledger"),
            "a shared abstraction over `Ledger`"
        );
        assert_eq!(abstraction(ScopeKind::Symbol, "Service"), "a shared abstraction over `Service`");
        assert_eq!(abstraction(ScopeKind::Symbol, "::"), "a shared abstraction over `::`");
        assert_eq!(abstraction(ScopeKind::File, "src/cart/total.rs"), "a shared abstraction over `total.rs`");
    }
}
