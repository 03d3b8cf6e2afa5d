//! Breaking text into lines, by the columns a terminal gives to each character.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::Style;
use super::text::Span;

/// What a terminal shows as one character.
#[derive(Debug, Clone, Copy)]
pub(super) struct Glyph<'t> {
    style: Style,
    text: &'t str,
    width: usize,
}

const ELLIPSIS: Glyph<'static> = Glyph { style: Style::Dim, text: "…", width: 1 };

pub(super) fn glyphs<'t>(spans: impl Iterator<Item = Span<'t>>) -> Vec<Glyph<'t>> {
    let of_span = |(style, text): Span<'t>| {
        text.graphemes(true).map(move |text| Glyph { style, text, width: text.width() })
    };
    spans.flat_map(of_span).collect()
}

pub(super) fn width(glyphs: &[Glyph<'_>]) -> usize {
    glyphs.iter().map(|glyph| glyph.width).sum()
}

/// Columns of the longest stretch that has no place to break.
pub(super) fn longest_word(glyphs: &[Glyph<'_>]) -> usize {
    let words = glyphs.split(|glyph| glyph.text == " " || glyph.width > 1);
    words.map(width).max().unwrap_or(0)
}

/// How a text is broken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrap {
    /// Columns of a line.
    pub(super) width: usize,
    /// Columns that every line but the first loses to indentation.
    pub(super) hanging: usize,
    /// Whether a word that is longer than a line is broken; otherwise it sticks out.
    pub(super) breaks_words: bool,
    /// Lines after which the rest is cut.
    pub(super) most: Option<usize>,
}

/// The lines of a text.
pub(super) fn wrap<'t>(glyphs: &[Glyph<'t>], how: Wrap) -> Vec<Vec<Glyph<'t>>> {
    let mut lines: Vec<Vec<Glyph<'t>>> = Vec::new();
    let mut rest = glyphs;
    loop {
        let room = if lines.is_empty() { how.width } else { how.width.saturating_sub(how.hanging) }.max(1);
        let end = line_end(rest, room, how.breaks_words);
        let (line, after) = rest.split_at(end);
        let after = &after[after.iter().take_while(|glyph| glyph.text == " ").count()..];
        let last = how.most.is_some_and(|most| lines.len() + 1 >= most);
        if last && !after.is_empty() {
            lines.push(cut(rest, room));
            return lines;
        }
        let kept = if after.is_empty() { line } else { trimmed(line) };
        lines.push(kept.to_vec());
        if after.is_empty() {
            return lines;
        }
        rest = after;
    }
}

/// The line without the spaces it ends in.
fn trimmed<'l, 't>(line: &'l [Glyph<'t>]) -> &'l [Glyph<'t>] {
    let spaces = line.iter().rev().take_while(|glyph| glyph.text == " ").count();
    &line[..line.len() - spaces]
}

/// How much of a text goes on a line of `room` columns: at least something.
fn line_end(glyphs: &[Glyph<'_>], room: usize, breaks_words: bool) -> usize {
    let mut used = 0;
    let mut opportunity = None;
    // Indentation is no place to break.
    let indented = glyphs.iter().take_while(|glyph| glyph.text == " ").count();
    for (at, glyph) in glyphs.iter().enumerate() {
        let is_space = glyph.text == " ";
        // Wide characters are words of their own.
        if at > indented && (is_space || glyph.width > 1 || glyphs[at - 1].width > 1) {
            opportunity = Some(at);
        }
        used += glyph.width;
        if used > room && !is_space {
            match opportunity {
                Some(opportunity) => return opportunity,
                None if breaks_words && at > 0 => return at,
                None => {}
            }
            if !breaks_words {
                let word = glyphs[at..].iter().position(|glyph| glyph.text == " ");
                return word.map_or(glyphs.len(), |word| at + word);
            }
        }
    }
    glyphs.len()
}

/// As much of a text as a line holds, with a sign that something is missing.
fn cut<'t>(text: &[Glyph<'t>], room: usize) -> Vec<Glyph<'t>> {
    let mut used = ELLIPSIS.width;
    let fits = text.iter().take_while(|glyph| {
        used += glyph.width;
        used <= room
    });
    let mut kept: Vec<_> = fits.copied().collect();
    kept.truncate(trimmed(&kept).len());
    kept.push(ELLIPSIS);
    kept
}

/// Adds glyphs to a text, with their looks where `colour` asks for it.
pub(super) fn write(text: &mut String, glyphs: &[Glyph<'_>], colour: bool) {
    for run in glyphs.chunk_by(|one, next| one.style == next.style) {
        let style = run[0].style.ansi();
        let looks = colour && run[0].style != Style::Plain;
        if looks {
            text.push_str(&style.render().to_string());
        }
        text.extend(run.iter().map(|glyph| glyph.text));
        if looks {
            text.push_str(&style.render_reset().to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, how: Wrap) -> Vec<String> {
        let lines = wrap(&glyphs([(Style::Plain, text)].into_iter()), how);
        let shown = |line: &Vec<Glyph<'_>>| line.iter().map(|glyph| glyph.text).collect();
        lines.iter().map(shown).collect()
    }

    const TEN: Wrap = Wrap { width: 10, hanging: 0, breaks_words: true, most: None };

    #[test]
    fn lines_break_between_words_and_long_words_break_anywhere() {
        assert_eq!(wrapped("", TEN), [""]);
        assert_eq!(wrapped("one two three", TEN), ["one two", "three"]);
        assert_eq!(wrapped("0123456789 x", TEN), ["0123456789", "x"]);
        assert_eq!(wrapped("0123456789abc x", TEN), ["0123456789", "abc x"]);
        assert_eq!(wrapped("a 0123456789abc", TEN), ["a", "0123456789", "abc"]);
    }

    #[test]
    fn a_long_word_sticks_out_where_it_must_stay_whole() {
        let whole = Wrap { breaks_words: false, ..TEN };
        assert_eq!(wrapped("a 0123456789abc def", whole), ["a", "0123456789abc", "def"]);
        let hanging = Wrap { hanging: 4, ..whole };
        assert_eq!(wrapped("one two three", hanging), ["one two", "three"]);
        assert_eq!(wrapped("one two 34 56 7", hanging), ["one two 34", "56 7"]);
        assert_eq!(wrapped("    0123456789", whole), ["    0123456789"]);
    }

    #[test]
    fn wide_characters_take_two_columns_and_marks_none() {
        assert_eq!(wrapped("漢字漢字漢字", TEN), ["漢字漢字漢", "字"]);
        assert_eq!(wrapped("e\u{301}e\u{301}e\u{301}e\u{301}e\u{301} 12345", TEN).len(), 2);
        assert_eq!(wrapped("👍🏽👍🏽👍🏽👍🏽👍🏽👍🏽", TEN), ["👍🏽👍🏽👍🏽👍🏽👍🏽", "👍🏽"]);
    }

    #[test]
    fn what_is_cut_ends_in_a_sign_that_it_was() {
        let one = Wrap { most: Some(1), ..TEN };
        assert_eq!(wrapped("one two three", one), ["one two t…"]);
        assert_eq!(wrapped("0123456789", one), ["0123456789"]);
        assert_eq!(wrapped("0123456789a", one), ["012345678…"]);
        assert_eq!(wrapped("a b c d e f g h", Wrap { most: Some(2), width: 3, ..TEN }), ["a b", "c…"]);
    }
}
