//! Claude Code. Several prompts go through one process, the next when the answer to the one before is complete.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use super::{AcpCommand, ERRORS, OUTPUT, Trial, TrialConversation};
use crate::agents::child::{ProgramGroup, appended};
use crate::agents::trial::TrialWiring;

/// Any key does: the model is ours.
const KEY: &str = "sk-scripted";

pub static TRIAL: Trial = Trial {
    name: "claude",
    package: ("@anthropic-ai/claude-code", "2.1.325"),
    plugin: None,
    acp: AcpCommand::Package {
        name: "@agentclientprotocol/claude-agent-acp",
        version: "0.99.1",
        program: "claude-agent-acp",
    },
    takes_many_prompts: true,
    environment: |wiring| {
        let mut out = environment(wiring);
        out.push(("CLAUDE_CODE_EXECUTABLE", wiring.place.program("claude")));
        out
    },
    configure,
    screen: Some(screen),
    first_conversation: Some(first_conversation),
    converse,
};

fn configure(wiring: &TrialWiring) -> Result<(), String> {
    let place = wiring.place;
    if wiring.is_installed() {
        // Something to be found again as it was.
        place.configure(".claude/settings.json", "{\n\t\"includeCoAuthoredBy\": false\n}")?;
        // As after the question that the user is asked in a new folder.
        let trusted = json!({"projects": {place.repo.to_string_lossy(): {"hasTrustDialogAccepted": true}}});
        return place.configure(".claude.json", &format!("{trusted:#}"));
    }
    if wiring.run.screen {
        place.configure(".claude.json", &greeted(wiring).to_string())?;
    }
    place.configure("settings.json", &json!({"hooks": wiring.hooks("claude")}).to_string())?;
    // Otherwise the model learns only the names of the tools.
    let server = json!({"command": place.punch, "args": wiring.server(), "alwaysLoad": true});
    place.configure("mcp.json", &json!({"mcpServers": {"punch": server}}).to_string())
}

/// What leads it to the model, and nowhere else.
fn environment(wiring: &TrialWiring) -> Vec<(&'static str, String)> {
    let (model, key) = (wiring.model.clone(), KEY.to_owned());
    let mut out = vec![("ANTHROPIC_BASE_URL", model), ("ANTHROPIC_API_KEY", key)];
    out.push(("ANTHROPIC_MODEL", "claude-sonnet-4-5".to_owned()));
    // The last lets it run without questions also where the person is root.
    let switches = [
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_AUTOUPDATER",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "IS_SANDBOX",
    ];
    out.extend(switches.map(|name| (name, "1".to_owned())));
    out
}

/// As after the questions that the user is asked at the first start: colors, the key, the folder.
fn greeted(wiring: &TrialWiring) -> Value {
    let project = json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true});
    json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "bypassPermissionsModeAccepted": true,
        "customApiKeyResponses": {"approved": [KEY], "rejected": []},
        "projects": {wiring.place.repo.to_string_lossy(): project},
    })
}

/// The words that start it with its own screen.
fn screen(wiring: &TrialWiring) -> Vec<String> {
    let home = |file: &str| wiring.place.home.join(file).display().to_string();
    let mut words = ["claude", "--dangerously-skip-permissions", "--strict-mcp-config"].map(str::to_owned).to_vec();
    words.extend(["--settings".to_owned(), home("settings.json"), "--mcp-config".to_owned(), home("mcp.json")]);
    words
}

/// The id of the first conversation, from the name of the file that Claude Code writes it to.
fn first_conversation(wiring: &TrialWiring) -> Option<String> {
    let projects = fs::read_dir(wiring.place.home.join(".claude/projects"));
    let folders = projects.into_iter().flatten().flatten().filter_map(|folder| fs::read_dir(folder.path()).ok());
    let files = folders.flatten().flatten().map(|file| file.path());
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    let oldest = files.min_by_key(|file| file.metadata().and_then(|found| found.created()).ok());
    Some(oldest?.file_stem()?.to_string_lossy().into_owned())
}

fn converse(wiring: &TrialWiring, conversation: &mut TrialConversation) -> Result<i32, String> {
    let place = wiring.place;
    let mut command = place.command("claude");
    command.args(["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]);
    if !wiring.is_installed() {
        command.args(["--dangerously-skip-permissions", "--strict-mcp-config"]);
        command.arg("--settings").arg(place.home.join("settings.json"));
        command.arg("--mcp-config").arg(place.home.join("mcp.json"));
    }
    command.envs(environment(wiring)).envs(wiring.env());
    if let Some(id) = conversation.id.as_ref().filter(|_| wiring.run.resume) {
        command.args(["--resume", id]);
    }
    talk(command, wiring, conversation)
}

fn talk(mut command: Command, wiring: &TrialWiring, conversation: &mut TrialConversation) -> Result<i32, String> {
    let end = Instant::now() + wiring.limit;
    let mut output = appended(&wiring.place.file(OUTPUT))?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(appended(&wiring.place.file(ERRORS))?);
    let mut group = ProgramGroup::start(&mut command)?;
    let (Some(mut stdin), Some(stdout)) = (group.0.stdin.take(), group.0.stdout.take()) else {
        return Err("no pipes".to_owned());
    };
    let (send, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = writeln!(output, "{line}");
            if send.send(line).is_err() {
                break;
            }
        }
    });
    for prompt in &wiring.run.prompts {
        say(&mut stdin, prompt)?;
        conversation.id = Some(answered(&lines, end)?);
    }
    drop(stdin);
    group.wait(end.saturating_duration_since(Instant::now()))
}

fn say(stdin: &mut ChildStdin, prompt: &str) -> Result<(), String> {
    let message = json!({"role": "user", "content": [{"type": "text", "text": prompt}]});
    let line = format!("{}\n", json!({"type": "user", "message": message}));
    stdin
        .write_all(line.as_bytes())
        .and_then(|()| stdin.flush())
        .map_err(|cause| format!("it does not listen: {cause}"))
}

/// Waits for the end of the answer: the id of the conversation.
fn answered(lines: &Receiver<String>, end: Instant) -> Result<String, String> {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let line = lines.recv_timeout(left).map_err(|_| "no complete answer in time".to_owned())?;
        let event: Value = serde_json::from_str(&line).unwrap_or_default();
        if event["type"] == "result" {
            return Ok(event["session_id"].as_str().unwrap_or_default().to_owned());
        }
    }
}
