//! Arbitrary calls in the outside formats: mostly well formed, over few names, now and then not.

use serde_json::{Map, Value, json};

use crate::source::ByteSource;

/// Names and texts that occur in calls.
#[derive(Clone, Debug)]
pub struct CallWords {
    /// Ids.
    pub ids: Vec<String>,
    /// Contents.
    pub texts: Vec<String>,
}

impl Default for CallWords {
    fn default() -> Self {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self { ids: own(&["a", "b", "c", "d", "T-1", "T-2"]), texts: own(&["x", "y", "z", "long text", "ü>[x]"]) }
    }
}

/// A whole line for a dialect, with everything drawn from the source.
pub fn line(dialect: &str, source: &mut ByteSource<'_>) -> Value {
    let words = CallWords::default();
    let count = source.below(5) + 1;
    let calls: Vec<Value> = (0..count)
        .map(|_| match dialect {
            "cursor" => cursor(source, &words),
            "todowrite" => todowrite(source, &words),
            "extended" => extended(source, &words),
            "native" => native(source, &words),
            "phases-commands" => command(source, &words).into(),
            _ => phases(source, &words),
        })
        .collect();
    match dialect {
        "phases" => json!({"id": 1, "batches": calls}),
        "phases-commands" => json!({"id": 1, "commands": calls}),
        "phases-markdown" => json!({"id": 1, "kind": "md", "input": markdown(source, &words)}),
        "cursor" => json!({"id": 1, "mode": "aggressive", "calls": calls}),
        _ => json!({"id": 1, "calls": calls}),
    }
}

fn id(source: &mut ByteSource<'_>, words: &CallWords) -> String {
    source.pick(&words.ids)
}

fn text(source: &mut ByteSource<'_>, words: &CallWords) -> String {
    source.pick(&words.texts)
}

/// Now and then something of another type.
fn odd(source: &mut ByteSource<'_>, value: Value) -> Value {
    if !source.one_in(60) {
        return value;
    }
    source.pick(&[Value::Null, json!(7), json!(-1.5), json!(""), json!([]), json!({}), json!(["a", 1]), json!(true)])
}

fn maybe(
    map: &mut Map<String, Value>,
    source: &mut ByteSource<'_>,
    rate: usize,
    key: &str,
    make: impl FnOnce(&mut ByteSource<'_>) -> Value,
) {
    if source.one_in(rate) {
        let value = make(source);
        map.insert(key.to_owned(), odd(source, value));
    }
}

/// Seed 000: merge or replace.
pub fn cursor(source: &mut ByteSource<'_>, words: &CallWords) -> Value {
    let merge = source.one_in(2);
    let todos = source.list(6, |s| {
        let mut map = Map::new();
        let name = if s.one_in(8) { String::new() } else { id(s, words) };
        map.insert("id".into(), odd(s, name.into()));
        map.insert("content".into(), if s.one_in(6) { "".into() } else { text(s, words).into() });
        let status = s.pick(&["pending", "in_progress", "completed", "cancelled", "pending", "completed", ""]);
        map.insert("status".into(), odd(s, status.into()));
        maybe(&mut map, s, 2, "dependencies", |s| s.list(3, |s| id(s, words)).into());
        Value::Object(map)
    });
    json!({"merge": merge, "todos": todos})
}

/// Seed 002: full replacement with at most one in progress.
pub fn todowrite(source: &mut ByteSource<'_>, words: &CallWords) -> Value {
    let active = source.below(6);
    let mut n = 0;
    let todos = source.list(5, |s| {
        let status = if n == active { "in_progress" } else { s.pick(&["pending", "completed"]) };
        n += 1;
        let content = text(s, words);
        let form = if s.one_in(2) { content.clone() } else { format!("{content}ing") };
        let mut map = Map::new();
        map.insert("content".into(), odd(s, content.into()));
        map.insert("status".into(), odd(s, status.into()));
        map.insert("activeForm".into(), odd(s, form.into()));
        maybe(&mut map, s, 3, "id", |s| id(s, words).into());
        Value::Object(map)
    });
    json!({"todos": todos})
}

/// Seed 001: a batch of ops.
pub fn phases(source: &mut ByteSource<'_>, words: &CallWords) -> Value {
    let phase = |s: &mut ByteSource<'_>| s.pick(&["one", "two", "Todos"]);
    let mut ops = vec![phase_op(source, words, phase)];
    ops.extend(source.list(4, |s| phase_op(s, words, phase)));
    ops.into()
}

fn phase_op(s: &mut ByteSource<'_>, words: &CallWords, phase: impl Fn(&mut ByteSource<'_>) -> &'static str) -> Value {
    let mut map = Map::new();
    let verb = s.pick(&["append", "start", "done", "drop", "rm", "note", "append", "start", "done", "init"]);
    map.insert("op".into(), odd(s, verb.into()));
    match verb {
        "init" => {
            let list =
                s.list(3, |s| json!({"phase": phase(s), "items": [text(s, words), format!("{}2", text(s, words))]}));
            map.insert("list".into(), list.into());
        }
        "append" => {
            map.insert("phase".into(), phase(s).into());
            let mut items = vec![text(s, words)];
            items.extend(s.list(2, |s| text(s, words)));
            map.insert("items".into(), odd(s, items.into()));
        }
        "note" => {
            map.insert("task".into(), text(s, words).into());
            map.insert("text".into(), s.pick(&["n", "m ", ""]).into());
        }
        _ if s.one_in(5) => {
            map.insert("phase".into(), phase(s).into());
        }
        "done" | "drop" | "rm" if s.one_in(10) => {}
        _ => {
            map.insert("task".into(), text(s, words).into());
        }
    }
    Value::Object(map)
}

