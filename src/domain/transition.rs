//! The transition table: which act is open to an intent in which state, and where it leads.
//!
//! Operations ask it before they write, folds ask it again at the event's own place in the
//! order of all replicas. It knows states alone: no clock, lease, presence or gate.

use super::IntentStatus;
use IntentStatus::{Accepted, Claimed, Committed, Discarded, InProgress, Intent, Provisional, Validated};

/// Something that happens to an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// It is said.
    Publish,
    /// What it touches changes.
    Amend,
    /// Scopes are claimed for it.
    Claim,
    /// Its claims are given up.
    Release,
    /// Work begins.
    Start,
    /// Its owner judges how it goes together with other work.
    Assess,
    /// Another agent takes it over.
    Adopt,
    /// It is given up.
    Discard,
    /// Code for it is published.
    PublishChangeset,
    /// A check of its code passed.
    Pass,
    /// A check of its code did not pass.
    Fail,
    /// The exact tree is accepted.
    Accept,
    /// The work landed.
    Land,
}

/// One row: an act, the states it is open in (`None`: the intent does not exist yet), and the
/// state it leads to.
#[derive(Debug)]
pub struct Transition {
    /// What happens.
    pub act: Act,
    /// The operation it happens through.
    pub operation: &'static str,
    /// States it may happen in.
    pub from: &'static [Option<IntentStatus>],
    /// State afterwards; `None` where it stays.
    pub to: Option<IntentStatus>,
    /// Who may do it.
    pub who: Who,
}

/// Who may do something to an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Its owner.
    Owner,
    /// Any agent but its owner.
    Others,
    /// Any agent.
    Anyone,
}

const EVERY_STATE: &[Option<IntentStatus>] = &[
    Some(Intent),
    Some(Claimed),
    Some(InProgress),
    Some(Provisional),
    Some(Validated),
    Some(Accepted),
    Some(Committed),
    Some(Discarded),
];

const fn row(
    act: Act,
    operation: &'static str,
    from: &'static [Option<IntentStatus>],
    to: Option<IntentStatus>,
    who: Who,
) -> Transition {
    Transition { act, operation, from, to, who }
}

/// Every row.
pub const TABLE: &[Transition] = &[
    row(Act::Publish, "publish_intent", &[None], Some(Intent), Who::Anyone),
    row(
        Act::Amend,
        "amend_intent",
        &[Some(Intent), Some(Claimed), Some(InProgress), Some(Provisional)],
        None,
        Who::Owner,
    ),
    row(Act::Claim, "claim_work", &[Some(Intent)], Some(Claimed), Who::Owner),
    row(
        Act::Claim,
        "claim_work",
        &[Some(Claimed), Some(InProgress), Some(Provisional), Some(Validated)],
        None,
        Who::Owner,
    ),
    row(Act::Release, "release_work", EVERY_STATE, None, Who::Owner),
    row(Act::Start, "start_work", &[Some(Claimed)], Some(InProgress), Who::Owner),
    row(Act::Assess, "record_assessment", EVERY_STATE, None, Who::Owner),
    row(
        Act::Adopt,
        "adopt_work",
        &[Some(Intent), Some(Claimed), Some(InProgress), Some(Provisional), Some(Validated), Some(Accepted)],
        None,
        Who::Others,
    ),
    row(
        Act::Discard,
        "discard_work",
        &[Some(Intent), Some(Claimed), Some(InProgress), Some(Provisional), Some(Validated), Some(Accepted)],
        Some(Discarded),
        Who::Owner,
    ),
    row(
        Act::PublishChangeset,
        "publish_changeset",
        &[Some(Claimed), Some(InProgress), Some(Provisional), Some(Validated)],
        Some(Provisional),
        Who::Owner,
    ),
    row(Act::Pass, "run_verification", &[Some(Provisional), Some(Validated)], Some(Validated), Who::Anyone),
    row(Act::Fail, "run_verification", &[Some(Provisional), Some(Validated)], Some(Provisional), Who::Anyone),
    row(Act::Accept, "accept_changeset", &[Some(Provisional), Some(Validated)], Some(Accepted), Who::Anyone),
    row(Act::Land, "record_commit", &[Some(Accepted)], Some(Committed), Who::Anyone),
];

/// The state `act` leads to from `current`, or `None` where the table has no such row.
#[must_use]
pub fn after(act: Act, current: Option<IntentStatus>) -> Option<IntentStatus> {
    let row = rows(act).find(|row| row.from.contains(&current))?;
    row.to.or(current)
}

/// The states `act` is open in.
pub fn open_in(act: Act) -> impl Iterator<Item = IntentStatus> {
    rows(act).flat_map(|row| row.from.iter().copied().flatten())
}

/// Who may do this to an intent.
#[must_use]
pub fn who(act: Act) -> Who {
    rows(act).next().map_or(Who::Anyone, |row| row.who)
}

fn rows(act: Act) -> impl Iterator<Item = &'static Transition> {
    TABLE.iter().filter(move |row| row.act == act)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_is_published_once() {
        assert_eq!(after(Act::Publish, None), Some(Intent));
        for status in IntentStatus::ALL {
            assert_eq!(after(Act::Publish, Some(*status)), None, "{status}");
        }
    }

    #[test]
    fn no_act_but_publishing_happens_to_what_does_not_exist() {
        for row in TABLE.iter().filter(|row| row.act != Act::Publish) {
            assert_eq!(after(row.act, None), None, "{:?}", row.act);
        }
    }

    #[test]
    fn an_act_is_open_in_a_state_through_one_row_and_to_the_same_callers_in_all() {
        for (place, row) in TABLE.iter().enumerate() {
            for other in TABLE.iter().skip(place + 1).filter(|other| other.act == row.act) {
                assert!(row.from.iter().all(|state| !other.from.contains(state)), "{:?}", row.act);
                assert_eq!((row.who, row.operation), (other.who, other.operation), "{:?}", row.act);
            }
        }
    }

    #[test]
    fn work_goes_forward_by_claim_start_code_check_acceptance_and_landing() {
        let path = [
            (Act::Publish, Intent),
            (Act::Amend, Intent),
            (Act::Claim, Claimed),
            (Act::Claim, Claimed),
            (Act::Start, InProgress),
            (Act::Claim, InProgress),
            (Act::PublishChangeset, Provisional),
            (Act::Fail, Provisional),
            (Act::Amend, Provisional),
            (Act::Pass, Validated),
            (Act::Claim, Validated),
            (Act::Fail, Provisional),
            (Act::Pass, Validated),
            (Act::Accept, Accepted),
            (Act::Adopt, Accepted),
            (Act::Land, Committed),
        ];
        let mut state = None;
        for (act, expected) in path {
            state = after(act, state);
            assert_eq!(state, Some(expected), "{act:?}");
        }
    }

    #[test]
    fn what_has_ended_stays_as_it_is() {
        for end in [Committed, Discarded] {
            for row in TABLE.iter().filter(|row| !matches!(row.act, Act::Release | Act::Assess)) {
                assert_eq!(after(row.act, Some(end)), None, "{:?}", row.act);
            }
            assert_eq!(after(Act::Assess, Some(end)), Some(end));
        }
    }
}
