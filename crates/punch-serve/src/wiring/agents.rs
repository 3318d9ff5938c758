//! The agents: which files of theirs take our server and our hooks, and in which form. Facts that were found out by
//! trying stand with the code that needs them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Syntax;
use super::commands::Entry;
use super::target::{Content, Target};
use crate::hook::Host;

/// For one project, or for everything that a person does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// In the project's folder.
    Project,
    /// In the person's home.
    User,
}

impl Level {
    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// The folders in which agents look.
#[derive(Clone, Debug)]
pub struct Roots {
    /// The top of the project.
    pub project: PathBuf,
    /// The person's home.
    pub home: PathBuf,
    /// Claude Code's folder, if it was given another one.
    pub claude: Option<PathBuf>,
    /// Codex's folder.
    pub codex: PathBuf,
    /// OpenCode's folder.
    pub opencode: PathBuf,
    /// Where programs keep data of the person.
    pub data: PathBuf,
}

/// How punch is called: by its name or by its whole path.
#[derive(Clone, Debug)]
pub struct Program(pub String);

/// Longer than a hook of ours ever takes, in seconds.
const PATIENCE: u64 = 15;

/// The plugin for OpenCode, and what it begins with.
const PLUGIN: &str = include_str!("../../../../plugins/opencode/punch.js");
const PLUGIN_HEAD: &str = "// Punchlist in OpenCode:";
const PLUGIN_PROGRAM: &str = r#"process.env.PUNCH_PROGRAM || "punch""#;

/// The name that people know an agent by.
pub const fn title(host: Host) -> &'static str {
    match host {
        Host::Claude => "Claude Code",
        Host::Codex => "Codex",
        Host::Qwen => "Qwen Code",
        Host::Gemini => "Gemini CLI",
        Host::Cursor => "Cursor",
        Host::Opencode => "OpenCode",
    }
}

/// The files of an agent, and what is wanted in each. `exists` tells which of several names for a file is in use.
pub fn wiring(
    host: Host,
    level: Level,
    roots: &Roots,
    program: &Program,
    exists: &dyn Fn(&Path) -> bool,
) -> Vec<Target> {
    let syntax = Syntax::of(host);
    let target = |path: PathBuf, content: Content| Target { path, content };
    let folder = |name: &str| match level {
        Level::Project => roots.project.join(name),
        Level::User => roots.home.join(name),
    };
    match host {
        Host::Claude => {
            let (servers, settings) = match (level, &roots.claude) {
                (Level::Project, _) => (roots.project.join(".mcp.json"), folder(".claude")),
                (Level::User, None) => (roots.home.join(".claude.json"), folder(".claude")),
                (Level::User, Some(given)) => (given.join(".claude.json"), given.clone()),
            };
            let mut entries = vec![allowed()];
            if level == Level::Project {
                // Otherwise a person is asked first, and nobody is asked without a screen.
                entries.push(Entry::Item(vec!["enabledMcpjsonServers"], json!("punch")));
            }
            entries.extend(hooks(host, program));
            // Otherwise the model is told only the names of the tools.
            let server = json!({"command": program.0, "args": ["mcp"], "alwaysLoad": true});
            let server = Content::Json(syntax, vec![Entry::Member(vec!["mcpServers", "punch"], server)]);
            vec![target(servers, server), target(settings.join("settings.json"), Content::Json(syntax, entries))]
        }
        Host::Codex => {
            let folder = if level == Level::Project { folder(".codex") } else { roots.codex.clone() };
            let fields = vec![("command", json!(program.0)), ("args", json!(["mcp"]))];
            let server = Content::Table(vec!["mcp_servers", "punch"], fields);
            let hooks = Content::Json(syntax, hooks(host, program));
            vec![target(folder.join("config.toml"), server), target(folder.join("hooks.json"), hooks)]
        }
        Host::Qwen | Host::Gemini => {
            let mut server = json!({"command": program.0, "args": ["mcp"], "trust": true});
            if host == Host::Qwen {
                server["alwaysLoadTools"] = json!(true);
            }
            let mut entries = vec![Entry::Member(vec!["mcpServers", "punch"], server)];
            entries.extend(hooks(host, program));
            let folder = folder(if host == Host::Qwen { ".qwen" } else { ".gemini" });
            vec![target(folder.join("settings.json"), Content::Json(syntax, entries))]
        }
        Host::Cursor => {
            let server = json!({"command": program.0, "args": ["mcp"]});
            let server = Content::Json(syntax, vec![Entry::Member(vec!["mcpServers", "punch"], server)]);
            let mut entries = vec![Entry::Default(vec!["version"], json!(1))];
            entries.extend(hooks(host, program));
            let folder = folder(".cursor");
            vec![
                target(folder.join("mcp.json"), server),
                target(folder.join("hooks.json"), Content::Json(syntax, entries)),
            ]
        }
        Host::Opencode => {
            let (settings, plugins) = match level {
                Level::Project => (roots.project.clone(), roots.project.join(".opencode")),
                Level::User => (roots.opencode.clone(), roots.opencode.clone()),
            };
            let commented = settings.join("opencode.jsonc");
            let settings = if exists(&commented) { commented } else { settings.join("opencode.json") };
            let server = json!({"type": "local", "command": [program.0, "mcp"], "enabled": true});
            let server = Content::Json(syntax, vec![Entry::Member(vec!["mcp", "punch"], server)]);
            let ours = PLUGIN_PROGRAM.replace("\"punch\"", &json!(program.0).to_string());
            let plugin = Content::Whole { text: PLUGIN.replace(PLUGIN_PROGRAM, &ours), head: PLUGIN_HEAD };
            vec![target(settings, server), target(plugins.join("plugin").join("punch.js"), plugin)]
        }
    }
}

