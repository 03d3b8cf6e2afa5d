//! Names and types of everything that is answered, against the published shapes. Unlisted fields are refused too, so
//! that a new one is added on purpose.

use serde_json::{Value, json};

use crate::cli::{self, Cli, text};
use crate::sandbox::{Sandbox, git};

/// Holds `value` against `shape`: an object of shapes (`name?` may be absent but never null), a list of one shape, or a
/// word: `text`, `int`, `number`, `bool`, `time`, `object`, an id prefix such as `agt_`, or `A|B` for one of these.
fn fits(value: &Value, shape: &Value, at: &str) {
    match shape {
        Value::Object(fields) => {
            let object = value.as_object().unwrap_or_else(|| panic!("{at}: no object: {value}"));
            for (name, inner) in fields {
                let plain = name.trim_end_matches('?');
                match object.get(plain) {
                    Some(found) => fits(found, inner, &format!("{at}.{plain}")),
                    None => assert!(name.ends_with('?'), "{at} lacks {name}: {value}"),
                }
            }
            for name in object.keys() {
                let listed = fields.keys().any(|known| known.trim_end_matches('?') == name);
                assert!(listed, "{at} has an unlisted {name}: {value}");
            }
        }
        Value::Array(items) => {
            let list = value.as_array().unwrap_or_else(|| panic!("{at}: no list: {value}"));
            for (place, item) in list.iter().enumerate() {
                fits(item, &items[0], &format!("{at}[{place}]"));
            }
        }
        Value::String(word) => assert!(is_a(value, word), "{at} is no {word}: {value}"),
        _ => unreachable!("not a shape: {shape}"),
    }
}

