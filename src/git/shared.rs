//! Repositories that several users share: what is made there gets the permissions that git would give it. gix gives
//! none of them to refs, logs and indices.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use gix::config::tree::Core;

/// What `core.sharedRepository` says, as git counts it: bits to add, or below zero the whole mode.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shared(i32);

impl Shared {
    pub fn of(repository: &gix::Repository) -> Self {
        let config = repository.config_snapshot();
        let sections = config.plumbing().sections_by_name("core").into_iter().flatten();
        let value = sections.filter_map(|core| core.body().value_implicit("sharedRepository")).last();
        // Git would not get this far with a value that means nothing.
        Self(value.map_or(0, |value| Core::SHARED_REPOSITORY.try_into_shared_repository(value).unwrap_or(0)))
    }

    /// Adjust what stands at `path`, if anything does. What another user made is theirs to open.
    pub fn adjust(self, path: &Path) -> io::Result<()> {
        if self.0 == 0 {
            return Ok(());
        }
        let adjusted = std::fs::symlink_metadata(path).and_then(|found| {
            let wanted = gix::fs::adjust_shared_repository_permissions(found.permissions(), self.0);
            if found.is_symlink() || wanted == found.permissions() {
                return Ok(());
            }
            std::fs::set_permissions(path, wanted)
        });
        match adjusted {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied
                ) =>
            {
                Ok(())
            }
            done => done,
        }
    }

    /// What is about to be made for the ref `name` of `git_dir`: to be asked before.
    pub fn before(self, git_dir: &Path, name: &Path) -> Fresh {
        let (file, log) = (git_dir.join(name), git_dir.join("logs").join(name));
        let above = [&file, &log].into_iter().flat_map(|path| path.ancestors().skip(1));
        let absent = |path: &Path| std::fs::symlink_metadata(path).is_err();
        let mut paths: Vec<_> =
            above.filter(|above| above.starts_with(git_dir) && absent(above)).map(Path::to_owned).collect();
        paths.extend(Some(log).filter(|log| absent(log)));
        paths.push(file);
        Fresh { shared: self, paths }
    }
}

/// What was about to be made.
pub(super) struct Fresh {
    shared: Shared,
    paths: Vec<PathBuf>,
}

impl Fresh {
    /// Adjust what was made.
    pub fn adjust(self) -> io::Result<()> {
        self.paths.iter().try_for_each(|path| self.shared.adjust(path))
    }
}
