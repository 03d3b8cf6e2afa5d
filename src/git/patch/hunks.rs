//! The hunks of a unified diff, as git lays them out.

use std::io::{self, Write};
use std::ops::Range;

use gix::diff::blob::{Algorithm, Diff, Hunk, InternedInput};

/// Lines of context.
const CONTEXT: usize = 3;
/// Git keeps as much of the line that names a function.
const LONGEST_FUNCTION: usize = 80;
/// The whole head of a hunk, its end of line included, fits into git's buffer.
const LONGEST_HEAD: usize = 128;

/// The lines of `before` and `after` that differ, counted from 0.
pub(super) fn differences(before: &[u8], after: &[u8]) -> Vec<(Range<usize>, Range<usize>)> {
    let range = |lines: &Range<u32>| lines.start as usize..lines.end as usize;
    difference(before, after).hunks().map(|Hunk { before, after }| (range(&before), range(&after))).collect()
}

fn difference(before: &[u8], after: &[u8]) -> Diff {
    // Filled by hand: gix would reserve room by a guess from the first lines.
    let mut input = InternedInput::<&[u8]>::default();
    input.update_before(lines(before));
    input.update_after(lines(after));
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    diff
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// Write the hunks that turn `before` into `after`.
pub(super) fn write(before: &[u8], after: &[u8], to: &mut dyn Write) -> io::Result<()> {
    let changes = differences(before, after);
    let (old, new): (Vec<_>, Vec<_>) = (lines(before).collect(), lines(after).collect());
    let mut functions = Functions { old: &old, seen: 0, last: &[] };
    let near = |one: &(Range<usize>, _), other: &(Range<usize>, _)| other.0.start - one.0.end <= 2 * CONTEXT;
    for group in changes.chunk_by(near) {
        let (Some((first_old, first_new)), Some((last_old, last_new))) = (group.first(), group.last()) else {
            continue;
        };
        let (start_old, start_new) =
            (first_old.start.saturating_sub(CONTEXT), first_new.start.saturating_sub(CONTEXT));
        let tail = CONTEXT.min(old.len() - last_old.end).min(new.len() - last_new.end);
        let (end_old, end_new) = (last_old.end + tail, last_new.end + tail);
        let function = functions.before(start_old);
        to.write_all(&head(start_old..end_old, start_new..end_new, function))?;
        let mut at = start_new;
        for (removed, added) in group {
            marked(b' ', &new[at..added.start], to)?;
            marked(b'-', &old[removed.clone()], to)?;
            marked(b'+', &new[added.clone()], to)?;
            at = added.end;
        }
        marked(b' ', &new[at..end_new], to)?;
    }
    Ok(())
}

fn marked(mark: u8, lines: &[&[u8]], to: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        to.write_all(&[mark])?;
        to.write_all(line)?;
        if !line.ends_with(b"\n") {
            to.write_all(b"\n\\ No newline at end of file\n")?;
        }
    }
    Ok(())
}

/// The lines that git takes for the beginning of a function: they begin with a letter, `_` or `$`.
struct Functions<'t> {
    old: &'t [&'t [u8]],
    /// Lines before this one were looked at.
    seen: usize,
    last: &'t [u8],
}

impl<'t> Functions<'t> {
    /// The last such line before `line`.
    fn before(&mut self, line: usize) -> &'t [u8] {
        let begins = |line: &&&[u8]| matches!(line.first(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$'));
        let between = &self.old[self.seen.min(line)..line];
        if let Some(found) = between.iter().rev().find(begins) {
            let cut = &found[..found.len().min(LONGEST_FUNCTION)];
            let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
            self.last = &cut[..cut.iter().rposition(|byte| !space(byte)).map_or(0, |last| last + 1)];
        }
        self.seen = line;
        self.last
    }
}

fn head(old: Range<usize>, new: Range<usize>, function: &[u8]) -> Vec<u8> {
    let range = |lines: Range<usize>| match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    };
    let mut head = format!("@@ -{} +{} @@", range(old), range(new)).into_bytes();
    if !function.is_empty() {
        head.push(b' ');
        let room = LONGEST_HEAD.saturating_sub(head.len() + 1);
        head.extend_from_slice(&function[..function.len().min(room)]);
    }
    head.truncate(readable(&head));
    head.push(b'\n');
    head
}

/// How much of a head git prints: it stops before the first byte that is not UTF-8, or at two code points it does not
/// take for characters.
fn readable(head: &[u8]) -> usize {
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
    };
    valid.find(['\u{fffe}', '\u{ffff}']).unwrap_or(valid.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head_of(function: &[u8]) -> String {
        String::from_utf8(head(0..1, 1..1, function)).unwrap()
    }

    #[test]
    fn a_head_ends_where_its_text_is_no_longer_utf_8() {
        assert_eq!(head_of(b"fn \xc3\xa4()"), "@@ -1 +1,0 @@ fn \u{e4}()\n");
        assert_eq!(head_of(b"fn \xe4()"), "@@ -1 +1,0 @@ fn \n");
        assert_eq!(head_of("fn \u{ffff}()".as_bytes()), "@@ -1 +1,0 @@ fn \n");
    }

    #[test]
    fn changes_up_to_six_lines_apart_share_a_hunk() {
        let text = |changed: &[usize]| -> Vec<u8> {
            (0..30)
                .flat_map(|line| {
                    format!("{line}{}\n", if changed.contains(&line) { "!" } else { "" }).into_bytes()
                })
                .collect()
        };
        for (second, hunks) in [(17, 1), (18, 2)] {
            let mut patch = Vec::new();
            write(&text(&[]), &text(&[10, second]), &mut patch).unwrap();
            assert_eq!(patch.windows(4).filter(|bytes| bytes == b"@@ -").count(), hunks);
        }
    }
}
