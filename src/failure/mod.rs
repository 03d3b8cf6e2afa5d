//! Refusals: one type for everything that did not work, with a stable code and what to do next.

mod code;
mod convert;
mod exit;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::domain::text::beginning;

pub use code::Code;
pub use exit::Exit;

/// Why an operation did not do what was asked. Nothing was changed by it.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// What kind of failure it is.
    pub code: Code,
    /// What happened, in a sentence for a person.
    pub message: String,
    /// Facts a program may use, such as `field` or `candidates`.
    pub details: BTreeMap<String, Value>,
    /// Operations that help.
    pub next: Vec<NextStep>,
}

/// An operation that helps after a failure; every surface spells it in its own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextStep {
    /// Who can take it.
    pub audience: Audience,
    /// Id of the operation.
    pub operation: &'static str,
}

/// Who can take a next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The calling agent itself.
    Agent,
    /// The person who runs it.
    Operator,
}

impl Audience {
    /// Spelling on every surface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Operator => "operator",
        }
    }
}

impl Failure {
    /// Most characters of a message: what a caller typed may be repeated in it.
    const LONGEST: usize = 5_000;

    /// A failure with this code and message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let mut message: String = message.into();
        if message.len() > Self::LONGEST {
            message = beginning(&message, Self::LONGEST).into_owned();
        }
        Self { code, message, details: BTreeMap::new(), next: Vec::new() }
    }

    /// Refused input: names the field, and says what is accepted there, to a person in the message
    /// and to a program beside it: a list of words, a schema, or a phrase where neither would do.
    pub fn invalid(field: &str, message: impl std::fmt::Display, accepted: impl Into<Value>) -> Self {
        Self::new(Code::InvalidInput, format!("{field}: {message}"))
            .with("field", field)
            .with("accepted", accepted)
    }

    /// The detail that repeats an id which fits nothing, too much, or what may not act.
    pub const REFERENCE: &str = "reference";

    /// The same failure with the field that its [`REFERENCE`](Self::REFERENCE) was given in, which `holds` may tell.
    #[must_use]
    pub fn in_field(self, holds: impl FnOnce(&str) -> Option<String>) -> Self {
        let reference = self.details.get(Self::REFERENCE).and_then(Value::as_str);
        match reference.and_then(holds) {
            Some(field) => self.with("field", field),
            None => self,
        }
    }

    /// Something that its `status` does not allow, and the states that would.
    pub fn in_state(status: &str, message: impl Into<String>, accepted: impl Into<Value>) -> Self {
        Self::new(Code::InvalidTransition, message).with("status", status).with("accepted", accepted)
    }

    /// The same failure with one more fact.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// The same failure with one more operation that helps.
    #[must_use]
    pub fn then(mut self, audience: Audience, operation: &'static str) -> Self {
        self.next.push(NextStep { audience, operation });
        self
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Failure {}
