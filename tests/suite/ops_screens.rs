//! What a person sees, word for word. To accept a change, run these tests with `FOREMERGE_BLESS=1` and read the
//! difference.
#![expect(clippy::disallowed_methods, reason = "a test reads its own switch")]

use std::path::Path;

use foremerge::domain::fact::{AgentRegistered, Fact};
use foremerge::domain::{Agent, Id};
use foremerge::ledger::{Draft, Error, Patience};
use foremerge::operations::Screen;
use foremerge::surface::cli;
use foremerge::world::Fake;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::cli::text;
use crate::library::{Library, publishing};

const MINUTE: i64 = 60_000;
const WIDTHS: [u16; 3] = [60, 80, 140];

/// Holds a screen against its fixture; `root` is what varies between runs.
fn matches(name: &str, screen: &str, root: &Path) {
    let screen = screen.replace(root.to_str().unwrap(), "/shop");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/screens").join(format!("{name}.txt"));
    if std::env::var_os("FOREMERGE_BLESS").is_some() {
        std::fs::write(&fixture, &screen).unwrap();
    }
    let expected = std::fs::read_to_string(&fixture).unwrap_or_default();
    assert!(screen == expected, "{name} is now\n{screen}\nand was\n{expected}");
    if !screen.contains('␛') {
        commands_parse(name, &screen);
    }
}

/// Every command a screen names is one, once its upper-case words are filled in.
fn commands_parse(name: &str, screen: &str) {
    for command in screen.lines().filter_map(|line| line.split_once("foremerge ")).map(|(_, command)| command)
    {
        let filled = |word: &str| match word {
            "AGENT_ID" => "agt_00000000".to_owned(),
            "INTENT_ID" => "int_00000000".to_owned(),
            "KIND:KEY=OPERATION" => "symbol:x=add".to_owned(),
            "KIND:KEY" => "symbol:x".to_owned(),
            word => word.to_owned(),
        };
        let words = std::iter::once("foremerge".to_owned()).chain(command.split(' ').map(filled));
        let words: Vec<_> = words.collect();
        let parsed = |words: Vec<String>| cli::command(&Fake::new(1)).try_get_matches_from(words);
        // Where a screen has said how to set it once, it leaves the agent out.
        let with_agent = [&words[..], &["--agent".to_owned(), "agt_00000000".to_owned()]].concat();
        let parsed = parsed(words).or_else(|error| parsed(with_agent).map_err(|_| error));
        let is_help = |error: &clap::Error| error.kind() == clap::error::ErrorKind::DisplayHelp;
        if let Err(error) = parsed
            && !is_help(&error)
        {
            panic!("{name} names `foremerge {command}`: {error}");
        }
    }
}

/// Whether everything but what is there to be copied keeps within the screen.
fn fits(name: &str, screen: &str, width: u16) {
    for line in screen.lines() {
        let copied = line.contains("foremerge ") || line.starts_with("  export ");
        assert!(copied || line.width() <= usize::from(width), "{name} is too wide for {width}: {line}");
    }
}

/// Two agents, of whom the second extends what the first replaces, a third beside them, and a
/// fourth that has not come back.
struct Story {
    library: Library,
    stripe: String,
    paypal: String,
    intent: Value,
    conflict: Value,
}

fn story() -> Story {
    let library = Library::new();
    let silent = register(&library, "支払い-エージェント 🦀", "/home/ada/shop-worktrees/invoices");
    publish(&library, &silent, "Print invoices in the language of the customer", &["domain:invoices=modify"]);
    library.world.pass(2 * 60 * MINUTE);
    let stripe = register(&library, "stripe-agent", "/home/ada/shop-worktrees/stripe");
    library.world.pass(5 * MINUTE);
    let paypal = register(&library, "paypal-agent", "/home/ada/shop-worktrees/paypal");
    let mut input = publishing(&stripe, &["symbol:PaymentService=replace", "domain:payments=modify"]);
    input["task"] = json!("payments-provider");
    input["summary"] = json!("Replace PaymentService with StripePaymentService");
    input["rationale"] = json!("Move the existing implementation behind Stripe");
    let intent = library.data("publish_intent", input)["intent"]["id"].clone();
    let scopes = json!([{ "kind": "symbol", "key": "PaymentService" }]);
    library.data("claim_work", json!({ "agent_id": stripe, "intent_id": intent, "scopes": scopes }));
    library.data("start_work", json!({ "agent_id": stripe, "intent_id": intent }));
    library.world.pass(45 * MINUTE);
    let mut input = publishing(&paypal, &["symbol:PaymentService=extend", "symbol:Refund=add"]);
    input["summary"] = json!("Extend PaymentService with PayPal support");
    input["depends_on"] = json!([intent]);
    let conflict = library.data("publish_intent", input)["conflicts"][0]["id"].clone();
    let refunds = library.agent("refunds-agent");
    publish(&library, &refunds, "Refund in the currency that was paid in", &["symbol:Refund=modify"]);
    library.world.pass(7 * MINUTE);
    send(&library, &stripe, &paypal, &conflict, "Shall PaymentProvider be the common base?");
    send(&library, &stripe, &paypal, &conflict, "I begin with it now.");
    library.world.pass(MINUTE);
    Story { library, stripe, paypal, intent, conflict }
}

