//! Several agents on one plan: a claim protects over every dialect, and no two sessions are sent to the same todo.

use proptest::prelude::*;
use punch_core::{Actor, ActorKind, Add, Edit, Hold, HoldKind, Keep, Op, Outcome, Status, Warning};
use punch_engine::WriteRequest;
use punch_engine::call::{Dialect, Tool, ToolCaller};
use punch_engine::config::{SettingSource, SettingValue};
use punch_store::{Durability, OpenMode, SessionKey, SqliteStore};
use serde_json::{Value, json};

use crate::host::{World, add, id, settings, stop, todos, world, world_on};

fn three() -> World {
    let world = world();
    world.by_hand(&[add("One"), add("Two"), add("Three")]);
    world
}

fn native(world: &World, session: &str, op: &str, todo: &str) -> (bool, String) {
    let answer = world.write(session, Dialect::Native, json!({"ops": [{"op": op, "id": todo}]}));
    (!answer.is_error, answer.text)
}

fn status(world: &World, todo: &str) -> (Status, Option<String>) {
    let plan = world.engine.whole(world.plan).unwrap();
    let todo = plan.by_id(todo).unwrap();
    (todo.status, todo.owner.clone())
}

#[test]
fn what_one_agent_has_started_no_other_one_starts_finishes_or_reopens() {
    let world = three();
    assert!(native(&world, "one", "start", "T-1").0);
    for op in ["start", "done", "reopen", "drop", "release", "rm"] {
        let (accepted, text) = native(&world, "two", op, "T-1");
        assert!(!accepted, "{op}: {text}");
        assert!(text.starts_with("Error leased: `T-1` is claimed by `one` until "), "{text}");
        assert!(text.contains("Hint: take `T-2` instead"), "{text}");
    }
    for op in [json!({"op": "fail", "id": "T-1", "error": "x"}), json!({"op": "hold", "id": "T-1", "reason": "x"})] {
        assert!(world.write("two", Dialect::Native, json!({"ops": [op]})).text.contains("Error leased"));
    }
    assert_eq!(status(&world, "T-1"), (Status::InProgress, Some("one".into())));
    assert!(native(&world, "one", "done", "T-1").0);
    let (accepted, text) = native(&world, "two", "start", "T-1");
    assert!(!accepted && text.contains("reopen `T-1` first"), "{text}");
}

#[test]
fn release_gives_back_ones_own_claim_where_there_is_no_hold() {
    let world = three();
    let write = |session: &str, ops: Value| world.write(session, Dialect::Native, json!({"ops": ops}));
    native(&world, "one", "start", "T-1");
    let note = json!({"op": "note", "id": "T-1", "text": "half of it is done"});
    let answer = write("one", json!([note, {"op": "release", "id": "T-1"}]));
    assert!(!answer.is_error, "{}", answer.text);
    assert_eq!(status(&world, "T-1").0, Status::Pending);
    assert!(world.engine.whole(world.plan).unwrap().by_id("T-1").unwrap().flags.resume);
    assert!(native(&world, "two", "start", "T-1").0, "it is free for others");
    for (ops, expected) in [
        (json!([{"op": "start", "id": "T-2"}, {"op": "release", "id": "T-2"}]), Status::Pending),
        (json!([{"op": "hold", "id": "T-2", "text": "waits"}, {"op": "release", "id": "T-2"}]), Status::Pending),
        (json!([{"op": "start", "id": "T-2"}, {"op": "release", "ids": ["T-2", "T-3"]}]), Status::Pending),
        (json!([{"op": "start", "id": "T-2"}]), Status::InProgress),
        (json!([{"op": "hold", "id": "T-2", "text": "waits"}, {"op": "release", "id": "T-2"}]), Status::Pending),
    ] {
        let answer = write("one", ops);
        assert!(!answer.is_error, "{}", answer.text);
        let plan = world.engine.whole(world.plan).unwrap();
        let todo = plan.by_id("T-2").unwrap();
        assert_eq!((todo.status, todo.hold.is_some()), (expected, false), "{}", answer.text);
    }
    world.by_hand(&[Op::Start(id("T-3"))]);
    native(&world, "one", "release", "T-3");
    assert_eq!(status(&world, "T-3").0, Status::InProgress, "what the user works on is not the agent's to give back");
}

