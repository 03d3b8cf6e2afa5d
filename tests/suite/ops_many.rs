//! So many conflicts that they are listed by identifier, and their pairs by intent, in blocks of pairs.

use foremerge::failure::Code;
use serde_json::{Value, json};

use crate::cli::text;
use crate::library::Library;

/// Everybody replaces the same thing: 4,278 pairs, more than a block.
const INTENTS: usize = 93;

#[test]
fn a_conflict_is_found_by_its_id_and_its_beginning_in_a_closed_block_in_the_open_one_and_after_amending() {
    let library = Library::in_memory();
    let mut intents = Vec::new();
    for number in 0..INTENTS {
        let agent = library.agent(&format!("agent-{number}"));
        let published = library.publish(&agent, &["symbol:Shared=replace"]);
        intents.push((agent, text(&published["intent"]["id"])));
    }
    let ids = conflicts(&library);
    assert_eq!(ids.len(), INTENTS * (INTENTS - 1) / 2);
    for id in ids.iter().step_by(61).chain([&ids[0], &ids[ids.len() - 1]]) {
        is_found(&library, id);
    }

    // Whether the pairs of an intent lie in one block or in both, each other intent is met.
    for (_, intent) in intents.iter().step_by(23) {
        let found = library.data("get_intent", json!({ "id": intent }));
        assert_eq!(found["open_conflicts"]["count"], INTENTS - 1, "{intent}");
    }

    // Pairs of the closed block meet in something new.
    let scopes = json!([{ "kind": "symbol", "key": "Other", "operation": "remove" }]);
    for (agent, intent) in &intents[..2] {
        let input = json!({ "agent_id": agent, "id": intent, "scopes": scopes });
        library.data("amend_intent", input);
    }
    let new: Vec<_> = conflicts(&library).into_iter().filter(|id| !ids.contains(id)).collect();
    assert_eq!(new.len(), 1, "{new:?}");
    is_found(&library, &new[0]);
    let unknown = json!({ "id": format!("cfl_{}", "0".repeat(32)) });
    library.refusal(Code::NotFound, "get_conflict", unknown);
}

fn is_found(library: &Library, id: &str) {
    for reference in [id, &id[..16]] {
        let found = library.data("get_conflict", json!({ "id": reference }));
        assert_eq!(found["id"], id, "{reference}: {found:.300}");
    }
}

/// The ids of all conflicts, newest first.
fn conflicts(library: &Library) -> Vec<String> {
    let (mut found, mut input) = (Vec::new(), json!({ "limit": 500 }));
    loop {
        let answer = library.call("list_conflicts", input.clone()).unwrap();
        let page: Value = answer.to_json().unwrap();
        found.extend(page.as_array().unwrap().iter().map(|conflict| text(&conflict["id"])));
        let Some(next) = answer.page().and_then(|page| page.next) else { return found };
        input["cursor"] = json!(next);
    }
}
