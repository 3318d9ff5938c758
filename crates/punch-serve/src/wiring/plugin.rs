//! The other form of wiring: a plugin for Claude Code in a marketplace of its own, which Codex reads too, and an extension
//! for Gemini CLI. Each brings the server, the hooks, the advice and a `/todo` command.

use std::path::{Path, PathBuf};

use punch_core::text::shell_exact;
use serde_json::{Map, Value, json};

use super::Syntax;
use super::agents::{Level, Program, Roots, handler};
use super::commands::{Entry, path};
use super::target::{Content, Target};
use crate::guide;
use crate::hook::Host;

/// The name of the marketplace.
pub const MARKETPLACE: &str = "punchlist";

const ABOUT: &str = "A durable plan for coding agents, kept outside the model's context";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The plugin of an agent in the marketplace, if it has one there.
pub const fn plugin_name(host: Host) -> Option<&'static str> {
    match host {
        Host::Claude => Some("punch"),
        Host::Codex => Some("punch-codex"),
        Host::Qwen | Host::Gemini | Host::Cursor | Host::Opencode => None,
    }
}

/// The files of an agent's plugin, for the user; `None` for agents that have no such form.
pub fn plugin(host: Host, roots: &Roots, program: &Program) -> Option<Vec<Target>> {
    let market = marketplace_folder(roots);
    let below = |folder: &Path, files: Vec<(String, String)>| -> Vec<Target> {
        let whole = |text| Content::Whole { text, head: "" };
        files
            .into_iter()
            .map(|(path, text)| Target { path: folder.join(path), content: whole(text), project: None })
            .collect()
    };
    match host {
        Host::Claude => {
            let mut out = below(&market, marketplace(program));
            let folder = roots.claude.clone().unwrap_or_else(|| roots.home.join(".claude"));
            let source = json!({"source": {"source": "directory", "path": market}});
            let entries = vec![
                Entry::Member(path(["extraKnownMarketplaces", MARKETPLACE]), source),
                Entry::Member(path(["enabledPlugins", "punch@punchlist"]), json!(true)),
                Entry::Item(path(["permissions", "allow"]), json!("mcp__plugin_punch_punch")),
            ];
            let content = Content::Json(Syntax::of(host), entries);
            out.push(Target { path: folder.join("settings.json"), content, project: None });
            Some(out)
        }
        Host::Codex => Some(below(&market, marketplace(program))),
        Host::Gemini => Some(below(&roots.home.join(".gemini/extensions/punch"), extension(program))),
        Host::Qwen | Host::Cursor | Host::Opencode => None,
    }
}

/// Where the marketplace is.
pub fn marketplace_folder(roots: &Roots) -> PathBuf {
    roots.data.join("punch").join("marketplace")
}

/// Paths and texts of the marketplace with the plugins in it.
pub fn marketplace(program: &Program) -> Vec<(String, String)> {
    let author = json!({"name": "Punchlist"});
    let listed = |host: Host| {
        let name = plugin_name(host)?;
        Some(json!({"name": name, "source": format!("./plugins/{name}"), "description": ABOUT}))
    };
    let plugins: Vec<Value> = [Host::Claude, Host::Codex].into_iter().filter_map(listed).collect();
    let market = json!({"name": MARKETPLACE, "owner": author, "metadata": {"description": ABOUT}, "plugins": plugins});
    let mut out = vec![(".claude-plugin/marketplace.json".to_owned(), pretty(&market))];
    for host in [Host::Claude, Host::Codex] {
        let Some(name) = plugin_name(host) else { continue };
        let at = |path: &str| format!("plugins/{name}/{path}");
        let about = json!({"name": name, "version": VERSION, "description": ABOUT, "author": author});
        let server = json!({"command": program.0, "args": ["mcp"], "alwaysLoad": true});
        out.push((at(".claude-plugin/plugin.json"), pretty(&about)));
        out.push((at(".mcp.json"), pretty(&json!({"mcpServers": {"punch": server}}))));
        out.push((at("hooks/hooks.json"), pretty(&hooks(host, program))));
        out.push((at("skills/punch/SKILL.md"), skill()));
        if host == Host::Claude {
            out.push((at("commands/todo.md"), command(program)));
        }
    }
    out
}

/// Paths and texts of the extension for Gemini CLI.
pub fn extension(program: &Program) -> Vec<(String, String)> {
    let server = json!({"command": program.0, "args": ["mcp"]});
    let about = json!({
        "name": "punch", "version": VERSION, "description": ABOUT,
        "mcpServers": {"punch": server}, "contextFileName": "GEMINI.md",
    });
    let prompt = format!("!{{{} {{{{args}}}}}}\n\n{TELL}\n", call(program));
    let todo = format!("description = {}\nprompt = {}\n", json!(TODO), json!(prompt));
    vec![
        ("gemini-extension.json".to_owned(), pretty(&about)),
        ("GEMINI.md".to_owned(), guide::standing(Some(Host::Gemini))),
        ("hooks/hooks.json".to_owned(), pretty(&hooks(Host::Gemini, program))),
        ("commands/todo.toml".to_owned(), todo),
    ]
}

const TODO: &str = "The todo list: shows it, or append, start, done, drop, rm, edit";
const TELL: &str = "This is what the command answered. Tell the person in a line or two what the list says now; begin no \
                    work that they did not ask for.";

/// A long list must not fill the model's context.
fn call(program: &Program) -> String {
    format!("{} todo --clip 6000", shell_exact(&program.0))
}

fn command(program: &Program) -> String {
    let call = call(program);
    format!(
        "---\ndescription: \"{TODO}\"\nargument-hint: \"[append PHASE TASK | start TASK | done TASK | …]\"\n\
         allowed-tools: Bash({call}:*)\n---\n\n!`{call} $ARGUMENTS`\n\n{TELL}\n"
    )
}

/// Tools of a plugin have other names than those of a server in the settings: none are named here.
fn skill() -> String {
    let when = "Keep a todo list that outlives the conversation: for work with three or more steps, several requests at \
                once, or when earlier work goes on.";
    format!("---\nname: punch\ndescription: \"{when}\"\n---\n\n{}", guide::standing(None))
}

fn hooks(host: Host, program: &Program) -> Value {
    let events =
        host.events().iter().map(|event| ((*event).to_owned(), json!([handler(host, program, event, Level::User)])));
    json!({"hooks": events.collect::<Map<String, Value>>()})
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
