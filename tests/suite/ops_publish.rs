//! Publishing intents and what is found.

use std::collections::BTreeSet;

use foremerge::domain::ScopeOperation;
use foremerge::failure::Code;
use serde_json::{Value, json};

use crate::cli::{self, publishing, text, texts};
use crate::library::Library;
use crate::sandbox::{Sandbox, git};

fn conflicts(published: &Value) -> &[Value] {
    published["conflicts"].as_array().unwrap()
}

#[test]
fn one_replaces_what_the_other_extends_and_both_sides_hear_of_it() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (stripe, paypal) = (cli.agent("payments-stripe"), cli.agent("payments-paypal"));
    let first = cli.publish(&stripe, &["symbol:PaymentService=replace", "domain:payments=modify"]);
    assert_eq!((conflicts(&first).len(), &first["related_work"]), (0, &json!([])));
    assert_eq!(first["assessment_required"], false);
    let second = cli.publish(&paypal, &["symbol:PaymentService=extend", "file:src/paypal.rs=add"]);
    let [conflict] = conflicts(&second) else { panic!("{second}") };
    assert_eq!(conflict["kind"], "destructive_vs_additive");
    assert_eq!((&conflict["severity"], &conflict["status"]), (&json!("HIGH"), &json!("OPEN")));
    assert_eq!(conflict["score"], json!(0.97));
    let evidence = &conflict["evidence"];
    assert_eq!((&evidence["rule"], &evidence["asserted"]), (&json!("FM-C001"), &json!(true)));
    assert_eq!(evidence["overlap"], "the same semantic scope");
    assert_eq!(evidence["detected_before_code"], true);
    assert!(text(&conflict["suggestion"]).contains("PaymentProvider"));
    let explanation = text(&conflict["explanation"]);
    assert!(explanation.contains("payments-stripe will replace symbol:PaymentService"), "{explanation}");
    let [related] = &second["related_work"].as_array().unwrap()[..] else { panic!("{second}") };
    assert_eq!(
        (&related["intent_id"], &related["agent"]),
        (&first["intent"]["id"], &json!("payments-stripe"))
    );
    let overlap = json!([{
        "scope": { "kind": "symbol", "key": "PaymentService" }, "your_operation": "extend",
        "their_operation": "replace", "interaction": "destructive_vs_additive", "asserted": true,
    }]);
    assert_eq!((&related["overlap"], &second["assessment_required"]), (&overlap, &json!(true)));
    for published in [&first, &second] {
        let shown = cli.data(["intent", "show", &text(&published["intent"]["id"])]);
        assert_eq!(shown["intent"], published["intent"]);
        assert_eq!(shown["open_conflicts"], json!({ "count": 1, "ids": [conflict["id"]], "as_of_event": 5 }));
    }
}

#[test]
fn every_pair_of_operations_gives_the_rule_and_severity_of_the_table() {
    let library = Library::new();
    let (one, other) = (library.agent("one"), library.agent("other"));
    for (row, mine) in ScopeOperation::ALL.iter().enumerate() {
        for (column, theirs) in ScopeOperation::ALL.iter().enumerate() {
            library.publish(&one, &[&format!("contract:c{row}{column}={mine}")]);
            let found = library.publish(&other, &[&format!("contract:c{row}{column}={theirs}")]);
            let (rule, kind, severity) = match (mine.is_destructive(), theirs.is_destructive()) {
                (true, true) => ("FM-C002", "divergent_rewrite", "HIGH"),
                (false, false) => ("FM-C003", "shared_contract", "MEDIUM"),
                _ => ("FM-C001", "destructive_vs_additive", "HIGH"),
            };
            let [conflict] = conflicts(&found) else { panic!("{mine} and {theirs}: {found}") };
            assert_eq!(conflict["evidence"]["rule"], rule, "{mine} and {theirs}");
            assert_eq!((&conflict["kind"], &conflict["severity"]), (&json!(kind), &json!(severity)));
            assert_eq!((&conflict["score"], &conflict["evidence"]["asserted"]), (&json!(0.97), &json!(true)));
        }
    }
}