fn is_a(value: &Value, word: &str) -> bool {
    let text = value.as_str();
    match word {
        "text" => text.is_some(),
        "int" => value.is_u64(),
        "number" => value.is_f64(),
        "bool" => value.is_boolean(),
        "object" => value.is_object(),
        "time" => text.is_some_and(|text| text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()),
        "hash" => text.is_some_and(|text| text.strip_prefix("sha256:").is_some_and(|hex| is_hex(hex, 64))),
        _ if word.ends_with('_') => {
            text.is_some_and(|text| text.strip_prefix(word).is_some_and(|hex| is_hex(hex, 32)))
        }
        _ => text.is_some_and(|text| word.split('|').any(|one| one == text)),
    }
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

const OPERATIONS: &str = "add|extend|modify|replace|remove|rename|migrate";
const KINDS: &str = "symbol|api|schema|config|infra|test|migration|env|file|component|contract|domain";
const CONFLICT_KINDS: &str = "destructive_vs_additive|divergent_rewrite|shared_contract";
const LIFECYCLE: &str = "INTENT|CLAIMED|IN_PROGRESS|PROVISIONAL|VALIDATED|ACCEPTED|COMMITTED|DISCARDED";

fn scope() -> Value {
    json!({ "kind": KINDS, "key": "text" })
}

fn agent() -> Value {
    json!({
        "id": "agt_", "name": "text", "model?": "text", "capabilities": ["text"], "worktree?": "text",
        "git_branch?": "text", "git_head?": "text", "status": "ACTIVE|RETIRED", "registered_at": "time",
    })
}

fn intent() -> Value {
    json!({
        "id": "int_", "agent_id": "agt_", "task_id": "tsk_", "task": "text", "summary": "text", "rationale?": "text",
        "scopes": [{ "kind": KINDS, "key": "text", "operation": OPERATIONS }], "depends_on": ["int_"],
        "metadata": "object", "status": LIFECYCLE, "created_at": "time", "updated_at": "time",
    })
}

fn conflict() -> Value {
    json!({
        "id": "cfl_", "kind": CONFLICT_KINDS, "severity": "HIGH|MEDIUM|LOW", "score": "number",
        "source_intent_id": "int_", "target_intent_id": "int_", "scope": scope(), "explanation": "text",
        "suggestion": "text", "status": "OPEN|COORDINATING|RESOLVED|OVERRIDDEN|DISMISSED", "detected_at": "time",
        "evidence": {
            "rule": "FM-C001|FM-C002|FM-C003", "asserted": "bool", "overlap": "text",
            "source_operation": OPERATIONS, "target_operation": OPERATIONS, "source_scope": scope(),
            "target_scope": scope(), "source_operation_inferred": "bool", "target_operation_inferred": "bool",
            "detected_before_code": "bool",
        },
    })
}

fn detection() -> Value {
    let conflict = conflict();
    let mut shape = json!({
        "id": "dtn_", "conflict_id": "cfl_", "previously_settled": "bool", "event_id": "evt_", "seq": "int",
    });
    for field in ["severity", "score", "scope", "explanation", "suggestion", "evidence", "detected_at"] {
        shape[field] = conflict[field].clone();
    }
    shape
}

fn open_conflicts() -> Value {
    json!({ "count": "int", "ids": ["cfl_"], "as_of_event": "int", "cut?": { "ids": "int" } })
}

fn published() -> Value {
    let overlap = json!({
        "scope": scope(), "your_operation": OPERATIONS, "their_operation": OPERATIONS, "interaction": CONFLICT_KINDS,
        "asserted": "bool",
    });
    json!({
        "intent": intent(), "conflicts": [conflict()], "assessment_required": "bool", "next?": "text",
        "warnings?": ["text"], "omitted?": "int", "cut?": { "conflicts?": "int", "related_work?": "int" },
        "related_work": [{
            "intent_id": "int_", "agent_id": "agt_", "agent": "text", "task": "text", "summary": "text",
            "status": LIFECYCLE, "overlap": [overlap], "overlap_count": "int", "asserted": "bool",
            "owner_stopped_since?": "time", "cut?": { "overlap": "int" },
        }],
    })
}

fn event() -> Value {
    json!({
        "seq": "int", "event_id": "evt_", "event_type": "agent.registered|intent.published|conflict.detected",
        "entity_type": "Agent|Intent", "entity_id": "text", "agent_id?": "agt_", "payload": "object",
        "created_at": "time", "prev_hash": "text", "event_hash": "hash", "replica": "rep_", "number": "int",
        "lamport": "int", "replica_hash": "hash", "cause?": "evt_", "effective": "bool",
    })
}

fn status() -> Value {
    json!({
        "agents": [{
            "id": "agt_", "name": "text", "model?": "text", "worktree?": "text", "last_seen_at": "time",
            "stale": "bool",
        }],
        "intents": [{
            "status": LIFECYCLE, "count": "int", "cut?": { "intents": "int" },
            "intents": [{
                "id": "int_", "agent_id": "agt_", "agent_name": "text", "summary": "text", "stranded": "bool",
                "created_at": "time",
            }],
        }],
        "claims": ["object"], "changesets": ["object"], "as_of_event": "int",
        "conflicts": [{
            "id": "cfl_", "kind": CONFLICT_KINDS, "severity": "HIGH|MEDIUM|LOW", "status": "OPEN|COORDINATING",
            "scope": scope(), "source_intent_id": "int_", "source_agent_name": "text", "source_scopes": [scope()],
            "target_intent_id": "int_", "target_agent_name": "text", "target_scopes": [scope()],
            "explanation": "text", "detected_at": "time", "cut?": { "source_scopes?": "int", "target_scopes?": "int" },
        }],
        "waiting": [{
            "intent_id": "int_", "agent_name": "text", "for_intent_id": "int_", "for_agent_name?": "text",
            "for_status?": LIFECYCLE, "since": "time",
        }],
        "counts": { "agents": "int", "claims": "int", "conflicts": "int", "waiting": "int" },
        "cut?": { "agents?": "int", "conflicts?": "int" },
    })
}

/// Two agents of whom the second extends what the first replaces, everything given that can be.
fn collision(cli: &Cli) -> [Value; 4] {
    let full = cli.data([
        "agent",
        "register",
        "--name",
        "stripe",
        "--model",
        "m",
        "--capability",
        "rust",
        "--capability",
        "go",
    ]);
    let bare = cli.data(["agent", "register", "--name", "paypal", "--no-worktree"]);
    let first = cli.data([
        "intent",
        "publish",
        "--agent",
        &text(&full["id"]),
        "--task",
        "payments-provider",
        "--summary",
        "Replace PaymentService with StripePaymentService",
        "--rationale",
        "Move it",
        "--metadata-json",
        r#"{"ticket": 42}"#,
        "--scope",
        "symbol:PaymentService=replace",
        "--scope",
        "domain:payments=modify",
    ]);
    let second = cli.data([
        "intent",
        "publish",
        "--agent",
        &text(&bare["id"]),
        "--task",
        "paypal",
        "--summary",
        "Extend it",
        "--depends-on",
        &text(&first["intent"]["id"]),
        "--scope",
        "symbol:PaymentService=extend",
    ]);
    [full, bare, first, second]
}

#[test]
fn every_operation_answers_the_published_shape() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::at(&root);
    let made = json!({
        "database": "text", "runtime_dir": "text", "token_file": "text", "shared_across_worktrees": "bool",
        "created": "bool", "next_step": "text",
    });
    fits(&cli.data(["init"]), &made, "init");
    let audit = json!({ "valid": "bool", "events_verified": "int", "last_seq": "int", "head_hash?": "hash" });
    fits(&cli.data(["events", "audit"]), &audit, "an empty audit");

    let [full, bare, first, second] = collision(&cli);
    fits(&full, &agent(), "agent register");
    fits(&bare, &agent(), "agent register --no-worktree");
    fits(&first, &published(), "intent publish");
    fits(&second, &published(), "intent publish");
    fits(&cli.data(["agent", "list"]), &json!([agent()]), "agent list");
    let shown = json!({
        "intent": intent(), "agent": agent(), "open_conflicts": open_conflicts(), "claims": ["object"],
        "dependencies": [{ "intent_id": "int_", "status?": LIFECYCLE, "agent_name?": "text" }],
    });
    fits(&cli.data(["intent", "show", &text(&first["intent"]["id"])]), &shown, "intent show");
    fits(&cli.data(["conflicts", "list"]), &json!([conflict()]), "conflicts list");
    let found = &second["conflicts"][0];
    assert_eq!(cli.data(["conflicts", "show", &text(&found["id"])]), *found);
    let seen = cli.data(["conflicts", "detections", &text(&found["id"])]);
    fits(&seen, &json!([detection()]), "conflicts detections");
    fits(&cli.data(["events", "list"]), &json!([event()]), "events list");
    fits(&cli.data(["events", "audit"]), &audit, "events audit");
    fits(&cli.data(["status"]), &status(), "status");
}

