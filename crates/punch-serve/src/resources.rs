//! The plan and its todos as resources.

use rmcp::model::{ListResourceTemplatesResult, ListResourcesResult, Resource, ResourceTemplate};

use crate::service::PlanResource;

const PLAN: &str = "punch://plan";
const TODO: &str = "punch://todo/";

/// What a URI asks for.
pub fn parse(uri: &str) -> Option<PlanResource> {
    if uri == PLAN {
        return Some(PlanResource::Plan);
    }
    let id = decode(uri.strip_prefix(TODO)?)?;
    (!id.is_empty()).then_some(PlanResource::Todo(id))
}

/// The kind of text it reads as.
pub const fn mime(reading: &PlanResource) -> &'static str {
    match reading {
        PlanResource::Plan => "text/plain",
        PlanResource::Todo(_) => "application/json",
    }
}

/// What can be read without knowing anything.
pub fn list() -> ListResourcesResult {
    let plan = Resource::new(PLAN, "plan").with_description("Every todo of the plan").with_mime_type("text/plain");
    ListResourcesResult::with_all_items(vec![plan])
}

/// What can be read by id.
pub fn templates() -> ListResourceTemplatesResult {
    let todo = ResourceTemplate::new("punch://todo/{id}", "todo").with_description("Everything about one todo");
    ListResourceTemplatesResult::with_all_items(vec![todo.with_mime_type("application/json")])
}

/// Percent escapes as a URI has them; `None` for what is none.
fn decode(text: &str) -> Option<String> {
    let (mut out, mut bytes) = (Vec::with_capacity(text.len()), text.bytes());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || bytes.next().and_then(|b| char::from(b).to_digit(16));
            out.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_the_plan_or_a_todo() {
        let todo = |id: &str| Some(PlanResource::Todo(id.into()));
        assert_eq!(parse("punch://plan"), Some(PlanResource::Plan));
        assert_eq!(parse("punch://todo/T-1"), todo("T-1"));
        assert_eq!(parse("punch://todo/a%20b%2Fc"), todo("a b/c"));
        for bad in ["", "punch://", "punch://plan/", "punch://todo/", "punch://todo/%", "punch://todo/%zz", "file:///x"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
