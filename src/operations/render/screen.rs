//! A screen: what an answer writes, laid out once all of it is known.

use std::time::Duration;

use super::table::{Cell, Table};
use super::text::ShortIds;
use super::wrap::{Wrap, glyphs, wrap, write};
use super::{Style, Text, Whereabouts, bold};
use crate::domain::Timestamp;

/// Text for a person, as wide as their terminal.
pub struct Screen {
    blocks: Vec<Block>,
    width: u16,
    colour: bool,
    now: Timestamp,
    there: Whereabouts,
}

enum Block {
    Line(Text),
    /// To be copied: not broken, however long.
    Command(Text),
    /// For a program to read: as it stands, however long.
    Verbatim(Text),
    Gap,
    Table(Table),
}

impl Screen {
    /// An empty screen of `width` columns, without colours.
    #[must_use]
    pub fn new(width: u16, now: Timestamp) -> Self {
        Self { blocks: Vec::new(), width, colour: false, now, there: Whereabouts::default() }
    }

    /// The same, with colours if `colour`.
    #[must_use]
    pub fn coloured(self, colour: bool) -> Self {
        Self { colour, ..self }
    }

    /// The same, with commands that act `there`.
    #[must_use]
    pub fn about(self, there: Whereabouts) -> Self {
        Self { there, ..self }
    }

    /// What was written.
    #[must_use]
    pub fn into_text(self) -> String {
        let ids = ShortIds::among(self.blocks.iter().flat_map(|block| -> Box<dyn Iterator<Item = &Text>> {
            match block {
                Block::Line(text) | Block::Command(text) | Block::Verbatim(text) => {
                    Box::new(std::iter::once(text))
                }
                Block::Gap => Box::new(std::iter::empty()),
                Block::Table(table) => Box::new(table.texts()),
            }
        }));
        let width = usize::from(self.width);
        let mut text = String::new();
        for block in &self.blocks {
            match block {
                Block::Line(line) => {
                    let line = glyphs(line.spans(&ids));
                    let words: String = plain_words(&line);
                    // What follows a list item or an indented line stands below it.
                    let hanging = words.len() - words.trim_start().len();
                    let how = Wrap { width, hanging, breaks_words: false, most: None };
                    for (at, line) in wrap(&line, how).iter().enumerate() {
                        text.extend(std::iter::repeat_n(' ', if at == 0 { 0 } else { hanging }));
                        write(&mut text, line, self.colour);
                        text.push('\n');
                    }
                }
                Block::Command(words) | Block::Verbatim(words) => {
                    text.push_str(if matches!(block, Block::Command(_)) { "  " } else { "" });
                    write(&mut text, &glyphs(words.spans(&ids)), self.colour);
                    text.push('\n');
                }
                Block::Gap => text.push('\n'),
                Block::Table(table) => table.write(&mut text, &ids, width, self.colour),
            }
        }
        text
    }

    /// A paragraph; nothing in it can control the terminal.
    pub fn line(&mut self, line: impl Into<Text>) {
        self.blocks.push(Block::Line(line.into()));
    }

    /// The head of a section.
    pub fn heading(&mut self, heading: impl std::fmt::Display) {
        self.line(bold(heading));
    }

    /// A line that says what may go wrong.
    pub fn warning(&mut self, warning: impl Into<Text>) {
        self.line(Text::default().styled(Style::Warning, "warning: ").then(warning));
    }

    /// A command to copy, on a line of its own.
    pub fn command(&mut self, command: impl Into<Text>) {
        self.blocks.push(Block::Command(command.into().acting(&self.there)));
    }

    /// A line that a program reads: not broken, and not moved.
    pub fn verbatim(&mut self, line: impl Into<Text>) {
        self.blocks.push(Block::Verbatim(line.into()));
    }

    /// An empty line, unless the screen ends in one or is empty.
    pub fn gap(&mut self) {
        if !matches!(self.blocks.last(), None | Some(Block::Gap)) {
            self.blocks.push(Block::Gap);
        }
    }

