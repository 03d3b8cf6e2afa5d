//! What protects the history: nothing in it changes, its end is not lost unnoticed, and no number is given away
//! twice.

use std::fs;

use crate::sandbox::shell;
use crate::workplace::{Workplace, cli, host, listing, raw, register, replicas, sound, work};

#[test]
fn no_statement_changes_published_history() {
    let workplace = Workplace::busy(3);
    let connection = raw(&workplace.file());
    let local: i64 = connection.query_row("SELECT count(*) FROM event_local", [], |row| row.get(0)).unwrap();
    let published = "INTO event SELECT * FROM event WHERE seq = 2";
    let numbered = "SELECT 100, zeroblob(16), replica, number, lamport, event_type, version, entity_type, entity_id,
                    agent_id, cause, created_at, shared, local_hash, replica_hash, event_hash FROM event WHERE seq = 2";
    let mut statements = vec![
        "UPDATE event SET shared = '{}'".to_owned(),
        "UPDATE event SET seq = 1000 WHERE seq = 1".to_owned(),
        "UPDATE OR REPLACE event SET seq = 2 WHERE seq = 1".to_owned(),
        "UPDATE OR IGNORE event SET event_type = 'x'".to_owned(),
        "DELETE FROM event".to_owned(),
        "DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)".to_owned(),
        format!("REPLACE {published}"),
        format!("INSERT {published}"),
        format!("INSERT OR REPLACE {published}"),
        format!("INSERT OR IGNORE {published}"),
        format!("INSERT {published} ON CONFLICT (seq) DO UPDATE SET shared = '{{}}'"),
        format!("INSERT OR REPLACE INTO event {numbered}"),
    ];
    if local == 0 {
        let seed = "INSERT INTO event_local VALUES (1, zeroblob(16), '{}')";
        connection.execute_batch(seed).unwrap();
    }
    statements.extend(
        [
            "UPDATE event_local SET payload = '{}'",
            "UPDATE OR REPLACE event_local SET seq = 2",
            "DELETE FROM event_local",
            "REPLACE INTO event_local SELECT seq, salt, '{}' FROM event_local",
            "INSERT OR REPLACE INTO event_local SELECT seq, salt, '{}' FROM event_local",
            "INSERT INTO event_local SELECT seq, salt, '{}' FROM event_local WHERE true
             ON CONFLICT (seq) DO UPDATE SET payload = '{}'",
        ]
        .map(str::to_owned),
    );
    let content = || -> (String, String) {
        let all = "SELECT (SELECT group_concat(hex(event_hash) || shared || seq) FROM event),
                          (SELECT group_concat(hex(salt) || payload || seq) FROM event_local)";
        connection.query_row(all, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    let before = content();
    for statement in statements {
        // Without recursive triggers and foreign keys, as a shell has them.
        connection.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = OFF").unwrap();
        assert!(connection.execute_batch(&statement).is_err(), "accepted: {statement}");
        assert!(content() == before, "it was refused and changed something: {statement}");
    }
}

#[test]
fn a_restored_older_copy_speaks_as_a_new_replica() {
    let workplace = Workplace::busy(1);
    workplace.checkpoint();
    let backup = fs::read(workplace.file()).unwrap();
    let first = sound(&workplace.repository, &[]);
    work(&host(&workplace.repository), "lost", 2);
    workplace.checkpoint();
    fs::write(workplace.file(), backup).unwrap();
    let audit = cli(&workplace.repository, &["events", "audit"]);
    assert_eq!(audit.status.code(), Some(6), "what was acknowledged is gone: {}", audit.envelope);
    assert_eq!(audit.envelope["data"]["first_bad_seq"].as_u64(), Some(first.len() as u64 + 1));
    let known = work(&host(&workplace.repository), "after", 2);
    let events = sound(&workplace.repository, &known);
    assert_eq!(events[..first.len()], first, "old events keep theirs");
    let replicas = replicas(&events);
    assert_eq!(replicas.len(), 2, "one new replica, whatever is written after: {replicas:?}");
    assert_eq!(events[first.len()].number, 1);
}

#[test]
fn a_copied_repository_speaks_as_a_new_replica_and_the_original_as_the_old_one() {
    let workplace = Workplace::busy(1);
    let known = sound(&workplace.repository, &[]);
    shell(&workplace.sandbox.root, "cp -r repository copy");
    let copy = workplace.sandbox.path("copy");
    assert_eq!(replicas(&sound(&copy, &[])).len(), 1, "reading mints nothing");
    work(&host(&copy), "copy", 2);
    work(&host(&workplace.repository), "original", 2);
    let (original, copied) = (sound(&workplace.repository, &[]), sound(&copy, &[]));
    assert_eq!(replicas(&original).len(), 1);
    assert_eq!(replicas(&copied).len(), 2);
    assert_eq!(copied[..known.len()], original[..known.len()]);
}

#[test]
fn a_moved_repository_speaks_as_before() {
    let workplace = Workplace::busy(1);
    let moved = workplace.sandbox.path("moved");
    fs::rename(&workplace.repository, &moved).unwrap();
    let known = work(&host(&moved), "after", 1);
    assert_eq!(replicas(&sound(&moved, &known)).len(), 1);
    cli(&moved, &["agent", "register", "--name", "there"]).succeeded();
    assert_eq!(replicas(&sound(&moved, &known)).len(), 1);
}

#[test]
fn a_mark_that_is_gone_or_torn_mints_one_replica_and_no_more() {
    for damage in ["rm foremerge/mark", ": > foremerge/mark", "printf 'rep_00' > foremerge/mark"] {
        let workplace = Workplace::busy(1);
        shell(&workplace.git_dir(), damage);
        cli(&workplace.repository, &["events", "audit"]).succeeded();
        let known = work(&host(&workplace.repository), "after", 1);
        register(&host(&workplace.repository), "later").unwrap();
        assert_eq!(replicas(&sound(&workplace.repository, &known)).len(), 2, "{damage}");
    }
}

#[test]
fn scratch_files_may_be_deleted_after_a_checkpoint() {
    let workplace = Workplace::busy(2);
    let known: Vec<_> = sound(&workplace.repository, &[]).into_iter().map(|event| event.entity_id).collect();
    workplace.checkpoint();
    for (wal, shm) in [(true, true), (true, false), (false, true)] {
        if wal {
            fs::remove_file(workplace.wal()).unwrap();
        }
        if shm {
            fs::remove_file(workplace.shm()).unwrap();
        }
        let audit = cli(&workplace.repository, &["events", "audit"]).succeeded();
        assert_eq!(audit["events_verified"].as_u64(), Some(known.len() as u64));
    }
    cli(&workplace.repository, &["agent", "register", "--name", "after"]).succeeded();
    assert_eq!(replicas(&sound(&workplace.repository, &known)).len(), 1);
}

#[test]
fn a_deleted_log_leaves_what_it_did_not_hold_and_the_audit_names_the_first_missing_event() {
    let workplace = Workplace::busy(2);
    workplace.checkpoint();
    let kept = sound(&workplace.repository, &[]);
    work(&host(&workplace.repository), "lost", 2);
    fs::remove_file(workplace.wal()).unwrap();
    fs::remove_file(workplace.shm()).unwrap();
    cli(&workplace.repository, &["status"]).succeeded();
    let events = cli(&workplace.repository, &["events", "list"]).succeeded();
    assert_eq!(events.as_array().unwrap().len(), kept.len());
    let audit = cli(&workplace.repository, &["events", "audit"]);
    assert_eq!(audit.status.code(), Some(6));
    assert_eq!(audit.envelope["data"]["valid"], false);
    assert_eq!(audit.envelope["data"]["first_bad_seq"].as_u64(), Some(kept.len() as u64 + 1));
}

#[test]
fn a_backup_laid_under_a_log_that_is_not_its_own_is_refused_or_found_by_the_audit() {
    let workplace = Workplace::busy(2);
    workplace.checkpoint();
    let backup = fs::read(workplace.file()).unwrap();
    work(&host(&workplace.repository), "later", 6);
    workplace.checkpoint();
    work(&host(&workplace.repository), "in the log", 1);
    fs::write(workplace.file(), backup).unwrap();
    let audit = cli(&workplace.repository, &["events", "audit"]);
    assert!(matches!(audit.status.code(), Some(5 | 6)), "{}", audit.envelope);
}

#[test]
fn a_loss_is_seen_even_when_the_replica_that_recorded_it_is_lost_too() {
    let workplace = Workplace::busy(1);
    workplace.checkpoint();
    let kept = sound(&workplace.repository, &[]).len() as u64;
    // Whoever records next is a new replica, introduced in the log alone.
    fs::remove_file(workplace.ledger_dir().join("mark")).unwrap();
    work(&host(&workplace.repository), "lost", 1);
    fs::remove_file(workplace.wal()).unwrap();
    fs::remove_file(workplace.shm()).unwrap();
    let audit = cli(&workplace.repository, &["events", "audit"]);
    assert_eq!(audit.status.code(), Some(6), "{}", audit.envelope);
    assert_eq!(audit.envelope["data"]["first_bad_seq"].as_u64(), Some(kept + 1));
}

#[test]
fn reading_leaves_no_trace() {
    let workplace = Workplace::busy(2);
    let before = listing(&workplace.git_dir());
    for command in
        [&["status"][..], &["agent", "list"], &["events", "audit"], &["conflicts", "list"], &["init"]]
    {
        cli(&workplace.repository, command).succeeded();
    }
    crate::workplace::unchanged(&before, &listing(&workplace.git_dir()));
}
