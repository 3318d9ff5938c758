use proptest::prelude::*;

use super::*;
use crate::headless::json::DETAIL;

fn heard(stream: &mut ClaudeStream, lines: &[&str]) -> Vec<AgentEvent> {
    lines.iter().flat_map(|line| stream.hear(line).events).collect()
}

/// As Claude Code 2.1.325 printed them, shortened where nobody looks.
const INIT: &str = r#"{"type":"system","subtype":"init","cwd":"/repo","session_id":"0afe943c","tools":["Task","Bash","mcp__punch__todo_write"],"mcp_servers":[{"name":"punch","status":"connected","source":"dynamic"}],"model":"claude-sonnet-4-5","permissionMode":"default","claude_code_version":"2.1.325"}"#;
const WORDS: &str = r#"{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"\nwork one\nmore"}],"stop_reason":null,"usage":{"input_tokens":9517,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"0afe943c"}"#;
const TOOL: &str = r#"{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"touch x.txt"}}],"usage":{"input_tokens":9517,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"0afe943c"}"#;
const ASKS: &str = r#"{"type":"control_request","request_id":"2edbabe9","request":{"subtype":"can_use_tool","tool_name":"Bash","display_name":"Bash","input":{"command":"touch x.txt","description":"make x"},"description":"make x","permission_suggestions":[],"tool_use_id":"toolu_1"}}"#;
const RESULT: &str = r#"{"duration_api_ms":178,"stop_reason":"end_turn","session_id":"0afe943c","total_cost_usd":0.058059,"usage":{"input_tokens":19193,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":32},"modelUsage":{"claude-sonnet-4-5":{"inputTokens":19193,"outputTokens":32,"costUSD":0.058059}},"permission_denials":[],"terminal_reason":"completed","is_error":false,"num_turns":2,"subtype":"success","result":"one done","type":"result","model_usage_since_last_result":{"claude-sonnet-4-5":{"inputTokens":19193,"outputTokens":32,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.058059}}}"#;

fn spent(tokens_in: u64, tokens_out: u64, cached: u64, cost_micros: Option<u64>, turns: u32) -> AgentEvent {
    AgentEvent::Usage(TokenSpending { tokens_in, tokens_out, cached, cost_micros, turns, ..TokenSpending::default() })
}

/// Adds to a usage event what is known about the context.
fn in_context(event: AgentEvent, grown: u64, context: u64) -> AgentEvent {
    match event {
        AgentEvent::Usage(spent) => {
            AgentEvent::Usage(TokenSpending { grown: Some(grown), context: Some(context), ..spent })
        }
        other => other,
    }
}

fn over(finish: AgentTurnEnd) -> AgentEvent {
    AgentEvent::TurnEnded { finish }
}

