//! The line rules: what the words at the beginning of a line declare.

use super::{Begun, Kind, Language};

/// What `line`, already masked, declares inside `container`.
pub fn declared(language: Language, line: &str, container: Option<&str>) -> Option<Begun> {
    let text = line.trim();
    match language {
        Language::Rust => rust(text),
        Language::Python => python(line),
        Language::Script => script(line, container),
        Language::Go => go(line),
        Language::Java => java(text, container),
    }
}

fn one(kind: Kind, name: &str) -> Option<Begun> {
    let name = identifier(name);
    (!name.is_empty()).then(|| Begun::One { kind, container: None, name: name.to_owned() })
}

/// The identifier `text` begins with.
fn identifier(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$' || c == '#'));
    &text[..end.unwrap_or(text.len())]
}

/// `text` without the leading words in `words`.
fn without<'t>(mut text: &'t str, words: &[&str]) -> &'t str {
    loop {
        text = text.trim_start_matches([' ', '\t', '"']);
        let word = identifier(text);
        let rest = &text[word.len()..];
        if word.is_empty() || !words.contains(&word) || !(rest.starts_with(' ') || rest.starts_with('(')) {
            return text;
        }
        text = rest;
        if word == "pub" && rest.starts_with('(') {
            text = rest.split_once(')').map_or("", |(_, rest)| rest);
        }
    }
}

fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.strip_prefix(word).filter(|rest| rest.starts_with([' ', '\t'])).map(str::trim_start)
}

fn rust(text: &str) -> Option<Begun> {
    let bare = without(text, &["pub", "default", "async", "unsafe", "extern"]);
    let bare = match after_word(bare, "const") {
        Some(rest) if rest.starts_with("fn ") || rest.starts_with("unsafe ") => without(rest, &["unsafe"]),
        _ => bare,
    };
    if let Some(rest) = after_word(bare, "fn") {
        return one(Kind::Function, rest);
    }
    for word in ["struct", "enum", "trait", "union", "type"] {
        if let Some(rest) = after_word(bare, word) {
            return one(Kind::Type, rest);
        }
    }
    for word in ["const", "static"] {
        if let Some(rest) = after_word(bare, word) {
            return one(Kind::Constant, without(rest, &["mut"]));
        }
    }
    if let Some(rest) = bare.strip_prefix("macro_rules!") {
        return one(Kind::Function, rest);
    }
    if bare.starts_with("mod ") && bare.ends_with('{') {
        return Some(Begun::Around { container: None });
    }
    let rest = bare.strip_prefix("impl").filter(|rest| rest.starts_with([' ', '<']))?;
    let rest = if rest.starts_with('<') { past_angles(rest) } else { rest };
    let subject = rest.rsplit_once(" for ").map_or(rest, |(_, subject)| subject);
    let path =
        subject.trim_start_matches([' ', '&', '(']).trim_start_matches("mut ").trim_start_matches("dyn ");
    let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(path.len());
    let name = path[..end].rsplit("::").next().filter(|name| !name.is_empty())?;
    Some(Begun::Around { container: Some(name.to_owned()) })
}

/// What follows the angle brackets `text` begins with.
fn past_angles(text: &str) -> &str {
    let mut depth = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
        before = c;
    }
    ""
}

fn python(line: &str) -> Option<Begun> {
    let text = line.trim_start();
    let bare = without(text, &["async"]);
    if let Some(rest) = after_word(bare, "def") {
        return one(Kind::Function, rest);
    }
    if let Some(rest) = after_word(bare, "class") {
        return one(Kind::Type, rest);
    }
    let word = identifier(line);
    let is_statement = matches!(word, "else" | "try" | "finally" | "lambda");
    (!line.starts_with([' ', '\t']) && !is_statement).then(|| constant(line, &[]))?
}

/// `NAME = …` or `NAME: … = …` at the beginning of a line, after one of `words` if there are any.
fn constant(line: &str, words: &[&str]) -> Option<Begun> {
    let rest = match words {
        [] => line,
        _ => words.iter().find_map(|word| after_word(line, word))?,
    };
    let name = identifier(rest);
    let follows = rest[name.len()..].trim_start();
    let value = follows.starts_with('=') && !follows.starts_with("==");
    let typed = follows.starts_with(':') && follows.contains('=');
    (value || typed).then(|| one(Kind::Constant, name))?
}

const SCRIPT_WORDS: &[&str] = &[
    "export",
    "default",
    "declare",
    "abstract",
    "async",
    "public",
    "private",
    "protected",
    "static",
    "readonly",
    "override",
    "get",
    "set",
];
const SCRIPT_STATEMENTS: &[&str] = &[
    "if", "for", "while", "switch", "catch", "return", "function", "with", "super", "else", "do", "new",
    "await",
];

