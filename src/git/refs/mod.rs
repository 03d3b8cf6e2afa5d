//! Our own refs, all below `refs/foremerge/`: read and listed by anyone, changed by one process at a time and never
//! away from under somebody who looked first. No other ref is changed through this door.
//!
//! Git's own lock of a ref is taken too, so that stock git and this room do not step on each other. What a process of
//! ours that died left of it is removed by whoever has the turn next.

mod durable;
mod edit;
mod error;
mod name;
mod read;
pub(super) mod store;

use std::path::Path;

use super::Repository;

pub use edit::Made;
pub use error::RefError;
pub use name::RefName;
pub use read::Listed;

/// The refs below `refs/foremerge/` of one repository, shared by all its worktrees.
#[derive(Debug)]
pub struct Refs<'r> {
    inner: &'r gix::Repository,
    common_dir: &'r Path,
}

impl Repository {
    /// Our own refs.
    #[must_use]
    pub fn refs(&self) -> Refs<'_> {
        Refs { inner: self.inner(), common_dir: self.common_dir() }
    }
}
