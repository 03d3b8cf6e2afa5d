//! The graph: what is in it, that every page of it stands on its own, and that nothing in it is taken for
//! a part of a drawing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use foremerge::domain::graph::{EdgeKind, NodeKind};
use foremerge::failure::Code;
use serde_json::{Value, json};

use crate::cli::{self, text};
use crate::library::{Library, publishing};
use crate::sandbox::Sandbox;

const MINUTE: i64 = 60_000;

/// Two agents whose work collides and is settled, a third that does nothing, and all that can be drawn.
struct Story {
    library: Library,
    agents: [String; 3],
    base: String,
    built: String,
    conflict: String,
}

impl Story {
    fn new() -> Self {
        let library = Library::new();
        let agents = ["one", "other", "idle"].map(|name| library.agent(name));
        library.world.pass(MINUTE);
        let first =
            library.publish(&agents[0], &[r"symbol:App\Pay::charge=replace", "file:src/pay.rs=modify"]);
        let base = text(&first["intent"]["id"]);
        library.world.pass(MINUTE);
        let mut input = publishing(&agents[1], &["symbol:app.pay::charge=extend"]);
        input["depends_on"] = json!([base]);
        let second = library.data("publish_intent", input);
        let built = text(&second["intent"]["id"]);
        let conflict = text(&second["conflicts"][0]["id"]);
        let scopes = json!([{ "kind": "symbol", "key": "Pay::charge" }]);
        library.data("claim_work", json!({ "agent_id": agents[0], "intent_id": base, "scopes": scopes }));
        library.data(
            "record_assessment",
            json!({
                "agent_id": agents[1], "intent_id": built, "related_intent_id": base,
                "verdict": "depends_on", "rationale": "r", "action": "waiting",
            }),
        );
        library.data(
            "resolve_conflict",
            json!({ "conflict_id": conflict, "agent_id": agents[0], "resolution": "first one, then other", "rationale": "r" }),
        );
        Self { library, agents, base, built, conflict }
    }

    fn graph(&self, input: Value) -> Value {
        let graph = self.library.data("get_graph", input);
        whole(&graph);
        graph
    }
}

fn list<'v>(graph: &'v Value, field: &str) -> &'v [Value] {
    graph[field].as_array().unwrap()
}

/// Every node and edge stands once, and every edge between nodes of the graph.
#[track_caller]
fn whole(graph: &Value) {
    let nodes: BTreeSet<_> = list(graph, "nodes").iter().map(|node| text(&node["id"])).collect();
    assert_eq!(nodes.len(), list(graph, "nodes").len(), "a node stands twice");
    let edges: BTreeSet<_> = list(graph, "edges").iter().map(|edge| text(&edge["id"])).collect();
    assert_eq!(edges.len(), list(graph, "edges").len(), "an edge stands twice");
    for edge in list(graph, "edges") {
        for end in ["from", "to"] {
            assert!(nodes.contains(edge[end].as_str().unwrap()), "{end} of {edge} is nowhere");
        }
    }
}

fn kinds(graph: &Value) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for node in list(graph, "nodes") {
        *kinds.entry(text(&node["kind"])).or_default() += 1;
    }
    kinds
}

fn node<'v>(graph: &'v Value, kind: &str, key: &str) -> &'v Value {
    let found = list(graph, "nodes").iter().find(|node| node["kind"] == kind && node["key"] == key);
    found.unwrap_or_else(|| panic!("no {kind} {key} in {graph:#}"))
}

/// Edges of a kind, as the keys of their ends.
fn ends(graph: &Value, kind: &str) -> Vec<(String, String)> {
    let key = |id: &Value| {
        let node = list(graph, "nodes").iter().find(|node| node["id"] == *id).unwrap();
        text(&node["key"])
    };
    let edges = list(graph, "edges").iter().filter(|edge| edge["kind"] == kind);
    let mut ends: Vec<_> = edges.map(|edge| (key(&edge["from"]), key(&edge["to"]))).collect();
    ends.sort();
    ends
}

