//! A ledger that is missing, damaged or somebody else's is refused with a code, and nothing is created or
//! destroyed: what is left may be all there is.

use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;
use crate::workplace::{Workplace, cli, listing, raw, unchanged};

const PAGE: u64 = 4096;

/// Every kind of command, `init` too.
const COMMANDS: &[&[&str]] = &[
    &["status"],
    &["agent", "list"],
    &["events", "list"],
    &["events", "audit"],
    &["agent", "register", "--name", "late"],
    &["intent", "publish", "--agent", "agt_123456", "--task", "t", "--summary", "s"],
    &["conflicts", "list"],
    &["init"],
];

#[track_caller]
fn all_refused(workplace: &Workplace, code: &str) {
    let before = listing(&workplace.git_dir());
    for command in COMMANDS {
        cli(&workplace.repository, command).refused(code);
        unchanged(&before, &listing(&workplace.git_dir()));
    }
}

/// A ledger with some history, all of it in the file.
fn settled() -> Workplace {
    let workplace = Workplace::busy(12);
    workplace.checkpoint();
    workplace
}

fn flip(file: &Path, at: u64) {
    let mut bytes = fs::read(file).unwrap();
    bytes[usize::try_from(at).unwrap()] ^= 0xff;
    fs::write(file, bytes).unwrap();
}

fn cut(file: &Path, length: u64) {
    fs::File::options().write(true).open(file).unwrap().set_len(length).unwrap();
}

#[test]
fn before_init_every_command_says_so_and_creates_nothing() {
    let workplace = Workplace::without_ledger();
    let before = listing(&workplace.sandbox.root);
    for command in COMMANDS.iter().filter(|command| **command != ["init"]) {
        let answer = cli(&workplace.repository, command);
        answer.refused("NOT_INITIALIZED");
        assert_eq!(answer.envelope["error"]["next"][0]["run"], "foremerge init");
    }
    unchanged(&before, &listing(&workplace.sandbox.root));
}

#[test]
fn outside_a_repository_every_command_says_so_and_creates_nothing() {
    let sandbox = Sandbox::new();
    let outside = sandbox.mkdir("outside");
    let before = listing(&sandbox.root);
    for command in COMMANDS {
        cli(&outside, command).refused("NOT_A_REPOSITORY");
    }
    unchanged(&before, &listing(&sandbox.root));
}

#[test]
fn a_ledger_that_was_deleted_is_not_replaced_by_an_empty_one() {
    let workplace = settled();
    fs::remove_file(workplace.file()).unwrap();
    all_refused(&workplace, "CORRUPT_LEDGER");
    fs::remove_file(workplace.ledger_dir().join("repository")).unwrap();
    all_refused(&workplace, "CORRUPT_LEDGER");
    for entry in fs::read_dir(workplace.ledger_dir()).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    all_refused(&workplace, "CORRUPT_LEDGER");
    fs::remove_dir(workplace.ledger_dir()).unwrap();
    fs::write(workplace.ledger_dir(), "not a directory").unwrap();
    all_refused(&workplace, "CORRUPT_LEDGER");
}

#[test]
fn an_empty_file_and_one_of_noise_are_refused() {
    let workplace = settled();
    fs::write(workplace.file(), b"").unwrap();
    all_refused(&workplace, "CORRUPT_LEDGER");
    for length in [1, 15, 100, 4096, 40_000_u32] {
        let noise: Vec<_> = (0..length).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        fs::write(workplace.file(), noise).unwrap();
        all_refused(&workplace, "CORRUPT_LEDGER");
    }
    fs::remove_file(workplace.file()).unwrap();
    fs::create_dir(workplace.file()).unwrap();
    all_refused(&workplace, "CORRUPT_LEDGER");
}

#[test]
fn a_file_that_was_cut_is_refused_wherever_it_was_cut() {
    let workplace = settled();
    let whole = fs::read(workplace.file()).unwrap();
    let pages = whole.len() as u64 / PAGE;
    for length in
        [50, 100, 2000, PAGE, PAGE + 1, 2 * PAGE, pages / 2 * PAGE, (pages - 1) * PAGE, pages * PAGE - 1]
    {
        cut(&workplace.file(), length);
        all_refused(&workplace, "CORRUPT_LEDGER");
        fs::write(workplace.file(), &whole).unwrap();
    }
    cli(&workplace.repository, &["events", "audit"]).succeeded();
}

