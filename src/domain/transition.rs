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
    /// `amend_intent`
    Amend,
}

/// One row: an act, the states it is open in (`None`: the intent does not exist yet), and the
/// state it leads to.
#[derive(Debug)]
pub struct Transition {
    /// What happens.
    pub act: Act,
    /// States it may happen in.
    pub from: &'static [Option<IntentStatus>],
    /// State afterwards; `None` where it stays.
    pub to: Option<IntentStatus>,
    /// Whether only the owner may do it.
    pub owner_only: bool,
}

/// Every row.
pub const TABLE: &[Transition] = &[
    Transition { act: Act::Publish, from: &[None], to: Some(IntentStatus::Intent), owner_only: false },
    Transition {
        act: Act::Amend,
        from: &[
            Some(IntentStatus::Intent),
            Some(IntentStatus::Claimed),
            Some(IntentStatus::InProgress),
            Some(IntentStatus::Provisional),
        ],
        to: None,
        owner_only: true,
    },
];

/// The state `act` leads to from `current`, or `None` where the table has no such row.
#[must_use]
pub fn after(act: Act, current: Option<IntentStatus>) -> Option<IntentStatus> {
    let row = TABLE.iter().find(|row| row.act == act && row.from.contains(&current))?;
    row.to.or(current)
}

/// Whether only the owner of an intent may do this to it.
#[must_use]
pub fn is_owner_only(act: Act) -> bool {
    TABLE.iter().any(|row| row.act == act && row.owner_only)
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

    #[test]
    fn an_intent_is_amended_by_its_owner_until_its_code_is_validated_and_stays_where_it_is() {
        use IntentStatus::{
            Accepted, Claimed, Committed, Discarded, InProgress, Intent, Provisional, Validated,
        };
        for status in [Intent, Claimed, InProgress, Provisional] {
            assert_eq!(after(Act::Amend, Some(status)), Some(status));
        }
        for status in [Validated, Accepted, Committed, Discarded] {
            assert_eq!(after(Act::Amend, Some(status)), None, "{status}");
        }
        assert_eq!(after(Act::Amend, None), None);
        assert!(is_owner_only(Act::Amend) && !is_owner_only(Act::Publish));
    }
}
