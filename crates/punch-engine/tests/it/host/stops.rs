//! Stops: decided, counted, stored, explained.

use proptest::prelude::*;
use punch_core::drive::{ContextUse, Decision, HostEvent, PlanFacts, Switch, ToolKind, survey};
use punch_core::view::Progress;
use punch_core::{Actor, Hold, HoldKind, Op};
use punch_engine::call::Dialect;
use punch_store::{MemoryStore, OpenMode, SessionKey, SqliteStore};
use serde_json::json;

use super::{World, add, ended, id, person, settings, stop, todos, world, world_on};

fn hold(of: &str, kind: HoldKind) -> Op {
    Op::Hold(id(of), Hold { kind, reason: "which color".into(), until: None, by: "user".into(), at: 1 })
}

#[test]
fn early_stops_are_continued_until_all_is_done() {
    let world = world();
    world.report("s", person());
    let mut list = [("one", "in_progress"), ("two", "pending"), ("three", "pending")];
    let mut texts = Vec::new();
    for n in 0..3 {
        world.write("s", Dialect::Todowrite, todos(&list));
        let effect = world.report("s", stop());
        texts.push(effect.go_on.unwrap());
        assert_eq!(effect.tell, None, "the agent shows the continuation");
        list[n].1 = "completed";
        if n < 2 {
            list[n + 1].1 = "in_progress";
        }
    }
    world.write("s", Dialect::Todowrite, todos(&list));
    let end = world.report("s", stop());
    assert_eq!((end.go_on, end.tell.unwrap().as_str()), (None, "punch: finished, all 3 todos are closed."));
    assert_eq!(world.decided("s"), "finished");
    world.report("s", person());
    assert_eq!(world.report("s", stop()), Default::default(), "said once");
    assert!(texts[1].contains("\ntwo\n") && texts[2].contains("\nthree\n"), "{texts:?}");
    assert!(texts.iter().all(|text| text.len() <= texts[0].len()));
}

#[test]
fn a_model_that_never_progresses_is_stopped_after_three_and_the_person_is_told() {
    let world = world();
    world.write("s", Dialect::Todowrite, todos(&[("one", "in_progress")]));
    world.report("s", person());
    let outcomes: Vec<(String, Option<String>)> = (0..5)
        .map(|n| {
            // Words, order and new todos are not progress.
            let more = format!("more {n}");
            world.write("s", Dialect::Todowrite, todos(&[(&more, "pending"), ("one", "in_progress")]));
            let effect = world.report("s", stop());
            (world.decided("s"), effect.tell)
        })
        .collect();
    let codes: Vec<&str> = outcomes.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(codes, ["continue", "continue", "continue", "no_progress", "no_progress"]);
    assert_eq!(
        outcomes[3].1.as_deref().unwrap(),
        "punch: stopped, 2 todos are open: 3 continuations in a row made no progress.\n\
         Next: read what the agent says, then send it a message."
    );
    assert_eq!(outcomes[4].1, None, "shown once until it changes");
    world.report("s", person());
    assert_eq!(world.stopped("s"), "continue");
}

#[test]
fn one_completed_and_one_reopened_is_progress() {
    let world = world();
    let ops =
        json!({"ops": [{"op": "add", "content": "a"}, {"op": "add", "content": "b"}, {"op": "done", "id": "T-1"}]});
    world.write("s", Dialect::Native, ops);
    for _ in 0..3 {
        assert_eq!(world.stopped("s"), "continue");
    }
    world.write("s", Dialect::Native, json!({"ops": [{"op": "done", "id": "T-2"}, {"op": "reopen", "id": "T-1"}]}));
    assert_eq!(world.stopped("s"), "continue", "the counts are the same, the statuses are not");
}

#[test]
fn the_progress_of_others_is_not_the_sessions_own() {
    let world = world();
    let add = |n: u32| json!({"op": "add", "content": format!("task {n}")});
    world.write("s", Dialect::Native, json!({"ops": (0..9).map(add).collect::<Vec<_>>()}));
    for n in 1..=3 {
        assert_eq!(world.stopped("s"), "continue");
        let ops = json!({"ops": [{"op": "start", "id": format!("T-{n}")}, {"op": "done", "id": format!("T-{n}")}]});
        world.write("other", Dialect::Native, ops);
    }
    assert_eq!(world.stopped("s"), "no_progress");
}

