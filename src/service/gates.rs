//! Whether something may happen to an intent, and the refusal if not.

use crate::domain::transition::{Act, Who, after, open_in, who};
use crate::domain::{Agent, Id, Intent, IntentStatus};
use crate::failure::{Audience, Code, Failure};

/// Refuses what the transition table does not allow `agent` to do to `intent` now. Returns the
/// state it leads to.
///
/// # Errors
/// `FORBIDDEN`, `INVALID_TRANSITION`; adopting one's own work is `INVALID_INPUT`.
pub fn may(act: Act, intent: &Intent, agent: Id<Agent>) -> Result<IntentStatus, Failure> {
    let mine = intent.agent_id == agent;
    match who(act) {
        Who::Owner if !mine => {
            let what = done(act);
            let message =
                format!("{} belongs to {} and can be {what} by its owner alone", intent.id, intent.agent_id);
            return Err(Failure::new(Code::Forbidden, message));
        }
        Who::Others if mine => {
            let message = format!("{} is the agent's own work already; name another agent's", intent.id);
            return Err(Failure::invalid("intent_id", message, "an intent of another agent"));
        }
        _ => {}
    }
    after(act, Some(intent.status)).ok_or_else(|| {
        let open: Vec<_> = open_in(act).map(IntentStatus::as_str).collect();
        let message =
            format!("{} is {}; only {} work can be {}", intent.id, intent.status, one_of(&open), done(act));
        let refusal = Failure::in_state(intent.status.as_str(), message, open);
        match (act, intent.status) {
            (Act::Start, IntentStatus::Intent) => refusal.then(Audience::Agent, "claim_work"),
            (_, IntentStatus::Discarded | IntentStatus::Committed) => {
                refusal.then(Audience::Agent, "publish_intent")
            }
            _ => refusal,
        }
    })
}

const fn done(act: Act) -> &'static str {
    match act {
        Act::Publish => "published",
        Act::Amend => "amended",
        Act::Claim => "claimed",
        Act::Release => "released",
        Act::Start => "started",
        Act::Assess => "assessed",
        Act::Adopt => "adopted",
        Act::Discard => "discarded",
        Act::PublishChangeset => "published code for",
        Act::Pass | Act::Fail => "validated",
        Act::Accept => "accepted",
        Act::Land => "recorded as landed",
    }
}

fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
