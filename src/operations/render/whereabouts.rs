//! Where a call acts, as a command has to repeat it that is pasted behind the call.

use std::path::Path;

use super::shell_word;

const PROGRAM: &str = "foremerge ";

/// What was said on the command line of where to act. Without it, a command that is pasted may act on another
/// repository.
#[derive(Debug, Clone, Default)]
pub struct Whereabouts {
    directory: String,
    database: String,
    /// The same file for a command that has a directory of its own, at which a relative path would start.
    elsewhere: String,
}

impl Whereabouts {
    /// Of a call with this `directory` and this `database`, which is at `absolute`.
    #[must_use]
    pub fn new(directory: Option<&Path>, database: Option<(&Path, &Path)>) -> Self {
        Self {
            directory: directory.map(|path| option("-C", path)).unwrap_or_default(),
            database: database.map(|(path, _)| option("--database", path)).unwrap_or_default(),
            elsewhere: database.map(|(_, path)| option("--database", path)).unwrap_or_default(),
        }
    }

    /// A command that acts there, too.
    #[must_use]
    pub fn of(&self, command: &str) -> String {
        let Some(words) = command.strip_prefix(PROGRAM) else { return command.to_owned() };
        if words.starts_with("help ") {
            return command.to_owned();
        }
        if words.starts_with("-C ") {
            return format!("{PROGRAM}{}{words}", self.elsewhere);
        }
        format!("{PROGRAM}{}{}{words}", self.directory, self.database)
    }
}

fn option(name: &str, path: &Path) -> String {
    let path = path.to_string_lossy();
    // It would be taken for an option.
    let here = if path.starts_with('-') { "./" } else { "" };
    format!("{name} {} ", shell_word(&format!("{here}{path}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_repeats_where_the_call_acted_and_gets_no_second_directory() {
        let nowhere = Whereabouts::default();
        assert_eq!(nowhere.of("foremerge status"), "foremerge status");
        let database = Some((Path::new("l/x"), Path::new("/a b/l/x")));
        let there = Whereabouts::new(Some(Path::new("a b")), database);
        assert_eq!(there.of("foremerge status"), "foremerge -C 'a b' --database l/x status");
        assert_eq!(there.of("foremerge -C /n status"), "foremerge --database '/a b/l/x' -C /n status");
        assert_eq!(there.of("export A=foremerge "), "export A=foremerge ");
        assert_eq!(there.of("foremerge help lifecycle"), "foremerge help lifecycle");
        let dashed = Whereabouts::new(Some(Path::new("-d")), None);
        assert_eq!(dashed.of("foremerge status"), "foremerge -C ./-d status");
    }
}
