//! How strongly two scopes overlap.

use super::names::{self, Words};
use super::qualified::{dotted, parts, split_member};
use crate::domain::conflict::Tier;
use crate::domain::{CanonicalScope, ScopeKind};

/// A scope in the forms it is compared by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// What kind of thing it is.
    pub kind: ScopeKind,
    /// The whole key in canonical form.
    pub full: String,
    /// The alias.
    pub alias: String,
    /// The words of its name.
    pub words: Words,
}

impl Compared {
    /// The scope declared as `key` with the canonical forms it was given then.
    #[must_use]
    pub fn new(key: &str, canonical: CanonicalScope) -> Self {
        let CanonicalScope { kind, full, alias } = canonical;
        Self { kind, full, alias, words: names::words(kind, key) }
    }
}

/// Two scopes overlap at most in one way: the strongest.
///
/// This is the definition; [`super::overlaps`] finds the same for many scopes at once.
#[must_use]
pub fn overlap(one: &Compared, other: &Compared) -> Option<Tier> {
    let is_file = one.kind == ScopeKind::File;
    if one.kind != other.kind {
        return (key(one) == key(other)).then_some(Tier::OtherKind);
    }
    if one.full == other.full {
        return Some(Tier::Same);
    }
    if is_file {
        if one.alias == other.alias {
            return Some(Tier::SameName);
        }
        let inside = contains(&one.full, &other.full) || contains(&other.full, &one.full);
        return inside.then_some(Tier::Inside);
    }
    let same_alias = alias_key(one).is_some_and(|alias| alias_key(other) == Some(alias));
    if same_alias || is_tail(one, other) || is_tail(other, one) {
        return Some(Tier::SameName);
    }
    are_similar(one, other).then_some(Tier::SimilarName)
}

/// How two claims overlap; what is a mere hint between intents is nothing between claims.
#[must_use]
pub fn claims_overlap(one: &Compared, other: &Compared) -> Option<Tier> {
    overlap(one, other).filter(|tier| matches!(tier, Tier::Same | Tier::SameName | Tier::Inside))
}

/// The key in folded case, in which kinds are compared with each other.
#[must_use]
pub fn key(scope: &Compared) -> &str {
    if scope.kind == ScopeKind::File { &scope.alias } else { &scope.full }
}

/// Whether two names of one kind are variations of each other.
#[must_use]
pub fn are_similar(one: &Compared, other: &Compared) -> bool {
    // Siblings in one container, and one name in two containers, are told apart by people too.
    let siblings = || owner(&one.alias).is_some_and(|mine| owner(&other.alias) == Some(mine));
    // Functions that both say which file they are in leave nothing to guess.
    let located = |scope: &Compared| container(&scope.alias).is_some_and(names::is_file_name);
    one.kind == other.kind
        && names::vary(one.kind)
        && names::are_similar(&one.words, &other.words)
        && member(&one.alias) != member(&other.alias)
        && !siblings()
        && !(located(one) && located(other))
}

/// What a name belongs to: the type of a method, the table of a column.
fn owner(alias: &str) -> Option<&str> {
    let last = parts(alias, &[".", ":"]).pop()?;
    let before = (last.len() < alias.len()).then(|| &alias[..alias.len() - last.len() - 1]);
    container(alias).or(before)
}

fn container(alias: &str) -> Option<&str> {
    split_member(alias).0
}

fn member(alias: &str) -> &str {
    split_member(alias).1
}

/// The container and member two symbols are the same by, whatever their namespaces. A container
/// that is a file says nothing without its directory: every folder has its `mod.rs`.
#[must_use]
pub fn alias_key(scope: &Compared) -> Option<&str> {
    let container = (scope.kind == ScopeKind::Symbol).then(|| container(&scope.alias)).flatten()?;
    (!names::is_file_name(container)).then_some(scope.alias.as_str())
}

/// Whether the name of `tail` is that of `whole`, or what it ends in from a part on.
fn is_tail(tail: &Compared, whole: &Compared) -> bool {
    let (tail_name, name) = (dotted(&tail.full), dotted(&whole.full));
    has_tails(tail.kind)
        && !says_too_little(&tail.full)
        && (tail_name == name || tails(&name).any(|found| found == tail_name))
}

