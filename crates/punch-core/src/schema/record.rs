//! The extended format: todos and documents.

use serde_json::{Value, json};

use super::{about, any_of, count, list, named, object, only, or_null, signed, text, time, word, yes_no};
use crate::{Proof, Record, ShownStatus};

/// One todo as it is written; `title` is read in place of `content`.
pub fn todo() -> Value {
    let mut out = json!({"type": "object", "properties": Record::properties()});
    out["properties"]["title"] = about(text(), "another name for `content`, only read");
    out["anyOf"] = json!([{"required": ["content"]}, {"required": ["title"]}]);
    named("todo", out)
}

/// One todo as answers show it: what programs look for first is always there.
pub fn shown() -> Value {
    let mut properties = Record::properties();
    let effective = "the best priority among it and everything open that waits for it";
    properties.insert("effectivePriority".to_owned(), about(count(), effective));
    let statuses: Vec<&str> = ShownStatus::all().map(ShownStatus::name).collect();
    let status = about(word(statuses), "the status with everything that follows from dependencies, holds and files");
    properties.insert("shown".to_owned(), status);
    let reason = object(&[("cause", text()), ("id", text()), ("text", text())], &[]);
    properties.insert("reasons".to_owned(), about(list(reason), "why it is not worked on; as in `punch why --json`"));
    let check = object(
        &[
            ("passed", yes_no()),
            ("exitCode", or_null(signed())),
            ("command", any_of(vec![text(), list(text())])),
            ("commit", or_null(text())),
            ("at", time()),
            ("observed", yes_no()),
        ],
        &[],
    );
    let last = "the last run of its verify command; `observed` if hooks saw an agent run it";
    properties.insert("lastCheck".to_owned(), about(check, last));
    let proof = about(word(Proof::ALL.map(Proof::name)), "what speaks for a completed todo");
    properties.insert("proof".to_owned(), proof);
    let shown = json!({
        "type": "object",
        "required": ["id", "content", "status", "priority", "dependsOn", "blocks", "effectivePriority", "shown"],
        "properties": properties,
    });
    named("todo", shown)
}

/// A whole plan: what is written, or only a list of todos.
pub fn document() -> Value {
    let phases = about(list(text()), "names in order; they may repeat");
    let whole = object(&[("todos", list(todo()))], &[("schema", only(1)), ("phases", phases)]);
    any_of(vec![whole, list(todo())])
}
