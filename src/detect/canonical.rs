//! The two forms scopes are compared by.

use std::borrow::Cow;

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizerBorrowed;

use super::qualified::parts;
use crate::domain::fact::PublishedScope;
use crate::domain::text::quoted;
use crate::domain::{CanonicalScope, Invalid, ScopeClaim, ScopeKind};

/// Endings by which a symbol's container is known to be a file.
const SOURCE_ENDINGS: &[&str] = &[
    "c", "cc", "clj", "cljc", "cljs", "cpp", "cr", "cs", "cts", "cxx", "dart", "erl", "ex", "exs", "fs",
    "fsx", "go", "groovy", "h", "hh", "hpp", "hs", "java", "jl", "js", "jsx", "kt", "kts", "lua", "m", "mjs",
    "ml", "mm", "mts", "nim", "php", "pl", "proto", "py", "pyi", "r", "rb", "rs", "scala", "sh", "sql",
    "svelte", "swift", "ts", "tsx", "vue", "zig",
];

/// NFC.
#[must_use]
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// NFC, full case folding, NFC.
#[must_use]
pub fn folded(text: &str) -> String {
    // Most keys: the tables say the same of these letters.
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lowered = CaseMapper::new().fold_string(&composed(text)).into_owned();
    composed(&lowered).into_owned()
}

/// The canonical forms of a scope. A `file:` key must already be [`relative`].
#[must_use]
pub fn forms(kind: ScopeKind, key: &str) -> CanonicalScope {
    match kind {
        ScopeKind::Symbol => {
            let folded = folded(key);
            CanonicalScope { kind, alias: symbol_alias(&folded), full: folded.replace(['\\', '/'], ".") }
        }
        // Two files may differ by case alone, so case is not folded away here: such keys are
        // found through the alias.
        ScopeKind::File => {
            let full = composed(key).into_owned();
            CanonicalScope { kind, alias: folded(key), full }
        }
        _ => {
            let full = folded(key);
            CanonicalScope { kind, alias: full.clone(), full }
        }
    }
}

/// What a scope is called: of a symbol its last two parts, of everything else the whole key.
#[must_use]
pub fn name(kind: ScopeKind, key: &str) -> Cow<'_, str> {
    if kind == ScopeKind::Symbol { symbol_alias(key).into() } else { key.into() }
}

/// The last `::` part after its container's last part; without `::` the last part.
fn symbol_alias(key: &str) -> String {
    let parts = parts(key, &["::"]);
    let mut parts = parts.into_iter().rev().filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (Some(member), Some(container)) => {
            let container = file_name(container).unwrap_or_else(|| last_part(container));
            format!("{container}::{member}")
        }
        (Some(only), None) => last_part(only).to_owned(),
        _ => key.to_owned(),
    }
}

/// The name of the file that a container is by its path: there is a directory, and a short ending.
/// No list knows every language, and a namespace is seldom spelled with both `/` and `.`.
fn file_name(container: &str) -> Option<&str> {
    const LONGEST_ENDING: usize = 4;
    let (directory, name) = container.rsplit_once(['/', '\\'])?;
    let (stem, ending) = name.rsplit_once('.')?;
    let is_short = (1..=LONGEST_ENDING).contains(&ending.len());
    let is_ending = is_short && ending.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_plain = ending.chars().all(|c| c.is_ascii_alphanumeric());
    (!directory.is_empty() && !stem.is_empty() && is_ending && is_plain).then_some(name)
}

/// Whether a name with this ending is that of a source file.
#[must_use]
pub fn is_source_ending(ending: &str) -> bool {
    SOURCE_ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending))
}

/// What follows the last separator; a file keeps its name.
fn last_part(path: &str) -> &str {
    let last = |name, separators: &[&str]| parts(name, separators).into_iter().rfind(|part| !part.is_empty());
    let name = last(path, &["/", "\\"]).unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, ending)) if is_source_ending(ending) => {
            let start = stem.rfind('.').map_or(0, |dot| dot + 1);
            &name[start..]
        }
        _ => last(name, &["."]).unwrap_or(path),
    }
}