/// Whether a short spelling of this kind stands for a longer one. Settings and variables are
/// always spelled out: `timeout` is not every key that ends so.
#[must_use]
pub const fn has_tails(kind: ScopeKind) -> bool {
    !matches!(kind, ScopeKind::File | ScopeKind::Config | ScopeKind::Env)
}

/// A bare member every other type has says nothing about which one is meant.
#[must_use]
pub fn says_too_little(full: &str) -> bool {
    const COMMON_MEMBERS: &[&str] = &[
        "__init__",
        "__repr__",
        "__str__",
        "apply",
        "build",
        "call",
        "clone",
        "close",
        "constructor",
        "create",
        "default",
        "delete",
        "destroy",
        "dispose",
        "drop",
        "eq",
        "equals",
        "execute",
        "find",
        "fmt",
        "from",
        "get",
        "handle",
        "hash",
        "index",
        "init",
        "len",
        "list",
        "load",
        "main",
        "new",
        "next",
        "open",
        "parse",
        "process",
        "read",
        "render",
        "reset",
        "run",
        "save",
        "set",
        "setup",
        "show",
        "size",
        "start",
        "stop",
        "tostring",
        "update",
        "validate",
        "write",
    ];
    COMMON_MEMBERS.contains(&full)
}

/// What a dotted name ends in, from each part but the first on, the longest first.
pub fn tails(dotted: &str) -> impl Iterator<Item = &str> {
    dotted.match_indices('.').map(|(at, _)| &dotted[at + 1..]).filter(|tail| !tail.is_empty())
}

