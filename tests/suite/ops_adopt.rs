//! Work goes to another agent when its owner is gone.

use foremerge::failure::Code;
use serde_json::{Value, json};

use crate::cli::text;
use crate::library::Library;

const MINUTE: i64 = 60_000;
const TWO_HOURS: i64 = 120 * MINUTE;

fn adopting(intent: &str, agent: &str) -> Value {
    json!({ "intent_id": intent, "agent_id": agent, "reason": "its owner is gone" })
}

fn intent_of(published: &Value) -> String {
    text(&published["intent"]["id"])
}

fn conflicts(library: &Library) -> Vec<(String, String)> {
    let found = library.data("list_conflicts", json!({}));
    let found = found.as_array().unwrap().iter();
    let mut found: Vec<_> = found.map(|one| (text(&one["kind"]), text(&one["status"]))).collect();
    found.sort();
    found
}

#[test]
fn work_can_be_adopted_two_hours_after_its_owner_was_last_heard_of() {
    let library = Library::new();
    let [gone, here] = ["gone", "here"].map(|name| library.agent(name));
    let intent = intent_of(&library.publish(&gone, &["symbol:Pay=replace"]));
    library.world.pass(TWO_HOURS - 1);
    let refusal = library.refusal(Code::Forbidden, "adopt_work", adopting(&intent, &here));
    assert!(refusal.message.contains("two hours"), "{refusal}");
    library.world.pass(1);
    let adopted = library.data("adopt_work", adopting(&intent, &here));
    assert_eq!((&adopted["agent_id"], &adopted["status"]), (&json!(here), &json!("INTENT")));
    assert_eq!(adopted["open_conflicts"]["count"], 0);
    let start =
        json!({ "intent_id": intent, "agent_id": gone, "scopes": [{ "kind": "symbol", "key": "Pay" }] });
    library.refusal(Code::Forbidden, "claim_work", start);
}

#[test]
fn a_live_claim_protects_the_work_of_a_silent_owner_until_it_runs_out() {
    let library = Library::new();
    let [gone, here] = ["gone", "here"].map(|name| library.agent(name));
    let intent = intent_of(&library.publish(&gone, &["symbol:Pay=replace"]));
    let scopes = json!([{ "kind": "symbol", "key": "Pay" }]);
    let lease =
        json!({ "intent_id": intent, "agent_id": gone, "scopes": scopes, "lease_seconds": 4 * 3_600 });
    let claim = library.data("claim_work", lease)["claims"][0].clone();
    library.world.pass(3 * 60 * MINUTE);
    let refusal = library.refusal(Code::Forbidden, "adopt_work", adopting(&intent, &here));
    assert!(refusal.message.contains("live claim"), "{refusal}");
    library.world.pass(60 * MINUTE);
    let adopted = library.data("adopt_work", adopting(&intent, &here));
    assert_eq!(adopted["status"], "CLAIMED", "the work keeps its state");
    let scopes = json!([{ "kind": "symbol", "key": "Pay" }]);
    let claimed =
        library.data("claim_work", json!({ "intent_id": intent, "agent_id": here, "scopes": scopes }));
    assert_ne!(claimed["claims"][0]["id"], claim["id"], "the claims of the old owner have ended");
}

#[test]
fn a_session_that_was_started_again_takes_its_work_back_at_once() {
    let library = Library::new();
    let register =
        |name: &str| text(&library.data("register_agent", json!({ "name": name, "worktree": "." }))["id"]);
    let first = register("one");
    let intent = intent_of(&library.publish(&first, &["symbol:Pay=replace"]));
    let (other, again) = (register("other"), register("one"));
    library.refusal(Code::Forbidden, "adopt_work", adopting(&intent, &other));
    let adopted = library.data("adopt_work", adopting(&intent, &again));
    assert_eq!(adopted["agent_id"], json!(again));
    assert_eq!(conflicts(&library), []);
}

#[test]
fn what_the_adopted_work_had_with_the_adopters_own_is_dismissed_and_the_rest_stays() {
    let library = Library::new();
    let [gone, here, third] = ["gone", "here", "third"].map(|name| library.agent(name));
    let intent = intent_of(&library.publish(&gone, &["symbol:Pay=replace", "symbol:Mail=replace"]));
    library.publish(&here, &["symbol:Pay=extend"]);
    library.publish(&third, &["symbol:Mail=extend"]);
    let kind = || "destructive_vs_additive".to_owned();
    assert_eq!(conflicts(&library), [(kind(), "OPEN".into()), (kind(), "OPEN".into())]);
    library.world.pass(TWO_HOURS);
    library.publish(&third, &["symbol:Unrelated=add"]);
    let adopted = library.data("adopt_work", adopting(&intent, &here));
    assert_eq!(conflicts(&library), [(kind(), "DISMISSED".into()), (kind(), "OPEN".into())]);
    assert_eq!(adopted["open_conflicts"]["count"], 1);
}

#[test]
fn what_waited_for_the_old_owner_is_told_to_the_adopter() {
    let library = Library::new();
    let gone = library.agent("gone");
    let intent = intent_of(&library.publish(&gone, &["domain:billing=modify"]));
    library.world.pass(TWO_HOURS);
    let [here, heir] = ["here", "heir"].map(|name| library.agent(name));
    library.publish(&here, &["domain:billing=extend"]);
    assert_eq!(conflicts(&library), [], "it is owed");
    let adopted = library.data("adopt_work", adopting(&intent, &heir));
    assert_eq!(conflicts(&library), [("shared_contract".into(), "OPEN".into())]);
    assert_eq!(adopted["open_conflicts"]["count"], 1);
    library.publish(&gone, &["symbol:Back=add"]);
    assert_eq!(conflicts(&library).len(), 1, "nothing is owed to the old owner any more");
}

#[test]
fn an_owner_who_released_nothing_was_heard_of_all_the_same() {
    let library = Library::new();
    let [owner, here] = ["owner", "here"].map(|name| library.agent(name));
    let intent = intent_of(&library.publish(&owner, &["symbol:Pay=replace"]));
    library.world.pass(TWO_HOURS);
    let released = library.data("release_work", json!({ "intent_id": intent, "agent_id": owner }));
    assert_eq!(released["claims"], json!([]));
    library.refusal(Code::Forbidden, "adopt_work", adopting(&intent, &here));
}
