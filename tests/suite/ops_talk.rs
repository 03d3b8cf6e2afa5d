//! Messages, assessments and settlements: what agents say to each other, and what comes of it.

use foremerge::failure::Code;
use foremerge::operations::registry;
use foremerge::service::{Call, Surface};
use serde_json::{Value, json};

use crate::cli::text;
use crate::library::Library;

const NOBODY: &str = "agt_00000000";

/// `one` replaces what `other` extends, and both modify a domain.
struct Talk {
    library: Library,
    agents: [String; 2],
    intents: [String; 2],
    conflict: String,
}

impl Talk {
    fn new() -> Self {
        let library = Library::new();
        let agents = ["one", "other"].map(|name| library.agent(name));
        let first = library.publish(&agents[0], &["symbol:Pay=replace", "domain:billing=modify"]);
        let second = library.publish(&agents[1], &["symbol:Pay=extend", "domain:billing=modify"]);
        let intents = [&first, &second].map(|published| text(&published["intent"]["id"]));
        let conflict = text(&second["conflicts"][0]["id"]);
        Self { library, agents, intents, conflict }
    }

    fn send(&self, about: Option<&str>) -> Value {
        let [from, to] = &self.agents;
        let input = json!({ "from_agent_id": from, "to_agent_id": to, "message": "Provider first?", "conflict_id": about });
        self.library.data("coordinate_with_agent", input)
    }

    fn resolving(&self, agent: &str) -> Value {
        json!({
            "conflict_id": self.conflict,
            "agent_id": agent,
            "resolution": "sequenced: provider first",
            "rationale": "agreed by message"
        })
    }

    fn status(&self) -> String {
        self.seen()["status"].as_str().unwrap().to_owned()
    }

    fn seen(&self) -> Value {
        self.library.data("get_conflict", json!({ "id": self.conflict }))
    }

    fn amend(&self, who: usize, scopes: &[&str]) -> Value {
        let mut input = crate::library::publishing(&self.agents[who], scopes);
        let scopes = input["scopes"].take();
        let input = json!({ "id": self.intents[who], "agent_id": self.agents[who], "scopes": scopes });
        self.library.data("amend_intent", input)
    }

    fn events(&self) -> Vec<String> {
        let events = self.library.data("list_events", json!({ "limit": 1000 }));
        events.as_array().unwrap().iter().map(|event| text(&event["event_type"])).collect()
    }
}

#[test]
fn a_message_waits_in_the_inbox_until_its_recipient_marks_it() {
    let talk = Talk::new();
    let sent = talk.send(None);
    assert_eq!((&sent["status"], &sent["message"]), (&json!("UNREAD"), &json!("Provider first?")));
    assert!(sent.get("conflict_id").is_none(), "{sent}");
    let read = |mark: bool| {
        talk.library.data("read_inbox", json!({ "agent_id": talk.agents[1], "mark_read": mark }))
    };
    assert_eq!(read(false), json!([sent]));
    assert_eq!(read(false)[0]["status"], "UNREAD", "looking marks nothing");
    assert_eq!(read(true)[0]["status"], "READ");
    let events = talk.events().len();
    assert_eq!(read(true)[0]["status"], "READ");
    assert_eq!(talk.events().len(), events, "nothing was left to mark");
    assert_eq!(talk.events().last().unwrap(), "coordination.read");
    let theirs = talk.library.data("read_inbox", json!({ "agent_id": talk.agents[0] }));
    assert_eq!(theirs, json!([]), "the sender's inbox is another");
}

#[test]
fn an_inbox_is_read_page_by_page_and_only_what_is_shown_is_marked() {
    let talk = Talk::new();
    let sent: Vec<_> = (0..5).map(|_| text(&talk.send(None)["id"])).collect();
    let page = |cursor: Value| {
        let input = json!({ "agent_id": talk.agents[1], "mark_read": true, "limit": 2, "cursor": cursor });
        let answer = talk.library.call("read_inbox", input).unwrap();
        let ids: Vec<_> = answer
            .to_json()
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .map(|message| text(&message["id"]))
            .collect();
        (ids, answer.page())
    };
    let (first, more) = page(Value::Null);
    let more = more.unwrap();
    assert_eq!((first.len(), more.total), (2, 5));
    let all = talk.library.data("read_inbox", json!({ "agent_id": talk.agents[1] }));
    let unread = all.as_array().unwrap().iter().filter(|message| message["status"] == "UNREAD").count();
    assert_eq!(unread, 3);
    let (second, more) = page(json!(more.next));
    let (third, last) = page(json!(more.unwrap().next));
    let mut read = [first, second, third].concat();
    read.sort();
    let mut sent = sent;
    sent.sort();
    assert_eq!((read, last.and_then(|page| page.next)), (sent, None));
}