#[test]
fn an_agent_that_goes_silent_loses_its_todo_and_its_late_answer_counts_until_then() {
    let world = three();
    native(&world, "one", "start", "T-1");
    native(&world, "two", "start", "T-2");
    world.pass(16 * 60_000);
    assert!(native(&world, "one", "done", "T-1").0, "nobody has claimed it since");
    assert!(native(&world, "three", "start", "T-2").0);
    assert!(!native(&world, "two", "done", "T-2").0);
}

#[test]
fn tool_calls_renew_the_claims_of_their_session() {
    let world = three();
    native(&world, "one", "start", "T-1");
    for _ in 0..5 {
        world.pass(6 * 60_000);
        world.write("one", Dialect::Native, json!({"ops": [{"op": "note", "id": "T-2", "text": "x"}]}));
    }
    assert!(!native(&world, "two", "start", "T-1").0);
}

#[test]
fn a_repeated_claim_gets_the_first_answer_and_claims_nothing_more() {
    let world = three();
    let claim = |key: &str| {
        let caller = ToolCaller::under(&world.settings, SessionKey::new("one", None), "claude".into());
        world.engine.call(world.plan, &caller, Dialect::Native, Tool::Claim, &json!({}), Some(key)).unwrap()
    };
    let first = claim("call-1");
    assert!(first.text.contains("T-1") && !first.is_error, "{}", first.text);
    assert_eq!(claim("call-1").text, first.text);
    assert_eq!(status(&world, "T-2").0, Status::Pending);
    assert!(claim("call-2").text.contains("T-2"));
    // The claim and what the session knows about it are one write.
    let (plan, state) = world.engine.session(&SessionKey::new("one", None)).unwrap().unwrap();
    let revision = world.engine.whole(world.plan).unwrap().row.revision;
    assert_eq!((plan, state.bound, state.shown), (Some(world.plan), true, revision));
}

#[test]
fn a_todo_that_no_window_can_hold_is_ready_marked_and_last() {
    let world = world();
    let huge = json!({"op": "add", "content": "Huge", "estimatedTokens": 900_000, "priority": 1});
    let written = world.write("one", Dialect::Native, json!({"ops": [huge, {"op": "add", "content": "Small"}]}));
    assert!(written.text.contains("[ ] T-1 Huge (oversize)"), "{}", written.text);
    let key = || SessionKey::new("one", None);
    let read = |view: &str| world.call(key(), Dialect::Native, Tool::Read, json!({"view": view, "limit": 9})).text;
    assert!(read("ready").starts_with("[ ] T-2 Small\n[ ] T-1 Huge (oversize)\n"), "{}", read("ready"));
    assert!(read("next").starts_with("[ ] T-2 Small\n"), "{}", read("next"));
    let why = world.call(key(), Dialect::Native, Tool::Read, json!({"view": "why", "id": "T-1"})).text;
    assert!(why.contains("larger than a context window: 900,000 of 140,000 tokens"), "{why}");
    let claim = |session: &str| world.call(SessionKey::new(session, None), Dialect::Native, Tool::Claim, json!({}));
    assert!(claim("two").text.starts_with("[>] T-2 Small"));
    assert!(claim("three").text.starts_with("[>] T-1 Huge"), "agents may still take it");
}

