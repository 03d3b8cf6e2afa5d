//! The schema of this version.

use rusqlite::Connection;

/// Marks a SQLite file as a ledger: "FMLG".
pub(super) const APPLICATION_ID: i32 = 0x464d_4c47;

/// Schema and projection version of this build.
pub(super) const VERSION: i64 = 1;

/// Everything that makes an empty file a ledger of [`VERSION`].
pub(super) const STATEMENTS: &str = include_str!("migrations/0001.sql");

/// Whether everything [`STATEMENTS`] makes is there as it was made, the triggers that protect the history
/// included. SQLite keeps the text of each statement.
pub(super) fn is_whole(connection: &Connection) -> rusqlite::Result<bool> {
    let mut statements =
        connection.prepare("SELECT sql, name FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")?;
    let mut rows = statements.query([])?;
    let (mut found, mut rest) = (0, STATEMENTS);
    while let Some(row) = rows.next()? {
        let (Ok(sql), Ok(name)) = (row.get_ref(0)?.as_str(), row.get_ref(1)?.as_str()) else { continue };
        // They lie in the order in which they were made, so each is near the one before, unless it was made anew.
        let there = match rest.split_once(sql) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => STATEMENTS.contains(sql),
        };
        found += usize::from(there && sql.contains(name));
    }
    let made = STATEMENTS.lines().filter(|line| line.starts_with("CREATE ")).count();
    Ok(found == made)
}
