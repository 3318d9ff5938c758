//! Typed changes: what they do, what they refuse, and whether they say so.

use std::time::Duration;

use punchlist::{
    Complexity, Dialect, Finish, Format, HoldKind, Import, InboxKind, NewTodo, Next, Op, Options, Panel,
    QuestionOption, Reason, RecordStatus, Reply, Schedule, ScheduleRequest, Session, Status, TodoEdit, Verify, View,
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

/// What a host stores or sends on is read back as it was.
#[test]
fn values_for_hosts_are_read_back_from_json() {
    fn same<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
        let text = serde_json::to_string(value).unwrap();
        assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
    }
    let session = session();
    let mut events = session.subscribe().unwrap();
    session.apply(&[Op::add(NewTodo::new("One").id("a").phase("First").complexity(Complexity::Epic))]).unwrap();
    session.apply(&[Op::rename("a", "Another"), Op::note("a", "n"), Op::add("Two"), Op::done("T-1")]).unwrap();
    session.apply(&[Op::hold("a", "which?")]).unwrap();
    session.ask("May I?", Some("a"), &[]).unwrap();
    same(&events.wait(Duration::from_secs(5)).unwrap().unwrap());
    while let Some(update) = events.wait(Duration::from_millis(20)).unwrap() {
        same(&update);
    }
    same(&session.list().unwrap());
    same(&session.questions().unwrap());
    same(&session.inbox().unwrap());
    same(&session.next_batch(60_000).unwrap());
    let schedule = session.schedule(&ScheduleRequest { context: 10_000, ..ScheduleRequest::default() }).unwrap();
    let written = serde_json::to_value(&schedule).unwrap();
    // A schedule names all kinds of holds `held`, as other answers do.
    let read: Schedule = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), written);
    same(&session.checkpoint("n").unwrap());
    same(&Reply::Option("yes".into()));
    for kind in InboxKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
    let error = serde_json::to_value(session.apply(&[Op::done("nothing")]).unwrap_err()).unwrap();
    assert_eq!(error["code"], "unknown_todo");
}

#[test]
fn every_field_can_be_edited_and_removed() {
    let session = session();
    session.apply(&[Op::add(NewTodo::new("Write").id("a").complexity(Complexity::Small)), Op::add("Plan")]).unwrap();
    let todo = || session.todos().unwrap().into_iter().find(|todo| todo.id.as_deref() == Some("a")).unwrap();
    assert_eq!(todo().complexity, Some(Complexity::Small));
    let edit = TodoEdit::new()
        .content("Write it")
        .active_form("Writing it")
        .description("with care")
        .after(["T-1"])
        .phase("Later")
        .priority(1)
        .labels(["bug"])
        .complexity(Complexity::Large)
        .estimated_tokens(5_000_u64)
        .criteria("all green")
        .verify("make test")
        .files(["src/*.rs"]);
    session.apply(&[Op::edit("a", edit)]).unwrap();
    let edited = todo();
    assert_eq!((edited.content.as_str(), edited.active_form.as_deref()), ("Write it", Some("Writing it")));
    assert_eq!((edited.description.as_deref(), edited.depends_on), (Some("with care"), vec!["T-1".to_owned()]));
    assert_eq!((edited.phase.as_deref(), edited.priority, edited.labels.len()), (Some("Later"), Some(1), 1));
    assert_eq!((edited.complexity, edited.estimated_tokens), (Some(Complexity::Large), Some(5_000)));
    assert_eq!(edited.verification_criteria.as_deref(), Some("all green"));
    assert_eq!(edited.verify_command, Some(Verify::Shell("make test".into())));
    assert_eq!(edited.files, ["src/*.rs"]);
    let none: [&str; 0] = [];
    let empty = TodoEdit::new().active_form("").description("").after(none).phase("").labels(none).complexity(None);
    let empty = empty.estimated_tokens(None).criteria("").verify("").files(none);
    session.apply(&[Op::edit("a", empty)]).unwrap();
    let emptied = todo();
    assert_eq!((emptied.content.as_str(), emptied.active_form, emptied.description), ("Write it", None, None));
    assert_eq!((emptied.depends_on.len(), emptied.phase, emptied.labels.len()), (0, None, 0));
    assert_eq!((emptied.complexity, emptied.estimated_tokens, emptied.verification_criteria), (None, None, None));
    assert_eq!((emptied.verify_command, emptied.files.len()), (None, 0));
    let revision = session.revision().unwrap();
    let refused = session.apply(&[Op::edit("a", TodoEdit::new().content("Other").labels(["not a label!"]))]);
    assert!(refused.is_err() && session.revision().unwrap() == revision);
}

#[test]
fn batches_learn_from_what_todos_took_and_end_with_a_checkpoint() {
    let session = session();
    let todo = |id: &str, tokens| Op::add(NewTodo::new(format!("Do {id}")).id(id).estimated_tokens(tokens));
    session.apply(&[todo("a", 20_000), todo("b", 20_000), todo("c", 20_000)]).unwrap();
    let ids = |session: &Session, left| -> Vec<String> {
        session.next_batch(left).unwrap().todos.into_iter().map(|(id, _)| id).collect()
    };
    assert_eq!(ids(&session, 60_000), ["a", "b"]);
    session.apply(&[Op::done("a")]).unwrap();
    assert!(session.checkpoints(9).unwrap().is_empty());
    // The whole use of an attempt: what its agent reports again adds nothing.
    session.apply(&[Op::done_with_usage("b", 400_000)]).unwrap();
    assert_eq!(session.checkpoints(9).unwrap().len(), 1, "the batch is done");
    let batch = session.next_batch(60_000).unwrap();
    assert!(batch.todos.is_empty() && batch.too_large.is_some_and(|(_, size)| size.tokens > 42_000));
    // The tool of the model says the same.
    let answer = session.call("todo_read", &json!({"view": "schedule", "budget": 60_000})).unwrap();
    assert!(answer.text.contains("Nothing fits"), "{}", answer.text);
    let off = Session::in_memory(Options::new("host").setting("checkpoint.batches", "off")).unwrap();
    off.apply(&[Op::add("One")]).unwrap();
    off.next_batch(60_000).unwrap();
    off.apply(&[Op::done("T-1")]).unwrap();
    assert!(off.checkpoints(9).unwrap().is_empty());
}
