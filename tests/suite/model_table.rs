//! The operations once more, in memory: who may do what to which work, and what comes of it.

use std::collections::BTreeMap;

use foremerge::domain::{IntentStatus, ScopeOperation};
use foremerge::failure::Code;

use crate::model_acts::{Act, NOBODY, Who};
use crate::model_reference::{Agent, Claim, MINUTE, Reference, Work};
use IntentStatus::{Claimed, Discarded, InProgress, Intent};

type Outcome = Result<(), Code>;
type Scopes = [(usize, ScopeOperation)];

impl Reference {
    /// What the call leads to: the code it is refused with, and then nothing changed.
    pub fn act(&mut self, act: &Act) -> Outcome {
        match act {
            Act::Pass { minutes } => {
                self.now += minutes * MINUTE;
                Ok(())
            }
            Act::Register { name, worktree } => {
                let (name, worktree) = (*name, *worktree);
                self.agents.push(Agent { name, worktree, retired: false, heard: self.now });
                Ok(())
            }
            Act::Retire { agent } => self.retire(known(*agent)?),
            Act::Publish { agent, scopes } => self.publish(*agent, scopes),
            Act::Amend { by, intent, scopes } => self.amend(*by, *intent, scopes),
            Act::Claim { with_operation: true, .. } | Act::Release { with_operation: true, .. } => {
                Err(Code::InvalidInput)
            }
            Act::Claim { by, intent, keys, seconds, .. } => self.claim(*by, *intent, keys, *seconds),
            Act::Release { by, intent, keys, .. } => self.release(*by, *intent, keys),
            Act::Start { by, intent } => self.start(*by, *intent),
            Act::Discard { by, intent } => self.discard(*by, *intent),
            Act::Adopt { agent, intent } => self.adopt(*agent, *intent),
            Act::Assess { by, intent, related } => self.assess(*by, *intent, *related),
            Act::Send { from, to, about } => self.send(*from, *to, *about),
            Act::Inbox { agent, mark: true } => self.mark(*agent),
            Act::Resolve { agent, conflict, all } => self.resolve(*agent, *conflict, *all),
            Act::Look { agent, intent: NOBODY } => known(*agent).and(Err(Code::NotFound)),
            Act::Inbox { agent, mark: false } | Act::Look { agent, .. } => self.look(*agent),
        }
    }

    /// An agent that acts. That it was retired is said before anything else is looked at.
    fn actor(&self, agent: usize) -> Result<usize, Code> {
        let agent = known(agent)?;
        if self.agents[agent].retired { Err(Code::InvalidTransition) } else { Ok(agent) }
    }

    /// The owner of an intent that does something to it.
    fn owner(&self, by: Who, intent: usize) -> Result<usize, Code> {
        let agent = match by {
            Who::Agent(agent) => self.actor(agent)?,
            // What is not there has no owner; the first agent asks.
            Who::Owner => self.actor(self.intents.get(intent).map_or(0, |work| work.owner))?,
        };
        match self.intents.get(intent) {
            None => Err(Code::NotFound),
            Some(work) if work.owner != agent => Err(Code::Forbidden),
            Some(_) => Ok(agent),
        }
    }

    fn open(&self, intent: usize, states: &[IntentStatus]) -> Outcome {
        let open = states.contains(&self.intents[intent].status);
        if open { Ok(()) } else { Err(Code::InvalidTransition) }
    }

    fn retire(&mut self, agent: usize) -> Outcome {
        let at_work = self.intents.iter().any(|work| work.owner == agent && work.is_active());
        if self.agents[agent].retired || at_work {
            return Err(Code::InvalidTransition);
        }
        self.agents[agent].retired = true;
        Ok(())
    }

    fn publish(&mut self, agent: usize, scopes: &Scopes) -> Outcome {
        let scopes = once(scopes)?;
        let owner = self.actor(agent)?;
        let debts = self.debts(owner);
        self.intents.push(Work { owner, status: Intent, scopes, claims: Vec::new(), assessments: 0 });
        let intent = self.intents.len() - 1;
        self.compare(intent, owner, None);
        self.acted(owner, Some(intent), true, &debts);
        Ok(())
    }

    fn amend(&mut self, by: Who, intent: usize, scopes: &Scopes) -> Outcome {
        let scopes = once(scopes)?;
        let owner = self.owner(by, intent)?;
        self.open(intent, &[Intent, Claimed, InProgress])?;
        let debts = self.debts(owner);
        self.intents[intent].scopes = scopes;
        self.dismiss_gone(intent, owner, None);
        self.compare(intent, owner, None);
        self.acted(owner, Some(intent), true, &debts);
        Ok(())
    }

    fn claim(&mut self, by: Who, intent: usize, keys: &[usize], seconds: Option<i64>) -> Outcome {
        let owner = self.owner(by, intent)?;
        self.open(intent, &[Intent, Claimed, InProgress])?;
        let debts = self.debts(owner);
        let until = self.now + seconds.unwrap_or(3_600).clamp(60, 86_400) * 1_000;
        let work = &mut self.intents[intent];
        for key in keys {
            match work.claims.iter_mut().find(|claim| claim.key == *key && !claim.released) {
                Some(held) => held.until = held.until.max(until),
                None => work.claims.push(Claim { key: *key, until, released: false }),
            }
        }
        if work.status == Intent {
            work.status = Claimed;
        }
        self.compare_claims(intent, owner, keys);
        self.acted(owner, Some(intent), false, &debts);
        Ok(())
    }

