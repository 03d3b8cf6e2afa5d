//! Claims: leased, renewed in place, released, and told of.

use foremerge::failure::Code;
use serde_json::{Value, json};

use crate::cli::text;
use crate::library::Library;

const MINUTE: i64 = 60_000;

struct Desk {
    library: Library,
    agent: String,
    intent: String,
}

impl Desk {
    fn new() -> Self {
        let library = Library::new();
        let agent = library.agent("one");
        let intent = text(&library.publish(&agent, &["symbol:Pay=replace"])["intent"]["id"]);
        Self { library, agent, intent }
    }

    fn input(&self, scopes: &[&str]) -> Value {
        let scopes = scopes.iter().map(|scope| {
            let (kind, key) = scope.split_once(':').unwrap();
            json!({ "kind": kind, "key": key })
        });
        json!({ "agent_id": self.agent, "intent_id": self.intent, "scopes": scopes.collect::<Vec<_>>() })
    }

    fn claim(&self, scopes: &[&str]) -> Value {
        self.library.data("claim_work", self.input(scopes))
    }

    fn for_seconds(&self, seconds: i64) -> Value {
        let mut input = self.input(&["symbol:Pay"]);
        input["lease_seconds"] = json!(seconds);
        self.library.data("claim_work", input)
    }
}

fn event_types(library: &Library) -> Vec<String> {
    let events = library.data("list_events", json!({ "limit": 1000 }));
    events.as_array().unwrap().iter().map(|event| text(&event["event_type"])).collect()
}

#[test]
fn a_claim_says_what_it_is_on_for_how_long_and_that_it_keeps_nobody_out() {
    let desk = Desk::new();
    let claimed = desk.claim(&["symbol:Pay", "file:./src/../src/pay.rs"]);
    assert_eq!(claimed["advisory_only"], true);
    assert_eq!(claimed["warnings"], json!([]));
    assert!(claimed.get("scope_warnings").is_none());
    let claims = claimed["claims"].as_array().unwrap();
    assert_eq!(claims[0]["scope"], json!({ "kind": "symbol", "key": "Pay" }));
    assert_eq!(claims[1]["scope"], json!({ "kind": "file", "key": "src/pay.rs" }));
    for claim in claims {
        assert_eq!((&claim["status"], &claim["agent_id"]), (&json!("ACTIVE"), &json!(desk.agent)));
        assert_eq!(claim["intent_id"], json!(desk.intent));
    }
    assert_eq!(
        event_types(&desk.library)[2..],
        ["claim.created", "claim.created", "lifecycle.transitioned"].map(str::to_owned)
    );
}

#[test]
fn the_lease_is_held_between_a_minute_and_a_day_and_the_answer_tells_it() {
    let desk = Desk::new();
    let end =
        |seconds: i64| desk.library.now().after(std::time::Duration::from_secs(seconds.cast_unsigned()));
    for (asked, given) in [(-5, 60), (1, 60), (120, 120), (1_000_000, 86_400)] {
        let claimed = desk.for_seconds(asked);
        let longest = given.max(120);
        let held = if asked < 120 { given } else { longest };
        assert_eq!(claimed["claims"][0]["lease_expires_at"], json!(end(held)), "{asked}");
    }
    let mut input = desk.input(&["symbol:Other"]);
    input["lease_seconds"] = Value::Null;
    let claimed = desk.library.data("claim_work", input);
    assert_eq!(claimed["claims"][0]["lease_expires_at"], json!(end(3_600)));
}

