//! What an input takes where it was refused, read off its schema.

use serde_json::Value;

/// A place in an input, and what belongs there.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// The path to it, such as `scopes[1].kind`; empty for the whole input.
    pub field: String,
    /// The words to choose from, the names there are, or a schema.
    pub accepted: Value,
}

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'s> {
    /// Into a list.
    Item(usize),
    /// Into an object.
    Field(&'s str),
}

/// What `schema` takes at the end of `path` through `input`. A field that must be there and is not
/// counts as refused itself, one that is not known is answered with those that are.
#[must_use]
pub fn at(schema: &Value, path: &[Step<'_>], input: &Value) -> Refused {
    let (mut place, mut given, mut field) = (resolved(schema, schema), Some(input), String::new());
    for step in path {
        match step {
            Step::Item(item) => {
                field = format!("{field}[{item}]");
                given = given.and_then(|list| list.get(item));
                place = resolved(&place["items"], schema);
            }
            Step::Field(name) => {
                join(&mut field, name);
                given = given.and_then(|object| object.get(name));
                match place["properties"].get(name) {
                    Some(inner) => place = resolved(inner, schema),
                    None => return Refused { field, accepted: names(place) },
                }
            }
        }
    }
    if let Some(object) = given.and_then(Value::as_object) {
        let required = place["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.into_iter().find(|name| !object.contains_key(*name)) {
            join(&mut field, missing);
            place = resolved(&place["properties"][missing], schema);
        }
    }
    Refused { field, accepted: taken(place) }
}

fn join(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

/// The schema itself, where it stands elsewhere or may also be null.
fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    if let Some(pointer) = schema["$ref"].as_str().and_then(|pointer| pointer.strip_prefix('#')) {
        return root.pointer(pointer).unwrap_or(&Value::Null);
    }
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    match choices.into_iter().find(|choice| choice["type"] != "null") {
        Some(choice) => resolved(choice, root),
        None => schema,
    }
}

fn names(schema: &Value) -> Value {
    match schema["properties"].as_object() {
        Some(fields) if !fields.is_empty() => fields.keys().map(|name| Value::from(name.as_str())).collect(),
        _ => "no fields".into(),
    }
}

/// The words of a closed vocabulary; otherwise the schema without what is said about it.
fn taken(schema: &Value) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().filter(|word| !word.is_null()).cloned().collect();
    }
    bare(schema)
}

fn bare(schema: &Value) -> Value {
    const SAID: &[&str] = &["$schema", "$defs", "title", "description", "default"];
    match schema {
        Value::Object(rules) => {
            let rules =
                rules.iter().filter(|(rule, value)| !SAID.contains(&rule.as_str()) || value.is_object());
            rules.map(|(rule, value)| (rule.clone(), bare(value))).collect()
        }
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "$schema": "s",
            "title": "Input",
            "properties": {
                "status": { "anyOf": [{ "enum": ["OPEN", "CLOSED"] }, { "type": "null" }] },
                "limit": { "type": ["integer", "null"], "description": "how many", "minimum": 0 },
                "scopes": { "type": "array", "items": { "$ref": "#/$defs/Scope" } },
            },
            "required": ["scopes"],
            "$defs": { "Scope": { "properties": { "kind": { "enum": ["a"] }, "key": {} }, "required": ["kind"] } },
        })
    }

    #[test]
    fn what_is_accepted_is_read_off_the_schema_where_the_path_ends() {
        let answer = |path: &[Step<'_>], input: Value| {
            let Refused { field, accepted } = at(&schema(), path, &input);
            (field, accepted)
        };
        let (item, field) = (Step::Item(1), Step::Field);
        assert_eq!(answer(&[field("status")], json!({})), ("status".into(), json!(["OPEN", "CLOSED"])));
        let number = json!({ "type": ["integer", "null"], "minimum": 0 });
        assert_eq!(answer(&[field("limit")], json!({})), ("limit".into(), number));
        let path = [field("scopes"), item, field("kind")];
        assert_eq!(answer(&path, json!({})), ("scopes[1].kind".into(), json!(["a"])));
        assert_eq!(
            answer(&[field("scope")], json!({})),
            ("scope".into(), json!(["status", "limit", "scopes"]))
        );
        let given = json!({ "scopes": [{}, { "key": "k" }] });
        assert_eq!(answer(&path[..2], given), ("scopes[1].kind".into(), json!(["a"])), "it is missing");
        assert_eq!(answer(&[], json!({})).0, "scopes");
        let none = at(&json!({ "type": "object" }), &[field("x")], &json!({ "x": 1 }));
        assert_eq!(none.accepted, json!("no fields"));
    }
}
