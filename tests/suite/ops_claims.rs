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
