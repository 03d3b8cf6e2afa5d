//! Opening what was found: whose it is, which configuration counts, and that it is of a shape we understand.

use std::path::Path;

use gix::open::{Options, Permissions, permissions};
use gix::sec::{Permission, Trust};

use super::discover::Found;
use super::error::{sentence, shell_word};
use super::{Error, shape, trust};

/// Open `found`, refusing what stock git refuses and what this program does not understand.
pub(super) fn open(found: &Found) -> Result<gix::Repository, Error> {
    let (root, dot_git, git_dir) = match found {
        Found::Worktree { root, dot_git, linked } => (root, dot_git, linked.as_ref().unwrap_or(dot_git)),
        Found::GitDir(dir) => (dir, dir, dir),
    };
    let open = |trust| {
        options(trust).open_path_as_is(true).open(dot_git).map_err(|error| {
            // The repository's own faults have better words than gix has for them.
            shape::check(git_dir).err().unwrap_or_else(|| {
                let detail = sentence(&error);
                Error::unreadable(root, format!("it cannot be opened with your Git configuration: {detail}"))
            })
        })
    };
    let owned = trust::owned_by_us(&[root, dot_git, git_dir])
        .map_err(|error| Error::unreadable(root, error.to_string()))?;
    let mut repository = open(if owned { Trust::Full } else { Trust::Reduced })?.to_thread_local();
    if !owned {
        if !trust::declared_safe(&repository, root) {
            return Err(another_users(root));
        }
        repository = open(Trust::Full)?.to_thread_local();
    }
    // gix opens several shapes that git refuses.
    shape::check(git_dir)?;
    if matches!(found, Found::GitDir(_)) && trust::bare_is_forbidden(&repository, root) {
        return Err(Error::unreadable(root, "it is bare and safe.bareRepository is set to explicit")
            .with_remedy("git config --global safe.bareRepository all".into()));
    }
    Ok(repository)
}

fn another_users(root: &Path) -> Error {
    Error::unreadable(root, "it belongs to another user")
        .with_remedy(format!("git config --global --add safe.directory {}", shell_word(root)))
}

/// How every repository is opened: the system's and the user's configuration (`safe.directory` lives there) and the
/// repository's own, found through `HOME` and `XDG_CONFIG_HOME`; no other environment variable, and not the
/// configuration of the git installation, for which gix would start git.
pub(super) fn options(trust: Trust) -> Options {
    Options::default()
        .with(trust)
        .permissions(Permissions {
            env: permissions::Environment {
                home: Permission::Allow,
                xdg_config_home: Permission::Allow,
                ..permissions::Environment::isolated()
            },
            config: permissions::Config {
                git_binary: false,
                system: true,
                git: true,
                user: true,
                env: false,
                includes: true,
            },
            attributes: permissions::Attributes { git_binary: false, system: true, git: true },
        })
        .config_overrides([
            // An id must mean the object of that id, whatever refs/replace says.
            "core.useReplaceRefs=false",
            // Git finds somebody to name in a reflog where nobody is configured; gix would fail.
            "gitoxide.committer.nameFallback=Foremerge",
            "gitoxide.committer.emailFallback=foremerge@localhost",
            // Looking at a file never fails because it would not survive a round trip: git status warns at most.
            "core.safecrlf=false",
            // Nor because of its encoding: git checks that only where it stores a file.
            "core.checkRoundtripEncoding=",
            // Keys of gix's own mean nothing to git, so no repository may decide anything by them.
            "gitoxide.parsePrecious=false",
            "gitoxide.core.shallowFile=shallow",
            "gitoxide.core.indexFile=index",
            "gitoxide.core.useNsec=false",
            "gitoxide.core.useStdev=false",
            "gitoxide.core.filterProcessDelay=true",
            "gitoxide.core.externalCommandStderr=true",
            "gitoxide.pathspec.inheritIgnoreCase=true",
            if cfg!(windows) {
                "gitoxide.core.protectWindows=true"
            } else {
                "gitoxide.core.protectWindows=false"
            },
        ])
}

#[cfg(test)]
mod tests {
    use super::super::{Repository, scaffold};

    #[test]
    fn a_replacement_ref_does_not_change_what_an_id_means() {
        let dir = tempfile::tempdir().unwrap();
        scaffold::create(dir.path(), &[("a", "a")], "m", 0).unwrap();
        let commit = Repository::discover(dir.path()).unwrap().head().unwrap().commit.unwrap();
        let repository = Repository::discover(dir.path()).unwrap();
        let blob = repository.inner().write_blob("in its place").unwrap().to_string();
        std::fs::create_dir(dir.path().join(".git/refs/replace")).unwrap();
        std::fs::write(dir.path().join(".git/refs/replace").join(&commit), blob).unwrap();

        let id = gix::ObjectId::from_hex(commit.as_bytes()).unwrap();
        let repository = Repository::discover(dir.path()).unwrap();
        assert_eq!(repository.inner().find_object(id).unwrap().kind, gix::objs::Kind::Commit);
    }
}
