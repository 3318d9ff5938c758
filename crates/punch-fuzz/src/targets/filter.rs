//! The filter language, on a small plan.

use punch_core::Plan;
use punch_core::filter::{Filter, Viewer};
use punch_core::reason::PlanReader;
use punch_testkit::fuzz::presentable;
use serde_json::json;

use super::text;

/// A filter is read or refused with a hint, and a filter that was read can be used.
pub fn filter(bytes: &[u8]) {
    match Filter::parse(&text(bytes)) {
        Ok(filter) => {
            let plan = Plan::default();
            let _ = filter.on(PlanReader::new(&plan, 100), Viewer::default());
            let _ = (filter.asks_for_closed(), filter.looks_at_todos_alone(), filter.follows_dependencies());
        }
        Err(refusal) => presentable(&json!({
            "code": refusal.code(), "message": refusal.message(), "hint": refusal.hint(),
        })),
    }
}
