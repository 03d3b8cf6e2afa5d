//! What holds for any number of ledgers, whatever happens and however it travels.

use std::collections::{BTreeMap, BTreeSet};

use foremerge::domain::fact::Fact;
use foremerge::domain::{Conflict, Digest, Event, Id, Intent, Timestamp};
use foremerge::ledger::exchange::{Admitted, Carried};
use foremerge::ledger::feed::Feed;
use foremerge::ledger::replay::Part;
use foremerge::ledger::{Error, Snapshot};
use foremerge::world::World;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

use crate::simulator::{Node, RECORDERS, SECRET, Simulation};
use crate::simulator_model::{self, Expected, ExpectedConflict, ExpectedIntent};
use crate::simulator_steps::{Step, steps};
use crate::simulator_told::chained;

/// How much longer the long variants look.
pub const LONG: u32 = 30;

/// Tries `cases` values; a failure is reported with the smallest value that still fails.
pub fn hold<S: Strategy>(cases: u32, values: &S, property: impl Fn(S::Value)) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 3_000, ..Config::default() };
    let outcome = TestRunner::new(config).run(values, |value| {
        property(value);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// Declares a property twice: a short look with every `cargo test`, a long one on demand.
macro_rules! property {
    ($name:ident, $cases:expr, $values:expr, $holds:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn in_a_short_look() {
                hold($cases, &$values, $holds);
            }

            #[test]
            #[ignore = "long: run by .ci/deep"]
            fn in_a_long_look() {
                hold($cases * LONG, &$values, $holds);
            }
        }
    };
}

pub(crate) use property;

/// Decides an order of exchange; written on one line.
#[derive(Clone)]
struct Chance(Vec<u8>);

impl std::fmt::Debug for Chance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let numbers: Vec<_> = self.0.iter().map(u8::to_string).collect();
        f.write_str(&numbers.join(" "))
    }
}

fn chance() -> impl Strategy<Value = Chance> {
    prop::collection::vec(any::<u8>(), 8..24).prop_map(Chance)
}

/// What the ledger says, in the words of the model.
fn answered(node: &Node) -> Expected {
    let events = node.events();
    for event in &events {
        assert_eq!(event.effective, event.why_not_effective.is_none(), "{event:?}");
    }
    let (mut intents, mut messages) = (BTreeMap::new(), BTreeMap::new());
    let now = node.world.now();
    node.ledger
        .read::<_, Error>(|snapshot| {
            for event in &events {
                if let Some(Ok(intent)) = Id::exact(&event.entity_id).map(|intent| snapshot.intent(intent)) {
                    intents.insert(intent.id, answered_intent(snapshot, intent, now)?);
                }
                if let Some(Ok(one)) = Id::exact(&event.entity_id).map(|message| snapshot.message(message)) {
                    let letter = (one.from_agent_id, one.to_agent_id, one.conflict_id, one.status);
                    messages.insert(one.id, letter);
                }
            }
            let agents = snapshot.agents(true, None, 10_000)?.items.into_iter();
            let conflicts = snapshot.conflicts(None, None, 10_000)?.items;
            for conflict in &conflicts {
                was_seen_as_it_is(snapshot, &events, conflict)?;
            }
            let conflicts = conflicts.into_iter();
            let shared = snapshot.derived_state(Part::Shared)?;
            Ok(Expected {
                effective: events.iter().map(|event| (event.event_id, event.effective)).collect(),
                agents: agents.map(|agent| (agent.id, (agent.name, agent.status))).collect(),
                intents,
                conflicts: conflicts.map(answered_conflict).collect(),
                messages,
                owed: shared.lines().filter_map(|line| line.strip_prefix("owed|")).map(owed).collect(),
            })
        })
        .unwrap()
}

fn answered_intent(snapshot: &Snapshot<'_>, intent: Intent, now: Timestamp) -> Result<ExpectedIntent, Error> {
    let claims = snapshot.claims_of(intent.id, now, 10_000)?.into_iter();
    let assessments = snapshot.assessments(intent.id, None, 10_000)?.items.into_iter();
    let mut assessments: Vec<_> =
        assessments.map(|one| (one.id, one.agent_id, one.related_intent_id)).collect();
    assessments.sort();
    Ok(ExpectedIntent {
        owner: intent.agent_id,
        status: intent.status,
        summary: intent.summary,
        published: intent.created_at,
        claims: claims
            .map(|claim| (claim.id, (claim.agent_id, claim.status, claim.lease_expires_at)))
            .collect(),
        assessments,
    })
}

