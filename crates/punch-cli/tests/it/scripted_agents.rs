//! Agents that follow a script, with the real hooks and the real server: what keeps them going and what ends them.

use std::path::Path;

use punch_testkit::scripted::{AgentHookForm, AgentScript, AgentStory, PunchPrograms, ScriptedAgent};
use serde_json::{Value, json};

use crate::world::{PUNCH, World};

/// Every host's form with the name of an agent that has it.
const HOSTS: [(AgentHookForm, &str); 5] = [
    (AgentHookForm::Claude, "claude"),
    (AgentHookForm::Claude, "codex"),
    (AgentHookForm::Qwen, "qwen"),
    (AgentHookForm::Gemini, "gemini"),
    (AgentHookForm::Cursor, "cursor"),
];

fn play(world: &World, (form, agent): (AgentHookForm, &str), session: &str, script: Value) -> AgentStory {
    let command = world.command(&[]);
    let env = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let mut outside = PunchPrograms::new(Path::new(PUNCH), &world.project, agent).with_env(env);
    outside.serve(&[]).unwrap();
    let script = AgentScript::from_value(script).unwrap();
    ScriptedAgent::new(form, session, script, &mut outside).run(&["Please do the work."]).unwrap()
}

fn ops(ops: Value) -> Value {
    json!({"name": "mcp:punch/todo_write", "input": {"ops": ops}})
}

/// Content and status of everything.
fn todos(world: &World) -> Vec<(String, String)> {
    let list = world.json(&["list", "--all"]);
    let text = |todo: &Value, key: &str| todo[key].as_str().unwrap_or_default().to_owned();
    list["todos"].as_array().unwrap().iter().map(|todo| (text(todo, "content"), text(todo, "status"))).collect()
}

fn reason(world: &World) -> String {
    let why = world.json(&["why-stop"]);
    why["decision"]["reason"]["code"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn early_stops_are_continued_until_all_is_done_whatever_the_host() {
    for host in HOSTS {
        let world = World::new();
        world.ok(&["init"]);
        let add = json!([{"op": "add", "id": "a", "content": "A"}, {"op": "add", "id": "b", "content": "B"}]);
        let story = play(
            &world,
            host,
            "s-1",
            json!({"steps": [
                {"text": "Plan.", "tools": [ops(add)]},
                {"text": "Early."},
                {"news": ["2 of 2"], "tools": [ops(json!([{"op": "done", "id": "a"}]))]},
                {"text": "Early again."},
                {"news": ["1 of 2"], "tools": [ops(json!([{"op": "done", "id": "b"}]))]},
                {"text": "Done."},
            ]}),
        );
        assert_eq!(story.report.verdict(), Ok(()), "{host:?}");
        assert_eq!(story.continued.len(), 2, "{host:?}");
        assert_eq!(reason(&world), "finished", "{host:?}");
    }
}

#[test]
fn an_agent_without_progress_is_stopped_after_three_and_the_person_is_told() {
    for host in HOSTS {
        let world = World::new();
        world.ok(&["init"]);
        let add = ops(json!([{"op": "add", "content": "Impossible", "status": "in_progress"}]));
        let script = json!({"steps": [{"text": "Plan.", "tools": [add]}], "after": {"text": "No."}});
        let story = play(&world, host, "s-1", script);
        assert_eq!(story.continued.len(), 3, "{host:?}");
        assert_eq!(reason(&world), "no_progress", "{host:?}");
        // Cursor has no way to say anything to the user when it stops.
        let told = story.told.last().is_some_and(|told| told.contains("made no progress"));
        assert_eq!(told, host.0 != AgentHookForm::Cursor, "{host:?}: {:?}", story.told);
    }
}

#[test]
fn busy_work_is_no_progress() {
    let world = World::new();
    world.ok(&["init"]);
    let add = ops(json!([{"op": "add", "id": "a", "content": "Impossible", "status": "in_progress"}]));
    let busy = json!({"tools": [{"name": "Bash"}, ops(json!([{"op": "note", "id": "a", "text": "still at it"}]))]});
    let stop = json!({"text": "No."});
    let steps = json!([{"tools": [add]}, stop, busy, stop, busy, stop, busy, stop]);
    let story = play(&world, HOSTS[0], "s-1", json!({"steps": steps}));
    // Three times it used a tool in between; then come three continuations in a row without one.
    assert_eq!((story.continued.len(), story.report.verdict()), (6, Ok(())));
    assert_eq!(reason(&world), "no_progress");
}

#[test]
fn a_second_conversation_is_not_captured_by_the_plan_of_the_first() {
    let world = World::new();
    world.ok(&["init"]);
    let add = ops(json!([{"op": "add", "content": "Open", "status": "in_progress"}]));
    play(&world, HOSTS[0], "s-1", json!({"steps": [{"tools": [add]}], "after": {"text": "No."}}));
    let story = play(&world, HOSTS[0], "s-2", json!({"steps": [{"text": "Four.", "expect": ["offered"]}]}));
    assert_eq!((story.continued.as_slice(), story.report.verdict()), (&[][..], Ok(())));
    // The first conversation has ended and given its todo back.
    assert_eq!(todos(&world), [("Open".to_owned(), "pending".to_owned())]);
}

/// Models that do anything, in any order: the loop ends within its caps.
#[test]
fn whatever_the_model_does_the_loop_ends() {
    for seed in 1..=6_u64 {
        let world = World::new();
        world.ok(&["init"]);
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut steps = vec![json!({"tools": [ops(json!([
            {"op": "add", "id": "a", "content": "A"}, {"op": "add", "id": "b", "content": "B"},
            {"op": "add", "id": "c", "content": "C", "dependsOn": ["a"]},
        ]))]})];
        for _ in 0..30 {
            let id = ["a", "b", "c", "nobody"][usize::try_from(next(4)).unwrap()];
            steps.push(match next(8) {
                0 => json!({"tools": [ops(json!([{"op": "start", "id": id}]))]}),
                1 => json!({"tools": [ops(json!([{"op": "fail", "id": id, "reason": "no"}]))]}),
                2 => json!({"tools": [ops(json!([{"op": "reopen", "id": id}]))]}),
                3 => json!({"tools": [ops(json!([{"op": "hold", "id": id, "reason": "the user"}]))]}),
                4 => json!({"tools": [{"name": "fail:Bash"}]}),
                _ => json!({"text": "Stop."}),
            });
        }
        let script = json!({"steps": steps, "after": {"text": "Stop."}, "may_end_early": true, "most_requests": 80});
        let story = play(&world, HOSTS[0], "s-1", script);
        assert!(story.report.failures.is_empty(), "seed {seed}: {:?}", story.report.failures);
        assert!(story.report.requests < 80, "seed {seed}");
        assert!(!reason(&world).is_empty(), "seed {seed}");
    }
}
