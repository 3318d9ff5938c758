//! GitHub Copilot CLI, with a provider of the user's own instead of GitHub's.

use serde_json::json;

use super::{AcpCommand, ERRORS, OUTPUT, Trial};
use crate::agents::child;
use crate::agents::trial::TrialWiring;

pub static TRIAL: Trial = Trial {
    name: "copilot",
    package: ("@github/copilot", "1.0.102"),
    plugin: None,
    // It takes no server over standard input from its client.
    acp: AcpCommand::Never,
    takes_many_prompts: false,
    environment,
    configure,
    screen: None,
    first_conversation: None,
    converse: |wiring, _| converse(wiring),
};

fn configure(wiring: &TrialWiring) -> Result<(), String> {
    let place = wiring.place;
    if wiring.is_installed() {
        return Ok(());
    }
    let server = json!({"type": "local", "command": place.punch, "args": wiring.server(), "tools": ["*"]});
    place.configure(".copilot/mcp-config.json", &json!({"mcpServers": {"punch": server}}).to_string())?;
    place.configure(".copilot/settings.json", &json!({"hooks": wiring.hooks("copilot")}).to_string())
}

/// What leads it to the model, and nowhere else. `true` also trusts the folder.
fn environment(wiring: &TrialWiring) -> Vec<(&'static str, String)> {
    let set = |name: &'static str, value: &str| (name, value.to_owned());
    vec![
        set("COPILOT_PROVIDER_BASE_URL", &format!("{}/v1", wiring.model)),
        set("COPILOT_PROVIDER_API_KEY", "scripted"),
        set("COPILOT_MODEL", "gpt-4.1"),
        set("COPILOT_OFFLINE", "true"),
        set("COPILOT_ALLOW_ALL", "true"),
        set("COPILOT_AUTO_UPDATE", "false"),
    ]
}

fn converse(wiring: &TrialWiring) -> Result<i32, String> {
    let place = wiring.place;
    let mut command = place.command("copilot");
    command.envs(environment(wiring)).envs(wiring.env());
    if wiring.run.resume {
        command.arg("--continue");
    }
    command.arg("-p").args(&wiring.run.prompts);
    child::run(&mut command, wiring.limit, &place.file(OUTPUT), &place.file(ERRORS))
}
