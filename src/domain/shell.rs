//! Words of a command that somebody is to paste into a shell.

use std::fmt::Write as _;

/// The word as a shell takes it. What would be shown escaped is written as the shell's own escapes, in octal, so that
/// what is pasted is what was meant.
#[must_use]
pub fn word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=:./+@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.contains(is_hidden) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut quoted = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            _ if is_hidden(c) => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a string cannot fail.
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            _ => quoted.push(c),
        }
    }
    quoted + "'"
}

/// Whether the character could move a cursor, change a colour or reverse the direction of writing, or is there and
/// cannot be seen.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_it_must_be_and_escaped_where_it_would_not_be_seen() {
        assert_eq!(word("/a/b-c"), "/a/b-c");
        assert_eq!(word("/a b/it's; rm"), r"'/a b/it'\''s; rm'");
        assert_eq!(word(r"a\'b"), r"'a\'\''b'");
        assert_eq!(word(""), "''");
        assert_eq!(word("a\u{1b}[31m1'\\\u{202e}é"), r"$'a\033[31m1\'\\\342\200\256é'");
        assert!(!word("a\n\u{7}\u{e0041}").contains(is_hidden));
    }
}
