//! Git, through gix: where a repository is, what is checked out, which worktrees it has, and in what state they are.
//!
//! This room knows nothing of the ledger. It starts no child process but the filters that the user's own configuration
//! names for a file, and only in a repository that is fully trusted. It reads no environment variable; gix may
//! read those that locate the user's own configuration (`HOME`, `XDG_CONFIG_HOME`) and, for root, `SUDO_UID`.
//! No type of gix leaves it.

mod discover;
mod error;
mod head;
pub mod landing;
mod layout;
mod objects;
mod open;
pub mod patch;
mod repository;
pub mod scaffold;
mod shape;
pub mod snapshot;
mod trust;
mod worktrees;

pub use error::Error;
pub use head::Head;
pub use repository::Repository;
pub use snapshot::{Exclusions, Snapshot};
