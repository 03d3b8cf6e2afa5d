//! Changing what an intent touches.

use foremerge::failure::Code;
use serde_json::{Value, json};

use crate::cli::{text, texts};
use crate::library::Library;

fn amending(intent: &str, agent: &str, scopes: &[&str]) -> Value {
    let mut input = crate::library::publishing(agent, scopes);
    let scopes = input["scopes"].take();
    json!({ "id": intent, "agent_id": agent, "scopes": scopes })
}

fn statuses(library: &Library) -> Vec<(String, String)> {
    let conflicts = library.data("list_conflicts", json!({}));
    let mut all: Vec<_> =
        conflicts.as_array().unwrap().iter().map(|one| (text(&one["kind"]), text(&one["status"]))).collect();
    all.sort();
    all
}

/// `other` extends what `one` replaces.
fn collision() -> (Library, [String; 2], [String; 2]) {
    let library = Library::new();
    let agents = ["one", "other"].map(|name| library.agent(name));
    let first = library.publish(&agents[0], &["symbol:Pay=replace"]);
    let second = library.publish(&agents[1], &["symbol:Pay=extend", "domain:billing=modify"]);
    let intents = [&first, &second].map(|published| text(&published["intent"]["id"]));
    (library, agents, intents)
}

#[test]
fn what_no_longer_overlaps_is_dismissed_and_what_newly_does_is_recorded() {
    let (library, agents, intents) = collision();
    assert_eq!(statuses(&library), [("destructive_vs_additive".into(), "OPEN".into())]);
    let third = library.agent("third");
    library.publish(&third, &["api:GET /pay=remove"]);
    let amended = library.data("amend_intent", amending(&intents[1], &agents[1], &["api:GET /pay=modify"]));
    assert_eq!(amended["dismissed"].as_array().unwrap().len(), 1);
    assert_eq!(amended["conflicts"].as_array().unwrap().len(), 1);
    assert_eq!(amended["intent"]["status"], "INTENT");
    assert_eq!(
        amended["intent"]["scopes"],
        json!([{ "kind": "api", "key": "GET /pay", "operation": "modify" }])
    );
    let kind = "destructive_vs_additive";
    assert_eq!(statuses(&library), [(kind.into(), "DISMISSED".into()), (kind.into(), "OPEN".into())]);
    let open = library.data("get_intent", json!({ "id": intents[0] }));
    assert_eq!(open["open_conflicts"]["count"], 0, "the other side hears of it too");
}

#[test]
fn a_dismissed_conflict_that_is_seen_again_is_open_again_under_its_old_id() {
    let (library, agents, intents) = collision();
    let before = library.data("list_conflicts", json!({}))[0]["id"].clone();
    library.data("amend_intent", amending(&intents[1], &agents[1], &["symbol:Other=add"]));
    let amended = library.data("amend_intent", amending(&intents[1], &agents[1], &["symbol:Pay=extend"]));
    assert_eq!(
        (&amended["conflicts"][0]["id"], &amended["conflicts"][0]["status"]),
        (&before, &json!("OPEN"))
    );
    let events = library.data("list_events", json!({}));
    let types =
        texts(&Value::Array(events.as_array().unwrap().iter().map(|e| e["event_type"].clone()).collect()));
    let of = |name: &str| types.iter().filter(|found| *found == name).count();
    assert_eq!(
        (of("conflict.detected"), of("conflict.redetected"), of("conflict.dismissed")),
        (1, 1, 1),
        "{types:?}"
    );
}

#[test]
fn what_is_on_record_is_recorded_again_only_when_it_changed_and_shown_all_the_same() {
    let (library, agents, intents) = collision();
    let last = |library: &Library| library.data("status", json!({}))["as_of_event"].as_u64().unwrap();
    let before = last(&library);
    let same = ["symbol:Pay=extend", "domain:shipping=modify"];
    let amended = library.data("amend_intent", amending(&intents[1], &agents[1], &same));
    assert_eq!(amended["conflicts"].as_array().unwrap().len(), 1, "shown");
    assert_eq!(last(&library), before + 1, "the amendment alone is recorded");
    let amended = library.data("amend_intent", amending(&intents[1], &agents[1], &["symbol:Pay=remove"]));
    assert_eq!(amended["conflicts"][0]["kind"], "divergent_rewrite");
    assert_eq!(statuses(&library).len(), 2, "another rule is another conflict");
    let amended = library.data("amend_intent", amending(&intents[1], &agents[1], &["symbol:Pay=rename"]));
    let evidence = &amended["conflicts"][0]["evidence"];
    assert!(
        [&evidence["source_operation"], &evidence["target_operation"]].contains(&&json!("rename")),
        "{evidence}"
    );
}

#[test]
fn only_the_owner_amends_and_never_to_nothing() {
    let (library, agents, intents) = collision();
    let scope = ["symbol:X=add"];
    let refusal = library.refusal(Code::Forbidden, "amend_intent", amending(&intents[1], &agents[0], &scope));
    assert!(refusal.message.contains(&agents[1]), "{refusal}");
    library.refusal(Code::InvalidInput, "amend_intent", amending(&intents[1], &agents[1], &[]));
    library.refusal(Code::NotFound, "amend_intent", amending("int_00000000", &agents[1], &scope));
    assert_eq!(statuses(&library).len(), 1);
}

#[test]
fn a_new_summary_is_compared_and_kept() {
    let library = Library::new();
    let agents = ["one", "other"].map(|name| library.agent(name));
    let mut first = crate::library::publishing(&agents[0], &["file:a=add"]);
    first["summary"] = json!("Add rate limiting to the public login endpoint");
    library.data("publish_intent", first);
    let second = library.publish(&agents[1], &["file:b=add"]);
    let mut input = amending(&text(&second["intent"]["id"]), &agents[1], &["file:b=add"]);
    input["summary"] = json!("Introduce rate limiting for public login endpoints");
    let amended = library.data("amend_intent", input.clone());
    assert_eq!(amended["intent"]["summary"], input["summary"]);
    let kinds: Vec<_> =
        amended["conflicts"].as_array().unwrap().iter().map(|one| text(&one["kind"])).collect();
    assert_eq!(kinds, ["duplicate_work"]);
    assert_eq!(amended["conflicts"][0]["scope"], Value::Null);
    assert!(amended["conflicts"][0]["evidence"]["summary_jaccard"].as_f64().unwrap() >= 0.62);
}
