//! The JSON around every answer.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::failure::{Failure, NextStep};
use crate::operations::answer::{AnyAnswer, PageInfo, unwritable};

/// `{"ok": true, "data": …}`, with `page` beside a list that was cut.
///
/// # Errors
/// When the answer cannot be written as JSON.
pub fn success(answer: &dyn AnyAnswer) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Success {
        ok: bool,
        data: Box<RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        page: Option<PageInfo>,
    }
    let envelope = Success { ok: true, data: answer.to_text()?, page: answer.page() };
    serde_json::to_string(&envelope).map_err(|error| unwritable(&error))
}

/// `{"ok": false, "error": {"code", "message", …}}`; `spell` writes a next step as the surface
/// would have it called.
#[must_use]
pub fn failure(failure: &Failure, spell: impl Fn(&NextStep) -> String) -> Value {
    let mut error = Map::new();
    error.insert("code".to_owned(), json!(failure.code.as_str()));
    error.insert("message".to_owned(), json!(failure.message));
    if failure.code.is_retryable() {
        error.insert("retryable".to_owned(), json!(true));
    }
    if !failure.details.is_empty() {
        error.insert("details".to_owned(), json!(failure.details));
    }
    if !failure.next.is_empty() {
        let steps =
            failure.next.iter().map(|step| json!({ "audience": step.audience.as_str(), "run": spell(step) }));
        error.insert("next".to_owned(), steps.collect());
    }
    json!({ "ok": false, "error": error })
}
