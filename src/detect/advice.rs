//! What people read about a finding: the explanation and the suggestion.
//!
//! Rendered on every read from the codes on record, so better words reach old findings too.

use crate::domain::{Rule, ScopeKind, ScopeOperation};

/// One side of a finding as it is talked about.
#[derive(Debug, Clone, Copy)]
pub struct Party<'a> {
    /// Name of the agent.
    pub agent: &'a str,
    /// Kind of its scope.
    pub kind: ScopeKind,
    /// Key of its scope as declared.
    pub key: &'a str,
    /// What it does there.
    pub operation: ScopeOperation,
}

impl Party<'_> {
    fn scope(&self) -> String {
        format!("{}:{}", self.kind, self.key)
    }
}

/// What collides, in a sentence.
#[must_use]
pub fn explanation(rule: Rule, source: Party<'_>, target: Party<'_>, asserted: bool) -> String {
    let (first, second) = if target.operation.is_destructive() && !source.operation.is_destructive() {
        (target, source)
    } else {
        (source, target)
    };
    let what = format!(
        "{} will {} {} while {} will {} {}",
        first.agent,
        first.operation,
        first.scope(),
        second.agent,
        second.operation,
        if first.kind == second.kind && first.key == second.key { "it".to_owned() } else { second.scope() },
    );
    let consequence = match rule {
        Rule::DestructiveVsAdditive => format!("what {} builds on may no longer be there", second.agent),
        Rule::DivergentRewrite => "at most one of the two results can stand".to_owned(),
        Rule::SharedContract => "each may change what the other relies on".to_owned(),
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
            let destructive = if source.operation.is_destructive() { source } else { target };
            format!(
                "Introduce {} first and let both sides build on it (a heuristic: the name is only a proposal).",
                abstraction(destructive.key)
            )
        }
        Rule::SharedContract => {
            format!("Agree on what {} promises before either side changes it.", source.scope())
        }
    }
}

/// A shared abstraction named after what is being taken away.
fn abstraction(key: &str) -> String {
    let subject = key.rsplit(['.', ':', '/', '\\']).find(|part| !part.is_empty()).unwrap_or(key);
    match subject.strip_suffix("Service").filter(|stem| !stem.is_empty()) {
        Some(stem) => format!("a shared abstraction such as `{stem}Provider`"),
        None => format!("a shared abstraction over `{subject}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(agent: &'static str, kind: ScopeKind, operation: ScopeOperation) -> Party<'static> {
        Party { agent, kind, key: "PaymentService", operation }
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
    fn each_rule_and_kind_of_scope_gets_its_own_suggestion() {
        use ScopeOperation::{Extend, Modify, Replace};
        let advise =
            |rule, kind, one, other| suggestion(rule, party("a", kind, one), party("b", kind, other));
        let provider = advise(Rule::DestructiveVsAdditive, ScopeKind::Symbol, Extend, Replace);
        assert_eq!(
            provider,
            "Introduce a shared abstraction such as `PaymentProvider` first and let both sides build on it \
             (a heuristic: the name is only a proposal)."
        );
        for kind in [ScopeKind::Schema, ScopeKind::Migration, ScopeKind::Config] {
            assert!(
                advise(Rule::DivergentRewrite, kind, Replace, Replace).contains("order of the migrations")
            );
        }
        assert!(
            advise(Rule::DivergentRewrite, ScopeKind::Symbol, Replace, Replace).contains("Choose one target")
        );
        assert!(advise(Rule::SharedContract, ScopeKind::Symbol, Modify, Extend).contains("Agree on what"));
    }

    #[test]
    fn a_subject_without_the_suffix_keeps_its_name() {
        assert_eq!(abstraction("crate::billing::Ledger"), "a shared abstraction over `Ledger`");
        assert_eq!(abstraction("Service"), "a shared abstraction over `Service`");
        assert_eq!(abstraction("::"), "a shared abstraction over `::`");
    }
}