#[test]
fn nobody_writes_to_themselves_to_a_stranger_or_to_one_who_left() {
    let talk = Talk::new();
    let [one, other] = &talk.agents;
    let input =
        |from: &str, to: &str| json!({ "from_agent_id": from, "to_agent_id": to, "message": "hello" });
    let events = talk.events().len();
    let refused = |code, from: &str, to: &str| {
        talk.library.refusal(code, "coordinate_with_agent", input(from, to));
    };
    refused(Code::InvalidInput, one, one);
    refused(Code::NotFound, one, NOBODY);
    refused(Code::NotFound, NOBODY, other);
    let mut about = input(one, other);
    about["conflict_id"] = json!("eph_00000000000000000000000000000000");
    let failure = talk.library.refusal(Code::InvalidInput, "coordinate_with_agent", about.clone());
    assert!(failure.message.contains("conflict_id") && failure.message.contains("no record"), "{failure}");
    about["conflict_id"] = json!("cfl_00000000");
    talk.library.refusal(Code::NotFound, "coordinate_with_agent", about);
    assert_eq!(talk.events().len(), events);
    let gone = talk.library.agent("gone");
    talk.library.data("retire_agent", json!({ "id": gone }));
    refused(Code::InvalidTransition, one, &gone);
}

#[test]
fn a_message_about_an_open_conflict_makes_it_one_that_is_talked_about() {
    let talk = Talk::new();
    assert_eq!(talk.status(), "OPEN");
    assert_eq!(talk.send(Some(&talk.conflict))["conflict_id"], json!(talk.conflict));
    assert_eq!(talk.status(), "COORDINATING");
    let count = |status: &str| {
        talk.library.data("list_conflicts", json!({ "status": status })).as_array().unwrap().len()
    };
    assert_eq!((count("OPEN"), count("COORDINATING")), (1, 1));
    talk.library.data("resolve_conflict", talk.resolving(&talk.agents[0]));
    talk.send(Some(&talk.conflict));
    assert_eq!(talk.status(), "RESOLVED", "talking about it afterwards opens nothing");
}

#[test]
fn a_resolution_is_a_decision_on_record_and_lets_both_sides_go_on() {
    let talk = Talk::new();
    let resolved = talk.library.data("resolve_conflict", talk.resolving(&talk.agents[0]));
    assert_eq!((&resolved["status"], &resolved["previously_settled"]), (&json!("RESOLVED"), &json!(true)));
    let decision = &resolved["decision"];
    assert!(text(&decision["id"]).starts_with("dec_"), "{decision}");
    assert_eq!(
        (&decision["title"], &decision["rationale"], &decision["agent_id"]),
        (&json!("sequenced: provider first"), &json!("agreed by message"), &json!(talk.agents[0]))
    );
    assert!(resolved.get("also_resolved").is_none());
    assert_eq!(talk.seen()["decision"], *decision);
    for intent in &talk.intents {
        let open = talk.library.data("get_intent", json!({ "id": intent }));
        assert_eq!(open["open_conflicts"]["count"], 1, "the lesser conflict is still open");
    }
    let again =
        talk.library.refusal(Code::InvalidTransition, "resolve_conflict", talk.resolving(&talk.agents[1]));
    assert!(again.message.contains("RESOLVED"), "{again}");
}

#[test]
fn one_decision_can_settle_everything_between_two_intents() {
    let talk = Talk::new();
    let third = talk.library.agent("third");
    let elsewhere = talk.library.publish(&third, &["symbol:Pay=modify"]);
    let mut input = talk.resolving(&talk.agents[0]);
    input["all_with"] = elsewhere["intent"]["id"].clone();
    let failure = talk.library.refusal(Code::InvalidInput, "resolve_conflict", input.clone());
    assert!(talk.intents.iter().all(|side| failure.message.contains(side.as_str())), "{failure}");
    input["all_with"] = json!(talk.intents[1]);
    let resolved = talk.library.data("resolve_conflict", input);
    assert_eq!(resolved["also_resolved"].as_array().unwrap().len(), 1);
    let settled = talk.library.data("list_conflicts", json!({ "status": "resolved" }));
    let decisions: Vec<_> =
        settled.as_array().unwrap().iter().map(|one| one["decision"]["id"].clone()).collect();
    assert_eq!(decisions, vec![resolved["decision"]["id"].clone(); 2]);
    let open = talk.library.data("list_conflicts", json!({ "status": "open" }));
    assert_eq!(open.as_array().unwrap().len(), 2, "those with the third agent stay open");
    let schema = (registry::find("resolve_conflict").unwrap().input_schema)();
    let help = schema.as_value()["properties"]["all_with"]["description"].as_str().unwrap();
    assert!(help.contains("between the two sides") && help.contains("other work stay open"), "{help}");
}

