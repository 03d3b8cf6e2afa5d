//! Several ledgers of one piece of work, simulated: what they record, what strangers say, and
//! what is carried between them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::Arc;

use foremerge::domain::event::Replica;
use foremerge::domain::fact::{AgentRegistered, ConflictDetected, Fact};
use foremerge::domain::{Agent, Claim, Event, Id, Intent, Severity};
use foremerge::failure::Code;
use foremerge::ledger::audit::{Audit, audit};
use foremerge::ledger::exchange::{Admitted, Carried};
use foremerge::ledger::replay::Part;
use foremerge::ledger::{self, Draft, Durability, Error, Ledger, Patience, Place, Settings};
use foremerge::operations::registry;
use foremerge::service::{Call, Host, Surface};
use foremerge::world::Fake;
use serde_json::json;

use crate::simulator_steps::{Cause, Later, Saying, Step};
use crate::simulator_told::{Told, stranger_event};
use crate::simulator_what::{Seen, Who, finding, listed, scope_key};

/// Ledgers that record; the one after them only relays.
pub const RECORDERS: usize = 2;
const STRANGERS: usize = 2;
/// Begins every path that must not leave its machine.
pub const SECRET: &str = "/secret/";

pub const SETTINGS: Settings =
    Settings { durability: Durability::Off, patience: std::time::Duration::from_secs(30) };

/// A directory in memory where the system has one.
pub fn directory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

/// One ledger in its own directory and its own world.
pub struct Node {
    /// Removed with it.
    _directory: tempfile::TempDir,
    pub world: Arc<Fake>,
    pub ledger: Arc<Ledger>,
    pub replica: Id<Replica>,
    host: Host,
}

impl Node {
    pub fn new(seed: u64) -> Self {
        let directory = directory();
        let world = Fake::new(seed.wrapping_mul(0x1000_0000_01b3).wrapping_add(seed));
        ledger::create(&Place::in_directory(directory.path().join("ledger")), &world).unwrap();
        Self::open(directory, world)
    }

