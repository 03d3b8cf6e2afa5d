//! What several ledgers say of one piece of work: exactly one of them is right, and all know which.

use foremerge::domain::conflict::Tier;
use foremerge::domain::event::Replica;
use foremerge::domain::fact::{
    ClaimCreated, ConflictBetween, ConflictDetected, ConflictResolved, CoordinationRead, CoordinationSent,
    Fact, IntentAdopted, LifecycleTransitioned, PairFindings, SightedAt, Sighting, WorkDiscarded,
};
use foremerge::domain::{
    Agent, Claim, Conflict, ConflictStatus, Id, Intent, IntentStatus, Message, MessageStatus, Rule,
    ScopeKind, Severity, Timestamp,
};
use foremerge::ledger::exchange::Carried;
use foremerge::ledger::replay::Part;

use crate::simulator::{Node, hand_over};
use crate::simulator_told::{Told, chained};
use crate::simulator_what::published;

const OWNER: u8 = 0xa0;

fn agent(number: u8) -> Id<Agent> {
    Id::from_bytes([number; 16])
}

fn intent(number: u8) -> Id<Intent> {
    Id::from_bytes([number; 16])
}

/// The only event of replica `number`, at a time of its own.
fn said(number: u8, lamport: u64, entity: &impl ToString, by: u8, fact: &Fact) -> Carried {
    let told = Told::by(entity.to_string(), agent(by), fact);
    let replica: Id<Replica> = Id::from_bytes([number; 16]);
    let mut event = told.after(None, usize::from(number), replica, 0, None);
    event.lamport = lamport;
    chained(event, None)
}

/// An intent of the owner, published by replica 1 at time 1.
fn work() -> Carried {
    said(1, 1, &intent(1), OWNER, &Fact::IntentPublished(published(&[], "s")))
}

/// Ledgers that hear these events one way round and the other.
fn heard(events: &[Carried]) -> [Node; 2] {
    let (one, other) = (Node::new(61), Node::new(62));
    for (event, from_the_end) in events.iter().zip(events.iter().rev()) {
        hand_over(&one, vec![event.clone()]);
        hand_over(&other, vec![from_the_end.clone()]);
    }
    assert_eq!(one.state(Part::Shared), other.state(Part::Shared), "the order of arrival decided");
    [one, other]
}

/// Why the event has no effect; `None` when it has one.
fn why_not(node: &Node, event: &Carried) -> Option<String> {
    node.events().into_iter().find(|listed| listed.event_id == event.event_id).unwrap().why_not_effective
}

/// A conflict between the intents 1 and 2, found by replica 2 at time 2.
fn finding() -> (Carried, Id<Conflict>) {
    let at = SightedAt { tier: Tier::Same, scopes: (0, 0), operations: None, inferred: (false, false) };
    let found = Sighting {
        rule: Rule::SharedContract,
        at: Some(at),
        similarity: None,
        asserted: false,
        severity: Severity::Medium,
        score: 970,
    };
    let fact = ConflictDetected {
        scopes: vec![(ScopeKind::Symbol, "pay".to_owned())],
        pairs: vec![PairFindings { with: intent(2), found: vec![found] }],
        omitted: 0,
    };
    let id = fact.identity(intent(1), intent(2), &fact.pairs[0].found[0]).unwrap();
    (said(2, 2, &intent(1), OWNER, &Fact::ConflictDetected(fact)), id)
}

fn status(node: &Node, conflict: Id<Conflict>) -> ConflictStatus {
    node.ledger.read(|snapshot| snapshot.conflict(conflict)).unwrap().status
}

#[test]
fn of_two_ledgers_that_adopt_one_intent_at_once_exactly_one_does_everywhere() {
    let adopted = || IntentAdopted { from_agent_id: agent(OWNER), reason: "gone".to_owned() };
    let adopts = |number, by| said(number, 2, &intent(1), by, &Fact::IntentAdopted(adopted()));
    let (one, other) = (adopts(2, 0xb0), adopts(3, 0xc0));
    let late = said(4, 3, &intent(1), OWNER, &Fact::WorkDiscarded(WorkDiscarded { reason: "moot".into() }));
    for node in heard(&[work(), one.clone(), other.clone(), late.clone()]) {
        assert_eq!(why_not(&node, &one), None, "of equal times the smaller replica comes first");
        assert_eq!(why_not(&node, &other).as_deref(), Some("the intent had another owner by then"));
        assert_eq!(why_not(&node, &late).as_deref(), Some("it was not done by the owner of the intent"));
        let intent = node.ledger.read(|snapshot| snapshot.intent(intent(1))).unwrap();
        assert_eq!((intent.agent_id, intent.status), (agent(0xb0), IntentStatus::Intent));
    }
}

