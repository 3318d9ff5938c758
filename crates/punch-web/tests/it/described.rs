//! Compares whatever a test receives with the API's own description: statuses, problems, answers and events.

use std::sync::OnceLock;

use punch_testkit::schema::wrong;
use serde_json::Value;

use crate::client::Answer;

/// The description; references lead to where a plain schema has its named forms.
fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let text = punch_web::openapi::text().replace("#/components/schemas/", "#/$defs/");
        serde_json::from_str(&text).unwrap()
    })
}

fn compare(schema: &Value, value: &Value, what: &str) {
    let mut schema = schema.clone();
    schema["$defs"] = document()["components"]["schemas"].clone();
    assert_eq!(wrong(&schema, value), Vec::<String>::new(), "{what}: {value}");
}

fn fits(known: &str, path: &str) -> bool {
    let (known, given): (Vec<_>, Vec<_>) = (known.split('/').collect(), path.split('/').collect());
    known.len() == given.len()
        && known.iter().zip(&given).all(|(known, given)| known.starts_with('{') || known == given)
}

/// The answer to a request. Addresses and methods that do not exist have no description.
pub fn check_answer(method: &str, path: &str, answer: &Answer) {
    // A connection that was cut has no answer.
    if answer.status == 0 {
        return;
    }
    let path = path.split('?').next().unwrap();
    let paths = document()["paths"].as_object().unwrap();
    let operation = paths.iter().find(|(known, _)| fits(known, path)).map(|(_, operations)| operations);
    let Some(operation) = operation.and_then(|operations| operations.get(method.to_ascii_lowercase())) else { return };
    let what = format!("{method} {path}, {}", answer.status);
    let described = operation["responses"].get(answer.status.to_string());
    let Some(described) = described else { panic!("{what} is not described: {}", answer.body) };
    for form in described["content"].as_object().into_iter().flatten().map(|(_, form)| form) {
        compare(&form["schema"], &answer.json(), &what);
    }
}

/// An event of a stream.
pub fn check_event(name: &str, data: &Value) {
    let schema = &document()["components"]["schemas"][format!("{name}Event")];
    assert!(schema.is_object(), "the event {name} is not described");
    compare(schema, data, name);
}
