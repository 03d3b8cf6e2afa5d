//! The declarations of a source file, found by line rules: what they are called, where they
//! stand and how they are called upon. Rust, Python, TypeScript and JavaScript, Go, Java.
//!
//! No parser: a rule reads the words at the beginning of a line, and brackets or indentation
//! say where a declaration ends. Comments and strings are blanked out beforehand. What stands
//! inside a function belongs to the function.

mod declaration;
mod mask;

use std::collections::BTreeSet;
use std::ops::Range;

use declaration::declared;
use mask::masked;

/// A language with line rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// `.rs`
    Rust,
    /// `.py`
    Python,
    /// `.ts`, `.js` and their kin.
    Script,
    /// `.go`
    Go,
    /// `.java`
    Java,
}

impl Language {
    /// The language of a file, by its ending.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next()?;
        match name.rsplit_once('.')?.1 {
            "rs" => Some(Self::Rust),
            "py" => Some(Self::Python),
            "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs" => Some(Self::Script),
            "go" => Some(Self::Go),
            "java" => Some(Self::Java),
            _ => None,
        }
    }
}

/// What is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A class, struct, trait, interface, enumeration or alias.
    Type,
    /// A function or method.
    Function,
    /// A constant or variable outside functions.
    Constant,
}

/// A declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// What it is.
    pub kind: Kind,
    /// The type it belongs to.
    pub container: Option<String>,
    /// Its name.
    pub name: String,
    /// Its first and last line, counted from 1.
    pub lines: (usize, usize),
    /// The last line of what is promised to callers.
    pub head_end: usize,
    /// What is promised to callers, without visibility, in single spaces.
    pub signature: String,
}

impl Declaration {
    fn key(&self, path: &str) -> String {
        match (&self.container, self.kind) {
            (Some(container), _) => format!("{container}::{}", self.name),
            (None, Kind::Type) => self.name.clone(),
            (None, _) => format!("{path}::{}", self.name),
        }
    }

    /// The parameters as written, or nothing.
    #[must_use]
    pub fn parameters(&self) -> &str {
        self.signature.find('(').map_or("", |at| &self.signature[at..])
    }
}

/// What a line begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// A declaration.
    One {
        /// What it is.
        kind: Kind,
        /// The type it belongs to, where the line names it.
        container: Option<String>,
        /// Its name.
        name: String,
    },
    /// Something whose members are declarations of `container`, or of none.
    Around {
        /// The type.
        container: Option<String>,
    },
}

/// The declarations of a file, in order, and which lines say nothing.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// The declarations.
    pub declarations: Vec<Declaration>,
    blank: Vec<bool>,
}

impl Outline {
    /// Whether a line, counted from 1, holds nothing but space, comments and closing brackets.
    #[must_use]
    pub fn is_blank(&self, line: usize) -> bool {
        line.checked_sub(1).and_then(|at| self.blank.get(at)).copied().unwrap_or(true)
    }
}

impl Outline {
    /// The innermost declarations around lines that say something, counted from 0, in the spelling of a scope:
    /// `Container::member`, the bare name of a type, and `path::name` for what stands free in the file at `path`.
    #[must_use]
    pub fn touched(&self, path: &str, lines: Range<usize>) -> BTreeSet<String> {
        let said = lines.map(|line| line + 1).filter(|line| !self.is_blank(*line));
        said.filter_map(|line| {
            let around =
                self.declarations.iter().filter(|found| found.lines.0 <= line && line <= found.lines.1);
            around.min_by_key(|found| found.lines.1 - found.lines.0).map(|found| found.key(path))
        })
        .collect()
    }
}

/// The outline of a file.
#[must_use]
pub fn outline(language: Language, text: &str) -> Outline {
    let masked = masked(language, text);
    let lines: Vec<&str> = masked.lines().collect();
    let mut found = Vec::new();
    Walk { language, lines: &lines }.walk(0, lines.len(), None, &mut found);
    let says_nothing =
        |line: &&str| line.chars().all(|c| c.is_whitespace() || matches!(c, '}' | ')' | ']' | ',' | ';'));
    Outline { declarations: found, blank: lines.iter().map(says_nothing).collect() }
}

struct Walk<'t> {
    language: Language,
    lines: &'t [&'t str],
}

/// Where something that begins on a line ends: the line of its opening bracket and its last.
struct Extent {
    head: String,
    head_end: usize,
    end: usize,
}

