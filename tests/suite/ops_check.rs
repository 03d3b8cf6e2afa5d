//! Asking before publishing.

use foremerge::failure::{Code, Exit};
use serde_json::{Value, json};

use crate::cli::{self, text};
use crate::library::{Library, publishing};
use crate::sandbox::Sandbox;

fn scopes(scopes: &[&str]) -> Value {
    publishing("agt_000000", scopes)["scopes"].take()
}

fn story() -> (Library, String, String) {
    let library = Library::new();
    let (one, other) = (library.agent("one"), library.agent("other"));
    library.publish(&one, &["symbol:Pay=replace", "domain:billing=modify"]);
    (library, one, other)
}

#[test]
fn a_what_if_says_what_publishing_would_and_stores_nothing() {
    let (library, _, other) = story();
    let before = library.data("status", json!({}));
    let asked = json!({ "intent": "s", "scopes": scopes(&["symbol:Pay=extend", "domain:billing=extend"]) });
    let found = library.data("check_conflicts", asked);
    assert_eq!(
        (&found["ephemeral"], &found["blocking"], &found["checked_intents"]),
        (&json!(true), &json!(true), &json!(1))
    );
    assert_eq!(found["as_of_event"], before["as_of_event"]);
    assert_eq!(library.data("status", json!({}))["as_of_event"], before["as_of_event"], "nothing is stored");
    let published = library.publish(&other, &["symbol:Pay=extend", "domain:billing=extend"]);
    let essence = |conflicts: &Value| -> Vec<_> {
        let all = conflicts.as_array().unwrap().iter();
        all.map(|one| (text(&one["kind"]), text(&one["severity"]), one["score"].to_string())).collect()
    };
    assert_eq!(essence(&found["conflicts"]), essence(&published["conflicts"]));
    let id = text(&found["conflicts"][0]["id"]);
    assert!(id.starts_with("eph_") && id.len() == 36, "{id}");
    assert_eq!(found["conflicts"][0]["source_intent_id"], Value::Null);
    assert_eq!(found["conflicts"][0]["evidence"]["ephemeral"], true);
    library.refusal(Code::InvalidInput, "get_conflict", json!({ "id": id }));
}

#[test]
fn a_what_if_spells_scopes_as_they_were_declared_and_advises_as_a_published_one_is() {
    let library = Library::new();
    let (one, other) = (library.agent("one"), library.agent("other"));
    library.publish(&one, &["symbol:crate::billing::PaymentService=replace"]);
    let mine = ["symbol:PaymentService=extend"];
    let asked = json!({ "intent": "s", "scopes": scopes(&mine), "agent_id": other });
    let found = library.data("check_conflicts", asked)["conflicts"][0].take();
    let published = library.publish(&other, &mine)["conflicts"][0].take();
    for field in ["explanation", "suggestion"] {
        assert_eq!(found[field], published[field]);
    }
    assert!(text(&found["suggestion"]).contains("`PaymentProvider`"), "{found}");
    assert_eq!(found["scope"], json!({ "kind": "symbol", "key": "PaymentService" }));
    assert_eq!(found["evidence"]["source_scope"]["key"], "paymentservice", "evidence is canonical");
}

#[test]
fn a_stored_intent_is_answered_from_the_record_under_lasting_ids() {
    let (library, _, other) = story();
    let published = library.publish(&other, &["symbol:Pay=extend"]);
    let found = library.data("check_conflicts", json!({ "intent_id": published["intent"]["id"] }));
    assert_eq!(found["conflicts"], published["conflicts"]);
    assert_eq!((&found["ephemeral"], &found["blocking"]), (&json!(false), &json!(true)));
    let what_if = json!({ "intent_id": published["intent"]["id"], "scopes": scopes(&["symbol:Other=add"]) });
    let found = library.data("check_conflicts", what_if);
    assert_eq!((&found["conflicts"], &found["ephemeral"]), (&json!([]), &json!(true)));
}

#[test]
fn the_askers_own_work_is_left_out() {
    let (library, one, _) = story();
    let asked = json!({ "intent": "s", "scopes": scopes(&["symbol:Pay=extend"]), "agent_id": one });
    let found = library.data("check_conflicts", asked);
    assert_eq!((&found["conflicts"], &found["checked_intents"]), (&json!([]), &json!(0)));
}

#[test]
fn a_question_that_could_be_misread_is_refused() {
    let (library, _, other) = story();
    let id = text(&library.publish(&other, &["symbol:Pay=extend"])["intent"]["id"]);
    for input in [
        json!({}),
        json!({ "intent_id": id, "intent": "s" }),
        json!({ "intent": id }),
        json!({ "intent": &id[..10] }),
        json!({ "scopes": scopes(&["symbol:Pay=extend"]) }),
    ] {
        let refusal = library.refusal(Code::InvalidInput, "check_conflicts", input);
        assert!(refusal.details.contains_key("field"), "{refusal}");
    }
    library.refusal(Code::NotFound, "check_conflicts", json!({ "intent_id": "int_000000" }));
}

#[test]
fn a_script_is_told_by_the_exit_status() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("one");
    cli.publish(&agent, &["symbol:Pay=replace", "domain:billing=modify"]);
    let status = |words: &[&str]| {
        let ran = cli.run([&["conflicts", "check", "--intent", "s"], words].concat());
        assert!(!ran.stdout.is_empty(), "{ran:?}");
        ran.status
    };
    let found = i32::from(Exit::Found.status());
    let hard = ["--scope", "symbol:Pay=extend"];
    let soft = ["--scope", "domain:billing=extend"];
    assert_eq!(status(&hard), 0, "without --fail-on a finding is an answer like another");
    assert_eq!(status(&[&hard[..], &["--fail-on", "high"]].concat()), found);
    assert_eq!(status(&[&soft[..], &["--fail-on", "high"]].concat()), 0);
    assert_eq!(status(&[&soft[..], &["--fail-on", "MEDIUM"]].concat()), found);
    assert_eq!(status(&["--scope", "domain:x=add", "--fail-on", "low"]), 0);
}

#[test]
fn on_the_command_line_an_operation_is_read_from_the_text_and_never_asserts() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("one");
    cli.publish(&agent, &["symbol:Pay=extend"]);
    let found = cli.data(["conflicts", "check", "--intent", "Remove Pay", "--scope", "symbol:Pay"]);
    let conflict = &found["conflicts"][0];
    assert_eq!(
        (&conflict["kind"], &conflict["severity"]),
        (&json!("destructive_vs_additive"), &json!("MEDIUM"))
    );
    assert_eq!(conflict["evidence"]["asserted"], false);
    assert_eq!(found["blocking"], false);
}
