//! The forms in which hosts talk to hooks: names of events, fields, and how an answer is understood. Written from what
//! the hosts were seen to do, not from the code that serves them.

use serde_json::{Value, json};

/// A host's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentHookForm {
    /// Claude Code; Codex uses the same.
    Claude,
    /// Qwen Code: the same again, but what the host says to the model by itself is reported as a prompt too.
    Qwen,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
}

/// When a hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The conversation begins.
    SessionStart,
    /// The user has typed something.
    Prompt,
    /// Before a tool runs.
    ToolStarting,
    /// After it has answered.
    ToolEnded,
    /// After it has failed.
    ToolFailed,
    /// The agent wants to stop.
    Stop,
    /// The model cannot be reached.
    TurnFailed,
    /// The conversation is over.
    SessionEnd,
}

/// What a hook wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookWish {
    /// Text for the model.
    pub context: Option<String>,
    /// Do not stop, but continue with this text.
    pub go_on: Option<String>,
    /// Do not run the tool, for this reason.
    pub refuse: Option<String>,
    /// Text for the user.
    pub tell: Option<String>,
}

impl AgentHookForm {
    /// The host's name for a moment; none where it does not tell.
    pub fn event(self, moment: Moment) -> Option<&'static str> {
        let names = match moment {
            Moment::SessionStart => ["SessionStart", "SessionStart", "sessionStart"],
            Moment::Prompt => ["UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt"],
            Moment::ToolStarting => ["PreToolUse", "BeforeTool", "preToolUse"],
            Moment::ToolEnded => ["PostToolUse", "AfterTool", "postToolUse"],
            Moment::ToolFailed => ["PostToolUseFailure", "AfterTool", "postToolUseFailure"],
            Moment::Stop => ["Stop", "AfterAgent", "stop"],
            Moment::TurnFailed => ["StopFailure", "", ""],
            Moment::SessionEnd => ["SessionEnd", "SessionEnd", "sessionEnd"],
        };
        let name = match self {
            Self::Claude | Self::Qwen => names[0],
            Self::Gemini => names[1],
            Self::Cursor => names[2],
        };
        Some(name).filter(|name| !name.is_empty())
    }

    /// The host's JSON: what the event is about and what every event carries.
    pub fn input(self, event: &str, session: &str, about: Value) -> Value {
        let mut out = about;
        out["hook_event_name"] = json!(event);
        let name = if self == Self::Cursor { "conversation_id" } else { "session_id" };
        out[name] = json!(session);
        if let (Self::Cursor, "stop") = (self, event) {
            out["status"] = json!("completed");
        }
        out
    }

    /// The host's name for a tool of our server.
    pub fn tool(self, tool: &str) -> String {
        match self {
            Self::Claude | Self::Qwen => format!("mcp__punch__{tool}"),
            Self::Gemini => format!("mcp_punch_{tool}"),
            Self::Cursor => format!("MCP:{tool}"),
        }
    }

    /// Whether a continuation is reported as a prompt.
    pub fn echoes(self) -> bool {
        self != Self::Claude
    }

    /// What the hook wants. Printing nothing is wanting nothing; anything but JSON is a mistake.
    pub fn read(self, moment: Moment, printed: &str) -> Result<HookWish, String> {
        if printed.trim().is_empty() {
            return Ok(HookWish::default());
        }
        let answer: Value = serde_json::from_str(printed).map_err(|cause| format!("no JSON: {cause}: {printed}"))?;
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        if self == Self::Cursor {
            let refuse = (answer["permission"] == "deny").then(|| text(&answer["agent_message"]).unwrap_or_default());
            let (context, tell) = (text(&answer["additional_context"]), text(&answer["user_message"]));
            return Ok(HookWish { context, go_on: text(&answer["followup_message"]), refuse, tell });
        }
        let own = &answer["hookSpecificOutput"];
        let reason = text(&answer["reason"]);
        let blocked = answer["decision"] == "block" || answer["decision"] == "deny";
        let denied = own["permissionDecision"] == "deny";
        let refuse = denied.then(|| text(&own["permissionDecisionReason"]).unwrap_or_default());
        let context = text(&own["additionalContext"]);
        if moment == Moment::Stop {
            // Claude Code continues for either, others only for a decision.
            let softly = context.filter(|_| self == Self::Claude);
            let go_on = reason.filter(|_| blocked).or(softly);
            return Ok(HookWish { go_on, tell: text(&answer["systemMessage"]), ..HookWish::default() });
        }
        Ok(HookWish {
            context,
            go_on: None,
            refuse: refuse.or_else(|| reason.filter(|_| blocked)),
            tell: text(&answer["systemMessage"]),
        })
    }
}
