//! Factory Droid: the hooks of Claude Code in files of its own. Measured with 0.215.0 and a scripted model: reports,
//! answers, files and variables of `droid exec`, where prompts are not reported. From the package: the other events, and
//! the forms of its own list. It does not run hooks from `.factory/settings.local.json`.

use serde_json::json;

use crate::adapter::{Adapter, AssignCommand, Environment, HookForm, SettingsForm, TodoTool, ToolNames};
use crate::claude_form::{self, AnswerForm};
use crate::hook::exit_code;
use crate::settings::{AgentConnection, ConnectionLevel, SettingsEntry, SettingsFile, Syntax, path};
use crate::usage_limit::LimitText;

const PROJECT: &str = "FACTORY_PROJECT_DIR";

pub(crate) static ADAPTER: Adapter = Adapter {
    name: "droid",
    title: "Factory Droid",
    program: "droid",
    hooks: HookForm {
        // `SubagentStop` is left out: Droid ignores the answer, and the report does not say which subagent it is.
        events: &[
            "SessionStart",
            "SessionEnd",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "Notification",
            "Stop",
            "PreCompact",
        ],
        exit_code: exit_code::from_last_line,
        // Context before a tool does not reach the model.
        answer: |report, effect| {
            claude_form::answer(report, effect, AnswerForm { context_before_tool: false, ..AnswerForm::BLOCK })
        },
        ..claude_form::HOOKS
    },
    todo_tools: &[TodoTool::list("TodoWrite", "TodoWrite")],
    tools: ToolNames { edits: &["Create"], commands: &["Execute"], questions: &["AskUser", "ExitSpecMode"] },
    context: None,
    earlier_turn: None,
    settings: SettingsForm {
        syntax: Syntax::LENIENT,
        home_variable: None,
        files,
        guide_file: |level, roots| {
            Some(match level {
                ConnectionLevel::Personal | ConnectionLevel::Shared => roots.project.join("AGENTS.md"),
                ConnectionLevel::User => roots.home.join(".factory/AGENTS.md"),
            })
        },
        guide_tools: "`punch___todo_write` and `punch___todo_read`, which ToolSearch finds",
        note: |_| None,
        plugin: None,
        folder_trust: None,
        hook_trust: None,
    },
    environment: Environment {
        // With a screen it sets nothing by which its commands could be recognized.
        marks: &["FACTORY_EXEC_TARGET_AUTONOMY"],
        session: None,
        project: Some(PROJECT),
        private: &[PROJECT, "DROID_PROJECT_DIR"],
    },
    assign: Some(AssignCommand { before_prompt: &["exec"], resume_flag: None }),
    usage_limits: &[LimitText::untried("usage limit reached")],
    headless: None,
};

fn files(connection: &AgentConnection<'_>) -> Vec<SettingsFile> {
    let server = json!({"type": "stdio", "command": connection.program.0, "args": connection.server_args()});
    let server = vec![SettingsEntry::Server(path(["mcpServers", "punch"]), server)];
    let folder = connection.folder(".factory");
    vec![
        connection.json(folder.join("mcp.json"), server),
        connection.json(folder.join("settings.json"), vec![connection.hooks()]),
    ]
}
