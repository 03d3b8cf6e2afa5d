//! Lists of pairs by what has no order: the beginning of a conflict's identifier, and the earlier intent of a pair.
//!
//! An index over either costs each new pair a page of its own, which was the largest part of publishing next to much
//! other work. So pairs are listed a block at a time, when the next block begins. In the open block conflicts are
//! looked through; its pairs have a small list of their own. The list of conflicts holds every one of the closed
//! blocks, and may hold more.

use rusqlite::Connection;

use super::error::Error;
use super::execute;
use crate::domain::{Conflict, Id};

/// Pairs in a block.
const BLOCK: i64 = 4096;

/// Conflicts whose heads lie between ?1 and ?2; ?3 is [`listed_through`].
pub(super) const BY_HEAD: &str = "(
    SELECT * FROM conflict WHERE pair > ?3 AND uid_head BETWEEN ?1 AND ?2
    UNION ALL
    SELECT conflict.* FROM conflict_head JOIN conflict
        ON conflict.pair = conflict_head.pair AND conflict.uid_head = conflict_head.head
    WHERE head BETWEEN ?1 AND ?2 AND conflict_head.pair <= ?3) conflict";

/// The first 31 bits of a conflict's identifier: the ledger stores no more of it.
pub(super) fn head(id: Id<Conflict>) -> u32 {
    let [first, second, third, fourth, ..] = *id.as_bytes();
    u32::from_be_bytes([first, second, third, fourth]) >> 1
}

/// The last pair of the closed blocks.
pub(super) fn listed_through(connection: &Connection) -> Result<i64, Error> {
    let mut find = connection.prepare_cached("SELECT coalesce(max(id), 0) FROM pair")?;
    let newest: i64 = find.query_row([], |row| row.get(0))?;
    Ok(closed_before(newest))
}

/// The last pair of the blocks before that of `pair`.
fn closed_before(pair: i64) -> i64 {
    (pair - 1).max(0) / BLOCK * BLOCK
}

/// Lists a new pair by its earlier intent; closes the block before it if another begins with it.
pub(super) fn enter(connection: &Connection, pair: i64, earlier: i64) -> Result<(), Error> {
    let last = closed_before(pair);
    if last > 0 && last == pair - 1 {
        close(connection, last)?;
    }
    execute(connection, "INSERT INTO pair_earlier_open (intent, pair) VALUES (?1, ?2)", (earlier, pair))
        .map(drop)
}

/// Closes the block that ends with the pair `last`.
fn close(connection: &Connection, last: i64) -> Result<(), Error> {
    execute(
        connection,
        "INSERT INTO pair_earlier (intent, pair) SELECT intent, pair FROM pair_earlier_open ORDER BY intent, pair",
        [],
    )?;
    execute(connection, "DELETE FROM pair_earlier_open", [])?;
    execute(
        connection,
        "INSERT INTO conflict_head (head, pair)
         SELECT uid_head, pair FROM conflict WHERE pair > ?1 AND pair <= ?2 ORDER BY uid_head
         ON CONFLICT (head, pair) DO NOTHING",
        (last - BLOCK, last),
    )
    .map(drop)
}

/// Lists a conflict of a closed block.
pub(super) fn list(connection: &Connection, conflict: Id<Conflict>, pair: i64) -> Result<(), Error> {
    execute(
        connection,
        "INSERT INTO conflict_head (head, pair) VALUES (?1, ?2) ON CONFLICT (head, pair) DO NOTHING",
        (head(conflict), pair),
    )
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_closed_by_the_first_pair_of_the_next() {
        let closed = [0, 1, 4096, 4097, 8192, 8193].map(closed_before);
        assert_eq!(closed, [0, 0, 0, 4096, 4096, 8192]);
    }
}
