//! How what is said in a simulated run is drawn.

use foremerge::domain::fact::Dismissal;
use foremerge::domain::{IntentStatus, ScopeOperation, Severity};
use proptest::prelude::*;

use crate::simulator_told::Oddity;
use crate::simulator_what::{What, Who};

pub fn scopes() -> BoxedStrategy<Vec<(u8, ScopeOperation)>> {
    prop::collection::vec((0..3_u8, prop::sample::select(ScopeOperation::ALL)), 0..3)
        .prop_map(|mut scopes| {
            scopes.sort();
            scopes.dedup_by_key(|(key, _)| *key);
            scopes
        })
        .boxed()
}

/// Everything but what is said oddly.
///
/// Boxed piece by piece: in one piece it would fill the stack of a test's thread.
fn plain() -> BoxedStrategy<What> {
    let severity = || prop::sample::select(Severity::ALL);
    let finding = (0..5_u8, 0..3_u8, 0..3_u8, severity());
    let who = || prop_oneof![4 => Just(Who::Owner), 1 => (0..5_u8).prop_map(Who::Agent)];
    let intent = || 0..5_u8;
    let about_agents = prop_oneof![
        2 => (0..5_u8).prop_map(|agent| What::Agent { agent }),
        1 => (0..5_u8).prop_map(|agent| What::Retirement { agent }),
        2 => (0..5_u8, 0..4_u8, 0..4_u8, prop::option::of(0..4_u8), any::<bool>()).prop_map(
            |(message, from, to, about, mirrored)| What::Message { message, from, to, about, mirrored }
        ),
        1 => (0..4_u8, prop::collection::vec(0..5_u8, 0..4))
            .prop_map(|(reader, messages)| What::Reading { reader, messages }),
    ]
    .boxed();
    let about_intents = prop_oneof![
        4 => (intent(), 0..5_u8, scopes())
            .prop_map(|(intent, agent, scopes)| What::Intent { intent, agent, scopes }),
        2 => (intent(), who(), scopes()).prop_map(|(intent, by, scopes)| What::Amendment { intent, by, scopes }),
        1 => (0..5_u8, intent(), who(), intent()).prop_map(
            |(assessment, intent, by, with)| What::Assessment { assessment, intent, by, with }
        ),
        2 => (intent(), 0..5_u8, who()).prop_map(|(intent, by, from)| What::Adoption { intent, by, from }),
        3 => (intent(), who(), transition())
            .prop_map(|(intent, by, (from, to))| What::Transition { intent, by, from, to }),
        1 => (intent(), who()).prop_map(|(intent, by)| What::Discard { intent, by }),
    ]
    .boxed();
    let minutes = || -60..240_i16;
    let about_claims = prop_oneof![
        3 => (0..4_u8, intent(), who(), 0..3_u8, minutes()).prop_map(
            |(claim, intent, by, scope, minutes)| What::Claim { claim, intent, by, scope, minutes }
        ),
        2 => (0..3_u8, who(), minutes())
            .prop_map(|(claim, by, minutes)| What::Renewal { claim, by, minutes }),
        1 => (0..3_u8, who()).prop_map(|(claim, by)| What::Release { claim, by }),
    ]
    .boxed();
    let seen = || prop::collection::vec(0..4_u8, 0..3);
    let reason = prop::sample::select(Dismissal::ALL);
    let about_pairs = prop_oneof![
        3 => (0..5_u8, prop::collection::vec(finding, 0..4))
            .prop_map(|(acting, found)| What::Findings { acting, found }),
        3 => (0..4_u8, severity()).prop_map(|(seen, severity)| What::Again { seen, severity }),
        2 => (seen(), reason).prop_map(|(seen, reason)| What::Dismissal { seen, reason }),
        2 => (seen(), 0..5_u8, 0..5_u8, any::<bool>()).prop_map(
            |(seen, by, decision, mirrored)| What::Resolution { seen, by, decision, mirrored }
        ),
        1 => (0..5_u8, prop::collection::vec(0..5_u8, 0..3), any::<bool>())
            .prop_map(|(acting, with, settled)| What::Debt { acting, with, settled }),
    ]
    .boxed();
    prop_oneof![2 => about_agents, 5 => about_intents, 2 => about_claims, 4 => about_pairs].boxed()
}

