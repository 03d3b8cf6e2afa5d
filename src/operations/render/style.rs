//! How a text looks, by what it means.

use anstyle::{AnsiColor, Effects};

use super::Text;
use crate::domain::assessment::Verdict;
use crate::domain::{ConflictStatus, IntentStatus, MessageStatus, Severity};

/// What a piece of text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Nothing in particular.
    #[default]
    Plain,
    /// The head of a section or column.
    Heading,
    /// Ids and times: there to be found, not to be read first.
    Dim,
    /// It stops somebody.
    Alarm,
    /// It wants somebody's attention.
    Warning,
    /// It is under way.
    Active,
    /// It is settled.
    Good,
}

impl Style {
    pub(super) fn ansi(self) -> anstyle::Style {
        let style = anstyle::Style::new();
        let coloured = |colour: AnsiColor| style.fg_color(Some(colour.into()));
        match self {
            Self::Plain => style,
            Self::Heading => style.effects(Effects::BOLD),
            Self::Dim => style.effects(Effects::DIMMED),
            Self::Alarm => coloured(AnsiColor::Red).effects(Effects::BOLD),
            Self::Warning => coloured(AnsiColor::Yellow),
            Self::Active => coloured(AnsiColor::Cyan),
            Self::Good => coloured(AnsiColor::Green),
        }
    }
}

impl From<Severity> for Text {
    fn from(severity: Severity) -> Self {
        let style = match severity {
            Severity::High => Style::Alarm,
            Severity::Medium => Style::Warning,
            Severity::Low => Style::Plain,
        };
        Self::default().styled(style, severity)
    }
}

impl From<ConflictStatus> for Text {
    fn from(status: ConflictStatus) -> Self {
        let style = match status {
            ConflictStatus::Open => Style::Warning,
            ConflictStatus::Coordinating => Style::Active,
            ConflictStatus::Resolved | ConflictStatus::Overridden => Style::Good,
            ConflictStatus::Dismissed => Style::Dim,
        };
        Self::default().styled(style, status)
    }
}

impl From<IntentStatus> for Text {
    fn from(status: IntentStatus) -> Self {
        let style = match status {
            IntentStatus::Intent => Style::Plain,
            IntentStatus::Claimed | IntentStatus::InProgress | IntentStatus::Provisional => Style::Active,
            IntentStatus::Validated | IntentStatus::Accepted | IntentStatus::Committed => Style::Good,
            IntentStatus::Discarded => Style::Dim,
        };
        Self::default().styled(style, status)
    }
}

impl From<MessageStatus> for Text {
    fn from(status: MessageStatus) -> Self {
        let style = match status {
            MessageStatus::Unread => Style::Warning,
            MessageStatus::Read => Style::Dim,
        };
        Self::default().styled(style, status)
    }
}

impl From<Verdict> for Text {
    fn from(verdict: Verdict) -> Self {
        let style = match verdict {
            Verdict::Conflicts | Verdict::Duplicate => Style::Warning,
            Verdict::Compatible => Style::Good,
            Verdict::DependsOn => Style::Active,
        };
        Self::default().styled(style, verdict.in_words())
    }
}
