//! The verifier in docs/ledger.md, run on a real ledger.
#![expect(clippy::disallowed_methods, reason = "a test runs Python")]

use std::path::Path;
use std::process::Command;

use foremerge::domain::fact::Fact;
use rusqlite::Connection;

use crate::ledger_chain::full_ledger;

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ledger.md")).unwrap()
}

/// The one block of Python in the page.
fn verifier() -> String {
    let text = page();
    let mut blocks = text.split("```python\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let block = blocks.next().expect("docs/ledger.md shows a verifier").to_owned();
    assert_eq!(blocks.next(), None, "one verifier is enough");
    block
}

#[test]
fn the_page_lists_every_event_type_and_says_when_it_has_an_effect() {
    let page = page();
    let types = page.lines().find_map(|line| line.strip_prefix("Types of version 1: ")).unwrap();
    let rows = page.split("| event | touches | precondition |").nth(1).unwrap().split("\n\n").next().unwrap();
    for event_type in Fact::TYPES {
        let named = format!("`{event_type}`");
        assert!(types.contains(&named) && rows.contains(&named), "{event_type}");
    }
}

#[test]
fn the_verifier_of_ten_lines_accepts_a_ledger_and_names_the_first_event_that_was_changed() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no python3 to run the verifier of docs/ledger.md with");
        return;
    }
    let code = verifier();
    assert_eq!(code.lines().count(), 10, "{code}");
    let node = full_ledger();
    let file = node.ledger.place().file();
    let run = || {
        let output = Command::new("python3").arg("-c").arg(&code).arg(file).output().unwrap();
        (
            output.status.success(),
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        )
    };
    let (accepted, said) = run();
    assert!(accepted, "{said}");
    let head = node.audit().head_hash.unwrap().to_string();
    assert!(said.contains(&head) && said.contains("13 events"), "{said}");

    let forger = Connection::open(file).unwrap();
    forger.execute_batch("DROP TRIGGER event_is_final; CREATE TABLE saved AS SELECT * FROM event").unwrap();
    for (seq, column, change) in
        [(2, "shared", "shared || ' '"), (5, "lamport", "lamport + 1"), (12, "event_hash", "randomblob(32)")]
    {
        forger.execute(&format!("UPDATE event SET {column} = {change} WHERE seq = {seq}"), []).unwrap();
        let (accepted, said) = run();
        assert!(!accepted && said.contains(&format!("event {seq} ")), "{column}: {said}");
        let undo =
            format!("UPDATE event SET {column} = (SELECT {column} FROM saved WHERE saved.seq = event.seq)");
        forger.execute(&undo, []).unwrap();
    }
    assert!(run().0);
}
