//! From the scopes a caller declares to those an intent publishes.

use std::path::{Path, PathBuf};

use super::{Cx, Needs};
use crate::detect::{canonical, names, prose};
use crate::domain::fact::PublishedScope;
use crate::domain::scope::DeclaredScope;
use crate::domain::text::quoted;
use crate::domain::{Invalid, ScopeClaim, ScopeKind};
use crate::failure::Failure;
use crate::ledger::Place;

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
    if declared.len() > MOST {
        return Err(Failure::invalid("scopes", format!("at most {MOST} scopes, not {}", declared.len())));
    }
    let mut roots = None;
    let mut claims = Vec::with_capacity(declared.len());
    for DeclaredScope { kind, key, operation } in declared {
        let key = key.into_string();
        let key = match kind {
            ScopeKind::File => file_key(cx, &key, &mut roots)?,
            _ => key,
        };
        let inferred = operation.is_none();
        let operation = operation.unwrap_or_else(|| prose::operation(summary, &names::words(kind, &key)));
        claims.push(ScopeClaim { kind, key, operation, inferred });
    }
    canonical::publishable(claims).map_err(|Invalid(why)| Failure::invalid("scopes", why))
}

fn file_key<N: Needs>(
    cx: &Cx<'_, N>,
    key: &str,
    roots: &mut Option<Vec<PathBuf>>,
) -> Result<String, Failure> {
    let refuse = |why: String| Failure::invalid("scopes", format!("`file:{}`: {why}", quoted(key)));
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