/// Whether the file `inner` lies below the directory `outer`.
#[must_use]
pub fn contains(outer: &str, inner: &str) -> bool {
    outer != inner && (outer == "." || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/')))
}

/// The directories a file lies in, from the innermost to the whole tree.
pub fn directories_above(file: &str) -> impl Iterator<Item = &str> {
    let named = file.rmatch_indices('/').map(|(at, _)| &file[..at]);
    named.chain((file != ".").then_some("."))
}

#[cfg(test)]
mod tests {
    use super::super::canonical::forms;
    use super::*;

    fn tier(one: (ScopeKind, &str), other: (ScopeKind, &str)) -> Option<Tier> {
        let compared = |(kind, key)| Compared::new(key, forms(kind, key));
        let (one, other) = (compared(one), compared(other));
        let found = overlap(&one, &other);
        assert_eq!(found, overlap(&other, &one), "an overlap has no direction");
        found
    }

    fn symbols(one: &str, other: &str) -> Option<Tier> {
        tier((ScopeKind::Symbol, one), (ScopeKind::Symbol, other))
    }

    fn files(one: &str, other: &str) -> Option<Tier> {
        tier((ScopeKind::File, one), (ScopeKind::File, other))
    }

    #[test]
    fn the_same_name_in_another_namespace_is_no_certainty() {
        assert_eq!(symbols("PaymentService", "paymentservice"), Some(Tier::Same));
        assert_eq!(symbols("PaymentService", "crate::billing::PaymentService"), Some(Tier::SameName));
        assert_eq!(symbols("Report::render", r"App\Billing\Report::render"), Some(Tier::SameName));
        assert_eq!(symbols(r"App\Admin\Report::render", r"App\Billing\Report::render"), Some(Tier::SameName));
        assert_eq!(symbols("billing.Cart", "com.shop.billing.Cart"), Some(Tier::SameName));
        assert_eq!(symbols("src/payments.rs::charge", "payments.rs::charge"), Some(Tier::SameName));
        assert_eq!(symbols("Report.render", r"App\Billing\Report::render"), Some(Tier::SameName));
    }

    #[test]
    fn a_common_member_of_another_container_is_nothing() {
        assert_eq!(symbols("Cart::new", "Order::new"), None);
        assert_eq!(symbols("a::b::render", "c::d::render"), None);
        assert_eq!(
            symbols("src/registry.rs::simple", "src/local_registry.rs::simple"),
            None,
            "a file is where, not what"
        );
        assert_eq!(
            symbols("tests/test.rs::test_all", "tests/lto.rs::test_all_exclude"),
            None,
            "both are located"
        );
        assert_eq!(symbols("new", "Parser::new"), None);
        assert_eq!(symbols("src/a/mod.rs::load", "src/b/mod.rs::load"), None, "every folder has its mod.rs");
        assert_eq!(symbols("xservice", "service"), None, "a tail begins at a boundary");
        assert_eq!(symbols("UserService", "UserController"), None);
    }

    #[test]
    fn a_member_is_told_by_a_hash_too() {
        assert_eq!(symbols("Invoice#total", "Billing::Invoice#total"), Some(Tier::SameName));
        assert_eq!(symbols("Invoice#total", "Invoice::total"), Some(Tier::SameName));
        assert_eq!(symbols("com.acme.Invoice#total", "com.shop.Invoice#total"), Some(Tier::SameName));
        assert_eq!(symbols("Invoice#totalTax", "Invoice#totalTaxNet"), None, "siblings");
        assert_eq!(symbols("Cart.#total", "Order.#total"), None, "private members of two types");
    }

    #[test]
    fn types_in_brackets_are_part_of_a_name() {
        assert_eq!(symbols("Cache<std::string>::get", "acme::Cache<std::string>::get"), Some(Tier::SameName));
        assert_eq!(symbols("Cache<std::string>::get", "Registry<std::string>::get"), None);
        assert_eq!(symbols("a.Cache<std::string>", "b.Cache<std::string>"), None, "two classes of one name");
        assert_eq!(symbols("Cart::add(std::string)", "Order::add(std::string)"), None);
    }

    #[test]
    fn a_route_ends_in_another_only_at_a_boundary() {
        let routes = |one, other| tier((ScopeKind::Api, one), (ScopeKind::Api, other));
        assert_eq!(routes("Payments/Charge", "billing.v1.Payments/Charge"), Some(Tier::SameName));
        assert_eq!(routes("GET /users", "GET /users/{id}"), None);
        assert_eq!(routes("GET /users", "GET /v1/users"), None);
        assert_eq!(routes("GET /users", "POST /users"), None);
        assert_eq!(routes("GET /a/report.pdf", "GET /b/report.pdf"), None);
    }

    #[test]
    fn a_bare_member_that_everything_has_stands_for_no_particular_one() {
        for member in ["__init__", "fmt", "equals", "show", "destroy", "process"] {
            assert_eq!(symbols(member, &format!("Parser::{member}")), None, "{member}");
        }
    }

    #[test]
    fn an_accent_that_stands_by_itself_cuts_no_word() {
        assert_eq!(symbols("Café", "CafeSe\u{301}jour"), None);
        assert_eq!(symbols("NewCaféService", "Cafe\u{301}Service"), Some(Tier::SimilarName));
    }

    #[test]
    fn one_key_under_two_kinds_is_the_same_thing_perhaps() {
        let other = (ScopeKind::Component, "payments");
        assert_eq!(tier((ScopeKind::Domain, "Payments"), other), Some(Tier::OtherKind));
        assert_eq!(tier((ScopeKind::File, "Payments"), other), Some(Tier::OtherKind));
    }

    #[test]
    fn files_overlap_by_equality_case_and_containment_alone() {
        assert_eq!(files("src/billing", "src/billing/mod.rs"), Some(Tier::Inside));
        assert_eq!(files(".", "src/a.rs"), Some(Tier::Inside));
        assert_eq!(files("src/bill", "src/billing/mod.rs"), None);
        assert_eq!(files("src/a/mod.rs", "src/b/mod.rs"), None);
        assert_eq!(files("README.md", "readme.md"), Some(Tier::SameName));
        assert_eq!(files("a.rs", "rs"), None);
    }

    #[test]
    fn similar_names_share_their_words_and_one_has_all_of_the_others() {
        assert_eq!(symbols("PaymentService", "StripePaymentService"), Some(Tier::SimilarName));
        assert_eq!(symbols("PaymentService", "PaymentGateway"), None);
        assert_eq!(symbols("pay_service", "PayService"), Some(Tier::SimilarName), "one name in two styles");
        assert_eq!(symbols("UserRepository::find", "UserRepository::findAll"), None, "siblings");
        assert_eq!(symbols("com.a.Mapper", "com.b.Mapper"), None, "two classes of one name");
        for kind in [ScopeKind::Api, ScopeKind::Env, ScopeKind::Config, ScopeKind::Test] {
            assert_eq!(tier((kind, "users name"), (kind, "users name full")), None, "{kind} is read exactly");
        }
    }

    #[test]
    fn directories_are_listed_up_to_the_whole_tree() {
        assert_eq!(directories_above("a/b/c.rs").collect::<Vec<_>>(), ["a/b", "a", "."]);
        assert_eq!(directories_above(".").count(), 0);
    }
}