#[test]
fn claiming_a_held_scope_again_renews_it_under_its_id_even_when_it_has_run_out() {
    let desk = Desk::new();
    let first = desk.claim(&["symbol:Pay"])["claims"][0].clone();
    let again = desk.claim(&["symbol:PAY", "symbol:pay"]);
    assert_eq!(again["claims"].as_array().unwrap().len(), 1, "one scope named twice is one claim");
    assert_eq!(again["claims"][0]["id"], first["id"]);
    desk.library.world.pass(61 * MINUTE);
    let late = desk.claim(&["symbol:Pay"])["claims"][0].clone();
    assert_eq!((&late["id"], &late["status"]), (&first["id"], &json!("ACTIVE")));
    assert_ne!(late["lease_expires_at"], first["lease_expires_at"]);
    assert_eq!(late["created_at"], first["created_at"]);
    let renewed = event_types(&desk.library).iter().filter(|kind| *kind == "claim.renewed").count();
    assert_eq!(renewed, 2);
}

#[test]
fn a_shorter_lease_does_not_cut_a_running_one_short() {
    let desk = Desk::new();
    let long = desk.for_seconds(7_200)["claims"][0]["lease_expires_at"].clone();
    let short = desk.for_seconds(60)["claims"][0]["lease_expires_at"].clone();
    assert_eq!(short, long);
}

#[test]
fn released_claims_end_and_claiming_them_again_makes_new_ones() {
    let desk = Desk::new();
    let claimed = desk.claim(&["symbol:Pay", "symbol:Cart", "symbol:Mail"]);
    let mut input = desk.input(&["symbol:cart"]);
    let released = desk.library.data("release_work", input.clone());
    assert_eq!(released["claims"].as_array().unwrap().len(), 1);
    assert_eq!(released["claims"][0]["id"], claimed["claims"][1]["id"]);
    assert_eq!(released["claims"][0]["status"], "RELEASED");
    desk.library.refusal(Code::NotFound, "release_work", input.clone());
    assert_ne!(desk.claim(&["symbol:Cart"])["claims"][0]["id"], claimed["claims"][1]["id"]);
    input.as_object_mut().unwrap().remove("scopes");
    let rest = desk.library.data("release_work", input.clone());
    assert_eq!(rest["claims"].as_array().unwrap().len(), 3);
    let events = event_types(&desk.library).len();
    assert_eq!(desk.library.data("release_work", input)["claims"], json!([]));
    assert_eq!(event_types(&desk.library).len(), events, "nothing was left to say");
}

#[test]
fn an_unheld_scope_among_those_to_release_releases_none() {
    let desk = Desk::new();
    desk.claim(&["symbol:Pay"]);
    let events = event_types(&desk.library).len();
    desk.library.refusal(Code::NotFound, "release_work", desk.input(&["symbol:Pay", "symbol:Nowhere"]));
    assert_eq!(event_types(&desk.library).len(), events);
}

#[test]
fn a_scope_that_ends_in_an_operation_is_refused_unless_somebody_declared_that_key() {
    let desk = Desk::new();
    let refusal = desk.library.refusal(Code::InvalidInput, "claim_work", desk.input(&["symbol:Pay=replace"]));
    assert!(refusal.message.contains("`symbol:Pay`"), "{refusal}");
    desk.claim(&["api:GET /search?q=x"]);
    desk.library.publish(&desk.agent, &["api:GET /search?mode=add=modify"]);
    let claimed = desk.claim(&["api:GET /search?mode=add"]);
    assert_eq!(claimed["claims"][0]["scope"]["key"], "GET /search?mode=add");
}

#[test]
fn a_claimed_member_whose_class_is_dropped_is_warned_of() {
    let desk = Desk::new();
    let claimed = desk.claim(&["symbol:CheckoutController.checkout"]);
    let warning = text(&claimed["scope_warnings"][0]);
    assert!(warning.contains("CheckoutController::checkout"), "{warning}");
    assert_eq!(claimed["warnings"], json!([]), "conflicts live in their own field");
}

#[test]
fn two_namesakes_in_two_namespaces_are_two_claims() {
    let desk = Desk::new();
    assert_eq!(desk.claim(&["symbol:a::Pay", "symbol:b::Pay"])["claims"].as_array().unwrap().len(), 2);
}

