//! Operations on assessments: what an agent makes of other work that touches its own.

pub(super) mod list;
pub(super) mod record;
