//! Lists that are not shown whole.

use std::collections::BTreeMap;

/// How many entries were left out of the lists beside it, by field; a list it does not name is
/// complete.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Cut(BTreeMap<&'static str, u64>);

impl Cut {
    /// The same with `field`, of whose `all` entries `shown` are shown.
    #[must_use]
    pub fn with(mut self, field: &'static str, shown: usize, all: u64) -> Self {
        let left_out = all.saturating_sub(shown as u64);
        if left_out > 0 {
            self.0.insert(field, left_out);
        }
        self
    }

    /// Entries left out of `field`.
    #[must_use]
    pub fn of(&self, field: &str) -> u64 {
        self.0.get(field).copied().unwrap_or(0)
    }

    /// The lists that are not complete, each with how many entries were left out.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().map(|(field, count)| (*field, *count))
    }

    /// Whether every list is complete.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lists_that_are_not_complete_are_named() {
        let cut = Cut::default().with("whole", 3, 3).with("part", 3, 10);
        assert_eq!(serde_json::to_string(&cut).unwrap(), r#"{"part":7}"#);
        assert_eq!((cut.of("part"), cut.of("whole")), (7, 0));
        assert!(Cut::default().with("none", 0, 0).is_empty());
    }
}
