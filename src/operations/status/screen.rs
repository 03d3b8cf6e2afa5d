//! The overview on one screen: what is most urgent comes first, counts are whole.

use super::Output;
use crate::domain::{Agent, Conflict, IntentStatus, Severity, Timestamp};
use crate::ledger::read::Unread;
use crate::operations::render::{Cell, Style, Text, bold, dim, plain};
use crate::operations::{Render, Screen, conflicts};

/// What comes first of each section.
#[derive(Debug, Default)]
pub(super) struct First {
    pub(super) conflicts: Vec<Conflict>,
    /// How many of the oldest unsettled conflicts there are of each severity, most severe first.
    pub(super) severities: Vec<(Severity, u64)>,
    pub(super) unread: Vec<Unread>,
    pub(super) unread_count: u64,
    pub(super) work: Vec<FirstIntent>,
    pub(super) agents: Vec<FirstAgent>,
}

#[derive(Debug)]
pub(super) struct FirstIntent {
    pub(super) status: IntentStatus,
    pub(super) row: super::IntentRow,
}

#[derive(Debug)]
pub(super) struct FirstAgent {
    pub(super) agent: Agent,
    /// How many active intents it has.
    pub(super) work: u64,
    pub(super) seen: Timestamp,
    pub(super) stale: bool,
}

/// Claims on a screen, which has other things to show.
const CLAIMS: usize = 5;
/// Stranded intents on a screen.
const STRANDED: usize = 5;

impl Render for Output {
    fn render(&self, screen: &mut Screen) {
        if self.counts.agents == 0 && self.intents.is_empty() {
            screen.line("Nobody works here yet. Register an agent in each worktree:");
            screen.command("foremerge agent register --name NAME");
            screen.line("The whole story on one screen:");
            return screen.command("foremerge help lifecycle");
        }
        self.conflicts(screen);
        self.waiting(screen);
        self.work(screen);
        self.claims(screen);
        self.agents(screen);
    }
}

