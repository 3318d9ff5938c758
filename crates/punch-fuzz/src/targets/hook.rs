//! Reports of hooks: any bytes as a report of every event of every agent.

use punch_agents::hook::{HookReport, answer, context_reading, context_use, todo_update};
use punch_agents::{AGENTS, lenient_json};
use punch_core::drive::HostEffect;

use super::text;

/// A report is read or ignored; what was read has todos, usage and an answer, or none.
pub fn hook(bytes: &[u8]) {
    let text = text(bytes);
    let Ok(report) = lenient_json::read(bytes) else { return };
    for agent in AGENTS {
        for (event, _) in agent.hooks.meanings {
            let Some(report) = HookReport::read(agent, event, &report) else { continue };
            for tool in agent.todo_tools {
                let _ = todo_update(&report, tool.name);
            }
            let _ = (context_use(&report), context_reading(&report, &text));
            let answer = answer(&report, &HostEffect::default());
            assert!(answer.is_empty() || serde_json::from_str::<serde_json::Value>(&answer).is_ok(), "{answer}");
        }
    }
}
