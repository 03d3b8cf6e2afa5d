//! One call: what an operation may use, and on whose behalf.

use std::sync::Arc;

use super::Host;
use crate::domain::Timestamp;
use crate::failure::Failure;
use crate::git::Repository;
use crate::ledger::{self, Ledger};

/// Where a call came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// The command line.
    Cli,
    /// The local JSON interface.
    Http,
    /// The Model Context Protocol.
    Mcp,
}

/// On whose word a call acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// A person at the keyboard, or a program of theirs.
    Operator,
    /// An agent.
    Agent,
}

/// What a surface says about a call it makes.
pub struct Call<'c> {
    /// Where it came from.
    pub surface: Surface,
    /// On whose word it acts.
    pub trust: Trust,
    /// Whether the caller has lost interest; asked between the steps of slow operations.
    pub cancelled: &'c (dyn Fn() -> bool + Sync),
    /// Hears how far a slow operation is: done and, where known, of how many.
    pub progress: &'c (dyn Fn(u64, Option<u64>) + Sync),
}

impl Call<'_> {
    /// A call from `surface` that nobody cancels or watches. Over MCP an agent speaks; whoever
    /// holds the keyboard or the token is taken for its operator.
    #[must_use]
    pub fn of(surface: Surface) -> Call<'static> {
        let trust = if surface == Surface::Mcp { Trust::Agent } else { Trust::Operator };
        Call { surface, trust, cancelled: &|| false, progress: &|_, _| {} }
    }
}

/// What an operation needs to be there before it can run. The surface opens it, so that what is
/// missing is one failure, said before anything happens.
pub trait Needs: Sized {
    /// Opens it.
    ///
    /// # Errors
    /// What is missing.
    fn open(host: &Host) -> Result<Self, Failure>;
}

/// An operation that runs anywhere.
#[derive(Debug)]
pub struct Nothing;

impl Needs for Nothing {
    fn open(_: &Host) -> Result<Self, Failure> {
        Ok(Self)
    }
}

/// An operation on an initialized ledger.
#[derive(Debug)]
pub struct OpenLedger(Arc<Ledger>);

impl Needs for OpenLedger {
    fn open(host: &Host) -> Result<Self, Failure> {
        host.ledger().map(Self)
    }
}

/// An operation on a repository, with or without a ledger.
#[derive(Debug)]
pub struct OpenRepository(Repository);

impl Needs for OpenRepository {
    fn open(host: &Host) -> Result<Self, Failure> {
        host.repository().map(Self)
    }
}

/// What an operation may use.
pub struct Cx<'c, N> {
    host: &'c Host,
    call: &'c Call<'c>,
    needs: N,
}

impl<'c, N: Needs> Cx<'c, N> {
    /// Opens what the operation needs.
    ///
    /// # Errors
    /// What is missing.
    pub fn open(host: &'c Host, call: &'c Call<'c>) -> Result<Self, Failure> {
        Ok(Self { host, call, needs: N::open(host)? })
    }

    /// The process it runs in.
    #[must_use]
    pub fn host(&self) -> &Host {
        self.host
    }

    /// The call it serves.
    #[must_use]
    pub fn call(&self) -> &Call<'c> {
        self.call
    }

    /// Between the steps of a slow operation: says how far it is and stops it if nobody waits.
    ///
    /// # Errors
    /// When the call was cancelled.
    pub fn step(&self, done: u64, of: Option<u64>) -> Result<(), Failure> {
        (self.call.progress)(done, of);
        if (self.call.cancelled)() { Err(ledger::Error::Cancelled.into()) } else { Ok(()) }
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.host.world().now()
    }
}

impl Cx<'_, OpenRepository> {
    /// The repository around the host's directory, as it is now.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.needs.0
    }
}

impl Cx<'_, OpenLedger> {
    /// The ledger.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.needs.0
    }
}
