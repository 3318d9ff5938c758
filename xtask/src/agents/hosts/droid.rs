//! Factory Droid, with a model of the user's own, which needs no login.

use serde_json::json;

use super::{AcpCommand, ERRORS, OUTPUT, Trial};
use crate::agents::child;
use crate::agents::trial::TrialWiring;

pub static TRIAL: Trial = Trial {
    name: "droid",
    package: ("droid", "0.215.0"),
    plugin: None,
    acp: AcpCommand::Never,
    takes_many_prompts: false,
    environment: |_| environment(),
    configure,
    screen: None,
    first_conversation: None,
    converse: |wiring, _| converse(wiring),
};

fn configure(wiring: &TrialWiring) -> Result<(), String> {
    let place = wiring.place;
    let model = json!({
        "model": "scripted-1",
        "id": "custom:scripted-1",
        "displayName": "scripted-1",
        "baseUrl": format!("{}/v1", wiring.model),
        "apiKey": "scripted",
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 8192,
    });
    let mut settings = json!({"customModels": [model]});
    if !wiring.is_installed() {
        settings["hooks"] = wiring.hooks("droid");
        let server = json!({"type": "stdio", "command": place.punch, "args": wiring.server()});
        place.configure(".factory/mcp.json", &json!({"mcpServers": {"punch": server}}).to_string())?;
    }
    place.configure(".factory/settings.json", &settings.to_string())
}

/// What it must not do by itself.
fn environment() -> Vec<(&'static str, String)> {
    vec![("FACTORY_DISABLE_AUTO_UPDATE", "1".to_owned())]
}

fn converse(wiring: &TrialWiring) -> Result<i32, String> {
    let place = wiring.place;
    let mut command = place.command("droid");
    command.envs(environment()).envs(wiring.env());
    command.args(["exec", "--output-format", "stream-json", "--auto", "high", "--model", "custom:scripted-1"]);
    command.args(&wiring.run.prompts);
    child::run(&mut command, wiring.limit, &place.file(OUTPUT), &place.file(ERRORS))
}
