//! Both sides of a conflict, and what each can do, for a person.

use crate::domain::{Agent, Conflict, Intent, IntentStatus, Rule, Scope, ScopeOperation, Timestamp};
use crate::failure::Failure;
use crate::ledger::Snapshot;
use crate::operations::Screen;
use crate::operations::render::{Text, bold, dim, plain, shell_word};

/// Who stands on one side.
#[derive(Debug)]
pub(super) struct Side {
    intent: Intent,
    agent: Agent,
    seen: Timestamp,
    /// Where it meets the other, as it spells it.
    at: Option<Scope>,
}

impl Side {
    /// Reads the side of an intent, as it is now.
    pub(super) fn read(
        snapshot: &Snapshot<'_>,
        intent: crate::domain::Id<Intent>,
        at: Option<&Scope>,
    ) -> Result<Self, Failure> {
        let intent = snapshot.intent(intent)?;
        let agent = snapshot.agent(intent.agent_id)?;
        let at = at.map(|scope| snapshot.spelled(intent.id, scope)).transpose()?;
        Ok(Self { seen: snapshot.last_seen(agent.id)?.at, intent, agent, at })
    }

    fn show(&self, heading: Text, does: Option<(Option<ScopeOperation>, bool)>, screen: &mut Screen) {
        let agent = &self.agent;
        screen.line(heading);
        let mut fields = vec![
            ("agent", Text::from(agent.id).and_dim(format!("  seen {}", screen.ago(self.seen)))),
            ("intent", Text::from(self.intent.id).and("  ").then(self.intent.status)),
            ("plans", plain(&self.intent.summary)),
        ];
        let does = does.zip(self.at.as_ref());
        fields.extend(does.map(|((operation, inferred), at)| ("does", self::does(operation, inferred, at))));
        fields.extend(agent.worktree.as_ref().map(|worktree| ("where", plain(worktree))));
        fields.extend(agent.git_branch.as_ref().map(|branch| ("branch", plain(branch))));
        screen.fields(fields);
    }

    /// The name of its agent, with the id where the other is called the same.
    fn called(&self, name: Text, sides: &[Option<Self>; 2]) -> Text {
        let mut agents = sides.iter().flatten().map(|side| &side.agent);
        let namesakes = agents.any(|agent| agent.name == self.agent.name && agent.id != self.agent.id);
        if namesakes { name.and(" (").id(self.agent.id).and(")") } else { name }
    }

    /// ` INTENT --agent AGENT` behind a command that the owner types.
    fn acts(&self, command: &str) -> Text {
        plain(command).and(" ").id(self.intent.id).and(" --agent ").id(self.agent.id)
    }

    fn may_amend(&self) -> bool {
        use IntentStatus::{Claimed, InProgress, Intent, Provisional};
        matches!(self.intent.status, Intent | Claimed | InProgress | Provisional)
    }
}

/// Who is involved and what they do; `None` for a side that is not known here.
pub(super) fn show(conflict: &Conflict, sides: &[Option<Side>; 2], screen: &mut Screen) {
    let at = conflict.evidence.at.as_ref();
    let does = [
        at.map(|at| (at.source_operation, at.source_operation_inferred)),
        at.map(|at| (at.target_operation, at.target_operation_inferred)),
    ];
    let ids = [conflict.source_intent_id, conflict.target_intent_id];
    for ((side, does), id) in sides.iter().zip(does).zip(ids) {
        screen.gap();
        match side {
            Some(side) => side.show(side.called(bold(&side.agent.name), sides), does, screen),
            None => screen.line(plain("Nothing is known here of ").id(id).and(".")),
        }
    }
}

fn does(operation: Option<ScopeOperation>, inferred: bool, scope: &Scope) -> Text {
    match operation {
        Some(operation) if inferred => {
            plain(format!("{operation} {scope}")).and_dim("  read from the summary")
        }
        Some(operation) => plain(format!("{operation} {scope}")),
        None => plain(format!("claims {scope}")),
    }
}

/// What both can do about it, as commands to copy.
pub(super) fn what_to_do(conflict: &Conflict, sides: &[Option<Side>; 2], screen: &mut Screen) {
    screen.gap();
    screen.heading("WHAT TO DO");
    if !conflict.status.is_unsettled() {
        screen.line(plain("Nothing: it is ").then(conflict.status).and("."));
        let Some(decision) = &conflict.decision else { return };
        let known = sides.iter().flatten().find(|side| side.agent.id == decision.agent_id);
        let by = known
            .map_or_else(|| decision.agent_id.into(), |side| side.called(plain(&side.agent.name), sides));
        return super::decided(decision, by, screen);
    }
    screen.line(&conflict.suggestion);
    let [Some(one), Some(other)] = sides else { return };
    screen.line(dim("Talk, from either side:"));
    for (from, to) in [(one, other), (other, one)] {
        let send = plain("foremerge coordinate send --from ").id(from.agent.id).and(" --to ").id(to.agent.id);
        screen.command(send.and(" --conflict ").id(conflict.id).and(" --message MESSAGE"));
    }
    match one.at.as_ref().zip(other.at.as_ref()) {
        Some(scopes) if conflict.evidence.rule == Rule::OverlappingClaim => {
            screen.line(dim("Release what is not needed:"));
            for (side, scope) in [one, other].into_iter().zip([scopes.0, scopes.1]) {
                let scope = shell_word(&scope.to_string());
                screen.command(side.acts("foremerge work release").and(" --scope ").and(scope));
            }
        }
        _ => {
            let may: Vec<_> = [one, other].into_iter().filter(|side| side.may_amend()).collect();
            if !may.is_empty() {
                screen.line(dim("Change what one side touches:"));
            }
            for side in may {
                screen.command(side.acts("foremerge intent amend").and(" --scope KIND:KEY=OPERATION"));
            }
        }
    }
    screen.line(dim("Give one side up:"));
    for side in [one, other].into_iter().filter(|side| side.intent.status.is_active()) {
        screen.command(side.acts("foremerge work discard").and(" --reason REASON"));
    }
    screen.line(dim("Once you agree, put it on record:"));
    let resolve = plain("foremerge conflicts resolve ").id(conflict.id).and(" --agent ").id(one.agent.id);
    screen.command(resolve.and(" --resolution RESOLUTION --rationale RATIONALE"));
}
