//! What is read back: intents, the history, the overview, and who was heard of when.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::{self, string, text, texts};
use crate::library::Library;
use crate::sandbox::Sandbox;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

#[test]
fn the_earlier_publisher_sees_the_conflict_that_came_later() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    let first = text(&cli.publish(&one, &["symbol:X=replace"])["intent"]["id"]);
    let before = cli.data(["intent", "show", &first]);
    assert_eq!(before["open_conflicts"], json!({ "count": 0, "ids": [], "as_of_event": 3 }));
    assert_eq!((&before["agent"]["id"], &before["agent"]["name"]), (&json!(one), &json!("one")));
    let found = text(&cli.publish(&other, &["symbol:X=extend"])["conflicts"][0]["id"]);
    let newer = text(&cli.publish(&other, &["symbol:X=modify"])["conflicts"][0]["id"]);
    let after = cli.data(["intent", "show", &first]);
    assert_eq!(after["open_conflicts"], json!({ "count": 2, "ids": [newer, found], "as_of_event": 7 }));
}

#[test]
fn the_history_is_one_chain_in_order_of_arrival() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    let first = text(&cli.publish(&one, &["symbol:X=replace"])["intent"]["id"]);
    let published = cli.publish(&other, &["symbol:x=extend"]);
    let (second, found) = (text(&published["intent"]["id"]), &published["conflicts"][0]);
    let events = cli.data(["events", "list"]);
    let events = events.as_array().unwrap();
    let told: Vec<_> = events
        .iter()
        .map(|event| ["event_type", "entity_type", "entity_id", "agent_id"].map(|field| text(&event[field])))
        .collect();
    let line = |words: [&str; 4]| words.map(str::to_owned);
    assert_eq!(
        told,
        [
            line(["agent.registered", "Agent", &one, &one]),
            line(["agent.registered", "Agent", &other, &other]),
            line(["intent.published", "Intent", &first, &one]),
            line(["intent.published", "Intent", &second, &other]),
            line(["conflict.detected", "Intent", &second, &other]),
        ]
    );
    let mut previous = json!("GENESIS");
    for (place, event) in events.iter().enumerate() {
        assert_eq!((&event["seq"], &event["prev_hash"]), (&json!(place + 1), &previous));
        previous = event["event_hash"].clone();
    }
    assert_eq!(events[0]["payload"]["worktree"], json!(root));
    assert_eq!(events[2]["payload"]["task"], "t");
    let [sighting] = &events[4]["payload"]["conflicts"].as_array().unwrap()[..] else { panic!("{events:?}") };
    assert_eq!(sighting["conflict_id"], found["id"]);
    assert!(text(&sighting["detection_id"]).starts_with("dtn_"));
    assert_eq!((&sighting["severity"], &sighting["with_intent_id"]), (&json!("HIGH"), &json!(first)));
    assert_eq!(events[4]["cause"], events[3]["event_id"]);
    let audit = cli.data(["events", "audit", "--page-size", "2"]);
    let expected = json!({ "valid": true, "events_verified": 5, "last_seq": 5, "head_hash": previous });
    assert_eq!(audit, expected);
}

#[test]
fn a_page_of_the_history_says_how_it_goes_on() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    for name in ["a", "b", "c"] {
        cli.agent(name);
    }
    let page = |words: &[&str]| cli.envelope([&["events", "list"], words].concat());
    let seqs = |page: &Value| -> Vec<u64> {
        page["data"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect()
    };
    let first = page(&["--limit", "2"]);
    assert_eq!((seqs(&first), &first["page"]), (vec![1, 2], &json!({ "next": "2", "total": 3 })));
    for (words, expected) in [
        (&["--after-seq", "2", "--limit", "1"][..], vec![3]),
        (&["--after-seq", "3"], vec![]),
        (&["--after-seq", "18446744073709551615"], vec![]),
        (&["--limit", "3"], vec![1, 2, 3]),
    ] {
        let page = page(words);
        assert_eq!((seqs(&page), page.get("page")), (expected, None), "{words:?}");
    }
    assert!(
        cli.shown(["events", "list", "--limit", "2"]).contains("2 of 3 shown; the rest: --after-seq 2\n")
    );
}

