//! Operations on intents.

pub(super) mod amend;
mod found;
pub(super) mod publish;
pub(super) mod show;

use super::Screen;
use super::render::{Text, dim, plain};
use crate::domain::{Intent, IntentStatus};

/// One intent, in two columns.
fn details(intent: &Intent, owner: Text, screen: &mut Screen) {
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
    fields.extend(intent.depends_on.iter().map(|other| ("depends on", (*other).into())));
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
