//! What may not be looked at.

use std::io::{self, ErrorKind};

use gix::bstr::BString;

/// What stands in a worktree and may not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Closed {
    /// A directory ends in `/`.
    pub path: BString,
    pub is_tracked: bool,
}

/// Whether what is there may not be looked at. A path that is longer than the system takes is no different.
pub(super) fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::InvalidFilename)
}
