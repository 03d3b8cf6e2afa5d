//! Work whose owner has been silent for two hours.

use serde_json::{Value, json};

use crate::cli::text;
use crate::library::Library;

const TWO_HOURS: i64 = 2 * 60 * 60 * 1_000;

fn kinds(library: &Library) -> Vec<String> {
    let conflicts = library.data("list_conflicts", json!({}));
    let mut kinds: Vec<_> = conflicts.as_array().unwrap().iter().map(|one| text(&one["kind"])).collect();
    kinds.sort();
    kinds
}

fn event_types(library: &Library) -> Vec<String> {
    let events = library.data("list_events", json!({ "limit": 1000 }));
    events.as_array().unwrap().iter().map(|event| text(&event["event_type"])).collect()
}

fn named<'v>(related: &'v Value, agent: &str) -> Option<&'v Value> {
    related.as_array().unwrap().iter().find(|work| work["agent"] == agent)
}

#[test]
fn only_high_findings_are_recorded_against_it_and_the_rest_waits_for_its_owner() {
    let library = Library::new();
    let gone = library.agent("gone");
    library.publish(&gone, &["symbol:Pay=extend", "domain:billing=modify"]);
    library.world.pass(TWO_HOURS);
    let here = library.agent("here");
    let published = library.publish(&here, &["symbol:Pay=remove", "domain:billing=modify"]);
    assert_eq!(kinds(&library), ["destructive_vs_additive"], "the MEDIUM one is owed");
    let related = named(&published["related_work"], "gone").unwrap();
    assert!(related["owner_stopped_since"].is_string(), "{related}");
    assert!(event_types(&library).contains(&"findings.owed".to_owned()));

    library.publish(&gone, &["symbol:Elsewhere=add"]);
    assert_eq!(kinds(&library), ["destructive_vs_additive", "shared_contract"], "the owner is back");
    let settled = event_types(&library).iter().filter(|kind| *kind == "findings.settled").count();
    library.publish(&gone, &["symbol:ElsewhereToo=add"]);
    let again = event_types(&library).iter().filter(|kind| *kind == "findings.settled").count();
    assert_eq!((settled, again), (1, 1), "a debt is settled once");
}

#[test]
fn a_silent_owner_who_only_reads_is_owed_still_and_one_who_was_heard_of_is_not_silent() {
    let library = Library::new();
    let quiet = library.agent("quiet");
    let intent = library.publish(&quiet, &["domain:billing=modify"]);
    library.world.pass(TWO_HOURS - 1);
    let first = library.agent("first");
    library.publish(&first, &["domain:billing=extend"]);
    assert_eq!(kinds(&library).len(), 1, "a moment before two hours");
    library.world.pass(1);
    let second = library.agent("second");
    library.publish(&second, &["domain:billing=extend"]);
    assert_eq!(kinds(&library).len(), 2, "first and second meet; quiet is owed");
    library.data("get_intent", json!({ "id": intent["intent"]["id"], "agent_id": quiet }));
    assert_eq!(kinds(&library).len(), 2, "reading settles nothing");
    library.publish(&quiet, &["symbol:X=add"]);
    assert_eq!(kinds(&library).len(), 3);
}

#[test]
fn two_silent_sides_stay_owed_until_both_are_back() {
    let library = Library::new();
    let (one, other) = (library.agent("one"), library.agent("other"));
    library.publish(&one, &["domain:billing=modify"]);
    library.world.pass(TWO_HOURS);
    library.publish(&other, &["domain:billing=extend"]);
    assert!(kinds(&library).is_empty());
    library.world.pass(TWO_HOURS);
    library.publish(&one, &["symbol:X=add"]);
    assert!(kinds(&library).is_empty(), "the other is silent now");
    library.data("get_intent", json!({ "id": text(&library.data("status", json!({}))["intents"][0]["intents"][0]["id"]), "agent_id": other }));
    library.publish(&one, &["symbol:Y=add"]);
    assert_eq!(kinds(&library), ["shared_contract"], "both are there");
}

