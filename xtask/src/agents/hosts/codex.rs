//! Codex. Hooks that the user has not confirmed are skipped silently unless it is configured otherwise.

use serde_json::json;

use super::{AcpCommand, ERRORS, OUTPUT, Trial};
use crate::agents::child;
use crate::agents::trial::TrialWiring;

pub static TRIAL: Trial = Trial {
    name: "codex",
    package: ("@openai/codex", "0.166.0"),
    plugin: None,
    acp: AcpCommand::Package { name: "@agentclientprotocol/codex-acp", version: "2.6.0", program: "codex-acp" },
    takes_many_prompts: false,
    environment: |wiring| {
        let mut out = environment(wiring);
        out.extend([("CODEX_PATH", wiring.place.program("codex")), ("OPENAI_API_KEY", "scripted".to_owned())]);
        out
    },
    configure,
    screen: Some(|_| vec!["codex".to_owned()]),
    first_conversation: None,
    converse: |wiring, _| converse(wiring),
};

fn configure(wiring: &TrialWiring) -> Result<(), String> {
    let place = wiring.place;
    if wiring.is_installed() {
        return place.configure(".codex/config.toml", &settings(wiring));
    }
    place.configure(".codex/hooks.json", &json!({"hooks": wiring.hooks("codex")}).to_string())?;
    place.configure(".codex/config.toml", &(settings(wiring) + &server(wiring)))
}

/// Where its settings are, and a key that they name.
fn environment(wiring: &TrialWiring) -> Vec<(&'static str, String)> {
    let home = wiring.place.home.join(".codex").display().to_string();
    vec![("CODEX_HOME", home), ("SCRIPTED_KEY", "x".to_owned())]
}

fn converse(wiring: &TrialWiring) -> Result<i32, String> {
    let place = wiring.place;
    let mut command = place.command("codex");
    command.envs(environment(wiring)).envs(wiring.env());
    command.arg("exec");
    if wiring.run.resume {
        command.args(["resume", "--last"]);
    }
    command.args(["--json", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"]);
    command.args(&wiring.run.prompts);
    child::run(&mut command, wiring.limit, &place.file(OUTPUT), &place.file(ERRORS))
}

/// Strings of JSON are strings of TOML.
fn settings(wiring: &TrialWiring) -> String {
    let (repo, model) = (json!(wiring.place.repo), &wiring.model);
    format!(
        r#"model = "gpt-5.1-codex"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
hooks = true
[tools.update_plan]
enabled = true
[model_providers.scripted]
name = "scripted"
base_url = "{model}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
supports_websockets = false
request_max_retries = 1
stream_max_retries = 1
[projects.{repo}]
trust_level = "trusted"
"#
    )
}

fn server(wiring: &TrialWiring) -> String {
    let (punch, server) = (json!(wiring.place.punch), json!(wiring.server()));
    format!("[mcp_servers.punch]\ncommand = {punch}\nargs = {server}\nstartup_timeout_sec = 30\n")
}
