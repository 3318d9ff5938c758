//! The agent's own tools: a shell and edits of files, both inside one folder, both with limits.

use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

use punchlist::ToolKind;
use serde_json::{Value, json};

/// How long a command may take.
const LIMIT: Duration = Duration::from_secs(120);
/// Bytes of output that the model gets.
const OUTPUT: usize = 8_000;

/// What the model is offered beside the list.
pub fn definitions() -> Vec<Value> {
    let text = json!({"type": "string"});
    let tool = |name: &str, about: &str, properties: Value, required: Value| {
        let parameters = json!({"type": "object", "properties": properties, "required": required});
        json!({"type": "function", "function": {"name": name, "description": about, "parameters": parameters}})
    };
    vec![
        tool("shell", "Run a shell command; answers with its output.", json!({"command": text}), json!(["command"])),
        tool(
            "edit",
            "Replace `old`, which must occur once in the file, by `new`. Without `old`: write the whole file.",
            json!({"path": text, "old": text, "new": text}),
            json!(["path", "new"]),
        ),
    ]
}

/// What a tool means to the list.
pub fn kind(name: &str) -> ToolKind {
    if name == "edit" { ToolKind::Edit } else { ToolKind::Other }
}

/// Runs a tool.
pub fn run(folder: &Path, name: &str, arguments: &str) -> Result<String, String> {
    let arguments: Value = serde_json::from_str(arguments).map_err(|cause| format!("no JSON: {cause}"))?;
    let given = |key: &str| arguments[key].as_str().ok_or_else(|| format!("`{key}` is missing"));
    match name {
        "shell" => shell(folder, given("command")?),
        "edit" => edit(&inside(folder, given("path")?)?, arguments["old"].as_str(), given("new")?),
        other => Err(format!("there is no tool `{other}`")),
    }
}

fn shell(folder: &Path, command: &str) -> Result<String, String> {
    let (program, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let failed = |cause: std::io::Error| cause.to_string();
    let mut child = Command::new(program)
        .args([flag, command])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (send, receive) = mpsc::channel();
    let pipes: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ];
    for (at, pipe) in pipes.into_iter().flatten().enumerate() {
        let send = send.clone();
        thread::spawn(move || send.send((at, output(pipe))));
    }
    let mut said = [String::new(), String::new()];
    for _ in 0..said.len() {
        let Ok((at, text)) = receive.recv_timeout(LIMIT) else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("it did not end within {} s", LIMIT.as_secs()));
        };
        said[at] = text;
    }
    let status = child.wait().map_err(failed)?;
    let text = said.concat();
    if status.success() { Ok(text) } else { Err(format!("{status}\n{text}")) }
}

/// The first bytes of what comes; the rest is read, so that the command can continue, and forgotten.
fn output(mut from: impl Read) -> String {
    let mut kept = Vec::new();
    let _ = from.by_ref().take(OUTPUT as u64 / 2).read_to_end(&mut kept);
    let more = std::io::copy(&mut from, &mut std::io::sink()).unwrap_or(0);
    let text = String::from_utf8_lossy(&kept).into_owned();
    if more > 0 { format!("{text}\n… {more} more bytes") } else { text }
}

fn edit(path: &Path, old: Option<&str>, new: &str) -> Result<String, String> {
    let failed = |cause: std::io::Error| format!("{}: {cause}", path.display());
    let text = match old.filter(|old| !old.is_empty()) {
        None => new.to_owned(),
        Some(old) => {
            let text = fs::read_to_string(path).map_err(failed)?;
            match text.matches(old).count() {
                1 => text.replacen(old, new, 1),
                times => return Err(format!("`old` occurs {times} times, it must occur once")),
            }
        }
    };
    fs::write(path, text).map_err(failed)?;
    Ok("written".to_owned())
}

/// A path below the folder.
fn inside(folder: &Path, path: &str) -> Result<PathBuf, String> {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    match Path::new(path).components().all(plain) {
        true => Ok(folder.join(path)),
        false => Err("only paths below the current folder".to_owned()),
    }
}
