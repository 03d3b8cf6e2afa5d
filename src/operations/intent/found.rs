//! What publishing and amending an intent tell about other work.

use std::cmp::Reverse;

use serde::Serialize;

use crate::detect::bounds::SHOWN_HIGH;
use crate::detect::warnings;
use crate::domain::conflict::RelatedWork;
use crate::domain::cut::Cut;
use crate::domain::fact::ConflictDetected;
use crate::domain::{Conflict, Id, Intent, Severity};
use crate::failure::Failure;
use crate::ledger::Snapshot;
use crate::operations::render::plain;
use crate::operations::{Screen, conflicts};
use crate::service::matching::Matches;
use crate::service::silence::Silence;

/// What an intent collides with.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub(super) struct Found {
    /// Conflicts on record, most severe first.
    pub(super) conflicts: Vec<Conflict>,
    /// Other agents' active work that touches it.
    pub(super) related_work: Vec<RelatedWork>,
    /// Whether the agent should judge how its work and the related work go together.
    assessment_required: bool,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// What is odd about the intent itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub(super) warnings: Vec<String>,
    /// Findings below HIGH that were not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<u64>,
    /// Recorded or found but left out of this answer, by field.
    #[serde(skip_serializing_if = "Cut::is_empty")]
    #[schemars(default)]
    cut: Cut,
}

impl Found {
    /// Reads back what is on record of `findings`.
    pub(super) fn read(
        snapshot: &Snapshot<'_>,
        intent: &Intent,
        matches: &Matches,
        findings: &ConflictDetected,
        silence: &mut Silence,
    ) -> Result<Self, Failure> {
        let (mut shown, mut found, mut high) = (Vec::new(), 0, 0);
        for pair in &findings.pairs {
            for sighting in &pair.found {
                found += 1;
                high += usize::from(sighting.severity == Severity::High);
                // Only what is shown is read back.
                if sighting.severity != Severity::High || high <= SHOWN_HIGH {
                    shown.extend(findings.identity(intent.id, pair.with, sighting));
                }
            }
        }
        let (nearest, related) = matches.nearest(snapshot, silence)?;
        let known = nearest.iter().map(|near| (near.row, &near.counterpart));
        let mut conflicts = snapshot.conflicts_of(intent.id, &shown, known)?;
        conflicts.sort_by_key(|conflict| Reverse(conflict.severity));
        let related_work: Vec<_> = nearest.into_iter().map(|near| matches.related(near)).collect();
        let cut = Cut::default().with("conflicts", conflicts.len(), found).with(
            "related_work",
            related_work.len(),
            related as u64,
        );
        let assessment_required =
            high > 0 || related_work.iter().any(|work| work.owner_stopped_since.is_none());
        // Those that are not read back need not be settled as those that are.
        let unread = high > SHOWN_HIGH && snapshot.open_conflicts(intent.id)?.count > 0;
        let unsettled = |conflict: &&Conflict| conflict.status.is_unsettled();
        let blocking = |conflict: &Conflict| conflict.severity == Severity::High;
        let settled = |work: &RelatedWork| {
            let mut with = conflicts.iter().filter(|conflict| parties(conflict).contains(&work.intent_id));
            with.clone().next().is_some() && !with.any(|conflict| unsettled(&conflict))
        };
        let next = if unread || conflicts.iter().filter(unsettled).any(blocking) {
            Some("Talk to the owners of the conflicting work before you write code.")
        } else if !assessment_required {
            None
        } else if related_work.iter().all(settled) {
            Some("What it collides with was settled: keep to what was agreed.")
        } else {
            Some("Look at the related work before you write code: it touches the same scopes.")
        };
        let mut warnings: Vec<_> = intent
            .scopes
            .iter()
            .filter_map(|scope| warnings::dropped_class(scope.kind, &scope.key))
            .take(warnings::SHOWN)
            .collect();
        if intent.scopes.is_empty() {
            warnings.push(warnings::NO_SCOPES.to_owned());
        }
        let omitted = Some(findings.omitted).filter(|count| *count > 0);
        let next = next.map(str::to_owned);
        Ok(Self { conflicts, related_work, assessment_required, next, warnings, omitted, cut })
    }

    pub(super) fn render(&self, intent: &Intent, screen: &mut Screen) {
        for warning in &self.warnings {
            screen.warning(warning);
        }
        let stopped = |work: &RelatedWork, screen: &mut Screen| {
            if let Some(since) = work.owner_stopped_since {
                screen.line(format!("  {} was last heard of {}.", work.agent, screen.ago(since)));
            }
        };
        for conflict in &self.conflicts {
            screen.gap();
            conflicts::advice(conflict, screen);
            for work in self.related_work.iter().filter(|work| parties(conflict).contains(&work.intent_id)) {
                stopped(work, screen);
            }
        }
        let without_conflict = self.related_work.iter().filter(|work| {
            !self.conflicts.iter().any(|conflict| parties(conflict).contains(&work.intent_id))
        });
        for work in without_conflict {
            screen.gap();
            let related = plain("Related: ").id(work.intent_id);
            screen.line(related.and(format!(" {} ({})", work.summary, work.agent)));
            stopped(work, screen);
        }
        if let Some(omitted) = self.omitted {
            screen.line(match omitted {
                1 => "One lesser finding was not recorded.".to_owned(),
                _ => format!("{omitted} lesser findings were not recorded."),
            });
        }
        let cut = self.cut.of("conflicts");
        if cut > 0 {
            let all = screen.typed("foremerge conflicts list");
            screen.line(format!("{cut} more conflicts are on record: {all}"));
        }
        screen.gap();
        if let Some(next) = &self.next {
            screen.line(next);
            let unsettled = self.conflicts.iter().find(|conflict| conflict.status.is_unsettled());
            if let Some(conflict) = unsettled.or(self.conflicts.first()) {
                screen.command(plain("foremerge conflicts show ").id(conflict.id));
            } else if let Some(work) = self.related_work.first() {
                screen.command(plain("foremerge intent show ").id(work.intent_id));
            }
        } else if self.related_work.is_empty() && self.conflicts.is_empty() && !intent.scopes.is_empty() {
            screen.line("Nobody else's active work touches it.");
        }
        super::next(intent, screen);
    }
}

fn parties(conflict: &Conflict) -> [Id<Intent>; 2] {
    [conflict.source_intent_id, conflict.target_intent_id]
}
