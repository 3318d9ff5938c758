//! Rules of calls and batches that one short example shows best.

use punch_core::dialect::phases::{
    PhaseOp, PhasesTarget, TaskPhase, parse_ops, parse_params, phases_from_json, read, step, summary, write,
};
use punch_core::{PhaseUid, Refusal, Uid};
use serde_json::{Value, json};

use super::{list, pending, say};

fn ask(phases: &[TaskPhase], ops: Value) -> (Vec<TaskPhase>, Vec<String>) {
    let answer = step(phases, &parse_ops(&ops).unwrap());
    (answer.phases, answer.errors)
}

#[test]
fn notes_lose_javascript_white_space_at_their_end_and_nothing_else() {
    for (text, kept) in [
        (" a \t\n", " a"),
        ("a\u{feff}\u{a0}\u{3000}\u{2028}\u{2029}\u{b}\u{c}", "a"),
        ("a\u{85}", "a\u{85}"),
        ("a\u{200b} ", "a\u{200b}"),
        ("a\n\n  b", "a\n\n  b"),
    ] {
        let (phases, errors) = ask(&pending(&["t"]), json!([{"op": "note", "task": "t", "text": text}]));
        assert_eq!(errors, [""; 0]);
        assert_eq!(phases[0].tasks[0].notes, [kept], "{text:?}");
    }
    let (_, errors) = ask(&pending(&["t"]), json!([{"op": "note", "task": "t", "text": "\u{feff}\n"}]));
    assert_eq!(errors, ["Missing text for note operation"]);
}

#[test]
fn a_note_asks_for_the_task_before_it_asks_for_the_text() {
    let ops = json!([
        {"op": "note"}, {"op": "note", "task": "x"}, {"op": "note", "task": "task-1"}, {"op": "note", "task": "task-x"},
    ]);
    let (_, errors) = ask(&[], ops);
    assert_eq!(
        errors,
        [
            "Missing task content",
            "Task \"x\" not found (todo list is empty — was it replaced or not yet created?)",
            "Task \"task-1\" not found. Tasks are referenced by content, not by IDs — pass the task's full text from \
             the previous result.",
            "Task \"task-x\" not found (todo list is empty — was it replaced or not yet created?)",
        ]
    );
}

#[test]
fn an_empty_name_counts_as_none() {
    let ops = parse_ops(&json!([{"op": "done", "task": "", "phase": ""}, {"op": "rm", "task": "", "phase": "A"}]));
    assert_eq!(ops.unwrap(), [PhaseOp::Done(PhasesTarget::All), PhaseOp::Rm(PhasesTarget::Phase("A".into()))]);
}

#[test]
fn a_refused_call_names_the_place() {
    for (ops, place) in [
        (json!([]), "ops"),
        (json!({"op": "done"}), "ops"),
        (json!(["done"]), "ops[0]"),
        (json!([{"op": "done"}, {"op": "DONE"}]), "ops[1].op"),
        (json!([{"task": "x"}]), "ops[0].op"),
        (json!([{"op": "start", "task": 7}]), "ops[0].task"),
        (json!([{"op": "start", "text": null}]), "ops[0].text"),
        (json!([{"op": "done", "items": []}]), "ops[0].items"),
        (json!([{"op": "append", "phase": "A", "items": ["x", 2]}]), "ops[0].items[1]"),
        (json!([{"op": "init", "list": {}}]), "ops[0].list"),
        (json!([{"op": "init", "list": [{"items": ["x"]}]}]), "ops[0].list[0].phase"),
        (json!([{"op": "init", "list": [{"phase": "A", "items": []}]}]), "ops[0].list[0].items"),
    ] {
        match parse_params(&json!({"ops": ops})) {
            Err(Refusal::Invalid { at, .. }) => assert_eq!(at, place),
            other => panic!("{place}: {other:?}"),
        }
    }
    assert!(parse_params(&json!({})).is_err());
    assert!(parse_params(&json!([])).is_err());
}

