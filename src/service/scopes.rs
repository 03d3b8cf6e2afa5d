//! From the scopes a caller declares to those an intent publishes.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{Cx, Needs};
use crate::detect::{canonical, promise};
use crate::domain::fact::PublishedScope;
use crate::domain::scope::{DeclaredScope, NamedScope};
use crate::domain::text::quoted;
use crate::domain::{CanonicalScope, Invalid, ScopeClaim, ScopeKind};
use crate::failure::Failure;
use crate::ledger::{Place, Snapshot};

/// Most scopes an intent may declare.
pub const MOST: usize = 1_000;

/// Gives declared scopes their canonical forms, and an operation read from `summary` to those
/// that were declared without one. The key of a `file:` scope becomes its path
/// below the worktree root, so that nothing of this machine is published.
///
/// # Errors
/// `INVALID_INPUT` naming the scope.
pub fn publishable<N: Needs>(
    cx: &Cx<'_, N>,
    declared: Vec<DeclaredScope>,
    summary: &str,
) -> Result<Vec<PublishedScope>, Failure> {
    bounded("scopes", declared.len())?;
    let mut roots = None;
    let mut claims = Vec::with_capacity(declared.len());
    for DeclaredScope { kind, key, operation } in declared {
        let key = key.into_string();
        let key = match kind {
            ScopeKind::File => file_key(cx, "scopes", &key, &mut roots)?,
            _ => key,
        };
        let inferred = operation.is_none();
        let operation = operation.unwrap_or_else(|| promise::operation(summary, kind, &key));
        claims.push(ScopeClaim { kind, key, operation, inferred });
    }
    canonical::publishable(claims)
        .map_err(|Invalid(why)| Failure::invalid("scopes", why, "each scope once, with one operation"))
}

/// A scope without an operation, in the spelling and the forms the ledger knows it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Spelling, a `file:` key relative to the worktree root.
    pub key: String,
    /// The forms it is compared by.
    pub canonical: CanonicalScope,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.canonical.kind, quoted(&self.key))
    }
}

/// Gives named scopes their canonical forms, each form once.
///
/// # Errors
/// `INVALID_INPUT` naming the scope.
pub fn named<N: Needs>(cx: &Cx<'_, N>, field: &str, scopes: Vec<NamedScope>) -> Result<Vec<Named>, Failure> {
    bounded(field, scopes.len())?;
    let mut roots = None;
    let mut known = HashSet::new();
    let mut kept = Vec::with_capacity(scopes.len());
    for NamedScope { kind, key } in scopes {
        let key = key.into_string();
        let key = if kind == ScopeKind::File { file_key(cx, field, &key, &mut roots)? } else { key };
        let canonical = canonical::forms(kind, &key);
        if known.insert((kind, canonical.full.clone())) {
            kept.push(Named { key, canonical });
        }
    }
    Ok(kept)
}

/// Refuses a scope whose key ends in an operation, unless some intent declared that very key.
///
/// # Errors
/// `INVALID_INPUT` that names the scope to use.
pub fn carries_no_operation(snapshot: &Snapshot<'_>, field: &str, scope: &Named) -> Result<(), Failure> {
    let Some(key) = NamedScope::key_before_operation(&scope.key) else { return Ok(()) };
    if snapshot.is_declared(scope.canonical.kind, &scope.canonical.full)? {
        return Ok(());
    }
    let message = format!(
        "`{scope}` ends in an operation, and none belongs here: write `{}:{}`",
        scope.canonical.kind,
        quoted(key)
    );
    Err(Failure::invalid(field, message, format!("{}:{key}", scope.canonical.kind)))
}

fn bounded(field: &str, scopes: usize) -> Result<(), Failure> {
    if scopes > MOST {
        let accepted = format!("at most {MOST} scopes");
        return Err(Failure::invalid(field, format!("{accepted}, not {scopes}"), accepted));
    }
    Ok(())
}

fn file_key<N: Needs>(
    cx: &Cx<'_, N>,
    field: &str,
    key: &str,
    roots: &mut Option<Vec<PathBuf>>,
) -> Result<String, Failure> {
    let refuse = |why: String| {
        let why = format!("`file:{}`: {why}", quoted(key));
        Failure::invalid(field, why, "a path below the root of a worktree of this repository")
    };
    let path = Path::new(key);
    if !path.is_absolute() {
        return canonical::relative(key).map_err(|Invalid(why)| refuse(why));
    }
    let roots = match roots {
        Some(roots) => roots,
        none => none.insert(worktree_roots(cx)?),
    };
    let lexical =
        PathBuf::from(format!("/{}", canonical::relative(key).map_err(|Invalid(why)| refuse(why))?));
    below(roots, &lexical).or_else(|| below(roots, &real(&lexical))).ok_or_else(|| {
        refuse(
            "an absolute path must lie in a worktree of this repository; or write it relative to its root"
                .to_owned(),
        )
    })
}

/// Where absolute paths may lie: any worktree, or the directory of a standalone ledger.
fn worktree_roots<N: Needs>(cx: &Cx<'_, N>) -> Result<Vec<PathBuf>, Failure> {
    let site = cx.host().site()?;
    if let Some(repository) = site.repository {
        return Ok(repository.worktree_roots()?);
    }
    let around = site.place.directory().ends_with(Place::STANDALONE);
    let root = around.then(|| site.place.directory().parent()).flatten();
    Ok(root.and_then(|root| root.canonicalize().ok()).into_iter().collect())
}

/// The path below the longest root that contains it.
fn below(roots: &[PathBuf], path: &Path) -> Option<String> {
    let inside = roots.iter().filter_map(|root| path.strip_prefix(root).ok());
    let shortest = inside.min_by_key(|rest| rest.as_os_str().len())?;
    canonical::relative(shortest.to_str()?).ok()
}

/// The path with the links of its existing part resolved.
fn real(path: &Path) -> PathBuf {
    for existing in path.ancestors() {
        if let Ok(resolved) = existing.canonicalize()
            && let Ok(rest) = path.strip_prefix(existing)
        {
            return resolved.join(rest);
        }
    }
    path.to_owned()
}
