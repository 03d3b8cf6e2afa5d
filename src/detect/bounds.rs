//! What of a large result goes on record and what is shown.
//!
//! HIGH is always recorded. Below HIGH the counterparts are ranked and the first
//! [`COUNTERPARTS`] are recorded with at most [`PER_COUNTERPART`] findings each; the rest is
//! counted. An answer shows at most [`SHOWN_HIGH`] HIGH findings.

use std::cmp::Reverse;

use super::{Finding, rules};
use crate::domain::{Id, Intent, Severity, Timestamp};

/// Counterparts whose findings below HIGH are recorded.
pub const COUNTERPARTS: usize = 20;
/// Findings below HIGH recorded per counterpart.
pub const PER_COUNTERPART: usize = 10;
/// HIGH findings shown in one answer.
pub const SHOWN_HIGH: usize = 100;

/// What was found against one counterpart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Against {
    /// The counterpart.
    pub intent: Id<Intent>,
    /// When it was published.
    pub published_at: Timestamp,
    /// The findings.
    pub findings: Vec<Finding>,
}

/// Drops what is over the bounds. Returns what goes on record, best counterpart first, and how
/// many findings do not.
#[must_use]
pub fn recorded(mut found: Vec<Against>) -> (Vec<Against>, u64) {
    let mut omitted = 0;
    for against in &mut found {
        against.findings.sort_by_key(|finding| (order(finding), finding.at.map(|at| at.scopes)));
    }
    found.retain(|against| !against.findings.is_empty());
    found.sort_by_key(|against| {
        let best = against.findings.iter().map(order).min();
        (best, Reverse(against.published_at), against.intent)
    });
    for (place, against) in found.iter_mut().enumerate() {
        let mut room = if place < COUNTERPARTS { PER_COUNTERPART } else { 0 };
        against.findings.retain(|finding| {
            let keep = finding.severity == Severity::High || room > 0;
            if finding.severity != Severity::High {
                room = room.saturating_sub(1);
            }
            omitted += u64::from(!keep);
            keep
        });
    }
    found.retain(|against| !against.findings.is_empty());
    (found, omitted)
}

/// Drops, before anything more is asked about them, counterparts of which [`recorded`] would record
/// nothing. `look` gives the findings with one, of which there must be some, and when it was
/// published. Returns how many findings are dropped.
pub fn drop_beyond<T>(found: &mut Vec<T>, look: impl Fn(&T) -> (&[Finding], Timestamp)) -> u64 {
    let rank = |against: &T| {
        let (findings, published_at) = look(against);
        (findings.iter().map(order).min(), Reverse(published_at))
    };
    let mut ranks: Vec<_> = found.iter().map(rank).collect();
    if ranks.len() <= COUNTERPARTS {
        return 0;
    }
    let last = *ranks.select_nth_unstable(COUNTERPARTS - 1).1;
    let mut dropped = 0;
    found.retain(|against| {
        let (findings, _) = look(against);
        let near = rank(against) <= last || findings.iter().any(|finding| finding.severity == Severity::High);
        dropped += if near { 0 } else { findings.len() as u64 };
        near
    });
    dropped
}

/// HIGH before the rest, then by rule, then by score.
fn order(finding: &Finding) -> (Reverse<Severity>, u8, Reverse<u16>) {
    (Reverse(finding.severity), rules::rank(finding.rule), Reverse(finding.score))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::findings::Meeting;
    use crate::domain::conflict::Tier;
    use crate::domain::{Rule, ScopeOperation};

    fn finding(severity: Severity, place: usize) -> Finding {
        Finding {
            rule: Rule::SharedContract,
            at: Some(Meeting {
                tier: Tier::Same,
                scopes: (place, place),
                operations: (ScopeOperation::Modify, ScopeOperation::Modify),
                inferred: (false, false),
            }),
            similarity: None,
            asserted: true,
            severity,
            score: 970,
        }
    }

    fn against(number: u8, findings: Vec<Finding>) -> Against {
        let published_at = Timestamp::from_millis(i64::from(number));
        Against { intent: Id::from_bytes([number; 16]), published_at, findings }
    }

    #[test]
    fn below_high_twenty_counterparts_with_ten_findings_each_are_recorded_and_the_rest_counted() {
        let found =
            (0..25).map(|n| against(n, (0..12).map(|p| finding(Severity::Medium, p)).collect())).collect();
        let (kept, omitted) = recorded(found);
        assert_eq!(kept.len(), 20);
        assert!(kept.iter().all(|against| against.findings.len() == 10));
        assert_eq!(omitted, 25 * 12 - 20 * 10);
        assert_eq!(kept[0].intent, Id::from_bytes([24; 16]), "the newest counterpart comes first");
    }

    #[test]
    fn every_high_finding_is_recorded_however_many_there_are() {
        let found =
            (0..30).map(|n| against(n, (0..40).map(|p| finding(Severity::High, p)).collect())).collect();
        let (kept, omitted) = recorded(found);
        assert_eq!(kept.iter().map(|against| against.findings.len()).sum::<usize>(), 1_200);
        assert_eq!(omitted, 0);
    }

    #[test]
    fn what_is_dropped_beforehand_changes_nothing_of_what_is_recorded() {
        let some = |n: u8| {
            let severity = if n % 17 == 3 { Severity::High } else { Severity::Medium };
            let mut findings: Vec<_> = (0..=usize::from(n % 12)).map(|p| finding(severity, p)).collect();
            findings[0].score = 900 + u16::from(n % 3);
            Against { published_at: Timestamp::from_millis(i64::from(n % 8)), ..against(n, findings) }
        };
        let all: Vec<_> = (0..90).map(some).collect();
        let mut near = all.clone();
        let dropped = drop_beyond(&mut near, |against| (&against.findings, against.published_at));
        assert!(near.len() < all.len() && dropped > 0);
        let (kept, omitted) = recorded(near);
        assert_eq!((kept, omitted + dropped), recorded(all));
    }

    #[test]
    fn what_is_recorded_does_not_depend_on_the_order_of_arrival() {
        let found: Vec<_> = (0..25).map(|n| against(n, vec![finding(Severity::Medium, 0)])).collect();
        let mut reversed = found.clone();
        reversed.reverse();
        assert_eq!(recorded(found), recorded(reversed));
    }
}
