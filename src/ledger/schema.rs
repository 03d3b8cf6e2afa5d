//! The schema of this version.

/// Marks a SQLite file as a ledger: "FMLG".
pub(super) const APPLICATION_ID: i32 = 0x464d_4c47;

/// Schema and projection version of this build.
pub(super) const VERSION: i64 = 1;

/// Everything that makes an empty file a ledger of [`VERSION`].
pub(super) const STATEMENTS: &str = include_str!("migrations/0001.sql");
