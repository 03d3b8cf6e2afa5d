//! Every sight of a conflict: what was seen, in which event, and whether the matter was closed by then.

use foremerge::failure::Code;
use serde_json::{Value, json};

use crate::cli::{self, text};
use crate::library::{Library, publishing};
use crate::sandbox::Sandbox;

/// `one` replaces what `other` extends; both modify a domain.
struct Dispute {
    library: Library,
    agents: [String; 2],
    intents: [String; 2],
    conflict: String,
}

fn dispute() -> Dispute {
    let library = Library::new();
    let agents = ["one", "other"].map(|name| library.agent(name));
    let first = library.publish(&agents[0], &["symbol:Pay=replace", "domain:billing=modify"]);
    let second = library.publish(&agents[1], &["symbol:Pay=extend", "domain:billing=modify"]);
    let intents = [&first, &second].map(|published| text(&published["intent"]["id"]));
    let conflict = text(&second["conflicts"][0]["id"]);
    Dispute { library, agents, intents, conflict }
}

impl Dispute {
    fn seen(&self, conflict: &str) -> Vec<Value> {
        let found = self.library.data("list_detections", json!({ "conflict_id": conflict }));
        found.as_array().unwrap().clone()
    }

    fn amend(&self, who: usize, scopes: &[&str]) {
        self.library.world.pass(1_000);
        let scopes = publishing(&self.agents[who], scopes)["scopes"].take();
        let input = json!({ "id": self.intents[who], "agent_id": self.agents[who], "scopes": scopes });
        self.library.data("amend_intent", input);
    }

    fn resolve(&self) {
        let input = json!({
            "conflict_id": self.conflict, "agent_id": self.agents[0], "resolution": "sequenced", "rationale": "agreed",
        });
        self.library.data("resolve_conflict", input);
    }

    fn settled(&self) -> Vec<bool> {
        self.seen(&self.conflict).iter().map(|seen| seen["previously_settled"].as_bool().unwrap()).collect()
    }

    /// The detections that events tell of, in their order.
    fn told(&self) -> Vec<Value> {
        let events = self.library.data("list_events", json!({ "limit": 1_000 }));
        let mut told = Vec::new();
        for event in events.as_array().unwrap() {
            for one in event["payload"]["conflicts"].as_array().into_iter().flatten() {
                if one["conflict_id"] == json!(self.conflict) {
                    told.push(json!([
                        one["detection_id"],
                        event["event_id"],
                        event["seq"],
                        event["created_at"]
                    ]));
                }
            }
        }
        told
    }
}

#[test]
fn every_sight_of_a_conflict_is_kept_as_it_was_and_names_its_event() {
    let dispute = dispute();
    let first = dispute.library.data("get_conflict", json!({ "id": dispute.conflict }));
    dispute.amend(1, &["symbol:Pay=modify", "domain:billing=modify"]);
    dispute.amend(0, &["symbol:Pay=remove", "domain:billing=modify"]);
    let seen = dispute.seen(&dispute.conflict);
    assert_eq!(seen.len(), 3);
    for field in ["severity", "score", "scope", "explanation", "suggestion", "evidence", "detected_at"] {
        assert_eq!(seen[0][field], first[field], "{field}");
    }
    let latest = dispute.library.data("get_conflict", json!({ "id": dispute.conflict }));
    assert_eq!(seen[2]["evidence"], latest["evidence"]);
    let did: Vec<_> = seen
        .iter()
        .map(|seen| {
            let mut did = ["source_operation", "target_operation"].map(|side| text(&seen["evidence"][side]));
            did.sort();
            did
        })
        .collect();
    assert_eq!(did, [["extend", "replace"], ["modify", "replace"], ["modify", "remove"]]);
    assert_eq!(dispute.settled(), [false; 3]);
    let named: Vec<_> = seen
        .iter()
        .map(|seen| json!([seen["id"], seen["event_id"], seen["seq"], seen["detected_at"]]))
        .collect();
    assert_eq!(named, dispute.told());
    assert!(seen.iter().all(|seen| seen["conflict_id"] == json!(dispute.conflict)));
}

#[test]
fn other_conflicts_of_the_same_two_intents_are_not_among_them() {
    let dispute = dispute();
    dispute.amend(1, &["symbol:Pay=modify", "domain:billing=modify"]);
    let all = dispute.library.data("list_conflicts", json!({}));
    let counts: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|conflict| (text(&conflict["scope"]["kind"]), dispute.seen(&text(&conflict["id"])).len()))
        .collect();
    assert_eq!(counts.len(), 2);
    assert!(
        counts.contains(&("symbol".to_owned(), 2)) && counts.contains(&("domain".to_owned(), 1)),
        "{counts:?}"
    );
}

