//! What was changed behind the ledger's back is found, and the first bad event is named.

use std::sync::Arc;

use foremerge::domain::event::event_hash;
use foremerge::domain::{Digest, Id, ScopeOperation};
use foremerge::ledger::Ledger;
use foremerge::ledger::audit::audit;
use foremerge::world::Fake;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;

use crate::simulator::{Node, SETTINGS, Simulation};
use crate::simulator_steps::{Cause, Later, Saying, Step};
use crate::simulator_told::Oddity;
use crate::simulator_what::What;

/// A ledger with local parts, causes, events from elsewhere and events nobody knows.
pub fn full_ledger() -> Node {
    let node = Node::new(5);
    for at in 0..3_u8 {
        node.register(Id::from_bytes([at + 1; 16]), "a", Some(format!("/secret/{at}")));
        let agent: Id<foremerge::domain::Agent> = Id::from_bytes([at + 1; 16]);
        let scopes = [json!({ "kind": "symbol", "key": "Same", "operation": ScopeOperation::Replace })];
        let input = json!({ "agent_id": agent, "task": "t", "summary": "s", "scopes": scopes });
        node.run("publish_intent", input).unwrap();
    }
    node.register(Id::from_bytes([9; 16]), "without a place", None);
    let mut elsewhere = Simulation::new();
    let odd = [
        (0, Oddity::UnknownType, Cause::Nobody),
        (0, Oddity::ByNoAgent, Cause::Nothing),
        (0, Oddity::WithMoreFields, Cause::Known(0)),
        (1, Oddity::ByNobody, Cause::Nothing),
    ];
    for (at, (stranger, form, cause)) in (0..).zip(odd) {
        let intent = What::Intent { intent: at, agent: at, scopes: vec![(at, ScopeOperation::Remove)] };
        let what = What::Odd { form, what: Box::new(intent) };
        elsewhere.step(&Step::Say { stranger, saying: Saying { what, cause, later: Later::By(1) } });
    }
    elsewhere.tell_all(&node, &[0]);
    assert_eq!(node.audit().fault, None);
    assert_eq!(node.events().len(), 13);
    node
}

/// The file of a ledger, open to whoever does not care for the rules.
struct Forger {
    connection: Connection,
    ledger: Arc<Ledger>,
    events: u64,
    node: Node,
}

impl Forger {
    fn new() -> Self {
        let node = full_ledger();
        let connection = Connection::open(node.ledger.place().file()).unwrap();
        connection
            .execute_batch(
                "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF;
                 CREATE TEMP TABLE saved_event AS SELECT * FROM event;
                 CREATE TEMP TABLE saved_local AS SELECT * FROM event_local;
                 CREATE TEMP TABLE saved_replica AS SELECT * FROM replica;",
            )
            .unwrap();
        Self { connection, ledger: Arc::clone(&node.ledger), events: node.events().len() as u64, node }
    }

    /// Changes the file behind the backs of the triggers, which are there again afterwards.
    fn behind_the_triggers<T>(&self, change: impl FnOnce(&Connection) -> T) -> T {
        let triggers: Vec<(String, String)> = {
            let mut all = self
                .connection
                .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
                .unwrap();
            all.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
        };
        let all = |statement: fn(&(String, String)) -> String| {
            triggers.iter().map(statement).collect::<Vec<_>>().join(";")
        };
        let drop = all(|(name, _)| format!("DROP TRIGGER {name}"));
        self.connection.execute_batch(&format!("BEGIN; {drop}")).unwrap();
        let changed = change(&self.connection);
        let create = all(|(_, sql)| sql.clone());
        self.connection.execute_batch(&format!("{create}; COMMIT")).unwrap();
        changed
    }

