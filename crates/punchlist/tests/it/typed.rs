//! Typed changes: what they do, what they refuse, and whether they say so.

use std::time::Duration;

use punchlist::{
    Dialect, Finish, Format, HoldKind, Import, NewTodo, Next, Op, Options, Panel, QuestionOption, Reason, RecordStatus,
    Reply, ScheduleRequest, Session, Status, View,
};
use serde_json::json;

fn session() -> Session {
    Session::in_memory(Options::new("host")).unwrap()
}

fn statuses(session: &Session) -> Vec<(String, Status)> {
    let todos = session.todos().unwrap();
    todos.into_iter().map(|todo| (todo.id.unwrap_or_default(), todo.status.stored())).collect()
}

#[test]
fn ops_change_the_plan_and_a_refused_batch_changes_nothing() {
    let session = session();
    let added = session.apply(&[
        Op::add(NewTodo::new("Write").id("w").labels(["bug"]).priority(1).files(["src/*.rs"])),
        Op::add(NewTodo::new("Test").id("t").after(["w"]).phase("Later").criteria("all green")),
    ]);
    assert_eq!(added.unwrap().added, ["w", "t"]);
    let before = session.revision().unwrap();
    let refused = session.apply(&[Op::note("w", "x"), Op::start("t")]).unwrap_err();
    assert_eq!((refused.code, session.revision().unwrap()), ("not_ready", before));
    assert!(session.apply(&[Op::label("w", ["not a label!"])]).is_err());
    session.apply(&[Op::start("w"), Op::note("w", "half done"), Op::unlabel("w", ["bug"])]).unwrap();
    session.apply(&[Op::done_with("w", "12 tests pass")]).unwrap();
    assert_eq!(statuses(&session), [("w".into(), Status::Completed), ("t".into(), Status::Pending)]);
    let todo = &session.todos().unwrap()[0];
    assert_eq!(todo.evidence[0].text.as_deref(), Some("12 tests pass"));
    assert!(todo.labels.is_empty());
}

#[test]
fn a_todo_fails_after_one_retry_and_can_be_reopened() {
    let session = session();
    session.apply(&[Op::add(NewTodo::new("Deploy").id("d")), Op::start("d")]).unwrap();
    session.apply(&[Op::fail("d", "timeout")]).unwrap();
    assert_eq!(statuses(&session), [("d".into(), Status::Pending)]);
    session.apply(&[Op::start("d")]).unwrap();
    session.apply(&[Op::fail("d", "timeout again")]).unwrap();
    assert_eq!(statuses(&session), [("d".into(), Status::Failed)]);
    session.apply(&[Op::reopen("d")]).unwrap();
    assert_eq!(session.todos().unwrap()[0].status, RecordStatus::Stored(Status::Pending));
}

#[test]
fn holds_wait_for_the_user_or_for_a_time_and_are_in_the_inbox() {
    let session = session();
    session.apply(&[Op::add(NewTodo::new("Ask").id("a")), Op::add(NewTodo::new("Wait").id("b"))]).unwrap();
    session.apply(&[Op::hold("a", "which port?"), Op::hold_for("b", "rate limit", Duration::from_secs(60))]).unwrap();
    let kinds: Vec<HoldKind> = session.todos().unwrap().into_iter().filter_map(|todo| Some(todo.hold?.kind)).collect();
    assert_eq!(kinds, [HoldKind::Human, HoldKind::Timer]);
    let inbox = session.inbox().unwrap();
    assert!(
        inbox.iter().any(|item| item.todo.as_deref() == Some("a") && item.text.contains("which port?")),
        "{inbox:?}"
    );
    session.apply(&[Op::release("a"), Op::start("a")]).unwrap();
    assert!(session.inbox().unwrap().iter().all(|item| item.todo.as_deref() != Some("a")));
}