#[test]
fn what_is_ready_is_not_what_is_next_whatever_the_limit() {
    let world = three();
    assert!(native(&world, "one", "start", "T-1").0);
    let read = |arguments: Value| world.call(SessionKey::new("one", None), Dialect::Native, Tool::Read, arguments).text;
    assert!(read(json!({"view": "next"})).starts_with("[>] T-1 One"));
    for limit in [1, 2] {
        let text = read(json!({"view": "ready", "limit": limit}));
        assert!(text.starts_with("[ ] T-2 Two"), "{limit}: {text}");
    }
}

#[test]
fn a_claim_that_finds_nothing_says_what_is_open() {
    let world = three();
    let claim =
        |session: &str| world.call(SessionKey::new(session, None), Dialect::Native, Tool::Claim, json!({})).text;
    let hold = || Hold { kind: HoldKind::Human, reason: "which?".into(), until: None, by: String::new(), at: 0 };
    world.by_hand(&["T-1", "T-2", "T-3"].map(|todo| Op::Hold(id(todo), hold())));
    let text = claim("one");
    assert_eq!(text, "Nothing is ready to claim; 3 todos are open: view why shows what they are waiting for.");
}

#[test]
fn a_claim_that_finds_nothing_leaves_no_session() {
    let world = world();
    let answer = world.call(SessionKey::new("one", None), Dialect::Native, Tool::Claim, json!({}));
    assert_eq!(answer.text, "Nothing is open.");
    assert!(world.engine.session(&SessionKey::new("one", None)).unwrap().is_none());
}

#[test]
fn a_claim_lasts_as_long_as_the_setting_says() {
    let mut world = three();
    world.settings = settings(&[("lease", "2h")]);
    let request = WriteRequest { settings: Some(&world.settings), ..WriteRequest::of(Actor::agent("claude", "one")) };
    let changed = world.engine.submit(world.plan, &request, &[Op::Start(id("T-1"))]).unwrap();
    let todo = changed.plan.by_id("T-1").unwrap();
    assert_eq!(todo.lease_until, Some(changed.now + 2 * 3_600_000));
}

#[test]
fn lists_leave_out_what_others_have_claimed_and_say_so() {
    let lists: [(Dialect, Value, Value); 3] = [
        (
            Dialect::Todowrite,
            todos(&[("One", "pending"), ("Two", "pending")]),
            todos(&[("One", "completed"), ("Two", "completed")]),
        ),
        (
            Dialect::Cursor,
            json!({"merge": false, "todos": [{"id": "a", "content": "One"}, {"id": "b", "content": "Two"}]}),
            json!({"merge": true, "todos": [{"id": "a", "status": "completed"}, {"id": "b", "status": "completed"}]}),
        ),
        (
            Dialect::Extended,
            json!({"mode": "replace", "todos": [{"id": "a", "title": "One"}, {"id": "b", "title": "Two"}]}),
            json!({"mode": "patch", "todos": [{"id": "a", "status": "completed"}, {"id": "b", "status": "completed"}]}),
        ),
    ];
    for (dialect, first, second) in lists {
        let world = world();
        let written = world.write("list", dialect, first);
        assert!(!written.is_error, "{dialect:?}: {}", written.text);
        let plan = world.engine.whole(world.plan).unwrap();
        let ids: Vec<String> = plan.live().iter().map(|todo| todo.id.clone()).collect();
        assert!(native(&world, "other", "start", &ids[0]).0);
        let answer = world.write("list", dialect, second);
        assert!(
            !answer.is_error && answer.text.contains("is claimed by `other`, so it was left unchanged"),
            "{}",
            answer.text
        );
        assert_eq!(status(&world, &ids[0]), (Status::InProgress, Some("other".into())), "{dialect:?}");
        assert_eq!(status(&world, &ids[1]).0, Status::Completed, "{dialect:?}");
    }
}

