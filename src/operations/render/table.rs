//! Aligned columns that still read well where there is little room.

use super::Text;
use super::text::ShortIds;
use super::wrap::{Glyph, Wrap, glyphs, longest_word, width, wrap, write};

/// One field of a row.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: Text,
    most: Option<usize>,
}

impl<T: Into<Text>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), most: None }
    }
}

impl Cell {
    /// The text, cut after `lines` lines. Only where the whole is one command away.
    #[must_use]
    pub fn cut(text: impl Into<Text>, lines: usize) -> Self {
        Self { text: text.into(), most: Some(lines) }
    }
}

/// Rows, the first of which may be a header.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) header: Vec<Text>,
    pub(super) rows: Vec<Vec<Cell>>,
    /// Whether long words of the last column stick out, so that they can be copied whole.
    pub(super) keeps_words: bool,
}

/// Columns up to this width, such as ids, are never broken.
const UNBROKEN: usize = 16;
/// A column is not made narrower than half of what it would like, than its longest word, or than
/// this: its texts go below the row instead.
const READABLE: usize = 40;
/// Between two columns.
const GAP: usize = 2;
/// Before a text that went below its row.
const INDENT: usize = 2;

/// Where a column goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Into the row, this wide.
    Beside(usize),
    /// Below the row, on lines of its own.
    Below,
    /// Nowhere: no row has anything in it.
    Nowhere,
}

impl Table {
    pub(super) fn texts(&self) -> impl Iterator<Item = &Text> {
        self.header.iter().chain(self.rows.iter().flatten().map(|cell| &cell.text))
    }

