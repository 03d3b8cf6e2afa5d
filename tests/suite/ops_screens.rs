//! What a person sees, word for word. To accept a change, delete the file under fixtures/screens and run the test
//! twice: a missing one is written.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::text;
use crate::library::{Library, publishing};

const MINUTE: i64 = 60_000;

/// Holds a screen against its fixture; `root` is what varies between runs.
fn matches(name: &str, screen: &str, root: &Path) {
    let screen = screen.replace(root.to_str().unwrap(), "/shop");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/screens").join(format!("{name}.txt"));
    if let Ok(expected) = std::fs::read_to_string(&fixture) {
        assert!(screen == expected, "{name} is now\n{screen}\nand was\n{expected}");
    } else {
        std::fs::write(&fixture, &screen).unwrap();
        panic!("{} was missing and is written now: look at it", fixture.display());
    }
}

/// Two agents, of whom the second extends what the first replaces, and a third beside them.
struct Story {
    library: Library,
    stripe: String,
    paypal: String,
    intent: Value,
    conflict: Value,
}

fn story() -> Story {
    let library = Library::new();
    let register = |input: Value| text(&library.data("register_agent", input)["id"]);
    let stripe =
        register(json!({ "name": "stripe-agent", "model": "m-1", "capabilities": ["rust", "payments"] }));
    library.world.pass(5 * MINUTE);
    let paypal = register(json!({ "name": "paypal-agent" }));
    let mut input = publishing(&stripe, &["symbol:PaymentService=replace", "domain:payments=modify"]);
    input["task"] = json!("payments-provider");
    input["summary"] = json!("Replace PaymentService with StripePaymentService");
    input["rationale"] = json!("Move the existing implementation behind Stripe");
    let intent = library.data("publish_intent", input)["intent"]["id"].clone();
    library.world.pass(3 * 60 * MINUTE);
    let mut input = publishing(&paypal, &["symbol:PaymentService=extend"]);
    input["summary"] = json!("Extend PaymentService with PayPal support");
    input["depends_on"] = json!([intent]);
    let conflict = library.data("publish_intent", input)["conflicts"][0]["id"].clone();
    Story { library, stripe, paypal, intent, conflict }
}

#[test]
fn screens_of_an_empty_ledger_say_what_to_do_next() {
    let library = Library::new();
    let root = library.sandbox.path("r");
    for (name, operation) in [
        ("empty-init", "init"),
        ("empty-agent-list", "list_agents"),
        ("empty-conflicts-list", "list_conflicts"),
        ("empty-events-list", "list_events"),
        ("empty-events-audit", "audit_events"),
        ("empty-status", "status"),
    ] {
        matches(name, &library.screen(operation, json!({}), 100), &root);
    }
    library.agent("a");
    matches("status-without-intents", &library.screen("status", json!({}), 100), &root);
}

#[test]
fn screens_of_lists_and_details_are_as_they_were() {
    let story = story();
    let root = story.library.sandbox.path("r");
    for (name, operation, input) in [
        ("agent-list", "list_agents", json!({})),
        ("agent-list-page", "list_agents", json!({ "limit": 1 })),
        ("intent-show", "get_intent", json!({ "id": story.intent })),
        ("conflicts-list", "list_conflicts", json!({})),
        ("conflicts-show", "get_conflict", json!({ "id": story.conflict })),
        ("events-list", "list_events", json!({})),
        ("events-list-page", "list_events", json!({ "limit": 2 })),
        ("events-audit", "audit_events", json!({})),
        ("status", "status", json!({})),
    ] {
        matches(name, &story.library.screen(operation, input, 100), &root);
    }
    let narrow = story.library.screen("status", json!({}), 60);
    matches("status-narrow", &narrow, &root);
}

#[test]
fn screens_of_what_was_just_recorded_are_as_they_were() {
    let story = story();
    let root = story.library.sandbox.path("r");
    let show = |name: &str, operation: &str, input: Value| {
        matches(name, &story.library.screen(operation, input, 100), &root);
    };
    show(
        "agent-register",
        "register_agent",
        json!({ "name": "third", "model": "m-2", "capabilities": ["go"] }),
    );
    show(
        "intent-publish-conflict",
        "publish_intent",
        publishing(&story.paypal, &["symbol:paymentservice=remove"]),
    );
    show("intent-publish-alone", "publish_intent", publishing(&story.stripe, &["env:STRIPE_KEY=add"]));
    show("intent-publish-without-scopes", "publish_intent", publishing(&story.stripe, &[]));
    for number in 0..21 {
        let agent = story.library.agent(&format!("agent-{number:02}"));
        story.library.publish(&agent, &["contract:shared=modify"]);
    }
    let input = publishing(&story.paypal, &["contract:shared=modify"]);
    let shown = story.library.screen("publish_intent", input, 100);
    let end: Vec<_> = shown.lines().rev().take(6).collect();
    let end: Vec<_> = end.into_iter().rev().collect();
    matches("intent-publish-omitted", &(end.join("\n") + "\n"), &root);
}
