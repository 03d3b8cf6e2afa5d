//! What the indexes find is what comparing with every active intent finds, no more and no less.

use std::collections::HashSet;

use foremerge::detect::findings::{Finding, Side, SideScope, between, says_enough};
use foremerge::detect::tiers::{Compared, contains, overlap};
use foremerge::detect::{canonical, names, prose, rules};
use foremerge::domain::conflict::Tier;
use foremerge::domain::fact::{Fact, IntentPublished, PublishedScope};
use foremerge::domain::{Agent, Id, Intent, ScopeClaim, ScopeKind, ScopeOperation};
use foremerge::ledger::{Error, Patience, Snapshot};
use foremerge::service::matching::Matches;
use foremerge::service::silence::Silence;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::simulator::Node;
use crate::simulator_properties::{LONG, hold, property};

pub const AGENTS: u8 = 4;

/// One intent as an agent declares it.
#[derive(Debug, Clone)]
pub struct Declared {
    pub agent: u8,
    summary: String,
    pub scopes: Vec<PublishedScope>,
}

/// Names that differ by namespace, separator, case, composition, a word, or nothing that counts.
fn key() -> impl Strategy<Value = String> {
    let part = prop::sample::select(&[
        "a",
        "b",
        "B",
        "new",
        "Parser",
        "get",
        "pay_service",
        "PayService",
        "payService",
        "StripePayService",
        "List<a::B>",
        "NewStripePayService",
        "Service",
        "mod.rs",
        "cart.ts",
        "README",
        "readme",
        "caf\u{e9}",
        "cafe\u{301}",
        "Straße",
        "STRASSE",
        "",
    ]);
    let separator = prop::sample::select(&["::", ".", "\\", "/", "::", "/", "#"]);
    prop::collection::vec((part, separator), 1..4).prop_map(|parts| {
        let last = parts.len() - 1;
        let spelled = parts.iter().enumerate();
        let key: String = spelled
            .flat_map(|(at, (part, between))| [*part, if at < last { *between } else { "" }])
            .collect();
        if key.is_empty() { ".".to_owned() } else { key }
    })
}

pub fn scope() -> impl Strategy<Value = PublishedScope> {
    use ScopeKind::{Api, Component, Config, Domain, File, Schema, Symbol};
    let kinds = &[Symbol, Symbol, Symbol, Symbol, File, File, File, Domain, Component, Schema, Api, Config];
    let operation = prop::sample::select(ScopeOperation::ALL);
    (prop::sample::select(kinds), key(), operation, prop::bool::weighted(0.2)).prop_map(
        |(kind, key, operation, inferred)| {
            let relative = || canonical::relative(&key).unwrap_or_else(|_| ".".to_owned());
            let key = if kind == File { relative() } else { key };
            let canonical = canonical::forms(kind, &key);
            PublishedScope::new(ScopeClaim { kind, key, operation, inferred }, canonical)
        },
    )
}

fn summary() -> impl Strategy<Value = String> {
    let word = prop::sample::select(&[
        "retry", "budget", "webhook", "payment", "login", "ledger", "add", "the", "Retry", "42",
    ]);
    prop::collection::vec(word, 1..8).prop_map(|words| words.join(" "))
}

/// An intent of at most `most` scopes, no full form twice.
pub fn declared(most: usize) -> impl Strategy<Value = Declared> {
    (0..AGENTS, summary(), prop::collection::vec(scope(), 0..=most)).prop_map(
        |(agent, summary, mut scopes)| {
            let mut seen = HashSet::new();
            scopes.retain(|scope| seen.insert((scope.kind, scope.full.clone())));
            Declared { agent, summary, scopes }
        },
    )
}

impl Declared {
    fn side(&self) -> Side {
        let scopes = self.scopes.iter().map(|scope| SideScope {
            compared: Compared::new(&scope.key, scope.canonical()),
            operation: scope.operation,
            inferred: scope.inferred,
        });
        Side { scopes: scopes.collect(), summary: prose::words(&self.summary), namesake: false }
    }
}

