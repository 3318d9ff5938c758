use proptest::prelude::*;

use super::*;

fn heard(stream: &mut CodexStream, lines: &[&str]) -> Vec<AgentEvent> {
    lines.iter().flat_map(|line| stream.hear(line).events).collect()
}

/// As Codex 0.166.0 printed them.
const THREAD: &str = r#"{"type":"thread.started","thread_id":"01a1e2f4"}"#;
const NOTICE: &str = r#"{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata for `gpt-5.1-codex` not found."}}"#;
const STARTED: &str = r#"{"type":"turn.started"}"#;
const WORDS: &str = r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"work\nmore"}}"#;
const COMMAND: [&str; 2] = [
    r#"{"type":"item.started","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'touch x.txt'","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#,
    r#"{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'touch x.txt'","aggregated_output":"","exit_code":0,"status":"completed"}}"#,
];
const CALL: &str = r#"{"type":"item.started","item":{"id":"item_3","type":"mcp_tool_call","server":"punch","tool":"todo_write","arguments":{"todos":[]},"result":null,"error":null,"status":"in_progress"}}"#;
const LIST: &str = r#"{"type":"item.started","item":{"id":"item_4","type":"todo_list","items":[{"text":"write a","completed":true},{"text":"write b","completed":false}]}}"#;
const FIRST: &str = r#"{"type":"turn.completed","usage":{"input_tokens":11823,"cached_input_tokens":100,"cache_write_input_tokens":0,"output_tokens":26,"reasoning_output_tokens":0}}"#;
/// Of the turn after it, with `codex exec resume`.
const SECOND: &str = r#"{"type":"turn.completed","usage":{"input_tokens":17777,"cached_input_tokens":150,"cache_write_input_tokens":0,"output_tokens":31,"reasoning_output_tokens":0}}"#;

fn spent(tokens_in: u64, tokens_out: u64, cached: u64) -> AgentEvent {
    AgentEvent::Usage(TokenSpending { tokens_in, tokens_out, cached, turns: 1, ..TokenSpending::default() })
}

#[test]
fn a_turn_is_told_in_neutral_words() {
    let mut stream = CodexStream::new(ConversationSums::default(), false);
    let lines = [THREAD, NOTICE, STARTED, WORDS, COMMAND[0], COMMAND[1], CALL, LIST, FIRST];
    assert_eq!(
        heard(&mut stream, &lines),
        [
            AgentEvent::Started { session: "01a1e2f4".into() },
            AgentEvent::Text("work".into()),
            AgentEvent::ToolUsed { name: "command_execution".into() },
            AgentEvent::ToolUsed { name: "punch/todo_write".into() },
            AgentEvent::PlanSaid(vec![entry("write a", "completed"), entry("write b", "pending")]),
            spent(11823, 26, 100),
        ]
    );
    assert_eq!(stream.gone(Some(0)), Some(AgentTurnEnd::Natural));
}

#[test]
fn a_conversation_that_goes_on_is_not_counted_twice() {
    let sums = ConversationSums::default();
    assert_eq!(heard(&mut CodexStream::new(sums.clone(), false), &[THREAD, FIRST])[1], spent(11823, 26, 100));
    assert_eq!(heard(&mut CodexStream::new(sums.clone(), true), &[THREAD, SECOND])[1], spent(5954, 5, 50));
    // Of one that began before this run only sums are known: then nothing is said.
    let mut unknown = CodexStream::new(ConversationSums::default(), true);
    assert_eq!(heard(&mut unknown, &[THREAD, FIRST]).len(), 1);
    assert_eq!(unknown.gone(Some(0)), Some(AgentTurnEnd::Natural));
}

#[test]
fn sums_of_many_conversations_take_little() {
    let sums = ConversationSums::default();
    for n in 0..2_000 {
        heard(&mut CodexStream::new(sums.clone(), false), &[&THREAD.replace("01a1e2f4", &n.to_string()), FIRST]);
    }
    assert_eq!(sums.lock().unwrap().len(), THREADS);
}

#[test]
fn ends_are_told_apart() {
    let failed = r#"{"type":"turn.failed","error":{"message":"stream disconnected\nmore"}}"#;
    let error = r#"{"type":"error","message":"Reconnecting... 1/5"}"#;
    let said = |words: &str| AgentTurnEnd::Failed(words.into());
    for (lines, code, wanted) in [
        (&[failed][..], Some(1), said("stream disconnected")),
        (&[error, FIRST], Some(0), AgentTurnEnd::Natural),
        (&[error], Some(1), said("Reconnecting... 1/5")),
        (&[FIRST], Some(137), said("it ended with exit code 137 before its turn was over")),
        (&[], Some(2), said("it ended with exit code 2 before its turn was over")),
        (&["Usage: codex"], Some(2), said("it ended with exit code 2, and none of its 1 lines was understood")),
    ] {
        let mut stream = CodexStream::new(ConversationSums::default(), false);
        heard(&mut stream, lines);
        assert_eq!(stream.gone(code), Some(wanted), "{lines:?}");
    }
    let mut stream = CodexStream::new(ConversationSums::default(), false);
    stream.cancel();
    assert_eq!(stream.gone(Some(143)), Some(AgentTurnEnd::Cancelled));
}

#[test]
fn the_arguments_hand_over_our_server_and_the_conversation() {
    let words = |resume: Option<&str>, is_customized: bool| {
        let server = ["/bin/pu\"nch", "mcp"].map(str::to_owned);
        CodexExec::default().arguments(&HeadlessStart { prompt: "p", server: &server, resume, is_customized }).join(" ")
    };
    let server = "-c mcp_servers.punch.command=\"/bin/pu\\\"nch\" -c mcp_servers.punch.args=[\"mcp\"] \
        -c mcp_servers.punch.startup_timeout_sec=30 -c mcp_servers.punch.default_tools_approval_mode=\"approve\" \
        --skip-git-repo-check -";
    assert_eq!(words(None, false), format!("exec --json -c sandbox_mode=\"workspace-write\" {server}"));
    assert_eq!(words(Some("01a"), true), format!("exec resume 01a --json {server}"));
}

proptest! {
    #[test]
    fn any_line_is_taken_without_harm(which in 0..8usize, cut in 0..500usize, put in any::<String>()) {
        let line = [THREAD, NOTICE, WORDS, COMMAND[0], CALL, LIST, FIRST, SECOND][which];
        let at = cut.min(line.len());
        let at = (0..=at).rev().find(|at| line.is_char_boundary(*at)).unwrap_or_default();
        let mut stream = CodexStream::new(ConversationSums::default(), false);
        stream.hear(&put);
        stream.hear(&line[..at]);
        stream.hear(&format!("{}{put}{}", &line[..at], &line[at..]));
        stream.gone(Some(0));
    }
}

#[test]
fn a_usage_limit_is_not_a_failure() {
    use crate::usage_limit::{Reset, UsageLimit};
    let message = "You've hit your usage limit. Try again in 2 hours.";
    let mut stream = CodexStream::new(ConversationSums::default(), false);
    let lines = [
        json!({"type": "error", "message": message}).to_string(),
        json!({"type": "turn.failed", "error": {"message": message}}).to_string(),
    ];
    heard(&mut stream, &[THREAD, &lines[0], &lines[1]]);
    let limit = UsageLimit { message: message.into(), reset: Reset::After(std::time::Duration::from_secs(7_200)) };
    assert_eq!(stream.gone(Some(1)), Some(AgentTurnEnd::UsageLimit(limit)));
}