fn sorted<const N: usize>(mut ends: [(&str, &str); N]) -> Vec<(String, String)> {
    ends.sort_unstable();
    ends.map(|(from, to)| (from.to_owned(), to.to_owned())).to_vec()
}

#[test]
fn every_kind_of_node_and_edge_is_drawn_and_explained() {
    let story = Story::new();
    let graph = story.graph(json!({}));
    let drawn =
        |field: &str| list(&graph, field).iter().map(|one| text(&one["kind"])).collect::<BTreeSet<_>>();
    assert_eq!(drawn("nodes"), NodeKind::ALL.iter().map(ToString::to_string).collect());
    assert_eq!(drawn("edges"), EdgeKind::ALL.iter().map(ToString::to_string).collect());
    let guide = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/graph.md")).unwrap();
    for kind in drawn("nodes").union(&drawn("edges")) {
        assert!(guide.contains(&format!("| `{kind}` |")), "docs/graph.md does not explain {kind}");
    }
}

#[test]
fn edges_lead_from_who_to_what() {
    let story = Story::new();
    let graph = story.graph(json!({}));
    let ([one, other, _], base, built) = (&story.agents, story.base.as_str(), story.built.as_str());
    let conflict = story.conflict.as_str();
    let kinds = kinds(&graph);
    let several: Vec<_> =
        kinds.iter().filter(|(_, count)| **count > 1).map(|(kind, count)| (kind.as_str(), *count)).collect();
    assert_eq!(several, [("Agent", 3), ("Intent", 2)], "a symbol is one, whatever its namespace");
    let task = text(&list(&graph, "nodes").iter().find(|node| node["kind"] == "Task").unwrap()["key"]);
    let claim = text(&list(&graph, "nodes").iter().find(|node| node["kind"] == "Claim").unwrap()["key"]);
    let decision =
        text(&list(&graph, "nodes").iter().find(|node| node["kind"] == "Decision").unwrap()["key"]);
    let detection =
        text(&list(&graph, "nodes").iter().find(|node| node["kind"] == "ConflictDetection").unwrap()["key"]);
    assert!(task.starts_with("tsk_") && claim.starts_with("clm_") && decision.starts_with("dec_"));
    let (symbol, file) = ("symbol:pay::charge", "file:src/pay.rs");
    let expected = [
        ("WORKS_ON", sorted([(one, &task), (other, &task)])),
        ("HAS_INTENT", sorted([(&task, base), (&task, built)])),
        ("MAKES_CLAIM", sorted([(base, &claim)])),
        ("CLAIMS", sorted([(base, symbol), (base, file), (built, symbol), (&claim, symbol)])),
        ("DEPENDS_ON", sorted([(built, base)])),
        ("AFFECTS_DEPENDENCY", sorted([(base, base)])),
        ("ASSESSED", sorted([(built, base)])),
        ("HAS_CONFLICT", sorted([(base, conflict), (built, conflict)])),
        ("CONFLICTS_WITH", sorted([(base.min(built), base.max(built))])),
        ("OCCURRENCE_OF", sorted([(&detection, conflict)])),
        ("RECORDS_DECISION", sorted([(one, &decision)])),
        ("RESOLVED_BY", sorted([(conflict, &decision)])),
    ];
    for (kind, expected) in expected {
        assert_eq!(ends(&graph, kind), expected, "{kind}");
    }
    let recorded = story.library.data("get_conflict", json!({ "id": conflict }));
    assert_eq!(recorded["decision"]["id"], json!(decision));
    let history = story.library.data("list_events", json!({}));
    let detected = list(&history_of(&history), "events")
        .iter()
        .find(|event| event["event_type"] == "conflict.detected")
        .unwrap()
        .clone();
    assert_eq!(detected["payload"]["conflicts"][0]["detection_id"], json!(detection));
}

fn history_of(events: &Value) -> Value {
    json!({ "events": events })
}

