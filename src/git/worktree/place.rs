//! Where a new worktree may be.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::CreateError;
use super::entries::Entry;

/// What belongs to Git in its own directory. Elsewhere in a bare repository worktrees are welcome.
const GITS_OWN: [&str; 10] =
    ["objects", "refs", "logs", "worktrees", "modules", "hooks", "info", "branches", "lfs", "foremerge"];

/// A place that is free.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The top of the worktree, as a real path.
    pub(super) root: PathBuf,
    /// The uppermost directory that has to be made for it; `None` when it is there and empty.
    pub(super) made_from: Option<PathBuf>,
}

/// Look whether there can be a worktree at `path`, which is absolute.
pub(super) fn look(path: &Path, common_dir: &Path, entries: &[Entry]) -> Result<Place, CreateError> {
    let refuse = |why: String| CreateError::Path { path: path.to_owned(), why };
    if !path.is_absolute() {
        return Err(refuse("the path must be absolute".to_owned()));
    }
    let place = match std::fs::symlink_metadata(path) {
        Ok(found) => existing(path, &found).map_err(refuse)?,
        Err(error) if error.kind() == ErrorKind::NotFound => absent(path).map_err(refuse)?,
        Err(error) => return Err(refuse(error.to_string())),
    };
    let inside = place.root.strip_prefix(common_dir).ok().and_then(|below| below.components().next());
    if let Some(Component::Normal(part)) = inside
        && GITS_OWN.iter().any(|own| part == *own)
    {
        return Err(refuse("it is inside a directory that belongs to Git".to_owned()));
    }
    if let Some(entry) = entries.iter().find(|entry| entry.root.as_deref() == Some(&place.root)) {
        let locked = entry.admin.join("locked").exists();
        let command = if locked { "git worktree remove --force --force" } else { "git worktree prune" };
        return Err(refuse(format!("one is on the list there whose directory is gone; run `{command}`")));
    }
    Ok(place)
}

fn existing(path: &Path, found: &Metadata) -> Result<Place, String> {
    let root = std::fs::canonicalize(path).map_err(|error| {
        if found.is_symlink() {
            "it is a symbolic link to something that is not there".to_owned()
        } else {
            error.to_string()
        }
    })?;
    if !root.is_dir() {
        return Err("a file is there".to_owned());
    }
    let mut inside = std::fs::read_dir(&root).map_err(|error| error.to_string())?;
    match inside.next() {
        None => Ok(Place { root, made_from: None }),
        Some(_) => Err("a directory is there and not empty".to_owned()),
    }
}

/// The place for a path that is not there: the real path of what is, and the rest as written.
fn absent(path: &Path) -> Result<Place, String> {
    for above in path.ancestors().skip(1) {
        let real = match std::fs::canonicalize(above) {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if above.is_symlink() {
                    return Err(format!(
                        "{} is a symbolic link to something that is not there",
                        above.display()
                    ));
                }
                continue;
            }
            Err(error) => return Err(format!("{}: {error}", above.display())),
        };
        if !real.is_dir() {
            return Err(format!("{} is not a directory", above.display()));
        }
        let mut root = real;
        for part in path.strip_prefix(above).unwrap_or(path).components() {
            match part {
                Component::ParentDir => {
                    root.pop();
                }
                Component::Normal(part) => root.push(part),
                _ => {}
            }
        }
        // Dots may have led out of what is not there, to something that is.
        if let Ok(found) = std::fs::symlink_metadata(&root) {
            return existing(&root, &found);
        }
        let missing = root.ancestors().take_while(|above| std::fs::symlink_metadata(above).is_err());
        return Ok(Place { made_from: missing.last().map(Path::to_owned), root });
    }
    Err("no directory above it is there".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &Path, common_dir: &Path) -> String {
        match look(path, common_dir, &[]) {
            Err(CreateError::Path { why, .. }) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_place_is_free_when_it_is_not_there_or_empty() {
        let dir = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(dir.path()).unwrap();
        let common = top.join("repo.git");
        std::fs::create_dir_all(top.join("empty")).unwrap();
        let free = |path: &Path, root: &Path, made: Option<PathBuf>| {
            let expected = Place { root: root.to_owned(), made_from: made };
            assert_eq!(look(path, &common, &[]).unwrap(), expected, "{}", path.display());
        };
        free(&top.join("empty"), &top.join("empty"), None);
        free(&top.join("new"), &top.join("new"), Some(top.join("new")));
        free(&top.join("a/b/c/"), &top.join("a/b/c"), Some(top.join("a")));
        free(&top.join("empty/../x/../y"), &top.join("y"), Some(top.join("y")));
        free(&top.join("no/../empty"), &top.join("empty"), None);
        free(&common.join("tree"), &common.join("tree"), Some(common.clone()));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_to_where_they_lead() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir_all(top.join("real/empty")).unwrap();
        symlink("real", top.join("link")).unwrap();
        symlink("nowhere", top.join("dangling")).unwrap();
        let found = look(&top.join("link/empty"), &top.join("g"), &[]).unwrap();
        assert_eq!(found, Place { root: top.join("real/empty"), made_from: None });
        let found = look(&top.join("link/new"), &top.join("g"), &[]).unwrap();
        assert_eq!(found.root, top.join("real/new"));
        assert!(refused(&top.join("dangling"), &top).contains("symbolic link"));
        assert!(refused(&top.join("dangling/x"), &top).contains("symbolic link"));
    }

    #[test]
    fn what_is_there_and_what_is_gits_own_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::write(top.join("file"), "").unwrap();
        assert_eq!(refused(&top.join("file"), &top), "a file is there");
        assert!(refused(&top.join("file/x"), &top).contains("Not a directory"));
        assert!(refused(&top, Path::new("/none")).contains("not empty"));
        assert!(refused(Path::new("here"), &top).contains("absolute"));
        assert!(refused(&top.join("refs/heads/x"), &top).contains("belongs to Git"));
    }
}
