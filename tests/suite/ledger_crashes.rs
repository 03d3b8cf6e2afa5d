//! A crash at any named point loses nothing that was acknowledged and leaves a ledger that works.

use foremerge::world::Point;

use crate::child::{self, Ended, Job, Order};
use crate::workplace::{Workplace, cli, host, leftovers, replicas, sound, work};

const INIT: [Point; 3] = [Point::InitStarted, Point::InitBuilt, Point::InitRenamed];
const WRITE: [Point; 5] =
    [Point::WriteBegun, Point::EventRecorded, Point::CommitPending, Point::Committed, Point::MarkWritten];

fn crashed(ended: &Ended) {
    use std::os::unix::process::ExitStatusExt;
    let aborted = ended.status.signal().is_some();
    assert!(aborted, "the point was never reached: {}", ended.said);
    assert_eq!(ended.took, None);
}

#[test]
fn a_crash_while_the_ledger_is_made_leaves_none_or_a_whole_one() {
    for point in INIT {
        let workplace = Workplace::without_ledger();
        let at = &workplace.repository;
        let order = Order { job: Job::Init, at, name: "init", rounds: 1, crash: Some((point, 1)) };
        crashed(&child::run(&order));
        assert_eq!(workplace.ledger_dir().exists(), point == Point::InitRenamed);
        let again = cli(at, &["init"]).succeeded();
        assert_eq!(again["created"], point != Point::InitRenamed, "{point:?}");
        assert_eq!(leftovers(&workplace.git_dir()), [""; 0]);
        let done = work(&host(at), "after", 1);
        assert_eq!(replicas(&sound(at, &done)).len(), 1);
    }
}

#[test]
fn a_crash_at_any_point_of_a_write_loses_nothing_that_was_acknowledged() {
    for point in WRITE {
        for nth in [1, 2, 4, 7] {
            let workplace = Workplace::new();
            let at = &workplace.repository;
            let mut known = work(&host(at), "before", 1);
            let order = Order { job: Job::Work, at, name: "crash", rounds: 5, crash: Some((point, nth)) };
            let ended = child::run(&order);
            crashed(&ended);
            if point != Point::EventRecorded {
                assert_eq!(ended.acknowledged.len() as u64, nth - 1, "{point:?} {nth}");
            }
            known.extend(ended.acknowledged);
            let before = sound(at, &known);
            // What was durable when the crash came stays, acknowledged or not; nothing else is there.
            let durable = matches!(point, Point::Committed | Point::MarkWritten);
            let acting = |event: &&foremerge::domain::Event| event.event_type != "conflict.detected";
            let acts = before.iter().filter(acting).count();
            assert_eq!(acts, known.len() + usize::from(durable), "{point:?} {nth}");
            known.extend(work(&host(at), "again", 1));
            let order = Order { job: Job::Work, at, name: "later", rounds: 2, crash: None };
            let later = child::run(&order);
            assert!(later.status.success(), "{}", later.said);
            known.extend(later.acknowledged);
            let events = sound(at, &known);
            assert_eq!(replicas(&events).len(), 1, "a crash mints no new replica: {point:?} {nth}");
        }
    }
}

#[test]
fn a_crash_while_two_threads_write_at_once_loses_nothing_that_was_acknowledged() {
    for point in WRITE {
        for nth in [1, 5, 12] {
            let workplace = Workplace::new();
            let at = &workplace.repository;
            let order = Order { job: Job::WorkTwice, at, name: "two", rounds: 20, crash: Some((point, nth)) };
            let ended = child::run(&order);
            crashed(&ended);
            let mut known = ended.acknowledged;
            sound(at, &known);
            let order = Order { job: Job::WorkTwice, at, name: "later", rounds: 2, crash: None };
            let later = child::run(&order);
            assert!(later.status.success(), "{}", later.said);
            assert_eq!(later.acknowledged.len(), 8);
            known.extend(later.acknowledged);
            assert_eq!(replicas(&sound(at, &known)).len(), 1, "{point:?} {nth}");
        }
    }
}
