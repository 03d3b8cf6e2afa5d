//! The schemas every surface publishes, held against what the operations really take and answer.

use foremerge::failure::Code;
use foremerge::operations::registry;
use serde_json::{Value, json};

use crate::cli::text;
use crate::library::{Library, publishing};

/// Why `value` does not fit `schema`; knows as much of JSON Schema as the registry uses.
fn misfit(value: &Value, schema: &Value, root: &Value, at: &str) -> Option<String> {
    let Some(schema) = schema.as_object() else {
        return (schema == &json!(false)).then(|| format!("{at} may not be there"));
    };
    schema.iter().find_map(|(word, rule)| match word.as_str() {
        "$ref" => misfit(value, root.pointer(&text(rule)[1..]).expect("a definition"), root, at),
        "type" => {
            let types = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
            let fits = types.iter().any(|name| is_of(value, name.as_str().unwrap()));
            (!fits).then(|| format!("{at} is no {rule}: {value}"))
        }
        "enum" => {
            (!rule.as_array().unwrap().contains(value)).then(|| format!("{at}: {value} is not in {rule}"))
        }
        "anyOf" | "oneOf" => {
            let fits = rule.as_array().unwrap().iter().any(|one| misfit(value, one, root, at).is_none());
            (!fits).then(|| format!("{at} fits nothing of {rule}: {value}"))
        }
        "required" => {
            let names = rule.as_array().unwrap().iter().map(text);
            let object = value.as_object()?;
            names.into_iter().find(|name| !object.contains_key(name)).map(|name| format!("{at} lacks {name}"))
        }
        "properties" => {
            let known = rule.as_object().unwrap();
            value.as_object()?.iter().find_map(|(name, inner)| match known.get(name) {
                Some(schema) => misfit(inner, schema, root, &format!("{at}.{name}")),
                None => (!open(schema)).then(|| format!("{at}.{name} is not described")),
            })
        }
        "additionalProperties" if rule.is_object() => {
            let known =
                |name: &String| schema.get("properties").is_some_and(|known| known.get(name).is_some());
            let mut others = value.as_object()?.iter().filter(|(name, _)| !known(name));
            others.find_map(|(name, inner)| misfit(inner, rule, root, &format!("{at}.{name}")))
        }
        "items" => {
            let mut items = value.as_array()?.iter().enumerate();
            items.find_map(|(place, item)| misfit(item, rule, root, &format!("{at}[{place}]")))
        }
        "$schema"
        | "title"
        | "description"
        | "default"
        | "format"
        | "minimum"
        | "maximum"
        | "pattern"
        | "minLength"
        | "maxLength"
        | "$defs"
        | "additionalProperties" => None,
        _ => panic!("{at}: the check does not know {word}: {rule}"),
    })
}

fn open(schema: &serde_json::Map<String, Value>) -> bool {
    schema.get("additionalProperties").is_some_and(|rule| rule != &json!(false))
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => panic!("unknown type {name}"),
    }
}

/// Runs an operation and holds input and answer against its schemas.
fn conforming(library: &Library, operation: &str, input: Value) -> Value {
    let entry = registry::find(operation).unwrap();
    let (takes, gives) = ((entry.input_schema)().to_value(), (entry.output_schema)().to_value());
    if let Some(why) = misfit(&input, &takes, &takes, "input") {
        panic!("{operation} took what its schema refuses: {why}");
    }
    let answer = library.data(operation, input);
    if let Some(why) = misfit(&answer, &gives, &gives, "answer") {
        panic!("{operation} does not keep its schema: {why}\n{answer}");
    }
    answer
}

