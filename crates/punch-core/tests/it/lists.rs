//! The list dialects on any plan: what they asked for is what they are shown, twice is once, nothing is destroyed,
//! and what others did meanwhile stays (invariants 13, 14, 15; rules 7 and 9).

use proptest::collection::vec;
use proptest::prelude::*;
use punch_core::dialect::Dialect;
use punch_core::dialect::{cursor, list, phases, todowrite};
use punch_core::replay::{Memory, line};
use punch_core::{Actor, Context, Outcome, Plan, Policy, Refusal, Status};
use punch_testkit::ask::ModelOp;
use punch_testkit::batches::{batch, sequences};
use punch_testkit::calls::{self, CallWords};
use punch_testkit::rules::ModelRules;
use punch_testkit::seeds;
use punch_testkit::source::ByteSource;
use serde_json::{Value, json};

use crate::bridge;
use crate::pair::{Pair, rederived};

/// A plan that any mix of dialects may have made. Leases and cascades change more than a list asks for, so they are
/// left out here.
fn plan(choices: &[Vec<u8>]) -> Plan {
    let mut pair = Pair::new();
    for bytes in choices {
        let mut batch = batch(bytes, &pair.model);
        batch.asks.retain(|ask| !matches!(ask, ModelOp::Claim(..) | ModelOp::Rules(_)));
        let _ = pair.run(&batch).unwrap_or_else(|what| panic!("{what}"));
    }
    assert_eq!(pair.model.rules, ModelRules::NATIVE);
    pair.plan
}

/// The plan's own names among others.
fn words(plan: &Plan) -> CallWords {
    let mut words = CallWords::default();
    for todo in plan.live() {
        words.ids.push(todo.id.clone());
        if !todo.content.is_empty() {
            words.texts.push(todo.content.clone());
        }
    }
    words
}

fn change(
    plan: &mut Plan,
    base: &list::SessionList,
    new: &list::SessionList,
    policy: Policy,
) -> Result<Outcome, Vec<Refusal>> {
    let ctx = Context::new(plan.row.last_time + 1, Actor::user().signing("test"), policy);
    let mut base = base.clone();
    list::reclaim(&mut base, new, plan, ctx.now);
    let outcome = bridge::submit(plan, &list::diff(&base, new, plan), &ctx)?;
    plan.commit(&outcome);
    rederived(plan).unwrap_or_else(|what| panic!("{what}"));
    Ok(outcome)
}

/// Runs one cursor call; answers what it asked to see.
fn by_cursor(plan: &mut Plan, call: &Value) -> Option<(Vec<cursor::CursorRow>, Outcome)> {
    let shown = cursor::project(plan);
    let call = cursor::read(call).ok()?;
    let mut made = 0;
    let revision = plan.row.revision;
    let answer = cursor::step(&shown, &call, &mut || {
        made += 1;
        format!("made-{revision}-{made}")
    });
    let policy = cursor::policy(plan.row.policy);
    let done = change(plan, &cursor::to_list(&shown), &cursor::to_list(&answer.list), policy);
    Some((answer.list, done.unwrap_or_else(|r| panic!("{r:?}"))))
}

fn by_todowrite(plan: &mut Plan, call: &Value) -> Option<(Vec<todowrite::TodoWriteRow>, Outcome)> {
    let shown = todowrite::project(plan);
    let rows = todowrite::step(&shown, todowrite::read(call).ok()?);
    let policy = todowrite::policy(plan.row.policy);
    let done = change(plan, &todowrite::to_list(shown), &todowrite::to_list(rows.clone()), policy);
    Some((rows, done.unwrap_or_else(|r| panic!("{r:?}"))))
}

fn by_phases(plan: &mut Plan, call: &Value) -> Option<(Vec<phases::TaskPhase>, Outcome)> {
    let shown = phases::project(plan);
    let answer = phases::step(&shown, &phases::parse_ops(call).ok()?);
    let policy = phases::policy(plan.row.policy);
    let done = change(plan, &phases::to_list(&shown), &phases::to_list(&answer.phases), policy);
    Some((answer.phases, done.unwrap_or_else(|r| panic!("{r:?}"))))
}

/// What a cursor row shows; a dependency named twice is one.
fn cursor_rows(rows: &[cursor::CursorRow]) -> Vec<(String, String, Status, Vec<String>)> {
    let row = |row: &cursor::CursorRow| {
        let mut dependencies: Vec<String> = Vec::new();
        for dep in &row.dependencies {
            if !dependencies.contains(dep) {
                dependencies.push(dep.clone());
            }
        }
        (row.id.clone(), row.content.clone(), row.status, dependencies)
    };
    rows.iter().map(row).collect()
}

