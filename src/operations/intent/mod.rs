//! Operations on intents.

pub(super) mod amend;
mod found;
pub(super) mod publish;
pub(super) mod show;

use super::Screen;
use crate::domain::Intent;

/// One intent, in two columns.
fn details(intent: &Intent, agent: &str, screen: &mut Screen) {
    let mut fields = vec![
        ("intent", intent.id.to_string()),
        ("status", intent.status.to_string()),
        ("agent", agent.to_owned()),
        ("task", intent.task.clone()),
        ("summary", intent.summary.clone()),
    ];
    fields.extend(intent.rationale.clone().map(|rationale| ("rationale", rationale)));
    for scope in &intent.scopes {
        fields.push(("scope", scope.to_string()));
    }
    for other in &intent.depends_on {
        fields.push(("depends on", other.to_string()));
    }
    fields.push(("published", screen.ago(intent.created_at)));
    screen.fields(fields);
}
