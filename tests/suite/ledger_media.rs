//! Media that refuse: read-only ones, full ones, and files exchanged under a running process.

use std::fs;
use std::path::Path;

use foremerge::failure::Code;

use crate::child::{self, Job, Order};
use crate::mount::Mount;
use crate::sandbox::{Sandbox, git};
use crate::workplace::{
    Workplace, call, cli, host, leftovers, listing, publish, register, sound, unchanged, work,
};
use serde_json::json;

/// A repository on a file system of its own.
fn on_a_medium(kibibytes: u32, what_is_skipped: &str) -> Option<(Mount, Workplace)> {
    let sandbox = Sandbox::new();
    let mount = Mount::in_memory(&sandbox.path("medium"), kibibytes, what_is_skipped)?;
    let repository = sandbox.path("medium/repository");
    git(&sandbox.root, &["init", "-q", "-b", "main", "--template=", repository.to_str().unwrap()]);
    git(&repository, &["commit", "-q", "--allow-empty", "-m", "first"]);
    Some((mount, Workplace { sandbox, repository }))
}

#[track_caller]
fn readable_but_not_writable(repository: &Path, events: usize) {
    let before = listing(repository);
    let listed = cli(repository, &["events", "list", "--limit", "1000"]).succeeded();
    assert_eq!(listed.as_array().unwrap().len(), events);
    let audit = cli(repository, &["events", "audit"]).succeeded();
    assert_eq!(audit["events_verified"].as_u64(), Some(events as u64));
    cli(repository, &["status"]).succeeded();
    assert_eq!(cli(repository, &["init"]).succeeded()["created"], false);
    let agent = listed[0]["entity_id"].as_str().unwrap();
    let intent = listed[1]["entity_id"].as_str().unwrap();
    // Naming who looks would be written down; that it cannot be must not matter.
    cli(repository, &["intent", "show", intent, "--agent", agent]).succeeded();
    let publish = ["intent", "publish", "--agent", agent, "--task", "t", "--summary", "s"];
    for write in [&["agent", "register", "--name", "late"][..], &publish] {
        let answer = cli(repository, write);
        answer.refused("LEDGER_READONLY");
        assert!(answer.envelope["error"]["message"].as_str().unwrap().contains("write access"));
    }
    unchanged(&before, &listing(repository));
}

#[test]
fn a_read_only_medium_is_read_and_not_written() {
    let skipped = "reading from a read-only medium";
    for (live_log, delete) in [
        (false, &[][..]),
        (false, &["state.sqlite3-wal", "state.sqlite3-shm"]),
        (false, &["state.sqlite3-shm"]),
        (true, &[]),
        (true, &["state.sqlite3-shm"]),
    ] {
        let Some((mount, workplace)) = on_a_medium(8192, skipped) else { return };
        cli(&workplace.repository, &["init"]).succeeded();
        let known = work(&host(&workplace.repository), "before", 3);
        let events = sound(&workplace.repository, &known).len();
        if !live_log {
            workplace.checkpoint();
        }
        assert_eq!(fs::metadata(workplace.wal()).unwrap().len() > 0, live_log);
        for name in delete {
            fs::remove_file(workplace.ledger_dir().join(name)).unwrap();
        }
        mount.read_only();
        readable_but_not_writable(&workplace.repository, events);
        mount.writable();
        let known = work(&host(&workplace.repository), "after", 1);
        sound(&workplace.repository, &known);
    }
}

#[test]
fn a_directory_without_write_permission_is_read_and_not_written() {
    use std::os::unix::fs::PermissionsExt;
    let workplace = Workplace::busy(2);
    let events = sound(&workplace.repository, &[]).len();
    let set = |directory: u32, file: u32| {
        let entries = fs::read_dir(workplace.ledger_dir()).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<_> = entries.collect();
        fs::set_permissions(workplace.ledger_dir(), fs::Permissions::from_mode(0o755)).unwrap();
        for path in files {
            fs::set_permissions(path, fs::Permissions::from_mode(file)).unwrap();
        }
        fs::set_permissions(workplace.ledger_dir(), fs::Permissions::from_mode(directory)).unwrap();
    };
    set(0o555, 0o444);
    if fs::File::options().write(true).open(workplace.file()).is_ok() {
        eprintln!("SKIPPED: reading without write permission: it does not bind this user");
    } else {
        readable_but_not_writable(&workplace.repository, events);
    }
    set(0o755, 0o644);
}

