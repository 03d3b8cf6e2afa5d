//! Everything Foremerge can do, one file per operation, each defined once for all surfaces.
//!
//! An operation is an input, an output, a [`Spec`] and a function. The doc comments of the
//! input's fields are the help text and the schema descriptions; the registry reads the rest.

pub mod accepted;
pub mod answer;
pub mod events;
pub mod registry;
pub mod render;
pub mod spec;

mod agent;
mod assess;
mod conflicts;
mod coordinate;
mod graph;
mod init;
mod intent;
mod status;
mod work;
mod worktree;

use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::service::{Cx, Needs};

pub use answer::{Answer, PageInfo};
pub use render::{Render, Screen};
pub use spec::{Cli, Effect, Http, Method, Preset, Spec};

/// Something Foremerge can do.
pub trait Operation {
    /// Its names and properties.
    const SPEC: Spec;
    /// Further routes to it.
    const PRESETS: &'static [Preset] = &[];
    /// What must be there before it can run.
    type Needs: Needs;
    /// What a caller gives: the same fields on every surface.
    type Input: DeserializeOwned + schemars::JsonSchema + clap::Args;
    /// What a caller gets.
    type Output: Answer + schemars::JsonSchema + Send + 'static;

    /// Does it.
    ///
    /// # Errors
    /// A typed failure; nothing was changed then.
    fn run(cx: &Cx<'_, Self::Needs>, input: Self::Input) -> Result<Self::Output, Failure>;
}