fn publish(library: &Library, agent: &str, summary: &str, scopes: &[&str]) {
    let mut input = publishing(agent, scopes);
    input["summary"] = json!(summary);
    library.data("publish_intent", input);
}

/// Registers an agent in a worktree that need not be there, so that its path is always the same.
fn register(library: &Library, name: &str, worktree: &str) -> String {
    let fact = AgentRegistered {
        name: name.to_owned(),
        model: None,
        capabilities: Vec::new(),
        git_branch: worktree.rsplit('/').next().map(str::to_owned),
        git_head: None,
        worktree: Some(worktree.to_owned()),
    };
    let written = library.ledger().write::<_, Error>(Patience::Wait, move |transaction| {
        let agent: Id<Agent> = transaction.new_id()?;
        let fact = Fact::AgentRegistered(fact);
        transaction.record(Draft { entity: agent.to_string(), agent, cause: None, fact })?;
        Ok(agent.to_string())
    });
    written.unwrap()
}

/// Sends a message about a conflict.
fn send(library: &Library, from: &str, to: &str, conflict: &Value, message: &str) {
    let input =
        json!({ "from_agent_id": from, "to_agent_id": to, "conflict_id": conflict, "message": message });
    library.data("coordinate_with_agent", input);
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
        ("empty-work-query", "query_work"),
    ] {
        matches(name, &library.screen(operation, json!({}), 80), &root);
    }
    let narrowed = library.screen("query_work", json!({ "status": "INTENT" }), 80);
    matches("empty-work-query-narrowed", &narrowed, &root);
    let agent = library.agent("a");
    matches("empty-inbox", &library.screen("read_inbox", json!({ "agent_id": agent }), 80), &root);
    matches("status-without-intents", &library.screen("status", json!({}), 80), &root);
    matches("events-list-end", &library.screen("list_events", json!({ "after_seq": 1 }), 80), &root);
    let intent = library.publish(&agent, &["symbol:X=add"])["intent"]["id"].clone();
    let input = json!({ "intent_id": intent });
    matches("empty-assess-list", &library.screen("list_assessments", input, 80), &root);
}

#[test]
fn screens_of_lists_and_details_read_well_at_every_width() {
    let story = story();
    let root = story.library.sandbox.path("r");
    for (name, operation, input) in [
        ("agent-list", "list_agents", json!({})),
        ("intent-show", "get_intent", json!({ "id": story.intent })),
        ("conflicts-list", "list_conflicts", json!({})),
        ("conflicts-show", "get_conflict", json!({ "id": story.conflict })),
        ("events-list", "list_events", json!({})),
        ("status", "status", json!({})),
        ("work-query", "query_work", json!({})),
        ("inbox", "read_inbox", json!({ "agent_id": story.paypal })),
    ] {
        for width in WIDTHS {
            let name = format!("{name}-{width}");
            let screen = story.library.screen(operation, input.clone(), width);
            let screen = screen.replace(root.to_str().unwrap(), "/shop");
            fits(&name, &screen, width);
            matches(&name, &screen, &root);
        }
    }
    matches("agent-list-page", &story.library.screen("list_agents", json!({ "limit": 1 }), 80), &root);
    matches("work-query-page", &story.library.screen("query_work", json!({ "limit": 1 }), 80), &root);
    let scope = json!({ "scope": { "kind": "symbol", "key": "Refund" } });
    matches("work-query-scope", &story.library.screen("query_work", scope, 80), &root);
    matches("events-list-page", &story.library.screen("list_events", json!({ "limit": 2 }), 80), &root);
    matches("events-audit", &story.library.screen("audit_events", json!({}), 80), &root);
}

#[test]
fn colours_say_what_the_words_say() {
    let story = story();
    let root = story.library.sandbox.path("r");
    let screen = Screen::new(80, story.library.now()).coloured(true);
    let coloured = story.library.screen_on(screen, "status", json!({}));
    matches("status-coloured", &coloured.replace('\u{1b}', "␛"), &root);
    let mut plain = String::new();
    for (at, part) in coloured.split('\u{1b}').enumerate() {
        plain.push_str(if at == 0 { part } else { part.split_once('m').unwrap().1 });
    }
    assert_eq!(plain, story.library.screen("status", json!({}), 80), "the words do not depend on colours");
}