pub fn agent(number: u8) -> Id<Agent> {
    Id::from_bytes([0xa0 + number; 16])
}

/// Agents 0 and 1 are two sessions of one agent.
fn are_namesakes(one: u8, other: u8) -> bool {
    one != other && one < 2 && other < 2
}

/// A ledger with these intents, all active, and their identifiers.
pub fn ledger(intents: &[Declared]) -> (Node, Vec<Id<Intent>>) {
    let node = Node::new(11);
    for number in 0..AGENTS {
        let name = if number < 2 { "twin".to_owned() } else { format!("agent {number}") };
        node.register(agent(number), &name, Some("/work".to_owned()));
    }
    let published = intents.iter().map(|declared| record(&node, declared)).collect();
    (node, published)
}

fn record(node: &Node, declared: &Declared) -> Id<Intent> {
    let fact = IntentPublished {
        task: "t".to_owned(),
        task_id: Id::from_bytes([1; 16]),
        summary: declared.summary.clone(),
        rationale: None,
        scopes: declared.scopes.clone(),
        depends_on: vec![],
        metadata: foremerge::domain::metadata::Metadata::default(),
    };
    let agent = agent(declared.agent);
    let intent = node.ledger.write::<_, Error>(Patience::Wait, move |write| {
        let intent = write.new_id()?;
        let entity = Id::<Intent>::to_string(&intent);
        let fact = Fact::IntentPublished(fact);
        write.record(foremerge::ledger::Draft { entity, agent, cause: None, fact })?;
        Ok(intent)
    });
    intent.unwrap()
}

/// The active intents of agents other than `except`, as numbers of the file and as declared.
fn others<'d>(
    snapshot: &Snapshot<'_>,
    published: &[Id<Intent>],
    intents: &'d [Declared],
    except: u8,
) -> Vec<(i64, i64, &'d Declared)> {
    let all = published.iter().zip(intents).map(|(id, declared)| {
        let (intent, agent, active) = snapshot.intent_row(*id).unwrap().expect("it is known");
        assert!(active);
        (intent, agent, declared)
    });
    all.filter(|(.., declared)| declared.agent != except).collect()
}

