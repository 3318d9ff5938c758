//! Reports of hosts in, neutral words out; effects in, answers in the host's form out. The files in `hooks/` hold
//! both; `UPDATE_DOCS=1 cargo test -p punch-serve hooks` writes what they lead to again.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use punch_agents::hook::{HookReport, MARK, answer, context_use};
use punch_agents::{AGENTS, Adapter, Meaning};
use punch_core::drive::{ContextUse, HostEffect, HostEvent};
use serde_json::{Map, Value, json};

use crate::agents::agent;

fn effect() -> HostEffect {
    HostEffect {
        context: Some("CONTEXT\nof two lines".into()),
        go_on: Some("CONTINUE".into()),
        refuse: Some("REFUSED".into()),
        tell: Some("TOLD".into()),
    }
}

fn told(heard: &HookReport) -> Value {
    let mut out = json!({"session": heard.session, "event": heard.event});
    if let Some(subagent) = &heard.subagent {
        out["subagent"] = subagent.as_str().into();
    }
    if let Some(context) = heard.context {
        out["context"] = json!(context);
    }
    out
}

#[test]
fn every_report_is_heard_and_answered_as_written_down() {
    for host in AGENTS {
        let path: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "tests/it/hooks", &format!("{}.json", host.name)].iter().collect();
        let written = fs::read_to_string(&path).unwrap();
        let mut cases: Vec<Value> = serde_json::from_str(&written).unwrap();
        for case in &mut cases {
            let heard = HookReport::read(host, case["event"].as_str().unwrap(), &case["report"]);
            case["heard"] = heard.as_ref().map(told).unwrap_or_default();
            let said = heard.as_ref().map(|heard| answer(heard, &effect())).unwrap_or_default();
            case["answer"] = serde_json::from_str(&said).unwrap_or_default();
            if let Some(heard) = heard {
                assert_eq!(answer(&heard, &HostEffect::default()), "", "no effect means no output");
                assert_form(&heard, &said);
            }
        }
        let wanted = format!("{}\n", serde_json::to_string_pretty(&cases).unwrap());
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &wanted).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), wanted, "{}", path.display());
    }
}

/// What each host's own description of answers allows.
fn assert_form(heard: &HookReport, said: &str) {
    if said.is_empty() {
        return;
    }
    let value: Value = serde_json::from_str(said).unwrap();
    let out = value.as_object().unwrap();
    let only = |map: &Map<String, Value>, keys: &[&str]| {
        for (key, value) in map {
            assert!(keys.contains(&key.as_str()), "{:?} {}: `{key}`", heard.agent, heard.name);
            assert!(value.is_string() || value.is_object() || value == &json!(true));
        }
    };
    let stop = matches!(heard.meaning, Meaning::Stop | Meaning::SubagentStop);
    match heard.agent.name {
        "claude" | "codex" | "qwen" | "droid" => {
            let decides = stop && heard.agent.name != "claude";
            only(
                out,
                if decides {
                    &["decision", "reason", "systemMessage"]
                } else {
                    &["hookSpecificOutput", "systemMessage"]
                },
            );
            assert!(out.get("decision").is_none_or(|word| word == "block" && out.contains_key("reason")));
            if let Some(own) = out.get("hookSpecificOutput").and_then(Value::as_object) {
                assert_eq!(own["hookEventName"], heard.name.as_str());
                let keys: &[&str] = match heard.meaning {
                    Meaning::ToolStart => {
                        &["hookEventName", "additionalContext", "permissionDecision", "permissionDecisionReason"]
                    }
                    Meaning::SessionStart | Meaning::SubagentStart | Meaning::Prompt | Meaning::ToolEnd => {
                        &["hookEventName", "additionalContext"]
                    }
                    Meaning::ToolFailure => &["hookEventName", "additionalContext"],
                    _ if stop && heard.agent.name == "claude" => &["hookEventName", "additionalContext"],
                    _ => &[],
                };
                only(own, keys);
            }
        }
        "gemini" => {
            only(out, &["decision", "reason", "hookSpecificOutput", "systemMessage"]);
            assert!(out.get("decision").is_none_or(|word| word == "deny" && out.contains_key("reason")));
        }
        "cursor" => only(
            out,
            &["followup_message", "additional_context", "permission", "agent_message", "user_message", "continue"],
        ),
        "opencode" => only(out, &["context", "go_on", "refuse", "tell"]),
        "copilot" => {
            only(out, &["decision", "reason", "additionalContext", "hookSpecificOutput", "systemMessage"]);
            // A text for the user alone needs neither of the two.
            let wrong_place = match heard.meaning {
                Meaning::ToolStart => "additionalContext",
                _ => "hookSpecificOutput",
            };
            assert!(!out.contains_key(wrong_place), "{out:?}");
            assert!(out.get("decision").is_none_or(|word| word == "block" && out.contains_key("reason")));
        }
        other => panic!("what does {other} allow?"),
    }
}

