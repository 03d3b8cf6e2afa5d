//! Which lines git's merges take for changed: its histogram diff and what it does afterwards with groups of changed
//! lines that could stand elsewhere. Where lines repeat, any other diff pairs them differently, and so merges otherwise.

use std::collections::HashMap;
use std::ops::Range;

/// Where a line occurs more often than this, git compares in another way.
const MOST: usize = 64;

/// The lines of two texts, equal ones under one number.
pub(super) struct Lines<'a>(HashMap<&'a [u8], u32>);

/// Lines of the base, and the lines that stand in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    pub before: Range<usize>,
    pub after: Range<usize>,
}

impl<'a> Lines<'a> {
    pub fn new() -> Self {
        Self(HashMap::new())
    }

    pub fn of(&mut self, text: &'a [u8]) -> Vec<u32> {
        let mut numbers = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
            numbers.push(*self.0.entry(line).or_insert(next));
        }
        numbers
    }
}

/// What changed from `one` to `other`; `None` where git falls back to another diff.
pub(super) fn hunks(one: &[u32], other: &[u32]) -> Option<Vec<Hunk>> {
    let (mut old, mut new) = (Side::new(one), Side::new(other));
    let mut open = vec![(0..one.len(), 0..other.len())];
    while let Some((a, b)) = open.pop() {
        if a.is_empty() || b.is_empty() {
            old.changed[a].fill(true);
            new.changed[b].fill(true);
            continue;
        }
        match common(one, other, a.clone(), b.clone()) {
            Common::None => {
                old.changed[a].fill(true);
                new.changed[b].fill(true);
            }
            Common::Region { a: common_a, b: common_b } => {
                open.push((common_a.end..a.end, common_b.end..b.end));
                open.push((a.start..common_a.start, b.start..common_b.start));
            }
            Common::TooOften => return None,
        }
    }
    compact(&mut old, &mut new);
    compact(&mut new, &mut old);
    let (mut found, mut at, mut there) = (Vec::new(), 0, 0);
    while at < one.len() || there < other.len() {
        let hunk = Hunk { before: at..old.end(at), after: there..new.end(there) };
        (at, there) = (hunk.before.end + 1, hunk.after.end + 1);
        if !hunk.before.is_empty() || !hunk.after.is_empty() {
            found.push(hunk);
        }
    }
    Some(found)
}

enum Common {
    None,
    Region { a: Range<usize>, b: Range<usize> },
    TooOften,
}

/// The common lines of which the rarest is the rarest of all, and the most of them.
fn common(one: &[u32], other: &[u32], a: Range<usize>, b: Range<usize>) -> Common {
    let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
    for at in a.clone() {
        places.entry(one[at]).or_default().push(at);
    }
    let count = |at: usize| places.get(&one[at]).map_or(0, Vec::len);
    let mut best: Option<(Range<usize>, Range<usize>)> = None;
    let (mut rarest, mut any, mut there) = (MOST + 1, false, b.start);
    while there < b.end {
        let mut next = there + 1;
        let found = places.get(&other[there]).map_or(&[][..], Vec::as_slice);
        any |= !found.is_empty();
        let mut after = a.start;
        // Git asks once how often the line occurs, not again at each of its places.
        let places_here = if found.len() <= rarest { found } else { &[] };
        for at in places_here.iter().copied() {
            if at < after {
                continue;
            }
            let mut rare = found.len();
            let (mut from, mut to) = ((at, there), (at + 1, there + 1));
            while from.0 > a.start && from.1 > b.start && one[from.0 - 1] == other[from.1 - 1] {
                from = (from.0 - 1, from.1 - 1);
                rare = rare.min(count(from.0));
            }
            while to.0 < a.end && to.1 < b.end && one[to.0] == other[to.1] {
                rare = rare.min(count(to.0));
                to = (to.0 + 1, to.1 + 1);
            }
            next = next.max(to.1);
            after = to.0;
            let length = best.as_ref().map_or(1, |(a, _)| a.len());
            if length < to.0 - from.0 || rare < rarest {
                best = Some((from.0..to.0, from.1..to.1));
                rarest = rare;
            }
        }
        there = next;
    }
    match best {
        _ if any && rarest > MOST => Common::TooOften,
        Some((a, b)) => Common::Region { a, b },
        None => Common::None,
    }
}

/// The lines of one text, and which of them changed.
struct Side<'l> {
    lines: &'l [u32],
    changed: Vec<bool>,
}

/// A run of changed lines, which may be empty, before an unchanged one or the end.
type Group = Range<usize>;

impl Side<'_> {
    fn new(lines: &[u32]) -> Side<'_> {
        Side { lines, changed: vec![false; lines.len()] }
    }

    fn is_changed(&self, at: usize) -> bool {
        self.changed.get(at).copied().unwrap_or(false)
    }

    fn end(&self, mut at: usize) -> usize {
        while self.is_changed(at) {
            at += 1;
        }
        at
    }

    fn start(&self, mut at: usize) -> usize {
        while at > 0 && self.is_changed(at - 1) {
            at -= 1;
        }
        at
    }

    fn next(&self, group: &mut Group) -> bool {
        let more = group.end < self.lines.len();
        if more {
            *group = group.end + 1..self.end(group.end + 1);
        }
        more
    }

    fn previous(&self, group: &mut Group) {
        if group.start > 0 {
            *group = self.start(group.start - 1)..group.start - 1;
        }
    }

    fn slide_up(&mut self, group: &mut Group) -> bool {
        let can = group.start > 0 && self.lines[group.start - 1] == self.lines[group.end - 1];
        if can {
            self.changed[group.start - 1] = true;
            self.changed[group.end - 1] = false;
            *group = self.start(group.start - 1)..group.end - 1;
        }
        can
    }

    fn slide_down(&mut self, group: &mut Group) -> bool {
        let can = group.end < self.lines.len() && self.lines[group.start] == self.lines[group.end];
        if can {
            self.changed[group.start] = false;
            self.changed[group.end] = true;
            *group = group.start + 1..self.end(group.end + 1);
        }
        can
    }
}

/// Move each group of `side` down as far as it goes, or to where `other` has one, too.
fn compact(side: &mut Side<'_>, other: &mut Side<'_>) {
    let mut group = 0..side.end(0);
    let mut beside = 0..other.end(0);
    loop {
        if !group.is_empty() {
            let (mut earliest, mut matching);
            loop {
                let length = group.len();
                while side.slide_up(&mut group) {
                    other.previous(&mut beside);
                }
                earliest = group.end;
                matching = !beside.is_empty();
                while side.slide_down(&mut group) {
                    other.next(&mut beside);
                    matching |= !beside.is_empty();
                }
                if length == group.len() {
                    break;
                }
            }
            while group.end != earliest && matching && beside.is_empty() && side.slide_up(&mut group) {
                other.previous(&mut beside);
            }
        }
        if !side.next(&mut group) {
            return;
        }
        other.next(&mut beside);
    }
}
