//! The guides, typed in as they stand: every command of docs/guide is run in a shell, in the order of the page, and
//! says what the page says it does. `FOREMERGE_BLESS=1` writes what they say now.
#![expect(clippy::disallowed_methods, reason = "a test reads its own switch")]

use std::path::Path;

use crate::sandbox::{Sandbox, scrubbed};

const BLOCK: &str = "```console\n";
const END: &str = "```\n";

/// A page in pieces: text as it is, and blocks of commands with what they print.
#[derive(Debug)]
enum Piece<'p> {
    Text(&'p str),
    Block(Vec<Step<'p>>),
}

/// A command, which may go on over several lines that end in a backslash, and what is said after it.
#[derive(Debug)]
struct Step<'p> {
    command: Vec<&'p str>,
    said: String,
}

fn pieces(page: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = page;
    while let Some((text, block)) = rest.split_once(BLOCK) {
        let (block, after) = block.split_once(END).expect("a block ends");
        pieces.push(Piece::Text(text));
        pieces.push(Piece::Block(steps(block)));
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    pieces
}

fn steps(block: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut open = false;
    for line in block.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step { command: vec![command], said: String::new() }),
            (None, Some(step)) if open => step.command.push(line),
            (None, Some(step)) => {
                step.said.push_str(line);
                step.said.push('\n');
                continue;
            }
            (None, None) => panic!("a block begins with a command: {line}"),
        }
        open = line.ends_with('\\');
    }
    steps
}

/// Everything the commands print, one text per command.
fn run(pieces: &[Piece<'_>]) -> Vec<String> {
    const MARK: &str = "\u{1}done";
    let sandbox = Sandbox::new();
    let binaries = Path::new(env!("CARGO_BIN_EXE_foremerge")).parent().unwrap();
    let paths = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([binaries.to_owned()].into_iter().chain(std::env::split_paths(&paths)));
    let commands = pieces.iter().flat_map(|piece| match piece {
        Piece::Block(steps) => steps.iter().map(|step| step.command.join("\n")).collect(),
        Piece::Text(_) => Vec::new(),
    });
    let script: Vec<_> = commands.map(|command: String| format!("{command}\nprintf '{MARK}\\n'\n")).collect();
    let script = script.concat();
    let home = sandbox.mkdir("home");
    let output = scrubbed("sh")
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(sandbox.mkdir("work"))
        .env("PATH", path.unwrap())
        .env("HOME", &home)
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let said = said.replace(sandbox.path("work").to_str().unwrap(), "~");
    let mut said: Vec<_> = said.split(&format!("{MARK}\n")).map(with_ids_like_these).collect();
    assert_eq!(said.pop().as_deref(), Some(""), "the shell stopped");
    said
}

/// Ids are random: a page shows each by its beginning, and numbers it.
fn with_ids_like_these(said: &str) -> String {
    let mut shown = String::new();
    let mut rest = said;
    while let Some(at) = rest.find('_') {
        let digits = rest[at + 1..].chars().take_while(char::is_ascii_hexdigit).count();
        let prefix = rest[..at].chars().rev().take_while(char::is_ascii_lowercase).count();
        let is_id = prefix == 3 && (8..=32).contains(&digits);
        let end = if is_id { at + 1 + digits } else { at + 1 };
        shown.push_str(&rest[..=at]);
        if is_id {
            shown.push_str(&"0".repeat(digits));
        }
        rest = &rest[end..];
    }
    shown + rest
}

fn written(pieces: &[Piece<'_>], said: &[String]) -> String {
    let mut page = String::new();
    let mut said = said.iter();
    for piece in pieces {
        match piece {
            Piece::Text(text) => page.push_str(text),
            Piece::Block(steps) => {
                page.push_str(BLOCK);
                for step in steps {
                    page.push_str("$ ");
                    page.push_str(&step.command.join("\n"));
                    page.push('\n');
                    page.push_str(said.next().unwrap());
                }
                page.push_str(END);
            }
        }
    }
    page
}

#[test]
fn every_guide_does_what_it_says() {
    let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide");
    let mut tried = 0;
    for entry in std::fs::read_dir(guides).unwrap() {
        let path = entry.unwrap().path();
        let page = std::fs::read_to_string(&path).unwrap();
        let pieces = pieces(&page);
        let said = run(&pieces);
        tried += said.len();
        let page_now = written(&pieces, &said);
        if std::env::var_os("FOREMERGE_BLESS").is_some() {
            std::fs::write(&path, &page_now).unwrap();
            continue;
        }
        // How wide a column is depends on where temporary directories lie.
        let narrow = |page: &str| -> Vec<String> {
            page.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        };
        let (was, is) = (narrow(&page), narrow(&page_now));
        let first = was.iter().zip(&is).find(|(was, is)| was != is);
        assert!(was == is, "{} has changed, first here: {first:?}", path.display());
    }
    assert!(tried >= 10, "{tried} commands were run");
}
