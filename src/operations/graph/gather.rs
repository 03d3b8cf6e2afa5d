//! What belongs to each intent of a page: its agent, task, scopes, claims, dependencies and
//! assessments.

use serde_json::json;

use super::drawing::Drawing;
use crate::domain::cut::Cut;
use crate::domain::graph::{Edge, EdgeKind, Node, NodeKind};
use crate::domain::{Agent, Id, Intent, Timestamp};
use crate::ledger::read::graph::{DrawnIntent, OnPage};
use crate::ledger::{Error, Snapshot};

/// Most of anything that is drawn of one intent, conflicts aside.
const EACH: u32 = 100;

/// How much there is, and how much of it is drawn.
#[derive(Default)]
pub(super) struct Tally {
    field: &'static str,
    shown: usize,
    all: u64,
}

/// A page that is being put together.
pub(super) struct Gather<'s> {
    pub(super) snapshot: &'s Snapshot<'s>,
    pub(super) drawing: Drawing,
    now: Timestamp,
    tallies: Vec<Tally>,
}

impl<'s> Gather<'s> {
    pub(super) fn new(snapshot: &'s Snapshot<'s>, now: Timestamp) -> Self {
        Self { snapshot, drawing: Drawing::default(), now, tallies: Vec::new() }
    }

    /// Notes that of `all` there are `shown` are drawn.
    pub(super) fn tally(&mut self, field: &'static str, shown: usize, all: u64) {
        if let Some(tally) = self.tallies.iter_mut().find(|tally| tally.field == field) {
            tally.shown += shown;
            tally.all += all;
        } else {
            self.tallies.push(Tally { field, shown, all });
        }
    }

    pub(super) fn drawn(self, kinds: &[NodeKind]) -> (Vec<Node>, Vec<Edge>, Cut) {
        let cut = self.tallies.iter().fold(Cut::default(), |cut, of| cut.with(of.field, of.shown, of.all));
        let (nodes, edges) = self.drawing.only(kinds);
        (nodes, edges, cut)
    }

    /// An intent of the page with all that belongs to it, conflicts aside.
    pub(super) fn intent(&mut self, found: OnPage) -> Result<(), Error> {
        let Some(intent) = self.snapshot.drawn_intent(found.id)? else { return Ok(()) };
        let at = intent.created_at;
        let node = self.drawing.node(intent_node(&intent));
        let agent = self.agent(intent.agent)?;
        let task = self.drawing.node(Node {
            id: intent.task_id.to_string(),
            kind: NodeKind::Task,
            key: intent.task_id.to_string(),
            label: intent.task.clone(),
            data: json!({ "id": intent.task_id, "title": intent.task }),
            created_at: at,
        });
        self.drawing.edge(EdgeKind::WorksOn, (&agent, &task), json!({}), at);
        self.drawing.edge(EdgeKind::HasIntent, (&task, &node), json!({}), at);
        self.scopes(found, &node, at)?;
        self.claims(found, &node)?;
        self.dependencies(found, &intent, &node)?;
        self.assessments(found, &node)
    }

    fn scopes(&mut self, found: OnPage, node: &str, at: Timestamp) -> Result<(), Error> {
        let (scopes, all) = self.snapshot.drawn_scopes(found.row, EACH)?;
        self.tally("scopes", scopes.len(), all);
        for declared in scopes {
            let scope = self.drawing.node(Node::of_scope(&declared.scope, at));
            let mut data = json!({ "operation": declared.operation });
            if declared.inferred {
                data["inferred"] = json!(true);
            }
            // Two symbols with one alias are one node, and may be declared differently.
            let apart = &declared.scope.full;
            self.drawing.edge_of(EdgeKind::Claims, (node, &scope), apart, data, at);
        }
        Ok(())
    }

    fn claims(&mut self, found: OnPage, node: &str) -> Result<(), Error> {
        let (claims, all) = self.snapshot.drawn_claims(found.row, self.now, EACH)?;
        self.tally("claims", claims.len(), all);
        for claim in claims {
            let at = claim.created_at;
            let scope = Node::of_scope(&claim.scope, at);
            let drawn = self.drawing.node(Node {
                id: claim.id.to_string(),
                kind: NodeKind::Claim,
                key: claim.id.to_string(),
                label: format!("{}:{} ({})", claim.scope.kind, claim.key, claim.status),
                data: json!({
                    "id": claim.id, "agent_id": claim.agent, "intent_id": found.id, "scope": scope.data,
                    "status": claim.status, "lease_expires_at": claim.lease_expires_at,
                }),
                created_at: at,
            });
            let scope = self.drawing.node(scope);
            self.drawing.edge(EdgeKind::MakesClaim, (node, &drawn), json!({}), at);
            self.drawing.edge(EdgeKind::Claims, (&drawn, &scope), json!({}), at);
        }
        Ok(())
    }

