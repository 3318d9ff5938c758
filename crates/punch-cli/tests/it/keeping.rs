//! `keep-going`, `why-stop`, `status` and `log --turn`, over a store in which an agent's host has reported something.

use insta::assert_snapshot;
use punch_core::drive::{ContextUse, Finish, HostEvent, ToolKind, ToolUse};
use punch_engine::call::{Dialect, Tool, ToolCaller};
use punch_engine::config::{Config, ConfigInputs};
use punch_engine::{Engine, HostReport, PlanChoice};
use punch_store::{OpenMode, SessionKey, SqliteStore};
use serde_json::{Value, json};

use crate::world::{World, calm};

fn engine(world: &World) -> Engine {
    let store = SqliteStore::open(&world.store(), OpenMode::Existing).unwrap();
    let since = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Engine::new(Box::new(store), Box::new(move || since().as_millis() as i64))
}

fn report(world: &World, event: HostEvent, context: Option<ContextUse>) {
    let key = SessionKey::new("1a2b3c4d", None);
    let report = HostReport {
        agent: "claude".into(),
        key,
        choice: PlanChoice::default(),
        event,
        context,
        host_cap: None,
        turn: None,
        tree: None,
        earlier: Default::default(),
        by_runner: false,
        upcoming: None,
        checks: Default::default(),
        agent_process: || None,
    };
    let settings = Config::load(&ConfigInputs::default()).unwrap().settings;
    engine(world).observe(&report, &settings).unwrap();
}

fn stop(world: &World) {
    report(world, HostEvent::Stopping { finish: Finish::EndTurn, background: 0, kept_going: false }, None);
}

/// A session that wrote two todos and began one.
fn world() -> World {
    let world = World::new();
    world.ok(&["add", "Of the user"]);
    let engine = engine(&world);
    let plan = engine.choose_or_create(&PlanChoice::default()).unwrap();
    let caller = ToolCaller {
        session: SessionKey::new("1a2b3c4d", None),
        actor: punch_core::Actor::agent("claude-code", "1a2b3c4d"),
        role: None,
        mode: Default::default(),
        limits: Default::default(),
        open_limit: 100,
        settings: None,
        structured: false,
        work: Default::default(),
        server: None,
        embedding: Default::default(),
    };
    let ops = json!({"ops": [{"op": "add", "content": "Write it"}, {"op": "start", "id": "T-2"}]});
    engine.call(plan, &caller, Dialect::Native, Tool::Write, &ops, None).unwrap();
    world
}

