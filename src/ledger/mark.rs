//! The high-water mark: the end of the history that was acknowledged last, kept outside the file.
//!
//! A ledger restored from a backup or copied elsewhere would give numbers away a second time.
//! The mark shows it: the ledger knows fewer events than the mark, or is another file than the
//! one the mark was written for. It is written after each commit and never read for anything
//! else than to decide whether a new replica must be minted, and by the audit.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::Place;
use super::error::Error;
use crate::domain::Id;
use crate::domain::event::Replica;

/// What the mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub replica: Id<Replica>,
    /// Number of that replica's last event.
    pub number: u64,
    /// The ledger's last event, whoever recorded it.
    pub seq: u64,
    pub inode: u64,
}

/// Length of the record: `rep_` and 32 digits, three 20-digit numbers, separators.
const LENGTH: usize = 36 + 3 * (1 + 20) + 1;

impl Mark {
    fn line(self) -> String {
        format!("{} {:020} {:020} {:020}\n", self.replica, self.number, self.seq, self.inode)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.split(' ');
        let replica = fields.next()?.parse().ok()?;
        let number = fields.next()?.parse().ok()?;
        let seq = fields.next()?.parse().ok()?;
        let inode = fields.next()?.parse().ok()?;
        fields.next().is_none().then_some(Self { replica, number, seq, inode })
    }

    /// The mark at `place`; `None` when it is missing or was torn by a crash.
    pub(super) fn read(place: &Place) -> Option<Self> {
        let file = File::open(place.mark()).ok()?;
        Self::read_from(&file)
    }

    /// Whoever reads without having the turn may meet a writer half way through the record: what reads the
    /// same twice is whole.
    fn read_from(file: &File) -> Option<Self> {
        let read = || {
            let mut bytes = [0; LENGTH];
            file.read_exact_at(&mut bytes, 0).ok().map(|()| bytes)
        };
        let mut last = read()?;
        loop {
            let again = read()?;
            if again == last {
                return Self::parse(&again);
            }
            last = again;
        }
    }
}

/// The mark of a process that writes.
#[derive(Debug)]
pub(super) struct MarkFile {
    file: File,
}

impl MarkFile {
    pub(super) fn open(place: &Place) -> Result<Self, Error> {
        let path = place.mark();
        let file = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        file.map(|file| Self { file }).map_err(|error| Error::writing(&path, &error))
    }

    pub(super) fn read(&self) -> Option<Mark> {
        Mark::read_from(&self.file)
    }

    /// Moves the mark. A failure is not one of the write, which is durable already: the next
    /// write finds a mark that is behind or torn, and decides from that.
    pub(super) fn move_to(&self, mark: Mark) {
        let _ = self.file.write_all_at(mark.line().as_bytes(), 0);
    }

    /// Makes the first mark as durable as the ledger it lies beside.
    pub(super) fn press(&self) -> std::io::Result<()> {
        self.file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_back_as_itself_and_a_torn_one_as_none() {
        let mark = Mark { replica: Id::from_bytes([7; 16]), number: 42, seq: 50, inode: u64::MAX };
        let line = mark.line();
        assert_eq!(line.len(), LENGTH);
        assert_eq!(Mark::parse(line.as_bytes()), Some(mark));
        assert_eq!(Mark::parse(&line.as_bytes()[..LENGTH - 1]), None);
        assert_eq!(Mark::parse(b""), None);
    }
}
