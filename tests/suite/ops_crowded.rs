//! More of something than an answer shows: what counts most is in what it shows, and counts are whole.

use serde_json::{Value, json};

use crate::cli::text;
use crate::library::Library;

fn named(numbers: std::ops::Range<usize>) -> Vec<Value> {
    numbers.map(|number| json!({ "kind": "domain", "key": format!("d{number:04}") })).collect()
}

#[test]
fn live_claims_are_shown_before_ended_ones_and_counted_whole() {
    let library = Library::new();
    let agent = library.agent("a");
    let intent = text(&library.publish(&agent, &["domain:d=add"])["intent"]["id"]);
    let claim = |numbers| {
        library.world.pass(1_000);
        let input = json!({ "agent_id": agent, "intent_id": intent, "scopes": named(numbers) });
        library.data("claim_work", input);
    };
    claim(0..120);
    library.data("release_work", json!({ "intent_id": intent, "agent_id": agent }));
    claim(200..202);
    let work = library.data("query_work", json!({}))[0].clone();
    let shown: Vec<_> =
        work["claims"].as_array().unwrap().iter().map(|claim| text(&claim["status"])).collect();
    assert_eq!(
        (&shown[..2], &shown[2][..], shown.len()),
        (&["ACTIVE".into(), "ACTIVE".into()][..], "RELEASED", 100)
    );
    assert_eq!((&work["live_claims"], &work["cut"]), (&json!(2), &json!({ "claims": 22 })));
    assert!(library.screen("query_work", json!({}), 140).contains("2 claims"));
    let graph = library.data("get_graph", json!({ "kinds": ["Claim"] }));
    let drawn = graph["nodes"].as_array().unwrap().iter();
    assert_eq!(drawn.filter(|node| node["data"]["status"] == "ACTIVE").count(), 2, "{graph}");

    claim(300..449);
    assert_eq!(library.data("query_work", json!({}))[0]["live_claims"], 151);
    let screen = library.screen("query_work", json!({}), 140);
    assert!(screen.contains("151 claims"), "{screen}");
}