#[test]
fn every_operation_keeps_its_published_schemas() {
    let library = Library::new();
    let call = |operation: &str, input: Value| conforming(&library, operation, input);
    call("init", json!({}));
    call("audit_events", json!({}));
    call("status", json!({}));
    let full = json!({ "name": "a", "model": "m", "capabilities": ["rust"], "worktree": "." });
    let [one, other] =
        [full.clone(), json!({ "name": "b" })].map(|input| text(&call("register_agent", input)["id"]));
    assert!(call("register_agent", full).get("warnings").is_some());
    let mut input = publishing(&one, &["symbol:X=replace", "file:a.rs=modify"]);
    input["rationale"] = json!("because");
    input["metadata"] = json!({ "any": [1, null, { "thing": true }] });
    let first = call("publish_intent", input);
    let mut input = publishing(&other, &["symbol:X=extend"]);
    input["depends_on"] = json!([first["intent"]["id"]]);
    let second = call("publish_intent", input);
    call("publish_intent", publishing(&other, &[]));
    call("get_intent", json!({ "id": first["intent"]["id"], "agent_id": other }));
    call("get_conflict", json!({ "id": second["conflicts"][0]["id"] }));
    call("list_detections", json!({ "conflict_id": second["conflicts"][0]["id"], "limit": 1 }));
    for status in [json!("OPEN"), json!("RESOLVED"), json!(null)] {
        call("list_conflicts", json!({ "status": status, "limit": 1 }));
    }
    call("list_agents", json!({ "all": true, "limit": 1 }));
    call("list_events", json!({ "after_seq": 1, "limit": 100 }));
    call("audit_events", json!({ "page_size": 2 }));
    call("status", json!({}));
    call("get_graph", json!({ "intent_id": first["intent"]["id"], "depth": 1, "limit": 1 }));
    call("get_graph", json!({ "kinds": ["Intent"], "agent_id": one }));
    call("create_worktree", json!({ "branch": "b", "path": "../b", "base": "HEAD" }));
    call("list_worktrees", json!({}));

    let many: Vec<_> = (0..130).map(|number| format!("symbol:s{number}=replace")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    call("publish_intent", publishing(&one, &many));
    library.world.pass(3 * 60 * 60 * 1_000);
    let found = call("publish_intent", publishing(&other, &many));
    assert!(found["related_work"][0]["owner_stopped_since"].is_string() && found["cut"].is_object());
    assert!(call("get_intent", json!({ "id": found["intent"]["id"] }))["open_conflicts"]["cut"].is_object());
    assert!(call("status", json!({}))["cut"].is_object());
}

/// Some value that the schema of a field allows.
pub fn sample(schema: &Value) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    let types = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
    match (types[0].as_str(), schema["pattern"].as_str()) {
        (Some("string"), Some(pattern)) => {
            json!(format!(
                "{}00000000",
                pattern.trim_start_matches('^').split('_').next().unwrap().to_owned() + "_"
            ))
        }
        (Some("array"), _) => json!([]),
        (Some("object"), _) => {
            let fields = schema["properties"].as_object().unwrap();
            Value::Object(fields.iter().map(|(name, field)| (name.clone(), sample(field))).collect())
        }
        (Some("boolean"), _) => json!(true),
        (Some("integer"), _) => json!(1),
        _ => json!("x"),
    }
}

#[test]
fn what_a_schema_does_not_describe_is_refused() {
    let library = Library::new();
    for entry in registry::ALL {
        let schema = (entry.input_schema)().to_value();
        assert_eq!(schema["additionalProperties"], false, "{}", entry.spec.id);
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for name in required.iter().map(text) {
            let others = required.iter().map(text).filter(|other| *other != name);
            let input: serde_json::Map<_, _> =
                others.map(|field| (field.clone(), sample(&schema["properties"][&field]))).collect();
            let input = Value::Object(input);
            let failure = library.refusal(Code::InvalidInput, entry.spec.id, input);
            assert!(
                failure.message.contains(&format!("missing field `{name}`")),
                "{}: {failure}",
                entry.spec.id
            );
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let described = property["description"].as_str().is_some_and(|text| !text.is_empty());
            assert!(described, "{}: {name} has no description", entry.spec.id);
        }
    }
}
