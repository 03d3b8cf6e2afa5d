//! Worktrees: which there are, and making one as `git worktree add` does.
//!
//! Of making one, only what all worktrees share happens under the lock of the repository: the branch and the entry on
//! the list. Files are checked out and the hook runs without it, so that worktrees fill side by side. What a process
//! that died had begun is in its journal, and whoever makes the next worktree undoes it.

mod branch;
mod checkout;
mod create;
mod encodings;
mod entries;
mod error;
mod filters;
mod hook;
mod journal;
mod leftover;
mod list;
mod place;
mod register;
mod rename;
mod roots;
mod settle;
mod stored;
mod undo;

pub use create::{Created, Request};
pub use error::CreateError;
pub use hook::HookRun;
pub use list::Worktree;
