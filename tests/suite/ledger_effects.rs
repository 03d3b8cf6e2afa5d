//! Events without effect say why, and come into effect when what was missing arrives.

use foremerge::domain::event::Replica;
use foremerge::domain::fact::{AgentRegistered, Fact};
use foremerge::domain::{Event, Id};
use foremerge::ledger::exchange::Carried;
use foremerge::ledger::replay::Part;

use crate::simulator::{Node, hand_over};
use crate::simulator_told::{Told, chained};
use crate::simulator_what::published;

/// The only event of replica `number`, at a time of its own.
fn said(number: u8, lamport: u64, fact: &Fact, cause: Option<Id<Event>>) -> Carried {
    let (event_type, version, entity_type) = fact.heading();
    let entity_id = match fact {
        Fact::AgentRegistered(_) => format!("agt_{}", "01".repeat(16)),
        _ => format!("int_{}", "02".repeat(16)),
    };
    let told = Told {
        event_type: event_type.to_owned(),
        version,
        entity_type: entity_type.to_owned(),
        entity_id,
        agent_id: Some(format!("agt_{}", "01".repeat(16))),
        shared: fact.shared().unwrap(),
    };
    let replica: Id<Replica> = Id::from_bytes([number; 16]);
    let mut event = told.after(None, usize::from(number), replica, 0, cause);
    event.lamport = lamport;
    chained(event, None)
}

fn agent(name: &str) -> Fact {
    Fact::AgentRegistered(AgentRegistered {
        name: name.to_owned(),
        model: None,
        capabilities: Vec::new(),
        git_branch: None,
        git_head: None,
        worktree: None,
    })
}

fn intent() -> Fact {
    Fact::IntentPublished(published(&[], "s"))
}

/// Why the event has no effect; `None` when it has one.
fn why_not(node: &Node, event: &Carried) -> Option<String> {
    let listed = node.events().into_iter().find(|listed| listed.event_id == event.event_id).unwrap();
    assert_eq!(listed.effective, listed.why_not_effective.is_none());
    listed.why_not_effective
}

#[test]
fn an_event_comes_into_effect_when_its_cause_arrives_and_goes_out_of_it_when_the_cause_does() {
    let node = Node::new(31);
    let cause = said(1, 5, &agent("second"), None);
    let following = said(2, 6, &intent(), Some(cause.event_id));
    let last = said(3, 7, &intent(), Some(following.event_id));
    let earlier = said(4, 1, &agent("first"), None);

    hand_over(&node, vec![last.clone()]);
    assert_eq!(why_not(&node, &last).as_deref(), Some("its cause is not known here"));
    hand_over(&node, vec![following.clone()]);
    assert_eq!(why_not(&node, &following).as_deref(), Some("its cause is not known here"));
    assert_eq!(why_not(&node, &last).as_deref(), Some("its cause had no effect"), "the reason moves on");

    hand_over(&node, vec![cause.clone()]);
    assert_eq!(why_not(&node, &cause), None);
    assert_eq!(why_not(&node, &following), None);
    assert_eq!(why_not(&node, &last).as_deref(), Some("the intent is published already"));
    let published = format!("int_{}", "02".repeat(16)).parse().unwrap();
    assert!(node.ledger.read(|snapshot| snapshot.intent(published)).is_ok());

    hand_over(&node, vec![earlier.clone()]);
    assert_eq!(why_not(&node, &earlier), None);
    assert_eq!(why_not(&node, &cause).as_deref(), Some("the agent is registered already"));
    assert_eq!(why_not(&node, &following).as_deref(), Some("its cause had no effect"));
    assert_eq!(why_not(&node, &last).as_deref(), Some("its cause had no effect"));
    assert!(node.ledger.read(|snapshot| snapshot.intent(published)).is_err());
    assert_eq!(node.audit().fault, None);
}

#[test]
fn of_two_ledgers_that_publish_one_intent_the_earlier_event_counts_everywhere() {
    let (one, other) = (said(1, 3, &intent(), None), said(2, 3, &intent(), None));
    for order in [[&one, &other], [&other, &one]] {
        let node = Node::new(32);
        for event in order {
            hand_over(&node, vec![event.clone()]);
        }
        assert_eq!(why_not(&node, &one), None, "of equal times the smaller replica comes first");
        assert_eq!(why_not(&node, &other).as_deref(), Some("the intent is published already"));
    }
}

#[test]
fn an_event_is_not_caused_by_itself_or_by_what_comes_after_it() {
    let node = Node::new(33);
    let mut itself = said(1, 3, &agent("a"), None);
    itself.cause = Some(itself.event_id);
    let itself = chained(itself, None);
    let later = said(2, 9, &intent(), None);
    let mut earlier = said(3, 8, &agent("b"), Some(later.event_id));
    earlier.entity_id = format!("agt_{}", "03".repeat(16));
    let earlier = chained(earlier, None);
    for event in [&later, &itself, &earlier] {
        hand_over(&node, vec![event.clone()]);
    }
    for event in [&itself, &earlier] {
        assert_eq!(why_not(&node, event).as_deref(), Some("its cause does not come before it"));
    }
}

#[test]
fn a_known_event_that_names_nothing_has_no_effect_and_an_unknown_one_is_not_judged() {
    let node = Node::new(34);
    let mut malformed = said(1, 1, &agent("a"), None);
    malformed.entity_id = "agt_1".to_owned();
    let malformed = chained(malformed, None);
    let mut nobody = said(2, 1, &intent(), None);
    nobody.agent_id = None;
    let nobody = chained(nobody, None);
    let mut unknown = said(3, 1, &intent(), None);
    unknown.version = 2;
    let unknown = chained(unknown, None);
    for event in [&malformed, &nobody, &unknown] {
        hand_over(&node, vec![event.clone()]);
    }
    let nothing = "it names nothing that it could have happened to";
    assert_eq!(why_not(&node, &malformed).as_deref(), Some(nothing));
    assert_eq!(why_not(&node, &nobody).as_deref(), Some("it names no agent"));
    assert_eq!(why_not(&node, &unknown), None);
}

#[test]
fn a_copied_ledger_speaks_as_a_replica_of_its_own_and_both_come_to_the_same_state() {
    let original = Node::new(35);
    original.register(Id::from_bytes([1; 16]), "before the copy", None);
    let copy = original.copied(36);
    original.register(Id::from_bytes([2; 16]), "in the original", None);
    copy.register(Id::from_bytes([2; 16]), "in the copy", None);
    let spoken = [&original, &copy].map(Node::chains);
    assert_eq!((spoken[0].len(), spoken[1].len()), (1, 2), "the copy found that it is one");
    for (to, chains) in [(&copy, &spoken[0]), (&original, &spoken[1])] {
        for chain in chains.values() {
            assert!(to.admit(chain.clone()).iter().all(Result::is_ok));
        }
    }
    assert_eq!(original.chains(), copy.chains());
    assert_eq!(original.state(Part::Shared), copy.state(Part::Shared));
    assert_eq!((original.audit().fault, copy.audit().fault), (None, None));
}