#[test]
fn what_waits_for_a_person_ends_the_loop_at_once() {
    let world = world();
    world.write(
        "s",
        Dialect::Native,
        json!({"ops": [
        {"op": "add", "content": "paint"}, {"op": "add", "content": "dry", "dependsOn": ["T-1"]}]}),
    );
    assert_eq!(world.stopped("s"), "continue");
    world.by_hand(&[hold("T-1", HoldKind::Human)]);
    let effect = world.report("s", stop());
    assert_eq!(world.decided("s"), "waits_for_people");
    assert_eq!(
        effect.tell.unwrap(),
        "punch: stopped, 2 todos are open: every open todo is waiting for the user: T-1 (waiting for the user: which color).\n\
         Next: decide, run `punch unhold T-1`, then tell the agent."
    );
    world.report("s", person());
    assert_eq!(world.report("s", stop()).tell, None, "the user has seen it");
    world.by_hand(&[add("even more"), hold("T-3", HoldKind::Human)]);
    world.report("s", person());
    let news = world.report("s", stop()).tell.unwrap();
    assert!(
        news.contains("3 todos are open") && news.contains("run `punch unhold ID`"),
        "something else is news: {news}"
    );
    world.by_hand(&[Op::Release(id("T-1"))]);
    assert_eq!(world.stopped("s"), "continue");
    world.by_hand(&[hold("T-1", HoldKind::Human)]);
    assert!(world.report("s", stop()).tell.is_some(), "a continuation makes it news again");
    world.by_hand(&[Op::Release(id("T-1")), Op::Release(id("T-3"))]);
    world.report("s", person());
    assert_eq!(world.stopped("s"), "continue");
    world.by_hand(&[hold("T-1", HoldKind::External), hold("T-3", HoldKind::Human)]);
    assert_eq!(world.stopped("s"), "nothing_actionable");
}

#[test]
fn a_plan_in_which_only_parked_todos_are_left_is_finished() {
    let world = world();
    let ops = json!({"ops": [{"op": "add", "content": "paint"}, {"op": "add", "content": "later"}]});
    world.write("s", Dialect::Native, ops);
    world.by_hand(&[hold("T-2", HoldKind::Parked)]);
    assert_eq!(world.stopped("s"), "continue");
    world.write("s", Dialect::Native, json!({"ops": [{"op": "done", "id": "T-1"}]}));
    assert_eq!(world.stopped("s"), "finished");
}

#[test]
fn others_leases_and_given_up_dependencies_are_named() {
    let world = world();
    world.write(
        "s",
        Dialect::Native,
        json!({"ops": [
        {"op": "add", "content": "a"}, {"op": "add", "content": "b", "dependsOn": ["T-1"]},
        {"op": "add", "content": "c"}, {"op": "drop", "id": "T-1"}]}),
    );
    world.write("other", Dialect::Native, json!({"ops": [{"op": "start", "id": "T-3"}]}));
    assert_eq!(world.stopped("s"), "nothing_actionable");
    let told = world.engine.decisions(None, 1).unwrap();
    let Some((_, Decision::Allow { reason })) = &told[0].decided else { panic!("it stops") };
    assert_eq!(reason.text(), "no open todo can be worked on: T-1 (cancelled), T-3 (in progress by other)");
}

#[test]
fn sessions_that_wrote_nothing_are_left_alone() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}]}));
    assert_eq!(world.report("second", stop()), Default::default());
    assert_eq!(world.decided("second"), "unbound");
    assert_eq!(world.report("", stop()), Default::default());
    assert_eq!(world.engine.decisions(Some(&SessionKey::new("", None)), 9).unwrap(), [], "an empty id is nobody");
    let sub = world.moment(SessionKey::new("s", Some("helper")), stop());
    assert_eq!(world.engine.observe(&sub, &world.settings).unwrap(), Default::default());
    assert_eq!(world.stopped("s"), "continue");
}

#[test]
fn a_session_of_another_plan_is_foreign() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}]}));
    world.engine.create_plan("second").unwrap();
    let mut moment = world.moment(SessionKey::new("s", None), stop());
    moment.choice.name = Some("second".into());
    assert_eq!(world.engine.observe(&moment, &world.settings).unwrap(), Default::default());
    assert_eq!(world.decided("s"), "foreign");
    assert_eq!(world.stopped("s"), "continue", "and its own plan is not forgotten");
}