/// A path below the worktree root without `.`, `..`, doubled or trailing separators; the root
/// itself is `.`.
///
/// # Errors
/// [`Invalid`] when the path rises above the root.
pub fn relative(path: &str) -> Result<String, Invalid> {
    let path: Cow<'_, str> = if path.contains('\\') { path.replace('\\', "/").into() } else { path.into() };
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Err(Invalid::new("a `file:` key must stay below the worktree root"));
                }
            }
            name => parts.push(name),
        }
    }
    Ok(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

/// Gives every declared scope its canonical forms and keeps each full form once.
///
/// A declared operation wins over an inferred one.
///
/// # Errors
/// [`Invalid`] when one scope is declared with two operations.
pub fn publishable(declared: Vec<ScopeClaim>) -> Result<Vec<PublishedScope>, Invalid> {
    let mut kept: Vec<PublishedScope> = Vec::with_capacity(declared.len());
    let mut places = std::collections::HashMap::new();
    for claim in declared {
        let scope = {
            let canonical = forms(claim.kind, &claim.key);
            PublishedScope::new(claim, canonical)
        };
        let place = *places.entry((scope.kind, scope.full.clone())).or_insert(kept.len());
        match kept.get_mut(place) {
            None => kept.push(scope),
            Some(known) if known.inferred && !scope.inferred => *known = scope,
            Some(known) if !known.inferred && !scope.inferred && known.operation != scope.operation => {
                return Err(Invalid(format!(
                    "`{}:{}` is declared both {} and {}; declare each scope once",
                    scope.kind,
                    quoted(&scope.key),
                    known.operation,
                    scope.operation
                )));
            }
            Some(_) => {}
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ScopeOperation;

    fn alias(key: &str) -> String {
        forms(ScopeKind::Symbol, key).alias
    }

    fn full(kind: ScopeKind, key: &str) -> String {
        forms(kind, key).full
    }

    #[test]
    fn namespaces_and_path_prefixes_are_dropped_from_the_alias_of_a_symbol() {
        assert_eq!(alias(r"App\Billing\Report::render"), "report::render");
        assert_eq!(alias("Report::render"), "report::render");
        assert_eq!(alias("crate::billing::PaymentService"), "billing::paymentservice");
        assert_eq!(alias("billing.PaymentService"), "paymentservice");
        assert_eq!(alias("src/payments.rs::charge"), "payments.rs::charge");
        assert_eq!(alias("payments.rs::charge"), "payments.rs::charge");
        assert_eq!(alias("com.acme.Cart::add"), "cart::add");
        assert_eq!(alias("CheckoutController.checkout"), "checkout");
        assert_eq!(alias("std::Cache<std::string>::get"), "cache<std::string>::get");
        assert_eq!(alias("Vec::operator<"), "vec::operator<");
        assert_eq!(alias("com.acme.Cache<java.lang.String>"), "cache<java.lang.string>");
        assert_eq!(alias("shop::Cart::add(std::string)"), "cart::add(std::string)");
    }

    #[test]
    fn a_container_that_is_a_file_keeps_its_name_in_every_language() {
        assert_eq!(alias("src/orders/core.clj::normalize"), "core.clj::normalize");
        assert_eq!(alias("core.clj::normalize"), "core.clj::normalize");
        assert_eq!(alias("contracts/token.sol::transfer"), "token.sol::transfer", "no list knows it");
        assert_eq!(alias("github.com/acme/billing.Server::run"), "server::run", "a namespace");
        assert_eq!(alias("github.com/acme/billing.run"), "run", "no container");
        assert_eq!(alias(r"App\Billing\Report::render"), "report::render");
    }

    #[test]
    fn odd_symbols_keep_a_form_that_is_not_empty() {
        for key in ["::", "Foo::", "::Foo", ".", "a.", "/", r"\\", "...", "日本"] {
            let forms = forms(ScopeKind::Symbol, key);
            assert!(!forms.full.is_empty() && !forms.alias.is_empty(), "{key}: {forms:?}");
        }
    }

    #[test]
    fn the_full_form_of_a_symbol_reads_slashes_and_backslashes_as_dots() {
        assert_eq!(full(ScopeKind::Symbol, r"App\Billing/Report::render"), "app.billing.report::render");
        assert_eq!(full(ScopeKind::Api, "GET /Search"), "get /search");
    }

    #[test]
    fn spelling_is_folded_over_composition_and_case() {
        assert_eq!(full(ScopeKind::Domain, "Stra\u{df}e"), full(ScopeKind::Domain, "STRASSE"));
        assert_eq!(full(ScopeKind::Domain, "Caf\u{e9}"), full(ScopeKind::Domain, "CAFE\u{301}"));
        assert_eq!(full(ScopeKind::Domain, "\u{345}\u{391}"), folded(&folded("\u{345}\u{391}")));
    }

    #[test]
    fn plain_letters_are_folded_as_the_tables_fold_them() {
        let plain: String = (0..=127_u8).map(char::from).collect();
        let nfc = ComposingNormalizerBorrowed::new_nfc();
        assert_eq!(composed(&plain), nfc.normalize(&plain));
        assert_eq!(folded(&plain), CaseMapper::new().fold_string(&plain));
    }

    #[test]
    fn files_that_differ_by_case_alone_share_the_alias_only() {
        let (upper, lower) = (forms(ScopeKind::File, "README.md"), forms(ScopeKind::File, "readme.md"));
        assert_ne!(upper.full, lower.full);
        assert_eq!(upper.alias, lower.alias);
    }

    #[test]
    fn a_path_has_one_spelling_and_stays_below_the_root() {
        for spelling in ["src/a.rs", "./src/a.rs", "src//a.rs", "src/b/../a.rs", "src/a.rs/", r"src\a.rs"] {
            assert_eq!(relative(spelling).as_deref(), Ok("src/a.rs"), "{spelling}");
        }
        for root in [".", "", "./", "a/.."] {
            assert_eq!(relative(root).as_deref(), Ok("."), "{root}");
        }
        for above in ["..", "../a", "a/../../b"] {
            assert!(relative(above).is_err(), "{above}");
        }
    }

    fn claim(key: &str, operation: ScopeOperation, inferred: bool) -> ScopeClaim {
        ScopeClaim { kind: ScopeKind::Symbol, key: key.into(), operation, inferred }
    }

    #[test]
    fn a_scope_named_twice_is_kept_once_and_a_declared_operation_wins() {
        use ScopeOperation::{Add, Replace};
        let kept = publishable(vec![
            claim("Pay", Replace, true),
            claim("other", Add, false),
            claim("PAY", Add, false),
        ]);
        let kept = kept.unwrap();
        assert_eq!(kept.len(), 2);
        assert_eq!((kept[0].key.as_str(), kept[0].operation, kept[0].inferred), ("PAY", Add, false));
        assert!(publishable(vec![claim("Pay", Add, false), claim("pay", Add, false)]).is_ok());
    }

    #[test]
    fn one_scope_declared_with_two_operations_is_refused_naming_both() {
        use ScopeOperation::{Add, Replace};
        let refusal =
            publishable(vec![claim("Pay", Replace, false), claim("pay", Add, false)]).unwrap_err().0;
        assert!(refusal.contains("replace") && refusal.contains("add"), "{refusal}");
    }

    #[test]
    fn symbols_that_differ_by_namespace_are_two_scopes() {
        use ScopeOperation::{Add, Replace};
        let kept = publishable(vec![claim("a::Pay", Replace, false), claim("b::Pay", Add, false)]).unwrap();
        assert_eq!(kept.len(), 2);
    }
}