#[test]
fn a_sight_after_the_settlement_says_that_it_came_too_late_to_matter() {
    let dispute = dispute();
    dispute.resolve();
    dispute.amend(1, &["symbol:Pay=modify", "domain:billing=modify"]);
    assert_eq!(dispute.settled(), [false, true]);
    assert_eq!(dispute.library.data("get_conflict", json!({ "id": dispute.conflict }))["status"], "RESOLVED");
}

#[test]
fn what_had_only_gone_away_was_not_settled() {
    let dispute = dispute();
    dispute.amend(1, &["domain:billing=modify"]);
    dispute.amend(1, &["symbol:Pay=extend", "domain:billing=modify"]);
    assert_eq!(dispute.settled(), [false; 2]);
    let discard = json!({ "intent_id": dispute.intents[1], "agent_id": dispute.agents[1], "reason": "moot" });
    dispute.library.data("discard_work", discard);
    assert_eq!(dispute.settled(), [false; 2], "what comes later changes no sight");
}

#[test]
fn claims_and_duplicate_work_are_seen_like_everything_else() {
    let library = Library::new();
    let agents = ["one", "other"].map(|name| library.agent(name));
    let summary = "Rework retries and timeouts of uploads";
    let intents = agents.clone().map(|agent| {
        let mut input = publishing(&agent, &[]);
        input["summary"] = json!(summary);
        text(&library.data("publish_intent", input)["intent"]["id"])
    });
    for (agent, intent) in agents.iter().zip(&intents) {
        let scopes = json!([{ "kind": "symbol", "key": "Upload" }]);
        library.data("claim_work", json!({ "agent_id": agent, "intent_id": intent, "scopes": scopes }));
    }
    let conflicts = library.data("list_conflicts", json!({}));
    assert_eq!(conflicts.as_array().unwrap().len(), 2);
    for conflict in conflicts.as_array().unwrap() {
        let seen = library.data("list_detections", json!({ "conflict_id": conflict["id"] }));
        assert_eq!(seen.as_array().unwrap().len(), 1);
        for field in ["severity", "score", "explanation", "evidence"] {
            assert_eq!(seen[0][field], conflict[field], "{field}");
        }
        assert_eq!(seen[0].get("scope"), conflict.get("scope"));
    }
}

#[test]
fn sights_are_read_page_by_page_and_what_is_settled_does_not_depend_on_where_a_page_begins() {
    let dispute = dispute();
    for number in 0..6 {
        let operation = ["symbol:Pay=modify", "symbol:Pay=extend"][number % 2];
        dispute.amend(1, &[operation, "domain:billing=modify"]);
        if number == 2 {
            dispute.resolve();
        }
    }
    let whole = dispute.seen(&dispute.conflict);
    assert_eq!(dispute.settled(), [false, false, false, false, true, true, true]);
    let (mut paged, mut input) = (Vec::new(), json!({ "conflict_id": dispute.conflict, "limit": 2 }));
    loop {
        let answer = dispute.library.call("list_detections", input.clone()).unwrap();
        paged.extend(answer.to_json().unwrap().as_array().unwrap().clone());
        let page = answer.page().expect("a page of a longer list");
        assert_eq!(page.total, 7);
        let Some(next) = page.next else { break };
        input["cursor"] = json!(next);
    }
    assert_eq!(paged, whole);
    let whole = dispute.library.call("list_detections", json!({ "conflict_id": dispute.conflict })).unwrap();
    assert!(whole.page().is_none(), "a whole list has no page");
}

#[test]
fn a_conflict_that_is_not_on_record_was_never_seen() {
    let library = Library::new();
    library.refusal(Code::NotFound, "list_detections", json!({ "conflict_id": "cfl_00000000" }));
    let what_if = json!({ "conflict_id": "eph_00000000" });
    let failure = library.refusal(Code::InvalidInput, "list_detections", what_if);
    assert!(failure.message.contains("conflict_id"), "{failure}");
}

#[test]
fn a_person_finds_each_sight_by_the_short_id_of_the_conflict() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    cli.publish(&one, &["symbol:Pay=replace"]);
    let found = cli.publish(&other, &["symbol:Pay=extend"]);
    let (conflict, intent) = (text(&found["conflicts"][0]["id"]), text(&found["intent"]["id"]));
    cli.data(["intent", "amend", &intent, "--agent", &other, "--scope", "symbol:Pay=modify"]);
    let words = ["conflicts", "detections", &conflict[..10]];
    assert_eq!(cli.data(words).as_array().unwrap().len(), 2);
    let shown = cli.shown(words);
    let rows: Vec<_> = shown.lines().collect();
    assert!(rows[0].starts_with("EVENT") && rows[1].starts_with("5 ") && shown.contains("\n7 "), "{shown}");
    let shown = cli.shown(words.iter().copied().chain(["--limit", "1"]));
    assert!(shown.contains("1 of 2 shown; the rest: --cursor "), "{shown}");
}