fn todowrite_rows(rows: &[todowrite::TodoWriteRow]) -> Vec<(String, Status, String)> {
    rows.iter().map(|row| (row.content.clone(), row.status, row.active_form.clone())).collect()
}

type Tasks = Vec<(String, Status, Vec<String>)>;

/// What a phase shows. The stand-in for todos without a phase is there only while there are some, and the story of a
/// failure is shown only while it is the last that happened.
fn phase_rows(phases: &[phases::TaskPhase]) -> Vec<(String, Tasks)> {
    let told = |note: &&String| !note.starts_with("failed: ");
    let task = |task: &phases::PhaseTask| {
        (task.content.clone(), task.status, task.notes.iter().filter(told).cloned().collect::<Vec<_>>())
    };
    let real = phases.iter().filter(|phase| phase.uid != Some(list::NO_PHASE) || !phase.tasks.is_empty());
    real.map(|phase| (phase.name.clone(), phase.tasks.iter().map(task).collect())).collect()
}

fn remember(plan: &Plan) -> Memory {
    let mut memory = Memory::default();
    memory.plan = plan.clone();
    memory
}

fn undestroyed(before: &Plan, after: &Plan) -> bool {
    before.all().all(|todo| after.get(todo.uid).is_some())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_shows_what_a_list_dialect_asked_for(choices in sequences(12), bytes in vec(vec(any::<u8>(), 0..40), 1..5)) {
        let mut plan = plan(&choices);
        for bytes in bytes {
            let before = plan.clone();
            let (source, words) = (&mut ByteSource::new(&bytes), words(&plan));
            match source.below(3) {
                0 => {
                    let call = calls::cursor(source, &words);
                    let Some((asked, _)) = by_cursor(&mut plan, &call) else { continue };
                    prop_assert_eq!(cursor_rows(&cursor::project(&plan)), cursor_rows(&asked), "{}", call);
                }
                1 => {
                    let call = calls::todowrite(source, &words);
                    let Some((asked, _)) = by_todowrite(&mut plan, &call) else { continue };
                    prop_assert_eq!(todowrite_rows(&todowrite::project(&plan)), todowrite_rows(&asked), "{}", call);
                }
                _ => {
                    let call = calls::phases(source, &words);
                    let Some((asked, _)) = by_phases(&mut plan, &call) else { continue };
                    prop_assert_eq!(phase_rows(&phases::project(&plan)), phase_rows(&asked), "{}", call);
                }
            }
            prop_assert!(undestroyed(&before, &plan));
        }
    }

    #[test]
    fn the_same_replacement_twice_writes_nothing_the_second_time(choices in sequences(12), bytes in vec(any::<u8>(), 0..60)) {
        let plan = plan(&choices);
        let (source, words) = (&mut ByteSource::new(&bytes), words(&plan));
        let mut cursor_call = calls::cursor(source, &words);
        cursor_call["merge"] = false.into();
        // A todo without an id is a new one every time.
        for (n, todo) in cursor_call["todos"].as_array_mut().unwrap().iter_mut().enumerate() {
            if todo["id"].as_str().is_none_or(str::is_empty) {
                todo["id"] = format!("n{n}").into();
            }
        }
        let todowrite_call = calls::todowrite(source, &words);
        let mut one = plan.clone();
        if by_cursor(&mut one, &cursor_call).is_some() {
            let (_, second) = by_cursor(&mut one, &cursor_call).unwrap();
            prop_assert!(second.events.is_empty() && second.rows.is_empty(), "{} gives {:?}", cursor_call, second.events);
        }
        let mut two = plan.clone();
        if by_todowrite(&mut two, &todowrite_call).is_some() {
            let revision = two.row.revision;
            let (_, second) = by_todowrite(&mut two, &todowrite_call).unwrap();
            prop_assert!(second.events.is_empty() && second.rows.is_empty(), "{} gives {:?}", todowrite_call, second.events);
            prop_assert_eq!(two.row.revision, revision);
        }
    }

    #[test]
    fn the_same_native_or_extended_replacement_twice_writes_nothing_the_second_time(
        choices in sequences(12),
        bytes in vec(any::<u8>(), 0..60),
    ) {
        let plan = plan(&choices);
        let (source, words) = (&mut ByteSource::new(&bytes), words(&plan));
        let mut call = calls::extended(source, &words);
        call["mode"] = "replace".into();
        // A failure is an event of its own each time it is reported.
        for todo in call["todos"].as_array_mut().unwrap() {
            if todo["status"] == "failed" {
                todo["status"] = "pending".into();
            }
        }
        let read = |plan: &Plan| {
            let call = punch_core::dialect::extended::read(&call, &Default::default())?;
            punch_core::dialect::extended::ops(plan, &call)
        };
        let mut memory = remember(&plan);
        let policy = punch_core::dialect::extended::policy(plan.row.policy);
        if read(&memory.plan).is_ok_and(|ops| memory.submit(&ops, policy).is_ok()) {
            let ops = read(&memory.plan).unwrap();
            let second = memory.submit(&ops, policy);
            prop_assert!(second.as_ref().is_ok_and(|o| o.events.is_empty()), "{}: {:?}", call, second.map(|o| o.events));
        }
        let todos = source.list(4, |s| json!({"content": s.pick(&words.texts), "id": s.pick(&words.ids)}));
        let call = json!({"ops": [{"op": "replace", "todos": todos}]});
        let read = |plan: &Plan| punch_core::dialect::native::read(plan, &call, &Default::default());
        let mut memory = remember(&plan);
        if read(&memory.plan).is_ok_and(|ops| memory.submit(&ops, plan.row.policy).is_ok()) {
            let ids: Vec<Value> = memory.plan.live().iter().map(|t| t.id.clone().into()).collect();
            let given: Vec<Value> = todos.iter().map(|todo| todo["id"].clone()).collect();
            prop_assert_eq!(ids, given, "the ids of a replacement are the ids of the plan");
            let ops = read(&memory.plan).unwrap();
            let second = memory.submit(&ops, plan.row.policy).unwrap();
            prop_assert!(second.events.is_empty(), "{}: {:?}", call, second.events);
        }
    }

    #[test]
    fn cursor_is_what_its_seed_says(bytes in vec(any::<u8>(), 0..160)) {
        let line_in = calls::line("cursor", &mut ByteSource::new(&bytes));
        let reply = line(Dialect::Cursor, line_in.to_string().as_bytes()).json;
        let (mut list, mut now) = (Vec::new(), 0);
        for (call, result) in line_in["calls"].as_array().unwrap().iter().zip(reply["results"].as_array().unwrap()) {
            if !seeds::cursor::valid(call) {
                prop_assert_eq!(&result["error"]["code"], "invalid");
                continue;
            }
            let before = seeds::cursor::rows(&list);
            let mut made = 0;
            seeds::cursor::call(&mut list, call, &mut || {
                made += 1;
                format!("todo-{now}-{made:09}")
            });
            now += 1_000;
            let expected = json!({
                "success": true,
                "readyTaskIds": seeds::cursor::ready(&list),
                "needsInProgressTodos": seeds::cursor::needs_in_progress(&list),
                "finalTodos": seeds::cursor::rows(&list),
                "initialTodos": before,
                "wasMerge": call["merge"],
            });
            prop_assert_eq!(result, &expected, "{}", call);
        }
    }

    #[test]
    fn todowrite_is_what_its_seed_says(bytes in vec(any::<u8>(), 0..160)) {
        let line_in = calls::line("todowrite", &mut ByteSource::new(&bytes));
        let reply = line(Dialect::Todowrite, line_in.to_string().as_bytes()).json;
        let mut list = Vec::new();
        for (call, result) in line_in["calls"].as_array().unwrap().iter().zip(reply["results"].as_array().unwrap()) {
            match seeds::todowrite::call(&mut list, call) {
                Ok(()) => {
                    prop_assert_eq!(&result["success"], true, "{}: {}", call, result);
                    prop_assert_eq!(&result["output"], &seeds::todowrite::render(&list));
                }
                Err(seeds::todowrite::SeedRefusal::Invalid) => prop_assert_eq!(&result["kind"], "invalid"),
                Err(seeds::todowrite::SeedRefusal::Many) => prop_assert_eq!(&result["kind"], "many_in_progress"),
            }
            prop_assert_eq!(&result["items"], &Value::from(list.clone()));
            prop_assert_eq!(&result["progress"], &seeds::todowrite::progress(&list));
        }
    }
}
