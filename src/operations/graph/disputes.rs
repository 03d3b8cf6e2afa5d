//! Conflicts of the intents of a page, when they were seen, and how they were settled.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::json;

use super::gather::Gather;
use crate::domain::graph::{EdgeKind, Node, NodeKind};
use crate::ledger::Error;
use crate::ledger::read::graph::{DrawnConflict, DrawnIdentity, OnPage};

/// Most conflicts of a page, and most of their detections; the newest of each.
const MOST: usize = 500;

impl Gather<'_> {
    /// Everything about the conflicts of these intents.
    pub(super) fn disputes(&mut self, page: &[OnPage]) -> Result<(), Error> {
        let (mut conflicts, mut known) = (Vec::new(), HashSet::new());
        for found in page {
            let of_intent = self.snapshot.drawn_conflicts(found.row)?;
            conflicts.extend(of_intent.into_iter().filter(|conflict| known.insert(conflict.place)));
        }
        let all = conflicts.len() as u64;
        conflicts.sort_unstable_by_key(|one| Reverse(one.place));
        conflicts.truncate(MOST);
        self.tally("conflicts", conflicts.len(), all);
        let (mut between, mut seen) = (BTreeMap::new(), Vec::with_capacity(conflicts.len()));
        let mut rules = HashMap::new();
        for conflict in &conflicts {
            let about = self.snapshot.drawn_identity(conflict.place)?;
            let ends = self.conflict(conflict, &about)?;
            rules.insert(about.id, conflict.place.2);
            let (count, since) = between.entry(ends).or_insert((0_u64, about.seen_at));
            *count += 1;
            *since = about.seen_at.min(*since);
            seen.push((conflict.place.1, about));
        }
        for ((low, high), (count, since)) in between {
            let data = json!({ "conflicts": count });
            self.drawing.edge(EdgeKind::ConflictsWith, (&low, &high), data, since);
        }
        let detections = self.snapshot.drawn_detections(&seen)?;
        self.tally("detections", detections.len().min(MOST), detections.len() as u64);
        for seen in detections.into_iter().take(MOST) {
            let (id, conflict) = (seen.id.to_string(), seen.conflict.to_string());
            let kind = rules.get(&seen.conflict).map_or("", |rule| rule.kind());
            let node = self.drawing.node(Node {
                id: id.clone(),
                kind: NodeKind::ConflictDetection,
                key: id,
                label: format!("{} {kind} in event {}", seen.severity, seen.seq),
                data: json!({
                    "id": seen.id, "conflict_id": seen.conflict, "severity": seen.severity,
                    "score": f64::from(seen.score) / 1000.0, "seq": seen.seq,
                }),
                created_at: seen.created_at,
            });
            self.drawing.edge(EdgeKind::OccurrenceOf, (&node, &conflict), json!({}), seen.created_at);
        }
        Ok(())
    }

    /// A conflict with its parties and its decision. Answers the nodes of the parties.
    fn conflict(
        &mut self,
        conflict: &DrawnConflict,
        about: &DrawnIdentity,
    ) -> Result<(String, String), Error> {
        let (rule, (low, high), at) = (conflict.place.2, about.between, about.seen_at);
        let ends = (self.party(low, at)?, self.party(high, at)?);
        let id = about.id.to_string();
        let node = self.drawing.node(Node {
            id: id.clone(),
            kind: NodeKind::Conflict,
            key: id,
            label: format!("{} {} ({})", conflict.severity, rule.kind(), conflict.status),
            data: json!({
                "id": about.id, "kind": rule.kind(), "rule": rule, "severity": conflict.severity,
                "status": conflict.status, "source_intent_id": low, "target_intent_id": high,
            }),
            created_at: at,
        });
        self.drawing.edge(EdgeKind::HasConflict, (&ends.0, &node), json!({}), at);
        self.drawing.edge(EdgeKind::HasConflict, (&ends.1, &node), json!({}), at);
        if let Some(decision) = conflict.decision {
            self.decision(decision, &node)?;
        }
        Ok(ends)
    }

    fn decision(&mut self, decision: i64, conflict: &str) -> Result<(), Error> {
        let decision = self.snapshot.drawn_decision(decision)?;
        let (id, at) = (decision.id.to_string(), decision.decided_at);
        let agent = self.agent(decision.agent)?;
        let node = self.drawing.node(Node {
            id: id.clone(),
            kind: NodeKind::Decision,
            key: id,
            label: decision.title.clone(),
            data: json!({ "id": decision.id, "agent_id": decision.agent, "title": decision.title }),
            created_at: at,
        });
        self.drawing.edge(EdgeKind::RecordsDecision, (&agent, &node), json!({}), at);
        self.drawing.edge(EdgeKind::ResolvedBy, (conflict, &node), json!({}), at);
        Ok(())
    }
}
