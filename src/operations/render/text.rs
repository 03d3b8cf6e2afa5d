//! Text in pieces, each with a meaning. What goes in is escaped on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use super::{Style, Whereabouts, visible};
use crate::domain::Id;
use crate::domain::id::IdKind;

/// A text whose pieces mean something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Words(Style, String),
    /// A whole id, shown as short as the screen allows.
    Id(String),
}

/// A piece as it is shown.
pub(super) type Span<'t> = (Style, &'t str);

/// A text without any meaning beyond its words.
#[must_use]
pub fn plain(words: impl Display) -> Text {
    Text::default().and(words)
}

/// A heading.
#[must_use]
pub fn bold(words: impl Display) -> Text {
    Text::default().styled(Style::Heading, words)
}

/// Something in the background.
#[must_use]
pub fn dim(words: impl Display) -> Text {
    Text::default().styled(Style::Dim, words)
}

impl Text {
    /// The same, and then these words.
    #[must_use]
    pub fn and(self, words: impl Display) -> Self {
        self.styled(Style::Plain, words)
    }

    /// The same, and then these words in the background.
    #[must_use]
    pub fn and_dim(self, words: impl Display) -> Self {
        self.styled(Style::Dim, words)
    }

    /// The same, and then these words with a meaning.
    #[must_use]
    pub fn styled(mut self, style: Style, words: impl Display) -> Self {
        self.0.push(Piece::Words(style, visible(&words.to_string())));
        self
    }

    /// The same, and then an id: eight digits of it, more where two on the screen share those.
    #[must_use]
    pub fn id(self, id: impl Display) -> Self {
        let id = id.to_string();
        let whole = id.split_once('_').is_some_and(|(_, digits)| {
            digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
        if !whole {
            return self.and_dim(id);
        }
        let mut text = self;
        text.0.push(Piece::Id(id));
        text
    }

    /// The same, and then another text.
    #[must_use]
    pub fn then(mut self, other: impl Into<Self>) -> Self {
        self.0.extend(other.into().0);
        self
    }

    /// The same command, acting where `there` says.
    #[must_use]
    pub(super) fn acting(mut self, there: &Whereabouts) -> Self {
        if let Some(Piece::Words(_, words)) = self.0.first_mut() {
            *words = there.of(words);
        }
        self
    }

    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Words(_, words) if words.is_empty()))
    }

    pub(super) fn spans<'t>(&'t self, ids: &'t ShortIds) -> impl Iterator<Item = Span<'t>> {
        self.0.iter().map(|piece| match piece {
            Piece::Words(style, words) => (*style, words.as_str()),
            Piece::Id(id) => (Style::Dim, ids.of(id)),
        })
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        plain(words)
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        plain(words)
    }
}

impl From<&String> for Text {
    fn from(words: &String) -> Self {
        plain(words)
    }
}

impl<K: IdKind> From<Id<K>> for Text {
    fn from(id: Id<K>) -> Self {
        Self::default().id(id)
    }
}

/// Digits of a whole id, and those that are shown of it at least.
const DIGITS: usize = 32;
const SHOWN: usize = 8;

/// How long each id of a screen has to be, to be told from the others there.
#[derive(Debug, Default)]
pub(super) struct ShortIds(BTreeMap<String, usize>);

impl ShortIds {
    pub(super) fn among<'t>(texts: impl Iterator<Item = &'t Text>) -> Self {
        let ids: BTreeSet<&String> = texts
            .flat_map(|text| &text.0)
            .filter_map(|piece| if let Piece::Id(id) = piece { Some(id) } else { None })
            .collect();
        let ids: Vec<_> = ids.into_iter().collect();
        // In order, an id has most in common with one of its neighbours.
        let shared =
            |one: &str, other: &str| one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let length = |(at, id): (usize, &&String)| {
            let neighbours =
                [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| ids.get(at));
            let needed = neighbours.map(|other| shared(id, other) + 1).max().unwrap_or(0);
            let least = id.len() - DIGITS + SHOWN;
            ((*id).clone(), needed.clamp(least, id.len()))
        };
        Self(ids.iter().enumerate().map(length).collect())
    }

    fn of<'t>(&self, id: &'t str) -> &'t str {
        &id[..self.0.get(id).copied().unwrap_or(id.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Agent;

    #[test]
    fn ids_are_as_short_as_their_neighbours_allow() {
        let id = |first: u8, last: u8| {
            let mut bytes = [0x11; 16];
            (bytes[0], bytes[4]) = (first, last);
            Id::<Agent>::from_bytes(bytes)
        };
        let texts = [Text::from(id(1, 2)), Text::from(id(1, 3)), Text::from(id(2, 2)), plain("agt_0")];
        let ids = ShortIds::among(texts.iter());
        let shown: Vec<String> =
            texts.iter().map(|text| text.spans(&ids).map(|span| span.1).collect()).collect();
        assert_eq!(shown, ["agt_0111111102", "agt_0111111103", "agt_02111111", "agt_0"]);
    }
}