/// A `/todo` command.
pub fn command(source: &mut ByteSource<'_>, words: &CallWords) -> String {
    let verb = source.pick(&["", "append", "start", "done", "drop", "rm", "import", "export", "copy", "edit", "??"]);
    format!("{verb} {} {}", source.pick(&["", "one", "two"]), text(source, words))
}

fn markdown(source: &mut ByteSource<'_>, words: &CallWords) -> String {
    let lines = source.list(8, |s| {
        let mark = s.pick(&["# ", "- [ ] ", "- [x] ", "- [/] ", "- [-] ", "  > ", "", "- [", "\u{2028}"]);
        format!("{mark}{}{}", text(s, words), s.pick(&["\n", "\r\n", ""]))
    });
    lines.concat()
}

/// Seed 003: replace or patch.
pub fn extended(source: &mut ByteSource<'_>, words: &CallWords) -> Value {
    let replace = source.one_in(3);
    let todos = source.list(5, |s| {
        let mut map = Map::new();
        let name = id(s, words).into();
        map.insert("id".into(), odd(s, name));
        if replace || s.one_in(2) {
            map.insert("title".into(), text(s, words).into());
        }
        maybe(&mut map, s, 2, "status", |s| {
            s.pick(&["pending", "in_progress", "completed", "blocked", "cancelled", "failed"]).into()
        });
        maybe(&mut map, s, 3, "dependsOn", |s| s.list(3, |s| id(s, words)).into());
        maybe(&mut map, s, 6, "blocks", |s| s.list(2, |s| id(s, words)).into());
        maybe(&mut map, s, 4, "priority", |s| (s.below(5) + 1).into());
        maybe(&mut map, s, 9, "parallelGroup", |s| s.below(4).into());
        Value::Object(map)
    });
    json!({"mode": if replace { "replace" } else { "patch" }, "todos": todos})
}

/// A batch of native ops.
pub fn native(source: &mut ByteSource<'_>, words: &CallWords) -> Value {
    let mut ops = vec![native_op(source, words)];
    ops.extend(source.list(3, |s| native_op(s, words)));
    json!({"ops": ops})
}

fn native_op(s: &mut ByteSource<'_>, words: &CallWords) -> Value {
    const VERBS: [&str; 20] = [
        "add", "add", "add", "edit", "start", "done", "drop", "fail", "reopen", "hold", "release", "rm", "note",
        "move", "replace", "revert", "start", "done", "undo", "redo",
    ];
    let verb = s.pick(&VERBS);
    let mut map = Map::new();
    map.insert("op".into(), odd(s, verb.into()));
    if !matches!(verb, "replace" | "revert" | "undo" | "redo") {
        let name = id(s, words).into();
        map.insert("id".into(), odd(s, name));
    }
    match verb {
        "add" | "edit" => fields(s, words, &mut map, verb == "add"),
        "hold" => {
            map.insert("reason".into(), "wait".into());
        }
        "note" => {
            map.insert("text".into(), text(s, words).into());
        }
        "move" => {
            map.insert(s.pick(&["before", "after"]).into(), id(s, words).into());
        }
        "replace" => {
            let todos = s.list(4, |s| {
                let mut map = Map::new();
                maybe(&mut map, s, 2, "id", |s| id(s, words).into());
                maybe(&mut map, s, 3, "status", |s| s.pick(&["pending", "in_progress", "completed"]).into());
                fields(s, words, &mut map, true);
                Value::Object(map)
            });
            map.insert("todos".into(), todos.into());
        }
        "undo" if s.one_in(2) => {
            map.insert("any".into(), true.into());
        }
        "revert" | "undo" => {
            map.insert("revision".into(), s.below(6).into());
        }
        _ => {}
    }
    Value::Object(map)
}

fn fields(s: &mut ByteSource<'_>, words: &CallWords, map: &mut Map<String, Value>, new: bool) {
    if new || s.one_in(3) {
        let content = text(s, words).into();
        map.insert("content".into(), odd(s, content));
    }
    maybe(map, s, 3, "dependsOn", |s| s.list(3, |s| id(s, words)).into());
    maybe(map, s, 8, "blocks", |s| s.list(2, |s| id(s, words)).into());
    maybe(map, s, 5, "priority", |s| (s.below(6) + 1).into());
    maybe(map, s, 9, "phase", |s| s.pick(&["one", "two"]).into());
}
