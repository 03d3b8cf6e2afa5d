//! What can be said in a simulated run.

use foremerge::detect::canonical;
use foremerge::domain::assessment::{Reaction, Verdict};
use foremerge::domain::conflict::Tier;
use foremerge::domain::fact::{
    AgentRegistered, AgentRetired, ClaimCreated, ClaimReleased, ClaimRenewed, ConflictBetween,
    ConflictDetected, ConflictDismissed, ConflictResolved, CoordinationRead, CoordinationSent, Counterparts,
    Dismissal, Fact, IntentAdopted, IntentAmended, IntentAssessed, IntentPublished, LifecycleTransitioned,
    PairFindings, PublishedScope, SightedAt, Sighting, WorkDiscarded,
};
use foremerge::domain::metadata::Metadata;
use foremerge::domain::{
    Agent, Id, Intent, IntentStatus, Message, Rule, ScopeClaim, ScopeKind, ScopeOperation, Severity,
    Timestamp,
};
use foremerge::world::Fake;

use crate::simulator::{Simulation, new_intent};
use crate::simulator_told::{Oddity, Told};

/// Who does something to an intent.
#[derive(Clone, Copy, Debug)]
pub enum Who {
    Agent(u8),
    /// Whoever was last said to own it.
    Owner,
}

/// Something that is said. Numbers are taken modulo what is there.
#[derive(Clone, Debug)]
pub enum What {
    Agent {
        agent: u8,
    },
    Retirement {
        agent: u8,
    },
    Intent {
        intent: u8,
        agent: u8,
        scopes: Vec<(u8, ScopeOperation)>,
    },
    Amendment {
        intent: u8,
        by: Who,
        scopes: Vec<(u8, ScopeOperation)>,
    },
    Assessment {
        assessment: u8,
        intent: u8,
        by: Who,
        with: u8,
    },
    Adoption {
        intent: u8,
        by: u8,
        from: Who,
    },
    Transition {
        intent: u8,
        by: Who,
        from: IntentStatus,
        to: IntentStatus,
    },
    Discard {
        intent: u8,
        by: Who,
    },
    /// One of few claims: two intents may name the same.
    Claim {
        claim: u8,
        intent: u8,
        by: Who,
        scope: u8,
        minutes: i16,
    },
    Renewal {
        claim: u8,
        by: Who,
        minutes: i16,
    },
    Release {
        claim: u8,
        by: Who,
    },
    /// One of few messages, about a conflict that was seen.
    Message {
        message: u8,
        from: u8,
        to: u8,
        about: Option<u8>,
        mirrored: bool,
    },
    Reading {
        reader: u8,
        messages: Vec<u8>,
    },
    /// Per finding: the counterpart, and indexes into two listed scopes.
    Findings {
        acting: u8,
        found: Vec<(u8, u8, u8, Severity)>,
    },
    /// A conflict that was seen before, seen anew.
    Again {
        seen: u8,
        severity: Severity,
    },
    /// The first conflict says whose call it is; those of other pairs are named with it.
    Dismissal {
        seen: Vec<u8>,
        reason: Dismissal,
    },
    /// The first conflict says between whom it is; those of other pairs are named with it.
    Resolution {
        seen: Vec<u8>,
        by: u8,
        decision: u8,
        mirrored: bool,
    },
    /// Findings with these wait for their owners, or are settled by the acting one's.
    Debt {
        acting: u8,
        with: Vec<u8>,
        settled: bool,
    },
    /// Only strangers say things oddly.
    Odd {
        form: Oddity,
        what: Box<What>,
    },
}

/// A conflict that somebody said to have found, as one finding.
#[derive(Clone, Debug)]
pub struct Seen {
    pub acting: Id<Intent>,
    pub with: Id<Intent>,
    pub scopes: Vec<(ScopeKind, String)>,
    pub found: Sighting,
}

impl Seen {
    fn fact(&self) -> ConflictDetected {
        let pairs = vec![PairFindings { with: self.with, found: vec![self.found.clone()] }];
        ConflictDetected { scopes: self.scopes.clone(), pairs, omitted: 0 }
    }

    fn about(&self, mirrored: bool) -> ConflictBetween {
        let between = if mirrored { (self.with, self.acting) } else { (self.acting, self.with) };
        // A finding that names a scope it does not list is no conflict; some id has to be said.
        let id = self.fact().identities(self.acting).next().unwrap_or(Id::from_bytes([0x60; 16]));
        ConflictBetween { conflict_id: id, between }
    }
}

pub fn scope_key(at: u8) -> String {
    format!("Scope{}", at % 3)
}