#[test]
fn uids_stay_with_what_was_there_and_new_things_have_none() {
    let mut before = pending(&["a", "b"]);
    before[0].uid = Some(PhaseUid(7));
    before[0].tasks[0].uid = Some(Uid(1));
    before[0].tasks[1].uid = Some(Uid(2));
    let ops = json!([
        {"op": "rm", "task": "a"}, {"op": "append", "phase": "A", "items": ["a"]}, {"op": "start", "task": "b"},
        {"op": "note", "task": "b", "text": "n"},
    ]);
    let (after, _) = ask(&before, ops);
    assert_eq!(after[0].uid, Some(PhaseUid(7)));
    assert_eq!(after[0].tasks.iter().map(|task| task.uid).collect::<Vec<_>>(), [Some(Uid(2)), None]);
    let (after, _) = ask(&before, json!([{"op": "init", "list": [{"phase": "A", "items": ["a", "b"]}]}]));
    assert_eq!(after[0].uid, None);
    assert!(after[0].tasks.iter().all(|task| task.uid.is_none()));
    assert_eq!(say(&before, "done b").phases[0].tasks[1].uid, Some(Uid(2)));
}

#[test]
fn the_summary_shows_the_notes_of_the_active_task_only() {
    let phases = list(json!([
        {"name": "One", "tasks": [{"content": "done", "status": "completed", "notes": ["hidden"]}]},
        {"name": "Two", "tasks": [
            {"content": "old", "status": "abandoned"},
            {"content": "now", "status": "in_progress", "notes": ["line 1\n\nline 3", "second"]},
        ]},
        {"name": "Three", "tasks": []},
    ]));
    let expected = "Errors: e1; e2\nRemaining items (1):\n  - now [in_progress] (Two)\nPhase 2/3 \"Two\" — 1/2 tasks \
                    complete\n  One:\n    ✓ done (+1 note)\n  Two:\n    ✗ old\n    → now (+2 notes)\n        line 1\n        \
                    \n        line 3\n        ---\n        second\n  Three:";
    assert_eq!(summary(&phases, &["e1".into(), "e2".into()]), expected);
    assert_eq!(summary(&phases[2..], &[]), "Todo list cleared.");
    assert_eq!(summary(&phases[2..], &["e1".into()]), "Errors: e1");
}

#[test]
fn a_hundred_thousand_items_and_ops_stay_linear() {
    let names: Vec<String> = (0..100_000).map(|i| format!("item {i}")).collect();
    let each = |op: &str| names.iter().map(|name| json!({"op": op, "task": name})).collect::<Vec<_>>();
    let (phases, errors) = ask(&[], json!([{"op": "append", "phase": "A", "items": names}]));
    assert_eq!((phases[0].tasks.len(), errors.len()), (100_000, 0));
    let mut ops = each("start");
    ops.extend(each("done"));
    ops.extend(each("rm").into_iter().skip(1));
    ops.extend(each("note"));
    let (phases, errors) = ask(&phases, Value::Array(ops));
    assert_eq!((phases[0].tasks.len(), errors.len()), (1, 100_000));
    let one_each: Vec<Value> = names.iter().map(|n| json!({"op": "append", "phase": n, "items": [n]})).collect();
    let (phases, _) = ask(&[], Value::Array(one_each));
    assert_eq!(read(&write(&phases)).phases, phases);
}

#[test]
fn a_stored_list_of_the_wrong_shape_is_refused_by_its_place() {
    for (value, place) in [
        (json!({}), "phases"),
        (json!([{"tasks": []}]), "phases[0].name"),
        (json!([{"name": "A"}]), "phases[0].tasks"),
        (json!([{"name": "A", "tasks": [{"content": "a", "status": "cancelled"}]}]), "phases[0].tasks[0].status"),
        (
            json!([{"name": "A", "tasks": [{"content": "a", "status": "pending", "notes": [1]}]}]),
            "phases[0].tasks[0].notes",
        ),
    ] {
        assert!(matches!(phases_from_json(&value), Err(Refusal::Invalid { at, .. }) if at == place), "{place}");
    }
}
