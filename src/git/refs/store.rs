//! What the ref store holds at this moment, for the checks that come before an edit.

use gix::error::ResultExt;
use gix::refs::{FullName, Target};

/// What `name`, exactly this one, holds.
pub(in crate::git) fn target(repository: &gix::Repository, name: &FullName) -> gix::Result<Option<Target>> {
    let found = repository.try_find_reference(name)?;
    // The search goes on below refs/heads and the like, where another ref may be called the same.
    Ok(found.map(|found| found.detach()).filter(|found| found.name == *name).map(|found| found.target))
}

/// The ref that makes `name` impossible: one that would have to be a directory for it, or one that has it for a
/// directory. Loose files say so themselves, packed refs do not.
pub(in crate::git) fn clash(repository: &gix::Repository, name: &FullName) -> gix::Result<Option<String>> {
    let full = name.as_bstr().to_string();
    for (at, _) in full.match_indices('/') {
        let above = &full[..at];
        if above.matches('/').count() == 0 {
            continue;
        }
        let above = FullName::try_from(above).or_error()?;
        if target(repository, &above)?.is_some() {
            return Ok(Some(above.as_bstr().to_string()));
        }
    }
    let platform = repository.references()?;
    let below = format!("{full}/");
    let first = platform.prefixed(below.as_bytes())?.next();
    first.map(|found| found.map(|found| found.name().as_bstr().to_string())).transpose()
}
