//! What the user adds, changes and removes while an agent works: the agent learns of it at its next tool, once, and
//! finishes what was added.

use punch_core::dialect::mirror::{HostListUpdate, HostRow, HostStatus};
use punch_core::drive::{HostEvent, SessionStart, ToolKind};
use punch_core::{Edit, Hold, HoldKind, Keep, Op, Status};
use punch_engine::call::{Dialect, Family, TodoUse, Tool, ToolCaller};
use punch_engine::{Role, SessionState};
use punch_store::SessionKey;
use serde_json::{Value, json};

use super::{World, add, ended, id, person, stop, todos, world};

/// How a session writes its list: content and whether it is done. Returns what its agent reads.
type Write = fn(&World, &[(&str, bool)]) -> String;

const HEAD: &str = "The user changed the plan: ";

fn word(done: bool) -> &'static str {
    if done { "completed" } else { "pending" }
}

fn todowrite(world: &World, rows: &[(&str, bool)]) -> String {
    let rows: Vec<(&str, &str)> = rows.iter().map(|(content, done)| (*content, word(*done))).collect();
    written(world, Dialect::Todowrite, todos(&rows))
}

fn cursor(world: &World, rows: &[(&str, bool)]) -> String {
    let row = |(content, done): &(&str, bool)| json!({"id": content, "content": content, "status": word(*done)});
    let rows: Vec<Value> = rows.iter().map(row).collect();
    written(world, Dialect::Cursor, json!({"merge": false, "todos": rows}))
}

fn merging(world: &World, rows: &[(&str, bool)]) -> String {
    let row = |(content, done): &(&str, bool)| json!({"id": content, "content": content, "status": word(*done)});
    let rows: Vec<Value> = rows.iter().map(row).collect();
    written(world, Dialect::Cursor, json!({"merge": true, "todos": rows}))
}

fn phases(world: &World, rows: &[(&str, bool)]) -> String {
    let append = |(content, _): &(&str, bool)| json!({"op": "append", "phase": "P", "items": [content]});
    let done = |(content, _): &&(&str, bool)| json!({"op": "done", "task": content});
    let mut out = String::new();
    for row in rows {
        // What is there already is not appended again.
        out += &world.write("s", Dialect::Phases, json!({"ops": [append(row)]})).text;
    }
    let finished: Vec<Value> = rows.iter().filter(|(_, done)| *done).collect::<Vec<_>>().iter().map(done).collect();
    if !finished.is_empty() {
        out += &written(world, Dialect::Phases, json!({"ops": finished}));
    }
    out
}

fn native(world: &World, rows: &[(&str, bool)]) -> String {
    let ops = rows.iter().map(|(content, _)| json!({"op": "add", "content": content})).collect::<Vec<_>>();
    written(world, Dialect::Native, json!({"ops": ops}))
}

fn extended(world: &World, rows: &[(&str, bool)]) -> String {
    let row = |(content, _): &(&str, bool)| json!({"id": content, "title": content});
    let rows: Vec<Value> = rows.iter().map(row).collect();
    written(world, Dialect::Extended, json!({"mode": "patch", "todos": rows}))
}

fn written(world: &World, dialect: Dialect, arguments: Value) -> String {
    let answer = world.write("s", dialect, arguments);
    assert!(!answer.is_error, "{answer:?}");
    answer.text
}

/// The agent's own list, and the hook after it.
fn mirrored(world: &World, rows: &[(&str, bool)]) -> String {
    world.pass(1);
    let caller = ToolCaller::under(&world.settings, SessionKey::new("s", None), "claude".into());
    let row = |(content, done): &(&str, bool)| HostRow {
        content: (*content).to_owned(),
        status: if *done { HostStatus::Completed } else { HostStatus::Pending },
        ..HostRow::default()
    };
    let told = HostListUpdate::List(rows.iter().map(row).collect());
    let family = Family { name: "TodoWrite", shared: false };
    let used = TodoUse { caller: &caller, family, told: &told, key: None };
    let report = world.moment(SessionKey::new("s", None), ended("TodoWrite", ToolKind::HostTodo));
    let observed = world.engine.observe_copying(&report, &world.settings, &used, None).unwrap();
    observed.effect.context.unwrap_or_default()
}

