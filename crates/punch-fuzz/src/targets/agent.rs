//! What agents print while a run drives them: any bytes as lines of every agent's stream, and as frames of the Agent Client
//! Protocol.

use punch_agents::AGENTS;
use punch_agents::headless::{AgentEvent, AgentListener, HeadlessStart};
use punch_run::agent::{AgentStart, acp_listener};

use super::text;

const PROMPT: &str = "T-1\nDo it.";

/// Every agent that a run drives without a terminal.
pub fn agent_output(bytes: &[u8]) {
    let server = ["punch".to_owned(), "mcp".to_owned()];
    let start = HeadlessStart { prompt: PROMPT, server: &server, resume: None, is_customized: false };
    for headless in AGENTS.iter().filter_map(|agent| agent.headless) {
        listen(&mut *headless().listener(&start), bytes);
    }
}

/// An agent behind the protocol.
pub fn acp(bytes: &[u8]) {
    let start = AgentStart {
        prompt: PROMPT.into(),
        folder: "/repo".into(),
        log: "/log".into(),
        session: "/session".into(),
        server: vec!["punch".into(), "mcp".into()],
        resume: bytes.first().is_some_and(|first| first % 2 == 1).then(|| "before".into()),
        environment: Vec::new(),
        without: Vec::new(),
    };
    listen(&mut *acp_listener(&start), bytes);
}

/// Does what a runner does: answers what is requested, and gives a prompt after each turn. Whatever the agent prints, what it
/// gets are whole lines, and what the runner gets is short.
fn listen(listener: &mut dyn AgentListener, bytes: &[u8]) {
    // Ours alone, and for some agents the prompt as it is.
    let _ = listener.begin();
    let mut replies = Vec::new();
    for line in text(bytes).lines() {
        let output = listener.hear(line);
        replies.extend(output.replies);
        for event in output.events {
            match event {
                AgentEvent::Permission(request) => {
                    // 300 characters, and a mark where something was cut.
                    assert!(request.what.chars().count() <= 310, "{}", request.what);
                    let option = request.options.first().map(|(id, ..)| id.as_str());
                    replies.extend(listener.answer(&request.id, option, Some("not now")));
                }
                AgentEvent::PlanSaid(entries) => assert!(entries.len() <= 200, "{} entries", entries.len()),
                AgentEvent::TurnEnded { .. } => replies.extend(listener.prompt("T-2\nNext.").unwrap_or_default()),
                _ => {}
            }
        }
    }
    replies.extend(listener.cancel());
    let _ = listener.gone(Some(1));
    for reply in replies {
        assert!(!reply.contains('\n'), "{reply}");
    }
}