#[test]
fn a_step_is_folded_by_the_table_and_not_by_what_it_says_it_came_from() {
    use IntentStatus::{Claimed, InProgress, Intent, Provisional};

    let goes = |number, lamport, from, to| {
        let fact = Fact::LifecycleTransitioned(LifecycleTransitioned { from, to });
        said(number, lamport, &intent(1), OWNER, &fact)
    };
    let early = goes(2, 2, Claimed, InProgress);
    let (first, second) = (goes(3, 3, Intent, Claimed), goes(4, 3, Intent, Claimed));
    let start = goes(5, 4, Provisional, InProgress);
    let back = goes(6, 5, Intent, Claimed);
    let all = [work(), early.clone(), first.clone(), second.clone(), start.clone(), back.clone()];
    for node in heard(&all) {
        for event in [&first, &second, &start] {
            assert_eq!(why_not(&node, event), None);
        }
        assert_eq!(why_not(&node, &early).as_deref(), Some("the intent was in another state by then"));
        assert_eq!(why_not(&node, &back).as_deref(), Some("the intent is further on already"));
        let intent = node.ledger.read(|snapshot| snapshot.intent(intent(1))).unwrap();
        assert_eq!(intent.status, InProgress);
    }
}

#[test]
fn two_intents_that_name_one_claim_each_have_their_own() {
    let other = said(2, 1, &intent(2), OWNER, &Fact::IntentPublished(published(&[], "s")));
    let claim: Id<Claim> = Id::from_bytes([3; 16]);
    let claims = |number, lamport, intent, minute: i64| {
        let fact = ClaimCreated {
            intent_id: intent,
            kind: ScopeKind::Symbol,
            key: "Pay".to_owned(),
            full: "pay".to_owned(),
            alias: None,
            reason: None,
            lease_expires_at: Timestamp::from_millis(minute * 60_000),
        };
        said(number, lamport, &claim, OWNER, &Fact::ClaimCreated(fact))
    };
    let (one, two) = (claims(3, 2, intent(1), 1), claims(4, 2, intent(2), 2));
    let again = claims(5, 3, intent(1), 3);
    for node in heard(&[work(), other, one.clone(), two.clone(), again.clone()]) {
        assert_eq!((why_not(&node, &one), why_not(&node, &two)), (None, None));
        assert_eq!(why_not(&node, &again).as_deref(), Some("the claim is there already"));
        for number in [1, 2] {
            let read = node.ledger.read(|snapshot| {
                snapshot
                    .claim(intent(number), claim, Timestamp::from_millis(0))
                    .map(|claim| claim.lease_expires_at)
            });
            assert_eq!(read.unwrap(), Timestamp::from_millis(i64::from(number) * 60_000));
        }
    }
}

#[test]
fn a_message_that_nobody_sent_is_about_nothing() {
    let (found, conflict) = finding();
    let about = ConflictBetween { conflict_id: conflict, between: (intent(1), intent(2)) };
    let fact = CoordinationSent { to_agent_id: agent(0xb0), message: "?".into(), about: Some(about) };
    let message: Id<Message> = Id::from_bytes([4; 16]);
    let sent = said(3, 3, &message, OWNER, &Fact::CoordinationSent(fact.clone()));
    let nobody = chained(Carried { agent_id: None, ..sent.clone() }, None);
    let nothing = said(3, 3, &"msg_04", OWNER, &Fact::CoordinationSent(fact));
    for astray in [nobody, nothing] {
        for node in heard(&[found.clone(), astray.clone()]) {
            let why = why_not(&node, &astray);
            assert_eq!(why.as_deref(), Some("it names nothing that it could have happened to"));
            assert_eq!(status(&node, conflict), ConflictStatus::Open);
        }
    }
    for node in heard(&[found, sent.clone()]) {
        assert_eq!((why_not(&node, &sent), status(&node, conflict)), (None, ConflictStatus::Coordinating));
    }
}

#[test]
fn a_reading_that_names_a_message_twice_marks_it() {
    let message: Id<Message> = Id::from_bytes([4; 16]);
    let fact = CoordinationSent { to_agent_id: agent(0xb0), message: "?".into(), about: None };
    let sent = said(1, 1, &message, OWNER, &Fact::CoordinationSent(fact));
    let read = Fact::CoordinationRead(CoordinationRead { messages: vec![message, message] });
    let read = said(2, 2, &agent(0xb0), 0xb0, &read);
    for node in heard(&[sent, read.clone()]) {
        assert_eq!(why_not(&node, &read), None);
        let message = node.ledger.read(|snapshot| snapshot.message(message)).unwrap();
        assert_eq!(message.status, MessageStatus::Read);
    }
}

#[test]
fn a_resolution_of_what_is_no_conflict_settles_nothing() {
    let (found, conflict) = finding();
    let fact = ConflictResolved {
        decision_id: Id::from_bytes([5; 16]),
        between: (intent(2), intent(1)),
        conflicts: vec![conflict],
        resolution: "split".to_owned(),
        rationale: "agreed".to_owned(),
    };
    let astray = said(3, 3, &"cfl_05", OWNER, &Fact::ConflictResolved(fact.clone()));
    let first = said(4, 4, &conflict, OWNER, &Fact::ConflictResolved(fact.clone()));
    let second = said(5, 5, &conflict, OWNER, &Fact::ConflictResolved(fact));
    for node in heard(&[found, astray.clone(), first.clone(), second.clone()]) {
        let why = why_not(&node, &astray);
        assert_eq!(why.as_deref(), Some("it names nothing that it could have happened to"));
        assert_eq!(why_not(&node, &first), None);
        assert_eq!(why_not(&node, &second).as_deref(), Some("nothing it names was still open"));
        assert_eq!(status(&node, conflict), ConflictStatus::Resolved);
    }
}
