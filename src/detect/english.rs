//! What is known of English: enough to read a one-line summary.

use crate::domain::ScopeOperation;

/// Words that say nothing about which work it is.
pub const FUNCTION_WORDS: &[&str] = &[
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
pub const GENERIC_VERBS: &[&str] = &[
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
pub const OPERATION_VERBS: &[(&str, ScopeOperation)] = &[
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
    ("decommission", ScopeOperation::Remove),
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
    ("relocate", ScopeOperation::Migrate),
];

/// Words that turn the verb after them into something that will not happen.
pub const NEGATIONS: &[&str] = &[
    "avoid", "don't", "dont", "instead", "keep", "never", "no", "not", "prevent", "stop", "without", "won't",
];

/// What can be taken from a thing and leave it standing.
pub const PARTS: &[&str] = &[
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
    "doc",
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
pub const FROM: &[&str] =
    &["across", "around", "at", "behind", "from", "in", "inside", "of", "off", "on", "throughout", "within"];

/// Where what a verb governs ends.
pub const CLAUSE_ENDS: &[&str] = &[
    "and", "as", "but", "so", "then", "to", "into", "onto", "with", "by", "for", "while", "when", "because",
    "if", "that", "which", "who", "until", "after", "before", "since", "without",
];

/// Words after which is said under which circumstances something happens, and not what.
pub const SUBORDINATE: &[&str] = &[
    "after", "because", "before", "if", "once", "since", "so", "that", "unless", "until", "when", "where",
    "whether", "which", "while", "who", "whose", "without",
];

/// Words by which something happens to what was said before them.
pub const PASSIVE: &[&str] = &["are", "be", "been", "being", "get", "gets", "got", "is", "was", "were"];

/// Words around a verb that say nothing of what it governs.
pub const AUXILIARIES: &[&str] = &[
    "already", "be", "being", "been", "are", "is", "was", "were", "can", "finally", "gets", "get", "got",
    "has", "have", "must", "now", "shall", "should", "will",
];

/// Methods as routes are written with them.
pub const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// Words for what was named before.
pub const PRONOUNS: &[&str] = &["both", "it", "them", "these", "this", "those"];

/// Words before the place where something is put.
pub const TOWARDS: &[&str] = &["into", "onto", "to"];

/// What stands for the whole of the thing named after `of`.
pub const WHOLES: &[&str] = &["body", "definition", "entirety", "implementation", "rest", "whole"];

/// The plain form of a verb: `removes`, `removed` and `removing` are `remove`.
#[must_use]
pub fn stem(word: &str) -> String {
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

/// One of several: `queries` is `query`.
#[must_use]
pub fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => word.strip_suffix('s').unwrap_or(word).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_doubled_letter_is_undoubled() {
        assert_eq!(stem("dropping"), "drop");
        assert_eq!(stem("swapped"), "swap");
        for noun in ["users", "providers", "handlers", "writers", "makers"] {
            assert_eq!(stem(noun), noun);
        }
    }

    #[test]
    fn what_can_be_taken_away_is_known_in_the_singular() {
        for part in PARTS {
            assert_eq!(singular(part), *part);
        }
    }
}
