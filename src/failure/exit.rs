//! The exit status of the process: one table for all operations.

/// Why the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It did what was asked.
    Success,
    /// Something nobody foresaw.
    Internal,
    /// The call was malformed or its input refused.
    Usage,
    /// What it named is not there.
    NotFound,
    /// Not now; the same call may succeed later.
    TryAgain,
    /// The repository or the ledger cannot be used.
    Unusable,
    /// It did what was asked and the answer is that something is wrong.
    Negative,
    /// It did what was asked and found what `--fail-on` names.
    Found,
    /// A rule of the work refused it: not the owner, or not in this state.
    Refused,
}

impl Exit {
    /// Every status, in the order of the table.
    pub const ALL: &'static [Self] = &[
        Self::Success,
        Self::Internal,
        Self::Usage,
        Self::NotFound,
        Self::TryAgain,
        Self::Unusable,
        Self::Negative,
        Self::Found,
        Self::Refused,
    ];

    /// The number the shell sees.
    #[must_use]
    pub const fn status(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::TryAgain => 4,
            Self::Unusable => 5,
            Self::Negative => 6,
            Self::Found => 7,
            Self::Refused => 8,
        }
    }

    /// What it means.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "it did what was asked",
            Self::Internal => "something nobody foresaw",
            Self::Usage => "the call was malformed or its input was refused",
            Self::NotFound => "what it named is not there",
            Self::TryAgain => "not now; the same call may succeed later",
            Self::Unusable => "the repository or the ledger cannot be used",
            Self::Negative => "it did what was asked, and the answer is that something is wrong",
            Self::Found => "it did what was asked and found what `--fail-on` names",
            Self::Refused => "a rule of the work refused it: not the owner, or not in this state",
        }
    }
}
