//! The ledger comes into being once, completely or not at all.

use std::process::{Child, Stdio};

use foremerge::world::Point;

use crate::child::{self, Job, Order, Worker};
use crate::workplace::{Answer, Workplace, cli, foremerge, leftovers, sound};

fn crashing_init(workplace: &Workplace, point: Point) -> child::Ended {
    let at = &workplace.repository;
    child::run(&Order { job: Job::Init, at, name: "init", rounds: 1, crash: Some((point, 1)) })
}

fn spawn_init(workplace: &Workplace) -> Child {
    let mut command = foremerge(&workplace.repository, &["init"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn many_at_once(rounds: usize) {
    for _ in 0..rounds {
        let workplace = Workplace::without_ledger();
        // What a crash left behind makes the first ones tidy up while the others build.
        crashing_init(&workplace, Point::InitBuilt);
        assert_eq!(leftovers(&workplace.git_dir()).len(), 1);
        let children: Vec<_> = (0..16).map(|_| spawn_init(&workplace)).collect();
        let mut made = 0;
        for child in children {
            let output = child.wait_with_output().unwrap();
            let answer = Answer::read(&output, &["init"]).succeeded();
            made += u32::from(answer["created"] == true);
        }
        assert_eq!(made, 1, "exactly one made the ledger");
        assert_eq!(leftovers(&workplace.git_dir()), [""; 0]);
        let identity = std::fs::read_to_string(workplace.ledger_dir().join("repository")).unwrap();
        let ledger = crate::workplace::open(&workplace.repository);
        let bound = ledger.read::<_, foremerge::ledger::Error>(|now| now.repository()).unwrap();
        assert_eq!(identity.trim(), bound);
        assert_eq!(sound(&workplace.repository, &[]).len(), 0);
        cli(&workplace.repository, &["agent", "register", "--name", "first"]).succeeded();
    }
}

#[test]
fn sixteen_first_inits_at_once_make_exactly_one_ledger() {
    many_at_once(4);
}

#[test]
#[ignore = "deep: many rounds of the race for the first ledger"]
fn sixteen_first_inits_at_once_make_exactly_one_ledger_every_time() {
    many_at_once(60);
}

#[test]
fn an_init_that_crashes_is_cleared_away_by_the_next_one() {
    for point in [Point::InitStarted, Point::InitBuilt] {
        let workplace = Workplace::without_ledger();
        assert!(!crashing_init(&workplace, point).status.success());
        assert_eq!(leftovers(&workplace.git_dir()).len(), 1, "{point:?}");
        assert!(!workplace.ledger_dir().exists());
        cli(&workplace.repository, &["status"]).refused("NOT_INITIALIZED");
        assert_eq!(cli(&workplace.repository, &["init"]).succeeded()["created"], true);
        assert_eq!(leftovers(&workplace.git_dir()), [""; 0], "{point:?}");
    }
}

#[test]
fn an_init_that_crashes_before_it_holds_anything_is_cleared_away_too() {
    let workplace = Workplace::without_ledger();
    std::fs::create_dir(workplace.git_dir().join("foremerge.new-abcdef")).unwrap();
    cli(&workplace.repository, &["init"]).succeeded();
    assert_eq!(leftovers(&workplace.git_dir()), [""; 0]);
}

#[test]
fn what_a_crash_left_beside_a_finished_ledger_is_cleared_away() {
    let workplace = Workplace::without_ledger();
    crashing_init(&workplace, Point::InitBuilt);
    let leftover = workplace.git_dir().join(leftovers(&workplace.git_dir()).pop().unwrap());
    let aside = workplace.sandbox.path("aside");
    std::fs::rename(&leftover, &aside).unwrap();
    cli(&workplace.repository, &["init"]).succeeded();
    // It holds a token: it must not lie around for ever.
    std::fs::rename(&aside, &leftover).unwrap();
    assert_eq!(cli(&workplace.repository, &["init"]).succeeded()["created"], false);
    assert_eq!(leftovers(&workplace.git_dir()), [""; 0]);
}

#[test]
fn an_init_that_is_still_running_is_left_alone() {
    let workplace = Workplace::without_ledger();
    crashing_init(&workplace, Point::InitBuilt);
    let running = workplace.git_dir().join(leftovers(&workplace.git_dir()).pop().unwrap());
    let order = Order { job: Job::HoldTheTurn, at: &running, name: "builder", rounds: 0, crash: None };
    let mut builder = Worker::start(&order);
    builder.go();
    builder.wait_for("HOLDING");
    assert_eq!(cli(&workplace.repository, &["init"]).succeeded()["created"], true);
    assert_eq!(leftovers(&workplace.git_dir()).len(), 1, "it is being built");
    builder.end();
    cli(&workplace.repository, &["init"]).succeeded();
    assert_eq!(leftovers(&workplace.git_dir()), [""; 0]);
}

#[test]
fn files_of_others_beside_the_ledger_are_left_alone() {
    let workplace = Workplace::without_ledger();
    let theirs = workplace.git_dir().join("foremerge.new-notes");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("notes"), "mine").unwrap();
    let file = workplace.git_dir().join("foremerge.new-file");
    std::fs::write(&file, "mine").unwrap();
    cli(&workplace.repository, &["init"]).succeeded();
    assert_eq!(std::fs::read(theirs.join("notes")).unwrap(), b"mine");
    assert_eq!(std::fs::read(file).unwrap(), b"mine");
}
