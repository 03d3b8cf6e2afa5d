//! Claims near a scope, found through the indexes, are those that comparing with every live claim finds, and what
//! is claimed or ends between looking and writing is seen.

use std::time::Duration;

use foremerge::detect::tiers::{Compared, claims_overlap};
use foremerge::domain::fact::{ClaimCreated, ClaimReleased, Fact, PublishedScope};
use foremerge::domain::{Claim, Id, Intent};
use foremerge::ledger::{Draft, Error, Patience, Snapshot};
use foremerge::service::claiming::OtherClaims;
use foremerge::service::scopes::Named;
use foremerge::service::silence::Silence;
use foremerge::world::World;
use proptest::prelude::*;

use crate::candidates::{AGENTS, Declared, agent, declared, ledger, scope};
use crate::simulator::Node;
use crate::simulator_properties::{LONG, hold, property};

/// How a claim stands when others look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Live,
    RunOut,
    Released,
}

fn standing() -> impl Strategy<Value = Standing> {
    prop::sample::select(&[Standing::Live, Standing::Live, Standing::RunOut, Standing::Released])
}

/// Claims every scope of an intent, as they are to stand.
fn claim(node: &Node, intent: Id<Intent>, declared: &Declared, standing: Standing) {
    let (scopes, owner) = (declared.scopes.clone(), agent(declared.agent));
    let write = move |write: &mut foremerge::ledger::Transaction<'_>| {
        let lease = Duration::from_secs(if standing == Standing::RunOut { 0 } else { 3_600 });
        for scope in scopes {
            let claim: Id<Claim> = write.new_id()?;
            let fact = Fact::ClaimCreated(ClaimCreated {
                intent_id: intent,
                kind: scope.kind,
                key: scope.key,
                full: scope.full,
                alias: scope.alias,
                reason: None,
                lease_expires_at: write.now().after(lease),
            });
            write.record(Draft { entity: claim.to_string(), agent: owner, cause: None, fact })?;
            if standing == Standing::Released {
                let fact = Fact::ClaimReleased(ClaimReleased { intent_id: intent });
                write.record(Draft { entity: claim.to_string(), agent: owner, cause: None, fact })?;
            }
        }
        Ok::<_, Error>(())
    };
    node.ledger.write(Patience::Wait, write).unwrap();
}

fn compared(scope: &PublishedScope) -> Compared {
    Compared::new(&scope.key, scope.canonical())
}

property!(
    claims_near_a_scope_are_its_overlaps_with_every_live_claim_of_others,
    100,
    (prop::collection::vec((declared(4), standing()), 0..12), prop::collection::vec(scope(), 6), 0..AGENTS),
    |(intents, asked, me): (Vec<(Declared, Standing)>, Vec<PublishedScope>, u8)| {
        let all: Vec<_> = intents.iter().map(|(declared, _)| declared.clone()).collect();
        let (node, published) = ledger(&all);
        for (intent, (declared, standing)) in published.iter().zip(&intents) {
            claim(&node, *intent, declared, *standing);
        }
        let now = node.world.now();
        let compare = |snapshot: &Snapshot<'_>| {
            for scope in &asked {
                let mine = compared(scope);
                let near = snapshot.claims_near(snapshot.agent_row(agent(me))?, &mine, now)?;
                let mut found = Vec::new();
                for claim in near {
                    let (kind, full) = snapshot.scope(usize::try_from(claim.scope).unwrap())?;
                    found.push((snapshot.intent_id(claim.intent)?, kind, full, claim.tier));
                }
                let mut expected = Vec::new();
                for (intent, (declared, standing)) in published.iter().zip(&intents) {
                    if declared.agent != me && *standing == Standing::Live {
                        for theirs in &declared.scopes {
                            let tier = claims_overlap(&mine, &compared(theirs));
                            expected
                                .extend(tier.map(|tier| (*intent, theirs.kind, theirs.full.clone(), tier)));
                        }
                    }
                }
                found.sort();
                expected.sort();
                assert_eq!(found, expected, "for {scope:?}");
            }
            Ok::<_, Error>(())
        };
        node.ledger.read(compare).unwrap();
    }
);

property!(
    what_is_claimed_or_ends_between_looking_and_writing_is_seen,
    100,
    (
        prop::collection::vec((declared(4), standing()), 1..10),
        prop::collection::vec(scope(), 1..6),
        0..AGENTS,
        any::<prop::sample::Index>()
    ),
    |(intents, wanted, me, before): (
        Vec<(Declared, Standing)>,
        Vec<PublishedScope>,
        u8,
        prop::sample::Index
    )| {
        let all: Vec<_> = intents.iter().map(|(declared, _)| declared.clone()).collect();
        let (node, published) = ledger(&all);
        let mut distinct = std::collections::HashSet::new();
        let wanted: Vec<_> = wanted
            .into_iter()
            .filter(|scope| distinct.insert((scope.kind, scope.full.clone())))
            .map(|scope| Named { canonical: scope.canonical(), key: scope.key })
            .collect();
        let (early, late) = intents.split_at(before.index(intents.len()));
        for (intent, (declared, standing)) in published.iter().zip(early) {
            claim(&node, *intent, declared, *standing);
        }
        let look = || {
            let now = node.world.now();
            node.ledger.read(|snapshot| OtherClaims::find(snapshot, agent(me), &wanted, now)).unwrap()
        };
        let looked = look();
        for (intent, (declared, standing)) in published[early.len()..].iter().zip(late) {
            claim(&node, *intent, declared, *standing);
        }
        // Half of what was there ends.
        for intent in published[..early.len()].iter().step_by(2) {
            release(&node, *intent);
        }
        let (fresh, now) = (look(), node.world.now());
        let recordable = |claims: OtherClaims| {
            node.ledger
                .read(|snapshot| claims.now(snapshot, now)?.recordable(snapshot, &mut Silence::new(now)))
                .unwrap()
        };
        assert_eq!(recordable(looked), recordable(fresh));
    }
);

fn release(node: &Node, intent: Id<Intent>) {
    let write = move |write: &mut foremerge::ledger::Transaction<'_>| {
        let owner = write.intent(intent)?.agent_id;
        for claim in write.held_claims(intent)? {
            let fact = Fact::ClaimReleased(ClaimReleased { intent_id: intent });
            write.record(Draft { entity: claim.to_string(), agent: owner, cause: None, fact })?;
        }
        Ok::<_, Error>(())
    };
    node.ledger.write(Patience::Wait, write).unwrap();
}
