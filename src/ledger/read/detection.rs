//! Every sight of a conflict, read off the events of its pair.

use super::super::error::Error;
use super::event::Said;
use super::wording::{Sight, Worded, share};
use super::{Cursor, Page, Snapshot};
use crate::domain::conflict::{Detection, detection_identity};
use crate::domain::event::Replica;
use crate::domain::fact::{ConflictDetected, Fact, Sighting};
use crate::domain::{Conflict, Id, Intent, Severity};

/// Lamport time and replica: where an event stands among all, for a replica never says one time twice.
type Place = (u64, Id<Replica>);

/// Where a conflict stands while its events go by, as the fold of its pair has it.
struct Course {
    conflict: Id<Conflict>,
    /// The smaller id first.
    between: (Id<Intent>, Id<Intent>),
    /// Severity of the latest sight.
    severity: Option<Severity>,
    open: bool,
    /// The severity at which it was closed for good.
    settled: Option<Severity>,
}

impl Course {
    /// Follows an event of the pair. Answers what was seen of the conflict in it, if anything.
    fn follow(&mut self, said: &Said) -> Option<Sight> {
        let acting = Id::exact(&said.entity_id);
        match (&said.fact, acting) {
            (Fact::ConflictDetected(fact) | Fact::ConflictRedetected(fact), Some(acting)) => {
                let mut latest = None;
                for sighting in self.sightings(fact, acting) {
                    self.see(sighting.severity);
                    latest = Some(oriented(sighting, acting == self.between.0));
                }
                return latest;
            }
            (Fact::ConflictDismissed(fact), Some(acting)) => {
                let with = self.other(acting);
                let mut gone =
                    fact.pairs.iter().filter(|(other, _)| *other == with).flat_map(|(_, gone)| gone);
                if gone.any(|gone| *gone == self.conflict) {
                    self.close(fact.reason.is_final());
                }
            }
            (Fact::ConflictResolved(fact), _) if fact.conflicts.contains(&self.conflict) => self.close(true),
            _ => {}
        }
        None
    }

    fn other(&self, one: Id<Intent>) -> Id<Intent> {
        if one == self.between.0 { self.between.1 } else { self.between.0 }
    }

    fn sightings<'f>(&self, fact: &'f ConflictDetected, acting: Id<Intent>) -> Vec<&'f Sighting> {
        let with = self.other(acting);
        let pairs = fact.pairs.iter().filter(|pair| pair.with == with);
        pairs
            .flat_map(|pair| &pair.found)
            .filter(|sighting| fact.identity(acting, with, sighting) == Some(self.conflict))
            .collect()
    }

    fn see(&mut self, severity: Severity) {
        self.severity = Some(severity);
        self.settled = self.settled.filter(|settled| severity <= *settled);
        self.open |= self.settled.is_none();
    }

    fn close(&mut self, for_good: bool) {
        if self.open {
            self.open = false;
            self.settled = self.severity.filter(|_| for_good);
        }
    }
}

impl Snapshot<'_> {
    /// Every sight of a conflict in the order of all replicas.
    ///
    /// What came before a page decides what is settled on it, so every page reads all events of the
    /// pair. How long the rest of the history is does not matter.
    ///
    /// # Errors
    /// [`Error::NotFound`], or whatever stops a read.
    pub fn detections(
        &self,
        conflict: Id<Conflict>,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Page<Detection>, Error> {
        let (pair, meeting) = self.meeting(conflict)?;
        let after: Option<Place> =
            after.map(|after| (after.position.cast_unsigned(), Id::from_bytes(after.tie)));
        let between = (meeting.sides.0.intent, meeting.sides.1.intent);
        let mut course = Course { conflict, between, severity: None, open: false, settled: None };
        let (mut found, mut total) = (Vec::new(), 0);
        for (seq, place) in self.events_of_pair(pair)? {
            let Some(said) = self.said(seq)? else { continue };
            let Some(sight) = course.follow(&said) else { continue };
            total += 1;
            if Some(place) <= after || found.len() > limit as usize {
                continue;
            }
            let Worded { explanation, brief, suggestion, evidence } = meeting.worded(&sight);
            let detection = Detection {
                id: detection_identity(said.event_id, conflict),
                conflict_id: conflict,
                severity: sight.severity,
                score: share(sight.score),
                scope: meeting.scope(),
                explanation,
                brief,
                suggestion,
                evidence,
                previously_settled: course.settled.is_some(),
                detected_at: said.created_at,
                event_id: said.event_id,
                seq,
            };
            let cursor = Cursor { position: place.0.cast_signed(), tie: *place.1.as_bytes() };
            found.push((cursor, detection));
        }
        Ok(Page::cut(found, limit, total))
    }

    /// The events that touch a pair, in the order of all replicas.
    fn events_of_pair(&self, pair: i64) -> Result<Vec<(u64, Place)>, Error> {
        let mut find = self.connection().prepare_cached(
            "SELECT event.seq, event.lamport, replica.uid
             FROM event_pair JOIN event USING (seq) JOIN replica ON replica.id = event.replica
             WHERE pair = ?1 ORDER BY event.lamport, replica.uid",
        )?;
        let found = find.query_map([pair], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

/// A sighting from the source's side; `mine` says whether the source is who saw it.
fn oriented(sighting: &Sighting, mine: bool) -> Sight {
    let turned = |pair: (bool, bool)| if mine { pair } else { (pair.1, pair.0) };
    let operations = sighting.at.and_then(|at| at.operations).unzip();
    Sight {
        severity: sighting.severity,
        score: sighting.score,
        tier: sighting.at.map(|at| at.tier),
        asserted: sighting.asserted,
        similarity: sighting.similarity,
        operations: if mine { operations } else { (operations.1, operations.0) },
        inferred: turned(sighting.at.map_or((false, false), |at| at.inferred)),
    }
}