    pub(super) fn write(&self, text: &mut String, ids: &ShortIds, screen: usize, colour: bool) {
        let header: Vec<_> = self.header.iter().map(|name| (glyphs(name.spans(ids)), None)).collect();
        let rows = self
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| (glyphs(cell.text.spans(ids)), cell.most)).collect::<Vec<_>>());
        let rows: Vec<_> = rows.collect();
        let count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let natural: Vec<usize> = (0..count)
            .map(|at| {
                let widths = rows.iter().filter_map(|row| row.get(at)).map(|(cell, _)| width(cell));
                let widest = widths.max().unwrap_or(0);
                let name = header.get(at).map_or(0, |(name, _)| width(name));
                if widest == 0 { 0 } else { widest.max(name) }
            })
            .collect();
        let words = (0..count).map(|at| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            cells.map(|(cell, _)| longest_word(cell)).max().unwrap_or(0)
        });
        let places = places(&natural, &words.collect::<Vec<_>>(), screen);
        for row in Some(&header).filter(|header| !header.is_empty()).into_iter().chain(&rows) {
            self.write_row(text, row, &places, screen, colour);
        }
    }

    fn write_row(
        &self,
        text: &mut String,
        row: &[(Vec<Glyph<'_>>, Option<usize>)],
        places: &[Place],
        screen: usize,
        colour: bool,
    ) {
        let how = Wrap { width: screen, hanging: 0, breaks_words: true, most: None };
        let mut beside = Vec::new();
        let last = places.iter().rposition(|place| matches!(place, Place::Beside(_)));
        for (at, (place, (cell, most))) in places.iter().zip(row).enumerate() {
            if let Place::Beside(width) = *place {
                let breaks_words = !(self.keeps_words && Some(at) == last);
                beside.push((width, wrap(cell, Wrap { width, breaks_words, most: *most, ..how })));
            }
        }
        let height = beside.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
        for at in 0..height {
            // Padding is written when something follows, so that no line ends in it.
            let mut owed = 0;
            for (column, lines) in &beside {
                let line = lines.get(at).map_or(&[][..], Vec::as_slice);
                let used = width(line);
                if used > 0 {
                    text.extend(std::iter::repeat_n(' ', owed));
                    write(text, line, colour);
                    owed = 0;
                }
                owed += column.saturating_sub(used) + GAP;
            }
            text.push('\n');
        }
        for (place, (cell, most)) in places.iter().zip(row) {
            if *place != Place::Below || cell.is_empty() {
                continue;
            }
            for line in wrap(cell, Wrap { width: screen.saturating_sub(INDENT), most: *most, ..how }) {
                text.extend(std::iter::repeat_n(' ', INDENT));
                write(text, &line, colour);
                text.push('\n');
            }
        }
    }
}

/// Where each column goes, from how wide it would like to be and how long its longest word is.
fn places(natural: &[usize], words: &[usize], screen: usize) -> Vec<Place> {
    let beside = |width: usize| if width == 0 { Place::Nowhere } else { Place::Beside(width) };
    let mut places: Vec<_> = natural.iter().map(|width| beside(*width)).collect();
    loop {
        let columns: Vec<_> =
            (0..natural.len()).filter(|at| matches!(places[*at], Place::Beside(_))).collect();
        let gaps = GAP * columns.len().saturating_sub(1);
        let (whole, mut flexible): (Vec<_>, Vec<_>) =
            columns.iter().copied().partition(|at| natural[*at] <= UNBROKEN);
        let whole: usize = whole.into_iter().map(|at| natural[at]).sum();
        let mut room = screen.saturating_sub(gaps + whole);
        let least = |at: usize| (natural[at] / 2).max(words[at]).clamp(UNBROKEN, READABLE);
        let mut readable: usize = flexible.iter().map(|at| least(*at)).sum();
        // The first column says which row it is, and stays.
        let widest = flexible.iter().copied().filter(|at| *at > 0).max_by_key(|at| natural[*at]);
        if whole + gaps + readable > screen
            && let Some(at) = widest.or_else(|| columns.iter().copied().skip(1).last())
        {
            places[at] = Place::Below;
            continue;
        }
        // The narrow ones get what they ask for, the others share the rest, as far as all can be read.
        flexible.sort_by_key(|at| natural[*at]);
        for (done, at) in flexible.iter().enumerate() {
            readable -= least(*at);
            let share = room / (flexible.len() - done);
            let given =
                natural[*at].min(share.max(least(*at)).min(room.saturating_sub(readable).max(share / 2)));
            places[*at] = Place::Beside(given);
            room -= given;
        }
        return places;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_share_the_room_there_is_and_go_below_where_it_is_too_little() {
        use Place::{Below, Beside, Nowhere};
        let places = |natural: &[usize], screen| places(natural, &vec![1; natural.len()], screen);
        assert_eq!(places(&[12, 40, 8], 100), [Beside(12), Beside(40), Beside(8)]);
        assert_eq!(places(&[12, 0, 70, 8], 60), [Beside(12), Nowhere, Beside(36), Beside(8)]);
        assert_eq!(places(&[12, 0, 80, 8], 60), [Beside(12), Nowhere, Below, Beside(8)]);
        assert_eq!(places(&[12, 30, 80], 60), [Beside(12), Beside(30), Below]);
        assert_eq!(places(&[12, 30, 30], 60), [Beside(12), Beside(22), Beside(22)]);
        assert_eq!(places(&[12, 50, 80], 100), [Beside(12), Beside(42), Beside(42)]);
        assert_eq!(places(&[12, 12, 12, 80], 60), [Beside(12), Beside(12), Beside(12), Below]);
        assert_eq!(places(&[12, 12, 8], 20), [Beside(12), Below, Below]);
        assert_eq!(places(&[80], 10), [Beside(10)]);
        assert_eq!(places(&[], 10), []);
        let words = super::places(&[12, 50, 54], &[12, 20, 29], 72);
        assert_eq!(
            words,
            [Beside(12), Beside(27), Beside(29)],
            "long words are not broken for their neighbour"
        );
        assert_eq!(super::places(&[12, 36], &[12, 36], 50), [Beside(12), Beside(36)]);
        assert_eq!(super::places(&[12, 38], &[12, 38], 50), [Beside(12), Below], "a path stays whole");
    }
}
