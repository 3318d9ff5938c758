use proptest::prelude::*;

use super::*;
use crate::agent::TokenSpending;
use punch_agents::headless::json::entry;

fn assignment(resume: Option<&str>) -> AgentStart {
    AgentStart {
        prompt: "T-1\nDo it.".into(),
        folder: "/repo".into(),
        log: "/l".into(),
        session: "/s".into(),
        server: vec!["/bin/punch".into(), "mcp".into()],
        resume: resume.map(str::to_owned),
        environment: Vec::new(),
        without: Vec::new(),
    }
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}},"authMethods":[]}}"#;
const OPENED: &str =
    r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"1827e78e","modes":{"currentModeId":"default"}}}"#;

fn update(what: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"1827e78e","update":{what}}}}}"#)
}

/// A client whose first prompt is with the agent.
fn prompted() -> AcpClient {
    let mut client = AcpClient::new(&assignment(None));
    client.begin();
    client.hear(INITIALIZED);
    client.hear(OPENED);
    client
}

fn heard(client: &mut AcpClient, lines: &[&str]) -> Vec<AgentEvent> {
    lines.iter().flat_map(|line| client.hear(line).events).collect()
}

fn over(finish: AgentTurnEnd) -> AgentEvent {
    AgentEvent::TurnEnded { finish }
}

