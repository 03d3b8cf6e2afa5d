//! Whoever acts: known, still taking part, and told what waited for its return.

use super::host::register_first;
use super::recording::{self, Acting, Debt};
use super::{Cx, OpenLedger, claiming};
use crate::domain::{Agent, AgentStatus, Event, Id, IdRef, Intent};
use crate::failure::{Audience, Failure};
use crate::ledger::{Patience, Snapshot, Transaction};

/// The intent that a write is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touched {
    /// None.
    Nothing,
    /// This one.
    Intent(Id<Intent>),
    /// This one, and it was compared with all other work on the way.
    Compared(Id<Intent>),
}

/// The agent behind a write.
pub struct Actor {
    /// The agent.
    pub agent: Agent,
    debts: Vec<Debt>,
}

impl Actor {
    /// The agent a caller named, with the comparisons that waited for its return.
    ///
    /// # Errors
    /// `NOT_FOUND`, `INVALID_TRANSITION` for a retired one, or whatever stops a read.
    pub fn find(
        cx: &Cx<'_, OpenLedger>,
        snapshot: &Snapshot<'_>,
        named: &IdRef<Agent>,
    ) -> Result<Self, Failure> {
        let agent = snapshot.resolve(named).map_err(|error| register_first(error.into()))?;
        let agent = taking_part(snapshot.agent(agent)?)?;
        let debts = recording::debts(snapshot, &agent, cx.now())?;
        Ok(Self { agent, debts })
    }

    /// Says that its call was heard, and settles what waited for that: what the agent was owed,
    /// and conflicts over claims of the touched intent that have run out.
    ///
    /// # Errors
    /// Whatever stops a write, or that it was retired meanwhile.
    pub fn acted(
        self,
        transaction: &mut Transaction<'_>,
        cause: Id<Event>,
        touched: Touched,
    ) -> Result<(), Failure> {
        let agent = taking_part(transaction.agent(self.agent.id)?)?.id;
        let (intent, compared) = match touched {
            Touched::Nothing => (None, None),
            Touched::Intent(intent) => (Some(intent), None),
            Touched::Compared(intent) => (Some(intent), Some(intent)),
        };
        if let Some(intent) = intent {
            claiming::dismiss_ended(transaction, Acting { intent, agent, cause })?;
        }
        recording::settle(transaction, agent, cause, compared, self.debts)?;
        Ok(transaction.heard_from(agent)?)
    }
}

fn taking_part(agent: Agent) -> Result<Agent, Failure> {
    match agent.status {
        AgentStatus::Active => Ok(agent),
        AgentStatus::Retired => {
            let message = format!("{} ({}) was retired and does not act any more", agent.id, agent.name);
            let accepted = vec![AgentStatus::Active.as_str()];
            let refusal = Failure::in_state(agent.status.as_str(), message, accepted);
            Err(refusal
                .with(Failure::REFERENCE, agent.id.to_string())
                .then(Audience::Agent, "register_agent"))
        }
    }
}

/// Runs the write of an agent, which ends in [`Actor::acted`] if it records anything.
///
/// # Errors
/// What [`Actor::find`] or the write refuses.
pub fn act<T: Send + 'static>(
    cx: &Cx<'_, OpenLedger>,
    named: &IdRef<Agent>,
    write: impl FnOnce(&mut Transaction<'_>, Actor) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let actor = cx.ledger().read(|snapshot| Actor::find(cx, snapshot, named))?;
    cx.ledger().write(Patience::Wait, move |transaction| write(transaction, actor))
}