#[test]
fn an_empty_history_is_valid_and_a_damaged_one_is_named_and_fails() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    assert_eq!(cli.data(["events", "audit"]), json!({ "valid": true, "events_verified": 0, "last_seq": 0 }));
    assert_eq!(cli.data(["events", "list"]), json!([]));
    for name in ["a", "b", "c"] {
        cli.agent(name);
    }
    let ledger = rusqlite::Connection::open(root.join(".git/foremerge/state.sqlite3")).unwrap();
    let protection: String = ledger
        .query_row("SELECT sql FROM sqlite_schema WHERE name = 'event_is_final'", [], |row| row.get(0))
        .unwrap();
    let forge =
        "DROP TRIGGER event_is_final; UPDATE event SET shared = replace(shared, 'b', 'x') WHERE seq = 2";
    ledger.execute_batch(&format!("{forge}; {protection}")).unwrap();
    drop(ledger);
    let ran = cli.run(["events", "audit", "--json"]);
    let data = &ran.envelope()["data"];
    assert_eq!((ran.status, &data["valid"], &data["first_bad_seq"]), (6, &json!(false), &json!(2)), "{data}");
    assert_eq!((&data["events_verified"], &data["last_seq"]), (&json!(1), &json!(1)));
    let shown = cli.run(["events", "audit"]);
    assert_eq!((shown.status, shown.stdout.starts_with("BAD at event 2: ")), (6, true), "{shown:?}");
}

#[test]
fn the_overview_counts_everything_and_names_both_parties() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let empty = cli.data(["status"]);
    let none = json!({
        "agents": [], "intents": [], "claims": [], "conflicts": [], "waiting": [], "changesets": [],
        "counts": { "agents": 0, "claims": 0, "conflicts": 0, "waiting": 0 }, "as_of_event": 0,
    });
    assert_eq!(empty, none);
    let (one, other) = (cli.agent("one"), cli.agent("other"));
    let first = cli.publish(&one, &["symbol:X=replace", "env:KEY=add"]);
    let second = cli.publish(&other, &["symbol:X=extend"]);
    let status = cli.data(["status"]);
    assert_eq!(status["counts"], json!({ "agents": 2, "claims": 0, "conflicts": 1, "waiting": 0 }));
    assert_eq!(status["as_of_event"], 5);
    let names: Vec<_> =
        status["agents"].as_array().unwrap().iter().map(|agent| text(&agent["name"])).collect();
    assert_eq!(names, ["one", "other"], "oldest first");
    let [group] = &status["intents"].as_array().unwrap()[..] else { panic!("{status}") };
    assert_eq!((&group["status"], &group["count"]), (&json!("INTENT"), &json!(2)));
    assert_eq!(group["intents"][0]["id"], first["intent"]["id"]);
    assert_eq!(group["intents"][1]["agent_name"], "other");
    let conflict = &status["conflicts"][0];
    assert_eq!(conflict["id"], second["conflicts"][0]["id"]);
    let parties = texts(&json!([conflict["source_agent_name"], conflict["target_agent_name"]]));
    assert!(parties.contains(&"one".to_owned()) && parties.contains(&"other".to_owned()));
    let scopes =
        [&conflict["source_scopes"], &conflict["target_scopes"]].map(|s| s.as_array().unwrap().len());
    let mut sorted = scopes;
    sorted.sort_unstable();
    assert_eq!(sorted, [1, 2], "{conflict}");
}

fn seen(library: &Library, agent: &str) -> (String, bool) {
    let status = library.data("status", json!({}));
    let rows = status["agents"].as_array().unwrap();
    let row = rows.iter().find(|row| row["id"] == agent).unwrap();
    (text(&row["last_seen_at"]), row["stale"].as_bool().unwrap())
}

#[test]
fn stranded_work_says_since_when_its_owner_is_silent() {
    let library = Library::new();
    let quiet = library.agent("quiet");
    library.publish(&quiet, &["symbol:X=replace"]);
    library.world.pass(5 * HOUR);
    library.data(
        "coordinate_with_agent",
        json!({
            "from_agent_id": quiet, "to_agent_id": library.agent("other"), "message": "I am still at it.",
        }),
    );
    library.world.pass(2 * HOUR);
    let screen = library.screen("status", json!({}), 80);
    assert!(screen.contains("  quiet  stranded: its owner is silent  2 h ago\n"), "{screen}");
    assert!(screen.contains("  silent 2 h ago"), "{screen}");
}

