//! The systems that agents contain today, each rebuilt with the library: dependencies and subagents (Cursor), phases
//! (oh-my-pi), TodoWrite (gencode), the extended format with its scheduler, continuous execution (SuperOpenCode).

use punchlist::{
    ContextUse, Dialect, Ending, Finish, Format, Import, NewTodo, Next, Op, Options, Reason, ScheduleRequest, Session,
    View,
};
use serde_json::json;

#[test]
fn cursor_todos_become_ready_when_their_dependencies_are_done_and_go_to_subagents() {
    let session = Session::in_memory(Options::new("cursor").dialect(Dialect::Cursor)).unwrap();
    let todo = |id: &str, on: &[&str]| json!({"id": id, "content": format!("Do {id}"), "status": "pending", "dependencies": on});
    let call = json!({"merge": false, "todos": [todo("1", &[]), todo("2", &["1"]), todo("3", &["1", "2"])]});
    assert!(!session.call("todo_write", &call).unwrap().is_error);
    let ready = |session: &Session| -> Vec<String> {
        session.ready(9).unwrap().into_iter().filter_map(|todo| todo.id).collect()
    };
    assert_eq!(ready(&session), ["1"]);
    session.call("todo_write", &json!({"merge": true, "todos": [{"id": "1", "status": "completed"}]})).unwrap();
    assert_eq!(ready(&session), ["2"]);
    let worker = session.assign(&["2"], Options::new("worker").dialect(Dialect::Cursor)).unwrap();
    let prompt = worker.assignment().unwrap();
    assert!(prompt.contains("You have been assigned the following 1 to-do(s) with IDs: 2"), "{prompt}");
    worker.call("todo_write", &json!({"merge": true, "todos": [{"id": "2", "status": "completed"}]})).unwrap();
    assert_eq!(ready(&session), ["3"]);
}

#[test]
fn phased_tasks_move_on_by_themselves_and_live_in_markdown() {
    let session = Session::in_memory(Options::new("omp").dialect(Dialect::Phases)).unwrap();
    let init = json!({"op": "init", "list": [{"phase": "I. Foundation", "items": ["Scaffold", "Wire CI"]},
                                             {"phase": "II. Auth", "items": ["Add login"]}]});
    session.call("todo_write", &json!({"ops": [init]})).unwrap();
    session.call("todo_write", &json!({"ops": [{"op": "done", "task": "Scaffold"}]})).unwrap();
    let text = session.write(Format::Phases).unwrap();
    assert!(
        text.contains("- [x] Scaffold") && text.contains("- [/] Wire CI") && text.contains("- [ ] Add login"),
        "{text}"
    );
    // Edited by hand, and read back.
    session.read(Format::Phases, &text.replace("[/] Wire CI", "[x] Wire CI"), Import::Replace).unwrap();
    assert_eq!(session.progress().unwrap().completed, 2);
    let partly = json!({"ops": [{"op": "append", "phase": "II. Auth", "items": ["Add logout"]}, {"op": "done", "task": "nope"}]});
    let answer = session.call("todo_write", &partly).unwrap();
    assert!(answer.is_error && answer.changed && answer.errors.len() == 1, "{answer:?}");
}

#[test]
fn todowrite_renders_what_the_model_sent_and_refuses_two_in_progress() {
    let session = Session::in_memory(Options::new("gencode").dialect(Dialect::Todowrite)).unwrap();
    let todo =
        |content: &str, active: &str, status: &str| json!({"content": content, "activeForm": active, "status": status});
    let tests = |status| todo("Fix failing tests", "Fixing failing tests", status);
    let docs = |status| todo("Update documentation", "Updating documentation", status);
    let answer = session.call("TodoWrite", &json!({"todos": [tests("in_progress"), docs("pending")]})).unwrap();
    let lines: Vec<&str> = answer.text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, ["[>] Fix failing tests <- Fixing failing tests", "[ ] Update documentation", "(0/2 completed)"]);
    let answer = session.call("TodoWrite", &json!({"todos": [tests("completed"), docs("in_progress")]})).unwrap();
    assert!(answer.text.ends_with("(1/2 completed)"), "{}", answer.text);
    let two = session.call("TodoWrite", &json!({"todos": [tests("in_progress"), docs("in_progress")]})).unwrap();
    assert!(two.is_error && !two.changed, "{}", two.text);
    assert!(session.view(View::Panel).unwrap().contains("Updating documentation"));
    assert_eq!(session.list().unwrap().percent(), 50);
}

#[test]
fn the_extended_scheduler_fills_windows_of_seventy_percent() {
    let session = Session::in_memory(Options::new("ext").dialect(Dialect::Extended)).unwrap();
    let todo = |id: &str, size: &str, on: &[&str]| json!({"id": id, "title": format!("Do {id}"), "complexity": size, "dependsOn": on});
    let todos = [
        todo("T-1", "medium", &[]),
        todo("T-3", "medium", &[]),
        todo("T-7", "small", &[]),
        todo("T-2", "large", &["T-1"]),
        todo("T-5", "large", &["T-2"]),
    ];
    session.call("todo_write", &json!({"mode": "patch", "todos": todos})).unwrap();
    let schedule = session.schedule(&ScheduleRequest { context: 100_000, ..ScheduleRequest::default() }).unwrap();
    assert_eq!(schedule.budget, 70_000);
    let groups: Vec<&[String]> = schedule.groups.iter().map(|group| group.todos.as_slice()).collect();
    assert_eq!(groups, [&["T-1", "T-3", "T-7"].map(String::from)[..], &["T-2".to_owned()], &["T-5".to_owned()]]);
    assert!(schedule.windows.iter().all(|window| window.estimated_tokens <= schedule.budget), "{schedule:?}");
    assert_eq!(schedule.checkpoints.len() + 1, schedule.windows.len());
    session.apply(&[Op::done("T-1")]).unwrap();
    let saved = session.checkpoint("between batches").unwrap();
    assert_eq!(saved.todos.completed, ["T-1"]);
}

#[test]
fn an_agent_continues_until_its_todos_are_done_within_limits() {
    let options = Options::new("soc").setting("keep_going.absolute_max", "2");
    let session = Session::in_memory(options).unwrap();
    session.turn_started().unwrap();
    session
        .call("todo_write", &json!({"ops": [{"op": "add", "content": "One"}, {"op": "add", "content": "Two"}]}))
        .unwrap();
    assert!(matches!(session.turn_ended(Finish::EndTurn).unwrap(), Next::Continue { open: 2, total: 2, .. }));
    let full = Ending::default().context(ContextUse { used: 180_000, limit: 200_000 });
    assert!(matches!(session.turn_ended(full).unwrap(), Next::Stop(Reason::ContextFull { .. })));
    for stop in [Finish::Cancelled, Finish::Denied, Finish::Length] {
        assert!(matches!(session.turn_ended(stop).unwrap(), Next::Stop(_)), "{stop:?}");
    }
    session.turn_started().unwrap();
    session.apply(&[Op::done("T-1"), Op::done("T-2"), Op::add(NewTodo::new("Three"))]).unwrap();
    assert!(matches!(session.turn_ended(Finish::EndTurn).unwrap(), Next::Continue { open: 1, total: 3, .. }));
    session.apply(&[Op::done("T-3")]).unwrap();
    assert_eq!(session.turn_ended(Finish::EndTurn).unwrap(), Next::Stop(Reason::Finished));
}
