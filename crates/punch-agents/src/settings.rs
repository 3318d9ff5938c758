//! Describes which files connect an agent, and what each must contain. The installer reads and edits the files.

use std::path::{Path, PathBuf};

use punch_core::text::shell_exact;
use serde_json::Value;

use crate::Adapter;

punch_core::words! {
    /// Whose settings connect an agent.
    pub enum ConnectionLevel {
        /// The user's own settings for one project. Git does not see them.
        Personal = "personal",
        /// The project's settings, which a team commits.
        Shared = "shared",
        /// The user's settings for all projects.
        User = "user",
    }
}

punch_core::words! {
    /// Which todo tools the model works with.
    pub enum ToolSource {
        /// Those of punch's MCP server.
        Punch = "punch",
        /// The agent's own; hooks copy its list, and no server is connected.
        Own = "own",
    }
}

/// The folders in which agents look.
#[derive(Clone, Debug)]
pub struct SettingsRoots {
    /// The top of the project.
    pub project: PathBuf,
    /// The top of the repository's main worktree; the same as `project` unless that is a linked worktree.
    pub main_project: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// Where programs keep settings of the user.
    pub config: PathBuf,
    /// Where programs keep data of the user.
    pub data: PathBuf,
    /// Folders of agents that a variable moves elsewhere, by the name of the variable.
    pub moved: Vec<(&'static str, PathBuf)>,
}

impl SettingsRoots {
    /// The folder that a variable names, if it is set.
    pub fn moved(&self, variable: &str) -> Option<&PathBuf> {
        self.moved.iter().find(|(name, _)| *name == variable).map(|(_, folder)| folder)
    }
}

/// How punch is called: by its name or by its whole path.
#[derive(Clone, Debug)]
pub struct Program(pub String);

/// What an agent reads in a JSON file. A file with more than that is one that the agent ignores as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Syntax {
    /// Comments.
    pub comments: bool,
    /// A comma after the last item.
    pub trailing_commas: bool,
    /// A byte order mark.
    pub byte_order_mark: bool,
}

impl Syntax {
    /// Everything, for an agent of which nothing is known.
    pub const LENIENT: Self = Self { comments: true, trailing_commas: true, byte_order_mark: true };
    /// Plain JSON.
    pub const STRICT: Self = Self { comments: false, trailing_commas: false, byte_order_mark: false };
}

/// One wanted entry of a JSON file. Paths are member names from the top of the file.
#[derive(Clone, Debug)]
pub enum SettingsEntry {
    /// This member, at the end of the path. If the value is an object, other members inside it are left alone.
    Member(Vec<String>, Value),
    /// Our MCP server, at the end of the path. A server of the same name that starts another program is never touched.
    Server(Vec<String>, Value),
    /// This member only if there is none yet. It stays at uninstall unless it is all that is left in a file we made.
    Default(Vec<String>, Value),
    /// One scalar item of the array at the end of the path.
    Item(Vec<String>, Value),
    /// The hooks of one agent, below `hooks`.
    Hooks(Hooks),
    /// This entry is not wanted: connecting removes it.
    Absent(Box<Self>),
}

/// Where agents keep their hooks.
pub const HOOKS: &str = "hooks";

impl SettingsEntry {
    /// The path to it; for hooks, to the object that holds the events.
    pub fn path(&self) -> Vec<&str> {
        match self {
            Self::Member(path, _) | Self::Server(path, _) | Self::Default(path, _) | Self::Item(path, _) => {
                path.iter().map(String::as_str).collect()
            }
            Self::Hooks(_) => vec![HOOKS],
            Self::Absent(entry) => entry.path(),
        }
    }

    /// Returns true for what lets the model call punch's tools without asking the user each time.
    pub fn allows_tools(&self) -> bool {
        match self {
            Self::Item(..) => true,
            Self::Server(_, server) => server["trust"] == true,
            Self::Member(..) | Self::Default(..) | Self::Hooks(_) | Self::Absent(_) => false,
        }
    }

    /// Returns true for what only punch's tools need: the server, and permission to call them.
    const fn is_for_tools(&self) -> bool {
        matches!(self, Self::Server(..) | Self::Item(..))
    }
}

/// The hooks of one agent: one group for each event. A hook of ours for an event that is not listed here comes from
/// another version and is removed.
#[derive(Clone, Debug)]
pub struct Hooks {
    /// The agent's name, as in `punch hook --agent NAME`.
    pub agent: &'static str,
    /// Events with the group that belongs into the array of each.
    pub events: Vec<(String, Value)>,
}

/// Turns names into a path.
pub fn path<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

/// A file and its part of the connection.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    /// Where it is.
    pub path: PathBuf,
    /// What goes into it.
    pub content: FileContent,
    /// The project that the entries belong to, if a file in the home folder holds those of several.
    pub project: Option<PathBuf>,
}

impl SettingsFile {
    /// A file whose entries belong to no single project.
    pub const fn new(path: PathBuf, content: FileContent) -> Self {
        Self { path, content, project: None }
    }
}

