//! The JSON interface of the operations: what is refused there, and by which name.

use foremerge::failure::Code;
use foremerge::operations::registry;
use serde_json::{Value, json};

use crate::library::{Library, publishing};
use crate::ops_schema::sample;

fn publish_with(field: &str, value: Value) -> Value {
    let mut input = publishing("agt_00000000", &[]);
    input[field] = value;
    input
}

#[test]
fn a_refused_field_is_named_by_its_path() {
    let library = Library::new();
    let scope = |value: Value| {
        publish_with("scopes", json!([{ "kind": "symbol", "key": "x", "operation": "add" }, value]))
    };
    let declared = json!({ "kind": "symbol", "key": "x", "operation": "add" });
    let with = |field: &str, value: Value| {
        let mut scope = declared.clone();
        scope[field] = value;
        scope
    };
    let cases = [
        ("register_agent", json!({ "name": "a", "nom": "b" }), "nom", "unknown field `nom`"),
        ("register_agent", json!({ "name": "a", "no_worktree": true }), "no_worktree", "unknown field"),
        ("register_agent", json!({ "name": 1 }), "name", "expected a string"),
        ("register_agent", json!({ "name": null }), "name", "expected a string"),
        ("register_agent", json!({ "name": " " }), "name", "must not be empty"),
        (
            "register_agent",
            json!({ "name": "a", "capabilities": "rust" }),
            "capabilities",
            "expected a sequence",
        ),
        (
            "register_agent",
            json!({ "name": "a", "capabilities": ["x", ""] }),
            "capabilities[1]",
            "not be empty",
        ),
        ("register_agent", json!({}), "name", "missing field `name`"),
        (
            "publish_intent",
            json!({ "agent_id": "agt_000000", "task": "t" }),
            "summary",
            "missing field `summary`",
        ),
        ("publish_intent", publish_with("agent_id", json!("me")), "agent_id", "`agt_` and 6 to 32"),
        ("publish_intent", publish_with("agent", json!("agt_00000000")), "agent", "unknown field `agent`"),
        ("publish_intent", publish_with("depends_on", json!(["agt_000000"])), "depends_on[0]", "`int_`"),
        (
            "publish_intent",
            publish_with("scopes", json!(["symbol:x=add"])),
            "scopes[0]",
            "an object with kind, key",
        ),
        ("publish_intent", publish_with("scopes", json!([["symbol", "x", "add"]])), "scopes[0]", "an object"),
        (
            "publish_intent",
            scope(with("inferred", json!(true))),
            "scopes[1].inferred",
            "unknown field `inferred`",
        ),
        ("publish_intent", scope(with("kind", json!("gadget"))), "scopes[1].kind", "symbol, api, schema"),
        ("publish_intent", scope(with("operation", json!("improve"))), "scopes[1].operation", "add, extend"),
        ("publish_intent", scope(with("key", json!(""))), "scopes[1].key", "must not be empty"),
        (
            "publish_intent",
            scope(json!({ "kind": "symbol", "key": "x" })),
            "scopes[1].operation",
            "missing field `operation`",
        ),
        ("get_intent", json!({ "id": "int_00000000", "agent_id": 3 }), "agent_id", "expected a string"),
        ("get_intent", json!({}), "id", "missing field `id`"),
        ("get_conflict", json!({ "id": "int_00000000" }), "id", "`cfl_`"),
        ("list_agents", json!({ "all": "yes" }), "all", "expected a boolean"),
        ("list_agents", json!({ "limit": -1 }), "limit", "-1"),
        ("list_agents", json!({ "limit": "5" }), "limit", "expected u64"),
        ("list_agents", json!({ "cursor": "zz" }), "cursor", "`next` of an earlier page"),
        ("list_conflicts", json!({ "status": "closed" }), "status", "OPEN, COORDINATING"),
        ("list_events", json!({ "after_seq": 1.5 }), "after_seq", "1.5"),
        ("list_events", json!({ "after": 1 }), "after", "unknown field `after`"),
        ("audit_events", json!({ "page_size": [] }), "page_size", "sequence"),
        ("create_worktree", json!({ "branch": "b", "path": "" }), "path", "must not be empty"),
        ("create_worktree", json!({ "branch": "", "path": "../b" }), "branch", "the name of a branch"),
        (
            "create_worktree",
            json!({ "branch": "b", "path": "../b", "force": true }),
            "force",
            "unknown field",
        ),
        ("list_worktrees", json!({ "all": true }), "all", "unknown field `all`"),
        ("status", json!({ "verbose": true }), "verbose", "unknown field `verbose`"),
    ];
    for (operation, input, field, why) in cases {
        let shown = input.to_string();
        let failure = library.refusal(Code::InvalidInput, operation, input);
        assert_eq!(failure.details["field"], field, "{operation} {shown}: {failure}");
        assert!(failure.message.contains(why), "{operation} {shown}: {failure}");
        assert!(failure.message.starts_with(&format!("{field}: ")), "{failure}");
    }
    assert_eq!(library.data("status", json!({}))["as_of_event"], 0, "nothing was recorded");
}

