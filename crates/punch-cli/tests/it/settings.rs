//! Every setting is read: for each one there is a situation in which two values lead to different behavior. A new setting
//! gets its row here.

use std::fs;
use std::path::Path;
use std::time::Duration;

use punch_core::drive::{
    ContextUse, Counters, DecisionInput, DecisionScene, Finish, HostEvent, NamedTodo, Nudge, PlanFacts, ToolKind,
    ToolUse, Vocabulary, decide, due, nudge,
};
use punch_engine::Sum;
use punch_engine::config::{Config, ConfigInputs, KEYS, Settings};
use punch_run::RunOptions;
use serde_json::json;

use crate::world::{World, calm};

/// How a test shows that two values of a setting behave differently.
enum Probe {
    /// Commands, one a line, with the setting in the environment. What follows a `?` is compared, what begins with `mcp`
    /// is a call of that method with these parameters, and `git` is git.
    Commands(&'static str),
    /// A question to the code that reads the setting.
    Asked(fn(&Settings) -> String),
    /// A test that needs more than a row: its file and its name.
    Elsewhere(&'static str, &'static str),
}

use Probe::{Asked, Commands, Elsewhere};

/// A setting, two values and how they differ.
const SETTINGS: &[(&str, &str, &str, Probe)] = &[
    ("owner", "ann", "bob", Commands("add x\n? log")),
    ("plan", "one", "two", Commands("plan new one\nplan new two\nadd x\n? list --plan one")),
    (
        "plans",
        "shared",
        "session",
        Elsewhere(
            "crates/punch-serve/tests/it/own_plans.rs",
            "tools_work_on_the_shared_plan_or_on_one_for_every_conversation",
        ),
    ),
    ("lease", "5m", "2h", Commands("add x\n? claim T-1 --owner ann")),
    ("store.copy", "true", "false", Commands("add x\n? doctor")),
    ("view.clear_delay", "0", "-1", Commands("add x y\ndone T-1\n? tree")),
    ("view.color", "always", "never", Commands("add x\n? list")),
    ("view.ascii", "true", "false", Commands("add x y\nadd z --needs T-1\n? status\n? tree\n? graph")),
    ("limits.content", "3", "500", Commands("? add 'four'")),
    ("limits.long", "3", "500", Commands("add x\n? note T-1 'four'")),
    (
        "limits.open_todos",
        "1",
        "9",
        Commands(
            r#"? mcp tools/call {"name":"todo_write","arguments":{"ops":[{"op":"add","content":"a"},{"op":"add","content":"b"}]}}"#,
        ),
    ),
    ("limits.request_bytes", "1024", "9999", Commands(r#"? mcp tools/list {"_meta":{"x":"@2000"}}"#)),
    ("policy.start_gate", "strict", "warn", Commands("add x\nadd y --needs T-1\n? start T-2")),
    ("policy.in_progress", "one", "any", Commands("add x y\nstart T-1\n? start T-2")),
    ("policy.on_cycle", "refuse", "suspend", Commands("add x\nadd y --needs T-1\n? edit T-1 --needs T-2")),
    ("policy.missing_dep", "refuse", "dangle", Commands("? add x --needs nobody")),
    ("policy.cancelled_dep", "block", "cascade", Commands("add x\nadd y --needs T-1\ndrop T-1\n? list --all")),
    ("policy.on_remove", "detach", "dangle", Commands("add x\nadd y --needs T-1\nrm T-1\n? show T-2")),
    ("policy.dep_on_running", "keep", "demote", Commands("add x y\nstart T-1\nedit T-1 --needs T-2\n? list")),
    ("policy.verify", "claim", "command", Commands("add x\n? done T-1")),
    ("verify.checks", "just ci", "make x", Asked(|settings| format!("{:?}", settings.own_checks()))),
    (
        "verify.timeout",
        "100ms",
        "1m",
        Commands("add x --verify 'sleep 1'\nverify --allow T-1\nverify T-1\n? list --all"),
    ),
    (
        "checkpoint.reopen",
        "true",
        "false",
        Commands(
            "add x\ngit commit -q --allow-empty -m y\ndone T-1\ncheckpoint save\ngit reset -q --hard HEAD~1\n\
             checkpoint restore latest --force\n? list --all",
        ),
    ),
    ("checkpoint.batches", "off", "groups", Commands("add x\ndone T-1\n? checkpoint list")),
    ("subagents", "off", "conservative", Commands("add x\n? assign T-1 --to print")),
    ("tools.enabled", "true", "false", Commands("? mcp tools/list {}")),
    ("keep_going.enabled", "true", "false", Asked(stop)),
    ("keep_going.max_continuations", "1", "10", Asked(stop)),
    (
        "keep_going.check_interval_ms",
        "0",
        "1000",
        Elsewhere(
            "crates/punch-engine/tests/it/host/stops.rs",
            "a_decision_is_reused_within_the_interval_at_the_same_revision",
        ),
    ),
    ("keep_going.token_limit", "0.5", "0.9", Asked(stop)),
    ("keep_going.no_progress", "1", "3", Asked(stop)),
    ("keep_going.absolute_max", "1", "100", Asked(stop)),
    ("keep_going.max_minutes", "1", "120", Asked(stop)),
    ("keep_going.skip_optional", "true", "false", Commands("add x --priority 5\n? run --dry-run --agent exec:true")),
    ("keep_going.subagents", "true", "false", Asked(subagent)),
    ("run.agents", "1", "2", Commands("add x y\n? run --dry-run --agent exec:true")),
    ("run.agent", "exec:true", "exec:false", Commands("add x\n? run --dry-run")),
    ("run.max_cost", "1", "9", Asked(run_limit)),
    ("run.max_tokens", "1000", "9000", Asked(run_limit)),
    ("run.max_time", "1s", "9s", Asked(run_limit)),
    ("run.max_turns", "1", "9", Asked(run_limit)),
    ("run.todo_cost", "1", "9", Asked(todo_limit)),
    ("run.todo_tokens", "1000", "9000", Asked(todo_limit)),
    ("run.todo_time", "1s", "9s", Asked(todo_limit)),
    ("run.todo_turns", "1", "9", Asked(todo_limit)),
    (
        "run.limit_wait",
        "1h",
        "12h",
        Elsewhere(
            "crates/punch-run/src/runner/seat/usage_limit/tests.rs",
            "a_seat_waits_for_a_usage_limit_only_as_long_as_the_settings_say",
        ),
    ),
    (
        "run.limit_pause",
        "15m",
        "1h",
        Elsewhere(
            "crates/punch-run/src/runner/seat/usage_limit/tests.rs",
            "a_seat_waits_for_a_usage_limit_only_as_long_as_the_settings_say",
        ),
    ),
    (
        "run.attempts",
        "1",
        "3",
        Elsewhere("crates/punch-cli/tests/it/run/works.rs", "a_todo_is_tried_as_often_as_the_settings_say"),
    ),
    (
        "run.setup",
        "true",
        "false",
        Elsewhere("crates/punch-cli/tests/it/run/setup.rs", "a_failing_setup_fails_no_todo"),
    ),
    (
        "run.copy",
        ".env",
        "other",
        Elsewhere("crates/punch-cli/tests/it/run/setup.rs", "a_lane_is_prepared_before_its_agent_starts"),
    ),
    (
        "verify.plan",
        "true",
        "false",
        Elsewhere(
            "crates/punch-cli/tests/it/hook_checks.rs",
            "the_check_of_the_whole_plan_keeps_a_plan_open_while_it_fails",
        ),
    ),
    (
        "notify.command",
        "true",
        "false",
        Elsewhere("crates/punch-cli/tests/it/run/notify.rs", "the_user_is_notified_of_the_inbox_and_of_the_end"),
    ),
    ("run.limit_exit", "75", "0", Asked(limit_signs)),
    ("run.limit_text", "later", "tomorrow", Asked(limit_signs)),
    (
        "run.idle",
        "10s",
        "20s",
        Elsewhere(
            "crates/punch-run/src/runner/seat/tests.rs",
            "settings_say_when_an_agent_is_ended_killed_and_started_again",
        ),
    ),
    (
        "run.grace",
        "3s",
        "9s",
        Elsewhere(
            "crates/punch-run/src/runner/seat/tests.rs",
            "settings_say_when_an_agent_is_ended_killed_and_started_again",
        ),
    ),
    (
        "run.backoff",
        "1s",
        "8s",
        Elsewhere(
            "crates/punch-run/src/runner/seat/tests.rs",
            "settings_say_when_an_agent_is_ended_killed_and_started_again",
        ),
    ),
    ("run.context", "4000", "200000", Commands("add x y --tokens 3000\n? run --dry-run --agent exec:true --json")),
    ("run.permission", "allow", "deny", Asked(permission)),
    ("run.allow", "Bash", "Read", Asked(permission)),
    (
        "run.ask_wait",
        "300ms",
        "1h",
        Elsewhere(
            "crates/punch-cli/tests/it/run/questions.rs",
            "a_question_without_an_answer_is_given_up_after_a_while",
        ),
    ),
    (
        "run.remote_answers",
        "true",
        "false",
        Elsewhere(
            "crates/punch-engine/src/question/tests.rs",
            "answers_from_other_machines_count_only_if_the_run_says_so",
        ),
    ),
    (
        "verify.where",
        "worker",
        "coordinator",
        Elsewhere("crates/punch-cli/tests/it/fleet.rs", "checks_run_where_the_setting_says"),
    ),
    ("worker.remote", "nowhere", "elsewhere", Commands("add x\n? worker --agent exec:true")),
    (
        "worker.lease",
        "3s",
        "30s",
        Elsewhere("crates/punch-cli/tests/it/fleet.rs", "the_todos_of_a_worker_that_was_killed_go_to_another"),
    ),
    (
        "worker.coordinate",
        "true",
        "false",
        Elsewhere("crates/punch-cli/tests/it/fleet.rs", "a_worker_coordinates_only_where_the_setting_allows_it"),
    ),
    // Without a commit there is nothing to make a worktree of.
    ("run.worktrees", "true", "false", Commands("add x\ngit update-ref -d HEAD\n? run --agent exec:true")),
    ("reminders.enabled", "true", "false", Asked(reminder)),
    ("reminders.tokens", "0", "600", Asked(reminder)),
    (
        "reminders.shell",
        "true",
        "false",
        Elsewhere("crates/punchlist/tests/it/texts.rs", "texts_name_commands_only_for_hosts_that_have_a_shell"),
    ),
];

/// An agent that wants to stop after two continuations, with a context that is 60 % full and a last message an hour ago.
fn stopping() -> DecisionInput {
    DecisionInput {
        facts: PlanFacts {
            open: 3,
            total: 5,
            next: Some(NamedTodo {
                id: "T-3".into(),
                content: "Write it".into(),
                running: true,
                again: false,
                ..NamedTodo::default()
            }),
            ..PlanFacts::default()
        },
        counters: Counters { since: Some(0), idle: 2, continuations: 2, total: 2, ..Counters::default() },
        event: HostEvent::Stopping { finish: Finish::EndTurn, background: 0, kept_going: true },
        policy: Default::default(),
        scene: DecisionScene {
            named: true,
            bound: true,
            context: Some(ContextUse { used: 60, limit: 100 }),
            ..DecisionScene::default()
        },
        now: 3_600_000,
    }
}

fn stop(settings: &Settings) -> String {
    format!("{:?}", decide(&DecisionInput { policy: settings.keep_going(), ..stopping() }))
}

fn subagent(settings: &Settings) -> String {
    let input = stopping();
    let scene = DecisionScene { subagent: true, ..input.scene.clone() };
    format!("{:?}", decide(&DecisionInput { policy: settings.keep_going(), scene, ..input }))
}

fn spent() -> Sum {
    Sum { tokens: 5_000, cost: 5_000_000, turns: 5, ..Sum::default() }
}

fn run_limit(settings: &Settings) -> String {
    format!("{:?}", RunOptions::of(settings, Vec::new()).limits.reached(&spent(), Duration::from_secs(5)))
}

fn todo_limit(settings: &Settings) -> String {
    format!("{:?}", RunOptions::of(settings, Vec::new()).todo_limits.reached(&spent(), Duration::from_secs(5)))
}

fn limit_signs(settings: &Settings) -> String {
    format!("{:?}", punch_run::agent::LimitSigns::of(settings))
}

fn permission(settings: &Settings) -> String {
    format!("{:?}", RunOptions::of(settings, Vec::new()).permissions.rules())
}

fn reminder(settings: &Settings) -> String {
    let mut counters = Counters { quiet: 99, edits: 99, ..Counters::default() };
    let tool = ToolUse::new("Edit", ToolKind::Edit);
    let (facts, rules) = (stopping().facts, settings.reminding());
    let due: Option<Nudge> = due(&counters, &HostEvent::ToolEnded { tool }, true, rules);
    format!("{:?}", due.and_then(|due| nudge(due, &facts, Vocabulary::Full, &mut counters, rules)))
}

fn variable(setting: &str) -> String {
    format!("PUNCH_{}", setting.to_uppercase().replace('.', "_"))
}

/// What the commands printed that are to be compared.
fn printed(setting: &str, value: &str, script: &str) -> String {
    let world = World::with_git();
    let mut out = String::new();
    for line in script.lines() {
        if let Some(git) = line.strip_prefix("git ") {
            world.git(&git.split(' ').collect::<Vec<_>>());
            continue;
        }
        let (compared, line) = line.strip_prefix("? ").map_or((false, line), |line| (true, line));
        let run = match line.strip_prefix("mcp ").and_then(|call| call.split_once(' ')) {
            Some((method, parameters)) => {
                let parameters = parameters.replace("@2000", &"x".repeat(2_000));
                let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion":
                    "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
                let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
                let call = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{method}","params":{parameters}}}"#);
                let mut command = world.command(&["mcp"]);
                command.env(variable(setting), value);
                world.feed_command(command, &format!("{begin}\n{begun}\n{call}\n"))
            }
            None => {
                let words = crate::world::words(line);
                let mut command = world.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
                command.env(variable(setting), value);
                crate::world::finished(command.output().unwrap())
            }
        };
        if compared {
            out.push_str(&calm(&world.hide_paths(&run.render())));
        }
    }
    out
}

fn asked(setting: &str, value: &str) -> Settings {
    let env = vec![(variable(setting), value.into())];
    Config::load(&ConfigInputs { env, ..ConfigInputs::default() }).unwrap().settings
}

#[test]
fn the_check_of_the_plan_may_be_called_plan_verify_on_the_command_line() {
    let world = World::new();
    world.ok(&["add", "One"]);
    world.ok(&["config", "set", "plan.verify", "make test"]);
    for name in ["plan.verify", "verify.plan"] {
        assert_eq!(world.json(&["config", "get", name])["value"], "make test", "{name}");
    }
    world.ok(&["config", "unset", "plan.verify"]);
    assert!(world.json(&["config", "get", "verify.plan"])["value"].is_null());
}

#[test]
fn every_setting_has_two_values_that_lead_to_different_behavior() {
    let rows: Vec<&str> = SETTINGS.iter().map(|(name, ..)| *name).collect();
    let missing: Vec<&str> = KEYS.iter().map(|key| key.name).filter(|name| !rows.contains(name)).collect();
    assert!(missing.is_empty(), "no row shows what these settings change: {missing:?}");
    assert_eq!(rows.len(), KEYS.len(), "a row for a setting that does not exist");
    let mut same = Vec::new();
    for (setting, one, other, probe) in SETTINGS {
        let differ = match probe {
            Commands(script) => {
                let (first, second) = (printed(setting, one, script), printed(setting, other, script));
                // What differs anyway says nothing about the setting.
                first != second && first == printed(setting, one, script)
            }
            Asked(ask) => ask(&asked(setting, one)) != ask(&asked(setting, other)),
            Elsewhere(file, test) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
                fs::read_to_string(&path).unwrap().contains(&format!("fn {test}("))
            }
        };
        if !differ {
            same.push(format!("`{setting}`: {one} and {other}"));
        }
    }
    assert!(same.is_empty(), "these lead to the same behavior:\n{}", same.join("\n"));
}
