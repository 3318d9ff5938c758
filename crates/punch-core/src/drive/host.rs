//! Events of an agent's host, in one vocabulary, and the effects that the host is asked for. Every host's own format is
//! translated at the edge; nothing in this module or below it names a host.

use serde::{Deserialize, Serialize};

/// Something that a host reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum HostEvent {
    /// A conversation, or a subagent inside one, begins to listen.
    SessionStarted {
        /// The cause of the start.
        how: SessionStart,
    },
    /// A message reaches the model.
    Prompted {
        /// Typed by the user; hosts also report their own continuations as prompts.
        by_person: bool,
    },
    /// A tool is about to run.
    ToolStarting {
        /// The tool that was used.
        tool: ToolUse,
    },
    /// A tool has answered.
    ToolEnded {
        /// The tool that was used.
        tool: ToolUse,
    },
    /// A tool has failed.
    ToolFailed {
        /// The tool that was used.
        tool: ToolUse,
        /// The output of the tool, cut short.
        error: String,
        /// The user broke it off.
        interrupted: bool,
    },
    /// The agent waits for the user: a permission, a question.
    Asked {
        /// What it asks, safe to print line by line; empty if the host does not say.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// The agent wants to end its turn.
    Stopping {
        /// Why the model's last message ended.
        finish: Finish,
        /// Jobs that still run in the background and will wake the agent.
        background: u32,
        /// True if the host says that this turn was already continued.
        kept_going: bool,
    },
    /// The turn ended in an error of the model or the network.
    TurnFailed {
        /// The message, cut short.
        error: String,
    },
    /// The user broke the turn off.
    Interrupted,
    /// The conversation is about to be shortened.
    Compacting,
    /// The conversation is over.
    SessionEnded,
}

/// What brought a session up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionStart {
    /// A new conversation.
    Startup,
    /// An earlier session is resumed.
    Resume,
    /// The user emptied it.
    Clear,
    /// The conversation was compacted.
    Compact,
    /// It was branched off another one.
    Fork,
}

/// Why a model's last message ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finish {
    /// It had nothing more to say. Hosts that report no reason only report such stops.
    #[default]
    EndTurn,
    /// It called a tool: the host continues by itself.
    ToolUse,
    /// It ran out of room.
    Length,
    /// The user cancelled it.
    Cancelled,
    /// A permission was denied.
    Denied,
    /// The turn failed.
    Error,
    /// Something else.
    Unknown,
}

impl Finish {
    /// Returns the way the turn ended in words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::EndTurn => "end of turn",
            Self::ToolUse => "use of a tool",
            Self::Length => "length",
            Self::Cancelled => "cancelled",
            Self::Denied => "denied",
            Self::Error => "error",
            Self::Unknown => "unknown",
        }
    }
}

/// A use of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolUse {
    /// The host's name for it.
    pub name: String,
    /// What it means to us.
    pub kind: ToolKind,
    /// The host's number for this use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The revision in the receipt of one of our tools. It shows which of our servers answered, if the host gives them
    /// no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<u64>,
    /// Files that it changed, as the host names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The command that it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<CommandRun>,
}

/// A command that a tool ran to its end, or began to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CommandRun {
    /// The line for the shell.
    pub line: String,
    /// Its exit code; `None` if the host does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Files that a patch in the line changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

impl CommandRun {
    /// A line for the shell, and its exit code if the host reports it.
    pub fn new(line: impl Into<String>, exit_code: Option<i32>) -> Self {
        Self { line: line.into(), exit_code, files: Vec::new() }
    }
}

impl ToolUse {
    /// A tool that changed no file and ran no command, as far as the host knows.
    pub fn new(name: impl Into<String>, kind: ToolKind) -> Self {
        Self { name: name.into(), kind, ..Self::default() }
    }

    /// With files that it changed.
    pub fn changing<T: Into<String>>(mut self, files: impl IntoIterator<Item = T>) -> Self {
        self.files.extend(files.into_iter().map(Into::into));
        self
    }

    /// With the command that it ran, and its exit code if the host knows it.
    pub fn running(mut self, line: impl Into<String>, exit_code: Option<i32>) -> Self {
        self.ran = Some(CommandRun::new(line, exit_code));
        self
    }

    /// Returns true for a todo tool, ours or the host's, that may have changed the list.
    pub fn writes_todos(&self) -> bool {
        let reads = self.name.ends_with("_read") || self.name.ends_with("Read");
        matches!(self.kind, ToolKind::Ours | ToolKind::HostTodo) && !reads
    }

    /// Returns true for a tool that does work outside the list: it changes files or runs something.
    pub fn works(&self) -> bool {
        matches!(self.kind, ToolKind::Edit | ToolKind::Command)
    }
}

/// What a tool means to us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolKind {
    /// One of ours: it writes the plan by itself.
    Ours,
    /// The host's own todo tool, mirrored into the plan.
    HostTodo,
    /// A tool that changes files.
    Edit,
    /// It runs a command, or hands work to a subagent or to another server.
    Command,
    /// A tool that asks the user.
    Question,
    /// Anything else.
    #[default]
    Other,
}

/// How full the model's context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextUse {
    /// Tokens in it.
    pub used: u64,
    /// Tokens it can hold.
    pub limit: u64,
}

/// What the host is asked to do. All empty: nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostEffect {
    /// Text put before the model.
    pub context: Option<String>,
    /// Do not stop: continue with this text.
    pub go_on: Option<String>,
    /// Do not run the tool, for this reason.
    pub refuse: Option<String>,
    /// Text for the user.
    pub tell: Option<String>,
}
