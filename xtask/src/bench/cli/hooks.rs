//! What a hook costs: agents call one on every step. One that only looks, one that decides about a stop, one that copies
//! the host's todo list.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use serde_json::json;

use super::call::{CallCost, spend};
use super::plan::BenchPlan;

/// The hooks: looking, deciding, copying.
pub const HOOKS: [&str; 3] = ["hook PreToolUse", "hook Stop", "hook TodoWrite"];

/// The session that all reports are about.
const SESSION: &str = "5e551041-0000-4000-8000-000000000001";

impl BenchPlan<'_> {
    /// Runs a hook once more. The first `hook TodoWrite` binds the session.
    pub fn hook(&mut self, name: &str) -> Result<CallCost, String> {
        let mut command = self.hook_command(name)?;
        spend(&mut command)
    }

    /// The next call of a hook.
    pub fn hook_command(&mut self, name: &str) -> Result<Command, String> {
        let report = json!({"session_id": SESSION, "cwd": self.folder(), "permission_mode": "default"});
        let (event, more) = match name {
            "hook PreToolUse" => {
                ("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "look"}))
            }
            "hook Stop" => ("Stop", json!({"stop_hook_active": false, "background_tasks": []})),
            _ => ("PostToolUse", self.list()),
        };
        let mut body = report;
        body["hook_event_name"] = event.into();
        for (key, value) in more.as_object().into_iter().flatten() {
            body[key] = value.clone();
        }
        let file = self.folder().join("report.json");
        let written = fs::write(&file, body.to_string()).and_then(|()| File::open(&file));
        let input = written.map_err(|cause| format!("cannot write a report: {cause}"))?;
        let mut command = self.punch(&["hook", "--agent", "claude", event]);
        command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }

    /// The list as the host's tool wrote it, with another status each time.
    fn list(&mut self) -> serde_json::Value {
        let turn = self.turn();
        let status = |n: u32| if turn % 2 == n { "in_progress" } else { "pending" };
        let todo = |n: u32| json!({"content": format!("Step {n}"), "activeForm": "Stepping", "status": status(n)});
        json!({
            "tool_name": "TodoWrite",
            "tool_use_id": format!("list-{turn}"),
            "tool_input": {"todos": [todo(0), todo(1)]},
            "tool_response": {},
        })
    }
}
