//! An agent behind the protocol, good and bad. What the lines mean is tested with the parser.

use punch_run::agent::{AgentEvent, AgentTurnEnd};

use super::stage::{Stage, is_alive};

/// Opens a session.
const OPEN: &str = r#"
read hello; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read new; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}'
read prompt
"#;

fn stage(script: &str) -> Stage {
    Stage::new("acp", &format!("{OPEN}{script}"))
}

fn failed(words: &str) -> AgentTurnEnd {
    AgentTurnEnd::Failed(words.into())
}

#[test]
fn a_conversation_of_two_prompts_goes_through_one_process() {
    let mut stage = stage(
        r#"printf '%s\n' "$new" > new; printf '%s\n' "$prompt" > prompt; echo "$TOLD" > told; echo oops >&2
        echo '{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}'
        echo '{"id":3,"result":{"stopReason":"end_turn","usage":{"inputTokens":5,"outputTokens":1,"totalTokens":6}}}'
        read again; printf '%s\n' "$again" > again
        echo '{"id":4,"result":{"stopReason":"end_turn"}}'
        read never"#,
    );
    assert_eq!(stage.next(), AgentEvent::Started { session: "s-1".into() });
    assert_eq!(stage.next(), AgentEvent::Text("hi".into()));
    assert!(matches!(stage.next(), AgentEvent::Usage(spent) if spent.tokens_in == 5));
    assert_eq!(stage.turn_over(), AgentTurnEnd::Natural);
    assert!(stage.running.say("and more").unwrap());
    assert_eq!(stage.turn_over(), AgentTurnEnd::Natural);
    let read = |name| std::fs::read_to_string(stage.path(name)).unwrap();
    assert!(read("new").contains(r#""command":"/bin/punch""#));
    assert!(read("prompt").contains("Do it."));
    assert!(read("again").contains("and more"));
    assert_eq!(read("told"), "yes\n");
    stage.running.cancel();
    assert!(matches!(stage.rest()[..], [AgentEvent::Exited { .. }]), "no turn was going on");
    assert!(stage.log().contains("oops") && stage.log().contains("s-1"), "both streams are written down");
}

#[test]
fn a_permission_waits_for_its_answer() {
    let mut stage = stage(
        r#"echo '{"id":"a","method":"session/request_permission","params":{"toolCall":{"title":"rm x","kind":"execute"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}'
        read answer; printf '%s\n' "$answer" > answer
        echo '{"id":3,"result":{"stopReason":"end_turn"}}'; read never"#,
    );
    stage.next();
    let AgentEvent::Permission(asked) = stage.next() else { panic!() };
    assert_eq!(asked.what, "rm x");
    stage.running.answer(&asked.id, Some("y"), None).unwrap();
    assert_eq!(stage.turn_over(), AgentTurnEnd::Natural);
    let answer = std::fs::read_to_string(stage.path("answer")).unwrap();
    assert!(answer.contains(r#""id":"a""#) && answer.contains(r#""optionId":"y""#), "{answer}");
}

#[test]
fn garbage_and_lines_without_end_between_good_lines_do_no_harm() {
    let mut stage = stage(
        r#"echo garbage; printf '\377\376\n'; echo '{"half":'; echo '[]'; echo 7
        head -c 3000000 /dev/zero | tr '\0' x; echo
        echo '{"id":3,"result":{"stopReason":"end_turn"}}'"#,
    );
    assert_eq!(stage.turn_over(), AgentTurnEnd::Natural);
    assert_eq!(stage.rest(), [AgentEvent::Exited { code: Some(0) }]);
}

#[test]
fn a_flood_is_bounded_in_memory_and_on_disk() {
    let stage = stage(
        r#"i=0; while [ $i -lt 300 ]; do i=$((i+1)); head -c 100000 /dev/zero | tr '\0' y; echo; done
        echo '{"id":3,"result":{"stopReason":"end_turn"}}'"#,
    );
    assert_eq!(stage.turn_over(), AgentTurnEnd::Natural);
    let size = std::fs::metadata(stage.path("log")).unwrap().len();
    assert!(size <= punch_run::agent::LOG_LIMIT, "{size}");
}

#[test]
fn ends_before_the_turn_is_over_are_told() {
    for (script, wanted) in [
        ("exit 0", "it ended with exit code 0 before its turn was over"),
        ("exit 3", "it ended with exit code 3 before its turn was over"),
        ("kill -9 $$", "it ended with exit code 137 before its turn was over"),
    ] {
        let events = stage(script).rest();
        let [.., AgentEvent::TurnEnded { finish }, AgentEvent::Exited { .. }] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!(*finish, failed(wanted));
    }
    let events = Stage::new("acp", "echo 'what is this'; exit 2").rest();
    let wanted = failed("it ended with exit code 2, and none of its 1 lines was understood");
    assert_eq!(events, [AgentEvent::TurnEnded { finish: wanted }, AgentEvent::Exited { code: Some(2) }]);
}

#[test]
fn a_program_that_is_not_there_fails_its_turn() {
    let spec = "acp:/does/not/exist --acp".parse().unwrap();
    assert!(punch_run::agent::agent(&spec, &punch_run::agent::LimitSigns::default()).is_ok());
    let events = Stage::new("acp", "exec /does/not/exist").rest();
    assert!(
        matches!(&events[..], [AgentEvent::TurnEnded { finish: AgentTurnEnd::Failed(_) }, AgentEvent::Exited { .. }]),
        "{events:?}"
    );
}

#[test]
fn one_that_does_not_listen_is_killed_with_all_it_started() {
    let mut stage = stage(
        r#"trap '' TERM INT HUP; setsid sh -c 'trap "" TERM; echo $$ > away; while :; do sleep 1; done' &
        while [ ! -s away ]; do sleep 0.01; done; echo '{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","title":"x"}}}'
        while :; do sleep 1; done"#,
    );
    stage.next();
    assert_eq!(stage.next(), AgentEvent::ToolUsed { name: "x".into() });
    let away = std::fs::read_to_string(stage.path("away")).unwrap();
    assert!(is_alive(&away));
    stage.running.cancel();
    stage.running.kill();
    let events = stage.rest();
    assert_eq!(
        events,
        [AgentEvent::TurnEnded { finish: AgentTurnEnd::Cancelled }, AgentEvent::Exited { code: Some(137) }]
    );
    assert!(!is_alive(&away));
}

#[test]
fn one_that_asks_and_asks_and_never_reads_is_ended() {
    let mut stage = stage(
        r#"i=10; while [ $i -lt 200000 ]; do i=$((i+1)); echo "{\"id\":$i,\"method\":\"fs/read_text_file\",\"params\":{\"path\":\"$(printf '%0200d' 0)\"}}"; done
        while :; do sleep 1; done"#,
    );
    let events = stage.rest();
    assert!(
        matches!(
            &events[..],
            [.., AgentEvent::TurnEnded { finish: AgentTurnEnd::Failed(_) }, AgentEvent::Exited { .. }]
        ),
        "{events:?}"
    );
}

#[test]
fn dropping_it_ends_it() {
    let mut stage = stage(
        "echo $$ > pid; echo '{\"method\":\"session/update\",\"params\":{\"update\":{\"sessionUpdate\":\"tool_call\",\"title\":\"x\"}}}'; sleep 100",
    );
    stage.next();
    stage.next();
    let pid = std::fs::read_to_string(stage.path("pid")).unwrap();
    let running = std::mem::replace(&mut stage.running, Stage::new("exec", "true").running);
    drop(running);
    assert!(!is_alive(&pid));
}