#[test]
fn a_node_is_the_short_form_of_its_entity() {
    let story = Story::new();
    let graph = story.graph(json!({}));
    let intent = node(&graph, "Intent", &story.base);
    assert_eq!((&intent["id"], &intent["label"]), (&json!(story.base), &json!("s")));
    assert_eq!(
        (&intent["data"]["status"], &intent["data"]["agent_id"]),
        (&json!("CLAIMED"), &json!(story.agents[0]))
    );
    let conflict = node(&graph, "Conflict", &story.conflict);
    assert_eq!(
        (&conflict["data"]["status"], &conflict["data"]["kind"]),
        (&json!("RESOLVED"), &json!("destructive_vs_additive"))
    );
    assert_eq!(
        node(&graph, "Symbol", "symbol:pay::charge")["created_at"],
        intent["created_at"],
        "the oldest that has it"
    );
    assert_eq!(node(&graph, "Agent", &story.agents[2])["label"], "idle");
    let claims: Vec<_> = list(&graph, "edges")
        .iter()
        .filter(|edge| edge["kind"] == "CLAIMS" && edge["from"] == story.built.as_str())
        .collect();
    assert_eq!(claims[0]["data"], json!({ "operation": "extend" }));
    story.library.world.pass(60 * MINUTE);
    let later = story.graph(json!({}));
    let claim = list(&later, "nodes").iter().find(|node| node["kind"] == "Claim").unwrap();
    assert_eq!(claim["data"]["status"], "EXPIRED");
    let ids = |graph: &Value| {
        ["nodes", "edges"]
            .map(|field| list(graph, field).iter().map(|one| text(&one["id"])).collect::<Vec<_>>())
    };
    assert_eq!(ids(&later), ids(&graph), "ids are the same in every answer");
}

#[test]
fn an_empty_ledger_and_agents_without_work_can_be_drawn() {
    let library = Library::new();
    assert_eq!(library.data("get_graph", json!({})), json!({ "nodes": [], "edges": [] }));
    library.agent("a");
    let graph = library.data("get_graph", json!({}));
    assert_eq!((kinds(&graph), list(&graph, "edges").len()), (BTreeMap::from([("Agent".to_owned(), 1)]), 0));
}

/// Everything of all pages by id, each page whole.
fn pages(library: &Library, mut input: Value) -> (BTreeMap<String, Value>, usize) {
    let (mut all, mut count) = (BTreeMap::new(), 0);
    loop {
        let answer = library.call("get_graph", input.clone()).unwrap();
        let graph = answer.to_json().unwrap();
        whole(&graph);
        count += 1;
        for one in list(&graph, "nodes").iter().chain(list(&graph, "edges")) {
            let mut one = one.clone();
            // The oldest on the page, and how many conflicts it shows: both depend on the page.
            one["created_at"] = json!(null);
            if let Some(known) = all.insert(text(&one["id"]), one.clone()) {
                assert_eq!(known, one);
            }
        }
        let Some(page) = answer.page() else { return (all, count) };
        let Some(next) = page.next else { return (all, count) };
        input["cursor"] = json!(next);
    }
}

#[test]
fn pages_put_together_are_the_whole_graph() {
    let library = Library::new();
    let agents = ["a", "b", "c", "idle"].map(|name| library.agent(name));
    let mut before: Option<String> = None;
    for number in 0..12 {
        let agent = &agents[number % 3];
        let operation = if number % 2 == 0 { "replace" } else { "extend" };
        let mut input = publishing(agent, &[&format!("symbol:S{}={operation}", number / 2)]);
        input["depends_on"] = json!(before.iter().collect::<Vec<_>>());
        before = Some(text(&library.data("publish_intent", input)["intent"]["id"]));
        if number % 4 == 3 {
            library.world.pass(MINUTE);
        }
    }
    let (whole, one) = pages(&library, json!({}));
    assert_eq!(one, 1);
    for (limit, expected) in [(1, 12), (5, 3), (12, 1)] {
        let (together, count) = pages(&library, json!({ "limit": limit }));
        assert_eq!(count, expected);
        assert_eq!(together, whole, "by {limit}");
    }
    let first = library.call("get_graph", json!({ "limit": 5 })).unwrap();
    assert_eq!(first.page().unwrap().total, 12);
    let first = first.to_json().unwrap();
    assert_eq!(first["cut"], json!({ "intents": 7 }));
    assert!(
        !list(&first, "nodes").iter().any(|node| node["key"] == agents[3].as_str()),
        "not before the last page"
    );
}