#[test]
fn a_file_that_was_cut_below_a_live_log_is_refused_too() {
    let workplace = settled();
    cli(&workplace.repository, &["agent", "register", "--name", "in the log"]).succeeded();
    assert!(fs::metadata(workplace.wal()).unwrap().len() > 0);
    let whole = fs::read(workplace.file()).unwrap();
    for length in [PAGE, PAGE + 1, whole.len() as u64 / 2] {
        cut(&workplace.file(), length);
        all_refused(&workplace, "CORRUPT_LEDGER");
        fs::write(workplace.file(), &whole).unwrap();
    }
    cli(&workplace.repository, &["events", "audit"]).succeeded();
}

#[test]
fn a_byte_that_flipped_in_the_header_or_the_schema_is_refused() {
    let workplace = settled();
    let whole = fs::read(workplace.file()).unwrap();
    let named = |text: &str| {
        // The last one: the first page keeps stale bytes from before its tree grew.
        let found = whole.windows(text.len()).rposition(|bytes| bytes == text.as_bytes());
        found.unwrap_or_else(|| panic!("{text} is not in the file")) as u64
    };
    let places = [
        0,                                      // magic
        16,                                     // page size
        19,                                     // journal mode, to one that is not known
        47,                                     // schema format
        59,                                     // text encoding
        68,                                     // application id
        100,                                    // kind of the first tree
        103,                                    // how many cells it has
        named("CREATE TABLE event (") + 15,     // a name
        named("CREATE TRIGGER event_is_final"), // a statement
    ];
    for place in places {
        eprintln!("the byte at {place}");
        flip(&workplace.file(), place);
        all_refused(&workplace, "CORRUPT_LEDGER");
        fs::write(workplace.file(), &whole).unwrap();
    }
}

#[test]
fn a_header_that_leads_past_the_log_is_refused() {
    let workplace = settled();
    let mut bytes = fs::read(workplace.file()).unwrap();
    bytes[18..20].copy_from_slice(&[1, 1]);
    fs::write(workplace.file(), bytes).unwrap();
    all_refused(&workplace, "CORRUPT_LEDGER");
}

#[test]
fn a_protection_that_was_removed_is_refused() {
    for statement in ["DROP TRIGGER event_is_kept", "DROP INDEX event_cause", "DROP TABLE presence"] {
        let workplace = settled();
        raw(&workplace.file()).execute_batch(statement).unwrap();
        all_refused(&workplace, "CORRUPT_LEDGER");
    }
}

/// The first page of the tree that holds `table`.
fn root(workplace: &Workplace, table: &str) -> u64 {
    let query = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    raw(&workplace.file()).query_row(query, [table], |row| row.get(0)).unwrap()
}

#[test]
fn a_byte_that_flipped_in_the_structure_of_the_history_is_refused_or_found_by_the_audit() {
    let workplace = settled();
    let whole = fs::read(workplace.file()).unwrap();
    for table in ["event", "event_local", "replica", "identity"] {
        let start = (root(&workplace, table) - 1) * PAGE;
        for offset in [0, 3] {
            flip(&workplace.file(), start + offset);
            let before = listing(&workplace.git_dir());
            let audit = cli(&workplace.repository, &["events", "audit"]);
            let found = audit.envelope["data"]["valid"] == false && audit.status.code() == Some(6);
            let refused =
                audit.envelope["error"]["code"] == "CORRUPT_LEDGER" && audit.status.code() == Some(5);
            assert!(found || refused, "{table} {offset}: {}", audit.envelope);
            if table != "event_local" {
                cli(&workplace.repository, &["agent", "register", "--name", "late"])
                    .refused("CORRUPT_LEDGER");
            }
            unchanged(&before, &listing(&workplace.git_dir()));
            fs::write(workplace.file(), &whole).unwrap();
        }
    }
    cli(&workplace.repository, &["events", "audit"]).succeeded();
}

