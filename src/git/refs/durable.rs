//! Pressing a ref to disk: gix writes and renames, and leaves the rest to chance.

use std::io::{self, ErrorKind};
use std::path::Path;

/// Press the file of a ref to disk, packed refs, and the directories that name them up to `common_dir`. What is not
/// there, because the ref was deleted or packed, needs nothing.
pub(super) fn press(common_dir: &Path, path: &Path) -> io::Result<()> {
    sync(path)?;
    sync(&common_dir.join("packed-refs"))?;
    path.ancestors().skip(1).take_while(|above| above.starts_with(common_dir)).try_for_each(sync_directory)
}

fn sync(path: &Path) -> io::Result<()> {
    match std::fs::File::open(path).and_then(|file| file.sync_all()) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(()),
        done => done,
    }
}

#[cfg(unix)]
fn sync_directory(path: &Path) -> io::Result<()> {
    sync(path)
}

/// Elsewhere a directory cannot be pressed to disk, and need not be.
#[cfg(not(unix))]
fn sync_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}
