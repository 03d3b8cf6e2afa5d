//! Acts of agents, played in a library and in the reference side by side.

use std::collections::{BTreeMap, BTreeSet};

use foremerge::domain::{Conflict, ConflictStatus, Id, Intent, IntentStatus, MessageStatus, Rule, Severity};
use foremerge::failure::Code;
use foremerge::ledger::audit::audit;
use foremerge::ledger::replay::Part;
use foremerge::ledger::{Error, Patience, Snapshot};
use foremerge::operations::registry;
use serde_json::{Value, json};

use crate::cli::text;
use crate::library::Library;
use crate::model_acts::{Act, KEYS, NAMES, NOBODY, Who};
use crate::model_conflicts::Identity;
use crate::model_reference::Reference;
use crate::simulator_properties::owed;

/// Both, and how far they have come.
pub struct Stage {
    library: Library,
    reference: Reference,
    agents: Vec<String>,
    intents: Vec<String>,
    /// A line for each act, with what came of it.
    story: Vec<String>,
    /// What was called, and the code of a refusal.
    pub outcomes: Vec<(&'static str, Option<&'static str>)>,
}

/// The state of everything, in words that both sides use.
#[derive(Debug, Default, PartialEq)]
struct State {
    retired: Vec<bool>,
    /// Owner, status, and how often it was assessed.
    intents: Vec<(usize, IntentStatus, usize)>,
    /// Intent, key, when it runs out, and whether it was released.
    claims: BTreeSet<(usize, String, i64, bool)>,
    conflicts: BTreeMap<Identity, (ConflictStatus, Severity, bool)>,
    /// Recipients and whether they read it.
    messages: Vec<(usize, bool)>,
    owed: BTreeSet<(usize, usize)>,
}

impl State {
    /// A line for each thing, with agents, intents and keys as the story names them.
    fn lines(&self) -> BTreeSet<String> {
        let mut lines = BTreeSet::new();
        for (agent, retired) in self.retired.iter().enumerate() {
            lines.insert(format!("a{agent} retired: {retired}"));
        }
        for (intent, (owner, status, assessed)) in self.intents.iter().enumerate() {
            lines.insert(format!("i{intent} of a{owner}: {status}, assessed {assessed} times"));
        }
        for (intent, key, until, released) in &self.claims {
            lines.insert(format!("i{intent} claims {key} until {until}, released: {released}"));
        }
        for ((rule, low, high, key), (status, severity, settled)) in &self.conflicts {
            let key = KEYS[*key];
            lines.insert(format!("{rule} i{low} i{high} {key}: {status}, {severity}, settled: {settled}"));
        }
        for (at, (to, read)) in self.messages.iter().enumerate() {
            lines.insert(format!("message {at} to a{to}, read: {read}"));
        }
        for (debtor, other) in &self.owed {
            lines.insert(format!("i{debtor} is owed a comparison with i{other}"));
        }
        lines
    }
}

/// One of so many, or none if there is none; nobody stays nobody.
fn among(number: usize, many: usize) -> Option<usize> {
    if number == NOBODY { Some(NOBODY) } else { number.checked_rem(many) }
}

/// The same, counted from the latest.
fn late(number: usize, many: usize) -> Option<usize> {
    among(number, many).map(|number| if number == NOBODY { NOBODY } else { many - 1 - number })
}

fn named(prefix: &str, ids: &[String], number: usize) -> String {
    ids.get(number).cloned().unwrap_or_else(|| format!("{prefix}_00000000"))
}

