//! More of something than an answer shows: what counts most is in what it shows, and counts are whole.

use foremerge::operations::render::escaped_json;
use serde_json::{Value, json};

use crate::cli::{self, text};
use crate::library::{Library, publishing};

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

#[test]
fn marking_page_after_page_leaves_nothing_unread_and_shows_every_message() {
    let library = Library::new();
    let (one, other) = (library.agent("one"), library.agent("other"));
    let send = |number: usize| {
        library.world.pass(10);
        let input = json!({ "from_agent_id": one, "to_agent_id": other, "message": format!("no {number}") });
        text(&library.data("coordinate_with_agent", input)["id"])
    };
    let mut all: Vec<_> = (0..250).map(send).collect();
    let read = |mark: bool| {
        let messages = library.data("read_inbox", json!({ "agent_id": other, "mark_read": mark }));
        messages.as_array().unwrap().iter().map(|message| text(&message["id"])).collect::<Vec<_>>()
    };
    let mut shown = Vec::new();
    for size in [100, 100, 50] {
        let looked = read(false);
        let marked = read(true);
        assert_eq!((&looked, marked.len()), (&marked, size), "what is shown is what is marked");
        shown.extend(marked);
    }
    assert_eq!(shown, all, "oldest first, each once");
    assert!(!library.screen("status", json!({}), 100).contains("unread"));

    all.push(send(250));
    let answer = library.call("read_inbox", json!({ "agent_id": other })).unwrap();
    assert_eq!(answer.page().unwrap().total, 251, "the list is cut at its beginning");
    let screen = library.screen("read_inbox", json!({ "agent_id": other }), 100);
    assert!(
        screen.contains("no 250") && screen.contains("1 of 251 shown; from the oldest on: --all"),
        "{screen}"
    );
    assert_eq!(read(true), all[250..]);
    let oldest = library.data("read_inbox", json!({ "agent_id": other, "all": true, "limit": 1 }));
    assert_eq!(text(&oldest[0]["id"]), all[0]);
    assert_eq!(read(false), all[..100], "with nothing unread it begins with the oldest");
}

#[test]
fn what_a_retired_agent_has_not_read_waits_for_nobody() {
    let library = Library::new();
    let [one, other, gone] = ["one", "other", "gone"].map(|name| library.agent(name));
    for to in [&other, &gone, &gone] {
        let input = json!({ "from_agent_id": one, "to_agent_id": to, "message": "m" });
        library.data("coordinate_with_agent", input);
    }
    assert!(library.screen("status", json!({}), 100).contains("WAITING  3 messages unread"));
    library.data("retire_agent", json!({ "id": gone }));
    let screen = library.screen("status", json!({}), 100);
    let waiting = screen.split("WAITING").nth(1).unwrap().split("AGENTS").next().unwrap();
    assert!(waiting.contains("  1 message unread\n") && !waiting.contains("gone"), "{screen}");
}

/// Text as long as the door lets it in, of characters that take the most bytes in JSON.
fn longest(letter: &str, characters: usize, number: usize) -> String {
    format!("x{number:02}{}x", letter.repeat(characters - 4))
}

#[test]
fn the_overview_fits_whatever_is_stored_and_its_counts_are_whole() {
    for letter in ["\u{1}", "\u{e0041}", "k"] {
        let library = Library::in_memory();
        for number in 0..14 {
            let input =
                json!({ "name": longest(letter, 200, number), "model": longest(letter, 200, number) });
            let agent = text(&library.data("register_agent", input)["id"]);
            let key = |at: usize| longest(letter, 1_000, at);
            let scopes = (0..if number < 2 { 20 } else { 1 })
                .map(|at| json!({ "kind": "domain", "key": key(at), "operation": "replace" }));
            let input = json!({
                "agent_id": agent, "task": "t", "summary": longest(letter, 2_000, number),
                "scopes": scopes.collect::<Vec<_>>(),
            });
            let intent = text(&library.data("publish_intent", input)["intent"]["id"]);
            let claims: Vec<_> = (0..2).map(|at| json!({ "kind": "domain", "key": key(at) })).collect();
            if number >= 7 {
                let input = json!({ "agent_id": agent, "intent_id": intent, "scopes": claims });
                library.data("claim_work", input);
            }
        }
        let answer = library.data("status", json!({}));
        let printed = escaped_json(&json!({ "ok": true, "data": answer }).to_string());
        assert!(printed.len() <= 64 * 1024, "{letter:?}: {} bytes", printed.len());
        let counts = &answer["counts"];
        for section in ["agents", "claims", "conflicts"] {
            let shown = answer[section].as_array().unwrap().len() as u64;
            let cut = answer["cut"][section].as_u64().unwrap_or(0);
            assert_eq!(json!(shown + cut), counts[section], "{letter:?}: {section}");
            assert!(shown > 0 || counts[section] == 0, "{letter:?}: no {section}");
        }
        for group in answer["intents"].as_array().unwrap() {
            let shown = group["intents"].as_array().unwrap().len() as u64;
            assert_eq!(json!(shown + group["cut"]["intents"].as_u64().unwrap_or(0)), group["count"]);
        }
    }
}

