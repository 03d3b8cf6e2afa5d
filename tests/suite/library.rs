//! The operations without a process: what a surface calls, in a world whose clock is ours.

use std::path::Path;
use std::sync::Arc;

use foremerge::domain::Timestamp;
use foremerge::failure::{Code, Failure};
use foremerge::git::scaffold;
use foremerge::ledger::{Durability, Ledger, Settings};
use foremerge::operations::answer::AnyAnswer;
use foremerge::operations::{Screen, registry};
use foremerge::service::{Call, Host, Surface};
use foremerge::world::{Fake, World};
use serde_json::{Value, json};

use crate::cli::text;
use crate::sandbox::Sandbox;

/// A host in a repository of its own, whose ledger is made.
pub struct Library<W = Fake> {
    pub sandbox: Sandbox,
    pub world: Arc<W>,
    host: Host,
}

impl Library {
    pub fn new() -> Self {
        Self::with(|root| Fake::new(7).started_in(root))
    }

    /// For those that need many.
    pub fn in_memory() -> Self {
        Self::within(Sandbox::in_memory(), |root| Fake::new(7).started_in(root))
    }
}

impl<W: World + 'static> Library<W> {
    pub fn with(world: impl FnOnce(&Path) -> W) -> Self {
        Self::within(Sandbox::new(), world)
    }

    fn within(sandbox: Sandbox, world: impl FnOnce(&Path) -> W) -> Self {
        let root = sandbox.path("r");
        scaffold::create(&root, &[("a.rs", "")], "first", 1_700_000_000).unwrap();
        let world = Arc::new(world(&root));
        let settings = Settings { durability: Durability::Off, ..Settings::default() };
        let host = Host::new(Arc::<W>::clone(&world), None, None, settings).unwrap();
        let library = Self { sandbox, world, host };
        library.data("init", json!({}));
        library
    }

    pub fn call(&self, operation: &str, input: Value) -> Result<Box<dyn AnyAnswer>, Failure> {
        let entry = registry::find(operation).unwrap();
        (entry.run_json)(&self.host, &Call::of(Surface::Http), input)
    }

    pub fn host(&self) -> &Host {
        &self.host
    }

    pub fn data(&self, operation: &str, input: Value) -> Value {
        let shown = input.to_string();
        let answer = self.call(operation, input);
        let answer = answer.unwrap_or_else(|failure| panic!("{operation} {shown:.200}: {failure}"));
        answer.to_json().unwrap()
    }

    /// What a person sees, `width` columns wide.
    pub fn screen(&self, operation: &str, input: Value, width: u16) -> String {
        self.screen_on(Screen::new(width, self.now()), operation, input)
    }

    /// What a person sees on a screen.
    pub fn screen_on(&self, mut screen: Screen, operation: &str, input: Value) -> String {
        self.call(operation, input).unwrap().render(&mut screen);
        screen.into_text()
    }

    /// The ledger, for what no operation does.
    pub fn ledger(&self) -> Arc<Ledger> {
        self.host.ledger().unwrap()
    }

    pub fn refusal(&self, code: Code, operation: &str, input: Value) -> Failure {
        let failure = self.call(operation, input).err().expect("it is refused");
        assert_eq!(failure.code, code, "{failure}");
        says_what_is_accepted(code.as_str(), &json!(failure.details));
        failure
    }

    pub fn agent(&self, name: &str) -> String {
        text(&self.data("register_agent", json!({ "name": name }))["id"])
    }

    pub fn publish(&self, agent: &str, scopes: &[&str]) -> Value {
        self.data("publish_intent", publishing(agent, scopes))
    }

    pub fn now(&self) -> Timestamp {
        self.world.now()
    }
}

/// Whoever refuses an input names the field and what is accepted there; whoever refuses for a state, the state
/// and those that would do.
#[track_caller]
pub fn says_what_is_accepted(code: &str, details: &Value) {
    let named = match code {
        "INVALID_INPUT" => "field",
        "INVALID_TRANSITION" => "status",
        _ => return,
    };
    assert!(details[named].as_str().is_some_and(|named| !named.is_empty()), "no {named}: {details}");
    let accepted = &details["accepted"];
    let empty = accepted.is_null() || [json!(""), json!([]), json!({})].contains(accepted);
    assert!(!empty, "nothing accepted: {details}");
}

/// The input that declares `KIND:KEY=OPERATION` scopes.
pub fn publishing(agent: &str, scopes: &[&str]) -> Value {
    let scopes = scopes.iter().map(|scope| {
        let (kind, rest) = scope.split_once(':').unwrap();
        let (key, operation) = rest.rsplit_once('=').unwrap();
        json!({ "kind": kind, "key": key, "operation": operation })
    });
    json!({ "agent_id": agent, "task": "t", "summary": "s", "scopes": scopes.collect::<Vec<_>>() })
}