#[test]
fn a_session_is_opened_with_our_server_and_prompted() {
    let mut client = AcpClient::new(&assignment(None));
    let hello = client.begin();
    assert!(hello[0].contains(r#""method":"initialize","params":{"protocolVersion":1"#), "{hello:?}");
    assert_eq!(client.prompt("too early"), None);
    let heard = client.hear(INITIALIZED);
    assert_eq!(
        heard.replies,
        [
            r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/repo","mcpServers":[{"name":"punch","command":"/bin/punch","args":["mcp"],"env":[]}]}}"#
        ]
    );
    let heard = client.hear(OPENED);
    assert_eq!(heard.events, [AgentEvent::Started { session: "1827e78e".into() }]);
    assert_eq!(
        heard.replies,
        [
            r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"1827e78e","prompt":[{"type":"text","text":"T-1\nDo it."}]}}"#
        ]
    );
    assert_eq!(client.prompt("in between"), None, "one at a time");
    let heard = client.hear(r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#);
    assert_eq!(heard.events, [over(AgentTurnEnd::Natural)]);
    assert!(client.prompt("more").unwrap()[0].contains(r#""id":4,"method":"session/prompt""#));
}

#[test]
fn an_old_session_goes_on_where_the_agent_can() {
    for (capabilities, method) in [
        (r#"{"loadSession":true,"sessionCapabilities":{"resume":{}}}"#, Some("session/resume")),
        (r#"{"loadSession":true}"#, Some("session/load")),
        ("{}", None),
    ] {
        let mut client = AcpClient::new(&assignment(Some("old")));
        client.begin();
        let hello = format!(r#"{{"id":1,"result":{{"protocolVersion":1,"agentCapabilities":{capabilities}}}}}"#);
        let reply = client.hear(&hello).replies.concat();
        assert!(reply.contains(method.unwrap_or("session/new")), "{reply}");
        if method.is_none() {
            continue;
        }
        // The past of a loaded session is sent again; it is not news.
        let past = update(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"old words\n"}}"#);
        assert_eq!(client.hear(&past), AgentOutput::default());
        let mut lost = client.hear(r#"{"id":2,"error":{"code":-32602,"message":"no such session"}}"#).replies.concat();
        assert!(lost.contains("session/new"), "{lost}");
        lost = client.hear(r#"{"id":3,"result":{"sessionId":"new"}}"#).replies.concat();
        assert!(lost.contains("session/prompt") && lost.contains(r#""sessionId":"new""#));
    }
    let mut client = AcpClient::new(&assignment(Some("old")));
    client.begin();
    client.hear(INITIALIZED);
    let heard = client.hear(r#"{"id":2,"result":{}}"#);
    assert_eq!(heard.events, [AgentEvent::Started { session: "old".into() }]);
}

#[test]
fn what_the_agent_tells_becomes_neutral_words() {
    let mut client = prompted();
    let lines = [
        update(r#"{"sessionUpdate":"available_commands_update","availableCommands":[]}"#),
        update(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I wi"}}"#),
        update(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ll plan.\nThen"}}"#),
        update(
            r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"Write a.txt","kind":"edit","status":"pending"}"#,
        ),
        update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}"#),
        update(
            r#"{"sessionUpdate":"plan","entries":[{"content":"write a","status":"in_progress","priority":"medium"},{"content":"write b","status":"pending","priority":"medium"}]}"#,
        ),
        update(r#"{"sessionUpdate":"from_the_future","x":1}"#),
    ];
    assert_eq!(
        heard(&mut client, &lines.each_ref().map(String::as_str)),
        [
            AgentEvent::Text("I will plan.".into()),
            AgentEvent::Text("Then".into()),
            AgentEvent::ToolUsed { name: "Write a.txt".into() },
            AgentEvent::PlanSaid(vec![entry("write a", "in_progress"), entry("write b", "pending")]),
        ]
    );
}

#[test]
fn usage_is_read_in_every_form_and_cost_as_a_difference() {
    let spent = |tokens_in, tokens_out, cached, cost_micros, turns| {
        AgentEvent::Usage(TokenSpending {
            tokens_in,
            tokens_out,
            cached,
            cost_micros,
            turns,
            ..TokenSpending::default()
        })
    };
    let within = |event, grown, context| match event {
        AgentEvent::Usage(spent) => {
            AgentEvent::Usage(TokenSpending { grown: Some(grown), context: Some(context), ..spent })
        }
        other => other,
    };
    let mut client = prompted();
    let cost_in = |amount, used: u64| {
        update(&format!(
            r#"{{"sessionUpdate":"usage_update","used":{used},"size":2,"cost":{{"amount":{amount},"currency":"USD"}}}}"#
        ))
    };
    let cost = |amount| cost_in(amount, 0);
    // Claude, Codex, OpenCode.
    let answer = |id: u32, usage: &str| format!(r#"{{"id":{id},"result":{{"stopReason":"end_turn",{usage}}}}}"#);
    let usage = r#""usage":{"inputTokens":35,"outputTokens":3,"cachedReadTokens":4100,"cachedWriteTokens":0,"totalTokens":4138}"#;
    let events = heard(&mut client, &[&cost_in(0.01, 4000), &cost_in(0.02, 4138), &answer(3, usage)]);
    assert_eq!(events, [within(spent(4135, 3, 4100, Some(20_000), 1), 138, 4138), over(AgentTurnEnd::Natural)]);
    client.prompt("more");
    let events = heard(&mut client, &[&cost_in(0.05, 5000), &answer(4, usage)]);
    assert_eq!(events[0], within(spent(4135, 3, 4100, Some(30_000), 1), 862, 5000));
    // Gemini.
    client.prompt("more");
    let quota = r#""_meta":{"quota":{"token_count":{"input_tokens":6671,"output_tokens":3}}}"#;
    assert_eq!(heard(&mut client, &[&answer(5, quota)])[0], spent(6671, 3, 0, Some(0), 1));
    // Qwen: with every request.
    client.prompt("more");
    let piece = update(
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":10,"outputTokens":2,"totalTokens":12}}}"#,
    );
    let larger = piece.replace("10,", "15,").replace("12}", "17}");
    let events = heard(&mut client, &[&piece, &larger, &answer(6, r#""_meta":{}"#)]);
    assert_eq!(events[0], within(spent(25, 4, 0, Some(0), 2), 5, 15));
    // Other currencies are ignored silently.
    let mut client = prompted();
    let other = cost(9.0).replace("USD", "credits");
    assert_eq!(heard(&mut client, &[&other, &answer(3, r#""x":1"#)]), [over(AgentTurnEnd::Natural)]);
}

#[test]
fn the_reason_of_a_denial_stands_before_the_next_prompt() {
    let ask = r#"{"id":7,"method":"session/request_permission","params":{"toolCall":{"title":"x","rawInput":{"command":"rm x"}},"options":[{"optionId":"no","name":"No","kind":"reject_once"}]}}"#;
    let over = |id: u32| format!(r#"{{"id":{id},"result":{{"stopReason":"end_turn"}}}}"#);
    let mut client = prompted();
    heard(&mut client, &[ask]);
    let answer_line = client.answer("7", None, Some("keep x\n")).remove(0);
    assert!(!answer_line.contains("keep x"), "the protocol has no field for it");
    heard(&mut client, &[&over(3)]);
    let prompt = client.prompt("Continue.").unwrap().remove(0);
    assert!(prompt.contains(r#""text":"The user answered your request `rm x`: keep x\n\nContinue.""#), "{prompt}");
    heard(&mut client, &[&over(4)]);
    let prompt = client.prompt("Continue.").unwrap().remove(0);
    assert!(prompt.contains(r#""text":"Continue.""#), "only once: {prompt}");
}

#[test]
fn permissions_are_passed_on_least_promise_first_and_answered() {
    let ask = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"session/request_permission","params":{{"sessionId":"1827e78e","toolCall":{{"toolCallId":"t","title":"`touch x`","kind":"execute","rawInput":{{"command":"touch x"}}}},"options":[{{"optionId":"always","name":"Always","kind":"allow_always"}},{{"optionId":"once","name":"Allow","kind":"allow_once"}},{{"optionId":"no","name":"Reject","kind":"reject_once"}}]}}}}"#
        )
    };
    let mut client = prompted();
    let AgentEvent::Permission(asked) = heard(&mut client, &[&ask("7")]).remove(0) else { panic!() };
    assert_eq!((asked.id.as_str(), asked.what.as_str(), asked.tool.as_deref()), ("7", "touch x", Some("execute")));
    let options: Vec<(&str, bool)> = asked.options.iter().map(|(id, _, allows)| (id.as_str(), *allows)).collect();
    assert_eq!(options, [("once", true), ("no", false)], "nothing is allowed forever");
    let selected = |id: &str, option: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"outcome":{{"outcome":"selected","optionId":"{option}"}}}}}}"#
        )
    };
    assert_eq!(client.answer("7", Some("once"), None), [selected("7", "once")]);
    assert_eq!(client.answer("7", Some("once"), None), [""; 0], "only once");
    // Ids may be words.
    heard(&mut client, &[&ask(r#""word""#)]);
    assert_eq!(client.answer(r#""word""#, None, None), [selected(r#""word""#, "no")]);
    heard(&mut client, &[&ask("8").replace("reject_once", "reject_always")]);
    assert!(client.answer("8", None, None)[0].contains(r#"{"outcome":"cancelled"}"#));
}

#[test]
fn our_own_tools_need_no_permission_and_nothing_else_passes_for_them() {
    let ask = |title: &str, kind: &str| {
        json!({"id": 7, "method": "session/request_permission", "params": {
            "toolCall": {"toolCallId": "t", "title": title, "kind": kind},
            "options": [{"optionId": "no", "name": "No", "kind": "reject_once"},
                        {"optionId": "once", "name": "Yes", "kind": "allow_once"}]}})
        .to_string()
    };
    for title in ["mcp__punch__todo_write", "todo_write (punch MCP Server)"] {
        let heard = prompted().hear(&ask(title, "other"));
        assert!(heard.events.is_empty() && heard.replies[0].contains(r#""optionId":"once""#), "{title}");
    }
    for (title, kind) in [
        ("mcp__punch__todo_write", "execute"),
        ("rm -rf / # (punch MCP Server)", "other"),
        ("mcp__punch__x; rm -rf /", "other"),
        ("mcp__other__todo_write", "other"),
    ] {
        let heard = prompted().hear(&ask(title, kind));
        assert!(matches!(heard.events[..], [AgentEvent::Permission(_)]), "{title}");
    }
    // Qwen Code has the arguments as title, which the model writes, and the name beside it.
    let named = |title: &str, name: &str| {
        let ask: Value = serde_json::from_str(&ask(title, "other")).unwrap();
        let mut ask = ask;
        ask["params"]["toolCall"]["_meta"] = json!({"toolName": name});
        prompted().hear(&ask.to_string()).events.is_empty()
    };
    assert!(named("{\"ops\":[]}", "mcp__punch__todo_write"));
    assert!(!named("mcp__punch__todo_write", "mcp__other__rm"));
    let mut alone = AcpClient::new(&AgentStart { server: Vec::new(), ..assignment(None) });
    assert_eq!(alone.hear(&ask("mcp__punch__todo_write", "other")).events.len(), 1);
}

#[test]
fn what_was_not_offered_is_refused_at_once() {
    let mut client = prompted();
    let heard = client.hear(r#"{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}}"#);
    assert_eq!(heard.replies, [r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"not offered"}}"#]);
    assert_eq!(client.hear(r#"{"jsonrpc":"2.0","method":"$/ping"}"#), AgentOutput::default());
    assert_eq!(client.hear(r#"{"id":99,"result":{"stopReason":"end_turn"}}"#), AgentOutput::default(), "nobody asked");
    for n in 0..1000 {
        client.hear(&format!(r#"{{"id":{n},"method":"session/request_permission","params":{{}}}}"#));
    }
    assert_eq!(client.permissions.len(), OPEN);
}

#[test]
fn ends_are_told_apart() {
    for (line, wanted) in [
        (r#"{"id":3,"result":{"stopReason":"max_tokens"}}"#, AgentTurnEnd::Limit),
        (r#"{"id":3,"result":{"stopReason":"max_turn_requests"}}"#, AgentTurnEnd::Limit),
        (r#"{"id":3,"result":{"stopReason":"cancelled"}}"#, AgentTurnEnd::Cancelled),
        (r#"{"id":3,"result":{"stopReason":"refusal"}}"#, AgentTurnEnd::Failed("the model refused to continue".into())),
        (r#"{"id":3,"result":{}}"#, AgentTurnEnd::Failed("the turn ended with ``".into())),
        (
            r#"{"id":3,"error":{"code":-32603,"message":"Internal error","data":{"details":"overloaded"}}}"#,
            AgentTurnEnd::Failed("Internal error: overloaded".into()),
        ),
        (
            r#"{"id":3,"error":{"code":-32000,"message":"Authentication required"}}"#,
            AgentTurnEnd::Failed("it requires a login: run it once yourself (Authentication required)".into()),
        ),
    ] {
        let mut client = prompted();
        assert_eq!(heard(&mut client, &[line]), [over(wanted)], "{line}");
        assert_eq!(client.gone(Some(0)), None);
    }
    let mut client = prompted();
    let lines = client.cancel();
    assert_eq!(lines, [r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"1827e78e"}}"#]);
    assert_eq!(client.gone(Some(0)), Some(AgentTurnEnd::Cancelled));
    let mut early = AcpClient::new(&assignment(None));
    early.begin();
    heard(&mut early, &["not JSON", "[1]"]);
    let wanted = "it ended with exit code 1, and none of its 2 lines was understood";
    assert_eq!(early.gone(Some(1)), Some(AgentTurnEnd::Failed(wanted.into())));
}

#[test]
fn words_without_end_take_little() {
    let mut client = prompted();
    let piece = update(&format!(
        r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{}"}}}}"#,
        "ü".repeat(3_000)
    ));
    for _ in 0..100 {
        assert_eq!(client.hear(&piece).events, []);
        assert!(client.words.len() < 10_000);
    }
    let Some(AgentEvent::Text(line)) = client.words.flush() else { panic!() };
    assert!(line.chars().count() <= 300);
}

proptest! {
    #[test]
    fn any_line_is_taken_without_harm(lines in prop::collection::vec(any::<String>(), 0..20)) {
        let mut client = prompted();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        heard(&mut client, &lines);
    }

    /// Messages of the right form with anything in them.
    #[test]
    fn any_message_is_taken_without_harm(
        id in prop::sample::select(vec!["1", "2", "3", "null", "\"x\"", "-1", "1e99", "{}"]),
        method in prop::sample::select(vec!["session/update", "session/request_permission", "x", ""]),
        kind in prop::sample::select(vec!["plan", "plan_update", "tool_call", "usage_update", "agent_message_chunk"]),
        value in prop::sample::select(vec!["null", "1", "-1.5", "1e400", "\"\"", "[]", "[1,null]", "{\"text\":[]}", "{\"amount\":-1,\"currency\":\"USD\"}"]),
    ) {
        let mut client = prompted();
        let inner = format!(r#"{{"sessionUpdate":"{kind}","content":{value},"entries":{value},"cost":{value},"_meta":{value},"title":{value}}}"#);
        let params = format!(r#"{{"update":{inner},"options":{value},"toolCall":{value}}}"#);
        client.hear(&format!(r#"{{"id":{id},"method":"{method}","params":{params}}}"#));
        client.hear(&format!(r#"{{"id":{id},"result":{value},"error":null}}"#));
        client.hear(&format!(r#"{{"id":{id},"error":{value}}}"#));
        client.answer(id, Some("x"), None);
        client.cancel();
    }
}