#[test]
fn a_drawing_that_is_cut_says_so_and_where_it_goes_on() {
    let library = Library::new();
    let agent = library.agent("a");
    for number in 0..3 {
        library.world.pass(10);
        library.publish(&agent, &[&format!("domain:d{number}=add")]);
    }
    let cli = cli::at(library.sandbox.path("r"));
    for (format, sign) in [("dot", "//"), ("mermaid", "%%")] {
        let whole = cli.shown(["graph", "--format", format]);
        assert!(!whole.contains("cut:") && !whole.contains("--cursor"), "{whole}");
        let part = cli.shown(["graph", "--format", format, "--limit", "1"]);
        assert!(
            part.contains(&format!("\n{sign} cut: 2 intents\n{sign} the next page: --cursor ")),
            "{part}"
        );
        let next = part.trim_end().rsplit(' ').next().unwrap();
        let rest = cli.shown(["graph", "--format", format, "--limit", "2", "--cursor", next]);
        assert!(rest.contains(&format!("\n{sign} cut: 1 intents\n")) && !rest.contains("--cursor"), "{rest}");
        let shown: Value = serde_json::from_str(&cli.shown(["graph", "--limit", "1"])).unwrap();
        assert_eq!((&shown["page"]["next"], &shown["page"]["total"]), (&json!(next), &json!(3)));
    }
}

#[test]
fn what_waits_for_what_is_told_with_the_state_of_what_it_waits_for() {
    let library = Library::new();
    let [one, other, third] = ["one", "other", "third"].map(|name| library.agent(name));
    let base = text(&library.publish(&one, &["domain:base=add"])["intent"]["id"]);
    let mut input = publishing(&other, &["domain:on=add"]);
    input["depends_on"] = json!([base]);
    let building = text(&library.data("publish_intent", input)["intent"]["id"]);
    library.world.pass(10);
    let judging = text(&library.publish(&third, &["domain:judged=add"])["intent"]["id"]);
    let assess = |action: &str| {
        library.world.pass(10);
        library.data(
            "record_assessment",
            json!({
                "agent_id": third, "intent_id": judging, "related_intent_id": base, "verdict": "conflicts",
                "rationale": "r", "action": action,
            }),
        );
    };
    assess("proceeding");
    let waiting = || {
        let status = library.data("status", json!({}));
        let rows = status["waiting"].as_array().unwrap().iter();
        let rows: Vec<_> = rows
            .map(|row| {
                assert_eq!((&row["for_intent_id"], &row["for_agent_name"]), (&json!(base), &json!("one")));
                (text(&row["intent_id"]), text(&row["for_status"]))
            })
            .collect();
        assert_eq!(status["counts"]["waiting"], rows.len());
        rows
    };
    assert_eq!(waiting(), [(building.clone(), "INTENT".to_owned())]);
    assess("waiting");
    assert_eq!(waiting(), [(judging.clone(), "INTENT".to_owned()), (building.clone(), "INTENT".to_owned())]);
    library.data("discard_work", json!({ "intent_id": base, "agent_id": one, "reason": "r" }));
    assert_eq!(
        waiting(),
        [(judging.clone(), "DISCARDED".to_owned()), (building.clone(), "DISCARDED".to_owned())]
    );
    let screen = library.screen("status", json!({}), 120);
    let told = screen.lines().filter(|line| line.contains("waits for int_")).count();
    assert!(told == 2 && screen.contains("(one) DISCARDED"), "{screen}");
    assess("proceeding");
    assert_eq!(waiting().len(), 1, "the last word counts");

    let shown = library.data("get_intent", json!({ "id": building }));
    assert_eq!(
        shown["dependencies"],
        json!([{ "intent_id": base, "status": "DISCARDED", "agent_name": "one" }])
    );
    let screen = library.screen("get_intent", json!({ "id": building }), 120);
    assert!(screen.contains("depends on  int_") && screen.contains(" DISCARDED (one)\n"), "{screen}");
}

#[test]
fn an_intent_is_shown_with_its_live_claims_and_what_time_is_left() {
    let library = Library::new();
    let agent = library.agent("a");
    let intent = text(&library.publish(&agent, &["domain:d=add"])["intent"]["id"]);
    let claim = |numbers, seconds: u64| {
        let input = json!({
            "agent_id": agent, "intent_id": intent, "scopes": named(numbers), "lease_seconds": seconds,
        });
        library.data("claim_work", input);
    };
    claim(0..1, 60);
    claim(1..3, 7_200);
    library.world.pass(61_000);
    let shown = library.data("get_intent", json!({ "id": intent }));
    let mut keys: Vec<_> =
        shown["claims"].as_array().unwrap().iter().map(|claim| text(&claim["scope"]["key"])).collect();
    keys.sort();
    assert_eq!((&keys[..], shown.get("cut")), (&["d0001".to_owned(), "d0002".to_owned()][..], None));
    let screen = library.screen("get_intent", json!({ "id": intent }), 80);
    assert!(screen.contains("\nCLAIMS 2\n") && screen.contains("\ndomain:d0001  for 1 h\n"), "{screen}");
    claim(100..250, 7_200);
    let shown = library.data("get_intent", json!({ "id": intent }));
    assert_eq!((shown["claims"].as_array().unwrap().len(), &shown["cut"]), (100, &json!({ "claims": 52 })));
    assert!(library.screen("get_intent", json!({ "id": intent }), 80).contains("\nCLAIMS 152\n"));
}
