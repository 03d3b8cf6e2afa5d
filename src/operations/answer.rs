//! What operations answer.

use serde_json::Value;
use serde_json::value::RawValue;

use super::Render;
use crate::failure::{Code, Exit, Failure};

/// The output of an operation.
pub trait Answer: serde::Serialize + Render + Sized {
    /// For callers who want nothing but the ids of what was made or is shown: what to tell them.
    /// `None` for an answer that is not about things with ids.
    const IDS: Option<fn(&Self) -> Vec<String>> = None;

    /// For a list that was cut short: where it goes on.
    fn page(&self) -> Option<PageInfo> {
        None
    }

    /// What is odd, or may go wrong: told even to those who want nothing else of the answer.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// How the process ends after this answer.
    fn exit(&self) -> Exit {
        Exit::Success
    }
}

/// Where a list that was cut short goes on.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PageInfo {
    /// Give this as `cursor` (for events as `after_seq`) to get the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// How long the whole list is.
    pub total: u64,
}

/// An answer whose type is known to its operation alone.
pub trait AnyAnswer: Render + Send {
    /// As JSON, written once.
    ///
    /// # Errors
    /// When a value cannot be written as JSON.
    fn to_text(&self) -> Result<Box<RawValue>, Failure>;
    /// As JSON to look into.
    ///
    /// # Errors
    /// When a value cannot be written as JSON.
    fn to_json(&self) -> Result<Value, Failure>;
    /// See [`Answer::page`].
    fn page(&self) -> Option<PageInfo>;
    /// See [`Answer::warnings`].
    fn warnings(&self) -> &[String];
    /// See [`Answer::exit`].
    fn exit(&self) -> Exit;
    /// See [`Answer::IDS`].
    fn ids(&self) -> Option<Vec<String>>;
}

impl<A: Answer + Send> AnyAnswer for A {
    fn to_text(&self) -> Result<Box<RawValue>, Failure> {
        serde_json::value::to_raw_value(self).map_err(|error| unwritable(&error))
    }

    fn to_json(&self) -> Result<Value, Failure> {
        serde_json::to_value(self).map_err(|error| unwritable(&error))
    }

    fn page(&self) -> Option<PageInfo> {
        Answer::page(self)
    }

    fn warnings(&self) -> &[String] {
        Answer::warnings(self)
    }

    fn exit(&self) -> Exit {
        Answer::exit(self)
    }

    fn ids(&self) -> Option<Vec<String>> {
        A::IDS.map(|ids| ids(self))
    }
}

/// Why an answer is none.
pub(crate) fn unwritable(error: &serde_json::Error) -> Failure {
    Failure::new(Code::InternalError, format!("the answer cannot be written: {error}"))
}

/// A list, the whole of it or one page.
#[derive(Debug)]
pub struct List<T>(pub crate::ledger::read::Page<T>);

impl<T: serde::Serialize> serde::Serialize for List<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.items.serialize(serializer)
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for List<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("List_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<T>::json_schema(generator)
    }
}

/// Something that lists show, which has an id.
pub trait Listed {
    /// The whole id.
    fn listed_id(&self) -> String;
}

impl<T: serde::Serialize + Listed> Answer for List<T>
where
    Self: Render,
{
    const IDS: Option<fn(&Self) -> Vec<String>> =
        Some(|list| list.0.items.iter().map(Listed::listed_id).collect());

    fn page(&self) -> Option<PageInfo> {
        let whole = self.0.next.is_none() && self.0.items.len() as u64 == self.0.total;
        let next = self.0.next.map(|cursor| cursor.to_string());
        (!whole).then_some(PageInfo { next, total: self.0.total })
    }
}

/// The number of items on a page: 100 unless asked, between 1 and 500.
#[must_use]
pub fn page_size(asked: Option<u64>) -> u32 {
    clamped(asked, 100, 500)
}

/// What was asked for, `usual` if nothing was, between 1 and `most`.
#[must_use]
pub fn clamped(asked: Option<u64>, usual: u32, most: u32) -> u32 {
    asked.map_or(usual, |asked| u32::try_from(asked).unwrap_or(most)).clamp(1, most)
}
