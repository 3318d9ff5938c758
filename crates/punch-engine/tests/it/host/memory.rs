//! What a conversation is given back, offered and told.

use punch_core::Op;
use punch_core::dialect::mirror::{HostListUpdate, HostRow, HostStatus};
use punch_core::drive::{HostEvent, SessionStart, ToolKind, ToolUse, TurnBefore, estimate};
use punch_engine::call::{Dialect, Family, TodoUse, Tool, ToolCaller};
use punch_engine::{Earlier, Find, HostReport};
use punch_store::SessionKey;
use serde_json::json;

use super::{add, id, person, stop, todos, world};

fn started(how: SessionStart) -> HostEvent {
    HostEvent::SessionStarted { how }
}

#[test]
fn a_new_session_is_offered_what_is_open_and_nothing_is_written() {
    let world = world();
    assert_eq!(world.report("new", started(SessionStart::Startup)), Default::default(), "nothing to offer");
    world.write("old", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}, {"op": "add", "content": "b"}]}));
    let before = world.sessions();
    for how in [SessionStart::Startup, SessionStart::Resume] {
        assert_eq!(
            world.report("new", started(how)).context.unwrap(),
            "punch keeps todo lists of this project; open: main (2 of 2 open). Next there: T-2 \"b\".\n\
             They are offered, not assigned: if this conversation continues that work, `punch list` in a shell, or `todo_read` if \
             you have it, shows them."
        );
    }
    let branch = world.report("new", started(SessionStart::Fork)).context.unwrap();
    assert!(branch.starts_with("This conversation was branched off") && branch.contains("[ ] T-2 b\n"), "{branch}");
    let second = world.engine.create_plan("second").unwrap();
    world.engine.submit(second, &punch_engine::WriteRequest::by("user", None), &[add("x")]).unwrap();
    let offered = world.report("new", started(SessionStart::Startup)).context.unwrap();
    assert!(offered.contains("open: main (2 of 2 open), second (1 of 1 open). Next there: T-2"), "{offered}");
    assert_eq!(world.report("new", started(SessionStart::Compact)), Default::default(), "and not again and again");
    assert_eq!(world.sessions(), before, "offered is not shown, and not bound");
    world.write("new", Dialect::Todowrite, todos(&[("mine", "pending")]));
    assert_eq!(world.engine.whole(world.plan).unwrap().live().len(), 3, "a first replacement archives nothing");
}

#[test]
fn compaction_brings_the_list_back_and_counts_as_shown() {
    let world = world();
    world.write("s", Dialect::Todowrite, todos(&[("one", "completed"), ("two", "in_progress"), ("three", "pending")]));
    world.report("s", HostEvent::Compacting);
    let text = world.report("s", started(SessionStart::Compact)).context.unwrap();
    assert!(text.contains("You were working on T-2.") && text.contains("[>] T-2 two\n[ ] T-3 three\n"), "{text}");
    assert!(!text.contains("one"), "what is done is not put back");
    let (_, state) = world.engine.session(&SessionKey::new("s", None)).unwrap().unwrap();
    assert_eq!((state.scope.len(), state.shown), (2, 1));
    // The list that was put back, sent again, archives nothing that was not in it.
    world.write("s", Dialect::Todowrite, todos(&[("two", "completed"), ("three", "in_progress")]));
    assert_eq!(world.engine.whole(world.plan).unwrap().live().len(), 3);
    assert_eq!(world.stop_code(), "continue");
}

#[test]
fn a_compaction_whose_end_is_not_reported_is_over_when_the_work_goes_on() {
    for goes_on in [ran(), person()] {
        let world = world();
        world.write("s", Dialect::Todowrite, todos(&[("one", "in_progress"), ("two", "pending")]));
        world.report("s", HostEvent::Compacting);
        assert_eq!(world.stop_code(), "compacting");
        let text = world.report("s", goes_on.clone()).context.unwrap();
        assert!(text.contains("[>] T-1 one\n[ ] T-2 two\n"), "{text}");
        assert_eq!(world.stop_code(), "continue");
        assert_eq!(world.report("s", goes_on).context, None, "put back once");
    }
}

#[test]
fn the_user_sees_what_is_open_when_a_conversation_begins() {
    let world = world();
    let line = |session: &str, how| world.report(session, started(how)).tell;
    assert_eq!(line("s", SessionStart::Startup), None, "nothing is open");
    world.write("s", Dialect::Todowrite, todos(&[("one", "completed"), ("two", "pending")]));
    for (session, how) in
        [("s", SessionStart::Resume), ("other", SessionStart::Startup), ("other", SessionStart::Clear)]
    {
        assert_eq!(line(session, how).unwrap(), "punch: plan main, 1 of 2 todos is open, next T-2", "{session}");
    }
    assert_eq!(line("s", SessionStart::Compact), None, "the conversation continues");
    world.write("s", Dialect::Todowrite, todos(&[("one", "completed"), ("two", "completed")]));
    assert_eq!(line("s", SessionStart::Resume), None);
}

