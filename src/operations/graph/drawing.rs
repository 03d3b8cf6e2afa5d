//! Nodes and edges as they are put together, each once.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::domain::Timestamp;
use crate::domain::graph::{Edge, EdgeKind, Node, NodeKind};

/// A graph in the making.
#[derive(Default)]
pub(super) struct Drawing {
    nodes: Vec<Node>,
    places: HashMap<String, usize>,
    edges: Vec<Edge>,
    drawn: HashSet<String>,
}

impl Drawing {
    pub(super) fn has(&self, node: &str) -> bool {
        self.places.contains_key(node)
    }

    /// Adds a node that is not there yet, and says which it is. What is on the page through several
    /// others is as old as the oldest of them.
    pub(super) fn node(&mut self, node: Node) -> String {
        let id = node.id.clone();
        if let Some(place) = self.places.get(&id) {
            let known = &mut self.nodes[*place];
            known.created_at = known.created_at.min(node.created_at);
        } else {
            self.places.insert(id.clone(), self.nodes.len());
            self.nodes.push(node);
        }
        id
    }

    pub(super) fn edge(&mut self, kind: EdgeKind, ends: (&str, &str), data: Value, created_at: Timestamp) {
        self.add(Edge::new(kind, ends, None, data, created_at));
    }

    /// Adds an edge of which there may be several between the same nodes, told apart by `apart`.
    pub(super) fn edge_of(
        &mut self,
        kind: EdgeKind,
        ends: (&str, &str),
        apart: &str,
        data: Value,
        created_at: Timestamp,
    ) {
        self.add(Edge::new(kind, ends, Some(apart), data, created_at));
    }

    fn add(&mut self, edge: Edge) {
        if self.drawn.insert(edge.id.clone()) {
            self.edges.push(edge);
        }
    }

    /// The nodes of these kinds, or all, and the edges between them.
    pub(super) fn only(self, kinds: &[NodeKind]) -> (Vec<Node>, Vec<Edge>) {
        let Self { mut nodes, places, mut edges, .. } = self;
        if !kinds.is_empty() {
            let kept = |id: &str| places.get(id).is_some_and(|place| kinds.contains(&nodes[*place].kind));
            edges.retain(|edge| kept(&edge.from) && kept(&edge.to));
            nodes.retain(|node| kinds.contains(&node.kind));
        }
        (nodes, edges)
    }
}