    fn forge(&self, sql: &str) {
        let forged = self.behind_the_triggers(|connection| connection.execute_batch(sql));
        forged.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    fn undo(&self) {
        self.forge(
            "DELETE FROM event_local; DELETE FROM event; DELETE FROM replica;
             INSERT INTO replica SELECT * FROM saved_replica; INSERT INTO event SELECT * FROM saved_event;
             INSERT INTO event_local SELECT * FROM saved_local;",
        );
    }

    /// The first bad event an audit names.
    fn found(&self) -> Option<u64> {
        let found = audit(&self.ledger, 5, |_| true).unwrap();
        if let Some(fault) = &found.fault {
            assert_eq!(found.events_verified, fault.seq - 1, "{fault:?}");
        }
        found.fault.map(|fault| fault.seq)
    }

    /// Changes the file by `sql`; an audit must name `seq`, and nothing once it is undone.
    fn expect(&self, sql: &str, seq: impl Into<Option<u64>>) {
        self.forge(sql);
        assert_eq!(self.found(), seq.into(), "{sql}");
        self.undo();
    }

    /// Other values for a stored one: single bits flipped at its ends, or in every byte of it,
    /// and every kind of emptiness.
    fn changes(&self, table: &str, column: &str, seq: u64, in_every_byte: bool) -> Vec<Value> {
        let sql = format!("SELECT {column} FROM {table} WHERE seq = {seq}");
        let bytes = |stored: &[u8]| {
            let flipped = |at: usize, bit: u8| {
                let mut bytes = stored.to_vec();
                bytes[at] ^= bit;
                bytes
            };
            let mut all = vec![Vec::new(), [stored, b"\0"].concat()];
            let last = stored.len().saturating_sub(1);
            for at in (0..stored.len()).filter(|at| in_every_byte || [0, last].contains(at)) {
                all.extend([flipped(at, 1), flipped(at, 0x80)]);
            }
            all.retain(|other| other != stored);
            all.into_iter().map(Value::Blob).collect()
        };
        match self.connection.query_row(&sql, [], |row| row.get::<_, Value>(0)).unwrap() {
            Value::Null if column == "agent_id" => {
                [b"".as_slice(), b"x"].map(|other| Value::Blob(other.to_vec())).into()
            }
            Value::Null => [0, 16, 32].map(|length| Value::Blob(vec![0; length])).into(),
            Value::Integer(number) if in_every_byte => {
                (0..64).map(|bit| Value::Integer(number ^ (1 << bit))).collect()
            }
            Value::Integer(number) => [0, 31, 62, 63].map(|bit| Value::Integer(number ^ (1 << bit))).into(),
            Value::Text(text) => bytes(text.as_bytes()),
            Value::Blob(blob) => bytes(&blob),
            Value::Real(_) => unreachable!("nothing is stored as a fraction"),
        }
    }

    /// Stores `value`; false where a unique index keeps even a forger from it.
    fn set(&self, table: &str, column: &str, seq: u64, value: &Value) -> bool {
        let typed = match column {
            "event_type" | "entity_type" | "entity_id" | "agent_id" | "shared" | "payload" => {
                "CAST(?1 AS TEXT)"
            }
            _ => "?1",
        };
        let sql = format!("UPDATE {table} SET {column} = {typed} WHERE seq = ?2");
        match self.behind_the_triggers(|connection| connection.execute(&sql, (value, seq))) {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) => {
                false
            }
            changed => {
                assert_eq!(changed, Ok(1), "{sql}");
                true
            }
        }
    }
}

const COLUMNS: &[&str] = &[
    "replica",
    "number",
    "lamport",
    "event_id",
    "event_type",
    "version",
    "entity_type",
    "entity_id",
    "agent_id",
    "cause",
    "created_at",
    "shared",
    "local_hash",
    "replica_hash",
    "event_hash",
];

fn changes_are_found(in_every_byte: bool) {
    let forger = Forger::new();
    let mut found = 0;
    for seq in 1..=forger.events {
        let in_event = COLUMNS.iter().map(|column| ("event", *column));
        let locals = format!("SELECT EXISTS (SELECT 1 FROM event_local WHERE seq = {seq})");
        let has_local: bool = forger.connection.query_row(&locals, [], |row| row.get(0)).unwrap();
        let beside = has_local.then_some([("event_local", "salt"), ("event_local", "payload")]);
        for (table, column) in in_event.chain(beside.into_iter().flatten()) {
            for value in forger.changes(table, column, seq, in_every_byte) {
                if !forger.set(table, column, seq, &value) {
                    continue;
                }
                found += 1;
                assert_eq!(forger.found(), Some(seq), "{table}.{column} of {seq} became {value:?}");
                forger.undo();
            }
        }
    }
    assert_eq!(forger.found(), None);
    println!("{found} changes were made and found");
    assert!(found > 900, "only {found} changes could be made");
}

