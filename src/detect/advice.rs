//! What people read about a finding: the explanation and the suggestion.
//!
//! Rendered on every read from the codes on record, so better words reach old findings too.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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
    let same = source.kind == target.kind && source.key == target.key;
    sentence(rule, source, target, asserted, same)
}

/// The same where there is little room: names and keys are cut as far as it takes to get to what
/// both do.
#[must_use]
pub fn brief(rule: Rule, source: Party<'_>, target: Party<'_>, asserted: bool) -> String {
    let same = source.kind == target.kind && source.key == target.key;
    let names = [source, target].map(|party| shortened(party.agent, BRIEF_NAME, &[' ', '/', '-', '_']));
    let keys = [source, target].map(|party| shortened(party.key, BRIEF_KEY, boundaries(party.kind)));
    let source = Party { agent: &names[0], key: &keys[0], ..source };
    let target = Party { agent: &names[1], key: &keys[1], ..target };
    sentence(rule, source, target, asserted, same)
}

/// Columns of a name and of a key in a brief sentence.
const BRIEF_NAME: usize = 34;
const BRIEF_KEY: usize = 40;

/// Beginning and end of a text that is wider than `most` columns, whole parts of it where there are.
fn shortened(text: &str, most: usize, boundaries: &[char]) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let room = most - 1;
    let fitting = |characters: &mut dyn Iterator<Item = char>, room: usize| {
        let mut used = 0;
        let fits = |one: &char| {
            // Control characters are escaped when they are shown.
            used += one.width().unwrap_or(1);
            used <= room
        };
        characters.take_while(fits).map(char::len_utf8).sum::<usize>()
    };
    let mut head = &text[..fitting(&mut text.chars(), room / 3)];
    if let Some((at, boundary)) = head.char_indices().rfind(|(_, one)| boundaries.contains(one)) {
        head = &head[..at + boundary.len_utf8()];
    }
    let rest = &text[head.len()..];
    let tail = &rest[rest.len() - fitting(&mut rest.chars().rev(), room.saturating_sub(head.width()))..];
    let whole = tail.find(boundaries).filter(|at| at + 1 < tail.len());
    // A boundary may have two characters.
    let start = whole.map_or(text.len() - tail.len(), |at| {
        let before = &text[head.len()..text.len() - tail.len() + at];
        head.len() + before.trim_end_matches(boundaries).len()
    });
    let tail = &text[start..];
    format!("{head}…{tail}")
}

fn sentence(rule: Rule, source: Party<'_>, target: Party<'_>, asserted: bool, same: bool) -> String {
    let (first, second) =
        if target.is_destructive() && !source.is_destructive() { (target, source) } else { (source, target) };
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

/// Where a key of this kind falls into parts.
fn boundaries(kind: ScopeKind) -> &'static [char] {
    if kind == ScopeKind::File { &['/'] } else { &['.', ':', '/', '\\'] }
}

/// A shared abstraction named after what is being taken away.
fn abstraction(kind: ScopeKind, key: &str) -> String {
    let subject = key.rsplit(boundaries(kind)).find(|part| !part.is_empty()).unwrap_or(key);
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
    fn texts_of_any_characters_are_shortened_without_losing_both_ends() {
        for one in ["\u{e0041}", "\u{1}", "\u{200d}", "👍🏽", "é", "e\u{301}", "漢", "/", "a/", "::"] {
            for count in [1, 20, 39, 40, 41, 200] {
                for text in
                    [one.repeat(count), format!("a{}b", one.repeat(count)), format!("{}a", one.repeat(count))]
                {
                    let short = shortened(&text, 40, &['/', ':']);
                    assert!(short.len() <= text.len() + '…'.len_utf8(), "{text:?}: {short:?}");
                    assert!(short == text || short.contains('…'), "{text:?}: {short:?}");
                }
            }
        }
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
    fn what_is_too_long_for_a_row_keeps_its_beginning_and_its_end() {
        let file = |key| shortened(key, BRIEF_KEY, boundaries(ScopeKind::File));
        let symbol = |key| shortened(key, BRIEF_KEY, boundaries(ScopeKind::Symbol));
        assert_eq!(file("packages/checkout/src/total.rs"), "packages/checkout/src/total.rs");
        assert_eq!(
            file("packages/storefront/src/payments/providers/PaypalProviderButton.tsx"),
            "packages/…/PaypalProviderButton.tsx"
        );
        assert_eq!(
            symbol("crate::billing::providers::international::PaymentService::charge"),
            "crate::…::PaymentService::charge"
        );
        let (long, wide) = ("x".repeat(200), "支払い".repeat(40));
        assert_eq!(file(&long), format!("{}…{}", "x".repeat(13), "x".repeat(26)));
        assert!(file(&wide).width() <= BRIEF_KEY && file(&wide).starts_with("支払い"));
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
