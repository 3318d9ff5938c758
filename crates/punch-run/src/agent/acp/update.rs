//! What an agent reports about itself while it works: text in pieces, tools, its plan, its usage.

use serde_json::Value;

use super::client::AcpClient;
use crate::agent::AgentEvent;
use punch_agents::headless::json::{entries, entry, line, name, str_of};

/// Bytes of a line that are waited for before it is shown.
const LINE: usize = 2_000;

/// Words that come in pieces, put together to lines.
#[derive(Debug, Default)]
pub(super) struct LineAssembler {
    rest: String,
}

impl LineAssembler {
    fn take(&mut self, piece: &str) -> Vec<AgentEvent> {
        let mut out = Vec::new();
        for part in piece.split_inclusive('\n') {
            if self.rest.len() < LINE {
                self.rest.push_str(part);
            }
            if part.ends_with('\n') {
                out.extend(self.flush());
            }
        }
        // What is skipped of an overlong line is only for eyes.
        if self.rest.len() > 2 * LINE {
            let end = (0..=LINE).rev().find(|end| self.rest.is_char_boundary(*end)).unwrap_or_default();
            self.rest.truncate(end);
        }
        out
    }

    /// Bytes that wait.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// What has come so far, as a line.
    pub fn flush(&mut self) -> Option<AgentEvent> {
        let said = line(&std::mem::take(&mut self.rest));
        (!said.is_empty()).then_some(AgentEvent::Text(said))
    }
}

impl AcpClient {
    /// Takes a `session/update`. Unknown kinds are ignored.
    pub(super) fn updated(&mut self, update: &Value) -> Vec<AgentEvent> {
        match str_of(update, "sessionUpdate") {
            "agent_message_chunk" => {
                self.meter.request(&update["_meta"]["usage"]);
                self.words.take(str_of(&update["content"], "text"))
            }
            "tool_call" => {
                let called = [str_of(update, "title"), str_of(update, "kind"), "tool"];
                let called = called.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
                self.words.flush().into_iter().chain([AgentEvent::ToolUsed { name: name(called) }]).collect()
            }
            "plan" => vec![plan(&update["entries"])],
            // The next version of the protocol.
            "plan_update" => vec![plan(&update["plan"]["entries"])],
            "usage_update" => {
                self.meter.cost(&update["cost"]);
                self.meter.context(&update["used"]);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}

fn plan(list: &Value) -> AgentEvent {
    AgentEvent::PlanSaid(entries(list, |item| entry(str_of(item, "content"), str_of(item, "status"))))
}
