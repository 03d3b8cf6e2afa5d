//! What is odd about an intent by itself.

use super::canonical::{forms, is_source_ending};
use super::qualified::parts;
use crate::domain::ScopeKind;

/// Most warnings about spellings in one answer.
pub const SHOWN: usize = 20;

/// Said of an intent without scopes.
pub const NO_SCOPES: &str = "No scopes are declared: this work can be matched to others only by its summary, which never \
                             makes a HIGH finding. It is published all the same, as a placeholder may be.";

/// A symbol that reads `Class.member` is compared by `member` alone; says so and what to write.
#[must_use]
pub fn dropped_class(kind: ScopeKind, key: &str) -> Option<String> {
    if kind != ScopeKind::Symbol {
        return None;
    }
    let last = parts(key, &["::"]).pop()?;
    let last = last.rsplit(['/', '\\']).next()?;
    let (before, member) = last.rsplit_once('.')?;
    let class = before.rsplit('.').next()?;
    let is_class = class.starts_with(char::is_uppercase);
    let is_member = member.starts_with(|c: char| c.is_lowercase() || c == '_') && !is_source_ending(member);
    (is_class && is_member).then(|| {
        format!(
            "`symbol:{key}` is compared by its alias `{}`, which drops the class. If it is a method of that class, \
             declare `symbol:{}::{member}`.",
            forms(kind, key).alias,
            &key[..key.len() - member.len() - 1],
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dotted_class_member_is_explained_with_its_alias_and_the_spelling_to_use() {
        let warning = dropped_class(ScopeKind::Symbol, "shop.CheckoutController.checkout").unwrap();
        assert!(warning.contains("alias `checkout`"), "{warning}");
        assert!(warning.contains("`symbol:shop.CheckoutController::checkout`"), "{warning}");
        assert!(dropped_class(ScopeKind::Symbol, "Cart._total").is_some());
    }

    #[test]
    fn other_spellings_are_not_odd() {
        for key in [
            "CheckoutController::checkout",
            "billing.PaymentService",
            "Cart.rs",
            "cart.total",
            "PaymentService",
            "",
        ] {
            assert_eq!(dropped_class(ScopeKind::Symbol, key), None, "{key}");
        }
        assert_eq!(dropped_class(ScopeKind::Config, "Cart.total"), None);
    }
}
