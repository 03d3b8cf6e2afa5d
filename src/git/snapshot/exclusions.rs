//! Which untracked paths a snapshot leaves out: exact paths, and `dir/` for everything below a directory. No patterns.

use crate::domain::Digest;

/// Rules for untracked paths, normalized: equal sets of rules are equal and have equal digests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exclusions {
    rules: Vec<String>,
}

/// Why a rule cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidExclusion {
    /// The rule is no path below the top of the worktree.
    #[error(
        "the exclusion {rule:?} is not a path below the top of the worktree, such as `report.xml` or `out/`"
    )]
    NotAPath {
        /// The rule as given.
        rule: String,
    },
    /// More rules than anybody writes by hand.
    #[error("there are {count} exclusions; at most {} are accepted", Exclusions::MOST)]
    TooMany {
        /// How many different ones were given.
        count: usize,
    },
}

impl Exclusions {
    /// The largest number of rules.
    pub const MOST: usize = 256;

    /// The rules in `rules`, each an exact path or, with a `/` at the end, a directory.
    ///
    /// # Errors
    /// [`InvalidExclusion`] for a rule that is absolute, empty or has an empty, `.` or `..` part, and for more than
    /// [`MOST`](Self::MOST) rules.
    pub fn new<S: Into<String>>(rules: impl IntoIterator<Item = S>) -> Result<Self, InvalidExclusion> {
        let mut rules: Vec<String> = rules.into_iter().map(Into::into).collect();
        rules.sort_unstable();
        rules.dedup();
        if rules.len() > Self::MOST {
            return Err(InvalidExclusion::TooMany { count: rules.len() });
        }
        if let Some(rule) = rules.iter().find(|rule| !is_path(rule)) {
            return Err(InvalidExclusion::NotAPath { rule: rule.clone() });
        }
        Ok(Self { rules })
    }

    /// The rules, in order.
    #[must_use]
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// The digest of the normalized rules.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let fields: Vec<_> = self.rules.iter().map(|rule| rule.as_bytes()).collect();
        Digest::of_fields(&fields)
    }

    pub(super) fn matches(&self, path: &[u8]) -> bool {
        self.rules.iter().any(|rule| {
            let rule = rule.as_bytes();
            path == rule || (rule.ends_with(b"/") && path.starts_with(rule))
        })
    }
}

fn is_path(rule: &str) -> bool {
    let path = rule.strip_suffix('/').unwrap_or(rule);
    !rule.contains('\0') && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_and_number_of_equal_rules_do_not_matter() {
        let one = Exclusions::new(["out/", "a.log", "out/"]).unwrap();
        assert_eq!(one, Exclusions::new(["a.log", "out/"]).unwrap());
        assert_eq!(one.digest(), Exclusions::new(["a.log", "out/"]).unwrap().digest());
        assert_ne!(one.digest(), Exclusions::new(["a.log", "out"]).unwrap().digest());
        assert_ne!(one.digest(), Exclusions::default().digest());
    }

    #[test]
    fn a_rule_is_an_exact_path_or_all_below_a_directory_and_never_a_pattern() {
        let rules = Exclusions::new(["out/", "a.log", "*.tmp"]).unwrap();
        for path in ["out/x", "out/deep/y", "a.log", "*.tmp"] {
            assert!(rules.matches(path.as_bytes()), "{path}");
        }
        for path in ["out", "outer/x", "b/a.log", "a.log/x", "b.tmp"] {
            assert!(!rules.matches(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn a_rule_that_is_no_path_is_refused_by_name() {
        for rule in ["", "/", "/etc/x", "a//b", "./a", "a/../b", "..", "a\0b"] {
            let refused = Exclusions::new(["fine", rule]).unwrap_err();
            assert_eq!(refused, InvalidExclusion::NotAPath { rule: rule.into() });
        }
        let many = (0..257).map(|number| format!("f{number}"));
        assert_eq!(Exclusions::new(many).unwrap_err(), InvalidExclusion::TooMany { count: 257 });
    }
}
