//! Describes one agent: data and small functions. Code that needs a fact about an agent reads it from here; only the
//! agents' own files know which agent it is.

use std::fmt;
use std::path::{Path, PathBuf};

use punch_core::drive::{HostEffect, TurnBefore};
use serde_json::{Map, Value};

use crate::headless::Headless;
use crate::hook::{ContextReading, HookReport};
use crate::settings::{AgentConnection, ConnectionLevel, PluginSource, SettingsFile, SettingsRoots, Syntax};
use crate::usage_limit::LimitText;

/// One agent: a program such as Claude Code.
pub struct Adapter {
    /// The name on the command line and in settings.
    pub name: &'static str,
    /// The name that users know.
    pub title: &'static str,
    /// The executable.
    pub program: &'static str,
    /// Its hook events and the answers to them.
    pub hooks: HookForm,
    /// Its own todo tools.
    pub todo_tools: &'static [TodoTool],
    /// Names of its tools beyond those that many agents use.
    pub tools: ToolNames,
    /// Reads how full the context is out of one line of its transcript.
    pub context: Option<fn(&HookReport, &Value) -> Option<ContextReading>>,
    /// Finds the turn before a turn in its transcript.
    pub earlier_turn: Option<FindEarlierTurn>,
    /// The files that connect it, and what is left to the user.
    pub settings: SettingsForm,
    /// What it puts into the environment of the commands it runs.
    pub environment: Environment,
    /// How `punch assign` starts it on a prompt.
    pub assign: Option<AssignCommand>,
    /// The texts with which it reports that its usage limit is reached.
    pub usage_limits: &'static [LimitText],
    /// How `punch run` drives it.
    pub headless: Option<fn() -> Box<dyn Headless>>,
}

/// What an event is about, whatever the agent calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A conversation begins.
    SessionStart,
    /// A subagent begins.
    SubagentStart,
    /// A message reaches the model.
    Prompt,
    /// A tool is about to run.
    ToolStart,
    /// A tool has answered.
    ToolEnd,
    /// A tool has failed.
    ToolFailure,
    /// The agent is about to complete one of its own tasks.
    TaskEnd,
    /// The user is asked.
    Question,
    /// The user is notified; some notifications ask a question.
    Notice,
    /// The agent wants to stop.
    Stop,
    /// A subagent wants to stop.
    SubagentStop,
    /// The turn ended in an error.
    TurnFailure,
    /// The user interrupted the turn.
    Interrupt,
    /// The conversation is about to be compacted.
    Compact,
    /// The conversation was compacted.
    Compacted,
    /// The conversation is over.
    SessionEnd,
}

/// How an agent tells our server which session calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// With every call.
    EveryCall,
    /// In this variable when it starts the server; a session that follows in the same process is not named.
    AtStart(&'static str),
    /// Not at all.
    Never,
}

/// An agent's hooks.
pub struct HookForm {
    /// The events that `punch install` subscribes to.
    pub events: &'static [&'static str],
    /// Every event that is understood.
    pub meanings: &'static [(&'static str, Meaning)],
    /// Where a report says what.
    pub fields: ReportFields,
    /// How our server learns which session calls it.
    pub naming: Naming,
    /// A continuation comes back as a prompt.
    pub echoes: bool,
    /// Continuations in a row that the agent allows before it overrules its hooks.
    pub stop_cap: Option<u32>,
    /// The variable that replaces `stop_cap`; 0 there stands for no limit.
    pub stop_cap_variable: Option<&'static str>,
    /// Returns true for a report that says nothing although its event means something.
    pub ignores: fn(Meaning, &Value) -> bool,
    /// How prompts begin that the agent itself puts before the model.
    pub own_prompts: &'static [&'static str],
    /// The exit code of a command that has ended, where the report says so.
    pub exit_code: fn(Meaning, report: &Value, output: &Value) -> Option<i32>,
    /// The answer to a report.
    pub answer: fn(&HookReport, &HostEffect) -> Map<String, Value>,
    /// The handler in the agent's settings that runs a command at an event.
    pub handler: fn(command: &str, event: &str) -> Value,
}

/// Names of fields in reports; of several the first that is there counts.
#[derive(Clone, Copy, Debug)]
pub struct ReportFields {
    /// The session.
    pub session: &'static [&'static str],
    /// What a tool was given.
    pub tool_input: &'static [&'static str],
    /// What a tool answered.
    pub tool_output: &'static [&'static str],
}

/// A tool by which an agent keeps a list of its own.
#[derive(Clone, Copy, Debug)]
pub struct TodoTool {
    /// The tool's name.
    pub name: &'static str,
    /// The list that the tool works on, as it is stored; tools with one list share the name.
    pub list: &'static str,
    /// Subagents work on the list of their main agent.
    pub is_shared: bool,
    /// What a call does.
    pub call: TodoCall,
}

/// What a call of a todo tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TodoCall {
    /// Writes the list, or merges into it.
    WriteList,
    /// Creates one todo.
    Create,
    /// Changes one todo.
    Update,
}

impl TodoTool {
    /// A tool that writes a whole list of its own.
    pub const fn list(name: &'static str, list: &'static str) -> Self {
        Self { name, list, is_shared: false, call: TodoCall::WriteList }
    }
}

/// Tools by what they do.
#[derive(Clone, Copy, Debug)]
pub struct ToolNames {
    /// They change files.
    pub edits: &'static [&'static str],
    /// They run a command, or hand work to a subagent.
    pub commands: &'static [&'static str],
    /// They ask the user.
    pub questions: &'static [&'static str],
}

impl ToolNames {
    /// No names.
    pub const NONE: Self = Self { edits: &[], commands: &[], questions: &[] };
}