#[test]
fn a_repository_on_a_read_only_medium_gets_no_ledger() {
    let Some((mount, workplace)) = on_a_medium(4096, "making a ledger on a read-only medium") else { return };
    mount.read_only();
    let before = listing(&workplace.repository);
    cli(&workplace.repository, &["init"]).refused("LEDGER_READONLY");
    cli(&workplace.repository, &["status"]).refused("NOT_INITIALIZED");
    unchanged(&before, &listing(&workplace.repository));
}

#[test]
fn who_may_only_read_sees_what_others_write_meanwhile() {
    for scratch in [true, false] {
        let workplace = Workplace::busy(1);
        let view = workplace.sandbox.path("view");
        let skipped = "a sandbox that may only read";
        let Some(_mount) = Mount::read_only_view(&workplace.repository, &view, skipped) else { return };
        if !scratch {
            workplace.checkpoint();
            fs::remove_file(workplace.wal()).unwrap();
            fs::remove_file(workplace.shm()).unwrap();
        }
        let inside = host(&view);
        let seen = |name: &str| {
            let agents = call(&inside, "list_agents", json!({})).unwrap();
            agents.as_array().unwrap().iter().any(|agent| agent["name"] == name)
        };
        assert!(seen("busy-0"));
        // The others are other processes: within one, SQLite shares what it may do with a file.
        let outside = &workplace.repository;
        for round in 0..6 {
            let name = format!("round-{round}");
            cli(outside, &["agent", "register", "--name", &name]).succeeded();
            assert!(seen(&name), "{name} was written and is not seen");
            if round % 2 == 1 {
                let at = &workplace.file();
                let order = Order { job: Job::Checkpoint, at, name: "", rounds: 0, crash: None };
                assert!(child::run(&order).status.success());
                assert!(seen(&name), "{name} is gone after a checkpoint");
            }
            assert_eq!(register(&inside, "late").unwrap_err().code, Code::LedgerReadonly);
        }
        assert_eq!(call(&inside, "audit_events", json!({})).unwrap()["valid"], true);
    }
}

#[test]
fn a_full_disk_refuses_writes_and_loses_nothing() {
    let Some((mount, workplace)) = on_a_medium(4096, "writing to a full disk") else { return };
    let at = &workplace.repository;
    cli(at, &["init"]).succeeded();
    let running = host(at);
    let mut known = work(&running, "before", 2);
    let (mut refused, mut accepted) = (0, 0);
    for pages in [0, 1, 2, 5, 10, 20, 40, 60, 80, 120, 160, 240] {
        mount.fill_but(pages);
        for round in 0..3 {
            let written = match register(&running, &format!("tight-{pages}-{round}")) {
                Ok(agent) => {
                    known.push(agent.clone());
                    publish(&running, &agent, round).inspect(|intent| known.push(intent.clone()))
                }
                Err(failure) => Err(failure),
            };
            match written {
                Ok(_) => accepted += 1,
                Err(failure) => {
                    assert_eq!(failure.code, Code::LedgerReadonly, "{failure}");
                    assert!(failure.message.contains("free space"), "{failure}");
                    refused += 1;
                }
            }
        }
        let answer = cli(at, &["agent", "register", "--name", "another process"]);
        match answer.envelope["data"]["id"].as_str() {
            Some(agent) => known.push(agent.to_owned()),
            None => answer.refused("LEDGER_READONLY"),
        }
        let listed = cli(at, &["events", "audit"]).succeeded();
        assert!(listed["events_verified"].as_u64().unwrap() >= known.len() as u64);
        mount.free();
        known.push(register(&running, &format!("roomy-{pages}")).unwrap());
        sound(at, &known);
        workplace.checkpoint();
    }
    assert!(refused > 3 && accepted > 3, "{refused} refused, {accepted} accepted");
}

