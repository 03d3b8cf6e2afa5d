//! Files of a new worktree that gix does not write as git does, written anew one by one. Where a filter fails that nobody
//! requires, or its program is not there, git writes the content without it, and gix gives the checkout up: files are
//! checked out without those first. Some encodings it writes wrongly. And where `info/attributes` says anything, it may
//! see other attributes than git, so that no filter is left to it and every file is looked at again.

use gix::attrs::search::{MetadataCollection, Outcome};
use gix::bstr::{BStr, BString, ByteSlice};
use gix::error::ResultExt;
use gix::filter::plumbing::driver::Operation;
use gix::filter::plumbing::pipeline::convert::{ToWorktreeOutcome, to_worktree};
use gix::filter::plumbing::{Driver, Pipeline};
use gix::index::entry::{Flags, Mode, Stat};
use gix::index::{Entry, State};
use gix::worktree::stack::state::attributes::Source;

use super::super::conversion::{Attributes, Rules, own};
use super::super::drivers::Drivers;
use super::super::encoding::{encode, is_utf8};

/// The same worktree without the filters that gix may not run, and their names.
pub(super) fn without(
    linked: &gix::Repository,
    any_encoded: bool,
) -> gix::Result<(gix::Repository, Vec<BString>)> {
    let mut plain = linked.clone();
    // Filters take what is encoded.
    let all = any_encoded || own(linked).is_some();
    let names = named(linked, |driver| all || !driver.required)?;
    let mut config = plain.config_snapshot_mut();
    let ids: Vec<_> = config
        .sections_and_ids_by_name("filter")
        .into_iter()
        .flatten()
        .filter(|(section, _)| {
            section.header().subsection_name().is_some_and(|name| names.iter().any(|n| n == name))
        })
        .map(|(_, id)| id)
        .collect();
    for id in ids {
        config.remove_section_by_id(id);
    }
    config.commit()?;
    Ok((plain, names))
}

/// The filters that change what is checked out.
fn named(linked: &gix::Repository, wanted: impl Fn(&Driver) -> bool) -> gix::Result<Vec<BString>> {
    let drivers = gix::filter::Pipeline::options(linked)?.drivers.into_iter();
    let smudging = drivers.filter(|driver| driver.smudge.is_some() || driver.process.is_some());
    Ok(smudging.filter(|driver| wanted(driver)).map(|driver| driver.name).collect())
}

/// Write the files of `linked` anew that pass those of its filters that `names` has or, if there are `any_encoded`, are in
/// an encoding but UTF-8, and keep their new times in the index.
pub(super) fn rewrite(linked: &gix::Repository, names: &[BString], any_encoded: bool) -> gix::Result<()> {
    let Some(root) = linked.workdir() else { return Ok(()) };
    if names.is_empty() && !any_encoded && own(linked).is_none() {
        return Ok(());
    }
    let mut index = linked.open_index()?;
    let mut files = Files::new(linked, &index, names)?;
    let mut any = false;
    let (entries, paths) = index.entries_mut_and_pathbacking();
    for entry in entries {
        let path = entry.path_in(paths);
        let written = match files.written(entry, path)? {
            Written::AsByGix => continue,
            Written::Failed(_, error) => return Err(error),
            Written::Anew(written) => written,
        };
        let place = root.join(gix::path::from_bstr(path)?);
        if std::fs::read(&place).is_ok_and(|there| there == written) {
            continue;
        }
        std::fs::write(&place, written).or_error()?;
        entry.stat =
            Stat::from_fs(&gix::index::fs::Metadata::from_path_no_follow(&place).or_error()?).or_error()?;
        any = true;
    }
    if any { index.write(gix::index::write::Options::default()) } else { Ok(()) }
}

/// The first file of `index` at which a filter fails that is required: path, filter, and why.
pub(super) fn failing(
    linked: &gix::Repository,
    index: &State,
) -> gix::Result<Option<(BString, BString, gix::Error)>> {
    let names = named(linked, |driver| driver.required)?;
    let mut files = Files::new(linked, index, &names)?;
    // A sparse checkout may leave out what is not here.
    for entry in index.entries().iter().filter(|entry| linked.has_object(entry.id)) {
        let path = entry.path(index);
        if let Written::Failed(filter, error) = files.written(entry, path)? {
            return Ok(Some((path.to_owned(), filter, error)));
        }
    }
    Ok(None)
}

