//! Much of everything: what is recorded, shown and refused, and how long an answer gets.

use foremerge::failure::Code;
use serde_json::{Value, json};

use crate::cli::{self, publishing, text};
use crate::library::{self, Library};
use crate::sandbox::Sandbox;

const KIB: usize = 1024;

fn count(list: &Value, severity: &str) -> usize {
    list.as_array().unwrap().iter().filter(|conflict| conflict["severity"] == severity).count()
}

fn scopes(numbers: std::ops::Range<usize>, operation: &str) -> Vec<String> {
    numbers.map(|number| format!("symbol:billing::module{number}::Service={operation}")).collect()
}

fn words(scopes: &[String]) -> Vec<&str> {
    scopes.iter().map(String::as_str).collect()
}

#[test]
fn a_thousand_scopes_are_accepted_and_one_more_is_not() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("a");
    let many = scopes(0..1_001, "modify");
    let published = cli.publish(&agent, &words(&many[..1_000]));
    assert_eq!(published["intent"]["scopes"].as_array().unwrap().len(), 1_000);
    let message = cli.refused_without_trace(&publishing(&agent, &words(&many)));
    assert!(message.contains("1000") && message.contains("1001"), "{message}");
}

#[test]
fn two_large_intents_half_shared_give_a_bounded_answer_with_whole_counts() {
    let library = Library::new();
    let (one, other) = (library.agent("one"), library.agent("other"));
    library.publish(&one, &words(&scopes(0..1_000, "replace")));
    let found = library.publish(&other, &words(&scopes(500..1_500, "extend")));
    assert!(found.to_string().len() <= 256 * KIB, "{} bytes", found.to_string().len());
    assert_eq!((count(&found["conflicts"], "HIGH"), &found["cut"]), (100, &json!({ "conflicts": 400 })));
    let related = &found["related_work"][0];
    assert_eq!((&related["overlap_count"], &related["cut"]), (&json!(500), &json!({ "overlap": 480 })));
    assert_eq!(related["overlap"].as_array().unwrap().len(), 20);
    assert!(found.get("omitted").is_none(), "all of them are on record: {found}");
    let shown = library.data("get_intent", json!({ "id": found["intent"]["id"] }));
    let open = &shown["open_conflicts"];
    assert_eq!((&open["count"], &open["cut"]), (&json!(500), &json!({ "ids": 400 })));
    let status = library.data("status", json!({}));
    assert_eq!((&status["counts"]["conflicts"], &status["cut"]), (&json!(500), &json!({ "conflicts": 480 })));
    assert_eq!(status["conflicts"][0]["cut"], json!({ "source_scopes": 990, "target_scopes": 990 }));
    for (operation, input) in [("status", json!({})), ("list_conflicts", json!({ "limit": 100 }))] {
        let size = library.data(operation, input).to_string().len();
        assert!(size <= 256 * KIB, "{operation}: {size} bytes");
    }
}

#[test]
fn below_high_twenty_counterparts_are_recorded_and_the_rest_is_counted() {
    let library = Library::new();
    for number in 0..25 {
        library.publish(&library.agent(&format!("agent {number}")), &["contract:shared=modify"]);
    }
    let before = library.data("list_conflicts", json!({ "limit": 1 }));
    assert_eq!(before.as_array().unwrap().len(), 1);
    let found = library.publish(&library.agent("late"), &["contract:shared=extend"]);
    assert_eq!((count(&found["conflicts"], "MEDIUM"), &found["omitted"]), (20, &json!(5)));
    assert_eq!(found["related_work"].as_array().unwrap().len(), 25, "related work is not a matter of record");
    let events = library.data("list_events", json!({ "limit": 1000 }));
    let detected = events.as_array().unwrap().last().unwrap();
    assert_eq!(detected["payload"]["conflicts"].as_array().unwrap().len(), 20);
    assert_eq!(detected["payload"]["omitted"], 5);
    let shown = library.data("get_intent", json!({ "id": found["intent"]["id"] }));
    assert_eq!(shown["open_conflicts"]["count"], 20);
}

#[test]
fn every_high_finding_is_recorded_and_a_hundred_are_shown() {
    let library = Library::new();
    let many = scopes(0..120, "replace");
    library.publish(&library.agent("one"), &words(&many));
    let found = library.publish(&library.agent("other"), &words(&many));
    assert_eq!((count(&found["conflicts"], "HIGH"), &found["cut"]["conflicts"]), (100, &json!(20)));
    let listed = library.data("list_conflicts", json!({ "limit": 500 }));
    assert_eq!(listed.as_array().unwrap().len(), 120);
}