/// Mostly one that the table knows.
fn transition() -> impl Strategy<Value = (IntentStatus, IntentStatus)> {
    let any = || prop::sample::select(IntentStatus::ALL);
    prop_oneof![
        2 => Just((IntentStatus::Intent, IntentStatus::Claimed)),
        2 => Just((IntentStatus::Claimed, IntentStatus::InProgress)),
        1 => (any(), any()),
    ]
}

pub fn what() -> BoxedStrategy<What> {
    let odd = (prop::sample::select(Oddity::ALL), plain())
        .prop_map(|(form, what)| What::Odd { form, what: Box::new(what) });
    prop_oneof![5 => plain(), 1 => odd].boxed()
}

/// Things that one speaker says one after the other, some of them left out: work that goes on, a
/// conflict from first sight to the last, or an agent that comes and goes.
pub fn story() -> BoxedStrategy<Vec<What>> {
    let severity = || prop::sample::select(Severity::ALL);
    let work = (0..4_u8, 0..5_u8, 0..4_u8, -60..240_i16, scopes()).prop_map(
        |(intent, agent, claim, minutes, scopes)| {
            let by = Who::Owner;
            let goes = |from, to| What::Transition { intent: 0, by, from, to };
            vec![
                What::Intent { intent, agent, scopes: scopes.clone() },
                What::Claim { claim, intent: 0, by, scope: 0, minutes },
                goes(IntentStatus::Intent, IntentStatus::Claimed),
                What::Renewal { claim: 0, by, minutes: minutes + 30 },
                What::Assessment { assessment: intent, intent: 0, by, with: 1 },
                goes(IntentStatus::Claimed, IntentStatus::InProgress),
                What::Release { claim: 0, by },
                What::Adoption { intent: 0, by: agent + 1, from: by },
                What::Claim { claim: claim + 1, intent: 0, by, scope: 0, minutes },
                What::Discard { intent: 0, by },
                What::Amendment { intent: 0, by, scopes },
            ]
        },
    );
    let meeting = (0..4_u8, 0..2_u8, severity(), severity(), prop::sample::select(Dismissal::ALL)).prop_map(
        |(intent, scope, first, last, reason)| {
            let between = |other| (other, scope, scope, first);
            let seen = || vec![0];
            vec![
                What::Intent { intent, agent: 0, scopes: Vec::new() },
                What::Intent { intent: intent + 1, agent: 1, scopes: Vec::new() },
                What::Findings { acting: 0, found: vec![between(1)] },
                What::Debt { acting: 0, with: vec![1], settled: false },
                What::Message { message: intent, from: 0, to: 1, about: Some(0), mirrored: false },
                What::Reading { reader: 1, messages: vec![intent] },
                What::Dismissal { seen: seen(), reason },
                What::Again { seen: 0, severity: last },
                What::Resolution { seen: seen(), by: 0, decision: intent, mirrored: true },
                What::Again { seen: 0, severity: first },
                What::Again { seen: 0, severity: Severity::High },
                What::Debt { acting: 1, with: vec![0], settled: true },
            ]
        },
    );
    let stay = (0..5_u8).prop_map(|agent| {
        vec![
            What::Agent { agent },
            What::Retirement { agent },
            What::Agent { agent },
            What::Retirement { agent },
        ]
    });
    let told = prop_oneof![4 => work.boxed(), 4 => meeting.boxed(), 1 => stay.boxed()];
    (told, prop::bits::u16::ANY, prop::bits::u16::ANY)
        .prop_map(|(told, some, others)| {
            let kept = some | others;
            told.into_iter().enumerate().filter(|(at, _)| kept & 1 << at != 0).map(|(_, what)| what).collect()
        })
        .boxed()
}
