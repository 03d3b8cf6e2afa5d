//! Every row of the transition table whose operation exists, tried in every state that can be
//! reached by operations.

use std::collections::BTreeSet;

use foremerge::domain::IntentStatus;
use foremerge::domain::transition::{Act, TABLE, Transition, Who, after, open_in, who};
use foremerge::failure::Code;
use foremerge::operations::registry;
use serde_json::{Value, json};

use crate::cli::text;
use crate::library::Library;

const THREE_HOURS: i64 = 3 * 60 * 60 * 1_000;

/// How an intent gets into a state; `None` for a state no operation leads to yet.
fn path_to(state: IntentStatus) -> Option<&'static [Act]> {
    match state {
        IntentStatus::Intent => Some(&[]),
        IntentStatus::Claimed => Some(&[Act::Claim]),
        IntentStatus::InProgress => Some(&[Act::Claim, Act::Start]),
        IntentStatus::Discarded => Some(&[Act::Discard]),
        _ => None,
    }
}

/// The call that does `act`; a second intent is there to be assessed against.
fn input(act: Act, intent: &str, other: &str, agent: &str) -> Value {
    let scope = json!({ "kind": "domain", "key": "billing" });
    match act {
        Act::Amend => json!({
            "id": intent,
            "agent_id": agent,
            "scopes": [{ "kind": "domain", "key": "billing", "operation": "modify" }]
        }),
        Act::Claim => json!({ "intent_id": intent, "agent_id": agent, "scopes": [scope] }),
        Act::Discard | Act::Adopt => json!({ "intent_id": intent, "agent_id": agent, "reason": "because" }),
        Act::Assess => json!({
            "intent_id": intent,
            "agent_id": agent,
            "related_intent_id": other,
            "verdict": "compatible",
            "rationale": "other files",
            "action": "proceeding"
        }),
        _ => json!({ "intent_id": intent, "agent_id": agent }),
    }
}

fn operation(act: Act) -> &'static str {
    TABLE.iter().find(|row| row.act == act).unwrap().operation
}

struct Scene {
    library: Library,
    owner: String,
    stranger: String,
    intent: String,
    other: String,
}

impl Scene {
    fn in_state(state: IntentStatus) -> Self {
        let library = Library::new();
        let [owner, stranger] = ["owner", "stranger"].map(|name| library.agent(name));
        let intent = text(&library.publish(&owner, &["domain:billing=modify"])["intent"]["id"]);
        let other = text(&library.publish(&stranger, &["domain:cart=modify"])["intent"]["id"]);
        let scene = Self { library, owner, stranger, intent, other };
        for act in path_to(state).unwrap() {
            let input = input(*act, &scene.intent, &scene.other, &scene.owner);
            scene.library.data(operation(*act), input);
        }
        assert_eq!(scene.status(), state.as_str());
        scene
    }

    fn status(&self) -> String {
        text(&self.library.data("get_intent", json!({ "id": self.intent }))["intent"]["status"])
    }

    fn events(&self) -> usize {
        self.library.data("list_events", json!({ "limit": 1000 })).as_array().unwrap().len()
    }

    fn refused(&self, code: Code, act: Act, agent: &str) {
        let (status, events) = (self.status(), self.events());
        let input = input(act, &self.intent, &self.other, agent);
        self.library.refusal(code, operation(act), input);
        assert_eq!(
            (self.status(), self.events()),
            (status, events),
            "{act:?} was refused and changed something"
        );
    }
}

fn has_operation(row: &Transition) -> bool {
    registry::find(row.operation).is_some()
}

#[test]
fn every_row_of_the_table_holds_in_every_state_that_can_be_reached() {
    let acts: BTreeSet<Act> = TABLE.iter().filter(|row| has_operation(row)).map(|row| row.act).collect();
    let mut tried = 0;
    for act in acts.into_iter().filter(|act| *act != Act::Publish) {
        for state in IntentStatus::ALL.iter().copied() {
            if path_to(state).is_none() {
                println!("{} is not tried in {state}: no operation leads there yet", operation(act));
                continue;
            }
            let scene = Scene::in_state(state);
            let (may, may_not) = match who(act) {
                Who::Others => (&scene.stranger, &scene.owner),
                _ => (&scene.owner, &scene.stranger),
            };
            // Long enough for the owner to count as gone, and for its claims to have run out.
            scene.library.world.pass(THREE_HOURS);
            match who(act) {
                Who::Owner => scene.refused(Code::Forbidden, act, may_not),
                Who::Others => scene.refused(Code::InvalidInput, act, may_not),
                Who::Anyone => {}
            }
            let Some(expected) = after(act, Some(state)) else {
                scene.refused(Code::InvalidTransition, act, may);
                tried += 1;
                continue;
            };
            scene.library.data(operation(act), input(act, &scene.intent, &scene.other, may));
            assert_eq!(scene.status(), expected.as_str(), "{act:?} from {state}");
            tried += 1;
        }
    }
    for row in TABLE.iter().filter(|row| !has_operation(row)) {
        println!("{:?} is not tried: there is no operation {} yet", row.act, row.operation);
    }
    assert!(tried >= 6 * 4, "{tried}");
}

#[test]
fn a_refusal_says_in_which_states_it_is_open() {
    let scene = Scene::in_state(IntentStatus::Discarded);
    for act in [Act::Claim, Act::Start, Act::Amend, Act::Discard] {
        let input = input(act, &scene.intent, &scene.other, &scene.owner);
        let failure = scene.library.refusal(Code::InvalidTransition, operation(act), input);
        assert_eq!(failure.details["status"], "DISCARDED");
        for state in open_in(act) {
            assert!(failure.message.contains(state.as_str()), "{failure}");
        }
    }
}

#[test]
fn a_missing_intent_or_agent_is_not_found_before_anything_else_is_looked_at() {
    let scene = Scene::in_state(IntentStatus::Discarded);
    let acts = [Act::Claim, Act::Start, Act::Release, Act::Discard, Act::Adopt, Act::Amend];
    for act in acts {
        let nobody = input(act, &scene.intent, &scene.other, "agt_00000000");
        scene.library.refusal(Code::NotFound, operation(act), nobody);
        let nothing = input(act, "int_00000000", &scene.other, &scene.stranger);
        scene.library.refusal(Code::NotFound, operation(act), nothing);
    }
}

#[test]
fn what_is_malformed_is_refused_before_anybody_asks_whose_it_is_or_whether_it_is_there() {
    let scene = Scene::in_state(IntentStatus::Intent);
    for intent in ["int_00000000", &scene.intent] {
        for act in [Act::Amend, Act::Claim, Act::Release] {
            let mut odd = input(act, intent, &scene.other, &scene.stranger);
            odd["scopes"] = match act {
                Act::Amend => ["modify", "remove"]
                    .map(|operation| json!({ "kind": "domain", "key": "cart", "operation": operation }))
                    .into(),
                _ => json!([{ "kind": "domain", "key": "cart=modify" }]),
            };
            scene.library.refusal(Code::InvalidInput, operation(act), odd);
        }
    }
}