#[test]
fn near_an_intent_are_those_it_conflicts_with_or_builds_on() {
    let library = Library::new();
    let agents = ["a", "b"].map(|name| library.agent(name));
    // a chain: 0 and 1 collide, 2 builds on 1, 3 collides with 2; 4 stands apart
    let publish = |agent: usize, scopes: &[&str], on: &[&String]| {
        library.world.pass(MINUTE);
        let mut input = publishing(&agents[agent], scopes);
        input["depends_on"] = json!(on);
        text(&library.data("publish_intent", input)["intent"]["id"])
    };
    let zero = publish(0, &["symbol:A=replace"], &[]);
    let one = publish(1, &["symbol:A=extend"], &[]);
    let two = publish(0, &["symbol:B=replace"], &[&one]);
    let three = publish(1, &["symbol:B=extend"], &[]);
    let apart = publish(0, &["symbol:C=add"], &[]);
    let chain = [&three, &two, &one, &zero];
    let near = |input: Value| -> Vec<String> {
        let graph = library.data("get_graph", input);
        whole(&graph);
        // An intent of the page has its task; others stand there as ends of edges.
        ends(&graph, "HAS_INTENT").into_iter().map(|(_, intent)| intent).collect()
    };
    let set = |intents: &[&String]| {
        let mut intents: Vec<_> = intents.iter().map(|intent| (*intent).clone()).collect();
        intents.sort();
        intents
    };
    for depth in 0..=3_usize {
        assert_eq!(
            near(json!({ "intent_id": zero, "depth": depth })),
            set(&chain[3 - depth..]),
            "{depth} from the end"
        );
    }
    assert_eq!(near(json!({ "intent_id": two })), set(&[&one, &two, &three]), "one step unasked");
    assert_eq!(near(json!({ "intent_id": apart, "depth": 3 })), set(&[&apart]));
    assert_eq!(near(json!({ "intent_id": zero, "depth": 3, "agent_id": agents[1] })), set(&[&one, &three]));
    assert_eq!(near(json!({ "agent_id": agents[0] })), set(&[&zero, &two, &apart]));
    let graph = library.data("get_graph", json!({ "intent_id": zero, "depth": 0 }));
    assert_eq!(node(&graph, "Intent", &one)["label"], "s", "the other party is there");
    let (together, count) = pages(&library, json!({ "intent_id": zero, "depth": 3, "limit": 1 }));
    assert_eq!(count, 4);
    assert_eq!(together, pages(&library, json!({ "intent_id": zero, "depth": 3 })).0);
}

#[test]
fn a_filter_that_cannot_be_meant_is_refused() {
    let story = Story::new();
    let refused = |code: Code, input: Value| story.library.refusal(code, "get_graph", input).message;
    assert!(refused(Code::InvalidInput, json!({ "depth": 1 })).starts_with("depth: "));
    assert!(refused(Code::InvalidInput, json!({ "depth": 4, "intent_id": story.base })).contains("0 to 3"));
    assert!(refused(Code::InvalidInput, json!({ "kinds": ["Thing"] })).contains("ConflictDetection"));
    refused(Code::NotFound, json!({ "intent_id": "int_00000000" }));
    refused(Code::NotFound, json!({ "agent_id": "agt_00000000" }));
    refused(Code::InvalidInput, json!({ "format": "dot" }));
}

#[test]
fn only_nodes_of_the_named_kinds_are_drawn_and_edges_between_them() {
    let story = Story::new();
    let graph = story.graph(json!({ "kinds": ["intent", "CONFLICT"] }));
    assert_eq!(kinds(&graph), BTreeMap::from([("Conflict".to_owned(), 1), ("Intent".to_owned(), 2)]));
    let drawn: BTreeSet<_> = list(&graph, "edges").iter().map(|edge| text(&edge["kind"])).collect();
    assert_eq!(drawn, ["ASSESSED", "CONFLICTS_WITH", "HAS_CONFLICT"].map(str::to_owned).into());
}

