//! Qwen Code: the settings of Gemini CLI, the hooks of Claude Code, the wire format of OpenAI.

use serde_json::json;

use super::{AcpCommand, ERRORS, OUTPUT, Trial, gemini};
use crate::agents::child;
use crate::agents::trial::TrialWiring;

pub static TRIAL: Trial = Trial {
    name: "qwen",
    package: ("@qwen-code/qwen-code", "0.24.4"),
    plugin: None,
    // By itself it asks the model what may be done.
    acp: AcpCommand::Own("--acp --auth-type openai --approval-mode default"),
    takes_many_prompts: false,
    environment,
    configure,
    screen: Some(|_| ["qwen", "--yolo", "--auth-type", "openai"].map(str::to_owned).to_vec()),
    first_conversation: None,
    converse: |wiring, _| converse(wiring),
};

fn configure(wiring: &TrialWiring) -> Result<(), String> {
    let mut settings = gemini::settings(wiring, "qwen", "openai");
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
fn environment(wiring: &TrialWiring) -> Vec<(&'static str, String)> {
    let set = |name: &'static str, value: &str| (name, value.to_owned());
    vec![
        set("OPENAI_API_KEY", "scripted"),
        set("OPENAI_BASE_URL", &format!("{}/v1", wiring.model)),
        set("OPENAI_MODEL", "scripted-1"),
        set("QWEN_TELEMETRY_ENABLED", "false"),
    ]
}

fn converse(wiring: &TrialWiring) -> Result<i32, String> {
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
