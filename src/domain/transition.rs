//! The transition table: which act is open to an intent in which state, and where it leads.
//!
//! Operations ask it before they write, folds ask it again at the event's own place in the
//! order of all replicas. It knows states alone: no clock, lease, presence or gate.

use super::IntentStatus;

/// Something that happens to an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// `publish_intent`
    Publish,
}

/// One row: an act, the states it is open in (`None`: the intent does not exist yet), and the
/// state it leads to.
#[derive(Debug)]
pub struct Transition {
    /// What happens.
    pub act: Act,
    /// States it may happen in.
    pub from: &'static [Option<IntentStatus>],
    /// State afterwards.
    pub to: IntentStatus,
}

/// Every row.
pub const TABLE: &[Transition] = &[Transition { act: Act::Publish, from: &[None], to: IntentStatus::Intent }];

/// The state `act` leads to from `current`, or `None` where the table has no such row.
#[must_use]
pub fn after(act: Act, current: Option<IntentStatus>) -> Option<IntentStatus> {
    TABLE.iter().find(|row| row.act == act && row.from.contains(&current)).map(|row| row.to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_is_published_once() {
        assert_eq!(after(Act::Publish, None), Some(IntentStatus::Intent));
        for status in IntentStatus::ALL {
            assert_eq!(after(Act::Publish, Some(*status)), None, "{status}");
        }
    }
}
