//! The part of a patch that is about one path.

use std::io::{self, Write};

use gix::objs::tree::EntryKind;

use super::super::{Error, Repository};
use super::changes::{Changed, Side};
use super::{hunks, quote};

/// How far git looks for a byte that text does not have.
const LOOKED_AT: usize = 8_000;
/// Above this size git takes everything for binary.
const LARGEST_TEXT: usize = 512 << 20;

/// Write what the patch says of `changed`.
pub(super) fn file(repository: &Repository, changed: &Changed, to: &mut dyn Write) -> Result<(), Error> {
    // A path that changes its type is deleted and made anew.
    let parts = match (changed.old, changed.new) {
        (Some(old), Some(new)) if !old.is_like(new) => vec![(Some(old), None), (None, Some(new))],
        (old, new) => vec![(old, new)],
    };
    for (old, new) in parts {
        let content = |side: Option<Side>| side.map(|side| content(repository, side)).transpose();
        let differ = old.map(|side| side.id) != new.map(|side| side.id);
        let contents = if differ { (content(old)?, content(new)?) } else { (None, None) };
        part(changed, (old, new), contents, to).map_err(|error| {
            Error::unreadable(repository.git_dir(), format!("the patch cannot be written: {error}"))
        })?;
    }
    Ok(())
}

fn content(repository: &Repository, side: Side) -> Result<Vec<u8>, Error> {
    match side.kind {
        EntryKind::Commit => Ok(format!("Subproject commit {}\n", side.id).into_bytes()),
        _ => repository.blob(side.id),
    }
}

fn part(
    changed: &Changed,
    (old, new): (Option<Side>, Option<Side>),
    (old_content, new_content): (Option<Vec<u8>>, Option<Vec<u8>>),
    to: &mut dyn Write,
) -> io::Result<()> {
    let (a, b) = (quote::quoted("a/", &changed.path), quote::quoted("b/", &changed.path));
    line(to, &[b"diff --git ", &a, b" ", &b])?;
    match (old, new) {
        (None, Some(new)) => writeln!(to, "new file mode {}", new.mode())?,
        (Some(old), None) => writeln!(to, "deleted file mode {}", old.mode())?,
        (Some(old), Some(new)) if old.mode() != new.mode() => {
            write!(to, "old mode {}\nnew mode {}\n", old.mode(), new.mode())?;
        }
        _ => {}
    }
    let (before, after) = (old_content.unwrap_or_default(), new_content.unwrap_or_default());
    if old.map(|side| side.id) == new.map(|side| side.id) {
        return Ok(());
    }
    let null = || old.or(new).map(|side| side.id.kind().null());
    let id = |side: Option<Side>| {
        side.map(|side| side.id).or_else(null).map_or_else(String::new, |id| id.to_string())
    };
    match (old, new) {
        (Some(old_side), Some(new_side)) if old_side.mode() == new_side.mode() => {
            writeln!(to, "index {}..{} {}", id(old), id(new), old_side.mode())?;
        }
        _ => writeln!(to, "index {}..{}", id(old), id(new))?,
    }
    let a = if old.is_some() { a } else { b"/dev/null".to_vec() };
    let b = if new.is_some() { b } else { b"/dev/null".to_vec() };
    if is_binary(&before) || is_binary(&after) {
        return line(to, &[b"Binary files ", &a, b" and ", &b, b" differ"]);
    }
    if before != after {
        // Other programs would end the name at a space.
        let tab = |name: &[u8]| if name.contains(&b' ') { &b"\t"[..] } else { b"" };
        line(to, &[b"--- ", &a, tab(&a)])?;
        line(to, &[b"+++ ", &b, tab(&b)])?;
        hunks::write(&before, &after, to)?;
    }
    Ok(())
}

fn is_binary(content: &[u8]) -> bool {
    content.len() > LARGEST_TEXT || content[..content.len().min(LOOKED_AT)].contains(&0)
}

fn line(to: &mut dyn Write, parts: &[&[u8]]) -> io::Result<()> {
    parts.iter().try_for_each(|part| to.write_all(part))?;
    to.write_all(b"\n")
}