#[test]
fn over_mcp_only_a_party_resolves_and_elsewhere_any_registered_agent() {
    let talk = Talk::new();
    let third = talk.library.agent("third");
    let entry = registry::find("resolve_conflict").unwrap();
    let over = |surface: Surface, agent: &str| {
        (entry.run_json)(talk.library.host(), &Call::of(surface), talk.resolving(agent)).map(drop)
    };
    assert_eq!(over(Surface::Mcp, &third).unwrap_err().code, Code::Forbidden);
    assert_eq!(talk.status(), "OPEN");
    over(Surface::Mcp, &talk.agents[1]).unwrap();
    assert_eq!(talk.status(), "RESOLVED");
    let talk = Talk::new();
    let third = talk.library.agent("third");
    (entry.run_json)(talk.library.host(), &Call::of(Surface::Http), talk.resolving(&third))
        .map(drop)
        .unwrap();
}

#[test]
fn empty_words_settle_nothing_and_a_what_if_finding_cannot_be_settled() {
    let talk = Talk::new();
    for field in ["resolution", "rationale"] {
        let mut input = talk.resolving(&talk.agents[0]);
        input[field] = json!("  ");
        let failure = talk.library.refusal(Code::InvalidInput, "resolve_conflict", input);
        assert!(failure.message.contains(field), "{failure}");
    }
    let mut input = talk.resolving(&talk.agents[0]);
    input["conflict_id"] = json!("eph_00000000000000000000000000000000");
    let failure = talk.library.refusal(Code::InvalidInput, "resolve_conflict", input);
    assert!(failure.message.contains("publish or amend the intent"), "{failure}");
    assert_eq!(talk.status(), "OPEN");
}

#[test]
fn a_settled_conflict_stays_settled_unless_it_is_seen_more_severe_than_it_was_settled_at() {
    let talk = Talk::new();
    talk.library.data("resolve_conflict", talk.resolving(&talk.agents[0]));
    let amended = talk.amend(1, &["symbol:Pay=modify", "domain:billing=modify"]);
    let seen = amended["conflicts"].as_array().unwrap().iter().find(|one| one["id"] == json!(talk.conflict));
    assert_eq!(seen.unwrap()["previously_settled"], true);
    assert_eq!(talk.status(), "RESOLVED");
    assert_eq!(talk.events().iter().filter(|kind| *kind == "conflict.redetected").count(), 1);

    let calm = Library::new();
    let agents = ["one", "other"].map(|name| calm.agent(name));
    let first = calm.publish(&agents[0], &["symbol:Pay=modify"]);
    let second = calm.publish(&agents[1], &["symbol:Pay=modify"]);
    let conflict = second["conflicts"][0]["id"].clone();
    let input = json!({ "conflict_id": conflict, "agent_id": agents[0], "resolution": "split", "rationale": "agreed" });
    calm.data("resolve_conflict", input);
    let mut input = crate::library::publishing(&agents[0], &["symbol:Pay=replace"]);
    let input =
        json!({ "id": first["intent"]["id"], "agent_id": agents[0], "scopes": input["scopes"].take() });
    let amended = calm.data("amend_intent", input);
    let kinds: Vec<_> =
        amended["conflicts"].as_array().unwrap().iter().map(|one| text(&one["status"])).collect();
    assert_eq!(kinds, ["OPEN"], "another rule is another conflict: {amended}");
}

#[test]
fn what_was_dismissed_with_discarded_work_never_comes_back() {
    let talk = Talk::new();
    let discard = json!({ "intent_id": talk.intents[1], "agent_id": talk.agents[1], "reason": "moot" });
    talk.library.data("discard_work", discard);
    assert_eq!((talk.status().as_str(), &talk.seen()["previously_settled"]), ("DISMISSED", &json!(true)));
    talk.amend(0, &["symbol:Pay=remove"]);
    assert_eq!(talk.status(), "DISMISSED");
    talk.library.refusal(Code::InvalidTransition, "resolve_conflict", talk.resolving(&talk.agents[0]));
}