#[test]
fn a_list_covers_itself_and_the_native_dialect_the_plan() {
    let world = world();
    world.by_hand(&[add("of the user")]);
    world.write("list", Dialect::Todowrite, todos(&[("mine", "completed")]));
    assert_eq!(world.stopped("list"), "finished");
    world.write(
        "native",
        Dialect::Native,
        json!({"ops": [{"op": "add", "content": "x"}, {"op": "done", "id": "T-3"}]}),
    );
    assert_eq!(world.stopped("native"), "continue");
}

#[test]
fn settings_and_switches_count_at_the_next_stop() {
    let mut world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}]}));
    let key = SessionKey::new("s", None);
    for (of, to, code) in [
        (None, Switch::Off, "switched_off"),
        (None, Switch::Paused, "paused"),
        (None, Switch::On, "continue"),
        (Some(&key), Switch::Paused, "paused"),
        (Some(&SessionKey::new("other", None)), Switch::Off, "paused"),
        (Some(&key), Switch::On, "continue"),
    ] {
        world.engine.switch(world.plan, of, to, &Actor::user()).unwrap();
        assert_eq!(world.stopped("s"), code);
    }
    world.settings = settings(&[("keep_going.enabled", "false")]);
    assert_eq!(world.report("s", stop()), Default::default());
    world.settings = settings(&[("keep_going.max_continuations", "2")]);
    assert_eq!(world.stopped("s"), "max_continuations");
}

#[test]
fn a_decision_is_reused_within_the_interval_at_the_same_revision() {
    for (interval, decisions) in [("0", 2), ("1000", 1)] {
        let mut world = world();
        world.settings = settings(&[("keep_going.check_interval_ms", interval)]);
        world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}]}));
        world.report("s", stop());
        world.report("s", stop());
        assert_eq!(world.engine.decisions(None, 9).unwrap().len(), decisions, "with {interval}");
    }
    let mut world = world();
    world.settings = settings(&[("keep_going.check_interval_ms", "1000")]);
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}]}));
    let first = world.report("s", stop());
    assert_eq!(world.report("s", stop()), first);
    assert_eq!(world.engine.decisions(None, 9).unwrap().len(), 1, "decided once");
    world.pass(1_000);
    let later = world.report("s", stop());
    assert!(later.go_on.unwrap().starts_with("Continuation 2/3"));
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "b"}]}));
    let moved = world.report("s", stop());
    assert!(moved.go_on.unwrap().starts_with("Continuation 3/3"), "another revision is another question");
}

#[test]
fn context_and_host_caps_reach_the_decision() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}]}));
    let mut moment = world.moment(SessionKey::new("s", None), stop());
    moment.context = Some(ContextUse { used: 95, limit: 100 });
    assert!(world.engine.observe(&moment, &world.settings).unwrap().tell.unwrap().contains("95 of 100"));
    (moment.context, moment.host_cap) = (None, Some(2));
    assert!(world.engine.observe(&moment, &world.settings).unwrap().go_on.is_some());
    assert!(world.engine.observe(&moment, &world.settings).unwrap().tell.unwrap().contains("the agent allows 2"));
    assert_eq!(world.engine.going().unwrap(), [], "a stop is not a going on");
}

#[test]
fn stored_decisions_replay_to_themselves_and_are_bounded() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "x".repeat(500)}]}));
    for _ in 0..6 {
        world.report("s", stop());
    }
    for told in world.engine.decisions(None, 99).unwrap() {
        let reply = punch_core::replay::line(punch_core::replay::Recording::Drive, told.line.to_string().as_bytes());
        let mut again = reply.json["results"][0].clone();
        again.as_object_mut().unwrap().remove("sentence");
        assert_eq!(again, told.line["decision"]);
        assert!(told.line.to_string().len() < 4_000);
    }
}

/// The facts that were stored with the last decision.
fn facts(world: &World) -> PlanFacts {
    world.engine.decisions(Some(&SessionKey::new("s", None)), 1).unwrap()[0].decided.clone().unwrap().0.facts
}