pub fn published(scopes: &[(u8, ScopeOperation)], summary: &str) -> IntentPublished {
    let scopes = scopes.iter().map(|(key, operation)| {
        let (kind, key) = (ScopeKind::Symbol, scope_key(*key));
        let forms = canonical::forms(kind, &key);
        PublishedScope::new(ScopeClaim { kind, key, operation: *operation, inferred: false }, forms)
    });
    IntentPublished {
        task: "t".to_owned(),
        task_id: Id::from_bytes([7; 16]),
        summary: summary.to_owned(),
        rationale: None,
        scopes: scopes.collect(),
        depends_on: Vec::new(),
        metadata: Metadata::default(),
    }
}

pub fn finding(mine: u8, theirs: u8, severity: Severity) -> Sighting {
    Sighting {
        rule: Rule::ALL[usize::from(mine) % Rule::ALL.len()],
        at: Some(SightedAt {
            tier: Tier::Same,
            scopes: (usize::from(mine), usize::from(theirs)),
            operations: Some((ScopeOperation::Replace, ScopeOperation::Extend)),
            inferred: (false, theirs % 2 == 1),
        }),
        similarity: None,
        asserted: severity == Severity::High,
        severity,
        score: u16::from(theirs) * 10,
    }
}

/// Two scopes that findings list.
pub fn listed() -> Vec<(ScopeKind, String)> {
    (0..2).map(|at| (ScopeKind::Symbol, scope_key(at).to_lowercase())).collect()
}

fn lease(minutes: i16) -> Timestamp {
    Timestamp::from_millis(Fake::START.as_millis() + i64::from(minutes) * 60_000)
}

fn message(at: u8) -> Id<Message> {
    Id::from_bytes([0x40 + at % 5; 16])
}

/// Entity, agent and fact of what a ledger of this version can record.
pub type Said = (String, Id<Agent>, Fact);

impl What {
    /// What of it a ledger of this version can record.
    pub fn fact(&self, run: &Simulation) -> Option<Said> {
        let said = match self {
            Self::Odd { .. } => return None,
            Self::Agent { agent } => {
                let fact = AgentRegistered {
                    name: format!("again-{agent}"),
                    model: None,
                    capabilities: Vec::new(),
                    git_branch: None,
                    git_head: None,
                    worktree: None,
                };
                let agent = run.agent(*agent);
                (agent.to_string(), agent, Fact::AgentRegistered(fact))
            }
            Self::Retirement { agent } => {
                let agent = run.agent(*agent);
                (agent.to_string(), agent, Fact::AgentRetired(AgentRetired {}))
            }
            Self::Intent { intent, agent, scopes } => {
                let fact = published(scopes, &format!("by {agent} on {}", scopes.len()));
                (new_intent(*intent).to_string(), run.agent(*agent), Fact::IntentPublished(fact))
            }
            Self::Message { message: id, from, to, about, mirrored } => {
                let about = about.map(|seen| run.seen(seen).about(*mirrored));
                let fact = CoordinationSent { to_agent_id: run.agent(*to), message: "hear".into(), about };
                (message(*id).to_string(), run.agent(*from), Fact::CoordinationSent(fact))
            }
            Self::Reading { reader, messages } => {
                let messages = messages.iter().map(|at| message(*at)).collect();
                let reader = run.agent(*reader);
                (reader.to_string(), reader, Fact::CoordinationRead(CoordinationRead { messages }))
            }
            Self::Claim { .. } | Self::Renewal { .. } | Self::Release { .. } => self.of_a_claim(run)?,
            Self::Findings { .. }
            | Self::Again { .. }
            | Self::Dismissal { .. }
            | Self::Resolution { .. }
            | Self::Debt { .. } => self.of_a_pair(run)?,
            _ => self.of_an_intent(run)?,
        };
        Some(said)
    }

    fn of_an_intent(&self, run: &Simulation) -> Option<Said> {
        let (intent, by, fact) = match self {
            Self::Amendment { intent, by, scopes } => {
                let scopes = published(scopes, "").scopes;
                let summary = scopes.is_empty().then(|| format!("amended by {by:?}"));
                (intent, by, Fact::IntentAmended(IntentAmended { scopes, summary }))
            }
            Self::Assessment { assessment, intent, by, with } => {
                let fact = IntentAssessed {
                    assessment_id: Id::from_bytes([0x70 + assessment % 5; 16]),
                    related_intent_id: run.intent(*with),
                    verdict: Verdict::ALL[usize::from(*with) % Verdict::ALL.len()],
                    rationale: "r".to_owned(),
                    action: Reaction::ALL[usize::from(*assessment) % Reaction::ALL.len()],
                };
                (intent, by, Fact::IntentAssessed(fact))
            }
            Self::Adoption { intent, by, from } => {
                let from_agent_id = run.who(*from, run.intent(*intent));
                let fact = IntentAdopted { from_agent_id, reason: "gone".to_owned() };
                (intent, &Who::Agent(*by), Fact::IntentAdopted(fact))
            }
            Self::Transition { intent, by, from, to } => {
                let fact = LifecycleTransitioned { from: *from, to: *to };
                (intent, by, Fact::LifecycleTransitioned(fact))
            }
            Self::Discard { intent, by } => {
                (intent, by, Fact::WorkDiscarded(WorkDiscarded { reason: "moot".to_owned() }))
            }
            _ => return None,
        };
        let intent = run.intent(*intent);
        Some((intent.to_string(), run.who(*by, intent), fact))
    }

