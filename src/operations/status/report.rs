//! Reading the overview, all of it at one moment.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::screen::{First, FirstAgent, FirstIntent};
use super::{AgentRow, ClaimRow, ConflictRow, Counts, IntentGroup, IntentRow, Output, WaitRow};
use crate::domain::cut::Cut;
use crate::domain::text::beginning;
use crate::domain::{Id, Scope, Timestamp};
use crate::failure::Failure;
use crate::ledger::Snapshot;
use crate::ledger::read::{LiveClaim, StatusConflict, StatusIntent, Wait};
use crate::operations::render::escaped_json;
use crate::service::silence::Silence;

/// Rows per section; counts are always whole.
const ROWS: u32 = 20;
/// Rows per section of a screen.
const FIRST: u32 = 8;
/// Characters shown of a summary or an explanation; the whole is one call away.
const SHOWN: usize = 300;
/// Characters shown of a key, which names something as long as it is not cut.
const KEY: usize = 200;
/// The same of the many keys of both sides of a conflict.
const SIDE: usize = 100;
/// Bytes of the answer as it is printed. Rows that would lead beyond it are left out and counted.
const BYTES: usize = 63 * 1024;
/// Of them for what is in no row.
const AROUND: usize = 2 * 1024;

pub(super) fn read(snapshot: &Snapshot<'_>, now: Timestamp) -> Result<Output, Failure> {
    let page = snapshot.agents(false, None, ROWS)?;
    let mut agents = Vec::with_capacity(page.items.len());
    for agent in page.items {
        let seen = snapshot.last_seen(agent.id)?;
        agents.push(AgentRow {
            id: agent.id,
            name: agent.name,
            model: agent.model,
            worktree: agent.worktree.map(|worktree| beginning(&worktree, SHOWN).into_owned()),
            last_seen_at: seen.at,
            stale: seen.is_stale(now),
        });
    }
    let (mut intents, mut silence) = (Vec::new(), Silence::new(now));
    for group in snapshot.active_intents(ROWS)? {
        let rows = group.intents.into_iter().map(|intent| intent_row(snapshot, &mut silence, intent));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        intents.push(IntentGroup {
            status: group.status,
            count: group.count,
            intents: rows,
            cut: Cut::default(),
        });
    }
    let (live, claims) = snapshot.live_claims(now, ROWS)?;
    let mut live: Vec<_> = live.into_iter().map(ClaimRow::from).collect();
    let (unsettled, conflicts) = snapshot.unsettled_conflicts(ROWS)?;
    let mut unsettled: Vec<_> = unsettled.into_iter().map(conflict_row).collect();
    let (mut waits, waiting) = if intents.is_empty() { (Vec::new(), 0) } else { waits(snapshot)? };
    fit(&mut intents, &mut agents, &mut live, (&mut unsettled, &mut waits));
    for group in &mut intents {
        group.cut = Cut::default().with("intents", group.intents.len(), group.count);
    }
    let cut = Cut::default()
        .with("agents", agents.len(), page.total)
        .with("claims", live.len(), claims)
        .with("conflicts", unsettled.len(), conflicts)
        .with("waiting", waits.len(), waiting);
    let counts = Counts { agents: page.total, claims, conflicts, waiting };
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
        claims: live,
        conflicts: unsettled,
        waiting: waits,
        changesets: Vec::new(),
        counts,
        as_of_event: snapshot.last_seq()?,
        first,
    })
}

/// What active work waits for, the newest first, and how much of it there is.
fn waits(snapshot: &Snapshot<'_>) -> Result<(Vec<WaitRow>, u64), Failure> {
    let (mut waits, builders) = snapshot.builders(FIRST)?;
    let (said, waiting) = snapshot.waiting(FIRST)?;
    waits.extend(said);
    waits.sort_by_key(|wait| Reverse(wait.since));
    waits.truncate(FIRST as usize);
    let row = |wait: Wait| {
        let on = snapshot.standing(wait.on)?;
        Ok(WaitRow {
            intent_id: wait.intent,
            agent_name: wait.agent_name,
            for_intent_id: wait.on,
            for_status: on.as_ref().map(|on| on.status),
            for_agent_name: on.and_then(|on| on.agent_name),
            since: wait.since,
        })
    };
    Ok((waits.into_iter().map(row).collect::<Result<_, Failure>>()?, builders + waiting))
}

/// Takes rows from the end of whichever section is the longest until all of them fit; the first row of each
/// goes last.
fn fit(
    intents: &mut [IntentGroup],
    agents: &mut Vec<AgentRow>,
    claims: &mut Vec<ClaimRow>,
    (conflicts, waits): (&mut Vec<ConflictRow>, &mut Vec<WaitRow>),
) {
    let mut sections = vec![lengths(agents), lengths(claims), lengths(conflicts), lengths(waits)];
    sections.extend(intents.iter().map(|group| lengths(&group.intents)));
    let length = |section: &Vec<usize>| section.iter().sum::<usize>();
    while sections.iter().map(length).sum::<usize>() > BYTES - AROUND
        && let Some(longest) = sections.iter_mut().max_by_key(|section| (section.len() > 1, length(section)))
    {
        longest.pop();
    }
    agents.truncate(sections[0].len());
    claims.truncate(sections[1].len());
    conflicts.truncate(sections[2].len());
    waits.truncate(sections[3].len());
    for (group, section) in intents.iter_mut().zip(&sections[4..]) {
        group.intents.truncate(section.len());
    }
}

/// How many bytes each row takes in the answer as it is printed, and the comma behind it.
fn lengths<T: serde::Serialize>(rows: &[T]) -> Vec<usize> {
    let length = |row| serde_json::to_string(row).map_or(0, |text| escaped_json(&text).len() + 1);
    rows.iter().map(length).collect()
}

fn cut_to(characters: usize, scope: &Scope) -> Scope {
    Scope { key: beginning(&scope.key, characters).into_owned(), kind: scope.kind }
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
            scope: cut_to(KEY, &claim.scope),
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
        scope: conflict.scope.as_ref().map(|scope| cut_to(KEY, scope)),
        source_intent_id: conflict.source_intent_id,
        source_agent_name: source.agent_name,
        source_scopes: source.scopes.iter().map(|scope| cut_to(SIDE, scope)).collect(),
        target_intent_id: conflict.target_intent_id,
        target_agent_name: target.agent_name,
        target_scopes: target.scopes.iter().map(|scope| cut_to(SIDE, scope)).collect(),
        explanation: beginning(&conflict.explanation, SHOWN).into_owned(),
        detected_at: conflict.detected_at,
    }
}
