//! Text that cannot control the terminal it is shown on.

use std::fmt::Write as _;

use crate::domain::shell::is_hidden;
pub use crate::domain::shell::word as shell_word;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_json_says_the_same() {
        let json = serde_json::json!({ "a\u{9b}": "\u{7f}\u{202e}\u{e0041}\u{1f600}\n" });
        let text = visible_json(&json);
        assert_eq!(text, r#"{"a\u009b":"\u007f\u202e\udb40\udc41😀\n"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), json);
    }
}
