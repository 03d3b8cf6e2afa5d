//! What stands at the end of help: prose as wide as the screen, and commands that can be run as they are printed.

use clap::Command;

/// The help of a command without what follows its options; that is put behind it.
const HELP: &str = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n{all-args}\n\n";

/// Lays out what follows the options of this command and of those below it. Clap would break commands, too.
pub(super) fn laid_out(command: Command, width: u16) -> Command {
    let guide = command.get_after_help().map(ToString::to_string);
    let command = match guide {
        Some(guide) => command.help_template(format!("{HELP}{}", wrapped(&guide, width))),
        None => command,
    };
    command.mut_subcommands(|inner| laid_out(inner, width))
}

/// The text with its lines broken to be at most so wide, but for those that are indented: they are commands.
pub(super) fn wrapped(text: &str, width: u16) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        lines.push(String::new());
        if line.starts_with("  ") {
            line.clone_into(lines.last_mut().expect("just pushed"));
            continue;
        }
        for word in line.split(' ') {
            let last = lines.last_mut().expect("just pushed");
            if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > usize::from(width) {
                lines.push(word.to_owned());
                continue;
            }
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines.join("\n")
}
