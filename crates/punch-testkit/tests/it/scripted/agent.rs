use std::collections::VecDeque;

use punch_testkit::scripted::{AgentHookForm, AgentScript, AgentStory, Outside, ScriptedAgent};
use serde_json::{Value, json};

/// Answers of hooks from a list, and a note of everything that was called.
#[derive(Default)]
struct Recorder {
    stops: VecDeque<Value>,
    before_tool: Value,
    called: Vec<String>,
    inputs: Vec<Value>,
}

impl Outside for Recorder {
    fn hook(&mut self, event: &str, input: &Value) -> Result<String, String> {
        self.called.push(event.to_owned());
        self.inputs.push(input.clone());
        let answer = match event {
            "Stop" | "AfterAgent" | "stop" => self.stops.pop_front().unwrap_or_default(),
            "PreToolUse" | "BeforeTool" => self.before_tool.clone(),
            "SessionStart" => json!({"hookSpecificOutput": {"additionalContext": "your open list"}}),
            _ => Value::Null,
        };
        Ok(if answer.is_null() { String::new() } else { answer.to_string() })
    }

    fn tools(&mut self) -> Result<Vec<String>, String> {
        Ok(vec!["todo_write".to_owned()])
    }

    fn call(&mut self, tool: &str, _arguments: &Value) -> Result<String, String> {
        self.called.push(format!("call {tool}"));
        Ok("0/1 done".to_owned())
    }
}

fn play(form: AgentHookForm, script: Value, outside: &mut Recorder) -> AgentStory {
    ScriptedAgent::new(form, "s-1", AgentScript::from_value(script).unwrap(), outside).run(&["Do it."]).unwrap()
}

#[test]
fn it_goes_on_as_long_as_the_hook_says_so() {
    let block = |text: &str| json!({"decision": "block", "reason": text});
    let last = json!({"systemMessage": "one todo is open"});
    let mut outside = Recorder { stops: [block("first"), block("second"), last].into(), ..Recorder::default() };
    let script = json!({"steps": [
        {"text": "Plan.", "expect": ["your open list", "Do it."], "tools": [{"name": "mcp:punch/todo_write"}]},
        {"text": "Stop.", "news": ["0/1 done"]},
        {"text": "Stop.", "news": ["first"], "reject": ["second"]},
        {"text": "Stop.", "news": ["second"]},
    ]});
    let story = play(AgentHookForm::Claude, script, &mut outside);
    assert_eq!(story.report.verdict(), Ok(()));
    assert_eq!(story.continued, ["first", "second"]);
    assert_eq!(story.told, ["one todo is open"]);
    let called = ["SessionStart", "UserPromptSubmit", "PreToolUse", "call todo_write", "PostToolUse"];
    assert_eq!(outside.called, [&called[..], &["Stop", "Stop", "Stop", "SessionEnd"]].concat());
    let active: Vec<&Value> = outside.inputs[4..7].iter().map(|input| &input["stop_hook_active"]).collect();
    assert_eq!(active, [false, true, true]);
}

#[test]
fn a_refused_tool_does_not_run() {
    let deny = json!({"permissionDecision": "deny", "permissionDecisionReason": "not yours"});
    let mut outside = Recorder { before_tool: json!({"hookSpecificOutput": deny}), ..Recorder::default() };
    let script = json!({"steps": [{"tools": [{"name": "mcp:punch/todo_write"}]}, {"news": ["not yours"]}]});
    let story = play(AgentHookForm::Claude, script, &mut outside);
    assert_eq!(story.refused, ["not yours"]);
    assert!(!outside.called.contains(&"call todo_write".to_owned()));
    assert_eq!(story.report.verdict(), Ok(()));
}

#[test]
fn a_hook_that_never_lets_go_is_bounded_by_the_script() {
    let block = json!({"decision": "block", "reason": "on"});
    let mut outside = Recorder { stops: vec![block; 50].into(), ..Recorder::default() };
    let story = play(AgentHookForm::Claude, json!({"most_requests": 5, "after": {"text": "no"}}), &mut outside);
    assert_eq!(story.continued.len(), 5);
}

#[test]
fn failures_of_tools_and_of_the_model_are_reported_to_the_hook() {
    let mut outside = Recorder::default();
    play(AgentHookForm::Claude, json!({"steps": [{"tools": [{"name": "fail:Bash"}]}, {"error": 529}]}), &mut outside);
    assert_eq!(outside.called[2..5], ["PreToolUse", "PostToolUseFailure", "StopFailure"]);
}

#[test]
fn every_form_has_its_own_words() {
    let softly = json!({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "on"}});
    for (form, stop, answer, session) in [
        (AgentHookForm::Claude, "Stop", softly, "session_id"),
        (AgentHookForm::Qwen, "Stop", json!({"decision": "block", "reason": "on"}), "session_id"),
        (AgentHookForm::Gemini, "AfterAgent", json!({"decision": "deny", "reason": "on"}), "session_id"),
        (AgentHookForm::Cursor, "stop", json!({"followup_message": "on"}), "conversation_id"),
    ] {
        let mut outside = Recorder { stops: [answer].into(), ..Recorder::default() };
        let story = play(form, json!({"steps": [{"text": "a"}, {"text": "b"}]}), &mut outside);
        assert_eq!(story.continued, ["on"]);
        assert!(outside.called.contains(&stop.to_owned()));
        let echoed = outside.inputs.iter().filter(|input| input["prompt"] == "on").count();
        assert_eq!(echoed, usize::from(form != AgentHookForm::Claude));
        assert!(outside.inputs.iter().all(|input| input[session] == "s-1"));
    }
}
