//! What a summary says: the words that carry its meaning, and the operation it promises.
//!
//! English is guessed at here, so nothing that follows from it is ever asserted.

use super::names::{self, Words};
use crate::domain::ScopeOperation;

/// Words that say nothing about which work it is.
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "both", "but", "by", "can", "do", "does", "doing", "don", "each", "every", "for",
    "from", "has", "have", "how", "if", "in", "instead", "into", "is", "it", "its", "more", "most", "need",
    "needs", "new", "no", "not", "of", "off", "on", "once", "one", "only", "onto", "or", "our", "out",
    "over", "own", "per", "same", "should", "so", "some", "such", "t", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under", "until",
    "up", "upon", "via", "was", "we", "were", "what", "when", "where", "which", "while", "who", "will",
    "with", "within", "without", "you", "your",
];

/// Verbs every summary uses.
const GENERIC_VERBS: &[&str] = &[
    "add",
    "adjust",
    "allow",
    "build",
    "bump",
    "change",
    "clean",
    "convert",
    "create",
    "delete",
    "drop",
    "enable",
    "ensure",
    "extend",
    "fix",
    "handle",
    "implement",
    "improve",
    "introduce",
    "let",
    "make",
    "migrate",
    "modify",
    "move",
    "port",
    "provide",
    "refactor",
    "remove",
    "rename",
    "replace",
    "rework",
    "rewrite",
    "set",
    "support",
    "swap",
    "tweak",
    "update",
    "upgrade",
    "use",
    "write",
];

/// Verbs that promise an operation.
const OPERATION_VERBS: &[(&str, ScopeOperation)] = &[
    ("add", ScopeOperation::Add),
    ("build", ScopeOperation::Add),
    ("create", ScopeOperation::Add),
    ("implement", ScopeOperation::Add),
    ("introduce", ScopeOperation::Add),
    ("write", ScopeOperation::Add),
    ("enable", ScopeOperation::Extend),
    ("expand", ScopeOperation::Extend),
    ("extend", ScopeOperation::Extend),
    ("support", ScopeOperation::Extend),
    ("adjust", ScopeOperation::Modify),
    ("bump", ScopeOperation::Modify),
    ("change", ScopeOperation::Modify),
    ("clean", ScopeOperation::Modify),
    ("document", ScopeOperation::Modify),
    ("fix", ScopeOperation::Modify),
    ("improve", ScopeOperation::Modify),
    ("modify", ScopeOperation::Modify),
    ("optimize", ScopeOperation::Modify),
    ("refactor", ScopeOperation::Modify),
    ("rework", ScopeOperation::Modify),
    ("test", ScopeOperation::Modify),
    ("tweak", ScopeOperation::Modify),
    ("update", ScopeOperation::Modify),
    ("replace", ScopeOperation::Replace),
    ("rewrite", ScopeOperation::Replace),
    ("substitute", ScopeOperation::Replace),
    ("supersede", ScopeOperation::Replace),
    ("swap", ScopeOperation::Replace),
    ("delete", ScopeOperation::Remove),
    ("drop", ScopeOperation::Remove),
    ("eliminate", ScopeOperation::Remove),
    ("purge", ScopeOperation::Remove),
    ("remove", ScopeOperation::Remove),
    ("retire", ScopeOperation::Remove),
    ("rid", ScopeOperation::Remove),
    ("rename", ScopeOperation::Rename),
    ("convert", ScopeOperation::Migrate),
    ("migrate", ScopeOperation::Migrate),
    ("move", ScopeOperation::Migrate),
    ("port", ScopeOperation::Migrate),
];

/// Words that turn the verb after them into something that will not happen.
const NEGATIONS: &[&str] = &[
    "avoid", "don't", "dont", "instead", "keep", "never", "no", "not", "prevent", "stop", "without", "won't",
];

/// What can be taken from a thing and leave it standing.
const PARTS: &[&str] = &[
    "argument",
    "branch",
    "call",
    "check",
    "code",
    "column",
    "comment",
    "counter",
    "debug",
    "dependency",
    "docs",
    "documentation",
    "duplicate",
    "duplication",
    "entry",
    "fallback",
    "field",
    "flag",
    "helper",
    "import",
    "line",
    "log",
    "logging",
    "logs",
    "message",
    "method",
    "mock",
    "option",
    "output",
    "parameter",
    "print",
    "snapshot",
    "spec",
    "stub",
    "test",
    "todo",
    "typo",
    "usage",
    "variable",
    "warning",
    "whitespace",
];

/// Words between the part that goes and the thing it goes from.
const FROM: &[&str] =
    &["across", "around", "at", "behind", "from", "in", "inside", "of", "on", "throughout", "within"];