#[test]
fn a_continuation_is_recognised_where_it_comes_back_as_a_prompt() {
    for (host, stop, prompt) in [
        (agent("qwen"), "Stop", "UserPromptSubmit"),
        (agent("gemini"), "AfterAgent", "BeforeAgent"),
        (agent("cursor"), "stop", "beforeSubmitPrompt"),
        (agent("opencode"), "session.idle", "chat.message"),
        (agent("copilot"), "Stop", "UserPromptSubmit"),
    ] {
        let heard = HookReport::read(host, stop, &json!({"session_id": "s"})).unwrap();
        let said: Value = serde_json::from_str(&answer(&heard, &effect())).unwrap();
        let text = ["reason", "followup_message", "go_on"].iter().find_map(|key| said[key].as_str()).unwrap();
        assert!(text.starts_with(MARK));
        let back = HookReport::read(host, prompt, &json!({"session_id": "s", "prompt": text})).unwrap();
        assert_eq!(back.event, HostEvent::Prompted { by_person: false }, "{host:?}");
    }
}

#[test]
fn texts_are_capped_and_steer_no_terminal() {
    let long = format!("line\n\u{1b}[31mred\u{202e}\n{}", "ß\u{7}".repeat(20_000));
    let effect = HostEffect {
        context: Some(long.clone()),
        go_on: Some(long.clone()),
        refuse: Some(long.clone()),
        tell: Some(long),
    };
    for host in AGENTS {
        for event in ["SessionStart", "Stop", "AfterAgent", "PreToolUse", "sessionStart", "stop", "session.idle"] {
            let Some(heard) = HookReport::read(host, event, &json!({"session_id": "s"})) else { continue };
            let said = answer(&heard, &effect);
            let value: Value = serde_json::from_str(&said).unwrap();
            let mut queue = vec![&value];
            while let Some(value) = queue.pop() {
                match value {
                    Value::String(text) => {
                        assert!(text.len() <= 8_000 + MARK.len(), "{}", text.len());
                        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']));
                    }
                    Value::Object(map) => queue.extend(map.values()),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn limits_of_hosts_are_known() {
    let caps: Vec<Option<u32>> = AGENTS.iter().map(|agent| agent.stop_cap(None)).collect();
    assert_eq!(caps, [Some(8), None, Some(7), None, Some(5), None, Some(8), None]);
    assert_eq!((agent("claude").stop_cap(Some(3)), agent("claude").stop_cap(Some(0))), (Some(3), None));
}

fn stop_with(host: &'static Adapter, event: &str, transcript: &str) -> Option<ContextUse> {
    context_use(&HookReport::read(host, event, &json!({"session_id": "s", "transcript_path": transcript})).unwrap())
}

#[test]
fn the_context_is_read_off_the_end_of_a_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let claude = |id: &str, input: u64, model: &str, side: bool| {
        let usage = json!({"input_tokens": input, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 2});
        json!({"type": "assistant", "isSidechain": side, "message": {"id": id, "model": model, "usage": usage}})
            .to_string()
    };
    let lines = [
        claude("m1", 100, "claude-sonnet-4-5", false),
        claude("m2", 1_000, "claude-sonnet-4-5", false),
        claude("m2", 1_000, "claude-sonnet-4-5", false),
        claude("m3", 9, "claude-sonnet-4-5", true),
        json!({"type": "user", "message": {"content": "\"usage\""}}).to_string(),
        "{\"cut".to_owned(),
    ];
    let known = Some(ContextUse { used: 1_010, limit: 200_000 });
    assert_eq!(stop_with(agent("claude"), "Stop", &file("c", &lines.join("\n"))), known);
    // Only the end is read, and its first line may be a part of one.
    let large = format!("{}\n{}\n{}", "x".repeat(300_000), "y".repeat(200_000), lines.join("\n"));
    assert_eq!(stop_with(agent("claude"), "Stop", &file("l", &large)), known);
    let unknown_model = claude("m1", 100, "some-other-model", false);
    assert_eq!(stop_with(agent("claude"), "Stop", &file("u", &unknown_model)), None);
    let count = json!({"type": "event_msg", "payload": {"type": "token_count", "info": {
        "total_token_usage": {"total_tokens": 99_999}, "last_token_usage": {"total_tokens": 4_321},
        "model_context_window": 272_000}}});
    let rollout =
        format!("{count}\n{}", json!({"type": "event_msg", "payload": {"type": "token_count", "info": null}}));
    let known = Some(ContextUse { used: 4_321, limit: 272_000 });
    assert_eq!(stop_with(agent("codex"), "Stop", &file("x", &rollout)), known);
    let chat = json!({"type": "gemini", "model": "gemini-2.5-pro", "tokens": {"input": 1, "total": 77}}).to_string();
    assert_eq!(
        stop_with(agent("gemini"), "AfterAgent", &file("g", &chat)),
        Some(ContextUse { used: 77, limit: 1_048_576 })
    );
    for bad in
        [file("e", ""), file("b", "\u{fffd}\n{}\nnull\n[]"), folder.path().display().to_string(), "relative".into()]
    {
        assert_eq!(stop_with(agent("claude"), "Stop", &bad), None);
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_never_opened() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    assert_eq!(stop_with(agent("claude"), "Stop", &link.display().to_string()), None);
    assert_eq!(stop_with(agent("claude"), "Stop", "/dev/zero"), None);
}

const EVENTS: &[&str] = &[
    "SessionStart",
    "SubagentStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "Stop",
    "SubagentStop",
    "StopFailure",
    "Interrupt",
    "PreCompact",
    "SessionEnd",
    "PermissionRequest",
    "BeforeAgent",
    "AfterAgent",
    "BeforeTool",
    "AfterTool",
    "PreCompress",
    "sessionStart",
    "beforeSubmitPrompt",
    "preToolUse",
    "postToolUse",
    "stop",
    "subagentStop",
    "session.created",
    "chat.message",
    "tool.execute.after",
    "session.idle",
    "session.error",
    "nonsense",
    "",
];

const FIELDS: &[&str] = &[
    "session_id",
    "conversation_id",
    "sessionID",
    "agent_id",
    "hook_event_name",
    "source",
    "prompt",
    "tool_name",
    "tool",
    "tool_input",
    "tool_response",
    "args",
    "output",
    "tool_use_id",
    "error",
    "is_interrupt",
    "background_tasks",
    "status",
    "stop_hook_active",
    "context_usage",
    "context_limit",
    "context_tokens",
    "input_tokens",
    "model",
    "transcript_path",
    "notification_type",
    "todos",
    "plan",
    "taskId",
    "id",
    "content",
    "priority",
    "blockedBy",
    "merge",
    "trigger",
];

pub fn json_value() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "",
        "TodoWrite",
        "TaskCreate",
        "resume",
        "mcp__punch__todo_write",
        "deleted",
        "rev 3",
        "</x>",
        "\u{1b}[2J",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 8, |inner| {
        let field = prop::sample::select(FIELDS.to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((field, inner), 0..10).prop_map(|fields| Value::Object(
                fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

proptest! {
    /// Any JSON at any event of any host is heard without a panic, and whatever is then answered has the host's form.
    #[test]
    fn any_json_is_answered_in_the_hosts_form(
        host in prop::sample::select(AGENTS.to_vec()),
        event in prop::sample::select(EVENTS.to_vec()),
        report in json_value(),
        texts in prop::array::uniform4(prop::option::of(".{0,40}")),
    ) {
        let Some(heard) = HookReport::read(host, event, &report) else { return Ok(()) };
        let [context, go_on, refuse, tell] = texts;
        let said = answer(&heard, &HostEffect { context, go_on, refuse, tell });
        assert_form(&heard, &said);
        prop_assert!(heard.session.len() <= 200);
        context_use(&heard);
    }
}
