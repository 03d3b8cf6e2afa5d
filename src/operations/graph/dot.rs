//! The graph for Graphviz.

use crate::domain::graph::{Edge, Node};
use crate::domain::text::beginning;
use crate::operations::render::visible;

/// Characters of a label that are shown.
const SHOWN: usize = 80;

pub(super) fn lines(nodes: &[Node], edges: &[Edge]) -> Vec<String> {
    let mut lines =
        vec!["digraph foremerge {".to_owned(), "  rankdir=LR;".to_owned(), "  node [shape=box];".to_owned()];
    lines.extend(nodes.iter().map(|node| {
        // The backslash before `n` is Graphviz's own: a new line.
        format!("  {} [label=\"{}\\n{}\"];", quoted(&node.id), node.kind, escaped(&node.label))
    }));
    lines.extend(
        edges.iter().map(|edge| {
            format!("  {} -> {} [label=\"{}\"];", quoted(&edge.from), quoted(&edge.to), edge.kind)
        }),
    );
    lines.push("}".to_owned());
    lines
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// The text so that nothing in it ends the quotes or means anything to Graphviz.
fn escaped(text: &str) -> String {
    visible(&beginning(text, SHOWN)).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_gets_out_of_its_quotes() {
        assert_eq!(escaped("a\"]; evil [label=\"\\N\n"), r#"a\"]; evil [label=\"\\N\\n"#);
        assert_eq!(escaped("trailing\\"), "trailing\\\\");
        assert_eq!(escaped("\u{1b}[31m\u{202e}"), r"\\u{1b}[31m\\u{202e}");
    }
}