fn ops(choices: &[(u8, u8, u8)]) -> Vec<serde_json::Value> {
    let name = |n: u8| format!("T-{}", n % 12 + 1);
    choices
        .iter()
        .map(|(what, a, b)| match what % 9 {
            0..=2 => json!({"op": "add", "content": format!("task {}", a % 5), "priority": b % 5 + 1}),
            3 => json!({"op": "edit", "id": name(*a), "dependsOn": [name(*b)]}),
            4 => json!({"op": "hold", "id": name(*a), "reason": "wait", "kind": if b % 2 == 0 { "human" } else { "external" }}),
            5 => json!({"op": "drop", "id": name(*a)}),
            6 => json!({"op": "start", "id": name(*a)}),
            7 => json!({"op": "edit", "id": name(*a), "files": [format!("src/{}/**", b % 3)]}),
            _ => json!({"op": "done", "id": name(*a)}),
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn facts_from_slices_are_those_of_the_whole_plan_and_the_loop_halts(
        choices in proptest::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 1..60),
        agent in proptest::collection::vec(any::<u8>(), 400),
        sqlite in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let world = match sqlite {
            false => world_on(Box::new(MemoryStore::new())),
            true => world_on(Box::new(SqliteStore::open(&folder.path().join("store.db"), OpenMode::Create).unwrap())),
        };
        world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "task 0"}]}));
        for (n, op) in ops(&choices).into_iter().enumerate() {
            world.write(if n % 5 == 4 { "other" } else { "s" }, Dialect::Native, json!({"ops": [op]}));
        }
        // What it was sent to is free again.
        world.report("other", HostEvent::SessionEnded);
        world.report("s", person());
        let (mut continued, mut idle, mut halted) = (0, 0, false);
        for step in agent.chunks(2) {
            let effect = world.report("s", stop());
            let stored = facts(&world);
            let whole = world.engine.whole(world.plan).unwrap();
            let now = world.engine.now();
            let (counts, selected) = survey(whole.live(), &[], Some("s"), false, now);
            prop_assert_eq!((stored.open, stored.total), (counts.open(), Progress::of_counts(&counts).total), "{}", world.decided("s"));
            prop_assert_eq!(&stored.next, &selected.next);
            let code = world.decided("s");
            if effect.go_on.is_none() {
                let early = ["waits_for_people", "nothing_actionable"].contains(&code.as_str());
                prop_assert!(!early || stored.roots.total > 0, "{} names nothing", code);
                prop_assert!(stored.open == 0 || effect.tell.is_some(), "{}", code);
                halted = true;
                break;
            }
            continued += 1;
            idle = if stored.progress { 1 } else { idle + 1 };
            prop_assert!(idle <= 3 && continued <= 100);
            // The agent does something, or nothing.
            let next = stored.next.map(|next| next.id).unwrap_or_default();
            let op = ["done", "note", "fail", "hold", "start", "drop", "note", "done"][usize::from(step[0] % 8)];
            world.write("s", Dialect::Native, json!({"ops": [{"op": op, "id": next, "text": "hm", "error": "no", "reason": "?"}]}));
        }
        prop_assert!(halted, "{} continuations and no end", continued);
    }
}

#[test]
fn background_work_and_aborts_are_waited_for_and_obeyed() {
    let world = world();
    world.write("s", Dialect::Native, json!({"ops": [{"op": "add", "content": "a"}, {"op": "start", "id": "T-1"}]}));
    let finish = punch_core::drive::Finish::EndTurn;
    world.report("s", HostEvent::Stopping { finish, background: 1, kept_going: false });
    assert_eq!(world.decided("s"), "background");
    world.report("s", HostEvent::Asked { text: String::new() });
    assert_eq!(world.stopped("s"), "asked");
    world.report("s", ended("AskUserQuestion", ToolKind::Question));
    assert_eq!(world.stopped("s"), "continue");
    world.report("s", HostEvent::Interrupted);
    assert_eq!(world.decided("s"), "interrupted");
    let noted = &world.engine.decisions(None, 1).unwrap()[0].line;
    assert_eq!((&noted["noted"], &noted["todo"]), (&json!("interrupted"), &json!("T-1")));
    assert_eq!(world.stopped("s"), "interrupted");
}

/// A turn after which the agent wants to stop three times, with what it did before.
fn turn(world: &World, tools: &[(&str, ToolKind)]) -> [String; 3] {
    world.report("s", person());
    for (name, kind) in tools {
        world.report("s", ended(name, *kind));
    }
    [world.stopped("s"), world.stopped("s"), world.stopped("s")]
}