    fn release(&mut self, by: Who, intent: usize, keys: &[usize]) -> Outcome {
        let owner = self.owner(by, intent)?;
        let debts = self.debts(owner);
        let work = &mut self.intents[intent];
        let held = |key| work.claims.iter().any(|claim| claim.key == key && !claim.released);
        if !keys.iter().all(|key| held(*key)) {
            return Err(Code::NotFound);
        }
        let mut any = false;
        for claim in work.claims.iter_mut().filter(|claim| !claim.released) {
            if keys.is_empty() || keys.contains(&claim.key) {
                (claim.released, any) = (true, true);
            }
        }
        if any {
            self.acted(owner, Some(intent), false, &debts);
        } else {
            self.agents[owner].heard = self.now;
        }
        Ok(())
    }

    fn start(&mut self, by: Who, intent: usize) -> Outcome {
        let owner = self.owner(by, intent)?;
        self.open(intent, &[Claimed])?;
        let debts = self.debts(owner);
        self.intents[intent].status = InProgress;
        self.acted(owner, Some(intent), false, &debts);
        Ok(())
    }

    fn discard(&mut self, by: Who, intent: usize) -> Outcome {
        let owner = self.owner(by, intent)?;
        self.open(intent, &[Intent, Claimed, InProgress])?;
        let debts = self.debts(owner);
        let work = &mut self.intents[intent];
        work.status = Discarded;
        work.release_all();
        self.conflicts.discarded(intent);
        self.acted(owner, Some(intent), false, &debts);
        Ok(())
    }

    fn adopt(&mut self, agent: usize, intent: usize) -> Outcome {
        let adopter = self.actor(agent)?;
        let work = self.intents.get(intent).ok_or(Code::NotFound)?;
        if work.owner == adopter {
            return Err(Code::InvalidInput);
        }
        self.open(intent, &[Intent, Claimed, InProgress])?;
        // Whether the owner is there is asked last, like a gate.
        let restarted = self.agents[adopter].is_namesake_of(&self.agents[work.owner]);
        if !restarted && !self.is_stopped(intent) {
            return Err(Code::Forbidden);
        }
        let debts = self.debts(adopter);
        let mut taken_over = self.debts(work.owner).due;
        taken_over.retain(|(debtor, _)| *debtor == intent);
        let work = &mut self.intents[intent];
        work.owner = adopter;
        work.release_all();
        self.agents[adopter].heard = self.now;
        self.dismiss_gone(intent, adopter, None);
        self.compare(intent, adopter, None);
        self.conflicts.settled(&taken_over);
        self.acted(adopter, Some(intent), true, &debts);
        Ok(())
    }

    fn assess(&mut self, by: Who, intent: usize, related: usize) -> Outcome {
        let owner = self.owner(by, intent);
        // That there is no such intent, or that it is the same, is said before whose it is.
        if matches!(owner, Ok(_) | Err(Code::Forbidden)) {
            match related {
                NOBODY => return Err(Code::NotFound),
                related if related == intent => return Err(Code::InvalidInput),
                _ => {}
            }
        }
        let owner = owner?;
        let debts = self.debts(owner);
        self.intents[intent].assessments += 1;
        self.acted(owner, Some(intent), false, &debts);
        Ok(())
    }

    fn send(&mut self, from: usize, to: usize, about: Option<usize>) -> Outcome {
        let (sender, to) = (self.actor(from)?, known(to)?);
        if to == sender {
            return Err(Code::InvalidInput);
        }
        if about == Some(NOBODY) {
            return Err(Code::NotFound);
        }
        if self.agents[to].retired {
            return Err(Code::InvalidTransition);
        }
        let debts = self.debts(sender);
        self.messages.push((to, false));
        if let Some(about) = about {
            self.conflicts.talked_about(about);
        }
        self.acted(sender, None, false, &debts);
        Ok(())
    }

    fn mark(&mut self, agent: usize) -> Outcome {
        let reader = self.actor(agent)?;
        let debts = self.debts(reader);
        let unread = |(to, read): &&mut (usize, bool)| *to == reader && !*read;
        let marked = self.messages.iter_mut().filter(unread).map(|(_, read)| *read = true).count();
        if marked > 0 {
            self.acted(reader, None, false, &debts);
        }
        self.agents[reader].heard = self.now;
        Ok(())
    }

    fn resolve(&mut self, agent: usize, conflict: usize, all: bool) -> Outcome {
        let agent = self.actor(agent)?;
        if conflict == NOBODY {
            return Err(Code::NotFound);
        }
        let debts = self.debts(agent);
        if !self.conflicts.resolve(conflict, all) {
            return Err(Code::InvalidTransition);
        }
        self.acted(agent, None, false, &debts);
        Ok(())
    }

    /// A read by an agent is noted at most once a minute.
    fn look(&mut self, agent: usize) -> Outcome {
        let agent = known(agent)?;
        if self.now - self.agents[agent].heard >= MINUTE {
            self.agents[agent].heard = self.now;
        }
        Ok(())
    }
}

fn known(agent: usize) -> Result<usize, Code> {
    if agent == NOBODY { Err(Code::NotFound) } else { Ok(agent) }
}

/// The scopes as declared, each key once.
fn once(scopes: &[(usize, ScopeOperation)]) -> Result<BTreeMap<usize, ScopeOperation>, Code> {
    let mut known = BTreeMap::new();
    for (key, operation) in scopes {
        if known.insert(*key, *operation).is_some_and(|other| other != *operation) {
            return Err(Code::InvalidInput);
        }
    }
    Ok(known)
}
