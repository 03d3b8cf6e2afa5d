//! Which of Git's locks a predecessor left that died in its turn, and which are somebody's who lives.

use std::path::Path;
use std::time::{Duration, SystemTime};

use gix::lock::acquire::Fail;

use super::record::{Held, Kind, Record};

/// How soon after its record a process takes the lock that it wrote of; it does nothing in between.
const AT_ONCE: Duration = Duration::from_millis(100);

/// Remove the locks that whoever wrote `record`, at the moment `written`, died over. One that may be somebody else's is
/// given `patience`.
pub(super) fn clear(common_dir: &Path, record: &Record, written: SystemTime, patience: Duration) {
    // What cannot be removed is named to whoever it is in the way of.
    if let Some(held) = &record.held {
        for held in held {
            let path = held.kind.path(common_dir, &record.name);
            if Held::at(&path, held.kind).as_ref() == Some(held) {
                let _ = std::fs::remove_file(path);
            }
        }
        return;
    }
    for kind in [Kind::Packed, Kind::Ref] {
        let path = kind.path(common_dir, &record.name);
        if may_be_of(record, written, &path, kind) && stays(&path, kind, patience) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Whether the lock at `path` may be that of a process that died between its record and the note of its locks: it holds
/// nothing, or what was to be written, and was taken just after the record. One of git's is so only by a chance in
/// that very moment.
fn may_be_of(record: &Record, written: SystemTime, path: &Path, kind: Kind) -> bool {
    let Ok(found) = std::fs::symlink_metadata(path) else { return false };
    let Ok(text) = std::fs::read(path) else { return false };
    let after = found.modified().ok().and_then(|taken| taken.duration_since(written).ok());
    let is_like_it = match kind {
        Kind::Ref => record.new.as_deref().unwrap_or_default().as_bytes().starts_with(text.trim_ascii_end()),
        Kind::Packed => text.is_empty() && !is_git_packing(path),
    };
    found.is_file() && is_like_it && after.is_some_and(|after| after <= AT_ONCE)
}

/// Whether a git that has the lock of packed refs writes them anew: it begins at once, and in a file of its own.
fn is_git_packing(lock: &Path) -> bool {
    lock.with_extension("new").exists()
}

/// Whether the lock stays for so long. Whoever lives gives it back, as a rule.
fn stays(path: &Path, kind: Kind, patience: Duration) -> bool {
    let before = Held::at(path, kind);
    let patience = Fail::AfterDurationWithBackoff(patience);
    // Taken by us, it is given back at once.
    let there =
        gix::lock::Marker::acquire_to_hold_resource(path.with_extension(""), patience, None, 0).is_err();
    there
        && before.is_some()
        && Held::at(path, kind) == before
        && !(kind == Kind::Packed && is_git_packing(path))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use gix::refs::FullName;

    use super::*;

    const NEW: &str = "0123456789";
    const SOON: Duration = Duration::from_millis(1);

    /// Whether a lock that holds `text`, taken so many milliseconds after the record, is taken for its leftover.
    fn is_leftover(new: Option<&str>, text: &str, after: i64) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let name = FullName::try_from("refs/a").unwrap();
        std::fs::create_dir(dir.path().join("refs")).unwrap();
        let path = Kind::Ref.path(dir.path(), &name);
        std::fs::write(&path, text).unwrap();
        let written = std::fs::metadata(&path).unwrap().modified().unwrap();
        let moved = Duration::from_millis(after.unsigned_abs());
        let taken = if after < 0 { written - moved } else { written + moved };
        File::options().write(true).open(&path).unwrap().set_modified(taken).unwrap();
        clear(dir.path(), &Record { name, new: new.map(str::to_owned), held: None }, written, SOON);
        !path.exists()
    }

    #[test]
    fn before_its_lock_was_noted_only_one_taken_at_once_for_the_same_end_is_its() {
        for (text, after) in [("", 0), ("0123", 1), ("0123456789", 100), ("0123456789\n", 7)] {
            assert!(is_leftover(Some(NEW), text, after), "{text:?} {after}");
        }
        assert!(is_leftover(None, "", 0));
        for (text, after) in [("", -1), ("", 101), ("0123456789", 5_000), ("9", 0), ("01234567890", 0)] {
            assert!(!is_leftover(Some(NEW), text, after), "{text:?} {after}");
        }
        assert!(!is_leftover(None, NEW, 0));
    }

    #[test]
    fn the_lock_of_packed_refs_is_its_only_while_it_is_empty_and_no_git_packs() {
        for (text, packing, is_leftover) in
            [("", false, true), ("", true, false), ("# pack-refs", false, false)]
        {
            let dir = tempfile::tempdir().unwrap();
            let name = FullName::try_from("refs/a").unwrap();
            let path = Kind::Packed.path(dir.path(), &name);
            std::fs::write(&path, text).unwrap();
            if packing {
                std::fs::write(dir.path().join("packed-refs.new"), "").unwrap();
            }
            let written = std::fs::metadata(&path).unwrap().modified().unwrap();
            let record = Record { name, new: None, held: None };
            clear(dir.path(), &record, written - Duration::from_millis(101), SOON);
            assert!(path.exists(), "{text:?} {packing}");
            clear(dir.path(), &record, written, SOON);
            assert_eq!(!path.exists(), is_leftover, "{text:?} {packing}");
        }
    }

    #[test]
    fn one_that_may_be_somebodys_is_left_when_it_is_given_back_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.lock");
        std::fs::write(&path, "").unwrap();
        assert!(stays(&path, Kind::Ref, SOON));
        std::fs::remove_file(&path).unwrap();
        assert!(!stays(&path, Kind::Ref, SOON));
        assert!(!path.exists(), "the one that was taken to see is given back");
    }

    #[test]
    fn a_lock_that_was_noted_is_its_and_no_other_in_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let name = FullName::try_from("refs/a").unwrap();
        std::fs::create_dir(dir.path().join("refs")).unwrap();
        for kind in [Kind::Ref, Kind::Packed] {
            let path = kind.path(dir.path(), &name);
            std::fs::write(&path, "").unwrap();
            let Some(held) = Held::at(&path, kind) else {
                eprintln!("SKIPPED: no times of creation here");
                return;
            };
            let record = Record { name: name.clone(), new: None, held: Some(vec![held]) };
            let kept = dir.path().join("kept");
            std::fs::rename(&path, &kept).unwrap();
            std::fs::write(&path, "").unwrap();
            clear(dir.path(), &record, SystemTime::UNIX_EPOCH, SOON);
            assert!(path.exists(), "{kind:?}");
            std::fs::rename(&kept, &path).unwrap();
            clear(dir.path(), &record, SystemTime::UNIX_EPOCH, SOON);
            assert!(!path.exists(), "{kind:?}");
        }
    }
}
