//! What an agent would have declared for one side of a merge.
//!
//! Keys are spelled as an agent would write them: `Container::member` for methods, the bare name
//! for types, and `path/file.rs::name` for free functions and constants, whose bare names (`main`,
//! `run`, `get`) would meet everywhere.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use foremerge::detect::canonical::forms;
use foremerge::detect::findings::{Side, SideScope};
use foremerge::detect::outline::{Declaration, Kind, Language, Outline};
use foremerge::detect::prose;
use foremerge::detect::tiers::Compared;
use foremerge::domain::{ScopeKind, ScopeOperation};

/// Lines replaced by lines: first and count, counted from 1; of none, the line before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hunk {
    /// Before.
    pub old: (usize, usize),
    /// After.
    pub new: (usize, usize),
}

/// What became of a file.
#[derive(Debug, Clone)]
pub struct Edited {
    /// `A`, `D`, `R`, or anything else for a modification.
    pub status: char,
    /// Its path before.
    pub old: String,
    /// Its path after.
    pub new: String,
    /// Its changed lines.
    pub hunks: Vec<Hunk>,
    /// Its declarations before and after; of a language without rules none.
    pub outlines: Option<(Language, Outline, Outline)>,
}

/// A scope as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// What kind of thing it is.
    pub kind: ScopeKind,
    /// Which one.
    pub key: String,
    /// What is done to it.
    pub operation: ScopeOperation,
}

/// What identifies a declaration within a file.
pub type Name = (Kind, Option<String>, String);

fn name(declaration: &Declaration) -> Name {
    (declaration.kind, declaration.container.clone(), declaration.name.clone())
}

fn key(path: &str, (kind, container, name): &Name) -> String {
    match (container, kind) {
        (Some(container), _) => format!("{container}::{name}"),
        (None, Kind::Type) => name.clone(),
        (None, _) => format!("{path}::{name}"),
    }
}

/// The scopes of a side; no full form twice.
pub fn declared(edits: &[Edited]) -> Vec<Declared> {
    let mut scopes = Vec::new();
    let mut gone = Vec::new();
    let mut come = HashSet::new();
    for edit in edits {
        let mut file = |path: &str, operation| {
            scopes.push(Declared { kind: ScopeKind::File, key: path.to_owned(), operation });
        };
        match edit.status {
            'A' => file(&edit.new, ScopeOperation::Add),
            'D' => file(&edit.old, ScopeOperation::Remove),
            'R' => {
                file(&edit.old, ScopeOperation::Rename);
                file(&edit.new, ScopeOperation::Add);
            }
            _ => file(&edit.new, ScopeOperation::Modify),
        }
        let Some((language, old, new)) = &edit.outlines else { continue };
        for (name, operation) in changed(*language, old, new, &edit.hunks) {
            let path = if operation == ScopeOperation::Add { &edit.new } else { &edit.old };
            let key = key(path, &name);
            if operation == ScopeOperation::Remove {
                gone.push((name, key));
                continue;
            }
            scopes.push(Declared { kind: ScopeKind::Symbol, key, operation });
            if operation == ScopeOperation::Add {
                come.insert(name);
            }
        }
    }
    // What goes here and comes there has moved.
    for (name, key) in gone {
        let operation = if come.contains(&name) { ScopeOperation::Migrate } else { ScopeOperation::Remove };
        scopes.push(Declared { kind: ScopeKind::Symbol, key, operation });
    }
    folded(scopes)
}

/// Keeps each full form once, with what matters most to others.
fn folded(scopes: Vec<Declared>) -> Vec<Declared> {
    use ScopeOperation::{Add, Extend, Migrate, Modify, Remove, Rename, Replace};
    const WEIGHT: &[ScopeOperation] = &[Add, Extend, Modify, Rename, Replace, Remove, Migrate];
    let weight = |operation| WEIGHT.iter().position(|known| *known == operation);
    let mut kept: Vec<Declared> = Vec::with_capacity(scopes.len());
    let mut places = HashMap::new();
    for scope in scopes {
        let full = (scope.kind, forms(scope.kind, &scope.key).full);
        let place = *places.entry(full).or_insert(kept.len());
        match kept.get_mut(place) {
            None => kept.push(scope),
            Some(known) if weight(known.operation) < weight(scope.operation) => *known = scope,
            Some(_) => {}
        }
    }
    kept
}

