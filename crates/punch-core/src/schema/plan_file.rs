//! The front matter of a plan file.

use serde_json::Value;

use super::{about, list, named, object, text, word};

/// What stands between the two lines `---`, as a mapping. Everything else in it is kept as it is.
pub fn plan_file() -> Value {
    let words = about(
        word(["pending", "in_progress", "completed", "cancelled"]),
        "what is written; the words of other tools are read too",
    );
    let todo = object(
        &[("content", text())],
        &[
            ("id", about(text(), "without it the todo gets one at the next sync")),
            ("status", words),
            ("dependencies", about(list(text()), "ids")),
        ],
    );
    let todo = named("todo", todo);
    let phase = object(&[("name", text())], &[("todos", list(todo.clone()))]);
    let todos = about(list(todo), "no todos, no change of the file");
    let phases = about(list(phase), "newer files group their todos");
    object(&[], &[("name", text()), ("overview", text()), ("todos", todos), ("phases", phases)])
}

#[cfg(test)]
mod tests {
    use punch_testkit::schema::wrong;
    use serde_json::json;

    use super::plan_file;
    use crate::format::plan_file::front_matter;
    use crate::format::yaml;
    use crate::schema::titled;
    use crate::{Document, Format};

    #[test]
    fn what_is_written_fits() {
        let plain = json!([
            {"id": "a", "content": "Write: it", "status": "in_progress"},
            {"id": "b", "content": "Test it", "dependsOn": ["a"], "status": "failed"},
        ]);
        let phased = json!([{"id": "a", "content": "Write it", "phase": "One"}]);
        for todos in [plain, phased, json!([])] {
            let document = Document::from_value(todos).unwrap().document;
            let written = Format::CursorPlan.write(&document).unwrap();
            let (front, _) = front_matter(&written.text).unwrap();
            let value = yaml::read(front).unwrap();
            assert_eq!(wrong(&titled("", "", plan_file()), &value), [""; 0], "{front}");
        }
    }
}