fn script(line: &str, container: Option<&str>) -> Option<Begun> {
    let bare = without(line.trim(), SCRIPT_WORDS);
    if let Some(rest) = bare.strip_prefix("function").filter(|rest| rest.starts_with([' ', '*'])) {
        return one(Kind::Function, rest.trim_start_matches(['*', ' ']));
    }
    for word in ["class", "interface", "enum", "namespace"] {
        if let Some(rest) = after_word(bare, word).filter(|rest| !rest.starts_with(['=', ':', '{'])) {
            return one(Kind::Type, rest);
        }
    }
    if let Some(rest) = after_word(bare, "type") {
        let name = identifier(rest);
        let alias = rest[name.len()..].trim_start().starts_with(['=', '<']);
        return alias.then(|| one(Kind::Type, name))?;
    }
    if container.is_some() {
        let name = identifier(bare.trim_start_matches('*'));
        let follows = bare.trim_start_matches('*').trim_start()[name.len()..].trim_start();
        let calls = follows.starts_with('(') || follows.starts_with('<');
        let arrow = follows.starts_with('=') && (follows.contains("=>") || follows.ends_with('('));
        let opens = bare.ends_with(['{', '(', ',']) || bare.ends_with('}');
        let is_method = !SCRIPT_STATEMENTS.contains(&name) && ((calls && opens) || arrow);
        return is_method.then(|| one(Kind::Function, name))?;
    }
    if line.starts_with([' ', '\t']) {
        return None;
    }
    let found = constant(bare, &["const", "let", "var"])?;
    let is_function = bare.contains("=>") || bare.contains("function") || bare.ends_with('(');
    match found {
        Begun::One { name, container, .. } if is_function => {
            Some(Begun::One { kind: Kind::Function, container, name })
        }
        other => Some(other),
    }
}

fn go(line: &str) -> Option<Begun> {
    if line.starts_with([' ', '\t']) {
        return None;
    }
    if let Some(rest) = line.strip_prefix("func ") {
        let Some(receiver) = rest.strip_prefix('(') else { return one(Kind::Function, rest) };
        let (receiver, name) = receiver.split_once(')')?;
        let owner = receiver.split_whitespace().last()?.trim_start_matches('*');
        let name = identifier(name);
        return Some(Begun::One {
            kind: Kind::Function,
            container: Some(identifier(owner).to_owned()),
            name: name.to_owned(),
        });
    }
    if let Some(rest) = after_word(line, "type") {
        return one(Kind::Type, rest);
    }
    for word in ["var", "const"] {
        if let Some(rest) = after_word(line, word) {
            return one(Kind::Constant, rest);
        }
    }
    None
}

const JAVA_WORDS: &[&str] = &[
    "public",
    "protected",
    "private",
    "static",
    "final",
    "abstract",
    "synchronized",
    "native",
    "default",
    "strictfp",
    "sealed",
];
const JAVA_STATEMENTS: &[&str] =
    &["return", "new", "throw", "else", "if", "for", "while", "switch", "catch", "try", "assert"];

fn java(text: &str, container: Option<&str>) -> Option<Begun> {
    let mut bare = text;
    while let Some(annotation) = bare.strip_prefix('@').filter(|rest| !rest.starts_with("interface ")) {
        let rest = &annotation[annotation.find([' ', '(']).unwrap_or(annotation.len())..];
        bare = match rest.strip_prefix('(') {
            Some(inside) => inside.split_once(')').map_or("", |(_, rest)| rest).trim_start(),
            None => rest.trim_start(),
        };
    }
    let bare = without(bare, JAVA_WORDS).trim_start_matches('@');
    for word in ["class", "interface", "enum", "record"] {
        if let Some(rest) = after_word(bare, word) {
            return one(Kind::Type, rest);
        }
    }
    let container = container?;
    let bare = if bare.starts_with('<') { past_angles(bare).trim_start() } else { bare };
    let (before, _) = bare.split_once('(')?;
    let mut words = before.split_whitespace();
    let (first, name) = (words.next()?, before.split_whitespace().last()?);
    let constructs = before.trim() == container;
    let is_method = before.split_whitespace().count() >= 2 && !JAVA_STATEMENTS.contains(&first);
    let plain = !before.contains(['=', '.', '"']) || before.contains('<');
    let ends = text.ends_with(['{', '(', ',', ';', ')', '}']);
    (plain && ends && identifier(name) == name && (constructs || is_method))
        .then(|| one(Kind::Function, name))?
}
