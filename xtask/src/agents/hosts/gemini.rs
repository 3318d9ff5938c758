//! Gemini CLI, and what Qwen Code has in common with it: the file of settings.

use serde_json::{Map, Value, json};

use super::{ERRORS, Host, OUTPUT};
use crate::agents::child;
use crate::agents::trial::Wiring;

const EVENTS: [&str; 8] = [
    "SessionStart",
    "SessionEnd",
    "BeforeAgent",
    "AfterAgent",
    "BeforeTool",
    "AfterTool",
    "PreCompress",
    "Notification",
];

pub fn configure(wiring: &Wiring) -> Result<(), String> {
    let settings = settings(wiring, Host::Gemini, &EVENTS);
    wiring.place.configure(".gemini/settings.json", &settings.to_string())
}

/// What leads it to the model.
pub fn environment(wiring: &Wiring) -> Vec<(&'static str, String)> {
    let set = |name: &'static str, value: &str| (name, value.to_owned());
    vec![
        set("GEMINI_API_KEY", "scripted"),
        set("GOOGLE_GEMINI_BASE_URL", &wiring.model),
        set("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        set("GEMINI_TELEMETRY_ENABLED", "false"),
    ]
}

pub fn converse(wiring: &Wiring) -> Result<i32, String> {
    let place = wiring.place;
    let mut command = place.command("gemini");
    command.envs(environment(wiring)).envs(wiring.env());
    command.args(["--output-format", "stream-json", "--yolo", "--skip-trust", "-m", "gemini-2.5-pro"]);
    if wiring.run.resume {
        command.args(["--resume", "latest"]);
    }
    command.arg("-p").args(&wiring.run.prompts);
    child::run(&mut command, wiring.limit, &place.file(OUTPUT), &place.file(ERRORS))
}

/// The settings that both read. Times are milliseconds.
pub fn settings(wiring: &Wiring, host: Host, events: &[&str]) -> Value {
    let hook = |event: &&str| {
        let command = wiring.hook(host, event);
        let handler =
            json!({"name": format!("punch-{event}"), "type": "command", "command": command, "timeout": 20_000});
        ((*event).to_owned(), json!([{"matcher": "*", "hooks": [handler]}]))
    };
    let hooks: Map<String, Value> = events.iter().map(hook).collect();
    let login = if host == Host::Gemini { "gemini-api-key" } else { "openai" };
    let mut out = json!({
        "security": {"auth": {"selectedType": login}, "folderTrust": {"enabled": false}},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    });
    if !wiring.is_installed() {
        out["mcpServers"] = json!({"punch": {"command": wiring.place.punch, "args": wiring.server(), "trust": true}});
        out["hooksConfig"] = json!({"enabled": true});
        out["hooks"] = json!(hooks);
    }
    out
}