#[test]
fn the_source_is_the_intent_with_the_smaller_id_whoever_came_first() {
    let library = Library::new();
    let (one, other) = (library.agent("one"), library.agent("other"));
    let mut seen = BTreeSet::new();
    for number in 0..40 {
        let first = library.publish(&one, &[&format!("symbol:Name{number}=replace")]);
        let second = library.publish(&other, &[&format!("symbol:NAME{number}=extend")]);
        let (first, conflict) = (text(&first["intent"]["id"]), &conflicts(&second)[0]);
        let second = text(&second["intent"]["id"]);
        let first_is_smaller = first < second;
        seen.insert(first_is_smaller);
        let (source, target) = if first_is_smaller { (&first, &second) } else { (&second, &first) };
        assert_eq!(
            (&conflict["source_intent_id"], &conflict["target_intent_id"]),
            (&json!(source), &json!(target))
        );
        let (operation, key) = if first_is_smaller { ("replace", "Name") } else { ("extend", "NAME") };
        assert_eq!(conflict["evidence"]["source_operation"], operation);
        assert_eq!(conflict["scope"]["key"], json!(format!("{key}{number}")), "the source's spelling");
        assert_eq!(conflict["evidence"]["source_scope"]["key"], json!(format!("name{number}")));
        let shown = library.data("get_conflict", json!({ "id": conflict["id"] }));
        assert_eq!(shown, *conflict, "it reads the same for everybody");
        assert!(text(&conflict["explanation"]).starts_with("one will replace"), "{conflict}");
    }
    assert_eq!(seen.len(), 2, "both orders must have come up");
}

#[test]
fn an_agent_never_conflicts_with_itself() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("a");
    for _ in 0..2 {
        let published = cli.publish(&agent, &["symbol:X=replace"]);
        assert_eq!((&published["conflicts"], &published["related_work"]), (&json!([]), &json!([])));
    }
}

#[test]
fn a_namesake_in_the_same_worktree_is_surfaced_and_one_elsewhere_is_a_stranger() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let linked = sandbox.path("linked");
    git(&root, &["worktree", "add", "-q", cli::string(&linked)]);
    let cli = cli::initialized(&root);
    let first = cli.agent("same");
    cli.publish(&first, &["symbol:X=replace"]);
    let namesake = cli.publish(&cli.agent("same"), &["symbol:X=remove"]);
    let [conflict] = conflicts(&namesake) else { panic!("{namesake}") };
    assert_eq!((&conflict["severity"], &conflict["evidence"]["asserted"]), (&json!("MEDIUM"), &json!(false)));
    assert_eq!(conflict["evidence"]["rule"], "FM-C002");
    for (place, agent) in [("linked", cli::at(&linked).agent("same")), ("here", cli.agent("another"))] {
        let stranger = cli.publish(&agent, &["symbol:X=remove"]);
        for conflict in conflicts(&stranger) {
            assert_eq!(conflict["severity"], "HIGH", "{place}: {conflict}");
        }
    }
}

#[test]
fn each_of_three_agents_meets_each_other_once() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agents = ["a", "b", "c"].map(|name| cli.agent(name));
    let published =
        agents.each_ref().map(|agent| cli.publish(agent, &["api:GET /pay=replace", "env:KEY=modify"]));
    assert_eq!(published.each_ref().map(|answer| conflicts(answer).len()), [0, 2, 4]);
    let all = cli.data(["conflicts", "list"]);
    let pairs: BTreeSet<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|found| [&found["source_intent_id"], &found["target_intent_id"], &found["kind"]].map(text))
        .collect();
    assert_eq!((all.as_array().unwrap().len(), pairs.len()), (6, 6));
    let severities: Vec<_> = conflicts(&published[2]).iter().map(|found| text(&found["severity"])).collect();
    assert_eq!(severities, ["HIGH", "HIGH", "MEDIUM", "MEDIUM"], "the worst come first");
}

#[test]
fn a_scope_named_twice_is_one_scope_and_two_operations_on_it_are_refused() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("a");
    let published =
        cli.publish(&agent, &["symbol:App/X=add", r"Symbol:app\x=ADD", "symbol:app.x=add", "symbol:b.x=add"]);
    let keys: Vec<_> =
        published["intent"]["scopes"].as_array().unwrap().iter().map(|s| text(&s["key"])).collect();
    assert_eq!(keys, ["App/X", "b.x"], "the first spelling stays");
    assert_eq!(published["intent"]["scopes"][0]["kind"], "symbol");
    let clash = publishing(&agent, &["symbol:X=add", "symbol:x=replace"]);
    let message = cli.refused_without_trace(&clash);
    assert!(message.contains("`symbol:x`") || message.contains("`symbol:X`"), "{message}");
    assert!(message.contains("add") && message.contains("replace"), "{message}");
}

