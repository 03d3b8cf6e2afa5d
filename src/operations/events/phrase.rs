//! What an event says, in a few words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::domain::{Agent, Event, Id, Severity};
use crate::ledger::{Error, Snapshot};
use crate::operations::render::{Style, Text, plain};

/// Names of agents.
#[derive(Debug, Default)]
pub struct Names(BTreeMap<Id<Agent>, String>);

impl Names {
    /// Nobody's.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Of the agents that events mention.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn of(snapshot: &Snapshot<'_>, events: &[Event]) -> Result<Self, Error> {
        let mentioned = events.iter().flat_map(|event| {
            let others = ["to_agent_id", "from_agent_id"].map(|field| event.payload[field].as_str());
            others.into_iter().flatten().chain(event.agent_id.as_deref())
        });
        Self::of_agents(snapshot, mentioned.filter_map(Id::exact))
    }

    /// Of these agents.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn of_agents(
        snapshot: &Snapshot<'_>,
        agents: impl IntoIterator<Item = Id<Agent>>,
    ) -> Result<Self, Error> {
        let mut names = BTreeMap::new();
        for agent in agents.into_iter().collect::<BTreeSet<_>>() {
            match snapshot.agent(agent) {
                Ok(found) => names.insert(agent, found.name),
                // Its registration may be on another clone still.
                Err(Error::NotFound { .. }) => continue,
                Err(error) => return Err(error),
            };
        }
        Ok(Self(names))
    }

    /// What the agent calls itself, or the beginning of its id; both where others here are called the
    /// same.
    #[must_use]
    pub fn name(&self, agent: Id<Agent>) -> Text {
        let Some(name) = self.0.get(&agent) else { return agent.into() };
        let namesakes = self.0.iter().any(|(other, theirs)| theirs == name && *other != agent);
        if namesakes { plain(name).and(" (").id(agent).and(")") } else { plain(name) }
    }
}

/// Who did what, in a sentence.
#[must_use]
pub fn told(event: &Event, names: &Names) -> Text {
    named(event.agent_id.as_deref().unwrap_or_default(), names).and(" ").then(phrase(event, names))
}

/// What happened, as the end of a sentence that begins with who did it. Text on one line; ids in
/// it are short.
fn phrase(event: &Event, names: &Names) -> Text {
    let said =
        says(event, names).unwrap_or_else(|| plain(&event.event_type).and(" on ").id(&event.entity_id));
    match &event.why_not_effective {
        Some(why) => Text::default().styled(Style::Warning, format!("no effect ({why}): ")).then(said),
        None => said,
    }
}

fn named(agent: &str, names: &Names) -> Text {
    Id::exact(agent).map_or_else(|| Text::default().id(agent), |agent| names.name(agent))
}

