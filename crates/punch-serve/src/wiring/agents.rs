//! The agents: which files of theirs take our server and our hooks, and in which form. Facts that were found out by
//! trying stand with the code that needs them.

use std::path::{Path, PathBuf};

use punch_core::text::shell_exact;
use serde_json::{Value, json};

use super::Syntax;
use super::commands::{Entry, Hooks, path};
use super::target::{Content, Target};
use crate::hook::Host;

/// Whose settings connect an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The user's own settings for one project. Git does not see them.
    Personal,
    /// The project's settings, which a team commits.
    Shared,
    /// The user's settings for all projects.
    User,
}

impl Level {
    /// Every level, in the order in which they are reported.
    pub const ALL: [Self; 3] = [Self::Personal, Self::Shared, Self::User];

    /// The name of the flag on the command line, without dashes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Personal => "personal",
            Self::Shared => "shared",
            Self::User => "user",
        }
    }
}

/// The folders in which agents look.
#[derive(Clone, Debug)]
pub struct Roots {
    /// The top of the project.
    pub project: PathBuf,
    /// The top of the repository's main worktree; the same as `project` unless that is a linked worktree. Claude Code
    /// files its local settings under this path.
    pub main_project: PathBuf,
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
    let target = |path: PathBuf, content: Content| Target { path, content, project: None };
    let folder = |name: &str| match level {
        Level::Personal | Level::Shared => roots.project.join(name),
        Level::User => roots.home.join(name),
    };
    // On another machine only the name can be right.
    let program = &match level {
        Level::Shared => Program("punch".to_owned()),
        Level::Personal | Level::User => program.clone(),
    };
    let hooks = |host: Host| hooks(host, program, level);
    match host {
        Host::Claude => {
            let settings = match (level, &roots.claude) {
                (Level::User, Some(given)) => given.clone(),
                _ => folder(".claude"),
            };
            let settings = match level {
                Level::Personal => settings.join("settings.local.json"),
                Level::Shared | Level::User => settings.join("settings.json"),
            };
            let mut entries = vec![allowed()];
            if level == Level::Shared {
                // Otherwise users are asked first, and without a terminal no one can answer.
                entries.push(Entry::Item(path(["enabledMcpjsonServers"]), json!("punch")));
            }
            entries.push(hooks(host));
            // Otherwise the model only gets the names of the tools.
            let server = json!({"command": program.0, "args": ["mcp"], "alwaysLoad": true});
            let own = roots.claude.as_ref().unwrap_or(&roots.home).join(".claude.json");
            let project = roots.main_project.display().to_string();
            let (file, at) = match level {
                Level::Personal => (own, path(["projects", &project, "mcpServers", "punch"])),
                Level::Shared => (roots.project.join(".mcp.json"), path(["mcpServers", "punch"])),
                Level::User => (own, path(["mcpServers", "punch"])),
            };
            let mut server = target(file, Content::Json(syntax, vec![Entry::Server(at, server)]));
            server.project = (level == Level::Personal).then(|| roots.main_project.clone());
            vec![server, target(settings, Content::Json(syntax, entries))]
        }
        Host::Codex => {
            let folder = if level == Level::User { roots.codex.clone() } else { folder(".codex") };
            let fields = vec![("command", json!(program.0)), ("args", json!(["mcp"]))];
            let server = Content::Table(vec!["mcp_servers", "punch"], fields);
            let hooks = Content::Json(syntax, vec![hooks(host)]);
            vec![target(folder.join("config.toml"), server), target(folder.join("hooks.json"), hooks)]
        }
        Host::Qwen | Host::Gemini => {
            let mut server = json!({"command": program.0, "args": ["mcp"], "trust": true});
            if host == Host::Qwen {
                server["alwaysLoadTools"] = json!(true);
            }
            let mut entries = vec![Entry::Server(path(["mcpServers", "punch"]), server)];
            entries.push(hooks(host));
            let folder = folder(if host == Host::Qwen { ".qwen" } else { ".gemini" });
            vec![target(folder.join("settings.json"), Content::Json(syntax, entries))]
        }
        Host::Cursor => {
            let server = json!({"command": program.0, "args": ["mcp"]});
            let server = Content::Json(syntax, vec![Entry::Server(path(["mcpServers", "punch"]), server)]);
            let mut entries = vec![Entry::Default(path(["version"]), json!(1))];
            entries.push(hooks(host));
            let folder = folder(".cursor");
            vec![
                target(folder.join("mcp.json"), server),
                target(folder.join("hooks.json"), Content::Json(syntax, entries)),
            ]
        }
        Host::Opencode => {
            let (settings, plugins) = match level {
                Level::Personal | Level::Shared => (roots.project.clone(), roots.project.join(".opencode")),
                Level::User => (roots.opencode.clone(), roots.opencode.clone()),
            };
            let commented = settings.join("opencode.jsonc");
            let settings = if exists(&commented) { commented } else { settings.join("opencode.json") };
            let server = json!({"type": "local", "command": [program.0, "mcp"], "enabled": true});
            let server = Content::Json(syntax, vec![Entry::Server(path(["mcp", "punch"]), server)]);
            let ours = PLUGIN_PROGRAM.replace("\"punch\"", &json!(program.0).to_string());
            let plugin = Content::Whole { text: PLUGIN.replace(PLUGIN_PROGRAM, &ours), head: PLUGIN_HEAD };
            vec![target(settings, server), target(plugins.join("plugin").join("punch.js"), plugin)]
        }
    }
}

/// The file in which an agent looks for standing advice; `None` if it has none at this level.
pub fn guide_file(host: Host, level: Level, roots: &Roots) -> Option<PathBuf> {
    let name = match host {
        Host::Claude if level == Level::Personal => "CLAUDE.local.md",
        Host::Claude => "CLAUDE.md",
        Host::Gemini => "GEMINI.md",
        Host::Qwen => "QWEN.md",
        Host::Codex | Host::Opencode | Host::Cursor => "AGENTS.md",
    };
    let folder = match (level, host) {
        (Level::Personal | Level::Shared, _) => roots.project.clone(),
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

/// Permission to call our tools without asking: they write nothing but the plan.
fn allowed() -> Entry {
    Entry::Item(path(["permissions", "allow"]), json!("mcp__punch"))
}

/// One hook for each event that means something.
fn hooks(host: Host, program: &Program, level: Level) -> Entry {
    let group = |event: &&str| ((*event).to_owned(), handler(host, program, event, level));
    Entry::Hooks(Hooks { agent: host.name(), events: host.events().iter().map(group).collect() })
}

/// What an agent runs at an event.
///
/// Agents pass the command to a shell. In files that a team commits it does nothing for those who do not have `punch`.
pub fn handler(host: Host, program: &Program, event: &str, level: Level) -> Value {
    let program = shell_exact(&program.0);
    let call = format!("{program} hook --agent {} {event}", host.name());
    let command = match level {
        Level::Shared => format!("command -v {program} >/dev/null 2>&1 || exit 0; exec {call}"),
        Level::Personal | Level::User => call,
    };
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