#[test]
fn keys_meet_by_their_canonical_form_and_by_nothing_else() {
    let library = Library::new();
    let (one, other) = (library.agent("one"), library.agent("other"));
    let equal = [
        (r"symbol:App\Billing\X", "symbol:app/billing/x"),
        ("symbol:crate::pay::Charge", "symbol:CRATE::Pay::charge"),
        ("domain:Stra\u{df}e", "domain:STRASSE"),
        ("domain:Caf\u{e9}", "domain:CAFE\u{301}"),
        ("api:GET /search?q=a:b", "api:get /SEARCH?Q=A:B"),
        ("env:  A  B ", "env:a  b"),
    ];
    let unequal = [
        ("symbol:Billing::X", "symbol:Shop::X"),
        ("api:GET /a", "api:GET /a/"),
        (r"config:a\b", "config:a/b"),
    ];
    for (pairs, count) in [(&equal[..], 1), (&unequal[..], 0)] {
        for (mine, theirs) in pairs {
            let first = library.publish(&one, &[&format!("{mine}=replace")]);
            let found = library.publish(&other, &[&format!("{theirs}=modify")]);
            assert_eq!(conflicts(&found).len(), count, "{mine} and {theirs}");
            let kept = text(&first["intent"]["scopes"][0]["key"]);
            assert_eq!(kept, mine.split_once(':').unwrap().1.trim(), "kept as written");
        }
    }
}

#[test]
fn a_scope_that_cannot_be_read_is_refused_with_the_form_to_write() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("a");
    for (scope, named) in [
        ("X", "KIND:KEY=OPERATION"),
        ("symbol:=add", "must not be empty"),
        ("symbol:X=", "add, extend, modify"),
        ("symbol:X=improve", "add, extend, modify, replace, remove, rename, migrate"),
        ("gadget:X=add", "symbol, api, schema, config, infra, test, migration, env, file, component"),
        (":X=add", "symbol, api"),
        ("", "KIND:KEY=OPERATION"),
    ] {
        let message = cli.refused_without_trace(&publishing(&agent, &[scope]));
        assert!(message.contains(named) && message.contains("--scope"), "{scope:?}: {message}");
    }
    let long = format!("symbol:{}=add", "x".repeat(1_001));
    assert!(cli.refused_without_trace(&publishing(&agent, &[&long])).contains("1000 characters"));
    cli.publish(&agent, &[&format!("symbol:{}=add", "x".repeat(1_000))]);
}

#[test]
fn an_intent_without_scopes_is_published_with_a_warning() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let published = cli.publish(&cli.agent("a"), &[]);
    let [warning] = &texts(&published["warnings"])[..] else { panic!("{published}") };
    assert!(warning.contains("No scopes"), "{warning}");
    assert_eq!((&published["intent"]["scopes"], &published["conflicts"]), (&json!([]), &json!([])));
}

#[test]
fn unknown_agents_and_dependencies_are_not_found_and_change_nothing() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("a");
    let before = cli.last_seq();
    cli.refusal("NOT_FOUND", publishing("agt_0123456789", &["symbol:X=add"]));
    let words = [&publishing(&agent, &["symbol:X=add"])[..], &["--depends-on", "int_0123456789"]].concat();
    assert!(cli.refusal("NOT_FOUND", words).contains("int_0123456789"));
    assert_eq!(cli.last_seq(), before);
    let known = text(&cli.publish(&agent, &[])["intent"]["id"]);
    let words =
        [&publishing(&agent, &[])[..], &["--depends-on", &known, "--depends-on", &known[..12]]].concat();
    assert_eq!(texts(&cli.data(words)["intent"]["depends_on"]), [known], "named twice, kept once");
}

#[test]
fn input_is_looked_at_before_anything_is_looked_up() {
    let library = Library::new();
    let scopes: Vec<_> = (0..1_001).map(|n| format!("symbol:s{n}=add")).collect();
    let scopes: Vec<_> = scopes.iter().map(String::as_str).collect();
    let input = crate::library::publishing("agt_000000", &scopes);
    library.refusal(Code::InvalidInput, "publish_intent", input);
}
