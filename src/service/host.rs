//! One process at one directory: where its ledger is, and the ledger once it is open.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::failure::{Audience, Code, Failure};
use crate::git::{self, Repository};
use crate::ledger::{Ledger, Place, Settings};
use crate::world::World;

/// What is accepted as a place to work at.
const DIRECTORY: &str = "a directory that exists and may be entered";

/// The surroundings of every call in a process.
pub struct Host {
    world: Arc<dyn World>,
    directory: PathBuf,
    database: Option<PathBuf>,
    settings: Settings,
    ledger: Mutex<Option<Arc<Ledger>>>,
}

/// Where a ledger is or would be.
#[derive(Debug)]
pub struct Site {
    /// The directory and file of the ledger.
    pub place: Place,
    /// The repository around it; `None` for a standalone ledger.
    pub repository: Option<Repository>,
}

impl Host {
    /// A process that works at `directory`, on the ledger file `database` if one is named.
    /// Relative paths start at the directory the process was started in, `database` at
    /// `directory`.
    ///
    /// # Errors
    /// When `directory` is not one, or `database` names no file.
    pub fn new(
        world: Arc<dyn World>,
        directory: Option<&Path>,
        database: Option<&Path>,
        settings: Settings,
    ) -> Result<Self, Failure> {
        let directory =
            started_at(&*world, directory).map_err(|why| Failure::invalid("cwd", why, DIRECTORY))?;
        if !directory.is_dir() {
            let why = format!("{} is not a directory", directory.display());
            return Err(Failure::invalid("cwd", why, DIRECTORY));
        }
        // The real path: what lies above a `..` or a link is not above the directory.
        let directory = directory.canonicalize().map_err(|error| {
            Failure::invalid("cwd", format!("{}: {error}", directory.display()), DIRECTORY)
        })?;
        let database = database.filter(|path| !path.as_os_str().is_empty()).map(|path| directory.join(path));
        Ok(Self { world, directory, database, settings, ledger: Mutex::new(None) })
    }

    /// The door to clock, chance and environment.
    #[must_use]
    pub fn world(&self) -> &dyn World {
        &*self.world
    }

    /// The directory the process works at, absolute.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The ledger file that was named, absolute.
    #[must_use]
    pub fn database(&self) -> Option<&Path> {
        self.database.as_deref()
    }

    /// The repository around the directory.
    ///
    /// # Errors
    /// The failures of discovery.
    pub fn repository(&self) -> Result<Repository, Failure> {
        Ok(Repository::discover(&self.directory)?)
    }

    /// Where the ledger is or would be.
    ///
    /// # Errors
    /// `NOT_A_REPOSITORY` outside any, and everything that makes a repository unusable: never a
    /// silent step to another one.
    pub fn site(&self) -> Result<Site, Failure> {
        if let Some(file) = &self.database {
            let place = Place::at(file.clone()).filter(|place| !place.file().is_dir()).ok_or_else(|| {
                let why = format!("must name a file, such as DIR/state.sqlite3; {} is none", file.display());
                Failure::invalid("database", why, "the path of a file")
            })?;
            let repository = match Repository::discover(&self.directory) {
                Ok(repository) => Some(repository),
                Err(git::Error::NotARepository { .. }) => None,
                Err(error) => return Err(error.into()),
            };
            return Ok(Site { place, repository });
        }
        match Repository::discover(&self.directory) {
            Ok(repository) => {
                let place = Place::in_directory(repository.common_dir().join(Place::IN_COMMON_DIR));
                Ok(Site { place, repository: Some(repository) })
            }
            Err(error @ git::Error::NotARepository { .. }) => {
                let standalone = self.directory.ancestors().map(|above| above.join(Place::STANDALONE));
                match standalone.into_iter().find(|directory| directory.is_dir()) {
                    Some(directory) => Ok(Site { place: Place::in_directory(directory), repository: None }),
                    None => Err(error.into()),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The ledger, opened by the first call that needs it.
    ///
    /// # Errors
    /// As [`Self::site`] and [`Ledger::open`].
    pub fn ledger(&self) -> Result<Arc<Ledger>, Failure> {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = &*ledger {
            return Ok(Arc::clone(open));
        }
        let site = self.site()?;
        let opened = Arc::new(Ledger::open(site.place, self.settings, Arc::clone(&self.world))?);
        *ledger = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// Lets the next call open the ledger anew, because the file is another one by now.
    pub fn forget_ledger(&self) {
        *self.ledger.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Real path of the worktree around `path` (relative ones start at this host's directory)
    /// and what is checked out there.
    ///
    /// # Errors
    /// `INVALID_INPUT` naming `worktree` outside the repository this host works in.
    pub fn worktree(&self, path: &Path) -> Result<(PathBuf, git::Head), Failure> {
        let refuse = |why: String| {
            Failure::invalid("worktree", why, "a directory in a worktree of the ledger's repository")
        };
        let directory = self.directory.join(path);
        if path.as_os_str().is_empty() || !directory.is_dir() {
            return Err(refuse(format!("{} is not a directory", path.display())));
        }
        let there = match Repository::discover(&directory) {
            Err(git::Error::NotARepository { path }) => {
                return Err(refuse(format!("{} is not in a Git worktree", path.display())));
            }
            found => found?,
        };
        let here = match self.repository() {
            Ok(here) => here,
            Err(failure) if failure.code == Code::NotARepository => {
                return Err(refuse(
                    "the ledger belongs to no repository, so it knows no worktrees".to_owned(),
                ));
            }
            Err(failure) => return Err(failure),
        };
        if here.common_dir() != there.common_dir() {
            let there = there.common_dir().display().to_string();
            return Err(refuse(format!("it is a worktree of another repository ({there})")));
        }
        let root = there.worktree_root().ok_or_else(|| {
            refuse(format!("{} is inside a Git directory, not in a worktree", directory.display()))
        })?;
        Ok((root.to_owned(), there.head()?))
    }
}

/// Where a process works that was told to work at `directory`. Where it was started does not
/// matter to an absolute one, and may be gone.
///
/// # Errors
/// Why the place it was started in cannot be read.
pub fn started_at(world: &dyn World, directory: Option<&Path>) -> Result<PathBuf, String> {
    match directory {
        Some(directory) if directory.is_absolute() => Ok(directory.to_owned()),
        _ => world
            .current_dir()
            .map(|started| directory.map_or_else(|| started.clone(), |directory| started.join(directory)))
            .map_err(|error| {
                format!("the current directory cannot be read: {error}; -C DIR says where to work")
            }),
    }
}

/// A call that needs a registered agent, and names none that there is.
#[must_use]
pub fn register_first(failure: Failure) -> Failure {
    if failure.code == Code::NotFound { failure.then(Audience::Agent, "register_agent") } else { failure }
}
