//! No text that anybody can store controls the terminal it is shown on.

use foremerge::operations::Screen;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cli::text;
use crate::library::Library;

/// Pieces that mean something to terminals, to layouts or to readers.
const PIECES: &[&str] = &[
    "\u{1b}[31m",
    "\u{1b}]0;title\u{7}",
    "\u{9b}2J",
    "\u{9d}",
    "\r",
    "\n",
    "\t",
    "\u{8}",
    "\u{7f}",
    "\0",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{200d}",
    "\u{feff}",
    "\u{e0041}",
    "\u{2028}",
    "\u{85}",
    "e\u{301}\u{302}",
    "漢字",
    "👨‍👩‍👧",
    "🇦🇹",
    "ﷺ",
    " ",
    "   ",
    "-",
    "foremerge",
    "word",
    "…",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(PIECES).prop_map(str::to_owned),
        any::<char>().prop_map(String::from)
    ];
    // Trimmed text must not be empty.
    prop::collection::vec(piece, 0..8).prop_map(|pieces| format!("x{}x", pieces.concat()))
}

/// What is left of a coloured screen without the looks that we gave it.
fn without_looks(screen: &str) -> Result<String, String> {
    let mut bare = String::new();
    let mut dressed = false;
    for (at, part) in screen.split('\u{1b}').enumerate() {
        let Some((codes, words)) =
            part.strip_prefix('[').and_then(|part| part.split_once('m')).filter(|_| at > 0)
        else {
            if at > 0 {
                return Err(format!("an escape sequence that is not ours: {part:?}"));
            }
            bare.push_str(part);
            continue;
        };
        if !codes.bytes().all(|code| code.is_ascii_digit() || code == b';') {
            return Err(format!("looks that are not ours: {codes:?}"));
        }
        dressed = codes != "0";
        bare.push_str(words);
        if words.contains('\n') && dressed {
            return Err(format!("a line ends dressed: {words:?}"));
        }
    }
    if dressed { Err("it ends dressed".to_owned()) } else { Ok(bare) }
}

fn is_tame(screen: &str) -> bool {
    let hidden = |c: char| {
        matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}')
    };
    screen.chars().all(|c| c == '\n' || !(c.is_control() || hidden(c)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_text_in_any_field_neither_moves_the_cursor_nor_changes_colours(
        words in prop::collection::vec(hostile(), 8),
        width in 20_u16..160,
    ) {
        let library = Library::new();
        let screens = std::cell::RefCell::new(Vec::new());
        let show = |operation: &str, input: Value| {
            for coloured in [false, true] {
                let screen = Screen::new(width, library.now()).coloured(coloured);
                // What is recorded twice is another thing each time, which is well.
                screens.borrow_mut().push((operation.to_owned(), coloured, library.screen_on(screen, operation, input.clone())));
            }
        };
        let agent = json!({ "name": words[0], "model": words[1], "capabilities": [words[2]] });
        show("register_agent", agent.clone());
        let one = text(&library.data("register_agent", agent)["id"]);
        let other = text(&library.data("register_agent", json!({ "name": words[3] }))["id"]);
        let publish = |agent: &str, operation: &str| json!({
            "agent_id": agent, "task": words[4], "summary": words[5], "rationale": words[6],
            "scopes": [{ "kind": "symbol", "key": words[7], "operation": operation }],
        });
        let first = library.data("publish_intent", publish(&one, "replace"))["intent"]["id"].clone();
        let second = library.data("publish_intent", publish(&other, "extend"));
        show("publish_intent", publish(&other, "modify"));
        let acting = json!({ "agent_id": one, "intent_id": first });
        let scopes = json!([{ "kind": "symbol", "key": words[7] }]);
        let mut claim = acting.clone();
        claim["scopes"] = scopes;
        claim["reason"] = json!(words[6]);
        show("claim_work", claim);
        show("release_work", acting);
        let conflict = second["conflicts"][0]["id"].clone();
        show("get_conflict", json!({ "id": conflict }));
        show("list_detections", json!({ "conflict_id": conflict }));
        let judged = json!({
            "agent_id": other, "intent_id": second["intent"]["id"], "related_intent_id": first,
            "verdict": "conflicts", "action": "waiting", "rationale": words[0],
        });
        show("record_assessment", judged);
        show("list_assessments", json!({ "intent_id": second["intent"]["id"] }));
        let message = json!({
            "from_agent_id": other, "to_agent_id": one, "conflict_id": conflict, "message": words[1],
        });
        show("coordinate_with_agent", message);
        show("read_inbox", json!({ "agent_id": one }));
        let settled = json!({
            "conflict_id": conflict, "agent_id": one, "resolution": words[2], "rationale": words[3],
        });
        // It can be settled once.
        let uncoloured = Screen::new(width, library.now());
        let resolved = library.screen_on(uncoloured, "resolve_conflict", settled);
        screens.borrow_mut().push(("resolve_conflict".to_owned(), false, resolved));
        show("get_conflict", json!({ "id": conflict }));
        show("get_intent", json!({ "id": first }));
        for list in ["list_agents", "list_conflicts", "list_events", "status", "query_work", "get_graph"] {
            show(list, json!({}));
        }
        for (operation, coloured, screen) in screens.into_inner() {
            let bare = if coloured { without_looks(&screen) } else { Ok(screen.clone()) };
            let bare = bare.map_err(|why| TestCaseError::fail(format!("{operation}: {why}")))?;
            prop_assert!(is_tame(&bare), "{operation} at {width}: {screen:?}");
        }
    }
}