#[test]
fn a_user_may_and_sees_whose_claim_ended() {
    let world = three();
    native(&world, "one", "start", "T-1");
    let done = [Op::Done { target: id("T-1"), evidence: None, fence: None }];
    let changed = world.engine.submit(world.plan, &WriteRequest::of(Actor::user()), &done).unwrap();
    assert_eq!(changed.outcome.warnings, [Warning::ClaimEnded { id: "T-1".into(), owner: "one".into() }]);
    world.by_hand(&[Op::Start(id("T-2"))]);
    world.pass(1_000_000_000);
    let (accepted, text) = native(&world, "one", "start", "T-2");
    assert!(!accepted && text.contains("`T-2` is claimed by the user"), "{text}");
}

/// Every form in which authors and owners stand in a store of schema 2.2, with in-progress rows that have no lease.
#[test]
fn a_store_of_schema_2_2_is_read_with_every_form_of_author() {
    use ActorKind::{Agent, Runner, User, Worker};
    let forms: [(&str, Option<&str>, ActorKind); 9] = [
        ("user", None, User),
        ("ann", Some("ann"), Agent),
        ("claude", Some("f0198e49-77aa"), Agent),
        ("claude-code", Some("mcp-1a2b-3c"), Agent),
        ("codex", Some("0199aa/sub-1"), Agent),
        ("run 3", None, Runner),
        ("run 3", Some("run:3/1.2"), Worker),
        ("run:3/1.2", Some("run:3/1.2"), Worker),
        ("file", None, Agent),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let open = |mode| {
        let store = SqliteStore::open(&path, mode).unwrap();
        world_on(Box::new(store))
    };
    {
        let world = open(OpenMode::Create);
        for (n, (by, owner, _)) in forms.iter().enumerate() {
            let request = WriteRequest { preset: punch_core::dialect::mirror::policy, ..WriteRequest::by(by, *owner) };
            let id = format!("t{n}");
            let new = Add { id: Some(id.clone()), status: Status::InProgress, ..Add::default() };
            world.engine.submit(world.plan, &request, &[Op::Add(new)]).unwrap();
            // As the version before wrote it: an owner, no lease, no fence.
            let mut part = world.engine.whole(world.plan).unwrap();
            let mut old = part.by_id(&id).unwrap().clone();
            (old.lease_until, old.fields.fence) = (None, 0);
            part.row.last_fence = 0;
            let outcome = Outcome { rows: vec![old], plan: part.row.clone(), ..Outcome::default() };
            world.engine.store().write(world.plan, Durability::Full, &mut |tx| tx.put(&outcome)).unwrap();
        }
    }
    let file = rusqlite::Connection::open(&path).unwrap();
    let added_since = [
        "note",
        "activity",
        "question",
        "control",
        "seat",
        "reader",
        "runner",
        "worktree_plan",
        "plan_file",
        "batch",
        "mirrored",
        "completed_files",
        "offer",
        "expected_call",
        "commit_counter",
        "worker",
    ];
    let back_to_2_2 = "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID; \
                       INSERT INTO setting SELECT 'store.commits', commits || ' ' || store FROM commit_counter; \
                       ALTER TABLE event DROP COLUMN undoes; ALTER TABLE event DROP COLUMN owner; \
                       ALTER TABLE todo DROP COLUMN notes; PRAGMA user_version = 2002";
    file.execute_batch(back_to_2_2).unwrap();
    added_since.iter().for_each(|table| file.execute_batch(&format!("DROP TABLE {table}")).unwrap());
    drop(file);
    let world = open(OpenMode::Existing);
    let plan = world.engine.whole(world.plan).unwrap();
    let events = world.engine.read(world.plan, |snapshot| Ok(snapshot.events(0, 100)?)).unwrap();
    for (n, (by, owner, kind)) in forms.iter().enumerate() {
        let todo = plan.by_id(&format!("t{n}")).unwrap();
        assert_eq!((events[n].by.as_str(), todo.owner.as_deref()), (*by, *owner));
        assert_eq!(Actor::parse(&events[n].by, todo.owner.as_deref()).kind(), *kind, "{by} {owner:?}");
        // No one is locked out of what an older version left in progress.
        assert!(native(&world, "new", "done", &todo.id).0, "{by} {owner:?}");
    }
}

fn next(world: &World, session: &str) -> Option<String> {
    let read = world.call(SessionKey::new(session, None), Dialect::Native, Tool::Read, json!({"view": "next"}));
    read.structured["ready"][0].as_str().map(str::to_owned)
}

#[test]
fn two_agents_are_not_sent_to_the_same_todo() {
    let world = three();
    for session in ["one", "two"] {
        world.write(session, Dialect::Native, json!({"ops": [{"op": "note", "id": "T-3", "text": "x"}]}));
    }
    let sent = |session: &str| world.report(session, stop()).go_on.unwrap_or_default();
    assert!(sent("one").contains("T-1"));
    assert!(sent("two").contains("T-2"));
    assert!(native(&world, "one", "start", "T-1").0);
    assert!(native(&world, "two", "start", "T-2").0);
    // Both finish: one is sent to the last todo, the other may stop and is told why.
    assert!(native(&world, "one", "done", "T-1").1.contains("next: T-3"));
    assert!(!native(&world, "two", "done", "T-2").1.contains("next: T-3"));
    assert_eq!(world.stopped("two"), "nothing_actionable");
    assert_eq!(world.stopped("one"), "continue");
    // An offer is for a while only.
    world.pass(6 * 60_000);
    assert_eq!(next(&world, "two").as_deref(), Some("T-3"));
}

fn claim(world: &World, session: &str, arguments: Value) -> (bool, Value, String) {
    let answer = world.call(SessionKey::new(session, None), Dialect::Native, Tool::Claim, arguments);
    (!answer.is_error, answer.structured, answer.text)
}

#[test]
fn a_claim_passes_over_what_another_session_was_sent_to() {
    let world = three();
    world.write("one", Dialect::Native, json!({"ops": [{"op": "note", "id": "T-3", "text": "x"}]}));
    assert!(world.report("one", stop()).go_on.unwrap_or_default().contains("T-1"));
    assert_eq!(claim(&world, "two", json!({})).1["id"], "T-2");
    let request = WriteRequest::of(Actor::named_user("script"));
    let claimed = world.engine.claim_next(world.plan, &request, 60_000).unwrap().unwrap();
    assert_eq!(claimed.changed.plan.get(claimed.uid).unwrap().id, "T-3");
    // An offer alone keeps nobody from working: where nothing else is ready, the claim wins.
    assert_eq!(claim(&world, "two", json!({})).1["id"], "T-1");
    assert!(native(&world, "one", "start", "T-1").1.contains("Error leased"));
}

#[test]
fn a_session_that_claims_gives_up_what_it_was_sent_to() {
    let world = three();
    world.write("one", Dialect::Native, json!({"ops": [{"op": "note", "id": "T-3", "text": "x"}]}));
    assert!(world.report("one", stop()).go_on.unwrap_or_default().contains("T-1"));
    let edit = Edit { content: Keep::Set("Urgent".into()), priority: Keep::Set(1), ..Edit::default() };
    world.by_hand(&[Op::Add(Add { edit, ..Add::default() })]);
    assert_eq!(claim(&world, "one", json!({})).1["id"], "T-4");
    assert_eq!(next(&world, "two").as_deref(), Some("T-1"));
}

#[test]
fn the_name_of_another_session_does_not_renew_its_claim() {
    let world = three();
    assert!(native(&world, "one", "start", "T-1").0);
    let lease = || world.engine.whole(world.plan).unwrap().by_id("T-1").unwrap().lease_until;
    let before = lease();
    let (accepted, _, text) = claim(&world, "two", json!({"id": "T-1", "owner": "one", "leaseMs": 86_400_000}));
    assert!(!accepted && text.contains("Error leased"), "{text}");
    assert_eq!(lease(), before);
    assert!(claim(&world, "two", json!({"id": "T-2", "owner": "three"})).0, "a free todo can be claimed for another");
}

#[test]
fn a_name_in_the_environment_is_not_the_name_of_a_session() {
    let mut world = three();
    assert!(native(&world, "one", "start", "T-1").0);
    for source in [
        SettingSource::Env("PUNCH_OWNER".into()),
        SettingSource::User("user.toml".into()),
        SettingSource::Project("p".into()),
    ] {
        world.settings.owner = SettingValue { value: Some("one".into()), source };
        assert!(native(&world, "two", "done", "T-1").1.contains("Error leased"));
    }
    world.settings.owner = SettingValue { value: Some("one".into()), source: SettingSource::Flag };
    assert!(native(&world, "two", "done", "T-1").0, "the flag of a server is set by whoever configures it");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() })]

    /// Whatever two agents do, no todo is the next one of both at once.
    #[test]
    fn no_todo_is_the_next_of_two_agents(steps in prop::collection::vec((0..2usize, 0..5u8), 1..30)) {
        let world = world();
        world.by_hand(&["a", "b", "c", "d", "e"].map(add));
        let sessions = ["one", "two"];
        let mut sent: [Option<String>; 2] = [None, None];
        for (who, what) in steps {
            let session = sessions[who];
            let answer = match (what, sent[who].clone()) {
                (0 | 1, Some(todo)) => world.write(session, Dialect::Native, json!({"ops": [{"op": "start", "id": todo}]})),
                (2, Some(todo)) => world.write(session, Dialect::Native, json!({"ops": [{"op": "done", "id": todo}]})),
                (3, Some(_)) => {
                    world.report(session, stop());
                    sent[who] = None;
                    continue;
                }
                _ => world.write(session, Dialect::Native, json!({"ops": [{"op": "note", "id": "T-5", "text": "x"}]})),
            };
            prop_assert!(!answer.is_error, "{}", answer.text);
            sent[who] = answer.structured["next"].as_str().map(str::to_owned);
            prop_assert!(sent[0].is_none() || sent[0] != sent[1], "both are sent to {:?}", sent[0]);
        }
    }
}