impl Output {
    fn conflicts(&self, screen: &mut Screen) {
        if self.counts.conflicts == 0 {
            return screen.line(Text::default().styled(Style::Good, "No open conflicts."));
        }
        let mut head = bold(format!("OPEN CONFLICTS {}", self.counts.conflicts));
        // Of very many not all are looked at.
        if self.first.severities.iter().map(|(_, count)| count).sum::<u64>() == self.counts.conflicts {
            for (severity, count) in &self.first.severities {
                head = head.and("  ").then(*severity).and(format!(" {count}"));
            }
        }
        screen.line(head);
        let rows = self.first.conflicts.iter().map(|conflict| {
            vec![
                Cell::from(conflict.id),
                conflict.severity.into(),
                conflict.status.into(),
                Cell::cut(&conflict.brief, conflicts::TOLD),
                dim(screen.ago(conflict.detected_at)).into(),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&[], rows);
        // Those that are talked about are counted too, and a list of one status leaves them out.
        screen.more_in(self.first.conflicts.len(), self.counts.conflicts, "foremerge conflicts list");
        if let Some(conflict) = self.first.conflicts.first() {
            screen.line("Both sides, and what to do:");
            screen.command(plain("foremerge conflicts show ").id(conflict.id));
        }
    }

    fn waiting(&self, screen: &mut Screen) {
        let stranded: Vec<_> = self
            .intents
            .iter()
            .flat_map(|group| &group.intents)
            .chain(self.first.work.iter().map(|intent| &intent.row))
            .filter(|intent| intent.stranded)
            .collect();
        let mut stranded = stranded;
        stranded.sort_by_key(|intent| (intent.created_at, intent.id));
        stranded.dedup_by_key(|intent| intent.id);
        if self.first.unread.is_empty() && stranded.is_empty() && self.waiting.is_empty() {
            return;
        }
        screen.gap();
        let mut head = bold("WAITING");
        if self.first.unread_count > 0 {
            head = head.and(format!("  {} unread", counted(self.first.unread_count, "message")));
        }
        screen.line(head);
        let unread = self.first.unread.iter().map(|unread| {
            vec![
                Cell::from(unread.agent),
                Cell::cut(&unread.agent_name, 1),
                Text::default()
                    .styled(Style::Warning, format!("{} unread", counted(unread.count, "message")))
                    .into(),
                dim(screen.ago(unread.since)).into(),
            ]
        });
        let left = stranded.iter().take(STRANDED).map(|intent| {
            vec![
                Cell::from(intent.id),
                Cell::cut(&intent.agent_name, 1),
                Text::default().styled(Style::Warning, "stranded: its owner is silent").into(),
                dim(screen.ago(intent.silent_since.unwrap_or(intent.created_at))).into(),
            ]
        });
        let waits = self.waiting.iter().map(|wait| {
            let on = plain("waits for ").id(wait.for_intent_id);
            let on = match &wait.for_agent_name {
                Some(name) => on.and(format!(" ({name})")),
                None => on,
            };
            vec![
                Cell::from(wait.intent_id),
                Cell::cut(&wait.agent_name, 1),
                match wait.for_status {
                    Some(status) => on.and(" ").then(status).into(),
                    None => on.into(),
                },
                dim(screen.ago(wait.since)).into(),
            ]
        });
        let rows: Vec<_> = unread.chain(left).chain(waits).collect();
        screen.table(&[], rows);
        screen.more(
            stranded.len().min(STRANDED) + self.waiting.len(),
            stranded.len() as u64 + self.counts.waiting,
        );
        if let Some(unread) = self.first.unread.first() {
            screen.command(plain("foremerge coordinate inbox ").id(unread.agent));
        }
        if let Some(intent) = stranded.first() {
            let adopt = plain("foremerge work adopt ").id(intent.id);
            screen.command(adopt.and(" --agent AGENT_ID --reason REASON"));
        }
    }

    fn work(&self, screen: &mut Screen) {
        screen.gap();
        if self.intents.is_empty() {
            screen.line("No open work. Publish an intent before you write code:");
            return screen.command(
                "foremerge intent publish --agent AGENT_ID --task TASK --summary SUMMARY \
                 --scope KIND:KEY=OPERATION",
            );
        }
        let count = self.intents.iter().map(|group| group.count).sum();
        let mut head = bold(format!("WORK {count}"));
        for group in &self.intents {
            head = head.and("  ").then(group.status).and(format!(" {}", group.count));
        }
        screen.line(head);
        let rows = self.first.work.iter().map(|intent| {
            let row = &intent.row;
            let owner = plain(&row.agent_name);
            vec![
                Cell::from(row.id),
                intent.status.into(),
                Cell::cut(if row.stranded { owner.styled(Style::Warning, " (silent)") } else { owner }, 1),
                Cell::cut(&row.summary, 2),
                dim(screen.ago(row.created_at)).into(),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&[], rows);
        screen.more_in(self.first.work.len(), count, "foremerge work query");
    }

    fn claims(&self, screen: &mut Screen) {
        if self.claims.is_empty() {
            return;
        }
        screen.gap();
        screen.heading(format!("CLAIMS {}", self.counts.claims));
        let rows = self.claims.iter().take(CLAIMS).map(|claim| {
            vec![
                Cell::from(claim.intent_id),
                Cell::cut(&claim.agent_name, 1),
                Cell::cut(claim.scope.to_string(), 1),
                dim(screen.ahead(claim.lease_expires_at)).into(),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&[], rows);
        screen.more(self.claims.len().min(CLAIMS), self.counts.claims);
    }

    fn agents(&self, screen: &mut Screen) {
        screen.gap();
        screen.heading(format!("AGENTS {}", self.counts.agents));
        let rows = self.first.agents.iter().map(|first| {
            let seen = screen.ago(first.seen);
            let agent = &first.agent;
            let branch = agent.git_branch.as_ref().map(|branch| format!(" ({branch})")).unwrap_or_default();
            let place = agent.worktree.as_ref().map(|worktree| plain(worktree).and_dim(branch));
            vec![
                Cell::from(agent.id),
                Cell::cut(&agent.name, 1),
                if first.work == 0 { dim("idle").into() } else { format!("{} open", first.work).into() },
                if first.stale {
                    Text::default().styled(Style::Warning, format!("silent {seen}")).into()
                } else {
                    dim(format!("seen {seen}")).into()
                },
                place.unwrap_or_default().into(),
            ]
        });
        let rows: Vec<_> = rows.collect();
        screen.table(&[], rows);
        screen.more_in(self.first.agents.len(), self.counts.agents, "foremerge agent list");
    }
}

fn counted(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