#[test]
fn a_question_pauses_the_session_until_it_is_answered_once() {
    let session = session();
    session.call("todo_write", &json!({"ops": [{"op": "add", "id": "a", "content": "Clean up"}]})).unwrap();
    let option = |id: &str, allows| QuestionOption { id: id.into(), label: id.into(), allows };
    let first = session.ask("May I?", None, &[option("yes", true)]).unwrap();
    let id = session.ask("May I remove target?", Some("a"), &[option("yes", true), option("no", false)]).unwrap();
    let open = session.questions().unwrap();
    assert_eq!((open.len(), open[0].id, open[0].todo.as_deref()), (1, id, Some("a")));
    assert_eq!(session.turn_ended(Finish::EndTurn).unwrap(), Next::Stop(Reason::Asked));
    assert!(session.inbox().unwrap().iter().any(|item| item.question == Some(id)));
    assert!(session.answer(first, &Reply::Allow, None).is_err(), "another question took its place");
    assert!(session.answer(id, &Reply::Option("perhaps".into()), None).is_err());
    session.answer(id, &Reply::Option("no".into()), Some("I need it")).unwrap();
    assert!(session.answer(id, &Reply::Allow, None).is_err(), "only the first answer counts");
    assert!(session.questions().unwrap().is_empty());
    assert!(matches!(session.turn_ended(Finish::EndTurn).unwrap(), Next::Continue { .. }));
    let other = session.beside(Options::new("other")).unwrap();
    let theirs = other.ask("And I?", None, &[]).unwrap();
    assert!(session.answer(theirs, &Reply::Refuse, None).is_err(), "a session answers for itself");
}

#[test]
fn ids_are_made_by_the_host_if_it_wants() {
    let options = || Options::new("host").ids(|n| format!("task-{n}"));
    let native = Session::in_memory(options()).unwrap();
    assert_eq!(
        native.apply(&[Op::add("One"), Op::add(NewTodo::new("Two").id("two"))]).unwrap().added,
        ["task-1", "two"]
    );
    native.call("todo_write", &json!({"ops": [{"op": "add", "content": "Three"}]})).unwrap();
    native.beside(Options::new("other")).unwrap().apply(&[Op::add("Four")]).unwrap();
    let ids: Vec<String> = native.todos().unwrap().into_iter().filter_map(|todo| todo.id).collect();
    assert_eq!(ids, ["task-1", "two", "task-3", "task-4"]);
    let list = Session::in_memory(options().dialect(Dialect::Todowrite)).unwrap();
    let todo = json!({"content": "Docs", "status": "pending", "activeForm": "Writing docs"});
    list.call("TodoWrite", &json!({"todos": [todo]})).unwrap();
    assert_eq!(list.todos().unwrap()[0].id.as_deref(), Some("task-1"));
    let same = Session::in_memory(Options::new("host").ids(|_| "same".to_owned())).unwrap();
    assert_eq!(same.apply(&[Op::add("One"), Op::add("Two")]).unwrap_err().code, "duplicate_id");
}

#[test]
fn panels_follow_the_settings_and_the_host() {
    let session =
        Session::in_memory(Options::new("host").setting("view.ascii", "true").setting("view.clear_delay", "0"))
            .unwrap();
    session.apply(&[Op::add("One"), Op::add("Two")]).unwrap();
    session.apply(&[Op::done("T-1")]).unwrap();
    let panel = session.view(View::Panel).unwrap();
    assert!(panel.is_ascii() && panel.contains("Two") && !panel.contains("One") && panel.contains("1/2"), "{panel}");
    let own = Panel { title: "Plan".into(), width: 60, bar: false, ..Panel::default() };
    let drawn = session.panel(&own).unwrap();
    assert!(drawn.starts_with("┌─ Plan ─") && drawn.lines().all(|line| line.chars().count() == 60), "{drawn}");
    assert!(session.view(View::Notice).unwrap().starts_with("Todo list updated:"));
}

#[test]
fn undo_and_redo_are_the_sessions_own() {
    let mine = session();
    mine.apply(&[Op::add("One")]).unwrap();
    let other = mine.beside(Options::new("other")).unwrap();
    other.apply(&[Op::add("Two")]).unwrap();
    mine.undo(None).unwrap();
    let left: Vec<String> = mine.todos().unwrap().into_iter().map(|todo| todo.content).collect();
    assert_eq!(left, ["Two"]);
    mine.redo().unwrap();
    assert_eq!(mine.todos().unwrap().len(), 2);
    assert!(mine.redo().is_err());
}

#[test]
fn lists_are_read_and_written_in_the_formats_of_the_seeds() {
    let session = session();
    let phases = "# Build\n- [x] Design\n- [/] Code\n\n# Ship\n- [ ] Release\n";
    session.read(Format::Phases, phases, Import::Replace).unwrap();
    assert_eq!(session.write(Format::Phases).unwrap().trim(), phases.trim());
    let again = Session::in_memory(Options::new("host")).unwrap();
    again.read(Format::Extended, &session.write(Format::Extended).unwrap(), Import::Add).unwrap();
    assert_eq!(statuses(&again), statuses(&session));
    assert!(session.read(Format::Extended, "{", Import::Add).is_err());
    assert_eq!(session.write(Format::PhasesSession).err().map(|error| error.code), Some("invalid"));
}

