//! Names taken apart at their separators.

const BRACKETS: [char; 3] = ['<', '(', '['];

/// The parts of a name between any of `separators`, those inside `<…>`, `(…)` and `[…]` left
/// together: `Cache<std::string>` is one part. A bracket without its other half is a letter like
/// others, as in `Vec::operator<`.
#[must_use]
pub fn parts<'n>(name: &'n str, separators: &[&str]) -> Vec<&'n str> {
    parts_at(name, |at| {
        separators.iter().find(|known| name[at..].starts_with(**known)).map(|known| known.len())
    })
}

/// What a member belongs to and what it is called itself: `Cart` and `total` of `Cart::total` and
/// of `Cart#total`.
#[must_use]
pub fn split_member(name: &str) -> (Option<&str>, &str) {
    if !name.contains([':', '#']) {
        return (None, name);
    }
    let parts =
        parts_at(name, |at| if name[at..].starts_with("::") { Some(2) } else { marks_member(name, at) });
    match parts.as_slice() {
        [.., container, member] => (Some(container), member),
        _ => (None, name),
    }
}

/// Reads `::` and a `#` before a member as `.`.
#[must_use]
pub fn dotted(name: &str) -> String {
    let mut dotted = name.replace("::", ".");
    let mut searched = dotted.len();
    while let Some(at) = dotted[..searched].rfind('#') {
        if marks_member(&dotted, at).is_some() {
            dotted.replace_range(at..=at, ".");
        }
        searched = at;
    }
    dotted
}

/// A `#` with a name on both sides, unlike those of `C#` and of private members (`Cart.#total`).
fn marks_member(name: &str, at: usize) -> Option<usize> {
    let is_named = |c: char| c.is_alphanumeric() || c == '_';
    let member = name[at..].strip_prefix('#')?;
    (name[..at].ends_with(is_named) && member.starts_with(is_named)).then_some(1)
}

fn parts_at(name: &str, separator: impl Fn(usize) -> Option<usize>) -> Vec<&str> {
    let inside = bracketed(name);
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, _) in name.char_indices() {
        let outside = inside.iter().all(|(open, close)| at < *open || *close < at);
        if let Some(length) = separator(at).filter(|_| at >= start && outside) {
            parts.push(&name[start..at]);
            start = at + length;
        }
    }
    parts.push(&name[start..]);
    parts
}

/// Where the outermost pairs of brackets open and close.
fn bracketed(name: &str) -> Vec<(usize, usize)> {
    if !name.contains(BRACKETS) {
        return vec![];
    }
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (at, c) in name.char_indices() {
        let opening = match c {
            '<' | '(' | '[' => {
                open.push((at, c));
                continue;
            }
            // The head of an arrow closes nothing.
            '>' if name[..at].ends_with(['-', '=']) => continue,
            '>' => '<',
            ')' => '(',
            ']' => '[',
            _ => continue,
        };
        if let Some(place) = open.iter().rposition(|(_, c)| *c == opening) {
            let (start, _) = open[place];
            open.truncate(place);
            pairs.retain(|(inner, _)| *inner < start);
            pairs.push((start, at));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_brackets_stays_together() {
        assert_eq!(parts("std::Cache<std::string>::get", &["::"]), ["std", "Cache<std::string>", "get"]);
        assert_eq!(parts("Cart::add(std::string, a::B)", &["::"]), ["Cart", "add(std::string, a::B)"]);
        assert_eq!(parts("<a::Cart as b::Total>::sum", &["::"]), ["<a::Cart as b::Total>", "sum"]);
        assert_eq!(parts("Map<a.B, List<c.D>>.get", &["."]), ["Map<a.B, List<c.D>>", "get"]);
        assert_eq!(parts("Cache[std.String].Get", &["."]), ["Cache[std.String]", "Get"]);
    }

    #[test]
    fn a_bracket_without_its_other_half_parts_nothing() {
        assert_eq!(parts("Vec::operator<", &["::"]), ["Vec", "operator<"]);
        assert_eq!(parts("Ptr<a::B>::operator->", &["::"]), ["Ptr<a::B>", "operator->"]);
        assert_eq!(parts("a::operator>::b", &["::"]), ["a", "operator>", "b"]);
        assert_eq!(parts("(a::b", &["::"]), ["(a", "b"]);
        assert_eq!(parts("", &["::"]), [""]);
    }

    #[test]
    fn a_member_is_what_follows_the_last_separator() {
        assert_eq!(split_member("a::b::Cache<x::Y>"), (Some("b"), "Cache<x::Y>"));
        assert_eq!(split_member("Cache<x::Y>"), (None, "Cache<x::Y>"));
        assert_eq!(split_member("::"), (Some(""), ""));
        assert_eq!(split_member("Billing::Invoice#total"), (Some("Invoice"), "total"));
        assert_eq!(split_member("C#"), (None, "C#"));
    }

    #[test]
    fn all_member_separators_are_read_as_one() {
        assert_eq!(dotted("a::Invoice#total"), "a.Invoice.total");
        assert_eq!(dotted("Cart.#total"), "Cart.#total");
        assert_eq!(dotted("é#é::C#"), "é.é.C#");
    }
}
