//! The rules of the house, held by reading its source: who may know whom, where each dependency
//! lives, how long a file may be, and that nothing is forgotten.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use foremerge::operations::registry;

/// Rooms from the ground up, each with the rooms it may know.
const ROOMS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("detect", &["domain"]),
    ("world", &["domain"]),
    ("git", &["domain", "detect", "world"]),
    ("ledger", &["domain", "detect", "world"]),
    ("failure", &["domain", "detect", "world", "git", "ledger"]),
    ("service", &["domain", "detect", "world", "git", "ledger", "failure"]),
    ("operations", &["domain", "detect", "world", "git", "ledger", "failure", "service"]),
    ("surface", &["domain", "detect", "world", "git", "ledger", "failure", "service", "operations"]),
];

/// Every dependency and the rooms it may be named in.
const HOMES: &[(&str, &[&str])] = &[
    ("anstyle", &["operations"]),
    ("clap", &["operations", "surface"]),
    ("getrandom", &["world"]),
    ("gix", &["git"]),
    ("heck", &["detect"]),
    ("icu_casemap", &["detect"]),
    ("icu_normalizer", &["detect"]),
    ("jiff", &["domain"]),
    ("rusqlite", &["ledger"]),
    ("rustix", &["git", "surface"]),
    ("schemars", &["domain", "ledger", "operations"]),
    ("serde", &["domain", "ledger", "operations", "surface"]),
    ("serde_json", &["domain", "ledger", "failure", "operations", "surface"]),
    ("serde_path_to_error", &["operations"]),
    ("sha2", &["domain"]),
    ("strsim", &["domain", "ledger"]),
    ("tempfile", &["ledger", "surface"]),
    ("terminal_size", &["surface"]),
    ("thiserror", &["domain", "git", "ledger"]),
    ("unicode_segmentation", &["operations"]),
    ("unicode_width", &["detect", "operations"]),
];

const LONGEST_FILE: usize = 500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(below: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(below)];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "{below} holds no source");
    found.sort();
    found
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn room(path: &Path) -> Option<String> {
    let inside = path.strip_prefix(root().join("src")).unwrap();
    let mut parts = inside.components();
    let first = parts.next()?.as_os_str().to_str()?.to_owned();
    parts.next().map(|_| first)
}

/// The code of a file without its tests, comments and what string literals say.
fn code(path: &Path) -> String {
    let text = text(path);
    let lines = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = lines.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut kept = String::new();
    for line in lines {
        let mut inside = false;
        for piece in line.split('"') {
            if !inside {
                kept.push_str(piece);
            }
            inside = !inside;
        }
        kept.push('\n');
    }
    kept
}

/// First path segments after each `crate::`, braces included.
fn rooms_named(code: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with('$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let group = rest.strip_prefix('{').and_then(|inside| inside.split('}').next()).unwrap_or(rest);
        let paths: Vec<_> = if rest.starts_with('{') { group.split(',').collect() } else { vec![rest] };
        for path in paths {
            let first: String =
                path.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            named.insert(first);
        }
    }
    named
}

#[test]
fn each_room_knows_only_the_rooms_below_it() {
    let mut seen = BTreeSet::new();
    for path in rust_files("src") {
        let Some(room) = room(&path) else { continue };
        let allowed = ROOMS.iter().find(|(name, _)| *name == room);
        let allowed = allowed.unwrap_or_else(|| panic!("{} is in a room nobody drew", path.display())).1;
        for named in rooms_named(&code(&path)) {
            let known = named == room || allowed.contains(&named.as_str());
            assert!(known, "{} knows `{named}`, which `{room}` must not", path.display());
        }
        seen.insert(room);
    }
    let drawn: BTreeSet<_> = ROOMS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(seen, drawn, "a room is empty");
}

#[test]
fn each_dependency_is_named_in_its_rooms_alone() {
    let manifest = text(&root().join("Cargo.toml"));
    let section = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let declared: BTreeSet<_> = section
        .lines()
        .filter_map(|line| line.split_once(" ="))
        .map(|(name, _)| name.replace('-', "_"))
        .collect();
    let housed: BTreeSet<_> = HOMES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(declared, housed, "a dependency has no home, or a home has no dependency");
    for path in rust_files("src") {
        let Some(room) = room(&path) else { continue };
        let code = code(&path);
        for (name, homes) in HOMES {
            let word =
                |(at, _): (usize, &str)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let used = format!("{name}::");
            let named = code.match_indices(&used).any(word) || code.contains(&format!("use {name};"));
            assert!(!named || homes.contains(&room.as_str()), "{} names {name}", path.display());
        }
    }
}

#[test]
fn no_file_is_too_long_to_be_read_at_once() {
    for path in rust_files("src").into_iter().chain(rust_files("tests")) {
        let lines = text(&path).lines().count();
        assert!(lines <= LONGEST_FILE, "{} has {lines} lines", path.display());
    }
}

#[test]
fn every_file_says_first_what_it_is_for() {
    for path in rust_files("src") {
        assert!(text(&path).starts_with("//! "), "{} has no opening line", path.display());
    }
}

#[test]
fn every_exception_to_a_lint_has_a_reason_and_nothing_is_left_for_later() {
    for path in rust_files("src").into_iter().chain(rust_files("tests")) {
        let text = text(&path);
        for attribute in ["allow(", "expect("].map(|word| format!("[{word}clippy")) {
            for (at, _) in text.match_indices(&attribute) {
                let whole = text[at..].split(']').next().unwrap();
                assert!(whole.contains("reason ="), "{}: {whole}", path.display());
            }
        }
        for mark in ["TO".to_owned() + "DO", "FIX".to_owned() + "ME", "X".repeat(3)] {
            assert!(!text.contains(&mark), "{} says {mark}", path.display());
        }
    }
}

#[test]
fn every_operation_is_registered() {
    let defined: usize = rust_files("src/operations")
        .iter()
        .map(|path| code(path).matches("impl Operation for ").count())
        .sum();
    assert_eq!(defined, registry::ALL.len());
}

#[test]
fn every_next_step_names_an_operation() {
    let mut steps = 0;
    for path in rust_files("src") {
        let text = text(&path);
        for (at, _) in text.match_indices(".then(Audience::") {
            let name = text[at..].split('"').nth(1).unwrap();
            assert!(registry::find(name).is_some(), "{} suggests `{name}`", path.display());
            steps += 1;
        }
    }
    assert!(steps > 0, "no next step was found: has the spelling changed?");
}

#[test]
fn the_top_level_holds_what_a_newcomer_expects_and_nothing_else() {
    const EXPECTED: &[&str] = &[
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "docs",
        "fixtures",
        "src",
        "target",
        "tests",
    ];
    for entry in std::fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name.starts_with('.') || EXPECTED.contains(&name.as_str()), "{name} is at the top level");
    }
}
