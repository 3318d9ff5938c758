//! Qwen Code: the settings of Gemini CLI, the hooks of Claude Code, the wire format of OpenAI.

use serde_json::json;

use super::{ERRORS, Host, OUTPUT, gemini};
use crate::agents::child;
use crate::agents::trial::Wiring;

const EVENTS: [&str; 13] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "Notification",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
];

pub fn configure(wiring: &Wiring) -> Result<(), String> {
    let mut settings = gemini::settings(wiring, Host::Qwen, &EVENTS);
    // Both are off or hidden otherwise.
    if !wiring.is_installed() {
        settings["mcpServers"]["punch"]["alwaysLoadTools"] = json!(true);
    }
    settings["tools"] = json!({"todoWrite": {"enabled": true}});
    // With a screen it asks the model what the person could say next.
    settings["ui"] = json!({"enableFollowupSuggestions": false});
    // Otherwise it starts a second agent that looks for things to remember, now and then.
    settings["memory"] = json!({"enableManagedAutoMemory": false});
    wiring.place.configure(".qwen/settings.json", &settings.to_string())
}

/// What leads it to the model.
pub fn environment(wiring: &Wiring) -> Vec<(&'static str, String)> {
    let set = |name: &'static str, value: &str| (name, value.to_owned());
    vec![
        set("OPENAI_API_KEY", "scripted"),
        set("OPENAI_BASE_URL", &format!("{}/v1", wiring.model)),
        set("OPENAI_MODEL", "scripted-1"),
        set("QWEN_TELEMETRY_ENABLED", "false"),
    ]
}

pub fn converse(wiring: &Wiring) -> Result<i32, String> {
    let place = wiring.place;
    let mut command = place.command("qwen");
    command.envs(environment(wiring)).envs(wiring.env());
    command.args(["--output-format", "stream-json", "--yolo", "--auth-type", "openai"]);
    if wiring.run.resume {
        command.arg("--continue");
    }
    command.arg("-p").args(&wiring.run.prompts);
    child::run(&mut command, wiring.limit, &place.file(OUTPUT), &place.file(ERRORS))
}