#[test]
fn nothing_and_too_much_cannot_be_claimed() {
    let desk = Desk::new();
    let refusal = desk.library.refusal(Code::InvalidInput, "claim_work", desk.input(&[]));
    assert_eq!(refusal.details["field"], "scopes");
    let many: Vec<_> = (0..1_001).map(|number| format!("symbol:s{number}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let refusal = desk.library.refusal(Code::InvalidInput, "claim_work", desk.input(&many));
    assert!(refusal.message.contains("1000"), "{refusal}");
    assert_eq!(desk.claim(&many[1..])["claims"].as_array().unwrap().len(), 1_000);
}

#[test]
fn claims_of_discarded_work_end_with_it() {
    let desk = Desk::new();
    desk.claim(&["symbol:Pay"]);
    let input = json!({ "intent_id": desk.intent, "agent_id": desk.agent, "reason": "moot" });
    desk.library.data("discard_work", input);
    let released = json!({ "intent_id": desk.intent, "agent_id": desk.agent });
    assert_eq!(desk.library.data("release_work", released)["claims"], json!([]));
}

#[test]
fn a_retired_agent_acts_no_more_and_one_with_open_work_is_not_retired() {
    let desk = Desk::new();
    let refusal = desk.library.refusal(Code::InvalidTransition, "retire_agent", json!({ "id": desk.agent }));
    assert!(refusal.message.contains(&desk.intent), "{refusal}");
    let input = json!({ "intent_id": desk.intent, "agent_id": desk.agent, "reason": "moot" });
    desk.library.data("discard_work", input);
    let retired = desk.library.data("retire_agent", json!({ "id": desk.agent }));
    assert_eq!(retired["status"], "RETIRED");
    assert_eq!(desk.library.data("list_agents", json!({})), json!([]));
    assert_eq!(desk.library.data("list_agents", json!({ "all": true })).as_array().unwrap().len(), 1);
    desk.library.refusal(Code::InvalidTransition, "retire_agent", json!({ "id": desk.agent }));
    let publishing = crate::library::publishing(&desk.agent, &["symbol:X=add"]);
    desk.library.refusal(Code::InvalidTransition, "publish_intent", publishing);
}

/// Two agents whose intents have nothing in common but what they claim.
struct Neighbours {
    library: Library,
    agents: [String; 2],
    intents: [String; 2],
}

impl Neighbours {
    fn new() -> Self {
        let library = Library::new();
        let agents = ["one", "other"].map(|name| library.agent(name));
        let scopes = ["api:GET /pay=add", "env:MAIL_HOST=add"];
        let publish = |at: usize| text(&library.publish(&agents[at], &scopes[at..=at])["intent"]["id"]);
        let intents = [publish(0), publish(1)];
        Self { library, agents, intents }
    }

    fn claim(&self, who: usize, scopes: &[&str]) -> Value {
        let scopes = scopes.iter().map(|scope| {
            let (kind, key) = scope.split_once(':').unwrap();
            json!({ "kind": kind, "key": key })
        });
        let scopes: Vec<_> = scopes.collect();
        let input = json!({ "agent_id": self.agents[who], "intent_id": self.intents[who], "scopes": scopes });
        self.library.data("claim_work", input)
    }

    fn overlaps(&self, mine: &str, theirs: &str) -> usize {
        self.claim(0, &[mine]);
        self.claim(1, &[theirs])["warnings"].as_array().unwrap().len()
    }

    fn statuses(&self) -> Vec<String> {
        let conflicts = self.library.data("list_conflicts", json!({}));
        conflicts.as_array().unwrap().iter().map(|one| text(&one["status"])).collect()
    }
}

#[test]
fn claiming_what_another_agent_claims_is_granted_and_both_are_told() {
    let neighbours = Neighbours::new();
    neighbours.claim(0, &["symbol:Pay"]);
    let claimed = neighbours.claim(1, &["symbol:pay", "symbol:Mail"]);
    assert_eq!(claimed["claims"].as_array().unwrap().len(), 2);
    let warning = &claimed["warnings"][0];
    assert_eq!(
        (&warning["kind"], &warning["severity"], &warning["score"], &warning["status"]),
        (&json!("overlapping_claim"), &json!("MEDIUM"), &json!(0.88), &json!("OPEN"))
    );
    let evidence = &warning["evidence"];
    assert_eq!((&evidence["rule"], &evidence["soft_claim"]), (&json!("FM-C005"), &json!(true)));
    assert!(evidence.get("source_operation").is_none(), "{evidence}");
    assert_eq!(evidence["source_scope"], json!({ "kind": "symbol", "key": "pay" }));
    let explanation = text(&warning["explanation"]);
    assert!(explanation.contains("claims") && !explanation.contains("will"), "{explanation}");
    for intent in &neighbours.intents {
        let open = neighbours.library.data("get_intent", json!({ "id": intent }));
        assert_eq!(open["open_conflicts"]["count"], 1);
    }
    let again = neighbours.claim(0, &["symbol:Pay"]);
    assert_eq!(again["warnings"][0]["id"], warning["id"], "renewing tells of it again");
    assert_eq!(neighbours.statuses().len(), 1, "and does not record it again");
}

#[test]
fn what_is_claimed_keeps_its_spelling_wherever_it_is_told_of() {
    let neighbours = Neighbours::new();
    neighbours.claim(0, &["symbol:crate::billing::PaymentService"]);
    let warning = neighbours.claim(1, &["symbol:PaymentService"])["warnings"][0].take();
    let mut keys = [
        text(&warning["evidence"]["source_scope"]["key"]),
        text(&warning["evidence"]["target_scope"]["key"]),
    ];
    keys.sort();
    assert_eq!(keys, ["crate::billing::paymentservice", "paymentservice"], "evidence is canonical");
    let shown = neighbours.library.screen("get_conflict", json!({ "id": warning["id"] }), 200);
    let graph = neighbours.library.data("get_graph", json!({})).to_string();
    for scope in ["symbol:crate::billing::PaymentService", "symbol:PaymentService"] {
        let explanation = text(&warning["explanation"]);
        assert!(explanation.contains(&format!("claims {scope}")), "{explanation}");
        assert!(shown.contains(&format!("\ndoes    claims {scope}\n")), "{shown}");
        assert!(shown.contains(&format!(" --scope {scope}\n")), "{shown}");
        assert!(graph.contains(&format!("\"{scope} (ACTIVE)\"")), "{graph}");
    }
}

#[test]
fn claims_overlap_by_one_thing_its_other_namespaces_and_directories_but_not_by_similar_names() {
    let cases = [
        ("symbol:Pay", "symbol:Pay", 1),
        ("symbol:App\\Billing\\Report::render", "symbol:Report::render", 1),
        ("symbol:crate::billing::PaymentService", "symbol:PaymentService", 1),
        ("file:src", "file:src/pay.rs", 1),
        ("file:src/pay.rs", "file:.", 1),
        ("file:README.md", "file:readme.md", 1),
        ("file:src/a/mod.rs", "file:src/b/mod.rs", 0),
        ("symbol:StripePaymentService", "symbol:PaymentService", 0),
        ("symbol:Pay", "domain:Pay", 0),
        ("env:MAIL_HOST", "env:MAIL_PORT", 0),
    ];
    for (mine, theirs, expected) in cases {
        assert_eq!(Neighbours::new().overlaps(mine, theirs), expected, "{mine} and {theirs}");
        assert_eq!(Neighbours::new().overlaps(theirs, mine), expected, "{theirs} and {mine}");
    }
}

#[test]
fn an_overlap_of_claims_goes_with_either_claim_and_comes_back_with_it() {
    let neighbours = Neighbours::new();
    assert_eq!(neighbours.overlaps("symbol:Pay", "symbol:Pay"), 1);
    let release = json!({ "intent_id": neighbours.intents[0], "agent_id": neighbours.agents[0] });
    neighbours.library.data("release_work", release);
    assert_eq!(neighbours.statuses(), ["DISMISSED"]);
    neighbours.claim(0, &["symbol:Pay"]);
    assert_eq!(neighbours.statuses(), ["OPEN"]);
    neighbours.library.world.pass(61 * MINUTE);
    assert_eq!(neighbours.statuses(), ["OPEN"], "a lease that ran out is noticed by the next write");
    let start = json!({ "intent_id": neighbours.intents[1], "agent_id": neighbours.agents[1] });
    neighbours.library.data("start_work", start);
    assert_eq!(neighbours.statuses(), ["DISMISSED"]);
}

#[test]
fn amending_an_intent_leaves_the_overlap_of_its_claims_alone_and_discarding_it_does_not() {
    let neighbours = Neighbours::new();
    assert_eq!(neighbours.overlaps("symbol:Pay", "symbol:Pay"), 1);
    let scopes = json!([{ "kind": "api", "key": "GET /other", "operation": "add" }]);
    let amending = json!({ "id": neighbours.intents[0], "agent_id": neighbours.agents[0], "scopes": scopes });
    assert_eq!(neighbours.library.data("amend_intent", amending)["dismissed"], json!([]));
    assert_eq!(neighbours.statuses(), ["OPEN"]);
    let discarding =
        json!({ "intent_id": neighbours.intents[0], "agent_id": neighbours.agents[0], "reason": "moot" });
    neighbours.library.data("discard_work", discarding);
    assert_eq!(neighbours.statuses(), ["DISMISSED"]);
}

#[test]
fn claims_of_one_agent_for_two_intents_do_not_overlap() {
    let desk = Desk::new();
    desk.claim(&["symbol:Pay"]);
    let second = text(&desk.library.publish(&desk.agent, &["symbol:Pay=extend"])["intent"]["id"]);
    let mut input = desk.input(&["symbol:Pay"]);
    input["intent_id"] = json!(second);
    assert_eq!(desk.library.data("claim_work", input)["warnings"], json!([]));
}

#[test]
fn work_with_a_live_claim_is_not_taken_for_stopped_however_silent_its_owner() {
    let desk = Desk::new();
    desk.for_seconds(4 * 3_600);
    desk.library.world.pass(180 * MINUTE);
    let other = desk.library.agent("other");
    let published = desk.library.publish(&other, &["symbol:Pay=extend"]);
    assert!(published["related_work"][0].get("owner_stopped_since").is_none(), "{published}");
    desk.library.world.pass(60 * MINUTE);
    let published = desk.library.publish(&other, &["symbol:Pay=modify"]);
    assert!(published["related_work"][0]["owner_stopped_since"].is_string(), "{published}");
}

#[test]
fn the_overview_shows_live_claims_and_work_is_stranded_when_its_owner_is_gone_and_none_is_live() {
    let desk = Desk::new();
    let claimed = desk.for_seconds(4 * 3_600)["claims"][0].clone();
    let status = || desk.library.data("status", json!({}));
    assert_eq!(
        status()["claims"],
        json!([{
            "id": claimed["id"],
            "agent_id": desk.agent,
            "agent_name": "one",
            "intent_id": desk.intent,
            "scope": { "kind": "symbol", "key": "Pay" },
            "lease_expires_at": claimed["lease_expires_at"],
        }])
    );
    let stranded = |status: &Value| status["intents"][0]["intents"][0]["stranded"].clone();
    desk.library.world.pass(180 * MINUTE);
    assert_eq!((&status()["agents"][0]["stale"], stranded(&status())), (&json!(true), json!(false)));
    desk.library.world.pass(60 * MINUTE);
    assert_eq!((&status()["claims"], stranded(&status())), (&json!([]), json!(true)));
    assert_eq!(status()["counts"]["claims"], 0);
}