    fn of_a_claim(&self, run: &Simulation) -> Option<Said> {
        let (claim, intent_id, by, fact) = match self {
            Self::Claim { claim, intent, by, scope, minutes } => {
                let (intent_id, kind, key) = (run.intent(*intent), ScopeKind::Symbol, scope_key(*scope));
                let forms = canonical::forms(kind, &key);
                let fact = ClaimCreated {
                    intent_id,
                    kind,
                    key,
                    alias: forms.own_alias(),
                    full: forms.full,
                    reason: None,
                    lease_expires_at: lease(*minutes),
                };
                (Id::from_bytes([0x30 + claim % 4; 16]), intent_id, by, Fact::ClaimCreated(fact))
            }
            Self::Renewal { claim, by, minutes } => {
                let (claim, intent_id) = run.claim(*claim);
                let lease_expires_at = lease(*minutes);
                let fact = ClaimRenewed { intent_id, reason: None, lease_expires_at };
                (claim, intent_id, by, Fact::ClaimRenewed(fact))
            }
            Self::Release { claim, by } => {
                let (claim, intent_id) = run.claim(*claim);
                (claim, intent_id, by, Fact::ClaimReleased(ClaimReleased { intent_id }))
            }
            _ => return None,
        };
        Some((claim.to_string(), run.who(*by, intent_id), fact))
    }

    fn of_a_pair(&self, run: &Simulation) -> Option<Said> {
        Some(match self {
            Self::Findings { acting, found } => {
                let pairs = found.iter().map(|(with, mine, theirs, severity)| PairFindings {
                    with: run.intent(*with),
                    found: vec![finding(*mine, *theirs, *severity)],
                });
                let fact = ConflictDetected { scopes: listed(), pairs: pairs.collect(), omitted: 0 };
                (run.intent(*acting).to_string(), run.agent(*acting), Fact::ConflictDetected(fact))
            }
            Self::Again { seen, severity } => {
                let mut seen = run.seen(*seen);
                seen.found.severity = *severity;
                let agent = run.who(Who::Owner, seen.acting);
                (seen.acting.to_string(), agent, Fact::ConflictRedetected(seen.fact()))
            }
            Self::Dismissal { seen, reason } => {
                let seen: Vec<_> = seen.iter().map(|at| run.seen(*at)).collect();
                let acting = seen.first().map_or(run.intent(0), |first| first.acting);
                let gone = seen.iter().map(|one| (one.with, vec![one.about(false).conflict_id]));
                let fact = ConflictDismissed { pairs: gone.collect(), reason: *reason };
                (acting.to_string(), run.who(Who::Owner, acting), Fact::ConflictDismissed(fact))
            }
            Self::Resolution { seen, by, decision, mirrored } => {
                let named: Vec<_> = seen.iter().map(|at| run.seen(*at).about(*mirrored)).collect();
                let first = named.first().copied().unwrap_or_else(|| run.seen(0).about(*mirrored));
                let fact = ConflictResolved {
                    decision_id: Id::from_bytes([0x50 + decision % 5; 16]),
                    between: first.between,
                    conflicts: named.iter().map(|about| about.conflict_id).collect(),
                    resolution: "split".to_owned(),
                    rationale: "agreed".to_owned(),
                };
                (first.conflict_id.to_string(), run.agent(*by), Fact::ConflictResolved(fact))
            }
            Self::Debt { acting, with, settled } => {
                let with = Counterparts { with: with.iter().map(|with| run.intent(*with)).collect() };
                let fact = if *settled { Fact::FindingsSettled(with) } else { Fact::FindingsOwed(with) };
                (run.intent(*acting).to_string(), run.agent(*acting), fact)
            }
            _ => return None,
        })
    }

    /// What a stranger says of it.
    pub fn told(&self, run: &Simulation) -> Told {
        if let Self::Odd { form, what } = self {
            return form.of(what.told(run));
        }
        let (entity, agent, fact) = self.fact(run).unwrap();
        Told::by(entity, agent, &fact)
    }
}