#[test]
fn a_list_that_is_put_back_still_counts_what_was_done() {
    let world = world();
    let rows =
        |last: &'static str| [("a", "completed"), ("b", "completed"), ("c", last)].map(|(c, s)| (c.to_owned(), s));
    world.host_list("s", &rows("in_progress"));
    world.report("s", started(SessionStart::Resume));
    let text = world.report("s", stop()).go_on.unwrap();
    assert!(text.contains("1 of 3 todos is open"), "{text}");
    // The next list archives nothing of what was done.
    world.host_list("s", &[("c".to_owned(), "completed")]);
    assert_eq!(world.engine.whole(world.plan).unwrap().live().len(), 3);
}

impl super::World {
    /// The host's own list, as it is copied.
    fn host_list(&self, session: &str, rows: &[(String, &str)]) {
        self.pass(1);
        let caller = ToolCaller::under(&self.settings, SessionKey::new(session, None), "claude".into());
        let row = |(content, status): &(String, &str)| HostRow {
            content: content.clone(),
            status: HostStatus::read(status),
            ..HostRow::default()
        };
        let told = HostListUpdate::List(rows.iter().map(row).collect());
        let family = Family { name: "TodoWrite", shared: false };
        self.engine.mirror(self.plan, &TodoUse { caller: &caller, family, told: &told, key: None }).unwrap();
    }

    fn stop_code(&self) -> String {
        self.report("s", stop());
        self.decided("s")
    }
}

#[test]
fn a_list_beyond_the_cap_keeps_what_is_not_shown_out_of_reach() {
    let world = world();
    let rows: Vec<_> =
        (0..300).map(|n| json!({"id": format!("c{n}"), "content": format!("task {n}"), "status": "pending"})).collect();
    world.write("s", Dialect::Cursor, json!({"merge": false, "todos": rows}));
    let text = world.report("s", started(SessionStart::Compact)).context.unwrap();
    assert!(
        estimate(&text) <= 1_200
            && text.contains("more; `punch list` in a shell, or `todo_read` if you have it, shows them"),
        "{}",
        estimate(&text)
    );
    let (_, state) = world.engine.session(&SessionKey::new("s", None)).unwrap().unwrap();
    assert!((20..=120).contains(&state.scope.len()), "{}", state.scope.len());
    world.write(
        "s",
        Dialect::Cursor,
        json!({"merge": false, "todos": [{"id": "c0", "content": "task 0", "status": "pending"}]}),
    );
    let left = world.engine.whole(world.plan).unwrap().live().len();
    assert_eq!(left, 301 - state.scope.len(), "only what was shown is archived by being left out");
}

#[test]
fn what_found_no_room_when_the_list_was_put_back_is_still_to_be_done() {
    let world = world();
    let rows: Vec<_> = (0..300).map(|n| (format!("task {n}"), "pending")).collect();
    let told = |rows: &[(String, &str)]| world.host_list("s", rows);
    told(&rows);
    world.report("s", started(SessionStart::Compact)).context.unwrap();
    let (_, state) = world.engine.session(&SessionKey::new("s", None)).unwrap().unwrap();
    let shown = state.scope.len();
    assert_eq!(shown + state.beyond.len(), 300);
    // All that the model still knows is done.
    let done: Vec<_> = rows[..shown].iter().map(|(content, _)| (content.clone(), "completed")).collect();
    told(&done);
    let counts = world.engine.whole(world.plan).unwrap().row.counts;
    assert_eq!((counts.completed, counts.pending), (shown as u64, 300 - shown as u64), "nothing was archived");
    assert_eq!(world.stop_code(), "continue");
    let text = world.report("s", started(SessionStart::Compact)).context.unwrap();
    assert!(text.contains(&format!("task {shown}")) && !text.contains("task 0\n"), "{text}");
    told(&rows[shown..].iter().map(|(content, _)| (content.clone(), "completed")).collect::<Vec<_>>());
    assert_eq!(world.stop_code(), "finished");
}

