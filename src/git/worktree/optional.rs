//! Filters that nobody requires, on the way into a new worktree. Where one fails, or its program is not there, git writes
//! the content without it; gix gives the checkout up. So files are checked out without them first.

use std::io::Read;

use gix::attrs::StateRef;
use gix::attrs::search::{MetadataCollection, Outcome};
use gix::bstr::BString;
use gix::error::ResultExt;
use gix::filter::plumbing::driver::apply::Delay;
use gix::filter::plumbing::pipeline::convert::ToWorktreeOutcome;
use gix::filter::plumbing::pipeline::convert::to_worktree::Options;
use gix::index::entry::{Flags, Mode, Stat};
use gix::worktree::stack::state::attributes::Source;

/// The same worktree without such filters, and their names.
pub(super) fn without(linked: &gix::Repository) -> gix::Result<(gix::Repository, Vec<BString>)> {
    let mut plain = linked.clone();
    let drivers = gix::filter::Pipeline::options(linked)?.drivers;
    let optional = drivers
        .into_iter()
        .filter(|driver| !driver.required && (driver.smudge.is_some() || driver.process.is_some()));
    let names: Vec<_> = optional.map(|driver| driver.name).collect();
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

/// Pass the files of `linked` through those of its filters that `names` has, and keep their new times in the index.
pub(super) fn smudge(linked: &gix::Repository, names: &[BString]) -> gix::Result<()> {
    let Some(root) = linked.workdir().filter(|_| !names.is_empty()) else { return Ok(()) };
    let mut index = linked.open_index()?;
    let mut attributes = linked.attributes_only(&index, Source::IdMapping)?.detach();
    let mut wanted = Outcome::default();
    wanted.initialize_with_selection(&MetadataCollection::default(), ["filter"]);
    let mut pipeline = linked.filter_pipeline(None)?.0;
    let (entries, paths) = index.entries_mut_and_pathbacking();
    for entry in entries {
        let path = entry.path_in(paths);
        let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
        if !is_file || entry.flags.contains(Flags::SKIP_WORKTREE) {
            continue;
        }
        attributes
            .at_entry(path, Some(entry.mode), &linked.objects)
            .or_error()?
            .matching_attributes(&mut wanted);
        let passes = wanted.iter_selected().any(|found| match found.assignment.state {
            StateRef::Value(filter) => names.iter().any(|name| name == filter.as_bstr()),
            _ => false,
        });
        if !passes {
            continue;
        }
        let stored = linked.find_blob(entry.id)?;
        let options = Options { can_delay: Delay::Forbid, ..Options::default() };
        let mut smudged = Vec::new();
        let outcome = match pipeline.convert_to_worktree(&stored.data, path, options) {
            // No filter has a say after all.
            Ok(ToWorktreeOutcome::Unchanged(_) | ToWorktreeOutcome::Buffer(_)) => continue,
            Ok(mut output) => output.read_to_end(&mut smudged).or_error(),
            Err(error) => Err(error),
        };
        if outcome.is_err() {
            // What a process that broke off says next belongs to no file.
            pipeline = linked.filter_pipeline(None)?.0;
            continue;
        }
        let place = root.join(gix::path::from_bstr(path)?);
        std::fs::write(&place, smudged).or_error()?;
        entry.stat =
            Stat::from_fs(&gix::index::fs::Metadata::from_path_no_follow(&place).or_error()?).or_error()?;
    }
    index.write(gix::index::write::Options::default())
}