/// Every operation, every field of its input, one thing wrong at a time.
#[test]
fn every_field_of_every_operation_says_what_it_accepts() {
    let library = Library::new();
    let mut tried = 0;
    for entry in registry::ALL {
        let id = entry.spec.id;
        let schema = (entry.input_schema)().to_value();
        let fields = schema["properties"].as_object().cloned().unwrap_or_default();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let whole: Value = required
            .iter()
            .map(|name| (name.as_str().unwrap().to_owned(), sample(&fields[name.as_str().unwrap()])))
            .collect();
        for name in fields.keys() {
            let mut input = whole.clone();
            input[name] = json!({ "": [[]] });
            if name == "metadata" {
                input[name] = json!([]);
            }
            let failure = library.refusal(Code::InvalidInput, id, input);
            let named = failure.details["field"].as_str().unwrap();
            assert!(named.starts_with(name.as_str()), "{id}.{name}: {failure}");
            tried += 1;
        }
        for name in required.iter().map(|name| name.as_str().unwrap()) {
            let mut input = whole.clone();
            input.as_object_mut().unwrap().remove(name);
            let failure = library.refusal(Code::InvalidInput, id, input);
            assert_eq!(failure.details["field"], name, "{id}: {failure}");
        }
        if !fields.is_empty() {
            let mut input = whole.clone();
            input["nonsense"] = json!(1);
            let failure = library.refusal(Code::InvalidInput, id, input);
            let known: Vec<_> = fields.keys().collect();
            assert_eq!(
                (&failure.details["field"], &failure.details["accepted"]),
                (&json!("nonsense"), &json!(known))
            );
        }
    }
    assert!(tried > 80, "only {tried} fields were tried");
}

#[test]
fn an_input_that_is_no_object_is_refused_by_every_operation() {
    let library = Library::new();
    for entry in registry::ALL {
        for input in [json!([]), json!(null), json!("x"), json!(1), json!([true, 5, null])] {
            let failure = library.refusal(Code::InvalidInput, entry.spec.id, input.clone());
            assert_eq!(failure.message, "input: must be a JSON object", "{} {input}", entry.spec.id);
        }
    }
}

#[test]
fn a_long_unknown_name_or_value_is_not_repeated_in_full() {
    let library = Library::new();
    let long = "x".repeat(70_000);
    for (operation, input) in [
        ("status", json!({ long.as_str(): 1 })),
        ("list_conflicts", json!({ "status": long })),
        ("get_intent", json!({ "id": long })),
        ("list_agents", json!({ "all": long })),
    ] {
        let failure = library.refusal(Code::InvalidInput, operation, input);
        assert!(failure.message.len() < 4_000, "{operation}: {} bytes", failure.message.len());
    }
}

#[test]
fn what_may_be_left_out_may_also_be_null() {
    let library = Library::new();
    let agent = library.data("register_agent", json!({ "name": "a", "model": null, "worktree": null }));
    assert!(agent.get("model").is_none());
    let mut input = publishing(agent["id"].as_str().unwrap(), &[]);
    input["rationale"] = Value::Null;
    input["metadata"] = Value::Null;
    let published = library.data("publish_intent", input);
    assert!(published["intent"].get("rationale").is_none());
    assert_eq!(published["intent"]["metadata"], json!({}));
    library.data("get_intent", json!({ "id": published["intent"]["id"], "agent_id": null }));
    library.data("list_agents", json!({ "limit": null, "cursor": null }));
}

#[test]
fn text_that_no_argument_can_hold_is_kept_as_given() {
    let library = Library::new();
    let odd = "a\0b\u{ffff}\u{fdd0}\u{1}";
    let agent = library.data("register_agent", json!({ "name": odd, "model": odd, "capabilities": [odd] }));
    assert_eq!(
        (&agent["name"], &agent["model"], &agent["capabilities"]),
        (&json!(odd), &json!(odd), &json!([odd]))
    );
    let id = agent["id"].as_str().unwrap();
    let mut input = publishing(id, &[&format!("symbol:{odd}=replace"), &format!("file:{odd}/x=add")]);
    input["summary"] = json!(odd);
    input["metadata"] = json!({ odd: odd });
    let published = library.data("publish_intent", input);
    let intent = library.data("get_intent", json!({ "id": published["intent"]["id"] }))["intent"].take();
    assert_eq!((&intent["summary"], &intent["metadata"]), (&json!(odd), &json!({ odd: odd })));
    assert_eq!(intent["scopes"][0]["key"], odd);
    let found = library.publish(&library.agent("b"), &[&format!("symbol:{odd}=extend")]);
    assert_eq!(found["conflicts"][0]["severity"], "HIGH");
    for path in ["/\0", "x\0y"] {
        let input = json!({ "name": "c", "worktree": path });
        library.refusal(Code::InvalidInput, "register_agent", input);
    }
    library.refusal(Code::InvalidInput, "publish_intent", publishing(id, &["file:/\0=add"]));
    assert_eq!(library.data("audit_events", json!({}))["valid"], true);
}

#[test]
fn numbers_without_bound_are_clamped_and_beyond_the_last_event_there_is_nothing() {
    let library = Library::new();
    library.agent("a");
    for after in [0, 1, u64::MAX, i64::MAX.cast_unsigned() + 1] {
        let events = library.data("list_events", json!({ "after_seq": after, "limit": u64::MAX }));
        assert_eq!(events.as_array().unwrap().len(), usize::from(after == 0), "{after}");
    }
    assert_eq!(library.data("audit_events", json!({ "page_size": u64::MAX }))["valid"], true);
    assert_eq!(library.data("audit_events", json!({ "page_size": 0 }))["events_verified"], 1);
}