#[test]
fn screens_of_what_was_just_recorded_say_what_comes_next() {
    let story = story();
    let root = story.library.sandbox.path("r");
    let show = |name: &str, operation: &str, input: Value| {
        let screen = story.library.screen(operation, input, 80);
        fits(name, &screen, 80);
        matches(name, &screen, &root);
    };
    let capable = json!({ "name": "third", "model": "m-2", "capabilities": ["go"] });
    show("agent-register", "register_agent", capable);
    let removing = publishing(&story.paypal, &["symbol:paymentservice=remove"]);
    show("intent-publish-conflict", "publish_intent", removing);
    show("intent-publish-alone", "publish_intent", publishing(&story.stripe, &["env:STRIPE_KEY=add"]));
    show("intent-publish-without-scopes", "publish_intent", publishing(&story.stripe, &[]));
    let own = text(&story.library.publish(&story.paypal, &["symbol:Ledger=add"])["intent"]["id"]);
    let acting = json!({ "agent_id": story.paypal, "intent_id": own });
    let with = |name: &str, value: Value| {
        let mut input = acting.clone();
        input[name] = value;
        input
    };
    let scopes = json!([{ "kind": "symbol", "key": "Ledger" }, { "kind": "file", "key": "src/ledger.rs" }]);
    show("work-claim", "claim_work", with("scopes", scopes));
    show("work-start", "start_work", acting.clone());
    show("work-release", "release_work", acting.clone());
    show("work-release-nothing", "release_work", acting.clone());
    let amending = json!({
        "id": own, "agent_id": story.paypal,
        "scopes": [{ "kind": "symbol", "key": "PaymentService", "operation": "modify" }],
    });
    show("intent-amend", "amend_intent", amending);
    show("work-discard", "discard_work", with("reason", json!("the others do it")));
    let stranded = story.library.data("status", json!({}))["intents"][0]["intents"][0]["id"].clone();
    let adopting = json!({ "intent_id": stranded, "agent_id": story.paypal, "reason": "it is needed" });
    show("work-adopt", "adopt_work", adopting);
    let retired = story.library.agent("done");
    show("agent-retire", "retire_agent", json!({ "id": retired }));
    show("agent-list-all", "list_agents", json!({ "all": true }));
}

#[test]
fn screens_of_talk_lead_to_an_agreement() {
    let story = story();
    let root = story.library.sandbox.path("r");
    let Story { library, stripe, paypal, intent, conflict } = &story;
    let show = |name: &str, operation: &str, input: Value| {
        let screen = library.screen(operation, input, 80);
        fits(name, &screen, 80);
        matches(name, &screen, &root);
    };
    let own = library.data("query_work", json!({ "agent_id": paypal }))[0]["intent"]["id"].clone();
    show("conflicts-check", "check_conflicts", json!({ "intent_id": own }));
    let assessing = |verdict: &str, action: &str, rationale: &str| {
        json!({
            "agent_id": paypal, "intent_id": own, "related_intent_id": intent,
            "verdict": verdict, "action": action, "rationale": rationale,
        })
    };
    let removes = assessing("conflicts", "rescoping", "Their replacement removes the class that I extend");
    show("assess-record", "record_assessment", removes);
    library.world.pass(MINUTE);
    let waits =
        "PaymentProvider comes first; what I build on it can wait for that, and for the tests they write";
    show("assess-record-waiting", "record_assessment", assessing("depends_on", "waiting", waits));
    show("assess-list", "list_assessments", json!({ "intent_id": own }));
    let message = json!({
        "from_agent_id": paypal, "to_agent_id": stripe, "conflict_id": conflict, "message": "Yes, go on.",
    });
    show("coordinate-send", "coordinate_with_agent", message);
    show("inbox-read", "read_inbox", json!({ "agent_id": paypal, "mark_read": true }));
    let agreed = json!({
        "conflict_id": conflict, "agent_id": paypal, "all_with": own,
        "resolution": "sequenced: PaymentProvider lands first", "rationale": "both said so",
    });
    show("conflicts-resolve", "resolve_conflict", agreed);
    show("conflicts-detections", "list_detections", json!({ "conflict_id": conflict }));
    show("conflicts-show-resolved", "get_conflict", json!({ "id": conflict }));
}

