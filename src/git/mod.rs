//! Git, through gix: where a repository is, what is checked out, which worktrees it has.
//!
//! This room knows nothing of the ledger. It starts no child process and reads no environment variable; gix may
//! read those that locate the user's own configuration (`HOME`, `XDG_CONFIG_HOME`) and, for root, `SUDO_UID`.
//! No type of gix leaves it.

mod discover;
mod error;
mod head;
mod layout;
mod lock;
mod open;
pub mod refs;
mod repository;
mod revision;
pub mod scaffold;
mod shape;
mod trust;
pub mod worktree;

pub use error::Error;
pub use head::Head;
pub use repository::Repository;
pub use revision::RevisionError;
