//! The names and properties of an operation.

use crate::failure::Code;

/// What every surface reads about an operation.
#[derive(Debug)]
pub struct Spec {
    /// Its id, which is also the name of its MCP tool.
    pub id: &'static str,
    /// Its words on the command line.
    pub cli: Cli,
    /// Its place in the local JSON interface.
    pub http: Option<Http>,
    /// Whether agents reach it over MCP.
    pub mcp: bool,
    /// Whether it changes anything.
    pub effect: Effect,
    /// One line.
    pub summary: &'static str,
    /// The rule that matters, and an example.
    pub guide: &'static str,
    /// Codes it fails with, beyond those of an unusable repository or ledger.
    pub codes: &'static [Code],
}

/// `foremerge NOUN VERB`, or `foremerge VERB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cli {
    /// The family.
    pub noun: Option<&'static str>,
    /// The command.
    pub verb: &'static str,
}

/// A route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http {
    /// The method.
    pub method: Method,
    /// The path; every `{name}` in it is a field of the input.
    pub path: &'static str,
}

/// A further route to an operation. It sets yes-or-no fields, which a caller can choose on neither
/// route: the operation's own one leaves them unset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// The route.
    pub http: Http,
    /// The fields it sets.
    pub set: &'static [&'static str],
}

/// The method of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Acts.
    Post,
}

/// Whether an operation changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only looks.
    Read,
    /// It records something, always or on request.
    Write,
}
