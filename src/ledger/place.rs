//! Where a ledger lives, and the files beside it.

use std::path::{Path, PathBuf};

/// The directory of a ledger and the name of its file there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    directory: PathBuf,
    file: PathBuf,
}

impl Place {
    /// Name of the directory inside Git's common directory.
    pub const IN_COMMON_DIR: &'static str = "foremerge";
    /// Name of the directory of a ledger without a repository.
    pub const STANDALONE: &'static str = ".foremerge";
    const FILE: &'static str = "state.sqlite3";

    /// The ledger in `directory` under its usual name.
    #[must_use]
    pub fn in_directory(directory: PathBuf) -> Self {
        let file = directory.join(Self::FILE);
        Self { directory, file }
    }

    /// The ledger at exactly this path; `None` for a path without file name.
    #[must_use]
    pub fn at(file: PathBuf) -> Option<Self> {
        file.file_name()?;
        let directory = file.parent()?.to_owned();
        Some(Self { directory, file })
    }

    /// Whether the directory is a ledger's by its name, so that nothing else has any business there.
    pub(super) fn is_usual(&self) -> bool {
        let named = |name| self.directory.ends_with(name);
        (named(Self::IN_COMMON_DIR) || named(Self::STANDALONE)) && self.file.ends_with(Self::FILE)
    }

    /// The directory that holds everything.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The SQLite file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The write-ahead log beside it.
    pub(super) fn wal(&self) -> PathBuf {
        let mut name = self.file.clone().into_os_string();
        name.push("-wal");
        name.into()
    }

    /// The bearer token of the local HTTP interface.
    #[must_use]
    pub fn token(&self) -> PathBuf {
        self.directory.join("token")
    }

    /// The identity of the repository the ledger is bound to.
    pub(super) fn repository(&self) -> PathBuf {
        self.directory.join("repository")
    }

    /// The file whose lock is a process's turn to write.
    pub(super) fn turnstile(&self) -> PathBuf {
        self.directory.join("turnstile")
    }

    /// The last event number that was acknowledged here.
    pub(super) fn mark(&self) -> PathBuf {
        self.directory.join("mark")
    }

    /// The same place while its directory still has another name.
    pub(super) fn built_in(&self, directory: &Path) -> Self {
        let name = self.file.file_name().unwrap_or(Self::FILE.as_ref());
        Self { directory: directory.to_owned(), file: directory.join(name) }
    }
}