#[test]
fn two_hours_of_silence_make_an_agent_stale_and_its_work_stranded() {
    let library = Library::new();
    let (quiet, busy) = (library.agent("quiet"), library.agent("busy"));
    library.publish(&quiet, &["symbol:X=replace"]);
    library.world.pass(2 * HOUR - 1);
    assert!(!seen(&library, &quiet).1, "not a moment earlier");
    let found = library.publish(&busy, &["symbol:Y=add"]);
    assert_eq!(found["related_work"], json!([]));
    library.world.pass(1);
    assert!(seen(&library, &quiet).1);
    assert!(!seen(&library, &busy).1, "publishing is a sign of life");
    let status = library.data("status", json!({}));
    let stranded: Vec<_> = status["intents"][0]["intents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|intent| (text(&intent["agent_name"]), intent["stranded"].as_bool().unwrap()))
        .collect();
    assert_eq!(stranded, [("quiet".to_owned(), true), ("busy".to_owned(), false)]);
    let found = library.publish(&busy, &["symbol:X=remove"]);
    assert_eq!(found["related_work"][0]["owner_stopped_since"], "2026-08-15T12:00:00Z");
    assert_eq!(found["conflicts"][0]["severity"], "HIGH", "a certain collision is recorded all the same");
}

#[test]
fn related_work_lists_the_living_first_then_the_certain_then_the_many() {
    let library = Library::new();
    let [gone, one, two] = ["gone", "one", "two"].map(|name| library.agent(name));
    library.publish(&gone, &["symbol:A=replace", "symbol:B=replace", "symbol:C=replace"]);
    library.world.pass(2 * HOUR);
    library.publish(&one, &["symbol:A=add"]);
    library.publish(&two, &["symbol:A=add", "symbol:B=add"]);
    let found = library.publish(&library.agent("late"), &["symbol:A=add", "symbol:B=add", "symbol:C=add"]);
    let agents: Vec<_> =
        found["related_work"].as_array().unwrap().iter().map(|work| text(&work["agent"])).collect();
    assert_eq!(agents, ["two", "one", "gone"]);
}

#[test]
fn looking_is_noted_at_most_once_a_minute_and_only_when_the_looker_says_who_it_is() {
    let library = Library::new();
    let agent = library.agent("a");
    let intent = text(&library.publish(&agent, &[])["intent"]["id"]);
    let start = library.now();
    let look = |named: bool| {
        let mut input = json!({ "id": intent });
        if named {
            input["agent_id"] = json!(agent);
        }
        library.data("get_intent", input);
    };
    let at = |minutes: u64| {
        let moment =
            start.as_millis() + i64::try_from(Duration::from_secs(60 * minutes).as_millis()).unwrap();
        foremerge::domain::Timestamp::from_millis(moment).to_string()
    };
    library.world.pass(MINUTE - 1);
    look(true);
    assert_eq!(seen(&library, &agent).0, at(0), "within the minute nothing is written");
    library.world.pass(1);
    look(false);
    assert_eq!(seen(&library, &agent).0, at(0), "nobody said who looked");
    look(true);
    assert_eq!(seen(&library, &agent).0, at(1));
    library.world.pass(10 * HOUR);
    assert!(seen(&library, &agent).1);
    look(true);
    assert_eq!(seen(&library, &agent), (at(601), false));
    assert_eq!(library.data("status", json!({}))["as_of_event"], 2, "presence is no history");
}

#[test]
fn looking_works_where_nothing_can_be_written() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("r");
    let cli = cli::initialized(&root);
    let agent = cli.agent("a");
    let intent = text(&cli.publish(&agent, &[])["intent"]["id"]);
    // Whoever cannot take the turnstile cannot write; this holds for root, too.
    let turnstile = root.join(".git/foremerge/turnstile");
    std::fs::remove_file(&turnstile).unwrap();
    std::fs::create_dir(&turnstile).unwrap();
    cli.data(["intent", "show", &intent, "--agent", &agent]);
    cli.data(["status"]);
    let message = cli.refusal("LEDGER_READONLY", ["agent", "register", "--name", "b"]);
    assert!(message.contains(string(&root)), "{message}");
}

#[test]
fn an_unknown_asker_is_not_found() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent("a");
    let intent = text(&cli.publish(&agent, &[])["intent"]["id"]);
    cli.refusal("NOT_FOUND", ["intent", "show", &intent, "--agent", "agt_00000000"]);
    cli.with("FOREMERGE_AGENT", "agt_00000000").refusal("NOT_FOUND", ["intent", "show", &intent]);
    cli.refusal("INVALID_INPUT", ["intent", "show", &intent, "--agent", &intent]);
}