#[test]
fn a_byte_that_flipped_in_an_event_is_found_by_the_audit_which_names_it() {
    let workplace = settled();
    let whole = fs::read(workplace.file()).unwrap();
    for (name, seq) in [("busy-0", 1_u64), ("busy-3", 0), ("rework part 11 of", 0)] {
        let matches: Vec<_> = whole
            .windows(name.len())
            .enumerate()
            .filter(|(_, bytes)| *bytes == name.as_bytes())
            .map(|(at, _)| at as u64)
            .collect();
        assert!(matches.len() >= 2, "{name} is in the history and in the state");
        let mut found = 0;
        for at in matches {
            flip(&workplace.file(), at);
            let audit = cli(&workplace.repository, &["events", "audit"]);
            if audit.status.code() == Some(6) {
                found += 1;
                assert_eq!(audit.envelope["data"]["valid"], false);
                let bad = audit.envelope["data"]["first_bad_seq"].as_u64().unwrap();
                assert_eq!(audit.envelope["data"]["events_verified"].as_u64(), Some(bad - 1));
                assert!(seq == 0 || bad == seq, "{name}: {bad}");
            }
            fs::write(workplace.file(), &whole).unwrap();
        }
        assert_eq!(found, 1, "{name} is in one event");
    }
}

#[test]
fn a_replica_whose_last_event_was_forgotten_or_bent_is_found_by_the_audit() {
    let workplace = settled();
    for statement in [
        "UPDATE replica SET last_hash = zeroblob(32)",
        "UPDATE replica SET last_number = last_number + 1",
        "UPDATE replica SET last_lamport = last_lamport - 1",
        "PRAGMA foreign_keys = OFF; DELETE FROM replica",
    ] {
        let whole = fs::read(workplace.file()).unwrap();
        raw(&workplace.file()).execute_batch(statement).unwrap();
        workplace.checkpoint();
        let audit = cli(&workplace.repository, &["events", "audit"]);
        assert_eq!(audit.status.code(), Some(6), "{statement}: {}", audit.envelope);
        fs::write(workplace.file(), whole).unwrap();
    }
    cli(&workplace.repository, &["events", "audit"]).succeeded();
}

#[test]
fn a_database_of_something_else_is_refused() {
    let workplace = settled();
    for mode in ["DELETE", "WAL"] {
        let other = workplace.sandbox.path(mode);
        let connection = rusqlite::Connection::open(&other).unwrap();
        connection.pragma_update(None, "journal_mode", mode).unwrap();
        connection
            .execute_batch("CREATE TABLE bookmark (url TEXT); INSERT INTO bookmark VALUES ('x')")
            .unwrap();
        connection.close().unwrap();
        fs::copy(&other, workplace.file()).unwrap();
        all_refused(&workplace, "CORRUPT_LEDGER");
    }
    // One that bears our mark and nothing else of ours.
    let other = workplace.sandbox.path("marked");
    let connection = rusqlite::Connection::open(&other).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    let mark: i64 =
        raw(&workplace.sandbox.path("WAL")).query_row("SELECT 0x464d4c47", [], |row| row.get(0)).unwrap();
    connection.pragma_update(None, "application_id", mark).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    connection.close().unwrap();
    fs::copy(&other, workplace.file()).unwrap();
    all_refused(&workplace, "CORRUPT_LEDGER");
}

#[test]
fn the_ledger_of_another_repository_is_refused() {
    let (workplace, other) = (settled(), settled());
    fs::copy(other.file(), workplace.file()).unwrap();
    all_refused(&workplace, "CORRUPT_LEDGER");
}

#[test]
fn a_ledger_whose_repository_is_not_known_is_refused() {
    let workplace = settled();
    let identity = workplace.ledger_dir().join("repository");
    let line = fs::read(&identity).unwrap();
    fs::remove_file(&identity).unwrap();
    all_refused(&workplace, "CORRUPT_LEDGER");
    fs::write(&identity, "").unwrap();
    all_refused(&workplace, "CORRUPT_LEDGER");
    // The refusal says what to write there.
    fs::write(&identity, line).unwrap();
    cli(&workplace.repository, &["events", "audit"]).succeeded();
}

#[test]
fn another_schema_is_never_migrated_by_the_way() {
    let workplace = settled();
    let version = |version: i64| raw(&workplace.file()).pragma_update(None, "user_version", version).unwrap();
    version(2);
    all_refused(&workplace, "UNSUPPORTED_SCHEMA");
    version(0);
    all_refused(&workplace, "MIGRATION_REQUIRED");
    version(1);
    cli(&workplace.repository, &["events", "audit"]).succeeded();
}
