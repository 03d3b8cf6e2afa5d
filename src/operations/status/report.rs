//! Reading the overview, all of it at one moment.

use std::collections::BTreeSet;

use super::screen::{First, FirstAgent, FirstIntent};
use super::{AgentRow, ClaimRow, ConflictRow, Counts, IntentGroup, IntentRow, Output};
use crate::domain::cut::Cut;
use crate::domain::text::beginning;
use crate::domain::{Id, Timestamp};
use crate::failure::Failure;
use crate::ledger::Snapshot;
use crate::ledger::read::{LiveClaim, StatusConflict, StatusIntent};
use crate::service::silence::Silence;

/// Rows per section; counts are always whole.
const ROWS: u32 = 20;
/// Rows per section of a screen.
const FIRST: u32 = 8;
/// Characters shown of a summary or an explanation; the whole is one call away.
const SHOWN: usize = 300;

pub(super) fn read(snapshot: &Snapshot<'_>, now: Timestamp) -> Result<Output, Failure> {
    let page = snapshot.agents(false, None, ROWS)?;
    let mut agents = Vec::with_capacity(page.items.len());
    for agent in page.items {
        let seen = snapshot.last_seen(agent.id)?;
        agents.push(AgentRow {
            id: agent.id,
            name: agent.name,
            model: agent.model,
            worktree: agent.worktree,
            last_seen_at: seen.at,
            stale: seen.is_stale(now),
        });
    }
    let (mut intents, mut silence) = (Vec::new(), Silence::new(now));
    for group in snapshot.active_intents(ROWS)? {
        let rows = group.intents.into_iter().map(|intent| intent_row(snapshot, &mut silence, intent));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let cut = Cut::default().with("intents", rows.len(), group.count);
        intents.push(IntentGroup { status: group.status, count: group.count, intents: rows, cut });
    }
    let (live, claims) = snapshot.live_claims(now, ROWS)?;
    let (unsettled, conflicts) = snapshot.unsettled_conflicts(ROWS)?;
    let cut = Cut::default()
        .with("agents", agents.len(), page.total)
        .with("claims", live.len(), claims)
        .with("conflicts", unsettled.len(), conflicts);
    let counts = Counts { agents: page.total, claims, conflicts };
    // What there is none of is not looked for once more.
    let mut first = First::default();
    if conflicts > 0 {
        (first.conflicts, first.severities) = (snapshot.severest_conflicts(FIRST)?, snapshot.severities()?);
    }
    if page.total > 0 {
        (first.unread, first.unread_count) = snapshot.unread_messages(FIRST)?;
        first.agents = first_agents(snapshot, now)?;
    }
    if !intents.is_empty() {
        first.work = first_work(snapshot, &mut silence)?;
    }
    Ok(Output {
        cut,
        agents,
        intents,
        claims: live.into_iter().map(ClaimRow::from).collect(),
        conflicts: unsettled.into_iter().map(conflict_row).collect(),
        changesets: Vec::new(),
        counts,
        as_of_event: snapshot.last_seq()?,
        first,
    })
}

fn first_work(snapshot: &Snapshot<'_>, silence: &mut Silence) -> Result<Vec<FirstIntent>, Failure> {
    let newest = snapshot.newest_work(FIRST)?.into_iter();
    newest
        .map(|(status, intent)| Ok(FirstIntent { status, row: intent_row(snapshot, silence, intent)? }))
        .collect()
}

fn first_agents(snapshot: &Snapshot<'_>, now: Timestamp) -> Result<Vec<FirstAgent>, Failure> {
    let busiest = snapshot.busiest_agents(FIRST)?;
    let known: BTreeSet<Id<_>> = busiest.iter().map(|(agent, _)| *agent).collect();
    let idle = snapshot.newest_agents(FIRST)?.into_iter().filter(|agent| !known.contains(agent));
    let mut agents = Vec::new();
    for (agent, work) in busiest.into_iter().chain(idle.map(|agent| (agent, 0))).take(FIRST as usize) {
        let Ok(agent) = snapshot.agent(agent) else { continue };
        let seen = snapshot.last_seen(agent.id)?;
        agents.push(FirstAgent { stale: seen.is_stale(now), seen: seen.at, agent, work });
    }
    Ok(agents)
}

fn intent_row(
    snapshot: &Snapshot<'_>,
    silence: &mut Silence,
    intent: StatusIntent,
) -> Result<IntentRow, Failure> {
    let silent_since = silence.stopped(snapshot, intent.row, intent.agent_row)?;
    Ok(IntentRow {
        id: intent.id,
        agent_id: intent.agent,
        agent_name: intent.agent_name,
        summary: beginning(&intent.summary, SHOWN).into_owned(),
        stranded: silent_since.is_some(),
        created_at: intent.created_at,
        silent_since,
    })
}

impl From<LiveClaim> for ClaimRow {
    fn from(live: LiveClaim) -> Self {
        let LiveClaim { claim, agent_name } = live;
        Self {
            id: claim.id,
            agent_id: claim.agent_id,
            agent_name,
            intent_id: claim.intent_id,
            scope: claim.scope,
            lease_expires_at: claim.lease_expires_at,
        }
    }
}

fn conflict_row(found: StatusConflict) -> ConflictRow {
    let conflict = found.conflict;
    let (source, target) = (found.source, found.target);
    ConflictRow {
        cut: Cut::default().with("source_scopes", source.scopes.len(), source.scope_count).with(
            "target_scopes",
            target.scopes.len(),
            target.scope_count,
        ),
        id: conflict.id,
        kind: conflict.kind,
        severity: conflict.severity,
        status: conflict.status,
        scope: conflict.scope,
        source_intent_id: conflict.source_intent_id,
        source_agent_name: source.agent_name,
        source_scopes: source.scopes,
        target_intent_id: conflict.target_intent_id,
        target_agent_name: target.agent_name,
        target_scopes: target.scopes,
        explanation: beginning(&conflict.explanation, SHOWN).into_owned(),
        detected_at: conflict.detected_at,
    }
}