    /// Names and values in two columns.
    pub fn fields<'f, T: Into<Text>>(&mut self, fields: impl IntoIterator<Item = (&'f str, T)>) {
        let row = |(name, value): (&str, T)| vec![Cell::from(name), Cell::from(value)];
        let rows = fields.into_iter().map(row).collect();
        self.blocks.push(Block::Table(Table { header: Vec::new(), rows, keeps_words: true }));
    }

    /// Aligned columns under `header`, which may be empty. Columns without content are left out;
    /// where there is little room, long texts go below their row.
    pub fn table<C: Into<Cell>>(&mut self, header: &[&str], rows: impl IntoIterator<Item = Vec<C>>) {
        let rows: Vec<Vec<Cell>> =
            rows.into_iter().map(|row| row.into_iter().map(Into::into).collect()).collect();
        let header = header.iter().map(bold).collect();
        self.blocks.push(Block::Table(Table { header, rows, keeps_words: false }));
    }

    /// Says how a list goes on that was cut to one page.
    pub fn rest(&mut self, shown: usize, total: u64, next: Option<impl std::fmt::Display>, option: &str) {
        if let Some(next) = next {
            self.line(format!("{shown} of {total} shown; the rest: {option} {next}"));
        }
    }

    /// Says how much of a section is not shown.
    pub fn more(&mut self, shown: usize, total: u64) {
        self.more_in(shown, total, "");
    }

    /// Says how much of a section is not shown, and which command shows it, if any does.
    pub fn more_in(&mut self, shown: usize, total: u64, command: &str) {
        let hidden = total.saturating_sub(shown as u64);
        let colon = if command.is_empty() { "" } else { ": " };
        if hidden > 0 {
            let command = self.typed(command);
            self.line(super::dim(format!("… and {hidden} more{colon}{command}")));
        }
    }

    /// A command as it is typed to act where this call did.
    #[must_use]
    pub fn typed(&self, command: &str) -> String {
        self.there.of(command)
    }

    /// How long ago a moment was.
    #[must_use]
    pub fn ago(&self, moment: Timestamp) -> String {
        match span(self.now.since(moment)) {
            Some(span) => format!("{span} ago"),
            None => "just now".to_owned(),
        }
    }

    /// How far ahead a moment is, a minute that has begun counted whole.
    #[must_use]
    pub fn ahead(&self, moment: Timestamp) -> String {
        let ahead = moment.since(self.now).saturating_add(Duration::from_secs(59));
        span(ahead).map_or_else(|| "for no time".to_owned(), |span| format!("for {span}"))
    }
}

fn plain_words(line: &[super::wrap::Glyph<'_>]) -> String {
    let mut words = String::new();
    write(&mut words, line, false);
    words
}

/// A length of time in its largest whole unit; `None` below a minute.
fn span(length: Duration) -> Option<String> {
    match length.as_secs() {
        0..60 => None,
        seconds @ 60..3_600 => Some(format!("{} min", seconds / 60)),
        seconds @ 3_600..86_400 => Some(format!("{} h", seconds / 3_600)),
        seconds => Some(format!("{} d", seconds / 86_400)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_written_to_a_screen_can_control_the_terminal() {
        let mut screen = Screen::new(80, Timestamp::from_millis(0));
        let hostile = "a\u{1b}[31m\u{7}\rb\u{202e}c\nd";
        screen.line(hostile);
        screen.command(hostile);
        screen.fields([("name", hostile)]);
        screen.table(&["x"], [vec![hostile]]);
        screen.line(Text::default().id(hostile));
        let text = screen.into_text();
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        assert!(!text.contains('\u{202e}'));
        assert_eq!(text.lines().count(), 6, "{text}");
    }

    #[test]
    fn colours_are_written_on_demand_and_always_taken_back() {
        let written = |colour| {
            let mut screen = Screen::new(10, Timestamp::from_millis(0)).coloured(colour);
            screen.heading("a long heading");
            screen.line(Text::from(crate::domain::Severity::High).and(" plain"));
            screen.into_text()
        };
        assert_eq!(written(false), "a long\nheading\nHIGH plain\n");
        let bold = "\u{1b}[1m";
        let reset = "\u{1b}[0m";
        let expected =
            format!("{bold}a long{reset}\n{bold}heading{reset}\n{bold}\u{1b}[31mHIGH{reset} plain\n");
        assert_eq!(written(true), expected);
    }

    #[test]
    fn a_line_goes_on_below_its_indentation_and_a_command_stays_whole() {
        let mut screen = Screen::new(12, Timestamp::from_millis(0));
        screen.line("  one two three");
        screen.command("foremerge conflicts show");
        screen.verbatim("  \"id\": 1, \"kind\": 2");
        assert_eq!(
            screen.into_text(),
            "  one two\n  three\n  foremerge conflicts show\n  \"id\": 1, \"kind\": 2\n"
        );
    }

    #[test]
    fn moments_are_told_by_their_distance() {
        let screen = Screen::new(80, Timestamp::from_millis(200_000_000));
        assert_eq!(screen.ago(Timestamp::from_millis(200_000_000)), "just now");
        assert_eq!(screen.ago(Timestamp::from_millis(200_000_000 - 300_000)), "5 min ago");
        assert_eq!(screen.ago(Timestamp::from_millis(200_000_000 - 7_300_000)), "2 h ago");
        assert_eq!(screen.ago(Timestamp::from_millis(0)), "2 d ago");
        assert_eq!(screen.ago(Timestamp::from_millis(i64::MAX)), "just now");
        let ahead = |seconds: i64| screen.ahead(Timestamp::from_millis(200_000_000 + seconds * 1_000));
        assert_eq!(
            [ahead(0), ahead(1), ahead(3_599), ahead(3_600), ahead(86_400)],
            ["for no time", "for 1 min", "for 1 h", "for 1 h", "for 1 d"].map(str::to_owned)
        );
    }
}
