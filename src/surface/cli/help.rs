//! `help` as it is typed.

use std::ffi::OsString;

/// The line without the options behind the word `help`, which clap takes for commands to tell of: asking for help
/// with `--json`, or for help with help, is asking for help.
pub(super) fn without_options(typed: Vec<OsString>) -> Vec<OsString> {
    let is_option = |word: &OsString| word.to_str().is_some_and(|word| word.starts_with('-'));
    // Only where it can be a command: at most a family stands before it.
    let mut words = typed.iter().enumerate().skip(1).filter(|(_, word)| !is_option(word)).take(2);
    let Some((at, _)) = words.find(|(_, word)| *word == "help") else { return typed };
    // It may be the value of an option.
    if typed[at - 1].to_str().is_some_and(|before| before.starts_with('-') && !FACES.contains(&before)) {
        return typed;
    }
    let mut place = 0..;
    typed.into_iter().filter(|word| place.next() <= Some(at) || !is_option(word)).collect()
}

/// The options without a value that may stand before a command.
const FACES: [&str; 4] = ["--json", "--quiet", "-q", "--id-only"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_behind_help_are_left_out_and_help_as_a_value_is_left_alone() {
        let read = |line: &str| {
            let words = without_options(line.split(' ').map(OsString::from).collect());
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(read("f help lifecycle --json"), "f help lifecycle");
        assert_eq!(read("f --json help -h"), "f --json help");
        assert_eq!(read("f agent help register --help"), "f agent help register");
        for other in [
            "f agent list --json",
            "f intent publish --summary help --json",
            "f init --standalone help --json",
            "f -C help status --json",
        ] {
            assert_eq!(read(other), other);
        }
    }
}
