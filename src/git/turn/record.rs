//! What whoever has the turn is doing to a ref: first which one, then by which locks of Git's.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use gix::refs::FullName;

use super::super::identity::Identity;

/// One change of a ref, from before its lock is taken until after it is given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// The ref.
    pub name: FullName,
    /// What the ref is to name; `None` when it is to go.
    pub new: Option<String>,
    /// The locks that were taken; `None` before that.
    pub held: Option<Vec<Held>>,
}

/// Which lock of Git's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// That of the ref.
    Ref,
    /// That of all packed refs.
    Packed,
}

/// A lock of Git's that we held: which file it was, not only where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    pub kind: Kind,
    pub file: Identity,
}

impl Kind {
    const ALL: [(Self, &str); 2] = [(Self::Ref, "ref"), (Self::Packed, "packed-refs")];

    /// Where the lock is when `name` is changed.
    pub(super) fn path(self, common_dir: &Path, name: &FullName) -> PathBuf {
        let path = match self {
            Self::Ref => common_dir.join(gix::path::from_bstr(name.as_bstr()).unwrap_or_default()),
            Self::Packed => common_dir.join("packed-refs"),
        };
        let mut path = path.into_os_string();
        path.push(".lock");
        path.into()
    }
}

impl Held {
    /// The lock at `path`; `None` where there is none, or it could not be told from one that comes after it.
    pub(super) fn at(path: &Path, kind: Kind) -> Option<Self> {
        let file = match kind {
            Kind::Ref => Identity::of_final(path)?,
            // Once it is held, all packed refs are written to it.
            Kind::Packed => Identity::at(path)?,
        };
        Some(Self { kind, file })
    }
}

impl Record {
    /// The line that comes before the lock is taken.
    pub(super) fn begun(&self) -> Vec<u8> {
        format!("changing {} {}\n", self.new.as_deref().unwrap_or("-"), self.name.as_bstr()).into_bytes()
    }

    /// What is appended once `held` are: a line for each, and one that says that these are all.
    pub(super) fn locked(held: &[Held]) -> Vec<u8> {
        let mut text = String::new();
        for Held { kind, file } in held {
            let word = Kind::ALL.iter().find(|(known, _)| known == kind).map_or("", |(_, word)| word);
            // Writing to a string does not fail.
            let _ = writeln!(text, "held {word} {file}");
        }
        text.push_str("locked\n");
        text.into_bytes()
    }

    /// `None` for what is no record, or was cut short in the first line.
    pub(super) fn decode(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let (new, name) = lines.next()?.strip_prefix("changing ")?.split_once(' ')?;
        let new = Some(new).filter(|new| *new != "-").map(str::to_owned);
        let name = FullName::try_from(name).ok().filter(|name| name.as_bstr().starts_with(b"refs/"))?;
        let mut held = Vec::new();
        for line in lines {
            if line == "locked" {
                return Some(Self { name, new, held: Some(held) });
            }
            held.push(one_held(line)?);
        }
        Some(Self { name, new, held: None })
    }
}

fn one_held(line: &str) -> Option<Held> {
    let (word, file) = line.strip_prefix("held ")?.split_once(' ')?;
    let (kind, _) = Kind::ALL.into_iter().find(|(_, known)| *known == word)?;
    Some(Held { kind, file: file.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(new: Option<&str>, held: Option<Vec<Held>>) -> Record {
        let name = FullName::try_from("refs/foremerge/a/ü").unwrap();
        Record { name, new: new.map(str::to_owned), held }
    }

    #[test]
    fn a_record_cut_short_anywhere_says_less_and_nothing_else() {
        let held = [(Kind::Ref, "1:345"), (Kind::Packed, "2:345")];
        let held = held.map(|(kind, file)| Held { kind, file: file.parse().unwrap() });
        for new in [Some("0123"), None] {
            let begun = record(new, None);
            let whole = record(new, Some(held.to_vec()));
            let text = [begun.begun(), Record::locked(&held)].concat();
            assert_eq!(Record::decode(&text), Some(whole));
            for length in 0..text.len() {
                let expected = (length >= begun.begun().len()).then(|| begun.clone());
                assert_eq!(Record::decode(&text[..length]), expected, "{length}");
            }
        }
    }

    #[test]
    fn what_is_no_record_names_nothing_to_remove() {
        for text in [
            "",
            "\n",
            "changing\n",
            "changing - ../../x\n",
            "changing - HEAD\n",
            "changing - refs/a\nheld tags 1:2\nlocked\n",
        ] {
            assert_eq!(Record::decode(text.as_bytes()), None, "{text:?}");
        }
    }
}
