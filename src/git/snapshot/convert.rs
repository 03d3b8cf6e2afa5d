//! Files of the worktree as Git would store them. What gix does about a filter that cannot be run although nobody requires
//! it, about some encodings and about a `.gitattributes` that may not be read, is not what git does.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use gix::attrs::search::MetadataCollection;
use gix::bstr::{BStr, ByteSlice};
use gix::filter::plumbing::Pipeline;
use gix::filter::plumbing::driver::Operation;
use gix::filter::plumbing::pipeline::convert::ToGitOutcome;
use gix::index::State;
use gix::prelude::FindExt;
use gix::worktree::stack::state::attributes::Source;

use super::super::Error;
use super::super::conversion::{Attributes, Rules};
use super::super::drivers::Drivers;
use super::super::encoding::{Decoded, decode};
use super::super::error::sentence;
use super::attributes;

/// What Git would store.
pub(super) enum Stored {
    /// The file as it is.
    Unchanged(File),
    Converted(Vec<u8>),
}

/// Why it cannot be told what Git would store.
pub(super) enum Failure {
    /// The file is in an encoding that is not known here.
    Encoding(Error),
    Other(Error),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let (Failure::Encoding(error) | Failure::Other(error)) = failure;
        error
    }
}

pub(super) struct Converter {
    repository: gix::Repository,
    root: PathBuf,
    attributes: Attributes,
    /// Whether a `.gitattributes` of the worktree could not be read.
    is_closed: bool,
    drivers: Drivers,
    /// For line ends and `$Id$`.
    pipeline: Pipeline,
    known: MetadataCollection,
}

impl Converter {
    /// For the files of `index` below `root`.
    pub fn new(repository: &gix::Repository, root: &Path, index: &State) -> gix::Result<Self> {
        let repository = repository.clone().with_object_memory();
        let stack = repository.attributes_only(index, Source::WorktreeThenIdMapping)?.detach();
        let mut options = gix::filter::Pipeline::options(&repository)?;
        let drivers = std::mem::take(&mut options.drivers);
        let context = repository.command_context()?;
        Ok(Self {
            root: root.to_owned(),
            attributes: Attributes::new(&repository, stack)?,
            is_closed: false,
            drivers: Drivers::new(drivers, context.clone()),
            pipeline: Pipeline::new(context, repository.object_hash(), options),
            known: MetadataCollection::default(),
            repository,
        })
    }

    /// What Git would store of `file`, which stands at `path` of `index`.
    pub fn stored(&mut self, path: &BStr, mut file: File, index: &State) -> Result<Stored, Failure> {
        let relative = gix::path::from_bstr(path).unwrap_or_default();
        let place = self.root.join(&relative);
        let failed = |detail: String| Failure::Other(Error::unreadable(&place, detail));
        let rules = self.rules(path, index).map_err(|error| failed(sentence(&error)))?;
        let mut held = match &rules.driver {
            Some(driver) => self.clean(driver.as_bstr(), &mut file, path).map_err(failed)?,
            None => None,
        };
        if let Some(encoding) = rules.encoding.as_deref() {
            let mut text = Vec::new();
            match held {
                Some(cleaned) => text = cleaned,
                None => {
                    file.read_to_end(&mut text).map_err(|error| failed(error.to_string()))?;
                }
            }
            held = Some(match decode(encoding, &text) {
                Decoded::Utf8(text) => text,
                Decoded::Unchanged => text,
                Decoded::Unknown => {
                    let what =
                        format!("it is to be read in {encoding:?}, an encoding that is not known here");
                    return Err(Failure::Encoding(Error::unsupported(&place, what)));
                }
            });
        }
        let line_ends = |error: gix::Error| failed(sentence(&error));
        let mut converted = Vec::new();
        let outcome = match held {
            Some(held) => self
                .line_ends(held.as_slice(), &relative, &rules, index)
                .map_err(line_ends)?
                .read_to_end(&mut converted),
            None => match self.line_ends(file, &relative, &rules, index).map_err(line_ends)? {
                ToGitOutcome::Unchanged(file) => return Ok(Stored::Unchanged(file)),
                mut outcome => outcome.read_to_end(&mut converted),
            },
        };
        outcome.map_err(|error| failed(error.to_string()))?;
        Ok(Stored::Converted(converted))
    }

    /// Whether the file at `path` is in an encoding of its own.
    pub fn is_encoded(&mut self, path: &BStr, index: &State) -> bool {
        self.rules(path, index).is_ok_and(|rules| rules.encoding.is_some())
    }

    fn rules(&mut self, path: &BStr, index: &State) -> gix::Result<Rules> {
        let objects = &self.repository.objects;
        match self.attributes.rules(path, objects) {
            Err(_) if !self.is_closed => {
                self.is_closed = true;
                let stack = attributes::read(&self.repository, &self.root, index)?;
                self.attributes = Attributes::new(&self.repository, stack)?;
                self.attributes.rules(path, objects)
            }
            rules => rules,
        }
    }

    /// What the filter makes of the file, if it makes anything; where it fails and nobody requires it, nothing, and the
    /// file is at its beginning.
    fn clean(&mut self, name: &BStr, file: &mut File, path: &BStr) -> Result<Option<Vec<u8>>, String> {
        let Some(required) = self.drivers.is_required(name) else { return Ok(None) };
        match self.drivers.apply(name, Operation::Clean, file, path) {
            Ok(Some(cleaned)) => return Ok(Some(cleaned)),
            Ok(None) if required => {
                return Err(format!("the filter {name}, which is required, has no clean"));
            }
            Err(error) if required => {
                return Err(format!("the filter {name}, which is required, failed: {}", sentence(&error)));
            }
            Ok(None) | Err(_) => {}
        }
        file.rewind().map_err(|error| error.to_string())?;
        Ok(None)
    }

    fn line_ends<R: Read>(
        &mut self,
        source: R,
        relative: &Path,
        rules: &Rules,
        index: &State,
    ) -> gix::Result<ToGitOutcome<'_, R>> {
        let search = rules.of_line_ends(&mut self.known)?;
        let (known, objects) = (&self.known, &self.repository.objects);
        self.pipeline.convert_to_git(
            source,
            relative,
            &mut |path, out| {
                out.initialize(known);
                search.pattern_matching_relative_path(path, gix::glob::pattern::Case::Sensitive, None, out);
            },
            &mut |buffer| {
                let path = gix::path::into_bstr(relative)?;
                let Some(entry) = index.entry_by_path(path.as_ref()) else { return Ok(None) };
                Ok(objects.find_blob(&entry.id, buffer).ok().map(drop))
            },
        )
    }
}