#[test]
fn what_was_given_comes_back_and_what_was_not_is_absent() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    let [full, bare, first, second] = collision(&cli);
    assert_eq!(full["capabilities"], json!(["rust", "go"]));
    assert_eq!((&full["model"], &full["git_branch"]), (&json!("m"), &json!("main")));
    assert_eq!(full["git_head"], json!(git(&root, &["rev-parse", "HEAD"])));
    assert_eq!(full["worktree"], json!(root));
    for absent in ["model", "worktree", "git_branch", "git_head", "warnings"] {
        assert!(bare.get(absent).is_none(), "{absent}: {bare}");
    }
    assert_eq!(bare["capabilities"], json!([]));
    let intent = &first["intent"];
    assert_eq!(intent["metadata"], json!({ "ticket": 42 }));
    assert_eq!(intent["scopes"][1], json!({ "kind": "domain", "key": "payments", "operation": "modify" }));
    assert_eq!(intent["status"], "INTENT");
    assert_eq!(second["intent"]["metadata"], json!({}));
    assert_eq!(second["intent"]["depends_on"], json!([intent["id"]]));
    for absent in ["next", "warnings", "omitted", "cut"] {
        assert!(first.get(absent).is_none(), "{absent}: {first}");
    }
}

#[test]
fn one_task_has_one_id_however_its_title_is_spelled() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("a");
    let task = |title: &str| {
        let data = cli.data(["intent", "publish", "--agent", &agent, "--task", title, "--summary", "s"]);
        (text(&data["intent"]["task_id"]), text(&data["intent"]["task"]))
    };
    let (id, title) = task("  Caf\u{e9} Stra\u{df}e ");
    assert_eq!(title, "Caf\u{e9} Stra\u{df}e");
    assert_eq!(task("cafe\u{301} STRASSE").0, id);
    assert_ne!(task("another").0, id);
}
