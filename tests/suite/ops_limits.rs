//! Limits at the door, read off the schemas: no operation takes a text without a bound, what is within the bound
//! is taken, and one character more is refused by the field's name and changes nothing.

use foremerge::failure::Code;
use foremerge::operations::registry;
use serde_json::{Value, json};

use crate::cli::text;
use crate::library::Library;
use crate::ops_schema::sample;

/// Fields whose length something else bounds.
const BOUNDED_OTHERWISE: &[(&str, &str)] = &[
    ("cursor", "parsed: a number and an id"),
    ("base", "a revision: Git finds none of that name"),
    ("branch", "a branch: Git makes none of that name"),
    ("path", "a path: the operating system refuses what it cannot open"),
    ("standalone", "a path: the operating system refuses what it cannot open"),
    ("worktree", "a path: the operating system refuses what it cannot open"),
];

/// The texts of an input: path to the field, and the most characters its schema allows.
fn texts(schema: &Value, path: &[&str]) -> Vec<(Vec<String>, Option<u64>)> {
    let mut found = Vec::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let mut path: Vec<&str> = path.to_vec();
        path.push(name);
        let inner = if field["type"] == "array" { &field["items"] } else { field };
        let types = inner["type"].as_array().cloned().unwrap_or_else(|| vec![inner["type"].clone()]);
        if inner.get("properties").is_some() {
            found.extend(texts(inner, &path));
        } else if types.contains(&json!("string"))
            && inner.get("pattern").is_none()
            && inner.get("enum").is_none()
        {
            found.push((path.iter().map(ToString::to_string).collect(), inner["maxLength"].as_u64()));
        }
    }
    found
}

/// The input of an operation with `value` at `path`, and samples elsewhere.
fn input_with(schema: &Value, path: &[String], value: &str) -> Value {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut input = json!({});
    for field in required.iter().map(text).chain([path[0].clone()]) {
        input[&field] = sample(&schema["properties"][&field]);
    }
    let field = &schema["properties"][&path[0]];
    let mut place = &mut input[&path[0]];
    if field["type"] == "array" {
        *place = json!([sample(&field["items"])]);
        place = &mut place[0];
    }
    for name in &path[1..] {
        place = &mut place[name];
    }
    *place = json!(value);
    input
}

#[test]
fn every_text_has_a_bound_and_one_character_more_is_refused_by_name() {
    let library = Library::new();
    let before = library.data("list_events", json!({}));
    let mut tried = 0;
    for entry in registry::ALL {
        let schema = (entry.input_schema)().to_value();
        for (path, most) in texts(&schema, &[]) {
            let field = path.last().unwrap();
            let Some(most) = most else {
                let known = BOUNDED_OTHERWISE.iter().any(|(name, _)| name == field);
                assert!(known, "{}.{} takes a text of any length", entry.spec.id, path.join("."));
                continue;
            };
            let most = usize::try_from(most).unwrap();
            let refusal = library.refusal(
                Code::InvalidInput,
                entry.spec.id,
                input_with(&schema, &path, &"é".repeat(most + 1)),
            );
            assert!(refusal.message.contains(field.as_str()), "{}: {refusal}", entry.spec.id);
            assert!(refusal.message.contains(&most.to_string()), "{}: {refusal}", entry.spec.id);
            let fits = library.call(entry.spec.id, input_with(&schema, &path, &"é".repeat(most)));
            if let Err(failure) = fits {
                let named =
                    failure.details.get("field").is_some_and(|named| text(named).contains(field.as_str()));
                assert!(!named, "{}: {most} characters: {failure}", entry.spec.id);
            }
            tried += 1;
        }
    }
    assert!(tried >= 8, "{tried}");
    let after = library.data("list_events", json!({ "after_seq": before.as_array().unwrap().len() }));
    let registered = |event: &Value| event["event_type"] == "agent.registered";
    assert!(after.as_array().unwrap().iter().all(registered), "only a name that fits was recorded: {after}");
}

#[test]
fn the_limits_are_those_of_the_protocol() {
    let most = |operation: &str, path: &[&str]| {
        let schema = (registry::find(operation).unwrap().input_schema)().to_value();
        let found = texts(&schema, &[]).into_iter().find(|(found, _)| found == path);
        found.unwrap_or_else(|| panic!("{operation} has no {path:?}")).1
    };
    assert_eq!(most("register_agent", &["name"]), Some(200));
    assert_eq!(most("register_agent", &["capabilities"]), Some(200));
    assert_eq!(most("publish_intent", &["task"]), Some(200));
    assert_eq!(most("publish_intent", &["summary"]), Some(2_000));
    assert_eq!(most("publish_intent", &["rationale"]), Some(20_000));
    assert_eq!(most("publish_intent", &["scopes", "key"]), Some(1_000));
    assert_eq!(most("amend_intent", &["scopes", "key"]), Some(1_000));
    assert_eq!(most("claim_work", &["scopes", "key"]), Some(1_000));
    assert_eq!(most("claim_work", &["reason"]), Some(20_000));
    assert_eq!(most("discard_work", &["reason"]), Some(20_000));
}

#[test]
fn one_scope_capability_dependency_or_byte_of_metadata_too_many_is_refused_by_name() {
    let library = Library::new();
    let agent = library.agent("one");
    let publishing = |field: &str, value: Value| {
        let mut input = crate::library::publishing(&agent, &[]);
        input[field] = value;
        input
    };
    let scope = |number: usize| json!({ "kind": "domain", "key": format!("d{number}"), "operation": "add" });
    let scopes = |count: usize| json!((0..count).map(scope).collect::<Vec<_>>());
    let fits = |bytes: usize| json!({ "note": "x".repeat(bytes - r#"{"note":""}"#.len()) });
    let events = || library.data("list_events", json!({ "limit": 1000 })).as_array().unwrap().len();
    let before = events();
    for (field, value) in [
        ("scopes", scopes(1_001)),
        ("metadata", fits(64 * 1024 + 1)),
        ("depends_on", json!(vec!["int_00000000"; 1_001])),
    ] {
        let refusal = library.refusal(Code::InvalidInput, "publish_intent", publishing(field, value));
        assert!(refusal.message.contains(field), "{refusal}");
    }
    let capabilities = json!({ "name": "n", "capabilities": vec!["rust"; 101] });
    let refusal = library.refusal(Code::InvalidInput, "register_agent", capabilities);
    assert!(refusal.message.contains("100"), "{refusal}");
    assert_eq!(events(), before);
    library.data("publish_intent", publishing("scopes", scopes(1_000)));
    library.data("publish_intent", publishing("metadata", fits(64 * 1024)));
    library.data("register_agent", json!({ "name": "n", "capabilities": vec!["rust"; 100] }));
}

#[test]
fn a_refusal_does_not_repeat_all_of_a_hostile_path() {
    let library = Library::new();
    let path = "x".repeat(70_000);
    let refusal =
        library.refusal(Code::InvalidInput, "register_agent", json!({ "name": "n", "worktree": path }));
    assert!(refusal.message.len() < 6_000, "{} bytes", refusal.message.len());
}
