//! The graph for Mermaid.

use std::fmt::Write as _;

use crate::domain::graph::{Edge, Node};
use crate::domain::text::beginning;
use crate::operations::render::visible;

/// Characters of a label that are shown.
const SHOWN: usize = 80;

pub(super) fn lines(nodes: &[Node], edges: &[Edge]) -> Vec<String> {
    let mut lines = vec!["flowchart LR".to_owned()];
    lines.extend(
        nodes.iter().map(|node| format!("  {}[\"{}: {}\"]", node.id, node.kind, escaped(&node.label))),
    );
    lines.extend(edges.iter().map(|edge| format!("  {} -->|{}| {}", edge.from, edge.kind, edge.to)));
    lines
}

/// The text with everything that could mean something to Mermaid, to Markdown or to a browser as
/// its number.
fn escaped(text: &str) -> String {
    let mut shown = String::new();
    for c in visible(&beginning(text, SHOWN)).chars() {
        if c.is_ascii() && !c.is_ascii_alphanumeric() && !" .,:/-_".contains(c) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "#{};", u32::from(c));
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
    fn no_text_is_taken_for_a_diagram_a_format_or_a_tag() {
        assert_eq!(escaped("a\"] --> b"), "a#34;#93; --#62; b");
        assert_eq!(
            escaped("`**x**` #35; <b onclick=1>&lt;"),
            "#96;#42;#42;x#42;#42;#96; #35;35#59; #60;b onclick#61;1#62;#38;lt#59;"
        );
        assert_eq!(escaped("a\nb\u{202e}"), "a#92;nb#92;u#123;202e#125;");
    }
}
