//! The filters that a new worktree's files pass, one by one. Where one fails that nobody requires, or its program is not
//! there, git writes the content without it; gix gives the checkout up. So files are checked out without those first.

use std::io::Read;

use gix::attrs::StateRef;
use gix::attrs::search::{MetadataCollection, Outcome};
use gix::bstr::{BStr, BString};
use gix::error::ResultExt;
use gix::filter::plumbing::Driver;
use gix::filter::plumbing::driver::apply::Delay;
use gix::filter::plumbing::pipeline::convert::ToWorktreeOutcome;
use gix::filter::plumbing::pipeline::convert::to_worktree::Options;
use gix::index::entry::{Flags, Mode, Stat};
use gix::index::{Entry, State};
use gix::worktree::stack::state::attributes::Source;

/// The same worktree without the filters that nobody requires, and their names.
pub(super) fn without_optional(linked: &gix::Repository) -> gix::Result<(gix::Repository, Vec<BString>)> {
    let mut plain = linked.clone();
    let names = named(linked, |driver| !driver.required)?;
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

/// Pass the files of `linked` through those of its filters that `names` has, and keep their new times in the index.
pub(super) fn smudge(linked: &gix::Repository, names: &[BString]) -> gix::Result<()> {
    let Some(root) = linked.workdir().filter(|_| !names.is_empty()) else { return Ok(()) };
    let mut index = linked.open_index()?;
    let mut filters = Filters::new(linked, &index, names)?;
    let (entries, paths) = index.entries_mut_and_pathbacking();
    for entry in entries {
        let path = entry.path_in(paths);
        let Some((_, Ok(smudged))) = filters.smudged(entry, path)? else { continue };
        let place = root.join(gix::path::from_bstr(path)?);
        std::fs::write(&place, smudged).or_error()?;
        entry.stat =
            Stat::from_fs(&gix::index::fs::Metadata::from_path_no_follow(&place).or_error()?).or_error()?;
    }
    index.write(gix::index::write::Options::default())
}

/// The first file of `index` at which a filter fails that is required: path, filter, and why.
pub(super) fn failing(
    linked: &gix::Repository,
    index: &State,
) -> gix::Result<Option<(BString, BString, gix::Error)>> {
    let names = named(linked, |driver| driver.required)?;
    let mut filters = Filters::new(linked, index, &names)?;
    for entry in index.entries() {
        let path = entry.path(index);
        if let Some((filter, Err(error))) = filters.smudged(entry, path)? {
            return Ok(Some((path.to_owned(), filter, error)));
        }
    }
    Ok(None)
}

/// Some of the filters of a worktree.
struct Filters<'w> {
    linked: &'w gix::Repository,
    names: &'w [BString],
    attributes: gix::worktree::Stack,
    wanted: Outcome,
    pipeline: gix::filter::Pipeline<'w>,
}

impl<'w> Filters<'w> {
    fn new(linked: &'w gix::Repository, index: &State, names: &'w [BString]) -> gix::Result<Self> {
        let mut wanted = Outcome::default();
        wanted.initialize_with_selection(&MetadataCollection::default(), ["filter"]);
        Ok(Self {
            linked,
            names,
            attributes: linked.attributes_only(index, Source::IdMapping)?.detach(),
            wanted,
            pipeline: linked.filter_pipeline(None)?.0,
        })
    }

    /// What the one of the filters that a file passes makes of it; nothing where it passes none of them.
    fn smudged(
        &mut self,
        entry: &Entry,
        path: &BStr,
    ) -> gix::Result<Option<(BString, gix::Result<Vec<u8>>)>> {
        let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
        if !is_file || entry.flags.contains(Flags::SKIP_WORKTREE) {
            return Ok(None);
        }
        self.attributes
            .at_entry(path, Some(entry.mode), &self.linked.objects)
            .or_error()?
            .matching_attributes(&mut self.wanted);
        let passed = self.wanted.iter_selected().find_map(|found| match found.assignment.state {
            StateRef::Value(filter) => self.names.iter().find(|name| *name == filter.as_bstr()),
            _ => None,
        });
        let Some(filter) = passed else { return Ok(None) };
        let stored = self.linked.find_blob(entry.id)?;
        let options = Options { can_delay: Delay::Forbid, ..Options::default() };
        let mut smudged = Vec::new();
        let outcome = match self.pipeline.convert_to_worktree(&stored.data, path, options) {
            // No filter has a say after all.
            Ok(ToWorktreeOutcome::Unchanged(_) | ToWorktreeOutcome::Buffer(_)) => return Ok(None),
            Ok(mut output) => output.read_to_end(&mut smudged).map(drop).or_error(),
            Err(error) => Err(error),
        };
        if outcome.is_err() {
            // What a process that broke off says next belongs to no file.
            self.pipeline = self.linked.filter_pipeline(None)?.0;
        }
        Ok(Some((filter.clone(), outcome.map(|()| smudged))))
    }
}