/// Methods as routes are written with them.
const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Where what a verb governs ends.
const CLAUSE_ENDS: &[&str] = &[
    "and", "as", "but", "so", "then", "to", "into", "onto", "with", "by", "for", "while", "when", "because",
];

/// The words of a summary that say which work it is. Numbers and versions do not.
#[must_use]
pub fn words(summary: &str) -> Words {
    let is_number =
        |word: &&str| word.contains(|c: char| c.is_ascii_digit()) && !word.contains(char::is_alphabetic);
    let kept = |word: &String| {
        !FUNCTION_WORDS.contains(&word.as_str()) && !GENERIC_VERBS.contains(&stem(word).as_str())
    };
    summary.split_whitespace().filter(|word| !is_number(word)).flat_map(names::split).filter(kept).collect()
}

/// The operation a summary promises for a scope whose name has these words.
///
/// The first operation verb that is not negated governs, of those in the clauses that name the
/// scope if any does. A destructive one that governs only a part of the thing, or something that
/// is not the thing, is a modification.
#[must_use]
pub fn operation(summary: &str, scope: &Words) -> ScopeOperation {
    let clauses = clauses(summary);
    let promises: Vec<_> =
        clauses.iter().filter_map(|clause| Some((clause, promise(clause, scope)?))).collect();
    // The clause that names most of it, the first of several.
    let named = promises.iter().rev().max_by_key(|(clause, _)| named(clause, scope));
    named.map_or(ScopeOperation::Modify, |(_, operation)| *operation)
}

/// Parts of a sentence that have a verb of their own, as lists of words.
fn clauses(summary: &str) -> Vec<Vec<String>> {
    let mut clauses: Vec<Vec<String>> = vec![Vec::new()];
    let mut gesture = false;
    for spoken in summary.split_whitespace() {
        let word = spoken.trim_matches(|c: char| !c.is_alphanumeric());
        // What is dragged and dropped is not thrown away.
        let dragged = clauses.last().and_then(|clause| clause.last()).is_some_and(|last| is_drag(last));
        if dragged && (word.is_empty() || word.eq_ignore_ascii_case("and")) {
            gesture = true;
            continue;
        }
        if std::mem::take(&mut gesture) && word.to_lowercase().starts_with("drop") {
            continue;
        }
        if ["and", "then", "but"].contains(&word.to_lowercase().as_str()) {
            clauses.push(Vec::new());
        } else if let Some(clause) = clauses.last_mut() {
            clause.push(word.to_owned());
        }
        if spoken.ends_with([',', ';', '.', ':']) {
            clauses.push(Vec::new());
        }
    }
    clauses
}

fn is_drag(word: &str) -> bool {
    ["drag", "drags", "dragged", "dragging"].contains(&word.to_lowercase().as_str())
}

/// The operation that the first verb of a clause promises, if that is not negated.
fn promise(clause: &[String], scope: &Words) -> Option<ScopeOperation> {
    for (at, word) in clause.iter().enumerate() {
        let before = clause[..at].iter().rev().take(2);
        if before.into_iter().any(|word| NEGATIONS.contains(&word.to_lowercase().as_str())) {
            continue;
        }
        // A route's method is no verb.
        if METHODS.contains(&word.as_str()) {
            continue;
        }
        let verb = stem(&word.to_lowercase());
        if let Some((_, operation)) = OPERATION_VERBS.iter().find(|(known, _)| *known == verb) {
            let partial = operation.is_destructive() && governs_a_part(&clause[at + 1..], scope);
            return Some(if partial { ScopeOperation::Modify } else { *operation });
        }
    }
    None
}

/// How many words of the scope's name are said.
fn named(words: &[String], scope: &Words) -> usize {
    let said: Words = words.iter().flat_map(names::split).filter(|part| scope.contains(part)).collect();
    said.len()
}

/// Whether something of the scope is meant: `PaymentService's retries`.
fn is_possessed(object: &[String], scope: &Words) -> bool {
    let Some((_, before)) = object.split_last() else { return false };
    before.iter().any(|word| {
        let owner = word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s"));
        owner.is_some_and(|owner| named(&[owner.to_owned()], scope) > 0)
    })
}

/// Whether what follows a destructive verb is less than the scope.
fn governs_a_part(after: &[String], scope: &Words) -> bool {
    let lower = |word: &String| word.to_lowercase();
    // The `of` of `get rid of` belongs to the verb.
    let after = if after.first().is_some_and(|word| lower(word) == "of") { &after[1..] } else { after };
    let end =
        after.iter().position(|word| CLAUSE_ENDS.contains(&lower(word).as_str())).unwrap_or(after.len());
    let object = after[..end].iter().position(|word| FROM.contains(&lower(word).as_str())).unwrap_or(end);
    let (object, rest) = after[..end].split_at(object);
    let head_is_a_part = object.last().is_some_and(|head| PARTS.contains(&singular(&lower(head)).as_str()));
    head_is_a_part || is_possessed(object, scope) || named(object, scope) < named(rest, scope)
}

fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => word.strip_suffix('s').unwrap_or(word).to_owned(),
    }
}

/// The plain form of a verb: `removes`, `removed` and `removing` are `remove`.
fn stem(word: &str) -> String {
    let known = |candidate: &str| {
        GENERIC_VERBS.contains(&candidate) || OPERATION_VERBS.iter().any(|(verb, _)| *verb == candidate)
    };
    for ending in ["s", "es", "d", "ed", "ing"] {
        let Some(stripped) = word.strip_suffix(ending) else { continue };
        // `dropping` has its last letter twice, `user` has not.
        let mut letters = stripped.char_indices().rev().map(|(at, letter)| (&stripped[..at], letter));
        let undoubled = match (letters.next(), letters.next()) {
            (Some((before, last)), Some((_, other))) if last == other => Some(before.to_owned()),
            _ => None,
        };
        for candidate in [stripped.to_owned(), format!("{stripped}e")].into_iter().chain(undoubled) {
            if known(&candidate) {
                return candidate;
            }
        }
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ScopeKind;

    fn promised(summary: &str) -> ScopeOperation {
        operation(summary, &names::words(ScopeKind::Symbol, "PaymentService"))
    }

    #[test]
    fn the_first_operation_verb_governs() {
        assert_eq!(promised("Replace PaymentService with StripePaymentService"), ScopeOperation::Replace);
        assert_eq!(promised("Adds PayPal to PaymentService, then removes the old path"), ScopeOperation::Add);
        assert_eq!(promised("PaymentService is being removed"), ScopeOperation::Remove);
        assert_eq!(promised("Dropping PaymentService"), ScopeOperation::Remove);
        assert_eq!(promised("Think about PaymentService"), ScopeOperation::Modify);
        assert_eq!(promised(""), ScopeOperation::Modify);
        assert_eq!(promised("Add a Stripe client and remove PaymentService"), ScopeOperation::Remove);
        assert_eq!(promised("Get rid of PaymentService"), ScopeOperation::Remove);
    }

    #[test]
    fn what_will_not_happen_does_not_count() {
        assert_eq!(promised("Do not remove PaymentService, extend it"), ScopeOperation::Extend);
        assert_eq!(promised("Stop deleting PaymentService records"), ScopeOperation::Modify);
        assert_eq!(promised("Speed up PaymentService without replacing it"), ScopeOperation::Modify);
        assert_eq!(promised("Never rename PaymentService"), ScopeOperation::Modify);
    }

    #[test]
    fn taking_away_a_part_is_a_modification() {
        for summary in [
            "Remove the retry flag from PaymentService",
            "Delete PaymentService tests",
            "Drop the unused counter in PaymentService",
            "Remove dead code from PaymentService",
            "Remove typos in PaymentService",
            "Remove retries from PaymentService",
        ] {
            assert_eq!(promised(summary), ScopeOperation::Modify, "{summary}");
        }
        assert_eq!(promised("Remove PaymentService from the billing module"), ScopeOperation::Remove);
        for summary in [
            "Remove PaymentService's retry queue",
            "Remove unused imports across PaymentService",
            "Move PaymentService tests into their own folder",
            "Drop the payment form from PaymentService",
        ] {
            assert_eq!(promised(summary), ScopeOperation::Modify, "{summary}");
        }
    }

    #[test]
    fn what_sounds_like_a_verb_and_is_none_promises_nothing() {
        assert_eq!(promised("Rate limit DELETE /payment/{id} of PaymentService"), ScopeOperation::Modify);
        assert_eq!(promised("Support drag and drop for PaymentService"), ScopeOperation::Extend);
        assert_eq!(promised("Allow dragging & dropping in PaymentService"), ScopeOperation::Modify);
        assert_eq!(promised("Remove EmailService and extend PaymentService"), ScopeOperation::Extend);
    }

    #[test]
    fn only_a_doubled_letter_is_undoubled() {
        assert_eq!(stem("dropping"), "drop");
        assert_eq!(stem("swapped"), "swap");
        for noun in ["users", "providers", "handlers", "writers", "makers"] {
            assert_eq!(stem(noun), noun);
        }
    }

    #[test]
    fn a_summary_is_known_by_its_words_without_filler_and_verbs() {
        let kept: Vec<_> = words("Replaces the PaymentService with a Stripe client").into_iter().collect();
        assert_eq!(kept, ["client", "payment", "service", "stripe"]);
    }
}