const LISTS: [(&str, Write); 5] =
    [("todowrite", todowrite), ("cursor", cursor), ("merging", merging), ("phases", phases), ("mirrored", mirrored)];

const ALL: [(&str, Write); 7] = [
    ("todowrite", todowrite),
    ("cursor", cursor),
    ("merging", merging),
    ("phases", phases),
    ("mirrored", mirrored),
    ("native", native),
    ("extended", extended),
];

/// The sentence about the user's changes in what an agent reads.
fn notice(text: &str) -> Option<&str> {
    let mut lines = text.lines().filter(|line| line.starts_with(HEAD));
    let first = lines.next();
    assert_eq!(lines.next(), None, "said once: {text}");
    first
}

/// The hook after a tool that has nothing to do with todos.
fn after_tool(world: &World) -> String {
    world.report("s", ended("Read", ToolKind::Other)).context.unwrap_or_default()
}

fn of(world: &World, content: &str) -> punch_core::Ref {
    let plan = world.engine.whole(world.plan).unwrap();
    id(&plan.live().into_iter().find(|todo| todo.content == content).unwrap().id)
}

fn status(world: &World, content: &str) -> Option<Status> {
    let plan = world.engine.whole(world.plan).unwrap();
    plan.live().into_iter().find(|todo| todo.content == content).map(|todo| todo.status)
}

#[test]
fn a_session_is_not_finished_while_something_is_open_that_the_user_added() {
    for (name, write) in LISTS {
        let world = world();
        world.by_hand(&[add("there before")]);
        write(&world, &[("mine", false)]);
        world.by_hand(&[add("of the user")]);
        let text = write(&world, &[("mine", true)]);
        let said = notice(&text).unwrap_or_else(|| panic!("{name}: {text}"));
        assert!(said.contains("of the user") && said.contains("added") && !said.contains("mine"), "{name}: {said}");
        let text = world.report("s", stop()).go_on.unwrap_or_default();
        assert!(text.contains("of the user"), "{name}: {}, {text}", world.decided("s"));
        assert_eq!(world.report("s", person()).context, None, "{name}: said once");
        write(&world, &[("mine", true)]);
        assert_eq!(status(&world, "of the user"), Some(Status::Pending), "{name}: leaving it out removes nothing");
        assert_eq!(world.stopped("s"), "continue", "{name}: it still counts");
        write(&world, &[("mine", true), ("of the user", true)]);
        assert_eq!(status(&world, "of the user"), Some(Status::Completed), "{name}");
        assert_eq!(world.stopped("s"), "finished", "{name}: what was there before is offered, not assigned");
    }
}

#[test]
fn a_stop_counts_a_new_todo_before_its_agent_is_informed() {
    for (name, write) in LISTS {
        let world = world();
        write(&world, &[("mine", true)]);
        world.by_hand(&[add("of the user")]);
        assert_eq!(world.stopped("s"), "continue", "{name}");
        assert!(notice(&after_tool(&world)).is_some(), "{name}");
        assert_eq!(world.stopped("s"), "continue", "{name}");
    }
}

/// One change of each kind that a user makes, and how the agent reads of it by id and by content.
fn changes(world: &World) -> Vec<(Vec<Op>, &'static str, &'static str)> {
    let one = of(world, "one");
    let edit = |edit: Edit| vec![Op::Edit(one.clone(), edit)];
    let content = Keep::Set("one, renamed".into());
    let hold = Hold { kind: HoldKind::Other, reason: "ask me first".into(), until: None, by: String::new(), at: 0 };
    vec![
        (vec![add("of the user")], "added: \"of the user\"", "\"of the user\" added"),
        (
            vec![Op::Note(one.clone(), "use the blue cluster".into())],
            "note: \"use the blue cluster\"",
            "\"one\" note: \"use",
        ),
        (edit(Edit { priority: Keep::Set(1), ..Edit::default() }), "priority 1", "\"one\" priority 1"),
        (vec![Op::Hold(one.clone(), hold)], "on hold: ask me first", "\"one\" on hold: ask me first"),
        (vec![Op::Release(one.clone())], "no longer on hold", "\"one\" no longer on hold"),
        (edit(Edit { content, ..Edit::default() }), "now \"one, renamed\"", "\"one\" now \"one, renamed\""),
        (vec![Op::Drop(of(world, "two"))], "cancelled", "\"two\" cancelled"),
        (vec![Op::Rm(of(world, "three"))], "removed", "\"three\" removed"),
    ]
}