fn says(event: &Event, names: &Names) -> Option<Text> {
    let payload = &event.payload;
    let field = |name: &str| payload[name].as_str();
    let words = |verb: &str| plain(verb).and(" ");
    let entity = |verb: &str| words(verb).id(&event.entity_id);
    Some(match event.event_type.as_str() {
        "agent.registered" => plain("registered"),
        "agent.retired" => plain("retired"),
        "intent.published" => entity("published").and(": ").and(field("summary")?),
        "intent.amended" => {
            let scopes = counted(payload["scopes"].as_array()?.len(), "scope");
            entity("amended").and(format!(", which touches {scopes} now"))
        }
        "intent.assessed" => {
            let (verdict, action) = (field("verdict")?, field("action")?);
            entity("judged")
                .and(" against ")
                .id(field("related_intent_id")?)
                .and(format!(": {verdict}, {action}"))
        }
        "intent.adopted" => entity("took over")
            .and(" from ")
            .then(named(field("from_agent_id")?, names))
            .and(": ")
            .and(field("reason")?),
        "lifecycle.transitioned" => entity("moved").and(format!(" to {}", field("to")?)),
        "work.discarded" => entity("gave up").and(": ").and(field("reason")?),
        "claim.created" => words("claimed")
            .and(format!("{}:{}", field("kind")?, field("key")?))
            .and(" for ")
            .id(field("intent_id")?),
        "claim.renewed" => words("renewed a claim for").id(field("intent_id")?),
        "claim.released" => words("released a claim of").id(field("intent_id")?),
        "coordination.sent" => {
            words("wrote to").then(named(field("to_agent_id")?, names)).and(": ").and(field("message")?)
        }
        "coordination.read" => words("read").and(counted(payload["messages"].as_array()?.len(), "message")),
        "conflict.detected" | "conflict.redetected" => {
            let again = if event.event_type == "conflict.detected" { "" } else { " again" };
            let found = payload["conflicts"].as_array()?;
            if let [only] = found.as_slice() {
                let other = words("ran into").id(only["with_intent_id"].as_str()?).and(again).and(": ");
                let severity: Severity = only["severity"].as_str()?.parse().ok()?;
                let kind = only["kind"].as_str()?.replace('_', " ");
                return Some(other.then(severity).and(format!(" {kind} with ")).id(&event.entity_id));
            }
            let high = found.iter().filter(|conflict| conflict["severity"] == "HIGH").count();
            let said = words("ran into").and(counted(found.len(), "conflict")).and(again).and(" with ");
            let said = said.id(&event.entity_id);
            if high == 0 { said } else { said.and(", ").styled(Style::Alarm, format!("{high} HIGH")) }
        }
        "conflict.dismissed" => {
            let pairs = payload["pairs"].as_array()?;
            let count = pairs.iter().filter_map(|pair| pair[1].as_array()).map(Vec::len).sum();
            let why = field("reason")?.replace('_', " ");
            words("saw")
                .and(counted(count, "conflict"))
                .and(" of ")
                .id(&event.entity_id)
                .and(format!(" go: {why}"))
        }
        "conflict.resolved" => {
            let settled = counted(payload["conflicts"].as_array()?.len(), "conflict");
            let between = payload["between"].as_array()?;
            words("settled")
                .and(settled)
                .and(" between ")
                .id(between.first().and_then(Value::as_str)?)
                .and(" and ")
                .id(between.get(1).and_then(Value::as_str)?)
                .and(": ")
                .and(field("resolution")?)
        }
        "findings.owed" => compared("will be compared with", "of a silent owner", event)?,
        "findings.settled" => compared("was compared with", "after a silence", event)?,
        _ => return None,
    })
}

fn compared(verb: &str, when: &str, event: &Event) -> Option<Text> {
    let others = counted(event.payload["with"].as_array()?.len(), "intent");
    Some(plain("has ").id(&event.entity_id).and(format!(", which {verb} {others} {when}")))
}

fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::fact::{Fact, IntentAmended, IntentAssessed, WorkDiscarded};
    use crate::domain::{Agent, Digest, Id, Intent, Timestamp, assessment};
    use crate::operations::Screen;

    const INTENT: Id<Intent> = Id::from_bytes([0xaa; 16]);
    const OTHER: Id<Intent> = Id::from_bytes([0xbb; 16]);
    const AGENT: Id<Agent> = Id::from_bytes([0xcc; 16]);

    fn event(event_type: &str, payload: Value) -> Event {
        Event {
            seq: 1,
            event_id: Id::from_bytes([1; 16]),
            event_type: event_type.to_owned(),
            entity_type: "Intent".to_owned(),
            entity_id: INTENT.to_string(),
            agent_id: Some(AGENT.to_string()),
            payload,
            created_at: Timestamp::from_millis(0),
            prev_hash: String::new(),
            event_hash: Digest::of(b"").to_string(),
            replica: Id::from_bytes([2; 16]),
            number: 1,
            lamport: 1,
            replica_hash: String::new(),
            cause: None,
            effective: true,
            why_not_effective: None,
        }
    }

    fn said(event: &Event) -> String {
        let names = Names(BTreeMap::from([(AGENT, "ada".to_owned())]));
        let mut screen = Screen::new(200, Timestamp::from_millis(0));
        screen.line(told(event, &names));
        screen.into_text().trim_end().to_owned()
    }

    #[test]
    fn every_event_says_in_words_what_happened() {
        let mut untold: BTreeSet<_> = Fact::TYPES.iter().copied().collect();
        let conflict = |severity: &str| json!({ "severity": severity, "kind": "shared_contract", "with_intent_id": OTHER });
        let claim = json!({ "intent_id": INTENT, "kind": "symbol", "key": "X" });
        for (event_type, payload, expected) in [
            ("agent.registered", json!({ "name": "ada" }), "registered"),
            ("agent.retired", json!({}), "retired"),
            ("intent.published", json!({ "summary": "Do it" }), "published int_aaaaaaaa: Do it"),
            ("intent.amended", json!({ "scopes": [1] }), "amended int_aaaaaaaa, which touches 1 scope now"),
            (
                "intent.assessed",
                json!({ "verdict": "conflicts", "action": "waiting", "related_intent_id": OTHER }),
                "judged int_aaaaaaaa against int_bbbbbbbb: conflicts, waiting",
            ),
            (
                "intent.adopted",
                json!({ "from_agent_id": AGENT, "reason": "r" }),
                "took over int_aaaaaaaa from ada: r",
            ),
            ("lifecycle.transitioned", json!({ "to": "CLAIMED" }), "moved int_aaaaaaaa to CLAIMED"),
            ("work.discarded", json!({ "reason": "r" }), "gave up int_aaaaaaaa: r"),
            ("claim.created", claim.clone(), "claimed symbol:X for int_aaaaaaaa"),
            ("claim.renewed", claim.clone(), "renewed a claim for int_aaaaaaaa"),
            ("claim.released", claim, "released a claim of int_aaaaaaaa"),
            ("coordination.sent", json!({ "to_agent_id": AGENT, "message": "m" }), "wrote to ada: m"),
            ("coordination.read", json!({ "messages": [1, 2] }), "read 2 messages"),
            (
                "conflict.detected",
                json!({ "conflicts": [conflict("HIGH")] }),
                "ran into int_bbbbbbbb: HIGH shared contract with int_aaaaaaaa",
            ),
            (
                "conflict.redetected",
                json!({ "conflicts": [conflict("HIGH"), conflict("LOW")] }),
                "ran into 2 conflicts again with int_aaaaaaaa, 1 HIGH",
            ),
            (
                "conflict.dismissed",
                json!({ "pairs": [[OTHER, ["cfl"]]], "reason": "overlap_gone" }),
                "saw 1 conflict of int_aaaaaaaa go: overlap gone",
            ),
            (
                "conflict.resolved",
                json!({ "conflicts": ["c"], "between": [INTENT, OTHER], "resolution": "r" }),
                "settled 1 conflict between int_aaaaaaaa and int_bbbbbbbb: r",
            ),
            (
                "findings.owed",
                json!({ "with": [OTHER] }),
                "has int_aaaaaaaa, which will be compared with 1 intent of a silent owner",
            ),
            (
                "findings.settled",
                json!({ "with": [OTHER] }),
                "has int_aaaaaaaa, which was compared with 1 intent after a silence",
            ),
            ("moon.landed", json!({}), "moon.landed on int_aaaaaaaa"),
            ("work.discarded", json!({ "reason": 7 }), "work.discarded on int_aaaaaaaa"),
        ] {
            untold.remove(event_type);
            assert_eq!(said(&event(event_type, payload)), format!("ada {expected}"));
        }
        assert!(untold.is_empty(), "put into words nowhere: {untold:?}");
    }

    #[test]
    fn what_is_recorded_has_the_shape_that_is_put_into_words() {
        let assessed = IntentAssessed {
            assessment_id: Id::from_bytes([3; 16]),
            related_intent_id: OTHER,
            verdict: assessment::Verdict::DependsOn,
            rationale: "r".to_owned(),
            action: assessment::Reaction::Waiting,
        };
        for (fact, expected) in [
            (Fact::IntentAssessed(assessed), "judged int_aaaaaaaa against int_bbbbbbbb: depends_on, waiting"),
            (Fact::WorkDiscarded(WorkDiscarded { reason: "r".to_owned() }), "gave up int_aaaaaaaa: r"),
            (
                Fact::IntentAmended(IntentAmended { scopes: Vec::new(), summary: None }),
                "amended int_aaaaaaaa, which touches 0 scopes now",
            ),
        ] {
            let payload = serde_json::from_str(&fact.shared().unwrap()).unwrap();
            assert_eq!(said(&event(fact.heading().0, payload)), format!("ada {expected}"));
        }
    }

    #[test]
    fn an_event_without_effect_says_so_first() {
        let mut event = event("agent.retired", json!({}));
        event.why_not_effective = Some("it has open work".to_owned());
        assert_eq!(said(&event), "ada no effect (it has open work): retired");
    }
}