#[test]
fn whichever_of_two_silent_sides_is_back_last_settles_it() {
    for first_back in ["one", "other"] {
        let library = Library::new();
        let (one, other) = (library.agent("one"), library.agent("other"));
        library.publish(&one, &["symbol:Pay=extend", "symbol:Gone=remove"]);
        let intent = text(&library.publish(&other, &["symbol:Gone=extend"])["intent"]["id"]);
        library.world.pass(TWO_HOURS);
        let scopes = json!([{ "kind": "symbol", "key": "Pay", "operation": "modify" }]);
        library.data("amend_intent", json!({ "id": intent, "agent_id": other, "scopes": scopes }));
        library.world.pass(TWO_HOURS);
        let (first, last) = if first_back == "one" { (&one, &other) } else { (&other, &one) };
        library.publish(first, &["symbol:X=add"]);
        library.publish(last, &["symbol:Y=add"]);
        let open = library.data("list_conflicts", json!({ "status": "OPEN" }));
        let open: Vec<_> = open.as_array().unwrap().iter().map(|one| text(&one["scope"]["key"])).collect();
        assert_eq!(open, ["Pay"], "{first_back} came back first");
        library.publish(first, &["symbol:Z=add"]);
        let events = event_types(&library).len();
        library.publish(first, &["symbol:ZToo=add"]);
        assert_eq!(event_types(&library).len(), events + 1, "nothing is owed any more");
    }
}

#[test]
fn a_what_if_names_stopped_work_it_touches() {
    let library = Library::new();
    let gone = library.agent("gone");
    library.publish(&gone, &["domain:billing=modify"]);
    library.world.pass(TWO_HOURS);
    let scopes = json!([{ "kind": "domain", "key": "billing", "operation": "extend" }]);
    let found = library.data("check_conflicts", json!({ "intent": "s", "scopes": scopes }));
    assert_eq!(found["conflicts"], json!([]));
    assert_eq!(found["stopped_work"][0]["agent"], "gone");
}

#[test]
fn an_owed_intent_that_its_returning_owner_amends_is_compared_as_it_is_now() {
    let library = Library::new();
    let gone = library.agent("gone");
    let intent = text(&library.publish(&gone, &["domain:billing=modify"])["intent"]["id"]);
    library.world.pass(TWO_HOURS);
    let here = library.agent("here");
    library.publish(&here, &["domain:billing=extend", "domain:orders=extend"]);
    assert!(kinds(&library).is_empty(), "owed");
    let scopes = json!([{ "kind": "domain", "key": "orders", "operation": "modify" }]);
    library.data("amend_intent", json!({ "id": intent, "agent_id": gone, "scopes": scopes }));
    let conflicts = library.data("list_conflicts", json!({}));
    let scopes: Vec<_> = conflicts.as_array().unwrap().iter().map(|one| text(&one["scope"]["key"])).collect();
    assert_eq!(scopes, ["orders"], "what it no longer touches is nothing to record");
    library.publish(&gone, &["symbol:X=add"]);
    assert_eq!(kinds(&library).len(), 1, "and nothing is owed any more");
    assert!(event_types(&library).contains(&"findings.settled".to_owned()));
}

#[test]
fn what_no_longer_holds_with_a_silent_owner_stays_open_until_they_are_back() {
    let library = Library::new();
    let (gone, here) = (library.agent("gone"), library.agent("here"));
    library.publish(&gone, &["symbol:Pay=extend", "symbol:Till=extend"]);
    let intent = text(&library.publish(&here, &["symbol:Pay=remove", "symbol:Till=remove"])["intent"]["id"]);
    library.world.pass(TWO_HOURS);
    let scopes = json!([{ "kind": "symbol", "key": "Pay", "operation": "remove" }]);
    let amended = library.data("amend_intent", json!({ "id": intent, "agent_id": here, "scopes": scopes }));
    let count = |field: &str| amended[field].as_array().unwrap().len();
    assert_eq!((count("dismissed"), count("left_open")), (0, 1));
    let open = |library: &Library| {
        let open = library.data("list_conflicts", json!({ "status": "OPEN" }));
        open.as_array().unwrap().iter().map(|one| text(&one["scope"]["key"])).collect::<Vec<_>>()
    };
    assert_eq!(open(&library).len(), 2, "its owner has not heard of it");

    library.publish(&gone, &["symbol:Elsewhere=add"]);
    assert_eq!(open(&library), ["Pay"], "what still holds stays");
    let events = event_types(&library).len();
    library.publish(&gone, &["symbol:ElsewhereToo=add"]);
    assert_eq!(event_types(&library).len(), events + 1, "and nothing is owed any more");
}

#[test]
fn owed_work_that_its_returning_owner_discards_meets_nobody() {
    let library = Library::new();
    let gone = library.agent("gone");
    let intent = text(&library.publish(&gone, &["domain:billing=modify"])["intent"]["id"]);
    library.world.pass(TWO_HOURS);
    let here = library.agent("here");
    library.publish(&here, &["domain:billing=extend"]);
    library.data("discard_work", json!({ "intent_id": intent, "agent_id": gone, "reason": "moot" }));
    assert!(kinds(&library).is_empty(), "nothing is open against work that has ended");
    assert!(event_types(&library).contains(&"findings.settled".to_owned()));
}