impl Stage {
    pub fn new() -> Self {
        let library = Library::in_memory();
        let reference = Reference::new(library.now());
        Self {
            library,
            reference,
            agents: Vec::new(),
            intents: Vec::new(),
            story: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// Plays an act.
    ///
    /// # Errors
    /// The story, when the library answers otherwise than the reference.
    pub fn play(&mut self, drawn: &Act) -> Result<(), String> {
        let Some(act) = self.cast(drawn) else { return Ok(()) };
        let asked = self.call(&act);
        let expected = self.reference.act(&act);
        let answered = match (act.operation(), &act) {
            (Some(operation), _) => self.library.call(operation, asked),
            (None, Act::Pass { minutes }) => {
                self.library.world.pass(minutes * 60_000);
                self.story.push(act.to_string());
                return Ok(());
            }
            (None, _) => return Ok(()),
        };
        let outcome = match answered {
            Ok(answer) => {
                let answer = answer.to_json().unwrap();
                match act {
                    Act::Register { .. } => self.agents.push(text(&answer["id"])),
                    Act::Publish { .. } => self.intents.push(text(&answer["intent"]["id"])),
                    _ => {}
                }
                Ok(())
            }
            Err(failure) => Err(failure),
        };
        let came = outcome.as_ref().map_or_else(ToString::to_string, |()| "done".to_owned());
        self.story.push(format!("{act}: {came}"));
        let code = outcome.map_err(|failure| failure.code);
        self.outcomes.extend(act.operation().map(|operation| (operation, code.err().map(Code::as_str))));
        if code == expected {
            return Ok(());
        }
        let expected = expected.map_or_else(|code: Code| code.to_string(), |()| "that it is done".to_owned());
        Err(self.told(&format!("The model says: {expected}.")))
    }

    /// The same act with numbers of what is there; none when there is nothing yet that it could
    /// be about, or no operation for it.
    fn cast(&self, drawn: &Act) -> Option<Act> {
        let mut act = drawn.clone();
        if act.operation().is_some_and(|operation| registry::find(operation).is_none()) {
            return None;
        }
        let (agents, intents) = (self.agents.len(), self.intents.len());
        let conflicts = self.reference.conflicts.all.len();
        let who = |by: &mut Who| {
            if let Who::Agent(number) = by {
                *number = among(*number, agents)?;
            }
            Some(())
        };
        match &mut act {
            Act::Pass { .. } | Act::Register { .. } => {}
            Act::Retire { agent } | Act::Publish { agent, .. } | Act::Inbox { agent, .. } => {
                *agent = among(*agent, agents)?;
            }
            Act::Amend { by, intent, .. }
            | Act::Claim { by, intent, .. }
            | Act::Release { by, intent, .. }
            | Act::Start { by, intent }
            | Act::Discard { by, intent } => {
                who(by)?;
                *intent = late(*intent, intents)?;
            }
            Act::Assess { by, intent, related } => {
                who(by)?;
                (*intent, *related) = (late(*intent, intents)?, late(*related, intents)?);
            }
            Act::Adopt { agent, intent } | Act::Look { agent, intent } => {
                (*agent, *intent) = (among(*agent, agents)?, late(*intent, intents)?);
            }
            Act::Send { from, to, about } => {
                (*from, *to) = (among(*from, agents)?, among(*to, agents)?);
                *about = about.and_then(|about| late(about, conflicts));
            }
            Act::Resolve { agent, conflict, .. } => {
                (*agent, *conflict) = (among(*agent, agents)?, late(*conflict, conflicts)?);
            }
        }
        Some(act)
    }

    /// The input of the call.
    fn call(&self, act: &Act) -> Value {
        let agent = |number: usize| named("agt", &self.agents, number);
        let intent = |number: usize| named("int", &self.intents, number);
        let by = |by: Who, intent: usize| match by {
            Who::Agent(number) => agent(number),
            Who::Owner => agent(self.reference.intents.get(intent).map_or(0, |work| work.owner)),
        };
        let declared = |scopes: &[(usize, _)]| {
            let scope = |(key, operation): &(usize, _)| json!({ "kind": "domain", "key": KEYS[*key], "operation": operation });
            scopes.iter().map(scope).collect::<Vec<_>>()
        };
        let keys = |keys: &[usize], with_operation: bool| {
            let odd = with_operation.then_some("billing=add");
            let keys = keys.iter().map(|key| KEYS[*key]).chain(odd);
            keys.map(|key| json!({ "kind": "domain", "key": key })).collect::<Vec<_>>()
        };
        match act {
            Act::Pass { .. } => Value::Null,
            Act::Register { name, worktree } => {
                json!({ "name": NAMES[*name], "worktree": worktree.then_some(".") })
            }
            Act::Retire { agent: it } => json!({ "id": agent(*it) }),
            Act::Publish { agent: owner, scopes } => {
                json!({ "agent_id": agent(*owner), "task": "t", "summary": "s", "scopes": declared(scopes) })
            }
            Act::Amend { by: who, intent: it, scopes } => {
                json!({ "id": intent(*it), "agent_id": by(*who, *it), "scopes": declared(scopes) })
            }
            Act::Claim { by: who, intent: it, keys: of, seconds, with_operation } => json!({
                "intent_id": intent(*it),
                "agent_id": by(*who, *it),
                "scopes": keys(of, *with_operation),
                "lease_seconds": seconds
            }),
            Act::Release { by: who, intent: it, keys: of, with_operation } => json!({
                "intent_id": intent(*it),
                "agent_id": by(*who, *it),
                "scopes": keys(of, *with_operation)
            }),
            Act::Start { by: who, intent: it } => {
                json!({ "intent_id": intent(*it), "agent_id": by(*who, *it) })
            }
            Act::Discard { by: who, intent: it } => {
                json!({ "intent_id": intent(*it), "agent_id": by(*who, *it), "reason": "moot" })
            }
            Act::Adopt { agent: adopter, intent: it } => {
                json!({ "intent_id": intent(*it), "agent_id": agent(*adopter), "reason": "gone" })
            }
            Act::Assess { by: who, intent: it, related } => json!({
                "intent_id": intent(*it),
                "agent_id": by(*who, *it),
                "related_intent_id": intent(*related),
                "verdict": "compatible",
                "rationale": "other files",
                "action": "proceeding"
            }),
            Act::Send { from, to, about } => json!({
                "from_agent_id": agent(*from),
                "to_agent_id": agent(*to),
                "message": "hear",
                "conflict_id": about.map(|about| self.conflict(about))
            }),
            Act::Inbox { agent: reader, mark } => json!({ "agent_id": agent(*reader), "mark_read": mark }),
            Act::Resolve { agent: who, conflict, all } => json!({
                "conflict_id": self.conflict(*conflict),
                "agent_id": agent(*who),
                "resolution": "split",
                "rationale": "agreed",
                "all_with": self.reference.conflicts.all.get(*conflict).filter(|_| *all).map(|one| intent(one.identity.2))
            }),
            Act::Look { agent: who, intent: it } => json!({ "id": intent(*it), "agent_id": agent(*who) }),
        }
    }

    /// The id of a conflict that the reference knows.
    fn conflict(&self, number: usize) -> String {
        let Some(known) = self.reference.conflicts.all.get(number) else { return "cfl_00000000".to_owned() };
        let (rule, low, high, key) = known.identity;
        let side = |intent: usize| (self.intents[intent].parse().unwrap(), "domain", KEYS[key]);
        Conflict::identity(rule, [side(low), side(high)]).to_string()
    }

    fn told(&self, end: &str) -> String {
        format!("\n\n  {}\n\n{end}\n", self.story.join("\n  "))
    }

    /// Whether all state is what the reference says, and what folding the history again leads to.
    ///
    /// # Errors
    /// The story, and what is different.
    pub fn is_as_expected(&self) -> Result<(), String> {
        let ledger = self.library.host().ledger().unwrap();
        let (found, expected) = (ledger.read(|snapshot| self.found(snapshot)).unwrap(), self.expected());
        if found != expected {
            let (found, expected) = (found.lines(), expected.lines());
            let only = |here: &BTreeSet<String>, there| {
                here.difference(there).cloned().collect::<Vec<_>>().join("\n  ")
            };
            let (found, expected) = (only(&found, &expected), only(&expected, &found));
            return Err(self.told(&format!("The ledger says\n  {found}\nand the model\n  {expected}")));
        }
        let state = || ledger.read(|snapshot| snapshot.derived_state(Part::Everything)).unwrap();
        let live = state();
        ledger.write(Patience::Wait, |write| write.replay()).unwrap();
        if state() != live {
            return Err(self.told(&format!("Live:\n{live}\nFolded again:\n{}", state())));
        }
        match audit(&ledger, 50, |_| true).unwrap().fault {
            None => Ok(()),
            Some(fault) => Err(self.told(&format!("The audit found {fault:?}"))),
        }
    }

    /// Where each conflict stands, and whether it was closed for good.
    pub fn standings(&self) -> impl Iterator<Item = (Rule, ConflictStatus, bool)> {
        let all = self.reference.conflicts.all.iter();
        all.map(|one| (one.identity.0, one.status, one.settled.is_some()))
    }

    fn expected(&self) -> State {
        let reference = &self.reference;
        let works = || reference.intents.iter().enumerate();
        let claims = works().flat_map(|(intent, work)| {
            work.claims
                .iter()
                .map(move |claim| (intent, KEYS[claim.key].to_owned(), claim.until, claim.released))
        });
        let conflicts = reference.conflicts.all.iter();
        State {
            retired: reference.agents.iter().map(|agent| agent.retired).collect(),
            intents: works().map(|(_, work)| (work.owner, work.status, work.assessments)).collect(),
            claims: claims.collect(),
            conflicts: conflicts
                .map(|one| (one.identity, (one.status, one.severity, one.settled.is_some())))
                .collect(),
            messages: sorted(reference.messages.clone()),
            owed: reference.conflicts.owed.clone(),
        }
    }

    fn found(&self, snapshot: &Snapshot<'_>) -> Result<State, Error> {
        let mut state = State::default();
        let agent = |id: &str| self.agents.iter().position(|known| known == id).unwrap();
        let intent = |id: Id<Intent>| self.intents.iter().position(|known| *known == id.to_string()).unwrap();
        for id in &self.agents {
            let id = id.parse().unwrap();
            state.retired.push(snapshot.agent(id)?.status.as_str() == "RETIRED");
            let inbox = snapshot.inbox(id, None, 1_000)?.items.into_iter();
            state.messages.extend(
                inbox.map(|one| (agent(&one.to_agent_id.to_string()), one.status == MessageStatus::Read)),
            );
        }
        state.messages = sorted(state.messages);
        for (number, id) in self.intents.iter().enumerate() {
            let id = id.parse().unwrap();
            let found = snapshot.intent(id)?;
            let assessed = snapshot.assessments(id, None, 1_000)?.items.len();
            state.intents.push((agent(&found.agent_id.to_string()), found.status, assessed));
            for claim in snapshot.claims_of(id, self.library.now(), 1_000)? {
                let released = claim.status.as_str() == "RELEASED";
                let until = claim.lease_expires_at.as_millis();
                state.claims.insert((number, claim.scope.key, until, released));
            }
        }
        for one in snapshot.conflicts(None, None, 10_000)?.items {
            let (source, target) = (intent(one.source_intent_id), intent(one.target_intent_id));
            let scope = one.scope.unwrap();
            let key = KEYS.iter().position(|key| *key == scope.key).unwrap();
            let rule: Rule = one.evidence.rule;
            let identity = (rule, source.min(target), source.max(target), key);
            state.conflicts.insert(identity, (one.status, one.severity, one.previously_settled));
        }
        let shared = snapshot.derived_state(Part::Shared)?;
        let rows = shared.lines().filter_map(|line| line.strip_prefix("owed|")).map(owed);
        state.owed = rows.map(|(debtor, other)| (intent(debtor), intent(other))).collect();
        Ok(state)
    }
}

fn sorted(mut messages: Vec<(usize, bool)>) -> Vec<(usize, bool)> {
    messages.sort_unstable();
    messages
}
