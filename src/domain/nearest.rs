//! What somebody may have meant.

/// Longer words are not mistyped words.
const LONGEST: usize = 64;

/// The candidate that is most like what was written, if any is like it at all: a letter or two
/// apart, or begun and not finished. Upper and lower case are the same.
pub fn nearest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let written = written.trim().to_lowercase();
    if written.len() > LONGEST {
        return None;
    }
    let letters = written.chars().count();
    let distance = |candidate: &&str| {
        let candidate = candidate.to_lowercase();
        let begun = letters >= 3 && candidate.starts_with(&written);
        let apart = strsim::damerau_levenshtein(&written, &candidate);
        if begun { apart.min(1) } else { apart }
    };
    let near = candidates.into_iter().filter(|candidate| candidate.len() <= LONGEST);
    let near = near.map(|candidate| (distance(&candidate), candidate));
    near.filter(|(apart, _)| *apart <= letters / 3)
        .min_by_key(|(apart, _)| *apart)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_word_is_told_from_another_word() {
        let words = ["symbol", "schema", "api", "migration"];
        let meant = |written| nearest(written, words);
        assert_eq!(meant("symbl"), Some("symbol"));
        assert_eq!(meant("SHCEMA"), Some("schema"));
        assert_eq!(meant("apis"), Some("api"));
        assert_eq!(meant("migr"), Some("migration"));
        for other in ["gadget", "x", "", "mi"] {
            assert_eq!(meant(other), None, "{other}");
        }
        assert_eq!(meant(&"symbol".repeat(1_000)), None);
    }
}