#[test]
fn without_agents_there_is_little_to_tell() {
    let world = World::new();
    assert_snapshot!(world.script(r"
        keep-going
        keep-going status --json
        why-stop
        why-stop --json
        log --turn
    "), @r#"
    $ punch keep-going
    No sessions yet.
    $ punch keep-going status --json
    {"schema":1,"sessions":[]}
    $ punch why-stop
    No agent has tried to stop here yet.
    $ punch why-stop --json
    {"schema":1,"decision":null}
    $ punch log --turn
    Nothing has happened yet.
    "#);
    assert_eq!(std::fs::read_dir(&world.project).unwrap().count(), 0, "nothing was made");
}

#[test]
fn a_session_that_is_kept_going_says_so() {
    let world = world();
    stop(&world);
    stop(&world);
    assert_snapshot!(calm(&world.script(r"
        status
        why-stop
        keep-going
    ")), @r#"
    $ punch status
    main: 0 of 2 done (0%)
    In progress  [>] T-2  Write it  (@1a2b3c4d; punch show T-2)
    Next         [ ] T-1  Of the user  (punch start T-1)
    claude 1a2b3c4d: continuation 2/3
    No agent is connected: `punch install` connects the ones you use
    $ punch why-stop
    claude 1a2b3c4d was told to continue, continuation 2/3, TIME
    because something is open that it can work on
    open at revision 2: 2 of 2 todos
    continuations before: 1 of 10 since progress, 1 of 100 since the last message, 1 of 3 without a tool
    context usage unknown, so not considered
    $ punch keep-going
    Auto-continue is on.
    claude 1a2b3c4d: continuation 2/3
    "#);
    let status = world.json(&["status"]);
    assert_eq!(
        status["keepGoing"],
        json!([{"session": "1a2b3c4d", "subagent": null, "agent": "claude", "continuation": 2, "of": 3}])
    );
    assert!(world.ok(&["cost"]).contains("1 session so far: 0 tokens of reminders, "));
}

#[test]
fn an_agent_that_stopped_with_work_left_is_shown_until_you_look() {
    let world = world();
    let line = "claude stopped with work left: 3 continuations in a row made no progress";
    (0..3).for_each(|_| stop(&world));
    assert!(!world.ok(&["inbox"]).contains("stopped"), "it was sent back to work");
    stop(&world);
    let inbox = world.ok(&["inbox"]);
    assert!(inbox.contains(line) && inbox.contains("punch keep-going why"), "{inbox}");
    assert!(world.ok(&["status"]).contains(line), "{}", world.ok(&["status"]));
    world.ok(&["log", "--new"]);
    assert!(!world.ok(&["inbox"]).contains("stopped"));
    // It stops again, and hears from the user: then it is at work.
    (0..4).for_each(|_| stop(&world));
    assert!(world.ok(&["inbox"]).contains("stopped with work left"));
    report(&world, HostEvent::Prompted { by_person: true }, None);
    assert!(!world.ok(&["inbox"]).contains("stopped"));
}

#[test]
fn a_stop_is_explained() {
    let world = world();
    (0..4).for_each(|_| stop(&world));
    report(&world, HostEvent::Interrupted, None);
    assert_snapshot!(calm(&world.script(r"
        why-stop
        why-stop 1a2b
        why-stop nobody
        status
    ")), @r#"
    $ punch why-stop
    claude 1a2b3c4d was allowed to stop, TIME
    because 3 continuations in a row made no progress
    open at revision 2: 2 of 2 todos
    continuations before: 3 of 10 since progress, 3 of 100 since the last message, 3 of 3 without a tool
    context usage unknown, so not considered
    what to do: read what the agent says, then send it a message
    then: interrupted, at T-2
    $ punch why-stop 1a2b
    claude 1a2b3c4d was allowed to stop, TIME
    because 3 continuations in a row made no progress
    open at revision 2: 2 of 2 todos
    continuations before: 3 of 10 since progress, 3 of 100 since the last message, 3 of 3 without a tool
    context usage unknown, so not considered
    what to do: read what the agent says, then send it a message
    then: interrupted, at T-2
    $ punch why-stop nobody
    2> error: no single session matches `nobody`
    2> hint: `punch keep-going why` explains the last one and prints its id
    exit 1
    $ punch status
    main: 0 of 2 done (0%)
    In progress  [>] T-2  Write it  (@1a2b3c4d; punch show T-2)
    Next         [ ] T-1  Of the user  (punch start T-1)
    No agent is connected: `punch install` connects the ones you use
    "#);
    let told = world.json(&["why-stop"]);
    assert_eq!(told["decision"], json!({"do": "allow", "reason": {"code": "no_progress", "times": 3}}));
    assert_eq!((&told["context"], &told["session"]), (&Value::Null, &json!("1a2b3c4d")));
    let used = Some(ContextUse { used: 950, limit: 1_000 });
    report(&world, HostEvent::Prompted { by_person: true }, None);
    report(&world, HostEvent::Stopping { finish: Finish::EndTurn, background: 0, kept_going: false }, used);
    assert!(world.ok(&["why-stop"]).contains("context: 950 of 1000 tokens"));
}

#[test]
fn a_decision_can_be_replayed() {
    let world = world();
    stop(&world);
    let line = world.ok(&["why-stop", "--line"]);
    let run = world.feed(&["replay", "--dialect", "drive"], &line);
    assert_eq!(run.exit, Some(0), "{}", run.render());
    let (stored, again): (Value, Value) =
        (serde_json::from_str(&line).unwrap(), serde_json::from_str(&run.stdout).unwrap());
    assert_eq!(again["results"][0], stored["decision"]);
}

#[test]
fn people_switch_it_off_and_on() {
    let world = world();
    assert_snapshot!(world.script(r"
        keep-going off
        keep-going resume
        keep-going pause
        keep-going on
        keep-going pause
        keep-going resume
        keep-going pause --session 1a2b
        keep-going off --session unseen
        keep-going maybe
    "), @r#"
    $ punch keep-going off
    Auto-continue is off; `punch keep-going on` turns it on.
    $ punch keep-going resume
    Auto-continue is off; `punch keep-going on` turns it on.
    $ punch keep-going pause
    Auto-continue is off; `punch keep-going on` turns it on.
    $ punch keep-going on
    Auto-continue is on.
    $ punch keep-going pause
    Auto-continue is paused; `punch keep-going resume` ends the pause.
    $ punch keep-going resume
    Auto-continue is on.
    $ punch keep-going pause --session 1a2b
    Auto-continue is on.
    For session 1a2b3c4d it is paused.
    $ punch keep-going off --session unseen
    Auto-continue is on.
    For session unseen it is off. No session with this id is known yet.
    $ punch keep-going maybe
    2> error: invalid value 'maybe' for '[WHAT]'
    2>   [possible values: on, off, pause, resume, status, why]
    2>
    2> For more information, try '--help'.
    exit 2
    "#);
    stop(&world);
    assert_eq!(world.json(&["why-stop"])["decision"]["reason"]["code"], "paused");
    world.ok(&["keep-going", "resume", "--session", "1a2b3c4d"]);
    stop(&world);
    assert_eq!(world.json(&["why-stop"])["decision"]["do"], "continue");
    assert_eq!(world.json(&["keep-going"])["keepGoing"], "on");
}

#[test]
fn a_turn_is_shown_with_what_was_open() {
    let world = world();
    assert_eq!(world.refused(&["log", "--turn"]), (1, "unknown_session".into()));
    report(&world, HostEvent::Prompted { by_person: true }, None);
    assert_eq!(world.ok(&["log", "--turn"]), "Nothing has happened in this turn.\n");
    world.ok(&["done", "T-1"]);
    assert_snapshot!(calm(&world.script(r"
        log --turn
        log --turn --session 1a2b
        log --turn --session x
        log --session x
    ")), @r#"
    $ punch log --turn
    3  TIME  user  T-1 completed
    2> the turn began at revision 2, TIME; open then: T-1, T-2
    $ punch log --turn --session 1a2b
    3  TIME  user  T-1 completed
    2> the turn began at revision 2, TIME; open then: T-1, T-2
    $ punch log --turn --session x
    2> error: no single session matches `x`
    2> hint: hooks record where turns begin (`punch install` sets them up); `punch log` shows everything
    exit 1
    $ punch log --session x
    2> error: the following required arguments were not provided:
    2>   --turn
    2>
    2> Usage: punch log --turn --session <SESSION> [TODO]
    2>
    2> For more information, try '--help'.
    exit 2
    "#);
    let log = world.json(&["log", "--turn"]);
    assert_eq!((&log["turn"]["open"], &log["turn"]["revision"]), (&json!(["T-1", "T-2"]), &json!(2)));
    assert_eq!(log["revisions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_session_that_never_asked_to_stop_is_explained_by_its_last_reports() {
    let world = World::with_git();
    let hook = |event: &str, more: Value| {
        let mut report = json!({"session_id": "s", "hook_event_name": event});
        report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(world.feed(&["hook", "--agent", "codex", event], &report.to_string()).exit, Some(0));
    };
    assert_eq!(world.ok(&["why-stop"]), "No agent has tried to stop here yet.\n");
    let plan = json!([{"step": "a", "status": "in_progress"}]);
    hook("PostToolUse", json!({"tool_name": "update_plan", "tool_input": {"plan": plan}, "tool_response": "ok"}));
    hook("Interrupt", json!({}));
    hook("SessionEnd", json!({"reason": "other"}));
    let text = world.ok(&["why-stop"]);
    assert!(text.starts_with("codex s has not asked to stop; last reported:\n"), "{text}");
    assert!(text.contains("  interrupted, at T-1\n") && text.contains("  session ended, at T-1\n"), "{text}");
    let answer = world.json(&["why-stop"]);
    assert_eq!((&answer["decision"], &answer["session"]), (&Value::Null, &json!("s")));
    assert_eq!(answer["since"].as_array().unwrap().len(), 2);
}

/// Users ask why an agent gave up after it has stopped.
#[test]
fn tools_that_failed_are_named_before_and_after_the_next_stop() {
    let world = world();
    let failed = |error: &str| {
        let tool = ToolUse::new("Bash", ToolKind::Command);
        report(&world, HostEvent::ToolFailed { tool, error: error.into(), interrupted: false }, None);
    };
    stop(&world);
    failed("exit 1: no compiler");
    let named = |error: &str| {
        let said = world.ok(&["why-stop"]);
        assert!(said.contains(&format!("claude 1a2b3c4d: Bash failed at T-2: {error}")), "{said}");
        let told = world.json(&["why-stop"])["failures"].clone();
        assert!(told.as_array().unwrap().iter().any(|one| one["failure"].to_string().contains(error)), "{told}");
    };
    named("exit 1: no compiler");
    (0..4).for_each(|_| stop(&world));
    failed("exit 2: no linker");
    for error in ["exit 1: no compiler", "exit 2: no linker"] {
        named(error);
    }
}
