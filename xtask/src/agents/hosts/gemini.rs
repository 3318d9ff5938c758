//! Gemini CLI, and what Qwen Code has in common with it: the file of settings.

use serde_json::{Value, json};

use super::{AcpCommand, ERRORS, OUTPUT, Trial};
use crate::agents::child;
use crate::agents::trial::TrialWiring;

pub static TRIAL: Trial = Trial {
    name: "gemini",
    package: ("@google/gemini-cli", "0.61.0"),
    plugin: None,
    acp: AcpCommand::Own("--acp --skip-trust -m gemini-2.5-pro"),
    takes_many_prompts: false,
    environment,
    configure,
    screen: Some(|_| ["gemini", "--yolo", "--skip-trust", "-m", "gemini-2.5-pro"].map(str::to_owned).to_vec()),
    first_conversation: None,
    converse: |wiring, _| converse(wiring),
};

fn configure(wiring: &TrialWiring) -> Result<(), String> {
    let settings = settings(wiring, "gemini", "gemini-api-key");
    wiring.place.configure(".gemini/settings.json", &settings.to_string())
}

/// What leads it to the model.
fn environment(wiring: &TrialWiring) -> Vec<(&'static str, String)> {
    let set = |name: &'static str, value: &str| (name, value.to_owned());
    vec![
        set("GEMINI_API_KEY", "scripted"),
        set("GOOGLE_GEMINI_BASE_URL", &wiring.model),
        set("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        set("GEMINI_TELEMETRY_ENABLED", "false"),
    ]
}

fn converse(wiring: &TrialWiring) -> Result<i32, String> {
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

/// The settings that both read.
pub fn settings(wiring: &TrialWiring, agent: &str, login: &str) -> Value {
    let mut out = json!({
        "security": {"auth": {"selectedType": login}, "folderTrust": {"enabled": false}},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    });
    if !wiring.is_installed() {
        out["mcpServers"] = json!({"punch": {"command": wiring.place.punch, "args": wiring.server(), "trust": true}});
        out["hooksConfig"] = json!({"enabled": true});
        out["hooks"] = wiring.hooks(agent);
    }
    out
}
