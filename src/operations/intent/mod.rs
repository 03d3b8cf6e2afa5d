//! Operations on intents.

pub(super) mod amend;
mod found;
pub(super) mod publish;
pub(super) mod show;

use super::Screen;
use super::render::{Text, dim, plain};
use crate::domain::{Id, Intent, IntentStatus};
use crate::failure::Failure;
use crate::ledger::Snapshot;

/// Where an intent stands that another builds on.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub(super) struct Dependency {
    intent_id: Id<Intent>,
    /// Absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<IntentStatus>,
    /// The name of its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_name: Option<String>,
}

impl Dependency {
    fn read(snapshot: &Snapshot<'_>, intent_id: Id<Intent>) -> Result<Self, Failure> {
        let on = snapshot.standing(intent_id)?;
        Ok(Self {
            intent_id,
            status: on.as_ref().map(|on| on.status),
            agent_name: on.and_then(|on| on.agent_name),
        })
    }

    fn in_words(&self) -> Text {
        let mut text = Text::from(self.intent_id);
        if let Some(status) = self.status {
            text = text.and(" ").then(status);
        }
        if let Some(name) = &self.agent_name {
            text = text.and(format!(" ({name})"));
        }
        text
    }
}

/// One intent, in two columns.
fn details(intent: &Intent, owner: Text, dependencies: &[Dependency], screen: &mut Screen) {
    let mut fields = vec![
        ("intent", dim(intent.id)),
        ("status", intent.status.into()),
        ("agent", owner),
        ("task", plain(&intent.task)),
        ("summary", plain(&intent.summary)),
    ];
    fields.extend(intent.rationale.as_ref().map(|rationale| ("rationale", plain(rationale))));
    let scopes = intent.scopes.iter().map(|scope| ("scope", plain(scope)));
    fields.extend(scopes);
    fields.extend(dependencies.iter().map(|other| ("depends on", other.in_words())));
    let unnamed = intent.depends_on.len() - dependencies.len();
    fields.extend((unnamed > 0).then(|| ("depends on", plain(format!("… and {unnamed} more")))));
    fields.push(("published", plain(screen.ago(intent.created_at))));
    screen.fields(fields);
}

/// What its owner does next with an intent, as a command to copy.
pub(super) fn next(intent: &Intent, screen: &mut Screen) {
    let (why, command, rest) = match intent.status {
        IntentStatus::Intent => {
            ("Claim what you work on:", "foremerge work claim --intent ", " --scope KIND:KEY")
        }
        IntentStatus::Claimed => ("Say when you begin to write the code:", "foremerge work start ", ""),
        _ => return,
    };
    screen.gap();
    screen.line(why);
    screen.command(plain(command).id(intent.id).and(" --agent ").id(intent.agent_id).and(rest));
}
