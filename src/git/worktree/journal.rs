//! What a process was about to make, written down before it made it, so that another one can undo it if it dies.
//!
//! Each worktree in the making has a file in the common directory, locked by its maker for as long as it lives. It
//! lies there and not with the worktree's own entry, because the branch comes before the entry. What changes while it
//! is made is appended: the last complete record counts.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::refs::FullName;

use super::super::Error;
use super::super::identity::Identity;
use super::super::lock::Lock;
use super::super::shared::Shared;

const PREFIX: &str = "foremerge-adding-";
const FORM: &[u8] = b"foremerge worktree 2";
const MAKING: &[u8] = b"making";
const WHOLE: &[u8] = b"whole";
/// Whatever comes before this is complete.
const END: &[u8] = b"end";
const FIELDS: usize = 10;

/// What is being made, and of what was there to be told from another the identity, once it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// The branch.
    pub(super) branch: FullName,
    /// The file that the branch is, once it is about to be made and as long as nobody changes it.
    pub(super) branch_file: Option<Identity>,
    /// Where it starts.
    pub(super) commit: ObjectId,
    /// The top of the worktree, as a real path.
    pub(super) root: PathBuf,
    /// The uppermost directory that has to be made for it.
    pub(super) made_from: Option<PathBuf>,
    /// Which of the [`directories`](Self::directories) were made; `None` for one that somebody else made.
    pub(super) made: Vec<Option<Identity>>,
    /// The name of its entry on the list.
    pub(super) entry: PathBuf,
    /// Whether all is made and it belongs to whoever works in it.
    pub(super) whole: bool,
}

impl Record {
    /// The directories that have to be made, the uppermost first.
    pub(super) fn directories(&self) -> Vec<&Path> {
        let Some(made_from) = &self.made_from else { return Vec::new() };
        let mut all: Vec<_> =
            self.root.ancestors().take_while(|above| above.starts_with(made_from)).collect();
        all.reverse();
        all
    }
}

/// The file that says so, locked.
#[derive(Debug)]
pub(super) struct Journal {
    lock: Lock,
    path: PathBuf,
    pub(super) record: Record,
}

