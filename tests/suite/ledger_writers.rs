//! Many processes at one ledger: nobody fails, nobody is lost, nobody waits for ever.

use std::sync::Arc;
use std::time::Duration;

use foremerge::failure::Code;
use foremerge::ledger::{self, Ledger, Patience, Place, Settings, audit};
use foremerge::world::Real;

use crate::child::{Ended, Job, Order, Worker};
use crate::workplace::{Workplace, events, host_in, open, register, sound};

/// `processes` processes that register and publish `rounds` times each, begun at the same moment.
fn crowd(workplace: &Workplace, processes: u64, rounds: u64) -> Vec<Worker> {
    let mut workers: Vec<_> = (0..processes)
        .map(|number| {
            let (at, name) = (&workplace.repository, format!("writer-{number}"));
            Worker::start(&Order { job: Job::Work, at, name: &name, rounds, crash: None })
        })
        .collect();
    workers.iter_mut().for_each(Worker::go);
    workers
}

/// Waits for the crowd while a reader holds on to the moment before it came.
fn beside_a_reader(workplace: &Workplace, processes: u64, rounds: u64) -> Vec<Ended> {
    let ledger = open(&workplace.repository);
    let ended = ledger.read::<_, ledger::Error>(|now| {
        assert_eq!(now.last_seq()?, 0);
        let ended: Vec<_> = crowd(workplace, processes, rounds).into_iter().map(Worker::end).collect();
        assert_eq!(now.last_seq()?, 0, "a reader stays in its moment");
        Ok(ended)
    });
    let ended = ended.unwrap();
    let mut known = Vec::new();
    for one in &ended {
        assert!(one.status.success(), "{}", one.said);
        assert_eq!(one.acknowledged.len() as u64, rounds * 2);
        known.extend(one.acknowledged.iter().cloned());
    }
    sound(&workplace.repository, &known);
    ended
}

#[test]
fn eight_processes_write_beside_a_long_reader_and_nothing_is_lost() {
    beside_a_reader(&Workplace::new(), 8, 6);
}

#[test]
#[ignore = "deep: 30 processes with 100 writes each"]
fn thirty_processes_write_a_hundred_times_beside_a_long_reader_and_nothing_is_lost() {
    let ended = beside_a_reader(&Workplace::new(), 30, 50);
    let mut took: Vec<_> = ended.iter().map(|one| one.took.unwrap()).collect();
    took.sort_unstable();
    let (median, slowest) = (took[took.len() / 2], took[took.len() - 1]);
    eprintln!("each writer's milliseconds: {took:?}");
    eprintln!("slowest {slowest} / median {median} = {}%", slowest * 100 / median.max(1));
}

#[test]
fn an_audit_beside_writers_finds_no_fault() {
    let workplace = Workplace::new();
    let ledger = open(&workplace.repository);
    let crowd = crowd(&workplace, 3, 12);
    let finished = std::thread::spawn(move || crowd.into_iter().map(Worker::end).collect::<Vec<_>>());
    let mut audits = 0;
    while !finished.is_finished() {
        let page = 1 + audits % 20;
        let found = audit::audit(&ledger, page, |_| true).unwrap();
        assert_eq!(found.fault, None, "after {} events", found.events_verified);
        audits += 1;
    }
    assert!(finished.join().unwrap().iter().all(|one| one.status.success()));
    assert!(audits > 3, "only {audits} audits ran beside the writers");
    let ids: Vec<_> = events(&ledger).into_iter().map(|event| event.entity_id).collect();
    sound(&workplace.repository, &ids);
}

/// A process that has the turn to write and does not give it back.
fn somebody_holds_the_turn(workplace: &Workplace) -> Worker {
    let at = &workplace.ledger_dir();
    let mut holder =
        Worker::start(&Order { job: Job::HoldTheTurn, at, name: "holder", rounds: 0, crash: None });
    holder.go();
    holder.wait_for("HOLDING");
    holder
}

fn impatient() -> Settings {
    Settings { patience: Duration::from_millis(300), ..Settings::default() }
}

#[test]
fn a_write_whose_turn_does_not_come_is_refused_and_never_happens() {
    let workplace = Workplace::new();
    let host = host_in(&workplace.repository, Arc::new(Real), impatient());
    let holder = somebody_holds_the_turn(&workplace);
    for name in ["given up", "given up too"] {
        let failure = register(&host, name).unwrap_err();
        assert_eq!(failure.code, Code::NotReady);
        assert!(failure.code.is_retryable());
    }
    holder.end();
    let known = register(&host, "patient").unwrap();
    drop(host);
    let events = sound(&workplace.repository, std::slice::from_ref(&known));
    assert_eq!(events.len(), 1, "what was given up must not happen later");
}

#[test]
fn a_write_that_is_given_up_leaves_no_thread_behind_that_writes_after_its_ledger_is_dropped() {
    let workplace = Workplace::new();
    let host = host_in(&workplace.repository, Arc::new(Real), impatient());
    let holder = somebody_holds_the_turn(&workplace);
    assert_eq!(register(&host, "given up").unwrap_err().code, Code::NotReady);
    drop(host);
    holder.end();
    assert_eq!(sound(&workplace.repository, &[]).len(), 0);
}

#[test]
fn what_is_only_nice_to_have_does_not_wait_behind_what_waits() {
    let workplace = Workplace::new();
    let place = Place::in_directory(workplace.ledger_dir());
    let settings = Settings { patience: Duration::from_secs(60), ..Settings::default() };
    let ledger = Arc::new(Ledger::open(place, settings, Arc::new(Real)).unwrap());
    let holder = somebody_holds_the_turn(&workplace);
    let waiting = Arc::clone(&ledger);
    let (asked, asking) = std::sync::mpsc::channel();
    let waiting = std::thread::spawn(move || {
        asked.send(()).unwrap();
        waiting.write::<_, ledger::Error>(Patience::Wait, |now| now.last_seq())
    });
    asking.recv().unwrap();
    for _ in 0..3 {
        let skipped = ledger.write::<_, ledger::Error>(Patience::Skip, |now| now.last_seq());
        assert!(matches!(skipped, Err(ledger::Error::Busy(_))), "{skipped:?}");
    }
    assert!(!waiting.is_finished(), "the patient one still waits");
    holder.end();
    assert_eq!(waiting.join().unwrap(), Ok(0));
}