const YEARS: i64 = 50 * 365 * 24 * 3_600_000;

#[test]
fn a_write_with_a_clock_far_ahead_keeps_no_claim_and_no_timer_from_ending() {
    let world = three();
    world.pass(YEARS);
    // Written while the clock was wrong: a claim, its renewal, and the last time of the plan.
    assert!(native(&world, "ahead", "start", "T-3").0);
    world.pass(-YEARS);
    assert!(native(&world, "one", "start", "T-1").0);
    let hold = Hold {
        kind: HoldKind::Timer,
        reason: "later".into(),
        until: Some(world.engine.now() + 60_000),
        by: String::new(),
        at: 0,
    };
    world.by_hand(&[Op::Hold(id("T-2"), hold)]);
    assert!(!native(&world, "two", "start", "T-1").0, "a live claim protects as always");
    assert!(native(&world, "two", "start", "T-3").0, "a claim that ends in decades was made by a wrong clock");
    world.pass(16 * 60_000);
    assert!(native(&world, "three", "start", "T-1").0, "the claim has expired by the current clock");
    assert!(native(&world, "four", "start", "T-2").0, "the timer has ended by the current clock");
    let found = world.engine.check_plan(world.plan, false).unwrap();
    let clock = found.iter().find(|finding| finding.what == "clock").expect("doctor reports the date");
    assert!(clock.detail.starts_with("the last change is dated "), "{}", clock.detail);
}

#[test]
fn a_plan_whose_last_change_is_not_in_the_future_gets_no_remark_about_clocks() {
    let world = three();
    let found = world.engine.check_plan(world.plan, false).unwrap();
    assert!(found.iter().all(|finding| finding.what != "clock"), "{found:?}");
}