/// What goes into a file.
#[derive(Clone, Debug)]
pub enum FileContent {
    /// Parts of a JSON file that this agent reads.
    Json(&'static Adapter, Vec<SettingsEntry>),
    /// One table of a TOML file: its name in parts, its keys with their values as JSON.
    Table(Vec<&'static str>, Vec<(&'static str, Value)>),
    /// A block between markers in a file of Markdown.
    Block(String),
    /// Lines in a block of a file with `#` comments.
    Lines(Vec<String>),
    /// The whole file is ours.
    Whole {
        /// All of it.
        text: String,
        /// What every version of it begins with.
        head: &'static str,
    },
}

/// One agent that is to be connected at one level.
pub struct AgentConnection<'a> {
    /// The agent to connect.
    pub agent: &'static Adapter,
    /// Whose settings.
    pub level: ConnectionLevel,
    /// Where agents look.
    pub roots: &'a SettingsRoots,
    /// How punch is called.
    pub program: Program,
    /// The form of the tools that the user asked for. Without a wish, what is in the settings already stays.
    pub dialect: Option<&'a str>,
    /// Tells which of several names for a file is in use.
    pub exists: &'a dyn Fn(&Path) -> bool,
}

impl AgentConnection<'_> {
    /// What the MCP server is started with.
    pub fn server_args(&self) -> Vec<&str> {
        let dialect = self.dialect.into_iter().flat_map(|name| ["--dialect", name]);
        [SERVER_VERB].into_iter().chain(dialect).collect()
    }

    /// The agent's folder: in the project, or in the user's home.
    pub fn folder(&self, name: &str) -> PathBuf {
        match self.level {
            ConnectionLevel::Personal | ConnectionLevel::Shared => self.roots.project.join(name),
            ConnectionLevel::User => self.roots.home.join(name),
        }
    }

    /// A JSON file of the agent with these entries.
    pub fn json(&self, file: PathBuf, entries: Vec<SettingsEntry>) -> SettingsFile {
        SettingsFile::new(file, FileContent::Json(self.agent, entries))
    }

    /// One hook for each event that `punch install` subscribes to.
    pub fn hooks(&self) -> SettingsEntry {
        let group = |event: &&str| ((*event).to_owned(), handler(self.agent, &self.program, event, self.level));
        SettingsEntry::Hooks(Hooks {
            agent: self.agent.name,
            events: self.agent.hooks.events.iter().map(group).collect(),
        })
    }
}

/// The verb that starts the MCP server.
pub const SERVER_VERB: &str = "mcp";

/// The files of an agent, and what is wanted in each. `exists` tells which of several names for a file is in use.
pub fn files(
    agent: &'static Adapter,
    level: ConnectionLevel,
    roots: &SettingsRoots,
    (program, dialect): (&Program, Option<&str>),
    exists: &dyn Fn(&Path) -> bool,
) -> Vec<SettingsFile> {
    // On another machine only the name can be right.
    let program = match level {
        ConnectionLevel::Shared => Program("punch".to_owned()),
        ConnectionLevel::Personal | ConnectionLevel::User => program.clone(),
    };
    (agent.settings.files)(&AgentConnection { agent, level, roots, program, dialect, exists })
}

/// Splits the files of an agent for an install without punch's tools: those to connect, and those to disconnect because
/// only the tools need them.
pub fn without_tools(targets: Vec<SettingsFile>) -> (Vec<SettingsFile>, Vec<SettingsFile>) {
    let (mut hooks, mut tools) = (Vec::new(), Vec::new());
    for mut target in targets {
        match &mut target.content {
            FileContent::Json(_, entries) if entries.iter().all(SettingsEntry::is_for_tools) => tools.push(target),
            FileContent::Json(_, entries) => {
                let kept = |entry: SettingsEntry| {
                    if entry.is_for_tools() { SettingsEntry::Absent(Box::new(entry)) } else { entry }
                };
                *entries = std::mem::take(entries).into_iter().map(kept).collect();
                hooks.push(target);
            }
            FileContent::Table(..) => tools.push(target),
            FileContent::Block(_) | FileContent::Lines(_) | FileContent::Whole { .. } => hooks.push(target),
        }
    }
    (hooks, tools)
}

/// What an agent runs at an event.
///
/// Agents pass the command to a shell. In files that a team commits it does nothing for those who do not have `punch`.
pub fn handler(agent: &Adapter, program: &Program, event: &str, level: ConnectionLevel) -> Value {
    let program = shell_exact(&program.0);
    let call = format!("{program} hook --agent {} {event}", agent.name);
    let command = match level {
        ConnectionLevel::Shared => format!("command -v {program} >/dev/null 2>&1 || exit 0; exec {call}"),
        ConnectionLevel::Personal | ConnectionLevel::User => call,
    };
    (agent.hooks.handler)(&command, event)
}

/// What a plugin is made of.
pub struct PluginSource<'a> {
    /// Where agents look.
    pub roots: &'a SettingsRoots,
    /// How punch is called.
    pub program: &'a Program,
    /// The standing advice for an agent, or for any.
    pub guide: &'a dyn Fn(Option<&Adapter>) -> String,
}
