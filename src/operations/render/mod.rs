//! What a person sees.
//!
//! An answer writes texts and tables to a [`Screen`], which lays them out for the width it has.
//! Whatever enters a [`Text`] is escaped first, so nothing stored can control a terminal.

mod escape;
mod screen;
mod style;
mod table;
mod text;
mod whereabouts;
mod wrap;

pub use escape::{escaped_json, shell_word, visible, visible_json};
pub use screen::Screen;
pub use style::Style;
pub use table::Cell;
pub use text::{Text, bold, dim, plain};
pub use whereabouts::Whereabouts;

/// Writes itself for a person.
pub trait Render {
    /// Adds its lines to the screen.
    fn render(&self, screen: &mut Screen);
}