#[test]
fn every_change_of_the_user_reaches_the_agent_after_its_next_tool_and_only_once() {
    for (name, write) in ALL {
        let world = world();
        write(&world, &[("one", false), ("two", false), ("three", false)]);
        assert_eq!(after_tool(&world), "", "{name}");
        let has_ids = !matches!(name, "todowrite" | "phases" | "mirrored");
        for (ops, by_id, by_content) in changes(&world) {
            world.by_hand(&ops);
            let text = after_tool(&world);
            let said = notice(&text).unwrap_or_else(|| panic!("{name}: {ops:?}"));
            assert!(said.contains(if has_ids { by_id } else { by_content }), "{name}: {said}");
            assert_eq!(after_tool(&world), "", "{name}: said once");
            assert_eq!(world.report("s", person()).context, None, "{name}: said once");
        }
    }
}

#[test]
fn the_answer_to_the_next_call_says_what_the_user_changed_although_the_agent_wrote_since() {
    for (name, write) in ALL {
        let world = world();
        write(&world, &[("one", false), ("two", false), ("three", false)]);
        let renamed = Edit { content: Keep::Set("one, as it should be".into()), ..Edit::default() };
        world.by_hand(&[Op::Edit(of(&world, "one"), renamed), Op::Rm(of(&world, "two"))]);
        world.write("other", Dialect::Native, json!({"ops": [{"op": "add", "content": "of another agent"}]}));
        let text = write(&world, &[("four", false)]);
        let said = notice(&text).unwrap_or_else(|| panic!("{name}: {text}"));
        assert!(said.contains("removed"), "{name}: {said}");
        let replaces = matches!(name, "todowrite" | "cursor" | "mirrored");
        assert_eq!(said.contains("as it should be"), !replaces, "{name}, whose list archives it: {said}");
        assert!(!said.contains("another agent"), "{name}: {said}");
        assert_eq!(notice(&write(&world, &[("four", false)])), None, "{name}: said once");
        assert_eq!(notice(&after_tool(&world)), None, "{name}: said once");
    }
}

#[test]
fn readings_refusals_and_claims_inform_too() {
    let calls = [
        (Tool::Read, json!({"view": "next"})),
        (Tool::Read, json!({"view": "telepathy"})),
        (Tool::Write, json!({"ops": [{"op": "done", "id": "nothing"}]})),
        (Tool::Write, json!({"ops": "nonsense"})),
        (Tool::Claim, json!({})),
        (Tool::Checkpoint, json!({"action": "list"})),
    ];
    for (tool, arguments) in calls {
        let world = world();
        native(&world, &[("one", false)]);
        world.by_hand(&[add("of the user")]);
        let call = || world.call(SessionKey::new("s", None), Dialect::Native, tool, arguments.clone()).text;
        assert!(notice(&call()).is_some_and(|said| said.contains("of the user")), "{tool:?} {arguments}");
        assert_eq!(notice(&call()), None, "{tool:?} {arguments}: said once");
    }
}

#[test]
fn a_call_that_comes_again_gets_the_same_answer_and_the_next_one_nothing_new() {
    let world = world();
    native(&world, &[("one", false)]);
    world.by_hand(&[add("of the user")]);
    let caller = ToolCaller::under(&world.settings, SessionKey::new("s", None), "claude".into());
    let write = json!({"ops": [{"op": "add", "content": "two"}]});
    let call = || world.engine.call(world.plan, &caller, Dialect::Native, Tool::Write, &write, Some("k")).unwrap();
    let first = call();
    assert!(notice(&first.text).is_some() && first.changed, "{first:?}");
    assert_eq!(call(), first);
    assert_eq!(notice(&after_tool(&world)), None);
}

#[test]
fn a_resumed_agent_learns_what_the_user_changed_meanwhile() {
    for (name, write) in ALL {
        for how in [SessionStart::Resume, SessionStart::Startup, SessionStart::Compact] {
            let world = world();
            write(&world, &[("one", false), ("two", false)]);
            world.report("s", HostEvent::SessionEnded);
            let note = Op::Note(of(&world, "one"), "use the blue cluster".into());
            world.by_hand(&[note, Op::Rm(of(&world, "two"))]);
            let text = world.report("s", HostEvent::SessionStarted { how }).context.unwrap();
            let said = notice(&text).unwrap_or_else(|| panic!("{name}: {text}"));
            assert!(said.contains("blue cluster") && said.contains("removed"), "{name}: {said}");
            assert_eq!(world.report("s", person()).context, None, "{name}: said once");
            assert_eq!(after_tool(&world), "", "{name}: said once");
        }
    }
}

