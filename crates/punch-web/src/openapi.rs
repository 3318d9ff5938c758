//! The OpenAPI 3.1 document, made from the table of routes.

use punch_core::schema::titled;
use serde_json::{Map, Value, json};

use crate::routes::{BASE, Handler, Needs, ROUTES, Route};
use crate::schema;

/// The whole document.
pub fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = format!("{BASE}{}", route.path);
        let entry = paths.entry(path).or_insert_with(|| json!({}));
        entry[route.method.to_ascii_lowercase()] = operation(route);
    }
    // Named forms are collected as for every other schema, and then get the place that OpenAPI has for them.
    let mut collected = titled("", "", json!({"paths": paths}));
    let forms = collected.as_object_mut().and_then(|map| map.shift_remove("$defs")).unwrap_or_default();
    let mut out = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Punchlist",
            "version": "1",
            "description": "The plans of a project. docs/api.md explains it with examples.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "security": [{"bearer": []}],
        "paths": collected["paths"].take(),
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": forms,
        },
    });
    place_references(&mut out);
    out
}

/// The document as it is checked in.
pub fn text() -> String {
    format!("{:#}\n", document())
}

/// Schemas are ours and shallow.
fn place_references(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(place_references),
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get_mut("$ref") {
                *reference = reference.replace("#/$defs/", "#/components/schemas/");
            }
            map.values_mut().for_each(place_references);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn operation(route: &Route) -> Value {
    let named = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = named.map(|name| {
        let schema = if matches!(name, "revision" | "n") || (name == "id" && route.path.contains("/questions/")) {
            schema::count_of()
        } else {
            schema::any_text()
        };
        json!({"name": name, "in": "path", "required": true, "schema": schema})
    });
    let in_query = route.query.iter().map(
        |param| json!({"name": param.name, "in": "query", "description": param.about, "schema": (param.schema)()}),
    );
    let parameters: Vec<Value> = in_path.chain(in_query).collect();
    let kind = if matches!(route.handler, Handler::Events) { "text/event-stream" } else { "application/json" };
    let problem = |about: &str| json!({"description": about, "content": {"application/problem+json": {"schema": schema::problem()}}});
    let mut responses = json!({
        "200": {"description": route.about, "content": {kind: {"schema": (route.answer)()}}},
        "400": problem("the request cannot be read"),
        "401": problem("missing or wrong token"),
        "403": problem("not allowed: role, host or origin"),
        "503": problem("the store is busy or not there; try again"),
    });
    if route.path.contains('{') {
        responses["404"] = problem("no such plan, todo, run, session or question");
    }
    if route.method == "GET" && route.path.contains("{plan}") {
        responses["304"] = json!({"description": "nothing has changed since the ETag that was sent"});
        responses["422"] = problem("a parameter was refused");
    }
    if route.body.is_some() {
        responses["409"] = problem("the plan, question or run has changed");
        responses["413"] = problem("the body is too large");
        responses["415"] = problem("the body is not JSON");
        responses["422"] = problem("a rule refused it; nothing was changed");
    }
    responses["429"] = problem("too many requests");
    let mut out = json!({"operationId": route.name, "summary": route.about, "parameters": parameters});
    if let Some(body) = route.body {
        out["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": body()}}});
    }
    if route.needs == Needs::Nothing {
        out["security"] = json!([]);
    }
    out["responses"] = responses;
    out
}