/// Whether `entry` is a file that is checked out.
pub(super) fn is_written(entry: &Entry) -> bool {
    matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE) && !entry.flags.contains(Flags::SKIP_WORKTREE)
}

/// What a file of a new worktree holds.
enum Written {
    /// What gix writes.
    AsByGix,
    Anew(Vec<u8>),
    /// This filter failed, which is required.
    Failed(BString, gix::Error),
}

/// The files of a worktree, and some of its filters.
struct Files<'w> {
    linked: &'w gix::Repository,
    attributes: Attributes,
    drivers: Drivers,
    /// For line ends and `$Id$`.
    pipeline: Pipeline,
    known: MetadataCollection,
}

impl<'w> Files<'w> {
    fn new(linked: &'w gix::Repository, index: &State, names: &[BString]) -> gix::Result<Self> {
        let mut options = gix::filter::Pipeline::options(linked)?;
        let mut drivers = std::mem::take(&mut options.drivers);
        drivers.retain(|driver| names.contains(&driver.name));
        let context = linked.command_context()?;
        Ok(Self {
            linked,
            attributes: Attributes::new(linked, linked.attributes_only(index, Source::IdMapping)?.detach())?,
            drivers: Drivers::new(drivers, context.clone()),
            pipeline: Pipeline::new(context, linked.object_hash(), options),
            known: MetadataCollection::default(),
        })
    }

    fn written(&mut self, entry: &Entry, path: &BStr) -> gix::Result<Written> {
        if !is_written(entry) {
            return Ok(Written::AsByGix);
        }
        let rules = self.attributes.rules(path, &self.linked.objects)?;
        let driver = rules.driver.as_ref().map(|name| name.as_bstr());
        let driver = driver.and_then(|name| Some((name, self.drivers.is_required(name)?)));
        let is_encoded = rules.encoding.as_deref().is_some_and(|encoding| !is_utf8(encoding));
        if driver.is_none() && !is_encoded && !self.attributes.are_own() {
            return Ok(Written::AsByGix);
        }
        let mut text = self.line_ends(entry, path, &rules)?;
        if let Some(encoding) = rules.encoding.as_deref() {
            // What is no text, or more than the encoding holds, stays as it is, as with git.
            text = encode(encoding, &text).unwrap_or(text);
        }
        let Some((driver, required)) = driver else { return Ok(Written::Anew(text)) };
        Ok(match self.drivers.apply(driver, Operation::Smudge, &mut text.as_slice(), path) {
            Ok(Some(smudged)) => Written::Anew(smudged),
            Err(error) if required => Written::Failed(driver.to_owned(), error),
            Ok(None) | Err(_) => Written::Anew(text),
        })
    }

    /// What is stored, with the line ends of the worktree.
    fn line_ends(&mut self, entry: &Entry, path: &BStr, rules: &Rules) -> gix::Result<Vec<u8>> {
        let stored = self.linked.find_blob(entry.id)?;
        let search = rules.of_line_ends(&mut self.known)?;
        let known = &self.known;
        let attributes = &mut |path: &BStr, out: &mut Outcome| {
            out.initialize(known);
            search.pattern_matching_relative_path(path, gix::glob::pattern::Case::Sensitive, None, out);
        };
        let options = to_worktree::Options::default();
        let mut text = Vec::new();
        match self.pipeline.convert_to_worktree(&stored.data, path, attributes, options)? {
            ToWorktreeOutcome::Unchanged(as_it_is) => text.extend_from_slice(as_it_is),
            ToWorktreeOutcome::Buffer(converted) => text.extend_from_slice(converted),
            ToWorktreeOutcome::Process(_) => {
                return Err(gix::error::message!("a filter ran for {path} out of turn").into());
            }
        }
        Ok(text)
    }
}