#[test]
fn what_is_more_than_a_page_can_hold_is_counted() {
    let library = Library::new();
    let agents = ["a", "b"].map(|name| library.agent(name));
    let scopes: Vec<_> = (0..130).map(|number| format!("symbol:Part{number}=replace")).collect();
    let scopes: Vec<_> = scopes.iter().map(String::as_str).collect();
    for agent in [0, 1, 0, 1, 0] {
        library.publish(&agents[agent], &scopes);
    }
    let graph = library.data("get_graph", json!({}));
    whole(&graph);
    let kinds = kinds(&graph);
    assert_eq!((kinds["Conflict"], kinds["ConflictDetection"]), (500, 500));
    let all = library.call("list_conflicts", json!({})).unwrap().page().unwrap().total;
    assert_eq!(graph["cut"]["conflicts"], json!(all - 500), "{}", graph["cut"]);
    assert_eq!(graph["cut"]["scopes"], json!(5 * 30));
    let newest = library.data("get_graph", json!({ "limit": 1 }));
    assert_eq!(newest["cut"]["scopes"], json!(30));
}

/// Text that would mean something to Graphviz, Mermaid, Markdown, a browser and a terminal.
const HOSTILE: &str =
    "x\"]; evil [label=\"\\\" --> `**b**` <script>alert(1)</script> #quot; | \u{1b}[31m\u{202e}";

#[test]
fn no_label_gets_out_of_its_quotes_in_any_format() {
    let sandbox = Sandbox::new();
    let cli = cli::initialized(sandbox.repository("r"));
    let agent = cli.agent(HOSTILE);
    let scope = format!("domain:{HOSTILE}=add");
    cli.data([
        "intent",
        "publish",
        "--agent",
        &agent,
        "--task",
        HOSTILE,
        "--summary",
        HOSTILE,
        "--scope",
        &scope,
    ]);
    let graph = cli.data(["graph"]);
    let lines = list(&graph, "nodes").len() + list(&graph, "edges").len();

    let dot = cli.shown(["graph", "--format", "dot"]);
    assert_eq!(dot.lines().count(), lines + 4, "{dot}");
    for line in dot.lines().skip(3).filter(|line| *line != "}") {
        // Without what is quoted nothing of the text is left.
        let (mut outside, mut inside, mut escaped) = (String::new(), false, false);
        for c in line.chars() {
            match c {
                _ if escaped => escaped = false,
                '\\' if inside => escaped = true,
                '"' => inside = !inside,
                _ if !inside => outside.push(c),
                _ => {}
            }
        }
        assert!(
            !inside && ["   [label=];", "   ->  [label=];"].contains(&outside.as_str()),
            "{outside}: {line}"
        );
    }

    let mermaid = cli.shown(["graph", "--format", "mermaid"]);
    assert_eq!(mermaid.lines().count(), lines + 1, "{mermaid}");
    for line in mermaid.lines().skip(1).filter(|line| line.contains('[')) {
        let label = line.split_once("[\"").unwrap().1.strip_suffix("\"]").unwrap();
        assert!(!label.contains(['"', '<', '>', '`', '*', '[', ']', '|', '&']), "{line}");
    }

    let plain = cli.shown(["graph"]);
    let is_tame = |shown: &str| !shown.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}');
    assert!([&dot, &mermaid, &plain].into_iter().all(|shown| is_tame(shown)));
    assert_eq!(
        serde_json::from_str::<Value>(&plain).unwrap(),
        graph,
        "without --json it is the data, indented"
    );
    assert_eq!(cli.data(["graph", "--format", "dot"]), graph, "with --json it is an envelope in any case");
    cli.refused("INVALID_INPUT", ["graph", "--format", "png"]);
    cli.refused("INVALID_INPUT", ["graph", "--kind", "Thing"]);
}