#[test]
fn an_assessment_is_kept_beside_others_and_changes_nothing() {
    let talk = Talk::new();
    let input = |verdict: &str, action: &str| {
        json!({
            "agent_id": talk.agents[1],
            "intent_id": talk.intents[1],
            "related_intent_id": talk.intents[0],
            "verdict": verdict,
            "rationale": "Their replacement removes my extension point.",
            "action": action
        })
    };
    let first = talk.library.data("record_assessment", input("conflicts", "rescoping"));
    assert!(text(&first["id"]).starts_with("asm_"));
    assert_eq!((&first["verdict"], &first["action"]), (&json!("conflicts"), &json!("rescoping")));
    talk.library.world.pass(1_000);
    let second = talk.library.data("record_assessment", input("DEPENDS_ON", "Waiting"));
    assert_eq!((&second["verdict"], &second["action"]), (&json!("depends_on"), &json!("waiting")));
    let list = talk.library.data("list_assessments", json!({ "intent_id": talk.intents[1] }));
    assert_eq!(list, json!([first, second]), "oldest first");
    let other = talk.library.data("list_assessments", json!({ "intent_id": talk.intents[0] }));
    assert_eq!(other, json!([]));
    assert_eq!(talk.status(), "OPEN");
}

#[test]
fn only_the_owner_assesses_and_only_another_intent() {
    let talk = Talk::new();
    let input = |agent: &str, intent: &str, related: &str| {
        json!({
            "agent_id": agent,
            "intent_id": intent,
            "related_intent_id": related,
            "verdict": "compatible",
            "rationale": "other files",
            "action": "proceeding"
        })
    };
    let [one, other] = &talk.agents;
    let [mine, theirs] = &talk.intents;
    talk.library.refusal(Code::Forbidden, "record_assessment", input(other, mine, theirs));
    talk.library.refusal(Code::InvalidInput, "record_assessment", input(one, mine, mine));
    talk.library.refusal(Code::NotFound, "record_assessment", input(one, mine, "int_00000000"));
    let mut odd = input(one, mine, theirs);
    odd["verdict"] = json!("maybe");
    let failure = talk.library.refusal(Code::InvalidInput, "record_assessment", odd);
    assert!(failure.message.contains("depends_on"), "{failure}");
    talk.library.refusal(Code::NotFound, "list_assessments", json!({ "intent_id": "int_00000000" }));
}

#[test]
fn a_what_if_comparison_says_what_is_settled_and_does_not_let_it_block() {
    let talk = Talk::new();
    let check = || {
        let scopes = json!([{ "kind": "symbol", "key": "Pay", "operation": "extend" }]);
        talk.library.data("check_conflicts", json!({ "intent_id": talk.intents[1], "scopes": scopes }))
    };
    let before = check();
    assert_eq!((&before["blocking"], before["conflicts"][0].get("previously_settled")), (&json!(true), None));
    talk.library.data("resolve_conflict", talk.resolving(&talk.agents[0]));
    let after = check();
    assert_eq!((&after["blocking"], &after["ephemeral"]), (&json!(false), &json!(true)));
    assert_eq!(after["conflicts"][0]["previously_settled"], true);
}

#[test]
fn what_is_settled_is_not_asked_for_again() {
    let talk = Talk::new();
    let about = |conflict: &str| {
        let [from, to] = &talk.agents;
        json!({ "from_agent_id": from, "to_agent_id": to, "message": "m", "conflict_id": conflict })
    };
    let sent = |conflict: &str| talk.library.screen("coordinate_with_agent", about(conflict), 100);
    assert!(sent(&talk.conflict).contains("conflicts resolve"));
    let mut resolving = talk.resolving(&talk.agents[1]);
    resolving["all_with"] = json!(talk.intents[0]);
    talk.library.data("resolve_conflict", resolving);
    assert!(!sent(&talk.conflict).contains("conflicts resolve"), "it would be refused");

    let declared = ["symbol:Pay=extend", "domain:billing=modify"];
    let found = talk.amend(1, &declared);
    assert_eq!(found["assessment_required"], true);
    assert_eq!(found["next"], "What it collides with was settled: keep to what was agreed.");
    let found = talk.amend(1, &[declared[0], declared[1], "symbol:Pay::charge=replace"]);
    assert!(found["next"].as_str().is_some(), "{found}");
    talk.library.publish(&talk.library.agent("third"), &["symbol:Pay=replace"]);
    let found = talk.amend(1, &declared);
    assert!(text(&found["next"]).starts_with("Talk to the owners"), "{found}");
}