    fn dependencies(&mut self, found: OnPage, intent: &DrawnIntent, node: &str) -> Result<(), Error> {
        let (built_on, all) = self.snapshot.drawn_dependencies(found.row, EACH)?;
        self.tally("dependencies", built_on.len(), all);
        for other in built_on {
            let dependency = self.dependency(other, intent.created_at)?;
            self.drawing.edge(EdgeKind::DependsOn, (node, &dependency), json!({}), intent.created_at);
        }
        if self.snapshot.is_built_on(found.row)? {
            let dependency = self.dependency(found.id, intent.created_at)?;
            self.drawing.edge(EdgeKind::AffectsDependency, (node, &dependency), json!({}), intent.created_at);
        }
        Ok(())
    }

    /// The node of an intent as others build on it, known or not.
    fn dependency(&mut self, id: Id<Intent>, mentioned_at: Timestamp) -> Result<String, Error> {
        let node = Node::dependency_id(id);
        if self.drawing.has(&node) {
            return Ok(node);
        }
        let known = self.snapshot.drawn_intent(id)?;
        let mut data = json!({ "intent_id": id });
        if let Some(known) = &known {
            data["status"] = json!(known.status);
        }
        Ok(self.drawing.node(Node {
            id: node,
            kind: NodeKind::Dependency,
            key: id.to_string(),
            label: known.as_ref().map_or_else(|| id.short(), |known| known.summary.clone()),
            data,
            created_at: known.map_or(mentioned_at, |known| known.created_at),
        }))
    }

    fn assessments(&mut self, found: OnPage, node: &str) -> Result<(), Error> {
        let (assessments, all) = self.snapshot.drawn_assessments(found.row, EACH)?;
        self.tally("assessments", assessments.len(), all);
        for one in assessments {
            let other = self.party(one.related, one.created_at)?;
            let data = json!({
                "id": one.id, "agent_id": one.agent, "verdict": one.verdict, "action": one.action,
            });
            let apart = one.id.to_string();
            self.drawing.edge_of(EdgeKind::Assessed, (node, &other), &apart, data, one.created_at);
        }
        Ok(())
    }

    /// The node of an intent that something on the page leads to.
    pub(super) fn party(&mut self, id: Id<Intent>, mentioned_at: Timestamp) -> Result<String, Error> {
        let node = id.to_string();
        if self.drawing.has(&node) {
            return Ok(node);
        }
        Ok(self.drawing.node(match self.snapshot.drawn_intent(id)? {
            Some(known) => intent_node(&known),
            None => Node {
                id: node.clone(),
                kind: NodeKind::Intent,
                key: node,
                label: id.short(),
                data: json!({ "id": id }),
                created_at: mentioned_at,
            },
        }))
    }

    /// The node of an agent.
    pub(super) fn agent(&mut self, id: Id<Agent>) -> Result<String, Error> {
        let node = id.to_string();
        if self.drawing.has(&node) {
            return Ok(node);
        }
        let (label, data, created_at) = match self.snapshot.agent(id) {
            Ok(agent) => {
                let mut data = json!({ "id": id, "name": agent.name });
                for (field, value) in [("model", agent.model), ("worktree", agent.worktree)] {
                    if let Some(value) = value {
                        data[field] = json!(value);
                    }
                }
                data["status"] = json!(agent.status);
                (agent.name, data, agent.registered_at)
            }
            // An exchange may bring what an agent did before the agent.
            Err(Error::NotFound { .. }) => (id.short(), json!({ "id": id }), self.now),
            Err(error) => return Err(error),
        };
        Ok(self.drawing.node(Node {
            id: node.clone(),
            kind: NodeKind::Agent,
            key: node,
            label,
            data,
            created_at,
        }))
    }

    /// Agents that own no intent.
    pub(super) fn idle_agents(&mut self) -> Result<(), Error> {
        let (agents, all) = self.snapshot.agents_without_work(EACH)?;
        self.tally("agents", agents.len(), all);
        agents.into_iter().try_for_each(|agent| self.agent(agent).map(drop))
    }
}

fn intent_node(intent: &DrawnIntent) -> Node {
    let DrawnIntent { id, agent, task_id, summary, status, created_at, .. } = intent;
    Node {
        id: id.to_string(),
        kind: NodeKind::Intent,
        key: id.to_string(),
        label: summary.clone(),
        data: json!({
            "id": id, "agent_id": agent, "task_id": task_id, "summary": summary, "status": status,
        }),
        created_at: *created_at,
    }
}