/// Holds a conflict against the sights of it that its events tell of.
fn was_seen_as_it_is(snapshot: &Snapshot<'_>, events: &[Event], conflict: &Conflict) -> Result<(), Error> {
    let seen = snapshot.detections(conflict.id, None, 10_000)?.items;
    let (first, last) = (seen.first().unwrap(), seen.last().unwrap());
    assert_eq!(first.detected_at, conflict.detected_at);
    assert_eq!((last.severity, last.score), (conflict.severity, conflict.score));
    assert_eq!((&last.evidence, &last.explanation), (&conflict.evidence, &conflict.explanation));
    assert!(!last.previously_settled || conflict.previously_settled, "{conflict:?}");
    let places = seen.iter().map(|one| {
        let event = events.iter().find(|event| event.event_id == one.event_id).unwrap();
        assert!(event.effective && event.seq == one.seq, "{one:?}");
        (event.lamport, event.replica, event.number)
    });
    assert!(places.is_sorted_by(|one, next| one < next), "{seen:?}");
    let second = snapshot.detections(conflict.id, None, 1)?;
    if let Some(cursor) = second.next {
        assert_eq!(snapshot.detections(conflict.id, Some(cursor), 10_000)?.items, seen[1..]);
    }
    Ok(())
}

fn answered_conflict(one: Conflict) -> (Id<Conflict>, ExpectedConflict) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1")]
    let score = (one.score * 1000.0).round() as u16;
    let expected = ExpectedConflict {
        status: one.status,
        severity: one.severity,
        score,
        first: one.detected_at,
        previously_settled: one.previously_settled,
        decision: one.decision.map(|decision| decision.id),
    };
    (one.id, expected)
}

/// A row of what is owed: both intents, and which of them findings are owed to.
pub fn owed(row: &str) -> (Id<Intent>, Id<Intent>) {
    let sides: Vec<Id<Intent>> =
        row.split('|').map(|digits| format!("int_{}", digits.to_lowercase()).parse().unwrap()).collect();
    (sides[2], if sides[2] == sides[0] { sides[1] } else { sides[0] })
}

fn is_as_the_model_says(node: &Node) {
    let chains = node.chains();
    simulator_model::fold(chains.values().flatten(), node.world.now()).is_what(&answered(node));
}

fn replays_to_the_same_state(node: &Node) {
    let (live, replayed) = node.replayed();
    assert_eq!(live, replayed, "live, then replayed");
}

fn is_audited_as_valid(node: &Node) {
    let found = node.audit();
    assert_eq!(found.fault, None);
    assert_eq!(found.events_verified, node.events().len() as u64);
}

property!(folding_the_history_again_leads_to_the_state_it_had_after_every_step, 45, steps(24), |steps| {
    let mut run = Simulation::new();
    for step in &steps {
        run.step(step);
        step.ledger().map(|at| &run.nodes[at]).into_iter().for_each(replays_to_the_same_state);
    }
    run.nodes.iter().for_each(is_audited_as_valid);
});

property!(state_and_effectiveness_are_those_of_a_plain_fold_after_every_step, 55, steps(24), |steps| {
    let mut run = Simulation::new();
    for step in &steps {
        run.step(step);
        step.ledger().map(|at| &run.nodes[at]).into_iter().for_each(is_as_the_model_says);
    }
});

property!(
    every_order_of_exchange_leads_to_the_same_state,
    35,
    (steps(24), prop::collection::vec(chance(), RECORDERS + 3)),
    |(steps, chances): (Vec<Step>, Vec<Chance>)| {
        let mut run = Simulation::of(&steps);
        run.nodes.push(Node::new(90));
        run.nodes.push(Node::new(91));
        for (node, chance) in run.nodes.iter().zip(&chances) {
            run.tell_all(node, &chance.0);
        }
        let expected = |node: &Node| simulator_model::fold(run.spoken.values().flatten(), node.world.now());
        let shared = run.nodes[0].state(Part::Shared);
        for node in &run.nodes {
            assert_eq!(node.state(Part::Shared), shared, "the same events, another state");
            expected(node).is_what(&answered(node));
            is_audited_as_valid(node);
            replays_to_the_same_state(node);
            carries_every_byte_on(&run, node);
        }
        keeps_local_things_local(&run);
    }
);