/// The file in which an agent looks for standing advice.
pub fn guide_file(host: Host, level: Level, roots: &Roots) -> Option<PathBuf> {
    let name = match host {
        Host::Claude => "CLAUDE.md",
        Host::Gemini => "GEMINI.md",
        Host::Qwen => "QWEN.md",
        Host::Codex | Host::Opencode | Host::Cursor => "AGENTS.md",
    };
    let folder = match (level, host) {
        (Level::Project, _) => roots.project.clone(),
        (Level::User, Host::Claude) => roots.claude.clone().unwrap_or_else(|| roots.home.join(".claude")),
        (Level::User, Host::Codex) => roots.codex.clone(),
        (Level::User, Host::Opencode) => roots.opencode.clone(),
        (Level::User, Host::Gemini) => roots.home.join(".gemini"),
        (Level::User, Host::Qwen) => roots.home.join(".qwen"),
        // It has advice for all projects only in its own settings.
        (Level::User, Host::Cursor) => return None,
    };
    Some(folder.join(name))
}

/// Our tools write nothing but the plan: being asked about each call would be all noise.
fn allowed() -> Entry {
    Entry::Item(vec!["permissions", "allow"], json!("mcp__punch"))
}

/// One hook for each event that means something.
fn hooks(host: Host, program: &Program) -> Vec<Entry> {
    let entry = |event: &&'static str| Entry::Item(vec!["hooks", *event], handler(host, program, event));
    host.events().iter().map(entry).collect()
}

/// What an agent runs at an event.
pub fn handler(host: Host, program: &Program, event: &str) -> Value {
    let command = format!("{} hook --agent {} {event}", quoted(&program.0), host.name());
    if host == Host::Cursor {
        return json!({"command": command});
    }
    // Codex allows no more at the end, and complains.
    let patience = match host == Host::Codex && matches!(event, "SessionEnd" | "Interrupt") {
        true => 3,
        false => PATIENCE,
    };
    // The times of these two are milliseconds.
    let unit = if matches!(host, Host::Gemini | Host::Qwen) { 1_000 } else { 1 };
    json!({"hooks": [{"type": "command", "command": command, "timeout": patience * unit}]})
}

/// A word for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
