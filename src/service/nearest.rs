//! What somebody may have meant who wrote an agent's name where its id belongs.

use super::Host;
use crate::domain::id::IdKind;
use crate::domain::text::quoted;
use crate::domain::{Agent, Id};

/// Agents a message names.
const SHOWN: usize = 3;

/// For a text that was refused with `refusal`: which agent it may mean, in a sentence. Best
/// effort; without a ledger nobody is known.
#[must_use]
pub fn agent_meant(host: &Host, written: &str, refusal: &str) -> Option<String> {
    if !refusal.contains(&format!("is not the id of an {}", Agent::NOUN)) {
        return None;
    }
    let found = host.ledger().ok()?.read(|snapshot| snapshot.agents_like(written)).ok()?;
    let name = quoted(&found.first()?.1);
    let ids: Vec<_> = found.iter().take(SHOWN).map(|(id, _): &(Id<Agent>, String)| id.to_string()).collect();
    let ids = match ids.as_slice() {
        [one] => format!("the id {one}"),
        several => format!("the ids {}", several.join(", ")),
    };
    Some(format!("the agent `{name}` has {ids}"))
}