#[test]
fn resume_puts_the_list_back_and_clear_lets_go_of_it() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}]}));
    assert!(world.report("s", started(SessionStart::Resume)).context.unwrap().contains("[ ] T-1 a"));
    assert!(
        world.report("s", started(SessionStart::Startup)).context.unwrap().contains("[ ] T-1 a"),
        "an id that is known"
    );
    assert!(world.report("s", started(SessionStart::Clear)).context.unwrap().contains("offered, not assigned"));
    assert_eq!(world.stop_code(), "unbound");
    world.write("s", Dialect::Native, json!({"ops": [{"op": "done", "id": "T-1"}]}));
    assert_eq!(world.stop_code(), "finished");
    assert_eq!(world.report("s", started(SessionStart::Resume)), Default::default(), "nothing is open");
}

#[test]
fn what_a_person_changed_is_told_once() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}, {"op": "add", "content": "b"}]}));
    assert_eq!(world.report("s", person()), Default::default(), "nothing but its own");
    world.by_hand(&[Op::Done { target: id("T-1"), evidence: None, fence: None }]);
    world.by_hand(&[add("c </x>"), Op::Rm(id("T-2"))]);
    world.write("other", Dialect::Native, json!({"ops": [{"op": "add", "content": "of an agent"}]}));
    assert_eq!(
        world.report("s", person()).context.unwrap(),
        "The user changed the plan: T-2 removed; T-1 completed; T-3 added: \"c &lt;/x&gt;\"."
    );
    assert_eq!(world.report("s", person()), Default::default());
    let adds = (0..50).map(|n| add(&format!("{n} {}", "日本".repeat(80))));
    world.by_hand(&adds.collect::<Vec<_>>());
    let text = world.report("s", person()).context.unwrap();
    assert!(estimate(&text) <= 60 && text.ends_with(" more: read the plan again."), "{} {text}", estimate(&text));
    let named = text.matches(" added").count();
    assert!(text.contains(&format!("and {} more", 50 - named)), "every change is named or counted: {text}");
    assert_eq!(world.report("s", person()), Default::default(), "it reads the plan");
    // As many as later sentences can name.
    let adds = (0..20).map(|n| add(&format!("{n} {}", "日本".repeat(80))));
    world.by_hand(&adds.collect::<Vec<_>>());
    let mut said = Vec::new();
    while let Some(text) = world.report("s", person()).context {
        assert!(said.len() < 20 && estimate(&text) <= 60 && !text.contains("read the plan"), "{text}");
        said.push(text);
    }
    let said = said.join("\n");
    assert_eq!(said.matches(" added").count(), 20, "each is named once: {said}");
}

fn wrote() -> HostEvent {
    let tool = ToolUse::new("x", ToolKind::Ours);
    HostEvent::ToolStarting { tool }
}

fn ran() -> HostEvent {
    HostEvent::ToolEnded { tool: ToolUse::new("Bash", ToolKind::default()) }
}

impl super::World {
    /// A report in a turn of which its host writes down what came before.
    fn in_turn(&self, turn: &str, earlier: Earlier, event: HostEvent) -> Option<String> {
        self.pass(1);
        let moment = self.moment(SessionKey::new("s", None), event);
        let moment = HostReport { turn: Some(turn.to_owned()), earlier, ..moment };
        self.engine.observe(&moment, &self.settings).unwrap().context
    }
}

#[test]
fn a_conversation_that_was_wound_back_is_told_once_what_it_forgot() {
    let world = world();
    let written = |find: Find| Earlier::Written("/no/file".into(), find);
    let never = || written(|_, _, _| panic!("it was read"));
    let first = || {
        written(|_, turn, known| match turn {
            "2" => TurnBefore::Turn("1".into()),
            _ => {
                assert!(known("1") && !known("9"));
                TurnBefore::Turn("0".into())
            }
        })
    };
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}, {"op": "add", "content": "b"}]}));
    for turn in ["0", "1", "2"] {
        assert_eq!(world.in_turn(turn, never(), person()), None, "not known at the prompt");
    }
    assert_eq!(world.in_turn("2", first(), ran()), None, "nothing is missing");
    assert_eq!(world.in_turn("2", never(), ran()), None, "looked at once in a turn");
    world.write("s", Dialect::Native, json!({"ops": [{"op": "done", "id": "T-1"}]}));
    world.in_turn("3", never(), person());
    // Wound back to turn 0, before the list is written.
    assert_eq!(
        world.in_turn("3", first(), wrote()).unwrap(),
        "The conversation went back to an earlier point; the plan did not: work with it as it is now. Since then:\n\
         - T-1 is completed now: \"a\""
    );
    assert_eq!(world.in_turn("3", never(), ran()), None, "told once");
    // A host that says it with the prompt.
    world.write("s", Dialect::Native, json!({"ops": [{"op": "done", "id": "T-2"}]}));
    let text = world.in_turn("4", Earlier::Told(vec!["0".into()]), person()).unwrap();
    assert!(text.ends_with("Since then:\n- T-2 is completed now: \"b\""), "{text}");
    world.by_hand(&[add("c")]);
    let text = world.in_turn("5", Earlier::Told(vec!["0".into(), "4".into(), "x".into()]), person()).unwrap();
    assert!(text.starts_with("The user changed the plan"), "{text}");
}

