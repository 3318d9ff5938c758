//! Plugins in the form of Claude Code, in a folder that is a marketplace for Claude Code and for Codex. Each agent has a catalog
//! of its own, because each refuses plugins with hook events that it does not know. A plugin brings the server, the hooks,
//! the advice and, where the agent takes them, a `/todo` command.

use std::path::{Path, PathBuf};

use punch_core::text::shell_exact;
use serde_json::{Map, Value, json};

use crate::settings::{ConnectionLevel, FileContent, PluginSource, Program, SettingsFile, SettingsRoots, handler};
use crate::{AGENTS, Adapter, Catalog, Listing};

/// The name of the marketplace.
pub const MARKETPLACE: &str = "punchlist";

pub(crate) const ABOUT: &str = "A durable plan for coding agents, kept outside the model's context";
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where the marketplace is.
pub fn folder(roots: &SettingsRoots) -> PathBuf {
    roots.data.join("punch").join("marketplace")
}

/// The marketplace as files for the user.
pub(crate) fn targets(source: &PluginSource<'_>) -> Vec<SettingsFile> {
    below(&folder(source.roots), files(source))
}

/// Files that are ours as a whole, below a folder.
pub(crate) fn below(folder: &Path, files: Vec<(String, String)>) -> Vec<SettingsFile> {
    let whole = |text| FileContent::Whole { text, head: "" };
    files.into_iter().map(|(path, text)| SettingsFile::new(folder.join(path), whole(text))).collect()
}

/// Paths and texts of the marketplace with the plugins in it.
pub fn files(source: &PluginSource<'_>) -> Vec<(String, String)> {
    let author = json!({"name": "Punchlist"});
    let mut out: Vec<(String, String)> =
        Catalog::ALL.into_iter().map(|catalog| (catalog.path().to_owned(), pretty(&catalog.text()))).collect();
    for (agent, Listing { name, has_commands, .. }) in listings() {
        let at = |path: &str| format!("plugins/{name}/{path}");
        let about = json!({"name": name, "version": VERSION, "description": ABOUT, "author": author});
        let server = json!({"command": source.program.0, "args": ["mcp"], "alwaysLoad": true});
        out.push((at(".claude-plugin/plugin.json"), pretty(&about)));
        out.push((at(".mcp.json"), pretty(&json!({"mcpServers": {"punch": server}}))));
        out.push((at("hooks/hooks.json"), pretty(&hooks(agent, source.program))));
        out.push((at("skills/punch/SKILL.md"), skill(source)));
        if has_commands {
            out.push((at("commands/todo.md"), command(source.program)));
        }
    }
    out
}

impl Catalog {
    const ALL: [Self; 2] = [Self::Claude, Self::Codex];

    /// Its path in the marketplace. Codex reads the file of Claude Code only where there is none of its own.
    const fn path(self) -> &'static str {
        match self {
            Self::Claude => ".claude-plugin/marketplace.json",
            Self::Codex => ".agents/plugins/marketplace.json",
        }
    }

    fn text(self) -> Value {
        let names = listings().filter(|(_, listing)| listing.catalog == self).map(|(_, listing)| listing.name);
        let folder = |name: &str| format!("./plugins/{name}");
        let plugins: Vec<Value> = match self {
            Self::Claude => {
                names.map(|name| json!({"name": name, "source": folder(name), "description": ABOUT})).collect()
            }
            Self::Codex => {
                let policy = json!({"installation": "AVAILABLE", "authentication": "ON_INSTALL"});
                let source = |name: &str| json!({"source": "local", "path": folder(name)});
                let listed =
                    |name| json!({"name": name, "source": source(name), "policy": policy, "category": "Productivity"});
                names.map(listed).collect()
            }
        };
        match self {
            Self::Claude => json!({
                "name": MARKETPLACE, "owner": {"name": "Punchlist"}, "metadata": {"description": ABOUT}, "plugins": plugins,
            }),
            Self::Codex => json!({"name": MARKETPLACE, "interface": {"displayName": "Punchlist"}, "plugins": plugins}),
        }
    }
}

fn listings() -> impl Iterator<Item = (&'static Adapter, Listing)> {
    AGENTS.iter().filter_map(|agent| Some((*agent, agent.settings.plugin.as_ref()?.listing?)))
}

pub(crate) const TODO: &str = "The todo list: shows it, or append, start, done, drop, rm, edit";
pub(crate) const TELL: &str = "This is what the command answered. Tell the user in a line or two what the list says now; \
                               begin no work that they did not ask for.";

/// A long list must not fill the model's context.
pub(crate) fn call(program: &Program) -> String {
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
fn skill(source: &PluginSource<'_>) -> String {
    let when = "Keep a todo list that outlives the conversation: for work with three or more steps, several requests at \
                once, or to continue earlier work.";
    format!("---\nname: punch\ndescription: \"{when}\"\n---\n\n{}", (source.guide)(None))
}

/// A file of hooks for all events of an agent.
pub(crate) fn hooks(agent: &Adapter, program: &Program) -> Value {
    let group = |event: &&str| ((*event).to_owned(), json!([handler(agent, program, event, ConnectionLevel::User)]));
    json!({"hooks": agent.hooks.events.iter().map(group).collect::<Map<String, Value>>()})
}

pub(crate) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
