//! Plans of 100,000 todos in a thread with a small stack, through the same door as everything else (invariant 20).

use punch_core::dialect::Dialect;
use punch_core::replay::line;
use serde_json::{Value, json};

const MANY: usize = 100_000;

/// Runs one line in a thread with 256 KB of stack. Work that grows with the square of the size would take hours.
fn replay(dialect: Dialect, calls: &[String]) -> Vec<Value> {
    let text = format!("{{\"id\":1,\"mode\":\"aggressive\",\"calls\":[{}]}}", calls.join(","));
    let run = move || line(dialect, text.as_bytes()).json["results"].take();
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(run).unwrap();
    match thread.join().unwrap() {
        Value::Array(results) => results,
        other => panic!("{other}"),
    }
}

fn id(n: usize) -> String {
    format!("n{n}")
}

/// The todos of a plan in the words of a dialect; `deps` are numbers.
fn call(dialect: Dialect, deps: impl Fn(usize) -> Vec<usize>) -> String {
    let (extra, text, key) = match dialect {
        Dialect::Cursor => ("", "content", "dependencies"),
        Dialect::Extended => ("", "title", "dependsOn"),
        _ => ("\"op\":\"add\",", "content", "dependsOn"),
    };
    let todo = |n: usize| {
        let deps: Vec<String> = deps(n).into_iter().map(|dep| format!("\"n{dep}\"")).collect();
        format!("{{{extra}\"id\":\"n{n}\",\"{text}\":\"n{n}\",\"{key}\":[{}]}}", deps.join(","))
    };
    let todos = (0..MANY).map(todo).collect::<Vec<_>>().join(",");
    match dialect {
        Dialect::Cursor => format!("{{\"merge\":false,\"todos\":[{todos}]}}"),
        Dialect::Extended => format!("{{\"mode\":\"replace\",\"todos\":[{todos}]}}"),
        _ => format!("{{\"ops\":[{todos}]}}"),
    }
}

fn ready(dialect: Dialect, result: &Value) -> usize {
    let key = if dialect == Dialect::Cursor { "readyTaskIds" } else { "ready" };
    result[key].as_array().map_or(0, Vec::len)
}

/// The big call alone.
fn accepted(dialect: Dialect, deps: impl Fn(usize) -> Vec<usize>, expected: usize) {
    let results = replay(dialect, &[call(dialect, deps)]);
    assert_eq!(results[0]["success"], true, "{dialect:?}: {:.300}", results[0].to_string());
    assert_eq!(ready(dialect, &results[0]), expected, "{dialect:?}");
}

fn up(n: usize) -> Vec<usize> {
    if n == 0 { Vec::new() } else { vec![n - 1] }
}

fn down(n: usize) -> Vec<usize> {
    if n == MANY - 1 { Vec::new() } else { vec![n + 1] }
}

fn hub(n: usize) -> Vec<usize> {
    if n == 0 { Vec::new() } else { vec![0] }
}

fn collector(n: usize) -> Vec<usize> {
    if n == 0 { (1..MANY).collect() } else { Vec::new() }
}

#[test]
fn chains_are_accepted_in_both_directions() {
    accepted(Dialect::Cursor, up, 1);
    accepted(Dialect::Extended, down, 1);
    accepted(Dialect::Native, up, 1);
}

#[test]
fn stars_are_accepted_in_both_directions() {
    accepted(Dialect::Cursor, hub, 1);
    accepted(Dialect::Extended, hub, 1);
    accepted(Dialect::Extended, collector, MANY - 1);
}

#[test]
fn the_hub_of_a_star_is_finished_and_its_dependents_are_ready() {
    let done = r#"{"ops":[{"op":"done","id":"n0"}]}"#.to_owned();
    let results = replay(Dialect::Native, &[call(Dialect::Native, hub), done]);
    assert_eq!(ready(Dialect::Native, &results[1]), MANY - 1);
}

#[test]
fn all_dependencies_of_one_todo_are_replaced_away_at_once() {
    let left = r#"{"merge":false,"todos":[{"id":"n0","content":"left","dependencies":["n1"]}]}"#.to_owned();
    let results = replay(Dialect::Cursor, &[call(Dialect::Cursor, collector), left]);
    assert_eq!(results[1]["success"], true);
    let ids = (1..MANY).map(|n| format!("\"n{n}\"")).collect::<Vec<_>>().join(",");
    let gone = format!(r#"{{"ops":[{{"op":"rm","ids":[{ids}]}}]}}"#);
    let results = replay(Dialect::Native, &[call(Dialect::Native, collector), gone]);
    assert_eq!(ready(Dialect::Native, &results[1]), 1);
}

fn ring(n: usize) -> Vec<usize> {
    vec![(n + 1) % MANY]
}

#[test]
fn a_ring_is_refused_as_a_cycle_with_a_short_message() {
    let native = replay(Dialect::Native, &[call(Dialect::Native, ring)]);
    let error = &native[0]["errors"][0];
    assert_eq!(error["code"], "cycle");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("n0") && message.chars().count() <= 600, "{message}");
    assert_eq!(native[0]["todos"], json!([]));
    let extended = replay(Dialect::Extended, &[call(Dialect::Extended, ring)]);
    assert_eq!(extended[0]["code"], "cycle");
}

#[test]
fn a_ring_is_suspended_where_cycles_are_tolerated_and_opens_again() {
    let open = r#"{"merge":true,"todos":[{"id":"n7","dependencies":["n3"]},{"id":"n3","dependencies":["zz"]}]}"#;
    let results = replay(Dialect::Cursor, &[call(Dialect::Cursor, ring), open.to_owned()]);
    assert_eq!(ready(Dialect::Cursor, &results[0]), 0);
    assert_eq!(results[1]["success"], true);
}

#[test]
fn long_lines_and_long_texts_are_read() {
    let long = "ü".repeat(2_000_000);
    let results = replay(Dialect::Cursor, &[json!({"todos": [{"id": "a", "content": long}]}).to_string()]);
    assert_eq!(results[0]["finalTodos"][0]["content"], long.as_str());
    let refused = replay(Dialect::Native, &[json!({"ops": [{"op": "add", "content": long}]}).to_string()]);
    assert_eq!(refused[0]["errors"][0]["code"], "too_long");
}

#[test]
fn many_small_ops_in_one_batch_take_no_square_of_time() {
    const SOME: usize = 10_000;
    let adds: Vec<Value> = (0..SOME).map(|n| json!({"op": "add", "id": id(n), "content": id(n)})).collect();
    let work: Vec<Value> =
        (0..SOME).flat_map(|n| [json!({"op": "start", "id": id(n)}), json!({"op": "done", "id": id(n)})]).collect();
    let lost: Vec<Value> = (0..SOME).map(|n| json!({"op": "start", "id": format!("x{n}")})).collect();
    let after: Vec<Value> = (1..SOME).map(|n| json!({"op": "move", "id": id(n), "after": id(SOME / 2)})).collect();
    let calls: Vec<String> = [adds, work, lost, after].iter().map(|ops| json!({"ops": ops}).to_string()).collect();
    let results = replay(Dialect::Native, &calls);
    let success: Vec<bool> = results.iter().map(|r| r["success"] == true).collect();
    assert_eq!(success, [true, true, false, true]);
    let place = |id: &str| results[3]["todos"].as_array().unwrap().iter().position(|t| t["id"] == id).unwrap();
    assert!(place("n5000") < place("n9999") && place("n9999") < place("n9998") && place("n9998") < place("n1"));
}