#[test]
fn an_init_on_a_full_disk_leaves_nothing_behind() {
    let Some((mount, workplace)) = on_a_medium(4096, "making a ledger on a full disk") else { return };
    let (mut refused, mut made) = (0, 0);
    for pages in (0..8).chain((8..260).step_by(12)) {
        mount.fill_but(pages);
        let before = listing(&workplace.git_dir());
        let answer = cli(&workplace.repository, &["init"]);
        if answer.status.success() {
            made += 1;
            mount.free();
            sound(&workplace.repository, &work(&host(&workplace.repository), "after", 1));
            fs::remove_dir_all(workplace.ledger_dir()).unwrap();
        } else {
            refused += 1;
            answer.refused("LEDGER_READONLY");
            unchanged(&before, &listing(&workplace.git_dir()));
        }
        assert_eq!(leftovers(&workplace.git_dir()), [""; 0]);
    }
    assert!(refused > 3 && made > 0, "{refused} refused, {made} made");
}

/// What processes that have the ledger open say after `exchange` of its file: each refuses one call, and with
/// the next one looks at what is there now.
fn after_an_exchange(wrote_before: bool, exchange: impl Fn(&Workplace)) {
    let workplace = Workplace::busy(1);
    workplace.checkpoint();
    let running = [(); 3].map(|()| host(&workplace.repository));
    for host in &running {
        call(host, "list_agents", json!({})).unwrap();
        if wrote_before {
            register(host, "before").unwrap();
        }
    }
    let watched = running[0].ledger().unwrap();
    let mut feed = foremerge::ledger::feed::Feed::new(&watched, 0).unwrap();
    assert!(!feed.poll(10).unwrap().is_empty());
    exchange(&workplace);
    let before = listing(&workplace.git_dir());
    let refusals = [
        call(&running[0], "list_agents", json!({})).map(drop),
        register(&running[1], "late").map(drop),
        call(&running[2], "audit_events", json!({})).map(drop),
    ];
    for refusal in refusals {
        let refusal = refusal.unwrap_err();
        assert_eq!(refusal.code, Code::LedgerReplaced, "{refusal}");
    }
    for _ in 0..2 {
        let poll = feed.poll(10).unwrap_err();
        assert!(matches!(poll, foremerge::ledger::Error::Replaced(_)), "{poll}");
    }
    unchanged(&before, &listing(&workplace.git_dir()));
    let fresh = call(&host(&workplace.repository), "list_agents", json!({}));
    let next = call(&running[0], "list_agents", json!({}));
    assert_eq!(next.map_err(|failure| failure.code), fresh.map_err(|failure| failure.code));
}

#[test]
fn a_file_exchanged_or_deleted_under_a_running_process_refuses_the_call_that_notices_it() {
    for wrote_before in [false, true] {
        // By a copy of itself, by another ledger, by noise, by nothing; the directory by nothing and by another one.
        after_an_exchange(wrote_before, |workplace| {
            fs::copy(workplace.file(), workplace.sandbox.path("copy")).unwrap();
            fs::rename(workplace.sandbox.path("copy"), workplace.file()).unwrap();
        });
        after_an_exchange(wrote_before, |workplace| {
            fs::copy(Workplace::busy(1).file(), workplace.sandbox.path("copy")).unwrap();
            fs::rename(workplace.sandbox.path("copy"), workplace.file()).unwrap();
        });
        after_an_exchange(wrote_before, |workplace| {
            fs::write(workplace.sandbox.path("noise"), "noise").unwrap();
            fs::rename(workplace.sandbox.path("noise"), workplace.file()).unwrap();
        });
        after_an_exchange(wrote_before, |workplace| fs::remove_file(workplace.file()).unwrap());
        after_an_exchange(wrote_before, |workplace| fs::remove_dir_all(workplace.ledger_dir()).unwrap());
        after_an_exchange(wrote_before, |workplace| {
            fs::rename(workplace.ledger_dir(), workplace.git_dir().join("old")).unwrap();
            cli(&workplace.repository, &["init"]).succeeded();
        });
    }
}
