//! Claims: which scopes an agent is at work on, for how long.

use std::time::Duration;

use super::id::IdKind;
use super::word::words;
use super::{Agent, Id, Intent, Scope, Timestamp};

words! {
    /// Whether a claim still says anything.
    pub enum ClaimStatus: "claim status" {
        /// Its lease runs.
        Active = 1, "ACTIVE";
        /// Its lease has run out. Read off the clock, never stored.
        Expired = 2, "EXPIRED";
        /// It was given up, or its work ended.
        Released = 3, "RELEASED";
    }
}

/// An advisory, leased claim. It keeps nobody out: others who claim the same are told.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Claim {
    /// Its identifier; renewing keeps it.
    pub id: Id<Claim>,
    /// Who claims.
    pub agent_id: Id<Agent>,
    /// For which work.
    pub intent_id: Id<Intent>,
    /// What is claimed, spelled as it was.
    pub scope: Scope,
    /// Whether it still says anything.
    pub status: ClaimStatus,
    /// Why it was claimed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it runs out unless it is renewed.
    pub lease_expires_at: Timestamp,
    /// When the scope was first claimed.
    pub created_at: Timestamp,
}

impl IdKind for Claim {
    const PREFIX: &'static str = "clm";
    const NOUN: &'static str = "claim";
}

/// How long a claim runs: between a minute and a day, whatever was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease(u32);

impl Lease {
    /// Shortest, in seconds.
    pub const SHORTEST: u32 = 60;
    /// Longest, in seconds.
    pub const LONGEST: u32 = 86_400;

    /// A lease of about `seconds`.
    #[must_use]
    pub fn of_seconds(seconds: i64) -> Self {
        let seconds = seconds.clamp(i64::from(Self::SHORTEST), i64::from(Self::LONGEST));
        Self(u32::try_from(seconds).unwrap_or(Self::SHORTEST))
    }

    /// When a lease that begins at `now` runs out.
    #[must_use]
    pub fn end(self, now: Timestamp) -> Timestamp {
        now.after(Duration::from_secs(u64::from(self.0)))
    }
}

impl Default for Lease {
    fn default() -> Self {
        Self(3_600)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_between_a_minute_and_a_day_and_an_hour_if_nobody_says() {
        let seconds = |lease: Lease| lease.end(Timestamp::from_millis(0)).as_millis() / 1_000;
        let asked = [(i64::MIN, 60), (0, 60), (59, 60), (61, 61), (86_401, 86_400), (i64::MAX, 86_400)];
        for (asked, given) in asked {
            assert_eq!(seconds(Lease::of_seconds(asked)), given, "{asked}");
        }
        assert_eq!(seconds(Lease::default()), 3_600);
    }
}
