//! What events say: one typed payload per event type, in the exact form that is hashed.
//!
//! `shared` may leave the machine; `local` (absolute paths and the like) never does. A field
//! or type this version does not know is kept in the ledger and skipped here.

mod agent;
mod claim;
mod findings;
mod intent;
mod talk;
mod work;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use agent::{AgentRegistered, AgentRetired};
pub use claim::{ClaimCreated, ClaimReleased, ClaimRenewed};
pub use findings::{
    ConflictDetected, ConflictDismissed, Counterparts, Dismissal, PairFindings, SightedAt, Sighting,
};
pub use intent::{IntentAmended, IntentPublished, PublishedScope};
pub use talk::{ConflictBetween, ConflictResolved, CoordinationRead, CoordinationSent};
pub use work::{IntentAdopted, IntentAssessed, LifecycleTransitioned, WorkDiscarded};

/// What one type of event says.
trait Payload: Serialize + DeserializeOwned {
    /// The part that stays on this machine, as JSON text.
    fn local(&self) -> serde_json::Result<Option<String>> {
        Ok(None)
    }

    /// The same with the part that stayed on this machine.
    #[must_use]
    fn with_local(self, _local: &str) -> Self {
        self
    }
}

/// Declares every fact: its payload, event type, the version of the payload's shape, and the type
/// of the entity it happens to.
macro_rules! facts {
    ( $( $variant:ident($payload:ty) = $event_type:literal $version:literal of $entity:literal; )+ ) => {
        /// Something that happened.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Fact { $(
            #[doc = concat!("`", $event_type, "`")]
            $variant($payload),
        )+ }

        impl Fact {
            /// Every event type that this version knows.
            pub const TYPES: &'static [&'static str] = &[ $( $event_type, )+ ];

            /// The event type, the version of its payload's shape and the type of its entity.
            #[must_use]
            pub const fn heading(&self) -> (&'static str, u32, &'static str) {
                match self { $( Self::$variant(_) => ($event_type, $version, $entity), )+ }
            }

            /// The part that may leave the machine, as JSON text.
            ///
            /// # Errors
            /// When a value cannot be written as JSON.
            pub fn shared(&self) -> serde_json::Result<String> {
                match self { $( Self::$variant(fact) => serde_json::to_string(fact), )+ }
            }

            /// The part that stays on this machine, as JSON text.
            ///
            /// # Errors
            /// When a value cannot be written as JSON.
            pub fn local(&self) -> serde_json::Result<Option<String>> {
                match self { $( Self::$variant(fact) => fact.local(), )+ }
            }

            /// Reads a stored payload; `None` for a type, version or shape this version does not know.
            #[must_use]
            pub fn read(event_type: &str, version: u32, shared: &str, local: Option<&str>) -> Option<Self> {
                match (event_type, version) {
                    $( ($event_type, $version) => read(shared, local).map(Self::$variant), )+
                    _ => None,
                }
            }
        }
    };
}

facts! {
    AgentRegistered(AgentRegistered) = "agent.registered" 1 of "Agent";
    AgentRetired(AgentRetired) = "agent.retired" 1 of "Agent";
    IntentPublished(IntentPublished) = "intent.published" 1 of "Intent";
    IntentAmended(IntentAmended) = "intent.amended" 1 of "Intent";
    IntentAssessed(IntentAssessed) = "intent.assessed" 1 of "Intent";
    IntentAdopted(IntentAdopted) = "intent.adopted" 1 of "Intent";
    LifecycleTransitioned(LifecycleTransitioned) = "lifecycle.transitioned" 1 of "Intent";
    WorkDiscarded(WorkDiscarded) = "work.discarded" 1 of "Intent";
    ClaimCreated(ClaimCreated) = "claim.created" 1 of "Claim";
    ClaimRenewed(ClaimRenewed) = "claim.renewed" 1 of "Claim";
    ClaimReleased(ClaimReleased) = "claim.released" 1 of "Claim";
    CoordinationSent(CoordinationSent) = "coordination.sent" 1 of "CoordinationMessage";
    CoordinationRead(CoordinationRead) = "coordination.read" 1 of "Agent";
    ConflictDetected(ConflictDetected) = "conflict.detected" 1 of "Intent";
    ConflictRedetected(ConflictDetected) = "conflict.redetected" 1 of "Intent";
    ConflictDismissed(ConflictDismissed) = "conflict.dismissed" 1 of "Intent";
    ConflictResolved(ConflictResolved) = "conflict.resolved" 1 of "Conflict";
    FindingsOwed(Counterparts) = "findings.owed" 1 of "Intent";
    FindingsSettled(Counterparts) = "findings.settled" 1 of "Intent";
}

fn read<P: Payload>(shared: &str, local: Option<&str>) -> Option<P> {
    let payload: P = serde_json::from_str(shared).ok()?;
    Some(match local {
        Some(local) => payload.with_local(local),
        None => payload,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_local_part_stays_out_of_the_shared_text() {
        let fact = Fact::AgentRegistered(AgentRegistered {
            name: "a".into(),
            model: None,
            capabilities: vec![],
            git_branch: None,
            git_head: None,
            worktree: Some("/home/me/secret".into()),
        });
        let (shared, local) = (fact.shared().unwrap(), fact.local().unwrap());
        assert!(!shared.contains("secret"), "{shared}");
        assert_eq!(Fact::read("agent.registered", 1, &shared, local.as_deref()), Some(fact));
    }

    #[test]
    fn unknown_types_versions_and_shapes_are_skipped_and_unknown_fields_ignored() {
        assert_eq!(Fact::read("agent.promoted", 1, "{}", None), None);
        assert_eq!(Fact::read("agent.registered", 2, r#"{"name":"a"}"#, None), None);
        assert_eq!(Fact::read("agent.registered", 1, r#"{"nom":"a"}"#, None), None);
        assert!(Fact::read("agent.registered", 1, r#"{"name":"a","later":1}"#, None).is_some());
    }
}