#[test]
fn a_checkpoint_brings_the_work_back() {
    let session = session();
    session.apply(&[Op::add(NewTodo::new("One").id("a")), Op::add(NewTodo::new("Two").id("b"))]).unwrap();
    session.apply(&[Op::done("a")]).unwrap();
    let saved = session.checkpoint("before the merge").unwrap();
    session.apply(&[Op::done("b"), Op::add("Three")]).unwrap();
    let restored = session.restore(&saved.id).unwrap();
    assert_eq!(
        (restored.reopened, restored.newer, restored.next),
        (vec!["b".into()], vec!["T-1".into()], Some("b".into()))
    );
    assert_eq!(session.checkpoints(9).unwrap().len(), 2, "and one of the state before");
    assert!(session.restore("chk-nothing").is_err());
}

#[test]
fn a_subagent_reports_on_its_own_todos_and_on_no_others() {
    let parent = session();
    parent.apply(&[Op::add(NewTodo::new("One").id("a")), Op::add(NewTodo::new("Two").id("b"))]).unwrap();
    let worker = parent.assign(&["a"], Options::new("worker")).unwrap();
    assert!(worker.assignment().unwrap().contains("a"));
    assert_eq!((parent.assignment(), worker.name()), (None, parent.name()));
    let done = |id: &str| worker.call("todo_write", &json!({"ops": [{"op": "done", "id": id}]})).unwrap();
    let answer = done("b");
    assert!(answer.is_error && !answer.changed, "{}", answer.text);
    let answer = done("a");
    assert!(!answer.is_error && answer.changed, "{}", answer.text);
    assert!(parent.assign::<&str>(&[], Options::new("worker")).is_err());
}

#[test]
fn a_session_that_was_resumed_does_not_reuse_the_names_of_its_subagents() {
    let parent = session();
    parent.apply(&[Op::add(NewTodo::new("One").id("a")), Op::add(NewTodo::new("Two").id("b"))]).unwrap();
    let first = parent.assign(&["a"], Options::new("worker")).unwrap();
    // The same conversation in another process.
    let resumed = parent.beside(Options::new("host").session(parent.name())).unwrap();
    resumed.assign(&["b"], Options::new("worker")).unwrap();
    let answer = first.call("todo_write", &json!({"ops": [{"op": "done", "id": "a"}]})).unwrap();
    assert!(!answer.is_error, "{}", answer.text);
}

#[test]
fn a_todo_that_its_agent_has_started_can_be_assigned() {
    let parent = session();
    parent.apply(&[Op::add(NewTodo::new("One").id("a")), Op::start("a")]).unwrap();
    let worker = parent.assign(&["a"], Options::new("worker")).unwrap();
    let answer = worker.call("todo_write", &json!({"ops": [{"op": "done", "id": "a"}]})).unwrap();
    assert!(!answer.is_error, "{}", answer.text);
}

#[test]
fn the_user_changes_the_plan_and_the_agent_learns_of_it_with_its_next_call() {
    let session = session();
    session.call("todo_write", &json!({"ops": [{"op": "add", "id": "a", "content": "Mine"}]})).unwrap();
    session.apply_as_user(&[Op::add(NewTodo::new("Yours").id("b"))]).unwrap();
    let answer = session.call("todo_write", &json!({"ops": [{"op": "done", "id": "a"}]})).unwrap();
    assert!(answer.text.contains("Yours"), "{}", answer.text);
}

#[test]
fn batches_fit_a_budget() {
    let session = session();
    let todo = |id: &str, tokens| Op::add(NewTodo::new(format!("Do {id}")).id(id).estimated_tokens(tokens));
    session.apply(&[todo("a", 8_000), todo("b", 8_000), todo("c", 100_000)]).unwrap();
    let batch = session.next_batch(30_000).unwrap();
    assert_eq!(batch.todos.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let schedule = session.schedule(&ScheduleRequest { agents: 2, ..ScheduleRequest::default() }).unwrap();
    assert_eq!(schedule.windows.iter().map(|window| window.todos.len()).sum::<usize>(), 3);
}
