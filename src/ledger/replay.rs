//! Derived state, thrown away, folded again and compared.

use rusqlite::types::ValueRef;

use super::error::Error;
use super::{Snapshot, Transaction, fold};

/// Which part of the derived state is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What every ledger with the same events has in common.
    Shared,
    /// That, and what this ledger alone knows.
    Everything,
}

const SHARED: &[(&str, &str)] = &[
    (
        "agent",
        "SELECT hex(aggregate.uid), name, model, capabilities, git_branch, git_head, status, registered_at,
                hex(replica.uid)
         FROM agent JOIN aggregate USING (id) JOIN replica ON replica.id = agent.replica ORDER BY aggregate.uid",
    ),
    (
        "intent",
        "SELECT hex(self.uid), hex(owner.uid), hex(task_id), task, summary, rationale, depends_on, metadata, status,
                created_at, updated_at
         FROM intent JOIN aggregate self USING (id) JOIN aggregate owner ON owner.id = agent ORDER BY self.uid",
    ),
    (
        "intent scope",
        "SELECT hex(uid), place, scope.kind, full, operation, inferred, key
         FROM intent_scope JOIN aggregate ON aggregate.id = intent JOIN scope ON scope.id = scope ORDER BY uid, place",
    ),
    (
        "dependency",
        "SELECT hex(other.uid), hex(self.uid) FROM intent_dependency JOIN aggregate other ON other.id = dependency
         JOIN aggregate self ON self.id = intent ORDER BY self.uid, other.uid",
    ),
    (
        "assessment",
        "SELECT hex(assessment.uid), hex(self.uid), hex(owner.uid), hex(related), verdict, action, rationale, created_at
         FROM assessment JOIN aggregate self ON self.id = intent JOIN aggregate owner ON owner.id = agent
         ORDER BY assessment.uid, self.uid, created_at, hex(related), verdict, action, rationale",
    ),
    (
        "claim",
        "SELECT hex(claim.uid), hex(self.uid), hex(owner.uid), claim.kind, full, key, alias, reversed, status, reason,
                lease_expires_at, created_at
         FROM claim JOIN aggregate self ON self.id = intent JOIN aggregate owner ON owner.id = agent
         ORDER BY claim.uid, self.uid",
    ),
    (
        "message",
        "SELECT hex(self.uid), hex(sender.uid), hex(recipient.uid), message, hex(conflict_id), status, created_at
         FROM message JOIN aggregate self USING (id) JOIN aggregate sender ON sender.id = sender
         JOIN aggregate recipient ON recipient.id = recipient ORDER BY self.uid",
    ),
    (
        "decision",
        "SELECT hex(decision.uid), hex(low.uid), hex(high.uid), hex(decider.uid), title, rationale, decided_at
         FROM decision JOIN pair ON pair.id = decision.pair JOIN aggregate decider ON decider.id = agent
         JOIN aggregate low ON low.id = pair.low JOIN aggregate high ON high.id = pair.high
         ORDER BY decision.uid, low.uid, high.uid, decided_at, decider.uid, title, rationale",
    ),
    (
        "active scope",
        "SELECT active_scope.kind, full, alias, reversed, operation, inferred, published_at, hex(self.uid), hex(owner.uid)
         FROM active_scope JOIN aggregate self ON self.id = intent JOIN aggregate owner ON owner.id = agent
         ORDER BY active_scope.kind, full, self.uid",
    ),
    (
        "active word",
        "SELECT active_word.kind, word, size, full, hex(uid)
         FROM active_word JOIN active_scope ON active_scope.id = active_word.scope JOIN aggregate ON aggregate.id = intent
         ORDER BY active_word.kind, word, size, full, uid",
    ),
    (
        "active summary",
        "SELECT word, size, hex(uid) FROM active_summary JOIN aggregate ON aggregate.id = intent ORDER BY word, size, uid",
    ),
    (
        "conflict",
        "SELECT uid_head, rule, hex(low.uid), low_scope.kind, low_scope.full, hex(high.uid), high_scope.kind,
                high_scope.full, tier, severity, score, low_operation, high_operation, flags, similarity,
                conflict.status, settled, (SELECT hex(decision.uid) FROM decision WHERE decision.id = decision),
                hex(event_id)
         FROM conflict JOIN pair ON pair.id = conflict.pair
         JOIN aggregate low ON low.id = pair.low JOIN aggregate high ON high.id = pair.high
         LEFT JOIN scope low_scope ON low_scope.id = low_scope LEFT JOIN scope high_scope ON high_scope.id = high_scope
         JOIN event ON event.seq = first_seq ORDER BY low.uid, high.uid, rule, low_scope.kind, low_scope.full,
             high_scope.kind, high_scope.full",
    ),
    (
        "owed",
        "SELECT hex(low.uid), hex(high.uid), hex(debtor.uid) FROM owed JOIN pair ON pair.id = owed.pair
         JOIN aggregate low ON low.id = pair.low JOIN aggregate high ON high.id = pair.high
         JOIN aggregate debtor ON debtor.id = debtor ORDER BY low.uid, high.uid, debtor.uid",
    ),
    ("ineffective", "SELECT hex(event_id), why FROM ineffective JOIN event USING (seq) ORDER BY event_id"),
];

const LOCAL: &[(&str, &str)] = &[
    ("worktree", "SELECT hex(uid), worktree FROM agent JOIN aggregate USING (id) ORDER BY uid"),
    ("touched", "SELECT aggregate, seq FROM event_aggregate ORDER BY aggregate, seq"),
    ("touched pair", "SELECT pair, seq FROM event_pair ORDER BY pair, seq"),
];

impl Transaction<'_> {
    /// Throws all derived state away and folds the whole history again.
    ///
    /// # Errors
    /// Whatever stops a write.
    pub fn replay(&mut self) -> Result<(), Error> {
        fold::replay(self.connection())
    }
}

impl Snapshot<'_> {
    /// The derived state as text, one row per line, the same for the same state.
    ///
    /// # Errors
    /// Whatever stops a read.
    pub fn derived_state(&self, part: Part) -> Result<String, Error> {
        let local: &[_] = if part == Part::Everything { LOCAL } else { &[] };
        let mut text = String::new();
        for (label, sql) in SHARED.iter().chain(local) {
            let mut statement = self.connection().prepare(sql)?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                text.push_str(label);
                for column in 0..columns {
                    text.push('|');
                    match row.get_ref(column)? {
                        ValueRef::Null => text.push('-'),
                        ValueRef::Integer(value) => text.push_str(&value.to_string()),
                        ValueRef::Real(value) => text.push_str(&value.to_string()),
                        ValueRef::Text(value) | ValueRef::Blob(value) => {
                            text.push_str(&String::from_utf8_lossy(value).escape_debug().to_string());
                        }
                    }
                }
                text.push('\n');
            }
        }
        Ok(text)
    }
}
