//! Hooks in the format of Claude Code, which several agents have adopted with small differences.

use punch_core::drive::HostEffect;
use serde_json::{Map, Value, json};

use crate::hook::{HookReport, exit_code, marked, put};
use crate::{HookForm, Meaning, Naming, ReportFields};

/// The events of this form.
pub const MEANINGS: &[(&str, Meaning)] = &[
    ("SessionStart", Meaning::SessionStart),
    ("SubagentStart", Meaning::SubagentStart),
    ("UserPromptSubmit", Meaning::Prompt),
    ("PreToolUse", Meaning::ToolStart),
    ("PostToolUse", Meaning::ToolEnd),
    ("PostToolUseFailure", Meaning::ToolFailure),
    ("TaskCompleted", Meaning::TaskEnd),
    ("PermissionRequest", Meaning::Question),
    ("Elicitation", Meaning::Question),
    ("Notification", Meaning::Notice),
    ("Stop", Meaning::Stop),
    ("SubagentStop", Meaning::SubagentStop),
    ("StopFailure", Meaning::TurnFailure),
    ("Interrupt", Meaning::Interrupt),
    ("PreCompact", Meaning::Compact),
    ("SessionEnd", Meaning::SessionEnd),
];

/// The fields of its reports, and of those that resemble them.
pub const FIELDS: ReportFields = ReportFields {
    session: &["session_id", "sessionID"],
    tool_input: &["tool_input", "args"],
    tool_output: &["tool_response", "tool_output", "result_json", "output"],
};

/// The form as most agents have it, to be completed by each.
pub const HOOKS: HookForm = HookForm {
    events: &[],
    meanings: MEANINGS,
    fields: FIELDS,
    naming: Naming::Never,
    echoes: false,
    stop_cap: None,
    stop_cap_variable: None,
    ignores: |_, _| false,
    own_prompts: &[],
    exit_code: exit_code::from_field,
    answer: |report, effect| answer(report, effect, AnswerForm::BLOCK),
    handler: |command, _| handler(command, PATIENCE),
};

/// Longer than a hook of ours ever takes, in seconds.
pub const PATIENCE: u64 = 15;

/// What an agent runs at an event. Some count the time in seconds, some in milliseconds.
pub fn handler(command: &str, timeout: u64) -> Value {
    json!({"hooks": [{"type": "command", "command": command, "timeout": timeout}]})
}

/// What differs between the answers of agents.
#[derive(Clone, Copy, Debug)]
pub struct AnswerForm {
    /// The decision that continues; `None` continues by context.
    pub continues: Option<&'static str>,
    /// The decision that refuses a tool; `None` refuses by a permission decision.
    pub refuses: Option<&'static str>,
    /// Context before a tool runs reaches the model. Others cannot, or take no answer there that does not decide.
    pub context_before_tool: bool,
}

impl AnswerForm {
    /// Continuations by `decision: block`.
    pub const BLOCK: Self = Self { continues: Some("block"), refuses: None, context_before_tool: true };
}

/// The answer to a report.
pub fn answer(report: &HookReport, effect: &HostEffect, form: AnswerForm) -> Map<String, Value> {
    let mut out = Map::new();
    let mut own = Map::new();
    let mut decide = |word: &str, reason: String| {
        out.insert("decision".into(), word.into());
        out.insert("reason".into(), reason.into());
    };
    match report.meaning {
        Meaning::Stop | Meaning::SubagentStop => {
            let text = effect.go_on.as_ref().map(|text| marked(report.agent, text));
            match (text, form.continues) {
                (Some(text), Some(word)) => decide(word, text),
                (text, _) => put(&mut own, "additionalContext", text.as_ref()),
            }
        }
        Meaning::ToolStart => match (&effect.refuse, form.refuses) {
            (Some(reason), Some(word)) => decide(word, reason.clone()),
            (Some(reason), None) => {
                own.insert("permissionDecision".into(), "deny".into());
                own.insert("permissionDecisionReason".into(), reason.clone().into());
            }
            (None, _) if form.context_before_tool => put(&mut own, "additionalContext", effect.context.as_ref()),
            (None, _) => {}
        },
        Meaning::SessionStart | Meaning::SubagentStart | Meaning::Prompt | Meaning::ToolEnd | Meaning::ToolFailure => {
            put(&mut own, "additionalContext", effect.context.as_ref());
        }
        // A veto is an exit code, not output.
        Meaning::TaskEnd
        | Meaning::Question
        | Meaning::Notice
        | Meaning::TurnFailure
        | Meaning::Interrupt
        | Meaning::Compact
        | Meaning::Compacted => {}
        // Nobody reads what is said then, and one agent takes no answer at all.
        Meaning::SessionEnd => return Map::new(),
    }
    if !own.is_empty() {
        own.insert("hookEventName".into(), report.name.clone().into());
        out.insert("hookSpecificOutput".into(), Value::Object(own));
    }
    put(&mut out, "systemMessage", effect.tell.as_ref());
    out
}