impl Journal {
    /// Write down what is about to be made. It is on disk when this returns.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub(super) fn write(common_dir: &Path, shared: Shared, record: Record) -> Result<Self, Error> {
        let (lock, path) = Lock::create(common_dir, PREFIX)?;
        let journal = Self { lock, path, record };
        let adjusted = shared.adjust(&journal.path);
        let adjusted = adjusted.map_err(|error| Error::unwritable(&journal.path, error.to_string()));
        match adjusted.and_then(|()| journal.append()) {
            Ok(()) => Ok(journal),
            Err(error) => {
                journal.forget();
                Err(error)
            }
        }
    }

    /// Why `git worktree prune` is to leave the entry alone while it is made. By these words it is known to be the one
    /// that this journal speaks of.
    pub(super) fn mark(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        format!("being made by foremerge ({})\n", name.to_string_lossy())
    }

    /// Where the entry is built before it gets its name.
    pub(super) fn built(&self) -> PathBuf {
        self.path.with_extension("entry")
    }

    /// Take the name `entry` instead, before anything is made under it.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub(super) fn rename(&mut self, entry: PathBuf) -> Result<(), Error> {
        self.record.entry = entry;
        self.append()
    }

    /// The branch is about to be made, as `file`.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub(super) fn note_branch(&mut self, file: Option<Identity>) -> Result<(), Error> {
        self.record.branch_file = file;
        self.append()
    }

    /// Directories were made.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub(super) fn note_directories(&mut self, made: Vec<Option<Identity>>) -> Result<(), Error> {
        self.record.made = made;
        self.append()
    }

    /// All is made.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub(super) fn complete(&mut self) -> Result<(), Error> {
        self.record.whole = true;
        self.append()
    }

    fn append(&self) -> Result<(), Error> {
        let mut file: &File = self.lock.file();
        encode(&self.record)
            .and_then(|text| file.write_all(&text))
            .and_then(|()| file.sync_data())
            .map_err(|error| Error::unwritable(&self.path, error.to_string()))
    }

    /// The journals of processes that died. An incomplete one is removed: its process had made nothing yet. What another
    /// version or a person wrote under such a name is left alone, and so is what cannot be read or locked.
    ///
    /// # Errors
    /// [`Error::Unreadable`] when the common directory cannot be read.
    pub(super) fn of_the_dead(common_dir: &Path) -> Result<Vec<Self>, Error> {
        let unreadable = |error: std::io::Error| Error::unreadable(common_dir, error.to_string());
        let mut found = Vec::new();
        for entry in std::fs::read_dir(common_dir).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let path = entry.path();
            if !is_name(entry.file_name().as_encoded_bytes()) {
                continue;
            }
            // The maker of one that is another user's, and closed to others, is undone by that user.
            let Ok(Some(lock)) = Lock::try_existing(&path) else { continue };
            let mut text = Vec::new();
            if lock.file().read_to_end(&mut text).is_err() {
                continue;
            }
            match decode(&text) {
                Some(record) => found.push(Self { lock, path, record }),
                // One that cannot be removed is met again next time.
                None if is_begun(&text) => drop(std::fs::remove_file(&path)),
                None => {}
            }
        }
        Ok(found)
    }

    /// There is nothing to undo any more.
    pub(super) fn forget(self) {
        // Removed while it is locked, so that nobody takes it for a dead one's. If it stays, so does the worktree it
        // speaks of, and the next one to read it finds nothing left to do.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether a journal may be called that.
fn is_name(name: &[u8]) -> bool {
    let number = name.strip_prefix(PREFIX.as_bytes());
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

/// Whether `text` is the beginning of a journal of this form.
fn is_begun(text: &[u8]) -> bool {
    let form = [FORM, b"\0"].concat();
    form.starts_with(text) || text.starts_with(&form)
}

fn encode(record: &Record) -> std::io::Result<Vec<u8>> {
    let bytes = |path: &Path| -> std::io::Result<Vec<u8>> {
        gix::path::into_bstr(path).map(|path| path.to_vec()).map_err(std::io::Error::other)
    };
    let fields = [
        FORM.to_vec(),
        if record.whole { WHOLE } else { MAKING }.to_vec(),
        record.branch.as_bstr().to_vec(),
        identities(&[record.branch_file]).into_bytes(),
        record.commit.to_string().into_bytes(),
        bytes(&record.root)?,
        record.made_from.as_deref().map_or_else(|| Ok(Vec::new()), bytes)?,
        identities(&record.made).into_bytes(),
        bytes(&record.entry)?,
        END.to_vec(),
    ];
    Ok(fields
        .into_iter()
        .flat_map(|mut field| {
            field.push(0);
            field
        })
        .collect())
}

fn identities(all: &[Option<Identity>]) -> String {
    let word = |one: &Option<Identity>| one.map_or_else(|| "-".to_owned(), |one| one.to_string());
    all.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn parse_identities(text: &[u8]) -> Option<Vec<Option<Identity>>> {
    let one = |word: &str| if word == "-" { Some(None) } else { word.parse().ok().map(Some) };
    std::str::from_utf8(text).ok()?.split_ascii_whitespace().map(one).collect()
}

fn decode(text: &[u8]) -> Option<Record> {
    let fields: Vec<_> = text.split(|byte| *byte == 0).collect();
    // After the last separator comes what was cut short, or nothing.
    let complete = fields.split_last()?.1.chunks_exact(FIELDS);
    complete.map_while(one).last()
}

fn one(fields: &[&[u8]]) -> Option<Record> {
    let [FORM, state, branch, branch_file, commit, root, made_from, made, entry, END] = *fields else {
        return None;
    };
    let path = |bytes: &[u8]| gix::path::from_byte_slice(bytes).ok().map(Path::to_owned);
    let made_from = path(made_from)?;
    Some(Record {
        branch: FullName::try_from(gix::bstr::BString::from(branch)).ok()?,
        branch_file: parse_identities(branch_file)?.into_iter().next().flatten(),
        commit: ObjectId::from_hex(commit).ok()?,
        root: path(root)?,
        made_from: Some(made_from).filter(|path| path.as_os_str() != OsStr::new("")),
        made: parse_identities(made)?,
        entry: path(entry)?,
        whole: state == WHOLE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(dir: &Path, record: Record) -> Journal {
        Journal::write(dir, Shared::default(), record).unwrap()
    }

    fn record(made_from: Option<&str>) -> Record {
        Record {
            branch: FullName::try_from("refs/heads/a/b").unwrap(),
            branch_file: None,
            commit: ObjectId::from_hex(&[b'a'; 40]).unwrap(),
            root: PathBuf::from("/x/new\nline/tree"),
            made_from: made_from.map(PathBuf::from),
            made: Vec::new(),
            entry: PathBuf::from("tree1"),
            whole: false,
        }
    }

    #[test]
    fn a_journal_says_what_was_written() {
        for record in [record(None), record(Some("/x"))] {
            assert_eq!(decode(&encode(&record).unwrap()), Some(record));
        }
    }

    #[test]
    fn a_journal_that_was_cut_short_says_nothing() {
        let whole = encode(&record(Some("/x"))).unwrap();
        for length in 0..whole.len() {
            assert_eq!(decode(&whole[..length]), None, "{length}");
        }
    }

    #[test]
    fn what_was_appended_last_counts_once_it_is_complete() {
        let first = encode(&record(Some("/x"))).unwrap();
        let (file, made) = ("1:23".parse().ok(), vec!["4:56".parse().ok(), None]);
        let entry = PathBuf::from("tree2");
        let later = Record { branch_file: file, made, entry, whole: true, ..record(Some("/x")) };
        let both = [first.as_slice(), &encode(&later).unwrap()].concat();
        for length in first.len()..both.len() {
            assert_eq!(decode(&both[..length]), Some(record(Some("/x"))), "{length}");
        }
        assert_eq!(decode(&both), Some(later));
    }

    #[test]
    fn only_the_journals_of_the_dead_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let alive = begin(dir.path(), record(None));
        let dead = begin(dir.path(), record(Some("/x")));
        drop(dead);
        for (name, text) in [("7", "foremerge worktree 2\0maki"), ("8", "foremerge wor"), ("9", "")] {
            std::fs::write(dir.path().join(format!("foremerge-adding-{name}")), text).unwrap();
        }
        let found = Journal::of_the_dead(dir.path()).unwrap();
        assert_eq!(found.iter().map(|journal| &journal.record).collect::<Vec<_>>(), [&record(Some("/x"))]);
        found.into_iter().for_each(Journal::forget);
        alive.forget();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_others_wrote_under_such_a_name_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = [
            ("foremerge-adding-notes.txt", "mine"),
            ("foremerge-adding-", ""),
            ("foremerge-adding-1x", ""),
            ("foremerge-adding-2", "mine"),
            ("foremerge-adding-3", "foremerge worktree 3\0making\0"),
            ("foremerge-adding-4", "foremerge worktree 20\0making\0"),
        ];
        for (name, text) in theirs {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        std::fs::create_dir(dir.path().join("foremerge-adding-5")).unwrap();
        assert!(Journal::of_the_dead(dir.path()).unwrap().is_empty());
        for (name, text) in theirs {
            assert_eq!(std::fs::read_to_string(dir.path().join(name)).unwrap(), text);
        }
    }
}
