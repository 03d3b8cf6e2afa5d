//! Asking who is at work on what.

use foremerge::failure::Code;
use serde_json::{Value, json};

use crate::cli::{self, text};
use crate::library::{Library, publishing};
use crate::sandbox::Sandbox;

struct Office {
    library: Library,
    agents: [String; 2],
    /// Report in two namespaces, a claim on a third, and something else, in the order of publication.
    intents: Vec<String>,
}

fn office() -> Office {
    let library = Library::new();
    let agents = ["one", "other"].map(|name| library.agent(name));
    let declared = [
        (0, "symbol:App\\Billing\\Report::render=modify"),
        (1, "symbol:App\\Admin\\Report::render=modify"),
        (0, "domain:billing=modify"),
        (1, "file:src/Cart.rs=modify"),
    ];
    let intents = declared.map(|(who, scope)| {
        library.world.pass(1_000);
        text(&library.publish(&agents[who], &[scope])["intent"]["id"])
    });
    let claim = json!({
        "agent_id": agents[0],
        "intent_id": intents[2],
        "scopes": [{ "kind": "symbol", "key": "Report::render" }],
    });
    library.data("claim_work", claim);
    Office { library, agents, intents: intents.to_vec() }
}

impl Office {
    fn ids(&self, input: Value) -> Vec<String> {
        let found = self.library.data("query_work", input);
        found.as_array().unwrap().iter().map(|item| text(&item["intent"]["id"])).collect()
    }

    fn on(&self, kind: &str, key: &str) -> Vec<String> {
        self.ids(json!({ "scope": { "kind": kind, "key": key } }))
    }
}

#[test]
fn work_is_listed_newest_first_with_what_belongs_to_it() {
    let office = office();
    let mut depending = publishing(&office.agents[1], &["env:X=add"]);
    depending["depends_on"] = json!([office.intents[2]]);
    office.library.world.pass(1_000);
    let newest = text(&office.library.data("publish_intent", depending)["intent"]["id"]);
    let found = office.library.data("query_work", json!({}));
    let ids: Vec<_> = found.as_array().unwrap().iter().map(|item| text(&item["intent"]["id"])).collect();
    let expected: Vec<_> = [&newest].into_iter().chain(office.intents.iter().rev()).cloned().collect();
    assert_eq!(ids, expected);
    let claimed = &found[2];
    assert_eq!(claimed["agent"]["name"], "one");
    assert_eq!(claimed["claims"][0]["status"], "ACTIVE");
    assert_eq!(claimed["dependents"], json!([newest]));
    assert_eq!((&found[3]["open_conflicts"], &found[4]["open_conflicts"]), (&json!(1), &json!(1)));
    assert!(claimed.get("latest_changeset_id").is_none() && claimed.get("cut").is_none());
}

#[test]
fn a_scope_finds_what_declares_it_in_any_namespace_and_what_ever_claimed_it() {
    let office = office();
    let [billing, admin, claiming, cart] = [0, 1, 2, 3].map(|at| office.intents[at].clone());
    let all = [claiming.clone(), admin, billing];
    assert_eq!(office.on("symbol", "Report::render"), all);
    assert_eq!(office.on("symbol", "some::where::report::RENDER"), all);
    assert_eq!(office.on("symbol", "Invoice::render"), [] as [&str; 0], "another container");
    assert_eq!(office.on("symbol", "Any.Where.Report::render"), all);
    assert_eq!(office.on("file", "./src/cart.rs"), [cart]);
    assert_eq!(office.on("file", "src"), [] as [&str; 0], "a directory is another key");
    assert_eq!(office.on("domain", "report::render"), [] as [&str; 0]);
    let release = json!({ "agent_id": office.agents[0], "intent_id": claiming });
    office.library.data("release_work", release);
    assert_eq!(office.on("symbol", "Report::render"), all, "ever");
}

#[test]
fn filters_go_together() {
    let office = office();
    let [billing, _, claiming, _] = [0, 1, 2, 3].map(|at| office.intents[at].clone());
    let of_one = json!({ "agent_id": office.agents[0] });
    assert_eq!(office.ids(of_one), [claiming.clone(), billing.clone()]);
    assert_eq!(office.ids(json!({ "status": "claimed" })), std::slice::from_ref(&claiming));
    assert_eq!(office.ids(json!({ "agent_id": office.agents[1], "status": "CLAIMED" })), [] as [&str; 0]);
    let scope = json!({ "kind": "symbol", "key": "Report::render" });
    assert_eq!(
        office.ids(json!({ "scope": scope, "agent_id": office.agents[0] })),
        [claiming, billing.clone()]
    );
    let narrow = json!({ "scope": scope, "agent_id": office.agents[0], "status": "intent" });
    assert_eq!(office.ids(narrow), [billing]);
}

