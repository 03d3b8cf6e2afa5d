//! From what a person calls a commit to the commit.

use std::borrow::Cow;

use gix::revision::Spec;
use gix::revision::spec::parse::{ObjectKindHint, Options};

use super::Repository;
use super::error::sentence;

/// Why a revision is not one commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RevisionError {
    /// Nothing is called that, or more than one thing is.
    #[error("{revision:?} names no commit: {why}")]
    Unknown {
        /// What was asked for.
        revision: String,
        /// What Git's rules say about it.
        why: String,
    },
    /// The branch that is checked out has no commit yet.
    #[error("{revision:?} names no commit: there is none yet")]
    Unborn {
        /// What was asked for.
        revision: String,
    },
    /// It is a range, or an object that is no commit and leads to none.
    #[error("{revision:?} names no commit, but {what}")]
    NotACommit {
        /// What was asked for.
        revision: String,
        /// What it names instead.
        what: String,
    },
}

impl Repository {
    /// The full hexadecimal id of the one commit that `revision` names, by the rules of `git rev-parse`: a branch, a
    /// tag, an id or its unambiguous beginning, `HEAD~2` and the like. `HEAD` is that of this worktree.
    ///
    /// # Errors
    /// [`RevisionError`] when it is not exactly one commit, or one this repository does not have.
    pub fn resolve_commit(&self, revision: &str) -> Result<String, RevisionError> {
        commit(self.inner(), revision).map(|id| id.to_string())
    }
}

pub(super) fn commit(repository: &gix::Repository, revision: &str) -> Result<gix::ObjectId, RevisionError> {
    let named = || revision.to_owned();
    let unknown = |error: &gix::Error| {
        let unborn = revision.starts_with("HEAD") && repository.head().is_ok_and(|head| head.is_unborn());
        if unborn {
            RevisionError::Unborn { revision: named() }
        } else {
            RevisionError::Unknown { revision: named(), why: sentence(error) }
        }
    };
    if let Some(why) = unsupported_search(revision) {
        return Err(RevisionError::Unknown { revision: named(), why: why.to_owned() });
    }
    let revision = with_local_upstream(repository, revision);
    let revision = revision.as_ref();
    let options = Options { object_kind_hint: Some(ObjectKindHint::Committish), ..Options::default() };
    let spec = Spec::from_bstr(revision, repository, options).map_err(|error| unknown(&error))?;
    // Not `single`, for which `main^!`, a commit without its parents, is one commit as well.
    let gix::revision::plumbing::Spec::Include(id) = spec.detach() else {
        return Err(RevisionError::NotACommit { revision: named(), what: "a range of commits".to_owned() });
    };
    let object = repository.find_object(id).map_err(|error| unknown(&error))?;
    let kind = object.kind;
    let commit = object.peel_to_kind(gix::objs::Kind::Commit);
    commit
        .map(|commit| commit.id)
        .map_err(|_| RevisionError::NotACommit { revision: named(), what: format!("a {kind}") })
}

/// Why what `revision` looks for in messages cannot be looked for as git does. Git takes it for an expression, gix for
/// plain text, and another commit would be found where the two differ.
fn unsupported_search(revision: &str) -> Option<&'static str> {
    // Git begins at all refs and at HEAD, gix at all refs.
    if revision.starts_with(":/") {
        return Some("a search begins at a commit or a branch that is named, as in main^{/words}");
    }
    let mut searches = revision.split("^{/").skip(1).filter_map(|rest| rest.split('}').next());
    let is_expression = searches
        .any(|search| search.contains(['\\', '.', '[', ']', '{', '(', ')', '*', '+', '?', '^', '$', '|']));
    is_expression.then_some("only plain words are looked for, with none of \\ . [ ] { } ( ) * + ? ^ $ |")
}

/// `revision` with the name of the upstream in place of what asks for it, where a branch follows another one of this
/// repository: gix knows only those of remotes.
fn with_local_upstream<'r>(repository: &gix::Repository, revision: &'r str) -> Cow<'r, str> {
    let upstream = || {
        let (branch, rest) = revision.split_once("@{")?;
        let (word, rest) = rest.split_once('}')?;
        if !["u", "upstream"].iter().any(|known| word.eq_ignore_ascii_case(known)) {
            return None;
        }
        let head = if matches!(branch, "" | "@" | "HEAD") {
            Some(repository.head_name().ok()??.shorten().to_string())
        } else {
            None
        };
        let branch = head.as_deref().unwrap_or(branch);
        let config = repository.config_snapshot();
        let value = |key: &str| config.string(&format!("branch.{branch}.{key}"));
        let merge =
            value("merge").filter(|_| value("remote").is_some_and(|remote| remote.as_slice() == b"."))?;
        Some(format!("{merge}{rest}"))
    };
    upstream().map_or(Cow::Borrowed(revision), Cow::Owned)
}
