//! The hosts, and what the names of their events mean.

/// A program that runs an agent and reports to hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Qwen Code.
    Qwen,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// OpenCode, through our plugin.
    Opencode,
}

/// How a host tells our server which session calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// With every call.
    EveryCall,
    /// When it starts the server; what the session becomes later is not told.
    AtStart,
    /// Not at all.
    Never,
}

/// What an event is about, whatever its host calls it.
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
    /// The host is about to call one of its own tasks done.
    TaskEnd,
    /// A person is asked.
    Question,
    /// Something is told to the person; only some of it asks.
    Notice,
    /// The agent wants to stop.
    Stop,
    /// A subagent wants to stop.
    SubagentStop,
    /// The turn ended in an error.
    TurnFailure,
    /// A person broke the turn off.
    Interrupt,
    /// The conversation is about to be shortened.
    Compact,
    /// The conversation was shortened.
    Compacted,
    /// The conversation is over.
    SessionEnd,
}

impl Host {
    /// Every host.
    pub const ALL: &'static [Self] =
        &[Self::Claude, Self::Codex, Self::Qwen, Self::Gemini, Self::Cursor, Self::Opencode];

    /// The name on the command line and in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Qwen => "qwen",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Opencode => "opencode",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|host| host.name() == name)
    }

    /// Continuations in a row that the host allows before it overrules its hooks. `claude` is what its variable says.
    pub const fn cap(self, claude: Option<u32>) -> Option<u32> {
        match self {
            Self::Claude => match claude {
                None => Some(8),
                Some(0) => None,
                Some(cap) => Some(cap),
            },
            Self::Qwen => Some(7),
            Self::Cursor => Some(5),
            Self::Codex | Self::Gemini | Self::Opencode => None,
        }
    }

    /// The events that it is worth being told of; none for OpenCode, whose plugin subscribes by itself.
    pub const fn events(self) -> &'static [&'static str] {
        match self {
            Self::Claude => CLAUDE_EVENTS,
            Self::Qwen => match CLAUDE_EVENTS {
                [shared @ .., _only_claude] => shared,
                [] => &[],
            },
            Self::Codex => CODEX_EVENTS,
            Self::Gemini => GEMINI_EVENTS,
            Self::Cursor => CURSOR_EVENTS,
            Self::Opencode => &[],
        }
    }

    /// How our server learns which session calls it.
    pub(super) const fn naming(self) -> Naming {
        match self {
            Self::Codex | Self::Opencode => Naming::EveryCall,
            Self::Claude => Naming::AtStart,
            Self::Qwen | Self::Gemini | Self::Cursor => Naming::Never,
        }
    }

    /// Whether a continuation comes back as a prompt.
    pub(super) const fn echoes(self) -> bool {
        match self {
            Self::Claude | Self::Codex => false,
            Self::Qwen | Self::Gemini | Self::Cursor | Self::Opencode => true,
        }
    }

    /// What an event means; `None` for those that mean nothing to us.
    pub fn meaning(self, event: &str) -> Option<Meaning> {
        match self {
            Self::Claude | Self::Codex | Self::Qwen => claude_like(event),
            Self::Gemini => gemini(event),
            Self::Cursor => cursor(event),
            Self::Opencode => opencode(event),
        }
    }
}

/// The last one is Claude Code's alone, the others are Qwen Code's too.
const CLAUDE_EVENTS: &[&str] = &[
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "Notification",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "TaskCompleted",
];

const CODEX_EVENTS: &[&str] = &[
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PermissionRequest",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Interrupt",
];

const GEMINI_EVENTS: &[&str] = &[
    "SessionStart",
    "SessionEnd",
    "BeforeAgent",
    "AfterAgent",
    "BeforeTool",
    "AfterTool",
    "PreCompress",
    "Notification",
];

const CURSOR_EVENTS: &[&str] = &[
    "sessionStart",
    "sessionEnd",
    "beforeSubmitPrompt",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "stop",
    "subagentStart",
    "subagentStop",
    "preCompact",
];

fn claude_like(event: &str) -> Option<Meaning> {
    Some(match event {
        "SessionStart" => Meaning::SessionStart,
        "SubagentStart" => Meaning::SubagentStart,
        "UserPromptSubmit" => Meaning::Prompt,
        "PreToolUse" => Meaning::ToolStart,
        "PostToolUse" => Meaning::ToolEnd,
        "PostToolUseFailure" => Meaning::ToolFailure,
        "TaskCompleted" => Meaning::TaskEnd,
        "PermissionRequest" | "Elicitation" => Meaning::Question,
        "Notification" => Meaning::Notice,
        "Stop" => Meaning::Stop,
        "SubagentStop" => Meaning::SubagentStop,
        "StopFailure" => Meaning::TurnFailure,
        "Interrupt" => Meaning::Interrupt,
        "PreCompact" => Meaning::Compact,
        "SessionEnd" => Meaning::SessionEnd,
        _ => return None,
    })
}

fn gemini(event: &str) -> Option<Meaning> {
    Some(match event {
        "SessionStart" => Meaning::SessionStart,
        "BeforeAgent" => Meaning::Prompt,
        "BeforeTool" => Meaning::ToolStart,
        "AfterTool" => Meaning::ToolEnd,
        "Notification" => Meaning::Notice,
        "AfterAgent" => Meaning::Stop,
        "PreCompress" => Meaning::Compact,
        "SessionEnd" => Meaning::SessionEnd,
        _ => return None,
    })
}

fn cursor(event: &str) -> Option<Meaning> {
    Some(match event {
        "sessionStart" => Meaning::SessionStart,
        "subagentStart" => Meaning::SubagentStart,
        "beforeSubmitPrompt" => Meaning::Prompt,
        "preToolUse" => Meaning::ToolStart,
        "postToolUse" => Meaning::ToolEnd,
        "postToolUseFailure" => Meaning::ToolFailure,
        "stop" => Meaning::Stop,
        "subagentStop" => Meaning::SubagentStop,
        "preCompact" => Meaning::Compact,
        "sessionEnd" => Meaning::SessionEnd,
        _ => return None,
    })
}

fn opencode(event: &str) -> Option<Meaning> {
    Some(match event {
        "session.created" => Meaning::SessionStart,
        "chat.message" => Meaning::Prompt,
        "tool.execute.before" => Meaning::ToolStart,
        "tool.execute.after" => Meaning::ToolEnd,
        "permission.ask" | "permission.asked" => Meaning::Question,
        "session.idle" => Meaning::Stop,
        "session.error" => Meaning::TurnFailure,
        "session.interrupted" => Meaning::Interrupt,
        "session.compacting" => Meaning::Compact,
        "session.compacted" => Meaning::Compacted,
        "session.deleted" => Meaning::SessionEnd,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_that_is_asked_for_means_something() {
        for host in Host::ALL {
            for event in host.events() {
                assert!(host.meaning(event).is_some(), "{} {event}", host.name());
            }
        }
    }
}
