//! OpenCode, driven through `opencode serve`: `opencode run` ends with the first answer and cannot be kept going.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{AcpCommand, ERRORS, OUTPUT, Trial, TrialConversation};
use crate::agents::child::{ProgramGroup, appended};
use crate::agents::http;
use crate::agents::trial::TrialWiring;
use crate::agents::trial_folders::TrialFolders;
use crate::process;

/// A session that does nothing for so long is at its end: our plugin asks and continues well within it.
const QUIET: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(250);

pub static TRIAL: Trial = Trial {
    name: "opencode",
    package: ("opencode-ai", "1.18.33"),
    plugin: Some("@opencode-ai/plugin"),
    acp: AcpCommand::Own("acp"),
    takes_many_prompts: true,
    environment: |_| environment(),
    configure,
    screen: Some(|_| vec!["opencode".to_owned()]),
    first_conversation: None,
    converse,
};

fn configure(wiring: &TrialWiring) -> Result<(), String> {
    wiring.place.configure(".config/opencode/opencode.json", &settings(wiring)?.to_string())?;
    furnish(wiring.place);
    Ok(())
}

/// What it must not do by itself.
fn environment() -> Vec<(&'static str, String)> {
    let switches = [
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_DISABLE_SHARE",
    ];
    switches.map(|name| (name, "1".to_owned())).to_vec()
}

fn converse(wiring: &TrialWiring, conversation: &mut TrialConversation) -> Result<i32, String> {
    let place = wiring.place;
    let end = Instant::now() + wiring.limit;
    let mut command = place.command("opencode");
    command.envs(environment()).envs(wiring.env());
    if !wiring.is_installed() {
        command.env("PUNCH_PROGRAM", &place.punch);
    }
    let port = free_port()?;
    command.args(["serve", "--hostname", "127.0.0.1", "--port", &port.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(appended(&place.file(ERRORS))?);
    let mut server = ProgramGroup::start(&mut command)?;
    let address = listening(&mut server, end)?;
    let session = match conversation.id.as_ref().filter(|_| wiring.run.resume) {
        Some(id) => id.clone(),
        None => {
            let made = http::post(&address, "/session", &json!({"title": "scripted"}), end)?;
            made["id"].as_str().ok_or_else(|| format!("no session: {made}"))?.to_owned()
        }
    };
    conversation.id = Some(session.clone());
    for prompt in &wiring.run.prompts {
        let message = json!({"parts": [{"type": "text", "text": prompt}]});
        http::post(&address, &format!("/session/{session}/message"), &message, end)?;
        settle(&address, &session, end)?;
    }
    let messages = http::get(&address, &format!("/session/{session}/message"), end)?;
    std::io::Write::write_all(&mut appended(&place.file(OUTPUT))?, format!("{messages}\n").as_bytes())
        .map_err(|cause| cause.to_string())?;
    // It serves until it is ended.
    Ok(0)
}

/// Puts the package of plugins where OpenCode would install it, which takes half a minute in a new home. If that does
/// not work it does so itself.
fn furnish(place: &TrialFolders) {
    let folder = place.home.join(".config/opencode");
    for name in ["package.json", "package-lock.json"] {
        let _ = fs::copy(place.plugin.join(name), folder.join(name));
    }
    #[cfg(unix)]
    let _ = std::os::unix::fs::symlink(place.plugin.join("node_modules"), folder.join("node_modules"));
}

fn settings(wiring: &TrialWiring) -> Result<Value, String> {
    let place = wiring.place;
    let plugin = process::root().join("plugins/opencode/punch.js");
    let plugin = plugin.canonicalize().map_err(|cause| format!("{}: {cause}", plugin.display()))?;
    let limit = json!({"context": 200_000, "output": 8_000});
    let model = |name: &str| json!({"name": name, "limit": limit, "tool_call": true});
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": format!("{}/v1", wiring.model), "apiKey": "scripted"},
        "models": {"main": model("main"), "small": model("small")},
    });
    let server: Vec<Value> =
        std::iter::once(json!(place.punch)).chain(wiring.server().into_iter().map(Value::from)).collect();
    let mut out = json!({
        "model": "scripted/main", "small_model": "scripted/small", "autoupdate": false, "share": "disabled",
        "permission": {"*": "allow"}, "enabled_providers": ["scripted"], "provider": {"scripted": provider},
    });
    if !wiring.is_installed() {
        out["mcp"] = json!({"punch": {"type": "local", "command": server, "enabled": true}});
        out["plugin"] = json!([format!("file://{}", plugin.display())]);
    }
    Ok(out)
}

/// Its own choice is always the same port, on which another run may listen.
fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|cause| cause.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|cause| cause.to_string())
}

/// Waits until it says where it listens.
fn listening(server: &mut ProgramGroup, end: Instant) -> Result<String, String> {
    let stdout = server.0.stdout.take().ok_or("no pipe")?;
    let (send, lines) = channel();
    // Reads on to the end, so that the server can always write.
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = send.send(line);
        }
    });
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let line = lines.recv_timeout(left).map_err(|_| "opencode serve does not listen")?;
        if let Some((_, address)) = line.split_once("http://") {
            return Ok(address.trim().trim_end_matches('/').to_owned());
        }
    }
}

/// Waits until the session has been quiet for a while.
fn settle(address: &str, session: &str, end: Instant) -> Result<(), String> {
    let mut quiet = Instant::now();
    while quiet.elapsed() < QUIET {
        if Instant::now() > end {
            return Err("the session does not come to rest".to_owned());
        }
        thread::sleep(LOOK);
        let status = http::get(address, "/session/status", end)?;
        let state = &status[session]["type"];
        if !(state.is_null() || state == "idle") {
            quiet = Instant::now();
        }
    }
    Ok(())
}
