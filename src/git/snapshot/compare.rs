//! Whether a tracked file holds what Git would store for it.

use std::fs::File;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use gix::index::entry::stat::Options;
use gix::index::entry::{Mode, Stat};
use gix::index::{Entry, State};
use gix::status::plumbing::index_as_worktree::traits::{CompareBlobs, FastEq, ReadData};

use super::super::error::sentence;
use super::super::{Error, Repository, conversion};
use super::closed::is_closed;
use super::convert::{Converter, Failure, Stored};

/// A comparison of the files at `root` with `index`.
pub(super) struct Compared<'w> {
    repository: gix::ThreadSafeRepository,
    root: &'w Path,
    index: &'w State,
    /// Whether gix may take other attributes for those of a file than git does.
    has_own_attributes: bool,
    /// Why it was given up.
    failed: Mutex<Option<Error>>,
}

impl<'w> Compared<'w> {
    pub fn new(repository: &Repository, root: &'w Path, index: &'w State) -> Self {
        let has_own_attributes = conversion::own(repository.inner()).is_some();
        let repository = repository.inner().clone().into_sync();
        Self { repository, root, index, has_own_attributes, failed: Mutex::new(None) }
    }

    /// By gix, but for encodings: it does not see an order of bytes that a text states for itself. Where `info/attributes`
    /// says anything, it does not see the attributes that git sees, and is not asked.
    pub fn fast(&self) -> Compare<'_> {
        Compare { of: self, is_careful: self.has_own_attributes, converter: None }
    }

    /// By what Git would store of a file.
    pub fn carefully(&self) -> Compare<'_> {
        Compare { of: self, is_careful: true, converter: None }
    }

    /// Why the comparison was given up, if it was here.
    pub fn why(self) -> Option<Error> {
        self.failed.into_inner().ok().flatten()
    }
}

pub(super) struct Compare<'w> {
    of: &'w Compared<'w>,
    is_careful: bool,
    converter: Option<Box<Converter>>,
}

impl Clone for Compare<'_> {
    fn clone(&self) -> Self {
        Self { converter: None, ..*self }
    }
}

impl CompareBlobs for Compare<'_> {
    type Output = ();

    fn compare_blobs<'a, 'b>(
        &mut self,
        entry: &Entry,
        size: u64,
        data: impl ReadData<'a>,
        buffer: &mut Vec<u8>,
    ) -> gix::Result<Option<()>> {
        let differs =
            u64::from(entry.stat.size) != size && (entry.id.is_empty_blob() || entry.stat.size != 0);
        if entry.mode == Mode::SYMLINK || differs {
            return FastEq.compare_blobs(entry, size, data, buffer);
        }
        if !self.is_careful {
            let found = FastEq.compare_blobs(entry, size, data, buffer)?;
            if found.is_none() || !self.is_encoded(entry) {
                return Ok(found);
            }
        }
        self.is_changed(entry).map(|changed| changed.then_some(())).map_err(|error| {
            if let Ok(mut failed) = self.of.failed.lock() {
                failed.get_or_insert(error);
            }
            gix::error::message("a file could not be compared").into()
        })
    }
}

impl Compare<'_> {
    fn converter(&mut self) -> gix::Result<&mut Converter> {
        let Compared { repository, root, index, .. } = self.of;
        Ok(match &mut self.converter {
            Some(converter) => converter,
            none => none.insert(Box::new(Converter::new(&repository.to_thread_local(), root, index)?)),
        })
    }

    fn is_encoded(&mut self, entry: &Entry) -> bool {
        let index = self.of.index;
        self.converter().is_ok_and(|converter| converter.is_encoded(entry.path(index), index))
    }

    fn is_changed(&mut self, entry: &Entry) -> Result<bool, Error> {
        let index = self.of.index;
        let path = entry.path(index);
        let place = self.of.root.join(gix::path::from_bstr(path).unwrap_or_default());
        let failed = |error: gix::Error| Error::unreadable(&place, sentence(&error));
        let file = match File::open(&place) {
            Ok(file) => file,
            // It looks changed, and Git does not insist on reading it.
            Err(error) if is_closed(&error) => return Ok(true),
            Err(error) => return Err(Error::unreadable(&place, error.to_string())),
        };
        let kind = gix::objs::Kind::Blob;
        let hash = match self.converter().map_err(failed)?.stored(path, file, index) {
            Ok(Stored::Converted(content)) => gix::objs::compute_hash(entry.id.kind(), kind, &content),
            Ok(Stored::Unchanged(mut file)) => {
                let size =
                    file.metadata().map_err(|error| Error::unreadable(&place, error.to_string()))?.len();
                let never = AtomicBool::new(false);
                let progress = &mut gix::progress::Discard;
                gix::objs::compute_stream_hash(entry.id.kind(), kind, &mut file, size, progress, &never)
            }
            Err(Failure::Encoding(_)) if self.is_older_than_the_index(entry, &place) => return Ok(false),
            Err(failure) => return Err(failure.into()),
        };
        Ok(hash.map_err(failed)? != entry.id)
    }

    /// Whether a file has not changed to the nanosecond, and so long before the index was written that it cannot have
    /// changed since without looking it. Git counts in seconds and reads it.
    fn is_older_than_the_index(&self, entry: &Entry, place: &Path) -> bool {
        let precise = Options { use_nsec: true, ..Options::default() };
        let now = gix::index::fs::Metadata::from_path_no_follow(place).ok();
        now.and_then(|now| Stat::from_fs(&now).ok()).is_some_and(|now| {
            now.matches(&entry.stat, precise) && !now.is_racy(self.of.index.timestamp(), precise)
        })
    }
}