#[test]
fn a_change_at_either_end_of_any_column_is_found_and_its_event_is_named() {
    changes_are_found(false);
}

#[test]
#[ignore = "long: run by .ci/deep"]
fn a_change_of_any_byte_of_any_event_is_found_and_the_event_is_named() {
    changes_are_found(true);
}

#[test]
fn an_event_that_speaks_for_another_replica_is_found() {
    let forger = Forger::new();
    // The numbers are moved out of the way of the unique index, as a careful forger would.
    forger.expect("UPDATE event SET replica = 2, number = number + 100 WHERE seq = 4", 4);
    forger.expect("UPDATE replica SET uid = randomblob(16) WHERE own", 1);
    let first = "(SELECT min(seq) FROM event WHERE replica = 2)";
    let seq: u64 = forger.connection.query_row(&format!("SELECT {first}"), [], |row| row.get(0)).unwrap();
    forger.expect("UPDATE replica SET uid = randomblob(16) WHERE id = 2", seq);
    forger.expect("DELETE FROM replica WHERE id = 2", seq);
}

#[test]
fn a_deleted_event_is_named_and_so_is_the_first_of_two_that_changed_places() {
    let forger = Forger::new();
    for seq in 1..=forger.events {
        forger.expect(&format!("DELETE FROM event WHERE seq = {seq}"), seq);
        forger.expect(&format!("UPDATE event SET seq = 1000 WHERE seq = {seq}"), seq);
        forger.expect(&format!("UPDATE event SET seq = -{seq} WHERE seq = {seq}"), seq);
        if seq < forger.events {
            let next = seq + 1;
            let swap = format!(
                "UPDATE event SET seq = 1000 WHERE seq = {seq}; UPDATE event SET seq = {seq} WHERE seq = {next};
                 UPDATE event SET seq = {next} WHERE seq = 1000"
            );
            forger.expect(&swap, seq);
        }
        // Closing the gap does not hide it: a chain breaks where the gap was.
        let close =
            format!("DELETE FROM event WHERE seq = {seq}; UPDATE event SET seq = seq - 1 WHERE seq > {seq}");
        forger.expect(&close, seq);
    }
    forger.expect("DELETE FROM event", 1);
}

#[test]
fn a_history_that_was_cut_short_is_found_by_its_mark_even_when_the_noted_ends_fit() {
    let forger = Forger::new();
    let fit = "UPDATE replica SET (last_number, last_lamport, last_hash) = (
                 SELECT number, lamport, replica_hash FROM event WHERE replica = replica.id ORDER BY number DESC LIMIT 1)
               WHERE id IN (SELECT replica FROM event);
               UPDATE replica SET last_number = 0, last_lamport = 0, last_hash = x''
               WHERE id NOT IN (SELECT replica FROM event)";
    for left in 0..forger.events {
        forger.expect(&format!("DELETE FROM event WHERE seq > {left}"), left + 1);
        forger.expect(&format!("DELETE FROM event WHERE seq > {left}; {fit}"), left + 1);
    }
    let mark = forger.ledger.place().directory().join("mark");
    std::fs::remove_file(mark).unwrap();
    forger.expect("DELETE FROM event WHERE seq > 11", 12);
    forger.expect(
        &format!("DELETE FROM event WHERE seq > 11; DELETE FROM event_local WHERE seq > 11; {fit}"),
        None,
    );
}

#[test]
fn a_noted_end_that_the_next_event_would_not_fit_is_found() {
    let forger = Forger::new();
    for change in ["last_number = last_number + 1", "last_lamport = 1000", "last_hash = x'00'"] {
        forger.expect(&format!("UPDATE replica SET {change} WHERE own"), forger.events + 1);
    }
}

