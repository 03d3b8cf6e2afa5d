//! One difference, with what is needed to tell its content apart from any other.

use gix::ObjectId;
use gix::bstr::BString;
use gix::index::entry::Mode;

use crate::domain::Digest;

/// A path that differs, before its content is read.
#[derive(Debug)]
pub(super) struct Entry {
    pub path: BString,
    /// The letters of `git status --porcelain=v1`.
    pub status: [u8; 2],
    /// Modes and ids in `HEAD` and the index where they differ, or of every stage of a conflict.
    pub index: String,
    pub worktree: Worktree,
}

/// What is to be read from the worktree.
#[derive(Debug)]
pub(super) enum Worktree {
    /// Nothing: it is as in the index, or gone.
    Unread,
    /// A tracked path with its mode in the index; read as Git would store it.
    Tracked(Mode),
    /// An untracked file or link.
    Untracked,
    /// An untracked repository.
    Repository,
    /// A submodule that was looked at already.
    Submodule(Digest),
}

impl Entry {
    /// A difference of the worktree alone.
    pub fn unstaged(path: BString, letter: u8, worktree: Worktree) -> Self {
        Self { path, status: [b' ', letter], index: String::new(), worktree }
    }

    pub fn untracked(path: BString, worktree: Worktree) -> Self {
        Self { path, status: *b"??", index: String::new(), worktree }
    }

    pub fn is_untracked(&self) -> bool {
        self.status == *b"??"
    }
}

/// One side of a staged difference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    pub mode: Mode,
    pub id: ObjectId,
}

/// The letter and the facts of a difference between `HEAD` and index, if there is one.
pub(super) fn staged(old: Option<Side>, new: Option<Side>) -> Option<(u8, String)> {
    let letter = match (old, new) {
        (None, None) => return None,
        (None, Some(_)) => b'A',
        (Some(_), None) => b'D',
        (Some(old), Some(new)) if old.id == new.id && old.mode == new.mode => return None,
        (Some(old), Some(new)) if kind(old.mode) != kind(new.mode) => b'T',
        (Some(_), Some(_)) => b'M',
    };
    let show = |side: Option<Side>| {
        side.map_or_else(|| "-".into(), |Side { mode, id }| format!("{:o} {id}", mode.bits()))
    };
    Some((letter, format!("{} {}", show(old), show(new))))
}

/// The bits of a mode that make its type: whether a file may be executed is none of it.
fn kind(mode: Mode) -> u32 {
    mode.bits() & 0o170_000
}