#[test]
fn long_sections_of_the_overview_are_cut_and_their_counts_are_whole() {
    let library = Library::new();
    for number in 0..23 {
        let agent = library.agent(&format!("agent {number:02}"));
        library.publish(&agent, &[&format!("symbol:s{number}=add")]);
    }
    let status = library.data("status", json!({}));
    assert_eq!((&status["counts"]["agents"], &status["cut"]), (&json!(23), &json!({ "agents": 3 })));
    assert_eq!(status["agents"].as_array().unwrap().len(), 20);
    let group = &status["intents"][0];
    assert_eq!(
        (&group["status"], &group["count"], &group["cut"]),
        (&json!("INTENT"), &json!(23), &json!({ "intents": 3 }))
    );
    let shown = library.screen("status", json!({}), 100);
    assert_eq!(shown.matches("… and 15 more").count(), 2, "{shown}");
    assert!(shown.contains("\nWORK 23  INTENT 23\n") && shown.contains("\nAGENTS 23\n"), "{shown}");
}

#[test]
fn the_overview_stays_small_however_long_the_words_and_the_lists() {
    let library = Library::new();
    let long = |letter: &str, length: usize| letter.repeat(length);
    for number in 0..30 {
        let agent = library.agent(&format!("{} {number}", long("n", 190)));
        let mut input = library::publishing(&agent, &[]);
        input["summary"] = json!(format!("{} {number}", long("s", 1_900)));
        let scope = |at: usize| json!({ "kind": "domain", "key": format!("d{at}"), "operation": "replace" });
        input["scopes"] = json!((0..30).map(scope).collect::<Vec<_>>());
        let intent = library.data("publish_intent", input)["intent"]["id"].clone();
        let scopes = json!([{ "kind": "domain", "key": format!("d{number}") }]);
        library.data("claim_work", json!({ "agent_id": agent, "intent_id": intent, "scopes": scopes }));
    }
    let status = library.data("status", json!({}));
    assert!(status["counts"]["conflicts"].as_u64().unwrap() > 1_000, "{}", status["counts"]);
    assert_eq!((&status["counts"]["claims"], &status["cut"]["claims"]), (&json!(30), &json!(10)));
    let size = status.to_string().len();
    assert!(size < 64 * KIB, "{size} bytes");
}

#[test]
fn metadata_is_an_object_of_bounded_size_and_depth() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("a");
    let publish = publishing(&agent, &[]);
    let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    let lists = format!("{{\"a\":{}{}}}", "[".repeat(64), "]".repeat(64));
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(64 * KIB));
    let deeper = [nested(65), nested(127), nested(5_000), lists];
    let plain = ["[]", "1", "null", "\"text\"", "", "{", "{\"a\":1}}", "{a:1}"].map(str::to_owned);
    for bad in plain.iter().chain(&deeper).chain([&large]) {
        let words = [&publish[..], &["--metadata-json", bad]].concat();
        let message = cli.refused_without_trace(&words);
        assert!(message.contains("--metadata-json") && message.len() < 1_000, "{message:.500}");
    }
    for good in [nested(64), "{}".into(), format!("{{\"a\":\"{}\"}}", "x".repeat(64 * KIB - 8))] {
        let words = [&publish[..], &["--metadata-json", &good]].concat();
        let published = cli.data(words);
        let expected: Value = serde_json::from_str(&good).unwrap();
        assert_eq!(published["intent"]["metadata"], expected);
        let shown = cli.data(["intent", "show", &text(&published["intent"]["id"])]);
        assert_eq!(shown["intent"]["metadata"], expected);
        let events = cli.data(["events", "list"]);
        assert_eq!(events.as_array().unwrap().last().unwrap()["payload"]["metadata"], expected);
    }
}

#[test]
fn metadata_that_no_text_could_hold_is_refused_over_the_json_interface_too() {
    let library = Library::new();
    let agent = library.agent("a");
    let mut deep = json!(1);
    for _ in 0..500 {
        deep = json!([deep]);
    }
    for bad in [json!([]), json!("{}"), json!(1), json!({ "a": deep }), json!({ "a": "x".repeat(64 * KIB) })]
    {
        let mut input = library::publishing(&agent, &[]);
        input["metadata"] = bad;
        let failure = library.refusal(Code::InvalidInput, "publish_intent", input);
        assert_eq!(failure.details["field"], "metadata", "{failure}");
    }
}