property!(
    postings_are_the_overlaps_with_every_active_scope_of_others,
    150,
    (prop::collection::vec(declared(5), 0..16), prop::collection::vec(scope(), 6), 0..AGENTS),
    |(intents, asked, me): (Vec<Declared>, Vec<PublishedScope>, u8)| {
        let (node, published) = ledger(&intents);
        let compare = |snapshot: &Snapshot<'_>| {
            let others = others(snapshot, &published, &intents, me);
            for scope in &asked {
                let mine = Compared::new(&scope.key, scope.canonical());
                let found = snapshot.postings(snapshot.agent_row(agent(me))?, &mine)?;
                let mut found: Vec<_> = found
                    .iter()
                    .map(|near| {
                        let (kind, full) = snapshot.scope(usize::try_from(near.scope).unwrap()).unwrap();
                        let said = (near.operation, near.inferred, near.contains, near.words);
                        (near.intent, near.agent, kind, full, near.tier, said)
                    })
                    .collect();
                let mut expected = Vec::new();
                for (intent, agent, declared) in &others {
                    for scope in &declared.scopes {
                        let theirs = Compared::new(&scope.key, scope.canonical());
                        let Some(tier) = overlap(&mine, &theirs) else { continue };
                        let contains = tier == Tier::Inside && contains(&mine.full, &theirs.full);
                        let similar = tier == Tier::SimilarName;
                        let words = if similar { names::jaccard(&mine.words, &theirs.words) } else { 0 };
                        let said = (scope.operation, scope.inferred, contains, words);
                        expected.push((*intent, *agent, scope.kind, scope.full.clone(), tier, said));
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
    similar_summaries_are_those_of_every_active_intent_of_others_that_share_enough_words,
    150,
    (prop::collection::vec(declared(0), 0..30), prop::collection::vec(summary(), 6), 0..AGENTS),
    |(intents, asked, me): (Vec<Declared>, Vec<String>, u8)| {
        let (node, published) = ledger(&intents);
        let compare = |snapshot: &Snapshot<'_>| {
            let others = others(snapshot, &published, &intents, me);
            for summary in &asked {
                let mine = prose::words(summary);
                let found = snapshot.summaries(
                    snapshot.agent_row(agent(me))?,
                    &mine,
                    rules::DUPLICATE_ON_SHARED_SCOPE + 1,
                    None,
                )?;
                let shares = others.iter().map(|(intent, _, declared)| {
                    let theirs = prose::words(&declared.summary);
                    let enough = says_enough(&mine) && says_enough(&theirs);
                    (*intent, if enough { names::jaccard(&mine, &theirs) } else { 0 })
                });
                let mut expected: Vec<_> =
                    shares.filter(|(_, share)| *share > rules::DUPLICATE_ON_SHARED_SCOPE).collect();
                expected.sort_unstable();
                assert_eq!(found, expected, "for {summary}");
                let within: HashSet<i64> = others.iter().step_by(2).map(|(intent, ..)| *intent).collect();
                let me = snapshot.agent_row(agent(me))?;
                for least in [rules::DUPLICATE_ON_SHARED_SCOPE + 1, rules::DUPLICATE] {
                    expected.retain(|(_, share)| *share >= least);
                    let all = snapshot.summaries(me, &mine, least, None)?;
                    assert_eq!(all, expected, "for {summary}");
                    let mut expected = expected.clone();
                    expected.retain(|(intent, _)| within.contains(intent));
                    let found = snapshot.summaries(me, &mine, least, Some(&within))?;
                    assert_eq!(found, expected, "for {summary}");
                }
            }
            Ok::<_, Error>(())
        };
        node.ledger.read(compare).unwrap();
    }
);

/// A finding in the words of a conflict on record: the side with the smaller id first.
fn on_record(finding: &Finding, sides: [(&Side, Id<Intent>); 2]) -> Value {
    let swapped = sides[1].1 < sides[0].1;
    let ordered = |one: Value, other: Value| if swapped { json!([other, one]) } else { json!([one, other]) };
    let at = finding.at.map(|at| {
        let scope = |(side, _): (&Side, Id<Intent>), place: usize| {
            let Compared { kind, full, .. } = &side.scopes[place].compared;
            json!({ "kind": kind, "key": full })
        };
        json!({
            "overlap": at.tier.in_words(),
            "scopes": ordered(scope(sides[0], at.scopes.0), scope(sides[1], at.scopes.1)),
            "operations": at.operations.map(|(mine, theirs)| ordered(json!(mine), json!(theirs))),
            "inferred": ordered(json!(at.inferred.0), json!(at.inferred.1)),
        })
    });
    json!({
        "intents": ordered(json!(sides[0].1), json!(sides[1].1)),
        "rule": finding.rule,
        "severity": finding.severity,
        "score": f64::from(finding.score) / 1000.0,
        "asserted": finding.asserted,
        "similarity": finding.similarity.map(|share| f64::from(share) / 1000.0),
        "at": at,
    })
}

/// A conflict of an answer, written alike.
fn answered(conflict: &Value) -> Value {
    let evidence = &conflict["evidence"];
    let both = |name: &str, ending: &str| {
        json!([evidence[format!("source_{name}{ending}")], evidence[format!("target_{name}{ending}")]])
    };
    let at = evidence.get("overlap").map(|overlap| {
        json!({
            "overlap": overlap,
            "scopes": both("scope", ""),
            "operations": both("operation", ""),
            "inferred": both("operation", "_inferred"),
        })
    });
    json!({
        "intents": [conflict["source_intent_id"], conflict["target_intent_id"]],
        "rule": evidence["rule"],
        "severity": conflict["severity"],
        "score": conflict["score"],
        "asserted": evidence["asserted"],
        "similarity": evidence.get("summary_jaccard"),
        "at": at,
    })
}

fn sorted(mut found: Vec<Value>) -> Vec<Value> {
    found.sort_by_key(Value::to_string);
    found
}

fn publish(node: &Node, declared: &Declared) -> Value {
    let scopes = declared
        .scopes
        .iter()
        .map(|scope| json!({ "kind": scope.kind, "key": scope.key, "operation": scope.operation }));
    let input = json!({
        "agent_id": agent(declared.agent),
        "task": "t",
        "summary": declared.summary,
        "scopes": scopes.collect::<Vec<_>>(),
    });
    node.run("publish_intent", input).unwrap()
}

// So few counterparts and scopes that every finding is within the bounds of record and answer.
property!(
    a_publish_finds_what_comparing_with_each_active_intent_finds,
    150,
    (prop::collection::vec(declared(3), 0..15), declared(3)),
    |(intents, mut mine): (Vec<Declared>, Declared)| {
        let (node, published) = ledger(&intents);
        for scope in &mut mine.scopes {
            scope.inferred = false;
        }
        let answer = publish(&node, &mine);
        let me: Id<Intent> = answer["intent"]["id"].as_str().unwrap().parse().unwrap();
        let side = mine.side();
        let (mut expected, mut related) = (Vec::new(), Vec::new());
        for (id, declared) in published.iter().zip(&intents).filter(|(_, other)| other.agent != mine.agent) {
            let mut theirs = declared.side();
            theirs.namesake = are_namesakes(mine.agent, declared.agent);
            let found = between(&side, &theirs);
            if !found.is_empty() {
                let meetings = found.iter().filter(|finding| finding.at.is_some()).count();
                related.push(json!([id, meetings, found.iter().any(|finding| finding.asserted)]));
            }
            expected.extend(found.iter().map(|found| on_record(found, [(&side, me), (&theirs, *id)])));
        }
        let conflicts = answer["conflicts"].as_array().unwrap();
        assert_eq!(sorted(conflicts.iter().map(answered).collect()), sorted(expected));
        let work = answer["related_work"].as_array().unwrap().iter();
        let work = work.map(|work| json!([work["intent_id"], work["overlap_count"], work["asserted"]]));
        assert_eq!(sorted(work.collect()), sorted(related));
        assert!(answer.get("cut").is_none() && answer.get("omitted").is_none(), "{answer}");
    }
);

property!(
    what_is_published_between_search_and_write_is_found_as_if_it_had_been_there_before,
    150,
    (prop::collection::vec(declared(3), 0..15), any::<prop::sample::Index>(), declared(3)),
    |(intents, before, mine): (Vec<Declared>, prop::sample::Index, Declared)| {
        let (early, late) = intents.split_at(before.index(intents.len() + 1));
        let (node, _) = ledger(early);
        let find = || {
            let found = node.ledger.read::<_, foremerge::failure::Failure>(|snapshot| {
                let agent = snapshot.agent(agent(mine.agent))?;
                Matches::find(snapshot, &agent, &mine.summary, mine.scopes.clone())
            });
            found.unwrap()
        };
        let mut refreshed = find();
        for declared in late {
            record(&node, declared);
        }
        let searched = find();
        let compare = |snapshot: &Snapshot<'_>| {
            refreshed.refresh(snapshot)?;
            let now = snapshot.agent(agent(mine.agent))?.registered_at;
            assert_eq!(
                refreshed.found().recordable(snapshot, &mut Silence::new(now))?,
                searched.found().recordable(snapshot, &mut Silence::new(now))?
            );
            let related = |matches: &Matches| {
                let (nearest, total) = matches.nearest(snapshot, &mut Silence::new(now))?;
                let related: Vec<_> = nearest.into_iter().map(|near| matches.related(near)).collect();
                Ok::<_, foremerge::failure::Failure>((related, total))
            };
            assert_eq!(related(&refreshed)?, related(&searched)?);
            Ok::<_, foremerge::failure::Failure>(())
        };
        node.ledger.read(compare).unwrap();
    }
);