/// After any number of hops every event is what its replica said, and so is its chain.
fn carries_every_byte_on(run: &Simulation, node: &Node) {
    let mut chains = node.chains();
    chains.retain(|_, chain| !chain.is_empty());
    let mut spoken = run.spoken.clone();
    spoken.retain(|_, chain| !chain.is_empty());
    assert_eq!(chains, spoken);
}

/// No path of a worktree is known anywhere but in the ledger that recorded it.
fn keeps_local_things_local(run: &Simulation) {
    for said in run.spoken.values().flatten() {
        assert!(!format!("{said:?}").contains(SECRET), "{said:?}");
    }
    for (at, node) in run.nodes.iter().enumerate() {
        assert!(!node.state(Part::Shared).contains(SECRET));
        let everything = node.state(Part::Everything) + &serde_json::to_string(&node.events()).unwrap();
        let own = format!("{SECRET}{at}/");
        for (begin, _) in everything.match_indices(SECRET) {
            assert!(everything[begin..].starts_with(&own), "{}", &everything[begin..begin + 20]);
        }
    }
}

property!(
    events_that_are_tampered_with_forked_gapped_or_out_of_time_are_refused_and_change_nothing,
    25,
    (steps(12), any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    |(steps, speaker, place): (Vec<Step>, prop::sample::Index, prop::sample::Index)| {
        let run = Simulation::of(&steps);
        let chains: Vec<_> = run.spoken.values().filter(|chain| !chain.is_empty()).collect();
        if chains.is_empty() {
            return;
        }
        let chain = chains[speaker.index(chains.len())];
        let place = place.index(chain.len());
        let node = Node::new(77);
        node.register(Id::from_bytes([1; 16]), "here before", None);
        assert!(node.admit(chain[..place].to_vec()).iter().all(Result::is_ok));
        let taken = node.events()[0].event_id;

        let before = everything(&node);
        for (label, bad) in unacceptable(chain, place, taken) {
            let answer = node.admit(vec![bad.clone()]).remove(0);
            assert!(matches!(answer, Err(Error::Refused { .. })), "{label}: {answer:?} for {bad:?}");
            assert_eq!(everything(&node), before, "{label} changed something");
        }
        assert_eq!(node.admit(vec![chain[place].clone()]), [Ok(Admitted::Appended)]);
        is_audited_as_valid(&node);
    }
);

fn everything(node: &Node) -> impl PartialEq + std::fmt::Debug + use<> {
    let found = node.audit();
    assert_eq!(found.fault, None);
    let last = node.ledger.read(|snapshot| snapshot.last_seq()).unwrap();
    (node.state(Part::Everything), node.chains(), last, found)
}

/// What a node that knows `chain` up to `place` must refuse. `taken` is the id of an event of
/// another replica there.
fn unacceptable(chain: &[Carried], place: usize, taken: Id<Event>) -> Vec<(&'static str, Carried)> {
    let next = &chain[place];
    let known = place.checked_sub(1).map(|at| &chain[at]);
    let before = known.map(|event| event.replica_hash);
    let mut all: Vec<(&'static str, Carried)> = Vec::new();
    // Any field is changed and the hash is not.
    let mut changed = |label, change: &dyn Fn(&mut Carried)| {
        let mut event = next.clone();
        change(&mut event);
        assert_ne!(&event, next, "{label}");
        all.push((label, event));
    };
    changed("replica", &|event| event.replica = Id::from_bytes([0x55; 16]));
    changed("number up", &|event| event.number += 1);
    changed("number down", &|event| event.number -= 1);
    changed("number at its end", &|event| event.number = u64::MAX);
    changed("lamport up", &|event| event.lamport += 1);
    changed("lamport zero", &|event| event.lamport = 0);
    changed("lamport at its end", &|event| event.lamport = u64::MAX);
    changed("event id", &|event| event.event_id = Id::from_bytes([0x56; 16]));
    changed("event type", &|event| event.event_type.push('x'));
    changed("version", &|event| event.version ^= 4);
    changed("entity type", &|event| event.entity_type.push('x'));
    changed("entity id", &|event| event.entity_id.push(' '));
    changed("agent", &|event| event.agent_id = Some("agt_somebody else".to_owned()));
    changed("agent absent or empty", &|event| match &event.agent_id {
        None => event.agent_id = Some(String::new()),
        Some(_) => event.agent_id = None,
    });
    changed("cause", &|event| match &event.cause {
        None => event.cause = Some(Id::from_bytes([0; 16])),
        Some(_) => event.cause = None,
    });
    changed("time", &|event| event.created_at = Timestamp::from_millis(event.created_at.as_millis() + 1));
    changed("shared", &|event| event.shared.push(' '));
    changed("shared empty", &|event| event.shared.clear());
    changed("local hash", &|event| match &event.local_hash {
        None => event.local_hash = Some(Digest::of(b"")),
        Some(_) => event.local_hash = None,
    });
    changed("hash", &|event| event.replica_hash = Digest::of(b"another"));
    // The hash fits and the event does not.
    let mut forged = |label, before, change: &dyn Fn(&mut Carried)| {
        let mut event = next.clone();
        change(&mut event);
        all.push((label, chained(event, before)));
    };
    if let Some(known) = known {
        let earlier = place.checked_sub(2).map(|at| chain[at].replica_hash);
        forged("a fork", earlier, &|event| {
            *event = known.clone();
            event.shared.push(' ');
        });
        forged("a fork with other times", earlier, &|event| {
            *event = known.clone();
            event.lamport += 1_000;
        });
        forged("the same time", before, &|event| event.lamport = known.lamport);
        forged("an earlier time", before, &|event| event.lamport = known.lamport.saturating_sub(1));
        forged("a hash of the whole chain anew", None, &|_| {});
    }
    forged("a gap", before, &|event| event.number += 1);
    forged("time zero", before, &|event| event.lamport = 0);
    forged("a time that uses up all times", before, &|event| event.lamport = i64::MAX as u64);
    forged("a time nothing can hold", before, &|event| event.lamport = u64::MAX);
    forged("an id that is taken", before, &|event| event.event_id = taken);
    forged("an empty agent", before, &|event| event.agent_id = Some(String::new()));
    all
}

property!(
    a_feed_tells_every_event_once_and_in_order_however_writes_and_polls_interleave,
    40,
    (steps(30), prop::collection::vec((0..4_u32, 1..4_u32), 30)),
    |(steps, polls): (Vec<Step>, Vec<(u32, u32)>)| {
        let mut run = Simulation::new();
        let mut feed = Feed::new(&run.nodes[0].ledger, 0).unwrap();
        let mut told = Vec::new();
        for (step, (times, limit)) in steps.iter().zip(polls) {
            run.step(step);
            for _ in 0..times {
                let page = feed.poll(limit).unwrap();
                assert!(page.len() <= limit as usize);
                told.extend(page);
            }
        }
        loop {
            let page = feed.poll(3).unwrap();
            if page.is_empty() {
                break;
            }
            told.extend(page);
        }
        // Whether an event is effective may have changed since it was told.
        let facts = |events: Vec<Event>| {
            events
                .into_iter()
                .map(|event| (event.seq, event.event_id, event.event_hash, event.payload))
                .collect::<Vec<_>>()
        };
        let all = run.nodes[0].events();
        assert!(all.iter().zip(1..).all(|(event, seq)| event.seq == seq));
        assert_eq!(facts(told), facts(all));
    }
);

#[test]
fn short_runs_say_everything_there_is_with_and_without_effect() {
    let mut runner = TestRunner::deterministic();
    let (mut said, mut standings) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..75 {
        let mut run = Simulation::new();
        for step in steps(24).new_tree(&mut runner).unwrap().current() {
            run.step(&step);
            let events = || run.spoken.values().flatten();
            let expected = simulator_model::fold(events(), run.nodes[0].world.now());
            said.extend(
                events().map(|event| (event.event_type.clone(), expected.effective[&event.event_id])),
            );
            let conflicts = expected.conflicts.values();
            standings.extend(conflicts.map(|one| (one.status.as_str(), one.previously_settled)));
        }
    }
    for event_type in Fact::TYPES {
        for effective in [true, false] {
            assert!(
                said.contains(&((*event_type).to_owned(), effective)),
                "{event_type} {effective}: {said:?}"
            );
        }
    }
    let all = [
        ("OPEN", false),
        ("COORDINATING", false),
        ("RESOLVED", true),
        ("DISMISSED", true),
        ("DISMISSED", false),
    ];
    assert_eq!(standings, BTreeSet::from(all));
}
