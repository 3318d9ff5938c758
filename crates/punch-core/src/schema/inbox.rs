//! One item of the inbox.

use serde_json::Value;

use super::{about, count, object, or_null, text, time, word};
use crate::inbox::InboxKind;

/// An item of the inbox.
pub fn inbox_item() -> Value {
    object(
        &[
            ("kind", about(word(InboxKind::ALL.map(InboxKind::name)), "in this order")),
            ("todo", about(or_null(text()), "the id of the todo that it is about")),
            ("text", text()),
            ("since", time()),
            ("blocks", about(count(), "how many open todos wait for it, directly or not")),
            ("action", about(text(), "a command for the user")),
        ],
        &[],
    )
}
