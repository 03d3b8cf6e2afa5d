//! Git, through gix: where a repository is, what is checked out, which worktrees it has and in what state they are,
//! what a candidate changes and where it landed, and our own refs.
//!
//! This room knows nothing of the ledger. It starts no git and reads no environment variable; gix may read those that
//! locate the user's own configuration (`HOME`, `XDG_CONFIG_HOME`) and, for root, `SUDO_UID`. The one child it asks
//! for is the post-checkout hook of a new worktree; gix starts the filters a repository configures, and only in a
//! repository that is fully trusted. No type of gix leaves it. `docs/git.md` and `docs/git-snapshots.md` have its
//! rules and what was measured.

mod conversion;
mod discover;
mod drivers;
mod encoding;
mod error;
mod head;
mod identity;
pub mod landing;
mod layout;
mod lock;
mod objects;
mod open;
pub mod patch;
pub mod refs;
mod repository;
mod revision;
pub mod scaffold;
mod shape;
mod shared;
pub mod snapshot;
mod spelling;
mod trust;
mod turn;
pub mod worktree;

pub use error::Error;
pub use head::Head;
pub use repository::Repository;
pub use revision::RevisionError;
pub use snapshot::{Exclusions, Snapshot};