/// Finds the turn before `turn` in a transcript. The last argument tells which turns are known.
pub type FindEarlierTurn = fn(transcript: &Path, turn: &str, known: &dyn Fn(&str) -> bool) -> TurnBefore;

/// The files that connect an agent, and what the user has to know about them.
pub struct SettingsForm {
    /// What the agent reads in its JSON files.
    pub syntax: Syntax,
    /// The variable that moves the agent's own folder.
    pub home_variable: Option<&'static str>,
    /// The files and what is wanted in each.
    pub files: fn(&AgentConnection<'_>) -> Vec<SettingsFile>,
    /// The file of standing advice; `None` if the agent has none at this level.
    pub guide_file: fn(ConnectionLevel, &SettingsRoots) -> Option<PathBuf>,
    /// What the model calls our tools, for the guide.
    pub guide_tools: &'static str,
    /// What is left to the user after an install.
    pub note: fn(ConnectionLevel) -> Option<&'static str>,
    /// The plugin or extension that can be used instead.
    pub plugin: Option<Plugin>,
    /// Where the agent records which folders the user trusts, if it reads a project's settings only in those.
    pub folder_trust: Option<FolderTrust>,
    /// How the agent is asked which hooks the user trusts.
    pub hook_trust: Option<HookTrust>,
}

/// A plugin or extension with our server, hooks and advice.
pub struct Plugin {
    /// Its part in the marketplace that Claude Code and Codex share, if it is distributed there.
    pub listing: Option<Listing>,
    /// The plugin's own files below their folder: path and text. Those in the marketplace have none besides.
    pub files: fn(&PluginSource<'_>) -> Vec<(String, String)>,
    /// Everything that is written for the user.
    pub targets: fn(&PluginSource<'_>) -> Vec<SettingsFile>,
    /// How it is recognized that the agent uses the plugin.
    pub evidence: PluginEvidence,
    /// What is left to the user after the install.
    pub notes: fn(&SettingsRoots) -> Vec<String>,
    /// What is left to the user after the plugin's files are gone.
    pub removal_note: Option<&'static str>,
}

/// A plugin in the marketplace.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// Its name there.
    pub name: &'static str,
    /// The catalog that lists it.
    pub catalog: Catalog,
    /// The agent reads slash commands from plugins.
    pub has_commands: bool,
}

/// A file that lists the plugins of a marketplace, in the form of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Catalog {
    /// Of Claude Code.
    Claude,
    /// Of Codex.
    Codex,
}

/// How it is recognized that an agent uses its plugin.
pub enum PluginEvidence {
    /// By all files of the plugin.
    Files,
    /// By its entries in the agent's JSON settings alone: the other files serve several agents.
    Settings,
    /// By a text that the agent itself writes into a file.
    Registration(fn(&SettingsRoots) -> (PathBuf, String)),
}

/// Where an agent records which folders the user trusts.
pub struct FolderTrust {
    /// The file, in JSON.
    pub file: fn(&SettingsRoots) -> PathBuf,
    /// Returns true if the record says that a folder is trusted.
    pub trusts: fn(record: &Value, folder: &Path) -> bool,
    /// What the user should do if no folder is.
    pub advice: &'static str,
}

/// How an agent is asked which hooks the user trusts: a conversation in lines of JSON-RPC.
pub struct HookTrust {
    /// The arguments that start the agent for it.
    pub arguments: &'static [&'static str],
    /// The lines for it, about a folder.
    pub requests: fn(folder: &Path) -> Vec<Value>,
    /// The id of the request whose result counts.
    pub id: u64,
    /// Hooks of ours that the agent knows, and how many of them are trusted.
    pub read: fn(result: &Value) -> Option<(usize, usize)>,
    /// What the user should do, given that answer.
    pub advice: fn(Option<(usize, usize)>) -> Option<&'static str>,
}

/// What an agent puts into the environment of the commands it runs.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    /// Variables that show that the agent runs the command. Only marks that an agent documents, has in its published
    /// source, or was seen to set.
    pub marks: &'static [&'static str],
    /// The variable with the session.
    pub session: Option<&'static str>,
    /// The variable with the project's folder, for hooks.
    pub project: Option<&'static str>,
    /// What another agent that is started inside this one must not inherit.
    pub private: &'static [&'static str],
}

/// How an agent is started on one prompt and waited for.
#[derive(Clone, Copy, Debug)]
pub struct AssignCommand {
    /// What comes before the prompt.
    pub before_prompt: &'static [&'static str],
    /// The flag that resumes a conversation, for an agent whose process ends with its turn, so that no hook can keep it
    /// going.
    pub resume_flag: Option<&'static str>,
}

impl Adapter {
    /// What an event means; `None` for events that mean nothing here.
    pub fn meaning(&self, event: &str) -> Option<Meaning> {
        self.hooks.meanings.iter().find(|(name, _)| *name == event).map(|(_, meaning)| *meaning)
    }

    /// Continuations in a row that the agent allows, given the value of its variable.
    pub const fn stop_cap(&self, variable: Option<u32>) -> Option<u32> {
        match variable {
            Some(0) => None,
            Some(cap) => Some(cap),
            None => self.hooks.stop_cap,
        }
    }

    /// The todo tool of this name.
    pub fn todo_tool(&self, name: &str) -> Option<&'static TodoTool> {
        self.todo_tools.iter().find(|tool| tool.name == name)
    }
}

impl PartialEq for Adapter {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Adapter {}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The names in a table of meanings, for agents whose every event is subscribed to.
pub(crate) const fn names<const N: usize>(meanings: &[(&'static str, Meaning); N]) -> [&'static str; N] {
    let mut out = [""; N];
    let mut at = 0;
    while at < N {
        out[at] = meanings[at].0;
        at += 1;
    }
    out
}
