//! The table of failure codes: every surface reads its own column.

use super::Exit;

macro_rules! codes {
    ($( $variant:ident, $text:literal, $http:literal, $exit:ident, $retryable:literal, $meaning:literal; )+) => {
        /// What kind of failure it is. The text is stable; clients match on it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $( #[doc = $meaning] $variant, )+ }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// The stable text.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $text, )+ }
            }

            /// Status of an HTTP answer.
            #[must_use]
            pub const fn http_status(self) -> u16 {
                match self { $( Self::$variant => $http, )+ }
            }

            /// Exit status of the command line.
            #[must_use]
            pub const fn exit(self) -> Exit {
                match self { $( Self::$variant => Exit::$exit, )+ }
            }

            /// Whether the same call may succeed later.
            #[must_use]
            pub const fn is_retryable(self) -> bool {
                match self { $( Self::$variant => $retryable, )+ }
            }

            /// When it is used.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $( Self::$variant => $meaning, )+ }
            }
        }
    };
}

codes! {
    InvalidInput, "INVALID_INPUT", 400, Usage, false,
        "The input is malformed or refused; the message and `details` (`field`, `accepted`) say where and what would do.";
    Forbidden, "FORBIDDEN", 403, Refused, false, "The caller is not the owner, or not a party.";
    InvalidTransition, "INVALID_TRANSITION", 422, Refused, false,
        "The state it is in does not allow it; `details` has that `status` and what would be `accepted`.";
    NotFound, "NOT_FOUND", 404, NotFound, false, "Nothing has the given id.";
    StateRace, "STATE_RACE", 409, TryAgain, true,
        "What was decided about changed before it could be written; look again.";
    CheckFailed, "CHECK_FAILED", 422, Refused, false, "What has to hold before this may be done does not.";
    TargetDiverged, "TARGET_DIVERGED", 422, Refused, false,
        "The commit does not contain what was accepted; the details say why, path by path.";
    ResourceLimit, "RESOURCE_LIMIT", 413, Refused, false, "There is more of it than is worked on; the message names the limit.";
    NotReady, "NOT_READY", 503, TryAgain, true, "The ledger is busy, or the call was cancelled.";
    NotARepository, "NOT_A_REPOSITORY", 500, Unusable, false, "There is no Git repository here.";
    NotInitialized, "NOT_INITIALIZED", 500, Unusable, false, "The repository has no ledger yet.";
    RepositoryUnreadable, "REPOSITORY_UNREADABLE", 500, Unusable, false,
        "There is a repository, and it cannot be read or written.";
    UnsupportedRepository, "UNSUPPORTED_REPOSITORY", 500, Unusable, false,
        "The repository uses something Foremerge does not support; the message names the command that helps.";
    UnsupportedSchema, "UNSUPPORTED_SCHEMA", 500, Unusable, false, "A later version wrote the ledger.";
    MigrationRequired, "MIGRATION_REQUIRED", 500, Unusable, false, "An earlier version wrote the ledger.";
    LedgerReplaced, "LEDGER_REPLACED", 500, Unusable, false,
        "The ledger file was replaced or removed while it was in use.";
    LedgerReadonly, "LEDGER_READONLY", 500, Unusable, false, "The ledger can be read but not written.";
    CorruptLedger, "CORRUPT_LEDGER", 500, Unusable, false,
        "The ledger is missing, empty, damaged or belongs to something else.";
    InternalError, "INTERNAL_ERROR", 500, Internal, false, "Anything unclassified.";
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_text_and_no_failure_exits_as_a_success() {
        let texts: std::collections::BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(texts.len(), Code::ALL.len());
        for code in Code::ALL {
            assert!(code.exit().status() != 0, "{code}");
            assert!((400..600).contains(&code.http_status()), "{code}");
            assert_eq!(code.is_retryable(), code.exit() == Exit::TryAgain, "{code}");
        }
    }

    #[test]
    fn exit_statuses_are_distinct() {
        let statuses: std::collections::BTreeSet<_> = Exit::ALL.iter().map(|exit| exit.status()).collect();
        assert_eq!(statuses.len(), Exit::ALL.len());
    }
}