impl Walk<'_> {
    fn walk(&self, from: usize, to: usize, container: Option<&str>, found: &mut Vec<Declaration>) {
        let mut at = from;
        let mut decorated = None;
        while at < to {
            let line = self.lines[at];
            let is_decorator = self.language != Language::Script
                && line.trim_start().starts_with('@')
                && declared(self.language, line, container).is_none();
            if is_decorator {
                decorated.get_or_insert(at);
                at += 1;
                continue;
            }
            let Some(begun) = declared(self.language, line, container) else {
                if !line.trim().is_empty() && !self.inside_brackets(decorated, at) {
                    decorated = None;
                }
                at += 1;
                continue;
            };
            let first = decorated.take().unwrap_or(at);
            let kind = match &begun {
                Begun::One { kind, .. } => Some(*kind),
                Begun::Around { .. } => None,
            };
            let extent = self.extent(at, to, kind);
            match begun {
                Begun::Around { container } => {
                    self.walk(at + 1, extent.end, container.as_deref(), found);
                }
                Begun::One { kind, container: named, name } => {
                    let owner = named.or_else(|| container.map(str::to_owned));
                    found.push(Declaration {
                        kind,
                        container: owner,
                        name: name.clone(),
                        lines: (first + 1, extent.end + 1),
                        head_end: extent.head_end + 1,
                        signature: signature(&extent.head),
                    });
                    if kind == Kind::Type && self.has_members(line) {
                        // The line of a closing bracket is no member; without brackets the last line is one.
                        let end = extent.end + usize::from(self.language == Language::Python);
                        self.walk(extent.head_end + 1, end, Some(&name), found);
                    }
                }
            }
            at = extent.end.max(at) + 1;
        }
    }

    /// Types whose members are declarations of their own; of the others they are the body.
    fn has_members(&self, line: &str) -> bool {
        match self.language {
            Language::Python | Language::Java => true,
            Language::Rust => line.split_whitespace().any(|word| word == "trait"),
            Language::Script => line.split_whitespace().any(|word| word == "class"),
            Language::Go => false,
        }
    }

    /// Whether a decorator that began at `from` still has an open bracket before line `at`.
    fn inside_brackets(&self, from: Option<usize>, at: usize) -> bool {
        let Some(from) = from else { return false };
        let depth: i32 = self.lines[from..at].iter().flat_map(|line| line.chars()).map(step).sum();
        depth > 0
    }

    fn extent(&self, at: usize, to: usize, kind: Option<Kind>) -> Extent {
        if self.language == Language::Python {
            self.indented(at, to, kind)
        } else {
            self.braced(at, to, kind)
        }
    }

    fn indented(&self, at: usize, to: usize, kind: Option<Kind>) -> Extent {
        let own = indent(self.lines[at]);
        let (mut head, mut head_end, mut depth) = (String::new(), at, 0);
        for (number, line) in self.lines[at..to].iter().enumerate() {
            depth += line.chars().map(step).sum::<i32>();
            head.push_str(line);
            head.push(' ');
            head_end = at + number;
            if depth <= 0 && !line.trim_end().ends_with('\\') {
                break;
            }
        }
        let mut end = head_end;
        for (number, line) in self.lines.iter().enumerate().take(to).skip(head_end + 1) {
            if line.trim().is_empty() {
                continue;
            }
            // A line of a string may stand anywhere.
            if indent(line) <= own && !line.starts_with('"') {
                break;
            }
            end = number;
        }
        if kind == Some(Kind::Constant) {
            // The value is the body.
            head.truncate(head.find('=').unwrap_or(head.len()));
            head_end = at;
        }
        Extent { head, head_end, end }
    }

    fn braced(&self, at: usize, to: usize, kind: Option<Kind>) -> Extent {
        let (mut head, mut head_end) = (String::new(), None);
        let (mut depth, mut opened, mut before) = (0, false, ' ');
        for (line_number, line) in self.lines.iter().enumerate().take(to).skip(at) {
            for (place, c) in line.char_indices() {
                let rest = &line[place..];
                let is_type = matches!(before, ':' | '|' | '<');
                let body = c == '{' && depth == 0 && !is_type && opens_body(rest);
                let value = match kind {
                    Some(Kind::Constant) => c == '=',
                    Some(Kind::Function) => rest.starts_with("=>"),
                    _ => false,
                };
                if depth == 0 && (body || value) {
                    head_end.get_or_insert(line_number);
                }
                opened |= body;
                depth += step(c);
                if depth <= 0 && (c == ';' || (c == '}' && opened)) {
                    return Extent { head, head_end: head_end.unwrap_or(line_number), end: line_number };
                }
                if head_end.is_none() {
                    head.push(c);
                }
                if !c.is_whitespace() {
                    before = c;
                }
            }
            head.push(' ');
            let goes_on = matches!(self.language, Language::Rust | Language::Java)
                || matches!(before, '=' | '>' | ',' | '|' | '&' | '(' | ':' | '+' | '.');
            if depth <= 0 && !goes_on && (head_end.is_some() || self.language == Language::Go) {
                return Extent { head, head_end: head_end.unwrap_or(line_number), end: line_number };
            }
            if depth < 0 || (head_end.is_none() && line_number >= at + 40) {
                return Extent { head, head_end: at, end: at };
            }
        }
        Extent { head, head_end: head_end.unwrap_or(at), end: to.saturating_sub(1).max(at) }
    }
}

/// Whether the bracket `rest` begins with opens a body and not an empty type such as Go's `interface{}`.
fn opens_body(rest: &str) -> bool {
    let inside = rest[1..].trim_start();
    !inside.starts_with('}') || matches!(inside[1..].trim(), "" | ";" | ",")
}

fn step(c: char) -> i32 {
    match c {
        '(' | '[' | '{' => 1,
        ')' | ']' | '}' => -1,
        _ => 0,
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Words that say who may call and not how.
const VISIBILITY: &[&str] = &["pub", "export", "public", "private", "protected", "final", "override"];

fn signature(head: &str) -> String {
    let mut head = head.split_whitespace().collect::<Vec<_>>().join(" ");
    loop {
        let trimmed = head.trim_start();
        let word: String = trimmed.chars().take_while(|c| c.is_alphanumeric()).collect();
        if !VISIBILITY.contains(&word.as_str()) {
            break;
        }
        let mut rest = trimmed[word.len()..].trim_start();
        if word == "pub" && rest.starts_with('(') {
            rest = rest.split_once(')').map_or(rest, |(_, rest)| rest);
        }
        head = rest.trim_start().to_owned();
    }
    // A trailing comma and the spaces of a list broken over lines promise nothing.
    head.replace("( ", "(").replace(", )", ")").replace(",)", ")").replace(" )", ")").trim_end().to_owned()
}