#[test]
fn a_turn_is_told_in_neutral_words_and_counted_once() {
    let mut stream = ClaudeStream::new(false);
    assert!(stream.prompt("go").unwrap()[0].contains(r#""text":"go""#));
    assert_eq!(
        heard(&mut stream, &[INIT, WORDS, TOOL, INIT, RESULT]),
        [
            AgentEvent::Started { session: "0afe943c".into() },
            spent(9627, 0, 100, None, 1),
            AgentEvent::Text("work one".into()),
            AgentEvent::ToolUsed { name: "Bash".into() },
            in_context(spent(9566, 32, 0, Some(58_059), 0), 32, 9627),
            over(AgentTurnEnd::Natural),
        ]
    );
    assert_eq!(stream.gone(Some(0)), None);
}

#[test]
fn sums_of_cost_are_told_as_differences_and_not_at_all_where_the_beginning_is_unknown() {
    let result = |cost: f64| {
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":1,"total_cost_usd":{cost},"usage":{{"input_tokens":10,"output_tokens":2}}}}"#
        )
    };
    let (first, second) = (result(0.5), result(0.75));
    let mut fresh = ClaudeStream::new(false);
    let events = heard(&mut fresh, &[&first, &second]);
    assert_eq!(events[0], spent(10, 2, 0, Some(500_000), 1));
    assert_eq!(events[2], spent(10, 2, 0, Some(250_000), 1));
    let mut resumed = ClaudeStream::new(true);
    let events = heard(&mut resumed, &[&first, &second]);
    assert_eq!(events[0], spent(10, 2, 0, None, 1));
    assert_eq!(events[2], spent(10, 2, 0, Some(250_000), 1));
}

#[test]
fn a_request_for_permission_is_answered_with_its_own_input() {
    let mut stream = ClaudeStream::new(false);
    let options = vec![("allow".into(), "Allow".into(), true), ("deny".into(), "Refuse".into(), false)];
    let (what, detail) = ("touch x.txt".into(), "Bash\ncommand: touch x.txt\ndescription: make x".into());
    let wanted = PermissionRequest { id: "2edbabe9".into(), what, detail, tool: Some("Bash".into()), options };
    assert_eq!(heard(&mut stream, &[ASKS]), [AgentEvent::Permission(wanted)]);
    assert_eq!(stream.answer("nobody", Some("allow"), None), [""; 0]);
    let answer = stream.answer("2edbabe9", Some("allow"), None);
    assert_eq!(
        answer,
        [
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"2edbabe9","response":{"behavior":"allow","updatedInput":{"command":"touch x.txt","description":"make x"}}}}"#
        ]
    );
    assert_eq!(stream.answer("2edbabe9", Some("allow"), None), [""; 0], "only once");
    heard(&mut stream, &[ASKS]);
    assert!(stream.answer("2edbabe9", None, None)[0].contains(r#""behavior":"deny""#));
    heard(&mut stream, &[ASKS]);
    let refused = stream.answer("2edbabe9", Some("deny"), Some("use mktemp"));
    assert!(refused[0].contains(r#""behavior":"deny","message":"The user refused this: use mktemp""#), "{refused:?}");
    heard(&mut stream, &[ASKS, r#"{"type":"control_cancel_request","request_id":"2edbabe9"}"#]);
    assert_eq!(stream.answer("2edbabe9", Some("allow"), None), [""; 0], "it was withdrawn");
}

#[test]
fn other_requests_and_too_many_are_refused_at_once() {
    let mut stream = ClaudeStream::new(false);
    let heard = stream.hear(r#"{"type":"control_request","request_id":"h","request":{"subtype":"hook_callback"}}"#);
    assert!(heard.events.is_empty() && heard.replies[0].contains(r#""subtype":"error""#));
    for n in 0..1000 {
        stream.hear(&ASKS.replace("2edbabe9", &n.to_string()));
    }
    assert_eq!(stream.asked.len(), OPEN);
}

#[test]
fn ends_are_told_apart() {
    let result = |rest: &str| format!(r#"{{"type":"result","num_turns":0,{rest}}}"#);
    for (line, wanted) in [
        (result(r#""subtype":"error_max_turns","is_error":true"#), AgentTurnEnd::Limit),
        (result(r#""subtype":"error_max_budget_usd","is_error":true"#), AgentTurnEnd::Limit),
        (
            result(r#""subtype":"success","is_error":true,"result":"API Error: 529\nOverloaded""#),
            AgentTurnEnd::Failed("API Error: 529".into()),
        ),
        (
            result(r#""subtype":"error_during_execution","is_error":true,"errors":["it broke"]"#),
            AgentTurnEnd::Failed("it broke".into()),
        ),
        (
            result(r#""subtype":"error_during_execution","is_error":true"#),
            AgentTurnEnd::Failed("error_during_execution".into()),
        ),
    ] {
        let mut stream = ClaudeStream::new(false);
        stream.prompt("go");
        assert_eq!(heard(&mut stream, &[&line]).last(), Some(&over(wanted)), "{line}");
        assert_eq!(stream.gone(Some(1)), None, "the turn was over already");
    }
    let mut stream = ClaudeStream::new(false);
    assert_eq!(stream.cancel(), [""; 0], "there is no turn");
    stream.prompt("go");
    assert!(stream.cancel()[0].contains("interrupt"));
    let aborted =
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming"}"#;
    assert_eq!(heard(&mut stream, &[aborted]).last(), Some(&over(AgentTurnEnd::Cancelled)));
}

#[test]
fn a_host_that_dies_in_its_turn_says_so_and_garbage_is_counted() {
    let mut stream = ClaudeStream::new(false);
    stream.prompt("go");
    heard(&mut stream, &["Segmentation fault", "", "{\"type\":"]);
    let wanted = AgentTurnEnd::Failed("it ended with exit code 139, and none of its 2 lines was understood".into());
    assert_eq!(stream.gone(Some(139)), Some(wanted));
    heard(&mut stream, &[INIT]);
    assert_eq!(stream.gone(None), Some(AgentTurnEnd::Failed("it could not be ended".into())));
}

#[test]
fn the_own_list_of_the_agent_is_passed_on_and_subagents_are_only_counted() {
    let mut stream = ClaudeStream::new(false);
    let todo = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","name":"TodoWrite","input":{"todos":[{"content":"a","status":"in_progress","activeForm":"A"}]}}],"usage":{"input_tokens":1}},"parent_tool_use_id":null}"#;
    assert_eq!(heard(&mut stream, &[todo])[1], AgentEvent::PlanSaid(vec![entry("a", "in_progress")]));
    let sub =
        WORDS.replace("\"parent_tool_use_id\":null", "\"parent_tool_use_id\":\"toolu_9\"").replace("msg_1", "msg_2");
    assert_eq!(heard(&mut stream, &[&sub]), [spent(9627, 0, 100, None, 1)]);
}

#[test]
fn everything_that_is_passed_on_is_short_and_harmless() {
    let mut stream = ClaudeStream::new(false);
    let long = "x\u{1b}[31m".repeat(20_000);
    let line = json!({"type": "assistant", "parent_tool_use_id": null, "message": {"id": long, "content": [
        {"type": "text", "text": long}, {"type": "tool_use", "name": long},
        {"type": "tool_use", "name": "TodoWrite", "input": {"todos": vec![json!({"content": long, "status": long}); 1000]}},
    ]}});
    let ask = json!({"type": "control_request", "request_id": "r", "request":
        {"subtype": "can_use_tool", "tool_name": long, "input": {"command": long}}});
    let lines = [line.to_string(), ask.to_string()];
    for event in heard(&mut stream, &lines.each_ref().map(String::as_str)) {
        let size = format!("{event:?}").len();
        match event {
            AgentEvent::PlanSaid(entries) => {
                assert_eq!(entries.len(), 200);
                assert!(entries.iter().all(|entry| entry.content.chars().count() <= 500));
            }
            AgentEvent::Permission(permission) => {
                assert!(permission.detail.chars().count() <= DETAIL && !permission.detail.contains('\u{1b}'));
                let rest = format!("{:?}", PermissionRequest { detail: String::new(), ..permission });
                assert!(rest.len() < 1_500 && !rest.contains("\\u{1b}"), "{}", rest.len());
            }
            other => assert!(size < 1_500 && !format!("{other:?}").contains("\\u{1b}"), "{size}"),
        }
    }
}

#[test]
fn the_arguments_hand_over_our_server_and_the_conversation() {
    let server = ["/bin/punch", "mcp", "--session", "/s"].map(str::to_owned);
    let start = HeadlessStart { prompt: "p", server: &server, resume: Some("0afe943c"), is_customized: false };
    let words = Print.arguments(&start).join(" ");
    assert_eq!(
        words,
        "-p --input-format stream-json --output-format stream-json --verbose --permission-prompt-tool stdio \
         --mcp-config {\"mcpServers\":{\"punch\":{\"command\":\"/bin/punch\",\"args\":[\"mcp\",\"--session\",\"/s\"],\
         \"alwaysLoad\":true}}} --allowedTools mcp__punch --resume 0afe943c"
    );
}

proptest! {
    #[test]
    fn any_line_is_taken_without_harm(lines in prop::collection::vec(any::<String>(), 0..20)) {
        let mut stream = ClaudeStream::new(false);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        heard(&mut stream, &lines);
    }

    /// Lines that look right and have something wrong anywhere.
    #[test]
    fn broken_lines_are_taken_without_harm(which in 0..5usize, cut in 0..2000usize, put in any::<Option<char>>()) {
        let line = [INIT, WORDS, TOOL, ASKS, RESULT][which];
        let at = (0..=cut.min(line.len())).rev().find(|at| line.is_char_boundary(*at)).unwrap_or_default();
        let mut stream = ClaudeStream::new(false);
        stream.hear(&line[..at]);
        let put = put.map(String::from).unwrap_or_default();
        stream.hear(&format!("{}{put}{}", &line[..at], line.get(at + 1..).unwrap_or_default()));
    }
}

/// Shaped as in https://github.com/desplega-ai/agent-swarm/pull/508; not seen from a real session yet.
const REJECTED: &str = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1755772800,"rateLimitType":"five_hour"}}"#;
const ALLOWED: &str = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1755772800}}"#;

#[test]
fn a_usage_limit_ends_a_turn_with_its_reset_time() {
    let result = |is_error: bool, text: &str| {
        json!({"type": "result", "subtype": "success", "is_error": is_error, "result": text}).to_string()
    };
    let banner = "Claude AI usage limit reached|1749924000";
    let session = "You've hit your session limit · resets 8:20pm (Asia/Singapore)";
    let at = |seconds: i64| Some(Reset::At(seconds * 1_000));
    for (event, is_error, text, wanted) in [
        (Some(REJECTED), false, banner, at(1_755_772_800)),
        (Some(REJECTED), true, session, at(1_755_772_800)),
        (Some(REJECTED), true, "API Error: 429", at(1_755_772_800)),
        (None, true, banner, at(1_749_924_000)),
        (None, false, banner, at(1_749_924_000)),
        (Some(ALLOWED), true, session, Some(Reset::UnknownZone)),
        // An agent may write about limits, and a rejected request may be followed by a paid one.
        (None, false, "The page now shows `usage limit reached`.", None),
        (Some(REJECTED), false, "all done", None),
        (None, true, "API Error: 500", None),
    ] {
        let mut stream = ClaudeStream::new(false);
        stream.prompt("go");
        let lines: Vec<String> = event.map(str::to_owned).into_iter().chain([result(is_error, text)]).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let reset = heard(&mut stream, &lines).into_iter().find_map(|event| match event {
            AgentEvent::TurnEnded { finish: AgentTurnEnd::UsageLimit(limit) } => Some(limit.reset),
            _ => None,
        });
        assert_eq!(reset, wanted, "{event:?} {text}");
    }
}