    /// Another node on a copy of this one's files.
    pub fn copied(&self, seed: u64) -> Self {
        let directory = directory();
        let (from, to) = (self.ledger.place().directory(), directory.path().join("ledger"));
        std::fs::create_dir(&to).unwrap();
        // A backup reads the file through a connection: opening it otherwise would drop locks.
        let connection = rusqlite::Connection::open(self.ledger.place().file()).unwrap();
        let file = to.join("state.sqlite3");
        connection.execute("VACUUM INTO ?1", [file.to_str().unwrap()]).unwrap();
        let copied = rusqlite::Connection::open(&file).unwrap();
        copied.pragma_update(None, "journal_mode", "WAL").unwrap();
        drop(copied);
        for name in ["mark", "repository"] {
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
        Self::open(directory, Fake::new(seed))
    }

    fn open(directory: tempfile::TempDir, world: Fake) -> Self {
        let world = Arc::new(world);
        let place = Place::in_directory(directory.path().join("ledger"));
        let host = Host::new(world.clone(), Some(directory.path()), Some(place.file()), SETTINGS).unwrap();
        let ledger = host.ledger().unwrap();
        let replica = ledger.read(|snapshot| snapshot.replicas()).unwrap()[0].0;
        Self { _directory: directory, world, ledger, replica, host }
    }

    /// Runs an operation as a client of the local JSON interface does.
    pub fn run(
        &self,
        operation: &str,
        input: serde_json::Value,
    ) -> Result<serde_json::Value, foremerge::failure::Failure> {
        let entry = registry::find(operation).unwrap();
        (entry.run_json)(&self.host, &Call::of(Surface::Http), input).and_then(|answer| answer.to_json())
    }

    pub fn record(
        &self,
        entity: String,
        agent: Id<Agent>,
        cause: Option<Id<Event>>,
        fact: Fact,
    ) -> Id<Event> {
        self.ledger
            .write(Patience::Wait, move |write| write.record(Draft { entity, agent, cause, fact }))
            .unwrap()
    }

    pub fn register(&self, agent: Id<Agent>, name: &str, worktree: Option<String>) {
        let fact = AgentRegistered {
            name: name.to_owned(),
            model: None,
            capabilities: vec!["rust".to_owned()],
            git_branch: Some("main".to_owned()),
            git_head: None,
            worktree,
        };
        self.record(agent.to_string(), agent, None, Fact::AgentRegistered(fact));
    }

    /// Admits events in one write that goes on whatever happens to them.
    pub fn admit(&self, events: Vec<Carried>) -> Vec<Result<Admitted, Error>> {
        self.ledger
            .write(Patience::Wait, move |write| {
                Ok::<_, Error>(events.iter().map(|event| write.admit(event)).collect())
            })
            .unwrap()
    }

    /// How many events of `replica` are here.
    pub fn known(&self, replica: Id<Replica>) -> u64 {
        let all = self.ledger.read(|snapshot| snapshot.replicas()).unwrap();
        all.into_iter().find(|(id, _)| *id == replica).map_or(0, |(_, number)| number)
    }

    pub fn carry(&self, replica: Id<Replica>, after: u64, limit: u32) -> Vec<Carried> {
        self.ledger.read(|snapshot| snapshot.carry(replica, after, limit)).unwrap()
    }

    /// Every event here, by replica.
    pub fn chains(&self) -> BTreeMap<Id<Replica>, Vec<Carried>> {
        let all = self.ledger.read(|snapshot| snapshot.replicas()).unwrap();
        all.into_iter().map(|(id, _)| (id, self.carry(id, 0, u32::MAX))).collect()
    }

    pub fn events(&self) -> Vec<Event> {
        self.ledger.read(|snapshot| snapshot.events(0, u32::MAX)).unwrap()
    }

    pub fn state(&self, part: Part) -> String {
        self.ledger.read(|snapshot| snapshot.derived_state(part)).unwrap()
    }

    pub fn audit(&self) -> Audit {
        audit(&self.ledger, 7, |_| true).unwrap()
    }

    /// Throws the derived state away and folds again; answers it before and after.
    pub fn replayed(&self) -> (String, String) {
        let before = self.state(Part::Everything);
        self.ledger.write(Patience::Wait, |write| write.replay()).unwrap();
        (before, self.state(Part::Everything))
    }
}

/// All ledgers of a run, and everything that was ever said.
pub struct Simulation {
    pub nodes: Vec<Node>,
    pub strangers: Vec<Id<Replica>>,
    pub spoken: BTreeMap<Id<Replica>, Vec<Carried>>,
    agents: Vec<Id<Agent>>,
    intents: Vec<Id<Intent>>,
    events: Vec<Id<Event>>,
    registered: usize,
    /// Who said last that an intent is theirs.
    owners: BTreeMap<Id<Intent>, Id<Agent>>,
    claims: Vec<(Id<Claim>, Id<Intent>)>,
    seen: Vec<Seen>,
}

fn pick<T: Copy>(list: &[T], at: u8) -> T {
    list[usize::from(at) % list.len()]
}

/// One of the latest, so that much happens to the same.
fn late<T: Clone>(list: &[T], at: u8) -> T {
    list[list.len() - 1 - usize::from(at) % list.len()].clone()
}

/// One of few intents, which several may say to have published.
pub fn new_intent(at: u8) -> Id<Intent> {
    Id::from_bytes([0x10 + at % 4; 16])
}

impl Simulation {
    pub fn new() -> Self {
        let nodes: Vec<_> = (1..=RECORDERS as u64 + 1).map(Node::new).collect();
        // One stranger orders before, one after everything else that happens at the same time.
        let strangers = vec![Id::from_bytes([0; 16]), Id::from_bytes([0xff; 16])];
        let spoken = nodes.iter().map(|node| node.replica).chain(strangers.iter().copied());
        Self {
            spoken: spoken.map(|replica| (replica, Vec::new())).collect(),
            nodes,
            strangers,
            agents: (0..3).map(|n| Id::from_bytes([0xa0 + n; 16])).collect(),
            intents: Vec::new(),
            events: Vec::new(),
            registered: 0,
            owners: BTreeMap::new(),
            claims: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// A run of these steps.
    pub fn of(steps: &[Step]) -> Self {
        let mut simulation = Self::new();
        for step in steps {
            simulation.step(step);
        }
        simulation
    }

    pub fn agent(&self, at: u8) -> Id<Agent> {
        late(&self.agents, at)
    }

    /// One that somebody said to have published, if anybody did.
    pub fn intent(&self, at: u8) -> Id<Intent> {
        if self.intents.is_empty() { new_intent(at) } else { late(&self.intents, at) }
    }

    pub fn who(&self, who: Who, intent: Id<Intent>) -> Id<Agent> {
        match who {
            Who::Agent(at) => self.agent(at),
            Who::Owner => self.owners.get(&intent).copied().unwrap_or(self.agents[0]),
        }
    }

    /// A claim that somebody said to hold, with the intent it was said to be for.
    pub fn claim(&self, at: u8) -> (Id<Claim>, Id<Intent>) {
        if self.claims.is_empty() {
            return (Id::from_bytes([0x30; 16]), self.intent(0));
        }
        late(&self.claims, at)
    }

    /// A conflict that somebody said to have found.
    pub fn seen(&self, at: u8) -> Seen {
        if self.seen.is_empty() {
            let (acting, with) = (new_intent(0), new_intent(1));
            return Seen { acting, with, scopes: listed(), found: finding(0, 0, Severity::Low) };
        }
        late(&self.seen, at)
    }

    pub fn step(&mut self, step: &Step) {
        match step {
            Step::Pass { at, millis } => self.nodes[usize::from(*at) % self.nodes.len()].world.pass(*millis),
            Step::Register { at, worktree } => self.register(usize::from(*at) % RECORDERS, *worktree),
            Step::Publish { at, agent, scopes } => {
                let at = usize::from(*at) % RECORDERS;
                let agent = self.agent(*agent);
                let scopes: Vec<_> = scopes
                    .iter()
                    .map(|(key, operation)| {
                        json!({ "kind": "symbol", "key": scope_key(*key), "operation": operation })
                    })
                    .collect();
                let input = json!({ "agent_id": agent, "task": "t", "summary": "s", "scopes": scopes });
                if let Err(refused) = self.nodes[at].run("publish_intent", input) {
                    // Whoever was never registered there, or retired.
                    assert!(matches!(refused.code, Code::NotFound | Code::InvalidTransition), "{refused:?}");
                }
                self.listen(at);
            }
            Step::Record { at, saying } => {
                let at = usize::from(*at) % RECORDERS;
                let Saying { what, cause, .. } = saying;
                if let Some((entity, agent, fact)) = what.fact(self) {
                    self.nodes[at].record(entity, agent, self.cause(*cause), fact);
                    self.listen(at);
                }
            }
            Step::Say { stranger, saying } => self.say(usize::from(*stranger) % STRANGERS, saying),
            Step::Carry { from, to, speaker, count, again } => {
                let speakers: Vec<_> = self.spoken.keys().copied().collect();
                let speaker = pick(&speakers, *speaker);
                let nodes = self.nodes.len();
                let (from, to) =
                    (&self.nodes[usize::from(*from) % nodes], &self.nodes[usize::from(*to) % nodes]);
                let after = if *again { 0 } else { to.known(speaker) };
                hand_over(to, from.carry(speaker, after, u32::from(*count)));
            }
            Step::Tell { stranger, to, count, again } => {
                let stranger = pick(&self.strangers, *stranger);
                let to = &self.nodes[usize::from(*to) % self.nodes.len()];
                let after = if *again { 0 } else { to.known(stranger) };
                let said = self.spoken[&stranger].iter().skip(usize::try_from(after).unwrap());
                hand_over(to, said.take(usize::from(*count)).cloned().collect());
            }
        }
    }

    fn register(&mut self, at: usize, worktree: bool) {
        self.registered += 1;
        let name = format!("agent-{}", self.registered);
        if worktree {
            let agent = Id::from_bytes([0xc0 ^ u8::try_from(self.registered % 64).unwrap(); 16]);
            self.nodes[at].register(agent, &name, Some(format!("{SECRET}{at}/{name}")));
        } else {
            self.nodes[at].run("register_agent", json!({ "name": name })).unwrap();
        }
        self.listen(at);
    }

    /// Notes what the ledger `at` has recorded since the last time.
    fn listen(&mut self, at: usize) {
        let node = &self.nodes[at];
        let heard = self.spoken.get_mut(&node.replica).unwrap();
        let new = node.carry(node.replica, heard.len() as u64, u32::MAX);
        heard.extend(new.iter().cloned());
        for event in new {
            self.remember(&event);
            if event.event_type == "agent.registered" {
                self.agents.extend(event.entity_id.parse::<Id<Agent>>());
            }
        }
    }

    /// Keeps what later steps refer to, whether it will have an effect or not.
    fn remember(&mut self, event: &Carried) {
        self.events.push(event.event_id);
        let intent = Id::<Intent>::exact(&event.entity_id);
        let agent = event.agent_id.as_deref().and_then(Id::<Agent>::exact);
        match Fact::read(&event.event_type, event.version, &event.shared, None) {
            Some(Fact::IntentPublished(_)) => {
                let Some((intent, agent)) = intent.zip(agent) else { return };
                if let Entry::Vacant(new) = self.owners.entry(intent) {
                    new.insert(agent);
                    self.intents.push(intent);
                }
            }
            Some(Fact::IntentAdopted(_)) => self.owners.extend(intent.zip(agent)),
            Some(Fact::ClaimCreated(fact)) => {
                self.claims.extend(Id::exact(&event.entity_id).map(|claim| (claim, fact.intent_id)));
            }
            Some(Fact::ConflictDetected(ConflictDetected { scopes, pairs, .. })) => {
                let Some(acting) = intent else { return };
                for pair in pairs.into_iter().filter(|pair| pair.with != acting) {
                    let seen = |found| Seen { acting, with: pair.with, scopes: scopes.clone(), found };
                    self.seen.extend(pair.found.into_iter().map(seen));
                }
            }
            _ => {}
        }
    }

    fn say(&mut self, stranger: usize, saying: &Saying) {
        let cause = self.cause(saying.cause);
        let told: Told = saying.what.told(self);
        let replica = self.strangers[stranger];
        let last = |said: &Vec<Carried>| said.last().map_or(0, |event| event.lamport);
        let latest = self.spoken.values().map(last).max().unwrap_or(0);
        let later = match saying.later {
            Later::By(times) => u64::from(times),
            Later::ThanEverything => latest - last(&self.spoken[&replica]),
        };
        let said = self.spoken.get_mut(&replica).unwrap();
        let event = told.after(said.last(), stranger, replica, later, cause);
        said.push(event.clone());
        self.remember(&event);
    }

    fn cause(&self, cause: Cause) -> Option<Id<Event>> {
        match cause {
            Cause::Nothing => None,
            Cause::Nobody => Some(Id::from_bytes([0xee; 16])),
            Cause::Known(_) if self.events.is_empty() => None,
            Cause::Known(at) => Some(pick(&self.events, at)),
            Cause::Coming { stranger, ahead } => {
                let stranger = usize::from(stranger) % STRANGERS;
                let said = self.spoken[&self.strangers[stranger]].len();
                Some(stranger_event(stranger, said + 1 + usize::from(ahead)))
            }
        }
    }

    /// Brings everything that was said to `node`, a piece at a time, in an order and with
    /// repetitions that `chance` decides.
    pub fn tell_all(&self, node: &Node, chance: &[u8]) {
        let mut chance = chance.iter().copied().cycle();
        loop {
            let open: Vec<_> = self
                .spoken
                .iter()
                .map(|(replica, said)| (said, usize::try_from(node.known(*replica)).unwrap()))
                .filter(|(said, known)| *known < said.len())
                .collect();
            if open.is_empty() {
                return;
            }
            let draw = chance.next().unwrap_or(0);
            let (said, known) = pick(&open, draw);
            let from = if draw & 0x40 == 0 { known } else { known.saturating_sub(2) };
            let to = said.len().min(known + 1 + usize::from(draw >> 4 & 3));
            hand_over(node, said[from..to].to_vec());
        }
    }
}

/// Hands events of one replica over; every one is new or known as its number says.
pub fn hand_over(to: &Node, events: Vec<Carried>) {
    let Some(first) = events.first() else { return };
    let known = to.known(first.replica);
    let expected: Vec<_> = events
        .iter()
        .map(|event| Ok(if event.number <= known { Admitted::Known } else { Admitted::Appended }))
        .collect();
    if first.number <= known + 1 {
        assert_eq!(to.admit(events), expected);
    }
}
