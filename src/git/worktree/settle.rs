//! An index that a later status believes without reading a file.
//!
//! Git compares times by the second. A file as new as the index may have changed since without looking any different,
//! so every status reads it, until somebody writes the index anew: after `git worktree add` that is nearly every file.
//! Here the files of a new worktree, which nobody has seen yet, are dated one second back. A change made even in the
//! second of the checkout then has another time than the index says, and all that is unchanged is plainly older.

use std::path::Path;

use gix::error::ResultExt;
use gix::index::entry::{Flags, Mode, Stat};

/// Date the files of `linked` back and write their new times to its index.
pub(super) fn settle(linked: &gix::Repository) -> gix::Result<()> {
    let Some(root) = linked.workdir() else { return Ok(()) };
    let mut index = linked.open_index()?;
    let (entries, paths) = index.entries_mut_and_pathbacking();
    let checked_out = |entry: &gix::index::Entry| {
        entry.mode != Mode::COMMIT && !entry.flags.contains(Flags::SKIP_WORKTREE) && entry.stat.mtime.secs > 0
    };
    let oldest = entries.iter().filter(|entry| checked_out(entry)).map(|entry| entry.stat.mtime.secs).min();
    let Some(moment) = oldest.map(|oldest| oldest - 1) else { return Ok(()) };
    for entry in entries.iter_mut().filter(|entry| checked_out(entry)) {
        let path = root.join(gix::path::from_bstr(entry.path_in(paths)).or_error()?);
        if let Some(stat) = date(&path, moment, &entry.stat) {
            entry.stat = stat;
        }
    }
    index.write(gix::index::write::Options::default())
}

/// Date the file at `path` to `moment`, in seconds of the epoch. Answers its new times, and nothing when it is not what
/// was checked out any more, or its file system keeps no such times: it is then read by every status, as with git.
#[cfg(unix)]
fn date(path: &Path, moment: u32, known: &Stat) -> Option<Stat> {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT, utimensat};
    let now = || {
        let metadata = gix::index::fs::Metadata::from_path_no_follow(path).ok()?;
        Stat::from_fs(&metadata).ok()
    };
    if now()? != *known {
        return None;
    }
    let times = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: moment.into(), tv_nsec: 0 },
    };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    now().filter(|stat| stat.mtime.secs == moment && stat.size == known.size && stat.ino == known.ino)
}

#[cfg(not(unix))]
fn date(_path: &Path, _moment: u32, _known: &Stat) -> Option<Stat> {
    None
}
