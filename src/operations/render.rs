//! What a person sees.

use std::fmt::Write as _;
use std::time::Duration;

use comfy_table::{ColumnConstraint, ContentArrangement, Table};

use crate::domain::Timestamp;

/// Writes itself for a person.
pub trait Render {
    /// Adds its lines to the screen.
    fn render(&self, screen: &mut Screen);
}

/// Cells up to this width, such as ids, stay on one line however narrow the screen.
const UNBROKEN: usize = 16;

/// Text for a person, as wide as their terminal.
pub struct Screen {
    text: String,
    width: u16,
    now: Timestamp,
}

impl Screen {
    /// An empty screen.
    #[must_use]
    pub fn new(width: u16, now: Timestamp) -> Self {
        Self { text: String::new(), width, now }
    }

    /// What was written.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }

    /// A line; nothing in it can control the terminal.
    pub fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(&visible(line.as_ref()));
        self.text.push('\n');
    }

    /// An empty line, unless the screen ends in one or is empty.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Names and values in two columns.
    pub fn fields<'f>(&mut self, fields: impl IntoIterator<Item = (&'f str, String)>) {
        self.rows(fields.into_iter().map(|(name, value)| vec![name.to_owned(), value]));
    }

    /// Aligned columns under `header`, which may be empty.
    pub fn table(&mut self, header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        let header: Vec<_> = header.iter().map(|name| (*name).to_owned()).collect();
        self.rows(Some(header).filter(|header| !header.is_empty()).into_iter().chain(rows));
    }

    /// Says how a list goes on that was cut to one page.
    pub fn rest(&mut self, shown: usize, total: u64, next: Option<impl std::fmt::Display>, option: &str) {
        if let Some(next) = next {
            self.line(format!("{shown} of {total} shown; the rest: {option} {next}"));
        }
    }

    /// Says how much of a section is not shown.
    pub fn more(&mut self, shown: usize, total: u64) {
        let hidden = total.saturating_sub(shown as u64);
        if hidden > 0 {
            self.line(format!("… and {hidden} more"));
        }
    }

    fn rows(&mut self, rows: impl IntoIterator<Item = Vec<String>>) {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        let rows: Vec<Vec<_>> =
            rows.into_iter().map(|row| row.iter().map(|cell| visible(cell)).collect()).collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = (0..columns).map(|at| {
            rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        });
        let whole: Vec<bool> = widest.clone().map(|width| width <= UNBROKEN).collect();
        // Better wider than the terminal than one letter a line.
        let least: usize = widest.map(|width| if width <= UNBROKEN { width + 2 } else { UNBROKEN + 2 }).sum();
        let width = self.width.max(u16::try_from(least).unwrap_or(u16::MAX));
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        for row in rows {
            table.add_row(row);
        }
        for (column, whole) in table.column_iter_mut().zip(whole) {
            column.set_padding((0, 2));
            if whole {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        for line in table.lines() {
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
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

/// A length of time in its largest whole unit; `None` below a minute.
fn span(length: Duration) -> Option<String> {
    match length.as_secs() {
        0..60 => None,
        seconds @ 60..3_600 => Some(format!("{} min", seconds / 60)),
        seconds @ 3_600..86_400 => Some(format!("{} h", seconds / 3_600)),
        seconds => Some(format!("{} d", seconds / 86_400)),
    }
}

/// The text with everything escaped that could move a cursor, change a colour or reverse the
/// direction of writing, or that is there and cannot be seen.
#[must_use]
pub fn visible(text: &str) -> String {
    if !text.contains(is_hidden) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hidden(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// JSON with the same characters escaped, which changes nothing of what it says.
#[must_use]
pub fn visible_json(json: &serde_json::Value) -> String {
    escaped_json(&json.to_string())
}

/// A line of JSON with the same characters escaped.
#[must_use]
pub fn escaped_json(text: &str) -> String {
    if !text.contains(is_hidden) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_written_to_a_screen_can_control_the_terminal() {
        let mut screen = Screen::new(80, Timestamp::from_millis(0));
        let hostile = "a\u{1b}[31m\u{7}\rb\u{202e}c\nd";
        screen.line(hostile);
        screen.fields([("name", hostile.to_owned())]);
        screen.table(&["x"], [vec![hostile.to_owned()]]);
        let text = screen.into_text();
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        assert!(!text.contains('\u{202e}'));
        assert_eq!(text.lines().count(), 4, "{text}");
    }

    #[test]
    fn escaped_json_says_the_same() {
        let json = serde_json::json!({ "a\u{9b}": "\u{7f}\u{202e}\u{e0041}\u{1f600}\n" });
        let text = visible_json(&json);
        assert_eq!(text, r#"{"a\u009b":"\u007f\u202e\udb40\udc41😀\n"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), json);
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
