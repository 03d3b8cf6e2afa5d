//! What operations share: the place they run in, and the steps more than one of them takes.
//!
//! A [`Host`] is one process at one directory; it finds the ledger and keeps it open. A [`Cx`]
//! is one call of one operation on it. This room knows neither operations nor transports.

pub mod acting;
pub mod claiming;
pub mod cx;
pub mod findings;
pub mod gates;
pub mod host;
pub mod matching;
pub mod nearest;
pub mod presence;
pub mod recording;
pub mod scopes;
pub mod silence;

pub use cx::{Call, Cx, Needs, Nothing, OpenLedger, OpenRepository, Surface, Trust};
pub use host::{Host, Site};
