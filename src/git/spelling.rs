//! Values of the configuration that git takes in any case of letters, and gix in one alone: an error wherever content is
//! converted. And one that means something to gix alone.

/// What makes all refs those of a namespace. Git knows no such key, and no value of it says that there is none.
const NAMESPACE: &str = "gitoxide.core.refsNamespace";

/// Spell them as gix does, and forget what git does not know. A `core.eol` that git does not know counts for none there, and for the system's own here,
/// which is the same.
pub(super) fn spell_as_gix(repository: &mut gix::Repository) -> gix::Result<()> {
    let config = repository.config_snapshot();
    let value = |key: &str| config.string(key).map(|value| value.to_string());
    let mut respelled = Vec::new();
    if let Some(value) = value("core.eol") {
        let lower = value.to_ascii_lowercase();
        let known = if ["lf", "crlf"].contains(&lower.as_str()) { lower } else { "native".to_owned() };
        if known != value {
            respelled.push(("core.eol", known));
        }
    }
    if value("core.autocrlf").is_some_and(|value| value != "input" && value.eq_ignore_ascii_case("input")) {
        respelled.push(("core.autocrlf", "input".to_owned()));
    }
    let namespaced = value(NAMESPACE).is_some();
    if respelled.is_empty() && !namespaced {
        return Ok(());
    }
    let mut config = repository.config_snapshot_mut();
    if namespaced && let Ok(mut values) = config.raw_values_mut(NAMESPACE) {
        values.delete_all();
    }
    for (key, value) in respelled {
        config.set_raw_value(key, value.as_str())?;
    }
    config.commit()?;
    Ok(())
}
