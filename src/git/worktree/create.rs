//! Making a worktree on a new branch, step by step.

use std::path::{Path, PathBuf};

use super::super::error::sentence;
use super::super::shared::Shared;
use super::super::turn::Turn;
use super::super::{Error, Repository, revision};
use super::journal::{Journal, Record};
use super::leftover::Maker;
use super::{
    CreateError, HookRun, branch, checkout, encodings, entries, hook, place, register, stored, undo,
};
use crate::world::{Point, World};

/// The worktree to be made.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// The new branch, without `refs/heads/`.
    pub branch: &'r str,
    /// Where the worktree is to be: an absolute path that is not there, or an empty directory.
    pub path: &'r Path,
    /// The commit the branch starts at, as `git rev-parse` would take it.
    pub base: &'r str,
}

/// A worktree that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// The branch, without `refs/heads/`.
    pub branch: String,
    /// The top of the worktree, as a real path.
    pub path: PathBuf,
    /// The full hexadecimal id of the commit the branch starts at.
    pub base: String,
    /// How it went with the post-checkout hook.
    pub hook: HookRun,
}

/// What is to be made besides the files as they are stored.
struct Plan<'r> {
    /// The word for where the branch starts; `None` where it is there already.
    new_branch_from: Option<&'r str>,
    /// Whether files are in an encoding but UTF-8.
    any_encoded: bool,
}

impl Repository {
    /// Make a worktree on a new branch, as `git worktree add -b` does, without setting an upstream. Many may do so at
    /// once. What another process began and died over is undone first, unless it was this very call: then it is
    /// completed.
    ///
    /// # Errors
    /// [`CreateError`]: whatever was made is undone.
    pub fn create_worktree(&self, world: &dyn World, request: &Request<'_>) -> Result<Created, CreateError> {
        let name = branch::name(request.branch)?;
        let commit = revision::commit(self.inner(), request.base)?;
        stored::require_all(self, commit)?;
        let any_encoded = encodings::refuse_unwritable(self, commit)?;
        let turn = self.turn()?;
        let dead = undo::the_dead(&turn, world, self, &name, commit, request.path)?;
        let journal = if let Some(journal) = dead.whole {
            drop(turn);
            journal
        } else {
            let entries = entries::read(self.common_dir())?;
            // What a dead one of this very call made, or somebody for the same end, will do.
            let branch_stands = dead.wanted_branch && branch::stands_unused(self, &name, commit)?;
            if !branch_stands {
                branch::refuse_taken(self, &name, &entries)?;
            }
            let place = place::look(request.path, self.common_dir(), &entries)?;
            let journal = Journal::write(
                self.common_dir(),
                Shared::of(self.inner()),
                Record {
                    entry: register::free_name(self.common_dir(), &place.root)?,
                    branch: name,
                    branch_file: None,
                    commit,
                    root: place.root,
                    made_from: place.made_from,
                    made: Vec::new(),
                    whole: false,
                },
            )?;
            let plan = Plan { new_branch_from: (!branch_stands).then_some(request.base), any_encoded };
            self.make(world, turn, journal, &plan)?
        };
        let record = &journal.record;
        let hook = hook::post_checkout(world, self, &record.root, commit);
        world.reached(Point::HookDone);
        let created = Created {
            branch: branch::short(&record.branch),
            path: record.root.clone(),
            base: commit.to_string(),
            hook,
        };
        journal.forget();
        Ok(created)
    }

    fn turn(&self) -> Result<Turn, Error> {
        Turn::take(self.common_dir(), Shared::of(self.inner()))
    }

    /// All the steps but the hook, undone if one fails.
    fn make(
        &self,
        world: &dyn World,
        turn: Turn,
        mut journal: Journal,
        plan: &Plan<'_>,
    ) -> Result<Journal, CreateError> {
        world.reached(Point::WorktreePlanned);
        let made = self.list(&turn, world, &mut journal, plan.new_branch_from);
        let (made, turn) = match made {
            Ok(linked) => {
                drop(turn);
                (self.fill(world, &linked, &mut journal, plan.any_encoded), None)
            }
            Err(error) => (Err(error), Some(turn)),
        };
        match made {
            Ok(()) => Ok(journal),
            Err(error) => {
                // If it cannot be undone now, the journal stays and it is undone by the next call.
                if let Ok(turn) = turn.map_or_else(|| self.turn(), Ok)
                    && undo::undo(&turn, world, self, &journal, Maker::Lives).is_ok()
                {
                    journal.forget();
                }
                Err(error)
            }
        }
    }

    /// What all worktrees share: the branch, and the entry on the list.
    fn list(
        &self,
        turn: &Turn,
        world: &dyn World,
        journal: &mut Journal,
        new_branch_from: Option<&str>,
    ) -> Result<gix::Repository, CreateError> {
        if let Some(base) = new_branch_from {
            branch::create(turn, world, self, journal, base)?;
        }
        world.reached(Point::BranchMade);
        let linked = register::register(self.inner(), self.common_dir(), journal)
            .map_err(|error| Error::unwritable(&journal.record.root, sentence(&error)))?;
        world.reached(Point::WorktreeListed);
        Ok(linked)
    }

    /// What is the worktree's own: its files and its index. It is whole after that.
    fn fill(
        &self,
        world: &dyn World,
        linked: &gix::Repository,
        journal: &mut Journal,
        any_encoded: bool,
    ) -> Result<(), CreateError> {
        let admin = entries::directory(self.common_dir()).join(&journal.record.entry);
        let record = &journal.record;
        checkout::fill(linked, any_encoded)
            .map_err(|error| checkout::diagnosed(self, linked, record.commit, &error))?;
        register::share(self.inner(), &admin)
            .map_err(|error| Error::unwritable(&record.root, error.to_string()))?;
        world.reached(Point::WorktreeFilled);
        journal.complete()?;
        let mark = admin.join("locked");
        std::fs::remove_file(&mark).map_err(|error| Error::unwritable(&mark, error.to_string()))?;
        world.reached(Point::WorktreeWhole);
        Ok(())
    }
}
