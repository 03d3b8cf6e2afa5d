//! Operations by which agents talk to each other.

pub(super) mod inbox;
pub(super) mod send;

use super::Screen;
use crate::domain::Message;

/// Messages, oldest first, for a person.
fn list(messages: &[Message], screen: &mut Screen) {
    for message in messages {
        screen.gap();
        let about = message.conflict_id.map(|conflict| format!(", about {}", conflict.short()));
        screen.line(format!(
            "{} {} from {}{} ({})",
            message.status,
            screen.ago(message.created_at),
            message.from_agent_id.short(),
            about.unwrap_or_default(),
            message.id,
        ));
        for line in message.message.lines() {
            screen.line(format!("  {line}"));
        }
    }
}