#[test]
fn a_list_that_is_put_back_shows_what_the_user_added() {
    let world = world();
    mirrored(&world, &[("mine", false)]);
    world.by_hand(&[add("of the user")]);
    let text = world.report("s", HostEvent::SessionStarted { how: SessionStart::Compact }).context.unwrap();
    assert!(text.contains("mine") && text.contains("of the user") && notice(&text).is_none(), "{text}");
    assert_eq!(world.report("s", person()).context, None, "it was shown");
    mirrored(&world, &[("mine", true), ("of the user", true)]);
    assert_eq!(world.stopped("s"), "finished");
}

#[test]
fn a_todo_that_the_user_adds_before_the_first_list_of_a_turn_counts() {
    let world = world();
    world.by_hand(&[add("there before")]);
    world.report("s", person());
    world.by_hand(&[add("of the user")]);
    let text = mirrored(&world, &[("mine", true)]);
    assert!(notice(&text).is_some_and(|said| said.contains("of the user") && !said.contains("there before")), "{text}");
    assert!(world.report("s", stop()).go_on.unwrap().contains("of the user"));
}

#[test]
fn what_does_not_concern_an_agent_is_not_said() {
    let world = world();
    todowrite(&world, &[("mine", false)]);
    world.write("other", Dialect::Todowrite, todos(&[("theirs", "pending")]));
    world.by_hand(&[Op::Note(of(&world, "theirs"), "not for you".into())]);
    assert_eq!(after_tool(&world), "", "a note on another conversation's todo");
    world.by_hand(&[add("never mind")]);
    world.by_hand(&[Op::Rm(of(&world, "never mind"))]);
    assert_eq!(after_tool(&world), "", "added and removed before anyone saw it");
    assert_eq!(world.report("new", ended("Read", ToolKind::Other)).context, None, "a session without todos");
}

#[test]
fn a_worker_learns_of_changes_to_its_own_todos_only() {
    let world = world();
    world.by_hand(&[add("one"), add("two")]);
    let plan = world.engine.whole(world.plan).unwrap();
    let scope = plan.live().iter().take(1).map(|todo| todo.uid).collect::<Vec<_>>();
    let state = SessionState { role: Role::Worker, scope, bound: true, shown: 1, ..SessionState::default() };
    world.keep("s", &state);
    world.by_hand(&[Op::Note(of(&world, "two"), "for someone else".into()), add("three")]);
    assert_eq!(after_tool(&world), "");
    world.by_hand(&[Op::Note(of(&world, "one"), "for you".into())]);
    assert!(notice(&after_tool(&world)).is_some_and(|said| said.contains("for you")));
}

