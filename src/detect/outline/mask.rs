//! Source text with its comments blanked out and its strings reduced to quotes, line for line.

use super::Language;

/// `text` with spaces in place of comments and quotes in place of strings.
pub fn masked(language: Language, text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = skipped(language, &chars, at).unwrap_or(at).min(chars.len());
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            let is_comment = matches!(chars[at], '/' | '#');
            let filler = if is_comment { ' ' } else { '"' };
            out.extend(chars[at..end].iter().map(|&c| if c == '\n' { '\n' } else { filler }));
            at = end;
        }
    }
    out
}

/// Where the comment or string that begins at `at` ends, if one begins there.
fn skipped(language: Language, chars: &[char], at: usize) -> Option<usize> {
    let starts = |text: &str| text.chars().enumerate().all(|(n, c)| chars.get(at + n) == Some(&c));
    let python = language == Language::Python;
    if (python && chars[at] == '#') || (!python && starts("//")) {
        return Some(line_end(chars, at));
    }
    if !python && starts("/*") {
        return Some(after(chars, at + 2, "*/", false));
    }
    if language != Language::Rust && starts("\"\"\"") {
        return Some(after(chars, at + 3, "\"\"\"", true));
    }
    if python && starts("'''") {
        return Some(after(chars, at + 3, "'''", true));
    }
    match (language, chars[at]) {
        (Language::Rust, 'r') if !chars.get(at.wrapping_sub(1)).is_some_and(|c| c.is_alphanumeric()) => {
            let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
            (chars.get(at + 1 + hashes) == Some(&'"'))
                .then(|| after(chars, at + 2 + hashes, &format!("\"{}", "#".repeat(hashes)), false))
        }
        (Language::Rust, '"') => Some(after(chars, at + 1, "\"", true)),
        (Language::Rust, '\'') => match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('\\'), _) => Some(after(chars, at + 1, "'", true)),
            (Some(_), Some('\'')) => Some(at + 3),
            _ => None,
        },
        (Language::Script | Language::Go, '`') => {
            Some(after(chars, at + 1, "`", language == Language::Script))
        }
        (_, quote @ ('"' | '\'')) => {
            let end = after(chars, at + 1, &quote.to_string(), true);
            // A string on one line; what does not end there was no string.
            Some(end.min(line_end(chars, at)))
        }
        _ => None,
    }
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|c| *c == '\n').map_or(chars.len(), |n| at + n)
}

fn after(chars: &[char], from: usize, end: &str, escapes: bool) -> usize {
    let mut at = from;
    while at < chars.len() {
        if escapes && chars[at] == '\\' {
            at += 2;
            continue;
        }
        if end.chars().enumerate().all(|(n, c)| chars.get(at + n) == Some(&c)) {
            return at + end.chars().count();
        }
        at += 1;
    }
    chars.len()
}