#[test]
fn a_local_part_may_be_forgotten_and_never_be_another() {
    let forger = Forger::new();
    let local: Vec<u64> = {
        let mut find = forger.connection.prepare("SELECT seq FROM event_local ORDER BY seq").unwrap();
        find.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(local.len(), 3);
    forger.expect(&format!("DELETE FROM event_local WHERE seq = {}", local[1]), None);
    let swap = format!(
        "UPDATE event_local SET seq = 1000 WHERE seq = {0}; UPDATE event_local SET seq = {0} WHERE seq = {1};
         UPDATE event_local SET seq = {1} WHERE seq = 1000",
        local[0], local[2]
    );
    forger.expect(&swap, local[0]);
    // A local part where there was none, for an event of this ledger and for one from elsewhere.
    for seq in (1..=forger.events).filter(|seq| !local.contains(seq)) {
        forger.expect(&format!("INSERT INTO event_local VALUES ({seq}, x'00', '{{}}')"), seq);
        forger.expect(&format!("INSERT INTO event_local VALUES ({seq}, x'', '')"), seq);
    }
    for seq in [0, -1, 1000] {
        let moved = format!("UPDATE event_local SET seq = {seq} WHERE seq = {}", local[0]);
        forger.expect(&moved, forger.events + 1);
    }
}

/// Both hashes of the event itself can be made to fit. What follows then does not: the next
/// event of the ledger, or after the last one the noted end of its replica.
#[test]
fn an_event_that_was_rewritten_with_fitting_hashes_is_found_at_the_one_that_follows() {
    let forger = Forger::new();
    for seq in 1..=forger.events {
        let chains = forger.node.chains();
        let event = forger.node.events()[usize::try_from(seq).unwrap() - 1].clone();
        let chain = &chains[&event.replica];
        let at = usize::try_from(event.number).unwrap() - 1;
        let mut rewritten = chain[at].clone();
        rewritten.shared.push(' ');
        let before = at.checked_sub(1).map(|at| chain[at].replica_hash);
        let rewritten = crate::simulator_told::chained(rewritten, before);
        let prev: Option<Digest> = forger
            .connection
            .query_row("SELECT event_hash FROM event WHERE seq = ?1 - 1", [seq], |row| {
                row.get::<_, [u8; 32]>(0)
            })
            .ok()
            .map(Digest::from_bytes);
        let hash =
            event_hash(prev.as_ref().map_or(&[], |hash| hash.as_bytes()), seq, &rewritten.replica_hash);
        // A digest is displayed as `sha256:` and its digits.
        let hex = |hash: &Digest| hash.to_string().split_off("sha256:".len());
        let (replica_hash, hash) = (hex(&rewritten.replica_hash), hex(&hash));
        let sql = format!(
            "UPDATE event SET shared = shared || ' ', replica_hash = x'{replica_hash}', event_hash = x'{hash}' WHERE seq = {seq}"
        );
        forger.expect(&sql, seq + 1);
    }
}

#[test]
fn the_chain_of_a_ledger_follows_arrival_and_that_of_a_replica_does_not() {
    let steps = [0, 1, 0, 1].map(|stranger| Step::Say {
        stranger,
        saying: Saying { what: What::Agent { agent: stranger }, cause: Cause::Nothing, later: Later::By(0) },
    });
    let run = Simulation::of(&steps);
    let (one, other) = (Node::new(21), Node::new(22));
    run.tell_all(&one, &[0]);
    run.tell_all(&other, &[1]);
    let hashes = |node: &Node| {
        let events = node.events();
        let mut all: Vec<_> = events.iter().map(|event| event.replica_hash.clone()).collect();
        all.sort();
        (all, events.last().unwrap().event_hash.clone())
    };
    let ((replica_hashes, head), (same, other_head)) = (hashes(&one), hashes(&other));
    assert_eq!(replica_hashes, same);
    assert_ne!(head, other_head);
}

#[test]
fn a_ledger_opened_again_is_audited_as_it_was() {
    let node = full_ledger();
    let before = node.audit();
    let again = Ledger::open(node.ledger.place().clone(), SETTINGS, Arc::new(Fake::new(1))).unwrap();
    assert_eq!(audit(&again, 0, |_| true).unwrap(), before);
}