#[test]
fn a_filter_that_names_nothing_known_is_an_error_and_not_an_empty_answer() {
    let office = office();
    let refused = |code, input| office.library.refusal(code, "query_work", input);
    refused(Code::NotFound, json!({ "agent_id": "agt_00000000" }));
    assert!(refused(Code::InvalidInput, json!({ "status": "busy" })).message.contains("IN_PROGRESS"));
    let scope = json!({ "kind": "gadget", "key": "x" });
    assert!(refused(Code::InvalidInput, json!({ "scope": scope })).message.contains("migration"));
    let scope = json!({ "kind": "symbol", "key": "Report::render=modify" });
    assert!(
        refused(Code::InvalidInput, json!({ "scope": scope })).message.contains("`symbol:Report::render`")
    );
}

#[test]
fn pages_of_work_hold_everything_once_even_among_equal_times() {
    let library = Library::new();
    let agent = library.agent("one");
    for number in 0..7 {
        library.publish(&agent, &[&format!("env:E{number}=add")]);
    }
    for filter in [json!({}), json!({ "agent_id": agent }), json!({ "status": "INTENT" })] {
        let (mut seen, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let mut input = filter.clone();
            input["limit"] = json!(3);
            input["cursor"] = cursor;
            let answer = library.call("query_work", input).unwrap();
            for item in answer.to_json().unwrap().as_array().unwrap() {
                seen.push(text(&item["intent"]["id"]));
            }
            let page = answer.page();
            assert_eq!(page.as_ref().map_or(7, |page| page.total), 7);
            match page.and_then(|page| page.next) {
                Some(next) => cursor = json!(next),
                None => break,
            }
        }
        let distinct: std::collections::BTreeSet<_> = seen.iter().collect();
        assert_eq!((seen.len(), distinct.len()), (7, 7), "{filter}");
    }
}

#[test]
fn many_claims_and_dependents_are_cut_and_counted() {
    let library = Library::new();
    let agent = library.agent("one");
    let intent = library.publish(&agent, &["domain:a=add"])["intent"]["id"].clone();
    let scopes: Vec<_> =
        (0..130).map(|number| json!({ "kind": "symbol", "key": format!("s{number}") })).collect();
    library.data("claim_work", json!({ "agent_id": agent, "intent_id": intent, "scopes": scopes }));
    for number in 0..103 {
        let mut input = publishing(&agent, &[&format!("env:E{number}=add")]);
        input["depends_on"] = json!([intent]);
        library.data("publish_intent", input);
    }
    let found = library.data("query_work", json!({ "status": "claimed" }));
    assert_eq!(found[0]["claims"].as_array().unwrap().len(), 100);
    assert_eq!(found[0]["cut"], json!({ "claims": 30, "dependents": 3 }));
}

fn last_seen(library: &Library, agent: &str) -> String {
    let status = library.data("status", json!({}));
    let rows = status["agents"].as_array().unwrap();
    text(&rows.iter().find(|row| row["id"] == agent).unwrap()["last_seen_at"])
}

#[test]
fn who_asks_is_present_and_whose_work_is_asked_for_is_not() {
    let office = office();
    let [one, other] = &office.agents;
    let seen = || [one, other].map(|agent| last_seen(&office.library, agent));
    let before = seen();
    office.library.world.pass(3 * 3_600_000);
    let of_other = office.ids(json!({ "agent_id": other }));
    assert_eq!(of_other.len(), 2);
    assert_eq!(seen(), before, "nobody said who asks");
    assert_eq!(office.ids(json!({ "agent_id": other, "asker_id": one })), of_other);
    assert_ne!(seen()[0], before[0]);
    assert_eq!(seen()[1], before[1]);
    let adopt = json!({ "intent_id": office.intents[1], "agent_id": one, "reason": "they are gone" });
    office.library.data("adopt_work", adopt);
    assert_eq!(office.ids(json!({ "asker_id": one })).len(), 4, "asking narrows nothing");
    office.library.refusal(Code::NotFound, "query_work", json!({ "asker_id": "agt_00000000" }));
}

#[test]
fn the_variable_says_who_asks_and_narrows_nothing() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    let [first, second] = [(&one, "symbol:A=add"), (&other, "symbol:B=add")]
        .map(|(agent, scope)| text(&cli.publish(agent, &[scope])["intent"]["id"]));
    let asking = cli.with("FOREMERGE_AGENT", &one);
    let ids = |found: Value| -> Vec<String> {
        found.as_array().unwrap().iter().map(|work| text(&work["intent"]["id"])).collect()
    };
    assert_eq!(ids(asking.data(["work", "query"])).len(), 2);
    assert_eq!(ids(asking.data(["work", "query", "--agent", &other])), [second]);
    assert_eq!(ids(cli.data(["work", "query", "--as", &other, "--scope", "symbol:a"])), [first]);
    assert_eq!(ids(cli.with("FOREMERGE_AGENT", "").data(["work", "query"])).len(), 2);
    cli.with("FOREMERGE_AGENT", "agt_00000000").refused("NOT_FOUND", ["work", "query"]);
}