/// What was done to the declarations of one file.
pub fn changed(
    language: Language,
    old: &Outline,
    new: &Outline,
    hunks: &[Hunk],
) -> Vec<(Name, ScopeOperation)> {
    let (before, after) = (by_name(old), by_name(new));
    let mut touched: BTreeSet<Name> = BTreeSet::new();
    for hunk in hunks {
        touched.extend(innermost(old, hunk.old));
        touched.extend(innermost(new, hunk.new));
    }
    let types = |outline: &Outline| -> HashSet<String> {
        let types = outline.declarations.iter().filter(|declaration| declaration.kind == Kind::Type);
        types.map(|declaration| declaration.name.clone()).collect()
    };
    let (types_before, types_after) = (types(old), types(new));
    // Who takes a class away or adds one names the class, not its members.
    let is_whole = |name: &Name, here: &HashSet<String>, there: &HashSet<String>| {
        name.1.as_ref().is_some_and(|container| here.contains(container) && !there.contains(container))
    };
    let is_new = |name: &&Name| !before.contains_key(*name) && !is_whole(name, &types_after, &types_before);
    let mut added: Vec<&Name> = after.keys().filter(is_new).collect();
    let mut found = Vec::new();
    for (name, declarations) in &before {
        let Some(now) = after.get(name) else {
            if is_whole(name, &types_before, &types_after) {
                continue;
            }
            let renamed = added.iter().position(|other| is_rename(declarations[0], after[*other][0], hunks));
            let operation = match renamed {
                Some(place) => {
                    added.remove(place);
                    ScopeOperation::Rename
                }
                None => ScopeOperation::Remove,
            };
            found.push((name.clone(), operation));
            continue;
        };
        let signatures = |all: &[&Declaration]| -> Vec<String> {
            let mut all: Vec<_> = all.iter().map(|declaration| declaration.signature.clone()).collect();
            all.sort();
            all
        };
        let (was, is) = (signatures(declarations), signatures(now));
        if was == is {
            found.extend(touched.contains(name).then(|| (name.clone(), ScopeOperation::Modify)));
        } else if was.iter().all(|kept| is.contains(kept)) || only_options(language, &was, &is) {
            found.push((name.clone(), ScopeOperation::Extend));
        } else {
            found.push((name.clone(), ScopeOperation::Replace));
        }
    }
    found.extend(added.into_iter().map(|name| (name.clone(), ScopeOperation::Add)));
    found
}

fn by_name(outline: &Outline) -> BTreeMap<Name, Vec<&Declaration>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for declaration in &outline.declarations {
        found.entry(name(declaration)).or_default().push(declaration);
    }
    found
}

/// The innermost declarations around changed lines that say something.
fn innermost(outline: &Outline, (first, count): (usize, usize)) -> impl Iterator<Item = Name> {
    (first..first + count).filter(|line| !outline.is_blank(*line)).filter_map(|line| {
        let around = outline.declarations.iter().filter(|d| d.lines.0 <= line && line <= d.lines.1);
        around.min_by_key(|d| d.lines.1 - d.lines.0).map(name)
    })
}

/// Whether one declaration became the other: same kind, owner and parameters, in one hunk.
fn is_rename(old: &Declaration, new: &Declaration, hunks: &[Hunk]) -> bool {
    let meets = |declaration: &Declaration, (first, count): (usize, usize)| {
        declaration.lines.0 < first + count && first <= declaration.head_end
    };
    old.kind == new.kind
        && old.container == new.container
        && old.parameters() == new.parameters()
        && hunks.iter().any(|hunk| meets(old, hunk.old) && meets(new, hunk.new))
}

/// Whether the new signature only takes more parameters that callers may leave out.
fn only_options(language: Language, was: &[String], is: &[String]) -> bool {
    let ([was], [is]) = (was, is) else { return false };
    if !matches!(language, Language::Python | Language::Script) {
        return false;
    }
    let parts = |text: &str| -> Option<(String, String, String)> {
        let (start, end) = (text.find('(')?, text.rfind(')')?);
        let inside = text.get(start + 1..end)?;
        Some((text[..start].to_owned(), inside.to_owned(), text[end..].to_owned()))
    };
    let (Some(was), Some(is)) = (parts(was), parts(is)) else { return false };
    let Some(more) = is.1.strip_prefix(was.1.as_str()) else { return false };
    let optional = |parameter: &str| {
        let parameter = parameter.trim();
        parameter.is_empty() || parameter.starts_with('*') || parameter.contains(['=', '?'])
    };
    was.0 == is.0
        && was.2 == is.2
        && (more.is_empty() || more.starts_with(','))
        && more.split(',').all(optional)
}

/// A side of a comparison.
pub fn side<'d>(scopes: impl Iterator<Item = &'d Declared>, subject: &str) -> Side {
    let scopes = scopes.map(|scope| SideScope {
        compared: Compared::new(&scope.key, forms(scope.kind, &scope.key)),
        operation: scope.operation,
        inferred: false,
    });
    Side { scopes: scopes.collect(), summary: prose::words(subject), namesake: false }
}