#[test]
fn the_command_after_a_count_of_open_conflicts_shows_as_many() {
    let library = Library::new();
    let one = library.agent("one");
    let intent = library.publish(&one, &["symbol:Shared=replace"])["intent"]["id"].clone();
    for number in 0..9 {
        let other = library.agent(&format!("other-{number}"));
        let conflict = library.publish(&other, &["symbol:Shared=extend"])["conflicts"][0]["id"].clone();
        if number % 2 == 0 {
            send(&library, &one, &other, &conflict, "Shall I wait?");
        }
    }
    let short = text(&intent)[..12].to_owned();
    let shown = library.screen("get_intent", json!({ "id": intent }), 60);
    let command = format!("\n  foremerge conflicts check --intent-id {short}\n");
    assert!(shown.contains("OPEN CONFLICTS 9\n") && shown.contains(&command), "{shown}");
    let all = library.data("check_conflicts", json!({ "intent_id": intent }));
    assert_eq!(all["conflicts"].as_array().unwrap().len(), 9);
    let status = library.screen("status", json!({}), 80);
    let head = "OPEN CONFLICTS 45";
    assert!(
        status.contains(head) && status.contains("… and 37 more: foremerge conflicts list\n"),
        "{status}"
    );
    let all = library.data("list_conflicts", json!({}));
    assert_eq!(all.as_array().unwrap().len(), 45);
}

#[test]
fn agents_of_one_name_are_told_apart() {
    let library = Library::new();
    let agents = ["one", "other"].map(|tree| register(&library, "coder", &format!("/home/ada/{tree}")));
    let called = agents.each_ref().map(|agent| format!("coder ({})", &agent[..12]));
    let scopes = ["schema:users=extend", "symbol:UserService=extend"];
    library.publish(&agents[0], &["schema:users=remove", "symbol:UserService=replace"]);
    let mut asked = publishing(&agents[1], &scopes);
    asked = json!({ "intent": "s", "scopes": asked["scopes"].take(), "agent_id": agents[1] });
    let found = library.data("check_conflicts", asked);
    let conflicts = library.publish(&agents[1], &scopes)["conflicts"].take();
    for found in [&found["conflicts"][0], &conflicts[0]] {
        let explanation = text(&found["explanation"]);
        assert!(explanation.starts_with(&format!("{} will remove schema:users", called[0])), "{explanation}");
        assert!(explanation.contains(&format!(" while {} will extend it", called[1])), "{explanation}");
    }
    send(&library, &agents[0], &agents[1], &conflicts[0]["id"], "Shall I wait?");
    let shown = library.screen("get_conflict", json!({ "id": conflicts[0]["id"] }), 80);
    assert!(called.iter().all(|name| shown.contains(&format!("\n{name}\n"))), "{shown}");
    let events = library.screen("list_events", json!({}), 140);
    let wrote = format!("{} wrote to {}: Shall I wait?", called[0], called[1]);
    assert!(events.contains(&wrote), "{events}");
    let status = library.screen("status", json!({}), 140);
    assert!(called.iter().all(|name| status.contains(&format!("{name} will"))), "{status}");
}

#[test]
fn a_row_says_who_does_what_however_long_the_path_is() {
    let path = "packages/storefront/applications/checkout/src/components/payments/providers/paypal/buttons/\
                primary/PaypalProviderButton.tsx";
    let below = format!("{path}/render/Label.tsx");
    assert!(path.len() >= 119, "{}", path.len());
    let library = Library::new();
    let names = ["storefront-checkout-refactoring", "payments-provider-integration-2"];
    let agents = names.map(|name| library.agent(name));
    library.publish(&agents[0], &[&format!("file:{path}=replace")]);
    let scopes = [format!("file:{path}=extend"), format!("file:{below}=extend")];
    library.publish(&agents[1], &scopes.each_ref().map(String::as_str));
    for operation in ["list_conflicts", "status"] {
        for width in [60, 72, 80, 95, 100, 140] {
            let screen = library.screen(operation, json!({}), width);
            fits(operation, &screen, width);
            let told = screen.replace("just now", "");
            let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
            let does = |name: &str, operation: &str| words.contains(&format!("{name} will {operation}"));
            let told = does(names[0], "replace file:packages/…/PaypalProviderButton.tsx")
                && does(names[1], "extend it")
                && does(names[1], "extend file:packages/…/render/Label.tsx");
            assert!(told, "{operation} {width}\n{screen}");
        }
    }
}

#[test]
fn what_was_left_out_is_counted() {
    let story = story();
    for number in 0..21 {
        let agent = story.library.agent(&format!("agent-{number:02}"));
        story.library.publish(&agent, &["contract:shared=modify"]);
    }
    let input = publishing(&story.paypal, &["contract:shared=modify"]);
    let shown = story.library.screen("publish_intent", input, 80);
    assert!(shown.contains("\nOne lesser finding was not recorded.\n"), "{shown}");
    let status = story.library.screen("status", json!({}), 80);
    assert!(status.contains("more: foremerge conflicts list\n"), "{status}");
}