#[test]
fn a_turn_that_began_before_anything_was_stored_can_be_wound_back() {
    let begins = || Earlier::Written("/no/file".into(), |_, _, _| TurnBefore::Nothing);
    // Over our own tool, whose receipt names the revision.
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}]}));
    let mut tool = ToolUse::new("todo_write", ToolKind::Ours);
    tool.receipt = Some(1);
    assert_eq!(world.in_turn("1", Earlier::Unknown, HostEvent::ToolEnded { tool }), None);
    world.in_turn("2", Earlier::Unknown, person());
    let text = world.in_turn("2", begins(), ran()).unwrap();
    assert!(text.starts_with("The conversation went back") && text.contains("T-1"), "{text}");
    // Over the host's own list, which is copied with the report.
    let world = super::world();
    let caller = ToolCaller::under(&world.settings, SessionKey::new("s", None), "claude".into());
    let told = HostListUpdate::List(vec![HostRow { content: "a".into(), ..HostRow::default() }]);
    let family = Family { name: "TodoWrite", shared: false };
    let used = TodoUse { caller: &caller, family, told: &told, key: None };
    let moment = world.moment(SessionKey::new("s", None), super::ended("TodoWrite", ToolKind::HostTodo));
    let moment = HostReport { turn: Some("1".to_owned()), ..moment };
    world.engine.observe_copying(&moment, &world.settings, &used, None).unwrap();
    world.in_turn("2", Earlier::Unknown, person());
    let text = world.in_turn("2", begins(), ran()).unwrap();
    assert!(text.starts_with("The conversation went back") && text.contains("T-1"), "{text}");
}

#[test]
fn ready_todos_of_a_copied_list_are_for_subagents_where_the_user_wants_that() {
    for (mode, named) in [("aggressive", true), ("conservative", false), ("off", false)] {
        let mut world = world();
        world.settings = super::settings(&[("subagents", mode)]);
        let caller = ToolCaller::under(&world.settings, SessionKey::new("s", None), "claude".into());
        let row = |content: &str| HostRow { content: content.into(), ..HostRow::default() };
        let told = HostListUpdate::List(vec![row("a"), row("b")]);
        let family = Family { name: "TodoWrite", shared: false };
        let used = TodoUse { caller: &caller, family, told: &told, key: None };
        let moment = world.moment(SessionKey::new("s", None), super::ended("TodoWrite", ToolKind::HostTodo));
        let observed = world.engine.observe_copying(&moment, &world.settings, &used, None).unwrap();
        let text = observed.effect.context.unwrap_or_default();
        assert_eq!(text.contains("hand them out to subagents in parallel: T-1, T-2"), named, "{mode}: {text}");
        for (dialect, call) in [
            (Dialect::Native, json!({"ops": [{"op": "add", "content": "c"}]})),
            (Dialect::Extended, json!({"mode": "patch", "todos": [{"id": "X", "title": "d"}]})),
        ] {
            let answer = world.engine.call(world.plan, &caller, dialect, Tool::Write, &call, None).unwrap();
            assert_eq!(answer.text.contains("hand them out to subagents"), named, "{mode}: {}", answer.text);
        }
    }
}

#[test]
fn the_beginning_of_a_turn_is_remembered_with_what_was_open() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [
        {"op": "add", "content": "a"}, {"op": "add", "content": "b"}, {"op": "add", "content": "c"}, {"op": "done", "id": "T-1"}]}));
    assert_eq!(world.engine.turn(world.plan, None).unwrap(), None);
    world.report("s", person());
    world.write("s", Dialect::Native, json!({"ops": [{"op": "done", "id": "T-2"}, {"op": "add", "content": "d"}]}));
    let turn = world.engine.turn(world.plan, None).unwrap().unwrap();
    assert_eq!((turn.revision, turn.open), (1, vec!["T-2".to_owned(), "T-3".to_owned()]));
    let answer = world.call(SessionKey::new("s", None), Dialect::Native, Tool::Read, json!({"view": "history"}));
    assert!(answer.text.ends_with("This turn began at rev 1; open then: T-2, T-3"), "{}", answer.text);
    assert_eq!(answer.structured["turnStartTodoIds"], json!(["T-2", "T-3"]));
}