const ONCE: [&str; 3] = ["continue", "plan_untouched", "plan_untouched"];
const ON: [&str; 3] = ["continue", "continue", "continue"];

#[test]
fn a_turn_that_does_not_touch_the_plan_is_continued_once() {
    let world = world();
    world.write("s", Dialect::Todowrite, todos(&[("a", "in_progress"), ("b", "pending")]));
    assert_eq!(turn(&world, &[]), ONCE);
    assert_eq!(turn(&world, &[("Read", ToolKind::Other), ("AskUserQuestion", ToolKind::Question)]), ONCE);
    assert_eq!(turn(&world, &[("Bash", ToolKind::Command)]), ON, "a command while a todo is in progress");
    assert_eq!(turn(&world, &[("Edit", ToolKind::Edit)]), ON);
    world.report("s", person());
    world.write("s", Dialect::Todowrite, todos(&[("a", "pending"), ("b", "pending")]));
    assert_eq!([world.stopped("s"), world.stopped("s")], ["continue", "continue"], "the list was written");
    assert_eq!(turn(&world, &[("Bash", ToolKind::Command)]), ONCE, "nothing is in progress");
    world.report("s", person());
    assert_eq!(world.stopped("s"), "continue");
    world.by_hand(&[Op::Start(id("T-1"))]);
    assert_eq!(world.stopped("s"), "continue", "a status changed, from wherever");
}

#[test]
fn where_tools_are_not_counted_a_todo_in_progress_leaves_it_open_whether_the_turn_touched_the_plan() {
    let mut world = world();
    world.settings = settings(&[("reminders.enabled", "false")]);
    world.write("s", Dialect::Todowrite, todos(&[("a", "in_progress"), ("b", "pending")]));
    world.report("s", person());
    let before = world.sessions();
    world.report("s", ended("Bash", ToolKind::Command));
    assert_eq!(world.sessions(), before, "a hook that only read before still only reads");
    assert_eq!([world.stopped("s"), world.stopped("s")], ["continue", "continue"]);
    world.report("s", person());
    world.write("s", Dialect::Todowrite, todos(&[("a", "pending"), ("b", "pending")]));
    assert_eq!(turn(&world, &[("Bash", ToolKind::Command)]), ONCE, "without one it is certain");
}

/// Makes every event up to a revision unreadable, so that whatever reads one of them fails.
fn damage_events(path: &std::path::Path, revision: u64) {
    let file = rusqlite::Connection::open(path).unwrap();
    let damaged =
        file.execute("UPDATE event SET patch = 'unreadable' WHERE revision <= ?1", [revision.cast_signed()]).unwrap();
    assert!(damaged > 0);
}

/// A stop reads what is new since the session began, and what is new since its last stop. Neither a large plan nor
/// changes that the agent has not heard of yet make it more expensive.
#[test]
fn a_stop_reads_no_event_that_it_has_read_before() {
    use punch_core::dialect::mirror::HostStatus::{InProgress, Pending};
    stops_read_new_events(|world| {
        let list = todos(&[("one", "in_progress"), ("two", "pending")]);
        assert!(!world.write("s", Dialect::Todowrite, list).is_error);
    });
    stops_read_new_events(|world| world.copy("s", &[("one", InProgress), ("two", Pending)]));
}

fn stops_read_new_events(begin: impl Fn(&World)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = SqliteStore::open(&path, OpenMode::Create).unwrap();
    let world = world_on(Box::new(store));
    let revision = || world.engine.read(world.plan, |snapshot| Ok(snapshot.row()?.revision)).unwrap();
    world.by_hand(&(0..300).map(|n| add(&format!("old{n}"))).collect::<Vec<_>>());
    damage_events(&path, revision());
    begin(&world);
    for round in 0..3 {
        world.by_hand(&[add(&format!("new{round}"))]);
        let effect = world.report("s", stop());
        assert_eq!(world.decided("s"), "continue");
        // Every todo of the user is part of what the session must finish.
        let open = format!("{0} of {0} todos are open", round + 3);
        assert!(effect.go_on.as_deref().is_some_and(|text| text.contains(&open)), "{effect:?}");
        damage_events(&path, revision());
    }
}
