//! What the terminal can show: how many columns, and whether colours.

use std::io::{IsTerminal, stdout};

use crate::world::World;

/// Width of a screen that is no terminal.
const WIDTH: u16 = 100;
/// Narrower than this nothing can be laid out.
const NARROWEST: u16 = 20;

/// How wide a screen is: as `COLUMNS` says, or the terminal.
pub(super) fn width(world: &dyn World) -> u16 {
    let columns = world.variable("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
    if let Some(columns) = columns.filter(|columns| *columns >= NARROWEST) {
        return columns;
    }
    let terminal = terminal_size::terminal_size_of(stdout());
    terminal.map_or(WIDTH, |(terminal_size::Width(columns), _)| columns.max(NARROWEST))
}

/// Whether to write colours: only on a terminal, and only if nobody said otherwise.
pub(super) fn has_colours(world: &dyn World) -> bool {
    wants_colours(world, stdout().is_terminal())
}

fn wants_colours(world: &dyn World, terminal: bool) -> bool {
    let is = |name: &str, value: &str| world.variable(name).is_some_and(|found| found == value);
    if world.variable("NO_COLOR").is_some() {
        return false;
    }
    if world.variable("CLICOLOR_FORCE").is_some() && !is("CLICOLOR_FORCE", "0") {
        return true;
    }
    terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Fake;

    #[test]
    fn colours_are_for_terminals_unless_somebody_says_otherwise() {
        let wants = |variables: &[(&str, &str)], terminal| {
            let world =
                variables.iter().fold(Fake::new(1), |world, (name, value)| world.with_variable(name, *value));
            wants_colours(&world, terminal)
        };
        assert!(wants(&[], true) && !wants(&[], false));
        assert!(!wants(&[("NO_COLOR", "1")], true) && wants(&[("NO_COLOR", "")], true));
        assert!(!wants(&[("CLICOLOR", "0")], true) && !wants(&[("CLICOLOR", "1")], false));
        assert!(wants(&[("CLICOLOR_FORCE", "1")], false) && !wants(&[("CLICOLOR_FORCE", "0")], false));
        assert!(!wants(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true), "who asks for none gets none");
        assert!(!wants(&[("TERM", "dumb")], true));
    }

    #[test]
    fn the_width_is_what_columns_says_if_that_can_be() {
        let width = |columns: &str| width(&Fake::new(1).with_variable("COLUMNS", columns));
        assert_eq!((width("60"), width("20")), (60, 20));
        for refused in ["19", "0", "-5", "wide"] {
            assert_ne!(width(refused).to_string(), refused);
        }
    }
}
