//! Qwen Code: the settings of Gemini CLI with the hooks of Claude Code.

use serde_json::{Value, json};

use crate::adapter::{Adapter, AssignCommand, Environment, HookForm, SettingsForm, TodoTool, ToolNames};
use crate::claude_form::{self, AnswerForm, PATIENCE};
use crate::gemini;
use crate::hook::field::{number, string};
use crate::hook::{ContextReading, HookReport, exit_code};
use crate::settings::{ConnectionLevel, Syntax};
use crate::usage_limit::LimitText;

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "qwen",
    title: "Qwen Code",
    program: "qwen",
    hooks: HookForm {
        events: &[
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
        ],
        echoes: true,
        stop_cap: Some(7),
        exit_code: exit_code::from_trailer,
        answer: |report, effect| {
            claude_form::answer(report, effect, AnswerForm { context_before_tool: false, ..AnswerForm::BLOCK })
        },
        // In milliseconds.
        handler: |command, _| claude_form::handler(command, PATIENCE * 1_000),
        ..claude_form::HOOKS
    },
    todo_tools: &[
        TodoTool::list("todo_write", "todo_write"),
        TodoTool::list("TodoWrite", "todo_write"),
        TodoTool::list("TodoList", "todo_write"),
    ],
    tools: ToolNames::NONE,
    context: Some(context),
    earlier_turn: None,
    settings: SettingsForm {
        syntax: Syntax { comments: true, byte_order_mark: true, ..Syntax::STRICT },
        home_variable: None,
        // Without `alwaysLoadTools` the model only gets the names of the tools.
        files: |connection| gemini::files(connection, ".qwen", &[("alwaysLoadTools", json!(true))]),
        guide_file: |level, roots| Some(gemini::guide_folder(level, roots, ".qwen").join("QWEN.md")),
        guide_tools: "`mcp__punch__todo_write` and `mcp__punch__todo_read`",
        note: |level| {
            (level != ConnectionLevel::User)
                .then_some("Qwen Code reads this only in a trusted folder: start `qwen` here once")
        },
        plugin: None,
        folder_trust: None,
        hook_trust: None,
    },
    environment: Environment {
        marks: &["QWEN_CODE"],
        session: None,
        project: Some("QWEN_PROJECT_DIR"),
        private: &["QWEN_PROJECT_DIR"],
    },
    assign: Some(AssignCommand { before_prompt: &["-p"], resume_flag: None }),
    usage_limits: &[LimitText::seen(
        "free allocated quota exceeded",
        "https://github.com/QwenLM/qwen-code/issues/1742",
    )],
    headless: None,
};

fn context(_report: &HookReport, line: &Value) -> Option<ContextReading> {
    let used = number(line.get("usageMetadata")?, &["totalTokenCount"])?;
    Some(ContextReading { used, limit: None, model: string(line, &["model"]).map(str::to_owned) })
}