#[test]
fn what_does_not_fit_is_said_later_and_the_most_important_comes_first() {
    let world = world();
    let rows: Vec<String> = (0..12).map(|n| format!("step {n}")).collect();
    todowrite(&world, &rows.iter().map(|row| (row.as_str(), false)).collect::<Vec<_>>());
    let plan = world.engine.whole(world.plan).unwrap();
    let note = |n: usize| format!("note {n}: use version {n} of the format");
    let notes = plan.live().into_iter().take(10).enumerate().map(|(n, t)| Op::Note(id(&t.id), note(n)));
    world.by_hand(&notes.collect::<Vec<_>>());
    world.by_hand(&[Op::Drop(of(&world, "step 10"))]);
    world.by_hand(&[Op::Rm(of(&world, "step 11"))]);
    let mut said = Vec::new();
    while let Some(sentence) = notice(&after_tool(&world)) {
        assert!(said.len() < 12, "it ends: {said:?}");
        said.push(sentence.to_owned());
    }
    assert!(said[0].contains("removed") && said[0].contains("cancelled"), "{said:?}");
    assert!(said[0].ends_with(" more follow."), "{said:?}");
    let all = said.join("\n");
    let missing: Vec<String> = (0..10).map(note).filter(|note| !all.contains(note.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?} in {all}");
    assert_eq!(all.matches("note 3").count(), 1, "each once: {all}");
}

#[test]
fn a_list_of_the_agent_does_not_overrule_what_the_user_cancelled_or_put_on_hold() {
    for informed in [true, false] {
        let world = world();
        mirrored(&world, &[("cancelled", false), ("held", false), ("free", false)]);
        let reason = "do not start yet".into();
        let hold = Hold { kind: HoldKind::Other, reason, until: None, by: String::new(), at: 0 };
        world.by_hand(&[Op::Drop(of(&world, "cancelled")), Op::Hold(of(&world, "held"), hold)]);
        if informed {
            assert!(notice(&after_tool(&world)).is_some());
        }
        let text = mirrored(&world, &[("cancelled", true), ("held", true), ("free", true)]);
        assert!(
            text.contains("`T-1` stays cancelled") && text.contains("`T-2` stays on hold: do not start yet"),
            "{text}"
        );
        assert_eq!(status(&world, "cancelled"), Some(Status::Cancelled));
        assert_eq!(status(&world, "held"), Some(Status::Pending));
        assert_eq!(status(&world, "free"), Some(Status::Completed));
        mirrored(&world, &[("free", true)]);
        let held = world.engine.whole(world.plan).unwrap();
        assert!(held.live().iter().any(|todo| todo.content == "held"), "leaving it out does not remove it");
    }
}

#[test]
fn the_store_knows_who_was_informed_and_who_still_has_to_be() {
    let world = world();
    native(&world, &[("one", false)]);
    let uid = world.engine.whole(world.plan).unwrap().live()[0].uid;
    let informed = || world.engine.informed_sessions(world.plan, uid, &world.settings).unwrap();
    assert_eq!(informed(), []);
    world.by_hand(&[Op::Note(id("T-1"), "look".into())]);
    assert_eq!(informed().iter().map(|one| (one.session.as_str(), one.at)).collect::<Vec<_>>(), [("s", None)]);
    after_tool(&world);
    let [one] = &informed()[..] else { panic!("{:?}", informed()) };
    assert_eq!((one.session.as_str(), one.agent.as_str()), ("s", "claude"));
    assert_eq!(one.line(one.at.unwrap()), "claude (session s) a moment ago");
}

/// What an agent that has worked before a gap in the log reads after its next tool.
fn after_pruning(world: &World) -> String {
    native(world, &[("mine", false)]);
    world.by_hand(&[Op::Note(of(world, "mine"), "use version 2".into())]);
    let last = world.engine.whole(world.plan).unwrap().row.revision;
    world.engine.prune(world.plan, last + 1, &mut Vec::new()).unwrap();
    world.by_hand(&[add("later")]);
    after_tool(world)
}

#[test]
fn an_agent_reads_the_plan_again_when_the_log_no_longer_says_what_changed() {
    let world = world();
    let text = after_pruning(&world);
    assert!(text.contains("read the plan again"), "{text}");
    assert_eq!(after_tool(&world), "", "once");
    world.by_hand(&[Op::Note(of(&world, "mine"), "use version 3".into())]);
    assert!(notice(&after_tool(&world)).unwrap().contains("use version 3"), "the log counts again");
}

#[test]
fn a_change_of_the_user_after_very_many_others_is_not_lost() {
    const BATCHES: usize = 11;
    const EACH: usize = 2_000;
    let looks: [fn(&World) -> String; 2] = [after_tool, |world| {
        world.call(SessionKey::new("s", None), Dialect::Native, Tool::Read, json!({"view": "next"})).text
    }];
    let world = world();
    native(&world, &[("mine", false)]);
    let others = punch_engine::WriteRequest::of(punch_core::Actor::worker("other", "other"));
    for (way, look) in looks.iter().enumerate() {
        for batch in 0..BATCHES {
            let ops: Vec<Op> = (0..EACH).map(|n| add(&format!("{way}.{batch}.{n}"))).collect();
            world.engine.submit(world.plan, &others, &ops).unwrap();
        }
        world.by_hand(&[Op::Note(of(&world, "mine"), "use version 2".into())]);
        let read: Vec<String> = (0..3).map(|_| look(&world)).collect();
        assert_eq!(read.iter().filter(|text| text.contains("use version 2")).count(), 1, "{read:?}");
    }
}
