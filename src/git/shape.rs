//! What a repository's own configuration says it needs. Git refuses extensions it does not know; gix does not look.

use std::path::Path;

use gix::bstr::ByteSlice;
use gix::config::{File, Source};

use super::error::sentence;
use super::{Error, layout};

/// Extensions that change nothing for us, or that gix honours.
const KNOWN: [&str; 4] = ["noop", "preciousobjects", "partialclone", "worktreeconfig"];
/// Extensions that git accepts from repository format version 1 on only.
const KNOWN_SINCE_1: [&str; 4] = ["noop-v1", "objectformat", "refstorage", "relativeworktrees"];

/// Refuse the repository of `git_dir` when its format is not one we understand, or its configuration is not sound.
pub(super) fn check(git_dir: &Path) -> Result<(), Error> {
    if git_dir.join("HEAD").is_symlink() {
        let target = std::fs::read_link(git_dir.join("HEAD")).unwrap_or_default();
        return Err(Error::unsupported(git_dir, "its HEAD is a symbolic link")
            .with_remedy(format!("git symbolic-ref HEAD {}", super::error::shell_word(&target))));
    }
    let common = layout::common_dir(git_dir)
        .and_then(std::fs::canonicalize)
        .map_err(|error| Error::unreadable(git_dir, error.to_string()))?;
    let Some(config) = read(&common.join("config"), Source::Local)? else {
        return Ok(());
    };
    let worktree_config = boolean(&config, "extensions.worktreeConfig", &common)?.unwrap_or(false);
    boolean(&config, "core.bare", &common)?;
    format(&config, &common)?;
    if worktree_config && let Some(own) = read(&git_dir.join("config.worktree"), Source::Worktree)? {
        boolean(&own, "core.bare", git_dir)?;
    }
    Ok(())
}

fn format(config: &File, git_dir: &Path) -> Result<(), Error> {
    let version = version(config).map_err(|detail| Error::unreadable(&git_dir.join("config"), detail))?;
    let refuse = |what: String| Err(Error::unsupported(git_dir, what));
    if let Some(version) = version.filter(|version| !(0..=1).contains(version)) {
        return refuse(format!("it has repository format version {version}; 0 and 1 are known"));
    }
    let current = version == Some(1);
    for Extension { name, value } in extensions(config) {
        let name = name.as_str();
        let since_1 = KNOWN_SINCE_1.contains(&name);
        if current && !since_1 && !KNOWN.contains(&name) {
            return refuse(format!("it needs the extension {name:?}, which is not known"));
        }
        if !has_known_value(name, value.as_deref()) {
            let value = value.unwrap_or_default();
            return refuse(format!("its extension {name:?} has the value {value:?}, which is not known"));
        }
        // Git overlooks extensions where no version is stated at all; gix cannot overlook these two.
        let overlooked = version.is_none() && !matches!(name, "objectformat" | "relativeworktrees");
        if since_1 && !current && !overlooked {
            return refuse(format!(
                "it uses the extension {name:?}, which needs core.repositoryFormatVersion=1"
            ));
        }
        if current && name == "refstorage" && value.as_deref() == Some("reftable") {
            return Err(Error::unsupported(git_dir, "it stores its references as a reftable")
                .with_remedy("git refs migrate --ref-format=files".into()));
        }
    }
    for key in ["extensions.preciousObjects", "extensions.relativeWorktrees"] {
        boolean(config, key, git_dir)?;
    }
    Ok(())
}

fn version(config: &File) -> Result<Option<i64>, String> {
    let key = "repositoryFormatVersion";
    let mut core = config.sections_by_name("core").into_iter().flatten();
    // gix takes a key without a value for an absent one.
    if core.any(|section| section.body().value_implicit(key) == Some(None)) {
        return Err(format!("core.{key} has no value"));
    }
    config
        .integer(&format!("core.{key}"))
        .map_err(|error| format!("core.{key} is no number: {}", sentence(&error)))
}

/// Git parses these values, and dies of a wrong one, whatever the version.
fn has_known_value(name: &str, value: Option<&str>) -> bool {
    match name {
        "objectformat" => matches!(value, Some("sha1" | "sha256")),
        "refstorage" => matches!(value, Some("files" | "reftable")),
        "partialclone" => value.is_some(),
        _ => true,
    }
}

struct Extension {
    /// Lower case, as git compares them; `a.b` when there is a subsection.
    name: String,
    value: Option<String>,
}

fn extensions(config: &File) -> Vec<Extension> {
    let mut found = Vec::new();
    for section in config.sections_by_name("extensions").into_iter().flatten() {
        let prefix = section.header().subsection_name().map(|name| format!("{}.", name.to_str_lossy()));
        let body = section.body();
        for name in body.value_names() {
            found.push(Extension {
                value: body.value_implicit(&name).flatten().map(|value| value.to_str_lossy().into_owned()),
                name: format!("{}{}", prefix.as_deref().unwrap_or(""), name.to_ascii_lowercase()),
            });
        }
    }
    found
}

/// Read one configuration file without its includes, as git does to learn a repository's format; `None` if absent.
fn read(path: &Path, source: Source) -> Result<Option<File>, Error> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if layout::absent(&error) => return Ok(None),
        Err(error) => return Err(Error::unreadable(path, error.to_string())),
    };
    File::from_bytes_no_includes(
        &text,
        gix::config::file::Metadata::from(source),
        gix::config::file::init::Options::default(),
    )
    .map(Some)
    .map_err(|error| Error::unreadable(path, sentence(&error)))
}

fn boolean(config: &File, key: &str, git_dir: &Path) -> Result<Option<bool>, Error> {
    config.boolean(key).map_err(|error| {
        Error::unreadable(&git_dir.join("config"), format!("{key} is not a boolean: {}", sentence(&error)))
    })
}
